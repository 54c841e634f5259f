"""Looking at people and changing what is known of them."""

from __future__ import annotations

import pytest
from support.interfaces.handler_stage import World, only, shown

from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import render
from internal.access.model import LANGUAGES, Language
from internal.people import service, suggestion_repository
from internal.people.model import Circle


def text(lang: Language, key: str, **values: str | int) -> str:
    return "".join(part.text for part in render(phrase(lang, key, **values)))


async def test_nobody_is_known_at_first(world: World) -> None:
    """An empty list says how people get into it."""
    assert only(await world.send("/people")).text == text("en", "people-none")


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_people_are_shown_by_circle(world: World, lang: Language) -> None:
    """The overview counts circles, a circle lists its people, a person opens the profile, back leads back."""
    await world.admit(2, "Taras", lang)
    await world.person("Марія", owner=2, circle="Family")
    await world.person("Пётр", owner=2, circle="Friends")
    await world.person("Ivan", owner=2, circle="Friends")
    overview = only(await world.send("/people", 2))
    family, friends = label(lang, "circle", circle="Family"), label(lang, "circle", circle="Friends")
    assert list(overview.buttons) == [f"{family}: 1", f"{friends}: 2"]
    circle = only(await world.press(overview.buttons[f"{friends}: 2"], 2))
    assert list(circle.buttons)[:2] == ["Пётр", "Ivan"]
    assert friends in circle.text
    assert only(await world.press(circle.buttons["Пётр"], 2)).text.startswith("Пётр\n")
    back = only(await world.press(circle.buttons[label(lang, "button-back")], 2))
    assert back.buttons == overview.buttons


async def test_a_large_circle_has_pages(world: World) -> None:
    """Twenty people stand on three pages, each once; a page that is gone leads to the last one."""
    for number in range(20):
        await world.person(f"Person {number:02d}")
    page = only(await world.press(only(await world.send("/people")).buttons["Others: 20"]))
    seen = [name for name in page.buttons if name.startswith("Person")]
    while "»" in page.buttons:
        page = only(await world.press(page.buttons["»"]))
        seen += [name for name in page.buttons if name.startswith("Person")]
    assert sorted(seen) == [f"Person {number:02d}" for number in range(20)]
    assert "3 of 3" in page.buttons
    beyond = only(await world.press("pp:1:Other:99"))
    assert "3 of 3" in beyond.buttons


async def test_others_people_are_not_seen(world: World) -> None:
    """A profile of one owner is unknown to another, by name and by a forged button."""
    peter = await world.person("Пётр")
    await world.admit(2, "Taras")
    assert only(await world.send("/person Пётр", 2)).text == text("en", "person-unknown", name="Пётр")
    for data in (f"p:2:{peter.id}:s", f"c:2:{peter.id}:Family", f"f:2:{peter.id}:1", f"e:2:{peter.id}:bio"):
        assert only(await world.press(data, 2)).text == text("en", "not-found")
    assert (await world.known(peter.id)) == peter


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_profile_tells_all(world: World, lang: Language) -> None:
    """Circle, other names, username, dates and bio stand in it, marks in names and bio as they are."""
    await world.admit(2, "Taras", lang)
    peter = await world.person("Пётр *П*", owner=2, circle="Work_Inner")
    changes = {"bio": "Коллега из ООО «A_B_C». Любит 2*2*2.", "aliases": ["Петя"], "username": "petr_p"}
    await world.write(lambda c: service.edit(c, 2, peter.id, changes, now=world.clock.now()))
    profile = only(await world.send("/person петя", 2))
    for part in ("Пётр *П*", "Петя", "@petr_p", "Коллега из ООО «A_B_C». Любит 2*2*2.", "2026"):
        assert part in profile.text
    assert label(lang, "circle", circle="Work_Inner") in profile.text
    assert len(profile.buttons) == 6


async def test_a_name_without_command_argument_is_asked_for(world: World) -> None:
    """/person alone asks, and the next message answers."""
    await world.person("Пётр")
    assert only(await world.send("/person")).force_reply
    assert only(await world.send("пётр")).text.startswith("Пётр\n")


