"""The offline archivist against its labelled dialogues: what it promises, and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.agents.offline_cases import Score, cases, request_of

from internal.agents.archivist.offline.agent import OfflineArchivist, propose
from internal.language.names.person_names import name_key
from internal.language.worker.process_pool import LanguageWorker
from internal.people.model import Circle

# Known to be beyond the rules: a product's name that is a first name, and a capital in the middle for effect.
BEYOND = ("Купил Сони", "Лето прошло", "I use Jenkins")


def words_proposed(reply: str) -> set[str]:
    people = [operation.get("person", {}) for operation in json.loads(reply)["people_operations"]]
    names = [name for person in people for name in [person.get("display_name", ""), *person.get("aliases", [])]]
    return {word for name in names for word in name_key(name).split()}


def trap_cases() -> list[dict[str, Any]]:
    return [case for case in cases() if "never" in case and not case["say"][0].startswith(BEYOND)]


def test_it_reaches_its_floors() -> None:
    """Precision and recall of people, circles, bios and merges over the whole set."""
    score = Score()
    for case in cases():
        score.add(case, propose(request_of(case)))
    report = "\n".join(score.wrong)
    assert score.precision >= 0.96, report
    assert score.recall >= 0.97, report
    assert score.circles / score.correct >= 0.97, report
    assert score.bios / score.bios_expected >= 0.97, report
    assert score.merges == score.merges_expected, report


@pytest.mark.parametrize("language", ["ru", "uk", "en"])
def test_no_language_lags_behind(language: str) -> None:
    """Each of the three languages reaches its own floor."""
    score = Score()
    for case in cases():
        if case["lang"] == language:
            score.add(case, propose(request_of(case)))
    assert score.precision >= 0.94, score.wrong
    assert score.recall >= 0.95, score.wrong


@pytest.mark.parametrize("case", trap_cases(), ids=lambda case: case["say"][0][:40])
def test_traps(case: dict[str, Any]) -> None:
    """Places, streets, authors, months, companies, ordinary words, kinship alone, forwards and the bot's own words."""
    proposed = words_proposed(propose(request_of(case)))
    assert not proposed & {word for name in case["never"] for word in name_key(name).split()}


def test_every_circle_is_in_the_set() -> None:
    """The floors mean something only if the set asks for every circle."""
    asked = {row.get("circle") for case in cases() for row in case.get("people", [])} - {None}
    assert asked == {circle.value for circle in Circle}


def proposed(case: dict[str, Any]) -> list[dict[str, Any]]:
    operations: list[dict[str, Any]] = json.loads(propose(request_of({"lang": "ru", **case})))["people_operations"]
    return operations


PETROV = {"id": 1, "name": "Петров", "circle": "Other", "bio": "Говорил с Петровым."}


def test_a_fuller_name_becomes_an_alias() -> None:
    """A known surname that gets a first name stays one person; the case form it was written in is no alias."""
    (operation,) = proposed({"say": ["Вчера звонил Иван Петров."], "known": [PETROV]})
    assert operation["type"] == "Updated"
    assert operation["person"]["aliases"] == ["Иван Петров"]
    (operation,) = proposed({"say": ["Ужинал с Петровым в кафе."], "known": [PETROV]})
    assert "aliases" not in operation["person"]


def test_what_the_bot_is_ordered_to_do_tells_of_nobody() -> None:
    """Neither whom it shall forget, nor how it shall call its owner, nor how it shall write."""
    said = {
        "ru": [
            "удали пожалуйста всё что знаешь про Вадика",
            "зови меня Верочка",
            "Меня зовут Вера, я врач.",
        ],
        "uk": [
            "відтепер звертайся до мене Ольга Іванівна",
            "пиши мені тільки українською і коротко",
            "Скасуй концерт Юрчика",
        ],
        "en": [
            "forget all that stuff about Tom",
            "call me Katie from now on",
            "My name is Kate and I'm a nurse.",
        ],
    }
    for language, lines in said.items():
        for line in lines:
            assert proposed({"lang": language, "say": [line]}) == [], line
    (operation,) = proposed({"say": ["Забудь, кстати, про отпуск. Вадик уволился."]})
    assert operation["person"]["bio"] == "Вадик уволился."


@pytest.mark.parametrize(
    ("language", "order"),
    [
        ("en", "Draft a birthday card for Philippa"),
        ("ru", "Напиши Андрею поздравление с юбилеем"),
        ("uk", "склади тост для Романа"),
    ],
)
def test_an_order_for_words_names_somebody_and_tells_nothing_of_him(language: str, order: str) -> None:
    """His profile has no word of it."""
    assert [one["person"]["bio"] for one in proposed({"lang": language, "say": [order]})] in ([], [""])


def test_a_known_name_in_the_other_alphabet_is_an_alias() -> None:
    """Masha is the only Маша, unless kinship or gender says that it is somebody else."""
    masha = {"id": 1, "name": "Маша", "circle": "Family", "bio": "Моя сестра Маша живёт в Туле."}
    (operation,) = proposed({"say": ["Masha сломала ногу."], "known": [masha]})
    assert (operation["type"], operation["person"]["id"]) == ("Updated", 1)
    assert operation["person"]["aliases"] == ["Masha"]
    (operation,) = proposed({"lang": "en", "say": ["My colleague Masha resigned."], "known": [masha]})
    assert (operation["type"], operation["person"]["display_name"]) == ("Added", "Masha")
    (operation,) = proposed(
        {
            "lang": "en",
            "say": ["My brother Sasha came."],
            "known": [{**masha, "name": "Саша", "bio": "Моя сестра Саша учится."}],
        }
    )
    assert operation["type"] == "Added"