async def test_namesakes_are_chosen_between(world: World) -> None:
    """Two Ivans are offered, told apart by their circles."""
    await world.person("Ivan", circle="Family")
    await world.person("Ivan", circle="Friends")
    choice = only(await world.send("/person ivan"))
    assert sorted(choice.buttons) == ["Ivan · Family", "Ivan · Friends"]


async def test_the_circle_is_changed_by_button(world: World) -> None:
    """The chosen circle is the owner's word from then on."""
    peter = await world.person("Пётр")
    profile = only(await world.send("/person Пётр"))
    circles = only(await world.press(profile.buttons["Circle"]))
    changed = only(await world.press(circles.buttons["Family"]))
    assert "Circle: Family" in changed.text
    known = await world.known(peter.id)
    assert known is not None
    assert (known.circle, known.owner_set("circle")) == (Circle.FAMILY, True)


@pytest.mark.parametrize(
    ("button", "typed", "field", "value"),
    [
        ("Name", "Пётр Иванов", "display_name", "Пётр Иванов"),
        ("About", "Сосед сверху.", "bio", "Сосед сверху."),
        ("Other names", "Петя, Петруха\nПетрович", "aliases", ("Петя", "Петруха", "Петрович")),
        ("Other names", "-", "aliases", ()),
    ],
)
async def test_a_field_is_edited_in_words(world: World, button: str, typed: str, field: str, value: object) -> None:
    """The question shows what there is now; the next message replaces it and becomes the owner's word."""
    peter = await world.person("Пётр")
    aliases = {"aliases": ["Петруша"]}
    await world.write(lambda c: service.edit(c, 1, peter.id, aliases, now=world.clock.now()))
    fields = only(await world.press(only(await world.send("/person Пётр")).buttons["Edit"]))
    assert only(await world.press(fields.buttons[button])).force_reply
    assert text("en", "person-saved") in only(await world.send(typed)).text
    known = await world.known(peter.id)
    assert known is not None
    assert getattr(known, field) == value
    assert known.owner_set(field)


async def test_an_impossible_edit_says_why(world: World) -> None:
    """A name without a letter changes nothing, and the reason is given in words."""
    peter = await world.person("Пётр")
    await world.press(f"e:1:{peter.id}:display_name")
    assert only(await world.send("!!!")).text == text("en", "refused-no_name")
    known = await world.known(peter.id)
    assert known is not None
    assert known.display_name == "Пётр"


async def test_a_card_is_no_answer_to_a_question_in_words(world: World) -> None:
    """A contact sent while a bio is asked for is remembered as a person, and does not empty the bio."""
    peter = await world.person("Пётр")
    await world.press(f"e:1:{peter.id}:bio")
    card = {"contact": {"phone_number": "1", "first_name": "Anna", "user_id": 77}}
    assert "Anna" in only(await world.message(card)).text
    assert await world.known(peter.id) == peter


async def test_merging_and_back(world: World) -> None:
    """Two profiles are merged after a confirmation, by button, and become two again by button."""
    petya = await world.person("Петя", telegram_id=100)
    peter = await world.person("Пётр")
    await world.write(lambda c: c.exec_driver_sql("UPDATE people SET telegram_id = NULL WHERE telegram_id != 100"))
    candidates = only(await world.press(only(await world.send("/person Петя")).buttons["Merge with…"]))
    assert "Петя" not in candidates.buttons
    asked = only(await world.press(candidates.buttons["Пётр"]))
    assert "Петя" in asked.text
    merged = only(await world.press(asked.buttons["Merge"]))
    assert text("en", "merge-done", source="Петя", target="Пётр") in merged.text
    assert await world.known(petya.id) is None
    assert only(await world.press(asked.buttons["Merge"])) == merged
    undone = only(await world.press(merged.buttons["Undo"]))
    assert undone.text == text("en", "merge-undone", source="Петя", target="Пётр")
    assert only(await world.press(merged.buttons["Undo"])) == undone
    assert await world.known(petya.id) is not None
    assert await world.known(peter.id) is not None


async def test_those_of_like_names_are_offered_first(world: World) -> None:
    """Whoever may be the same person stands above those who are mentioned more often."""
    await world.person("Александр Иванов")
    for name in ("Ольга", "Тарас", "Marta"):
        await world.person(name)
    await world.person("Саша")
    await world.write(lambda c: c.exec_driver_sql("UPDATE people SET mention_count = 9 WHERE display_name = 'Ольга'"))
    offered = only(await world.press(only(await world.send("/person Саша")).buttons["Merge with…"]))
    assert list(offered.buttons)[:2] == ["Александр Иванов", "Ольга"]


async def test_whom_to_merge_with_may_be_typed(world: World) -> None:
    """With many people a name is quicker than pages; an unknown one is said to be so."""
    petya = await world.person("Петя")
    await world.person("Пётр Иванов")
    await world.press(f"p:1:{petya.id}:m")
    assert "Пётр Иванов" in only(await world.send("пётр")).text
    await world.press(f"p:1:{petya.id}:m")
    assert only(await world.send("Зинаида")).text == text("en", "person-unknown", name="Зинаида")


async def test_two_accounts_are_two_people(world: World) -> None:
    """A merge that cannot be is refused with its reason, and nothing changes."""
    one, other = await world.person("Ivan", 100), await world.person("Ivan P", 200)
    assert only(await world.press(f"m:1:{one.id}:{other.id}:1")).text == text("en", "refused-different_telegram_ids")
    assert await world.known(one.id) == one


async def test_a_sole_person_has_nobody_to_be_merged_with(world: World) -> None:
    """The list of candidates says so instead of being empty."""
    ivan = await world.person("Ivan")
    assert only(await world.press(f"p:1:{ivan.id}:m")).text == text("en", "merge-nobody")


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_a_contact_card_becomes_a_person(world: World, lang: Language) -> None:
    """A card with an account adds somebody once, then updates; a card without one, or one's own, adds nobody."""
    await world.admit(2, "Taras", lang)
    card = {"contact": {"phone_number": "1", "first_name": "Анна", "last_name": "К.", "user_id": 77}}
    assert text(lang, "contact-added", name="Анна К.") in only(await world.message(card, 2)).text
    assert text(lang, "contact-updated", name="Анна К.") in only(await world.message(card, 2)).text
    bare = {"contact": {"phone_number": "+380441112233", "first_name": "Олег"}}
    assert text(lang, "contact-added", name="Олег") in only(await world.message(bare, 2)).text
    assert text(lang, "contact-updated", name="Олег") in only(await world.message(bare, 2)).text
    assert "+380441112233" in only(await world.send("/facts Олег", 2)).text
    own = {"contact": {"phone_number": "1", "first_name": "Taras", "user_id": 2}}
    assert only(await world.message(own, 2)).text == text(lang, "contact-self")
    found = await world.read(lambda c: service.find(c, 2, "77"))
    assert [(person.display_name, person.telegram_id) for person in found] == [("Анна К.", 77)]


async def test_the_likeliest_merge_is_asked_first(world: World) -> None:
    """Not the oldest: names that share more words come before."""
    ann, anna, ann_lee = [await world.person(name) for name in ("Ann", "Anna Petrova", "Ann Lee")]
    for source, target in ((ann, anna), (ann, ann_lee)):
        await suggest(world, "merge", target.id, {"source_id": source.id, "target_id": target.id, "reason": "name"})
        world.clock.advance(1)
    overview = only(await world.send("/people"))
    first = only(await world.press(overview.buttons[label("en", "people-suggestions-button", count=2)]))
    assert "Ann Lee" in first.text