def test_somebody_elses_wife_is_of_his_circle_only_in_the_owners_family() -> None:
    """Who he is may stand in another line, or only in his profile."""
    known = [
        {**PETROV, "name": "Пётр", "circle": "Work_Inner"},
        {**PETROV, "id": 2, "name": "Андрей", "circle": "Family"},
    ]
    said = ["Жена Петра Ольга родила.", "Моего брата зовут Олег.", "Жена Андрея Катя поёт.", "Дочь Олега Даша учится."]
    circles = {
        one["person"].get("display_name"): one["person"].get("circle")
        for one in proposed({"say": said, "known": known})
    }
    assert (circles["Ольга"], circles["Катя"], circles["Даша"]) == ("Other", "Family", "Family")


def test_a_first_name_of_two_known_people_is_left_alone() -> None:
    """Who is meant cannot be told: nobody is changed and nobody is added."""
    known = [{**PETROV, "id": 1, "name": "Иван Петров"}, {**PETROV, "id": 2, "name": "Иван Сидоров"}]
    assert proposed({"say": ["Иван купил машину."], "known": known}) == []


def test_the_owner_need_not_repeat_himself() -> None:
    """What is already in the profile changes nothing."""
    assert proposed({"say": ["говорил с петровым"], "known": [PETROV]}) == []


def test_a_bio_grows_to_three_sentences_and_no_further() -> None:
    """The first sentence says who it is and stays; of the others the latest are kept."""
    bio = "Коллега по проекту. Любит кофе. Живёт в Туле."
    (operation,) = proposed({"say": ["Петров купил собаку."], "known": [{**PETROV, "bio": bio}]})
    assert operation["person"]["bio"] == "Коллега по проекту. Живёт в Туле. Петров купил собаку."


def test_one_username_is_one_person() -> None:
    """A name beside the username of another known person merges the two; other usernames forbid it."""
    maria = {"id": 2, "name": "Мария", "circle": "Friends", "bio": "", "username": "masha_p", "mentions": 5}
    masha = {"id": 3, "name": "Маша", "circle": "Friends", "bio": "", "mentions": 1}
    say = ["Маша (@masha_p) приехала."]
    merges = [one for one in proposed({"say": say, "known": [maria, masha]}) if one["type"] == "Merged"]
    assert [(one["source_id"], one["target_id"]) for one in merges] == [(3, 2)]
    other = {**masha, "username": "another"}
    assert not [one for one in proposed({"say": say, "known": [maria, other]}) if one["type"] == "Merged"]


def test_evidence_is_the_owners_lines() -> None:
    """Numbers of the lines in which the person is spoken of, questions and the bot's words left out."""
    say = ["Мой друг Саша приехал.", "assistant: Саша? Расскажите о Саше.", "Кто такой Саша?", "Он врач."]
    (operation,) = proposed({"say": say})
    assert operation["evidence"] == [1, 4]


def test_a_question_alone_adds_nobody() -> None:
    """Asking about somebody is not telling about him."""
    assert proposed({"say": ["Ты знаешь Петрова?", "Расскажи о Маше Ивановой", "кто такой Петров"]}) == []
    assert proposed({"lang": "en", "say": ["who is @olena_k", "What do you know about Tom Baker"]}) == []
    assert proposed({"lang": "uk", "say": ["Хто такий Тарас", "Де живе Олена Коваль", "Що ти знаєш про Остапа"]}) == []


async def test_it_runs_in_the_language_process() -> None:
    """The port gives the reply of the rules, and names them as its model."""
    request = request_of({"lang": "ru", "say": ["Мой начальник Петров опоздал.", *["Саша звонил."] * 9]})
    worker = LanguageWorker()
    try:
        reply = await OfflineArchivist(worker).ask(request)
    finally:
        await worker.close()
    assert (reply.text, reply.model) == (propose(request), "offline-rules")


@pytest.mark.parametrize(
    ("lang", "said", "people"),
    [
        ("ru", "Привет! Меня зовут Олег, я живу в Минске.", []),
        ("ru", "Я Олег.", []),
        ("ru", "Я Олега давно не видел.", ["Олег"]),
        ("ru", "Моего брата зовут Олег.", ["Олег"]),
        ("uk", "Мене звати Оксана.", []),
        ("uk", "Мою сестру звати Оксана.", ["Оксана"]),
        ("en", "My name is Kate Brown.", []),
        ("en", "I'm called Sandra.", []),
        ("en", "everyone calls me Sandy", []),
        ("ru", "меня все кличут Саня", []),
        ("ru", "Меня Сандрой зовут.", []),
        ("uk", "мене всі звуть Саня", []),
        ("en", "Yesterday I met Hart & Sons about the roof.", []),
        ("en", "Carter, Blake & Partners called.", []),
        ("en", "my lil bro Danny moved to Leeds", ["Danny"]),
        ("en", "I'm Kate, nice to meet you.", []),
        ("en", "I'm Kate's brother.", ["Kate"]),
    ],
)
def test_who_tells_his_own_name_is_nobody_else(lang: str, said: str, people: list[str]) -> None:
    """The owner is no person of his own memory."""
    found = json.loads(propose(request_of({"lang": lang, "say": [said]})))["people_operations"]
    assert [operation["person"]["display_name"] for operation in found] == people