async def suggest(world: World, kind: str, person_id: int, payload: dict[str, object], owner: int = 1) -> str:
    suggestion_id = await world.write(
        lambda c: suggestion_repository.suggest(
            c,
            owner,
            "merge" if kind == "merge" else "field",
            person_id,
            payload,
            now=world.clock.now(),
        )
    )
    assert suggestion_id is not None
    return suggestion_id


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_suggestions_are_decided_one_by_one(world: World, lang: Language) -> None:
    """From the list of people the owner reaches what a model proposes, applies one and keeps the other."""
    await world.admit(2, "Taras", lang)
    peter = await world.person("Пётр", owner=2, circle="Friends")
    await suggest(world, "field", peter.id, {"field": "circle", "value": "Family", "current": "Friends"}, owner=2)
    world.clock.advance(1)
    await suggest(world, "field", peter.id, {"field": "bio", "value": "Врач", "current": "Пётр"}, owner=2)
    overview = only(await world.send("/people", 2))
    first = only(await world.press(overview.buttons[label(lang, "people-suggestions-button", count=2)], 2))
    assert label(lang, "circle", circle="Family") in first.text
    yes, no = label(lang, "suggestion-button-apply"), label(lang, "suggestion-button-keep")
    applied, second = [said for said in await world.press(first.buttons[yes], 2) if said.how != "toast"]
    assert text(lang, "suggestion-applied", name="Пётр") in applied.text
    assert "Врач" in second.text
    again = [said for said in await world.press(first.buttons[yes], 2) if said.how != "toast"]
    assert again == [applied, second]
    for _ in range(2):
        assert only(await world.press(second.buttons[no], 2)).text == text(lang, "suggestion-kept")
    known = await world.known(peter.id, owner=2)
    assert known is not None
    assert (known.circle, known.bio) == (Circle.FAMILY, peter.bio)
    assert only(await world.press(second.buttons[yes], 2)).text == text(lang, "not-found")


@pytest.mark.parametrize("field", ["display_name", "aliases", "username"])
async def test_every_kind_of_suggestion_can_be_asked(world: World, field: str) -> None:
    """Whatever field a model wants to change, the question shows the new value."""
    peter = await world.person("Пётр")
    value: object = ["Петруша"] if field == "aliases" else "petrusha"
    await suggest(world, "field", peter.id, {"field": field, "value": value, "current": ""})
    question = only(await world.press("ss:1"))
    assert ("Петруша" if field == "aliases" else "petrusha") in question.text
    applied = only(await world.press(question.buttons["Yes"]))
    assert text("en", "suggestion-applied", name="petrusha" if field == "display_name" else "Пётр") in applied.text


async def test_another_username_is_asked_with_both(world: World) -> None:
    """What the new one would replace stands in the question."""
    peter = await world.person("Пётр")
    await suggest(world, "field", peter.id, {"field": "username", "value": "petrusha", "current": "petya"})
    asked = text("en", "suggestion-username-other", name="Пётр", value="petrusha", current="petya")
    assert only(await world.press("ss:1")).text == asked


async def test_a_suggested_merge_is_asked_with_both_names(world: World) -> None:
    """Applying it merges the two."""
    one, other = await world.person("Петя", 100), await world.person("Пётр")
    await world.write(lambda c: c.exec_driver_sql("UPDATE people SET telegram_id = NULL WHERE telegram_id != 100"))
    await suggest(world, "merge", one.id, {"source_id": one.id, "target_id": other.id, "reason": "…"})
    question = only(await world.press("ss:1"))
    assert question.text == text("en", "suggestion-merge", source="Петя", target="Пётр")
    assert only(await world.press(question.buttons["Yes"])) == only(await world.press(question.buttons["Yes"]))
    assert await world.known(one.id) is None
    assert only(await world.press("ss:1")).text == text("en", "suggestion-none")


async def test_dates_are_those_of_the_users_clock(world: World) -> None:
    """Half past eleven in the evening by UTC is the next day in Kyiv, and so the profile says."""
    world.clock.set(world.clock.now().replace(hour=23, minute=30))
    await world.person("Пётр")
    assert "November 21, 2026" in only(await world.send("/person Пётр")).text
    await world.send("/timezone Europe/Kyiv")
    assert "November 22, 2026" in only(await world.send("/person Пётр")).text


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_the_map_is_a_picture_of_who_is_what(world: World, lang: Language) -> None:
    """Those whom a profile calls something are on it; before that it says how to begin."""
    await world.admit(2, "Taras", lang)
    assert only(await world.send("/map", 2)).text == shown(phrase(lang, "map-empty"))
    maria = await world.person("Мария", owner=2, circle="Family")
    bio = {"bio": "Мария — моя сестра."}
    await world.write(lambda c: service.edit(c, 2, maria.id, bio, now=world.clock.now()))
    drawn = only(await world.send("/map", 2))
    assert (drawn.how, drawn.text) == ("photo", "map.png")
    assert "1" in drawn.caption or "One" in drawn.caption
