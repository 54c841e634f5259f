"""What the owner denied stays denied, however often older lines are read; a later line may tell it again."""

from datetime import timedelta

import pytest
from support.flows.erase_stage import KEY, ErasingStage, LanguageHere, added, bios, fact
from support.flows.flow_stage import OWNER, Talk

from internal.dialogue.snapshots import repository as snapshots
from internal.dialogue.snapshots.model import Snapshot, SnapshotItem
from internal.flows.archival.ingestion import add_episode, text_segments
from internal.flows.correcting.facts import FactCorrections
from internal.flows.forgetting import erase
from internal.flows.visibility.snapshot import shown_snapshot
from internal.people import service as people
from internal.storage.forgetting import hidings


@pytest.fixture
def stage(talk: Talk) -> ErasingStage:
    return ErasingStage(talk)


async def deny(stage: ErasingStage, words: str) -> None:
    [held] = [one for one in await stage.facts() if one.target_name == "Berlin"]
    restating = FactCorrections(stage.database, stage.talk.clock, LanguageHere(), KEY)
    assert (await restating.restate(await stage.talk.user(), held.id, words)).outcome == "denied"
    stage.talk.clock.advance(60)


async def held(stage: ErasingStage) -> list[str]:
    return [one.fact for one in await stage.facts()]


async def told_before(stage: ErasingStage, text: str, days: int) -> None:
    """A text of so many days ago arrives now."""
    now = stage.talk.clock.now()
    at = now - timedelta(days=days)
    await stage.talk.write(
        lambda c: add_episode(
            c, OWNER, source="text", name="note", segments=text_segments(text, at), content=text,
            source_description="a note", source_url=None, reference_time=at, dedupe=None, agents=["archivist"], now=now,
        )
    )  # fmt: skip
    await stage.archive()


BERLIN = [fact("Anna", "LIVES_IN", "Berlin", "Anna lives in Berlin", 1)]


async def test_a_denied_fact_does_not_come_back_from_its_slice(stage: ErasingStage) -> None:
    """The slice that told it is read a second time; its other facts are told again."""
    olha = fact("Olha", "LIVES_IN", "Lviv", "Olha lives in Lviv", 1)
    stage.reply("Berlin", people_operations=[added("Anna", "A friend.", 1)], facts=[*BERLIN, olha])
    await stage.said("Anna lives in Berlin, Olha in Lviv")
    await deny(stage, "Anna does not live in Berlin")
    for _ in range(2):
        await stage.talk.publication().backfill("archivist", [OWNER], again=True)
        await stage.archive()
        assert await held(stage) == ["Olha lives in Lviv"]


async def test_older_lines_do_not_tell_what_was_denied(stage: ErasingStage) -> None:
    """In whatever words they say it, from an import for one; a line of after the denial does."""
    stage.reply("Berlin", people_operations=[added("Anna", "A friend.", 1)], facts=BERLIN)
    await stage.told("Anna lives in Berlin")
    await deny(stage, "Anna does not live in Berlin")
    stage.archivist.script.clear()
    stage.reply("Spree", facts=[fact("Anna", "LIVES_IN", "Berlin", "Anna has a flat in Berlin", 1)])
    await told_before(stage, "Anna has a flat by the Spree, in Berlin", days=2)
    assert await held(stage) == []
    await stage.told("Anna has a flat by the Spree now, in Berlin")
    assert await held(stage) == ["Anna has a flat in Berlin"]


async def test_another_time_of_the_same_is_not_denied(stage: ErasingStage) -> None:
    """That she lived there years ago may be so, though she does not now."""
    stage.reply("Berlin", people_operations=[added("Anna", "A friend.", 1)], facts=BERLIN)
    await stage.told("Anna lives in Berlin")
    await deny(stage, "Anna does not live in Berlin")
    stage.archivist.script.clear()
    years = {"valid_at": "2010-01-01", "invalid_at": "2012-01-01"}
    stage.reply("2010", facts=[BERLIN[0] | {"fact": "Anna lived in Berlin from 2010 to 2012"} | years])
    await told_before(stage, "Anna lived in Berlin from 2010-01-01 to 2012-01-01", days=2)
    [past] = [one for one in await stage.facts(include_invalid=True) if one.expired_at is None]
    assert past.fact == "Anna lived in Berlin from 2010 to 2012"


async def test_a_profile_does_not_tell_what_was_denied(stage: ErasingStage) -> None:
    """Its sentence goes with the denial, and older lines do not bring it back in other forms either."""
    stage.reply("Berlin", people_operations=[added("Anna", "A friend. Lives in Berlin.", 1)], facts=BERLIN)
    await stage.told("Anna lives in Berlin")
    await deny(stage, "Anna does not live in Berlin")
    assert await bios(stage) == {"Anna": "A friend."}
    stage.archivist.script.clear()
    stage.reply("flat", people_operations=[added("Anna", "She is living in Berlin. Likes tea.", 1)])
    await told_before(stage, "Anna, in her flat in Berlin, likes tea", days=2)
    assert await bios(stage) == {"Anna": "A friend. Likes tea."}


async def remembered(stage: ErasingStage) -> list[str]:
    """The items of the snapshot as prompts hold it."""
    return [item.text for item in (await stage.talk.read(lambda c: shown_snapshot(c, OWNER))).items]


async def pete_works(stage: ErasingStage) -> FactCorrections:
    """Pete's job in a fact, his profile and the snapshot, as one message stated it."""
    works = fact("Pete", "WORKS_FOR", "Nokia", "My cousin Pete works at Nokia", 1)
    bio = "A cousin. My cousin Pete works at Nokia. Plays chess."
    stage.reply("Nokia", people_operations=[added("Pete", bio, 1)], facts=[works])
    await stage.said("My cousin Pete works at Nokia. I like Pete.")
    [said] = [one.id for one in await stage.talk.messages() if one.role == "user"]
    at = stage.talk.clock.now()
    texts = ("My cousin Pete works at Nokia. I like Pete.", "Pete is an engineer of Nokia", "Pete, a cousin, was ill")
    snapshot = Snapshot(who=tuple(SnapshotItem(one, at, (said,)) for one in texts))
    await stage.talk.write(lambda c: snapshots.add(c, OWNER, snapshot, now=at))
    stage.talk.clock.advance(60)
    return FactCorrections(stage.database, stage.talk.clock, LanguageHere(), KEY)


async def test_prompts_do_not_state_what_a_correction_replaced(stage: ErasingStage) -> None:
    """Neither the profile nor the snapshot; its undo brings both back, and what is said later stays."""
    corrections, user = await pete_works(stage), await stage.talk.user()
    [held] = await stage.facts()
    whole = (await bios(stage), await remembered(stage))
    done = await corrections.restate(user, held.id, "Pete works at Ericsson")
    assert await bios(stage) == {"Pete": "A cousin. Plays chess."}
    assert await remembered(stage) == ["Pete, a cousin, was ill"]
    later = Snapshot(now=(SnapshotItem("Pete works at Nokia again", stage.talk.clock.now() + timedelta(1), ()),))
    assert await stage.talk.read(hidings.orphaned_hidings) == {}
    await corrections.undo(user, done.fact.id)
    assert (await bios(stage), await remembered(stage)) == whole
    for words in ("Pete works at Ericsson", "My cousin Pete works at Nokia"):
        await corrections.restate(user, (await stage.facts())[0].id, words)
    assert (await bios(stage), await remembered(stage)) == whole
    again = await corrections.restate(user, (await stage.facts())[0].id, "Pete works at Ericsson")
    await stage.talk.write(lambda c: snapshots.add(c, OWNER, later, now=stage.talk.clock.now()))
    assert await remembered(stage) == ["Pete works at Nokia again"]
    await stage.forget("fact", again.fact.id)
    assert await bios(stage) == {"Pete": "A cousin. Plays chess."}
    assert await stage.talk.read(lambda c: hidings.hidden_parts(c, OWNER, "profile:")) == set()


async def test_a_date_in_a_correction_leaves_what_is_still_right(stage: ErasingStage) -> None:
    """Only another other end makes sentences that name the old one wrong; what the owner wrote meanwhile stays his."""
    corrections, user = await pete_works(stage), await stage.talk.user()
    [held] = await stage.facts()
    dated = await corrections.restate(user, held.id, "My cousin Pete works at Nokia since 2019")
    assert await bios(stage) == {"Pete": "A cousin. My cousin Pete works at Nokia. Plays chess."}
    assert len(await remembered(stage)) == 3
    moved = await corrections.restate(user, dated.fact.id, "Pete works at Ericsson since 2019")
    [pete] = await stage.people()
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: people.edit(c, OWNER, pete.id, {"bio": "My best cousin."}, now=now))
    await corrections.undo(user, moved.fact.id)
    [pete] = await stage.people()
    assert pete.field_meta["bio"]["by"] == "owner"


async def test_the_snapshot_does_not_state_what_was_denied(stage: ErasingStage) -> None:
    """Like profiles, whose other hidden sentences stay hidden."""
    corrections, user = await pete_works(stage), await stage.talk.user()
    [held] = await stage.facts()
    assert (await corrections.restate(user, held.id, "Pete does not work at Nokia")).outcome == "denied"
    assert await remembered(stage) == ["Pete, a cousin, was ill"]


@pytest.mark.parametrize(
    ("before", "words", "after"),
    [
        ("Работает в Заландо.", "Анна работает в Zalando", "Теперь она работала в Zalando."),
        ("Працює в Заландо.", "Анна працює в Zalando", "Вона в Zalando працювала."),
        ("Works at Zalando.", "Anna works at Zalando", "She has worked at Zalando."),
    ],
)
async def test_a_forgotten_sentence_stays_away_in_other_forms(
    stage: ErasingStage, before: str, words: str, after: str
) -> None:
    """Another order, alphabet and ending of the same words; another employer's sentence is another one."""
    tells = fact("Anna", "WORKS_FOR", "Zalando", words, 1)
    stage.reply("Zalando", people_operations=[added("Anna", before, 1)], facts=[tells])
    await stage.told("Anna, Zalando")
    fact_id = next(one.id for one in await stage.facts())
    now = stage.talk.clock.now()
    await stage.talk.write(lambda c: erase.erase_fact(c, OWNER, fact_id, key=KEY, now=now))
    stage.archivist.script.clear()
    other = after.replace("Zalando", "Siemens")
    stage.reply("OLD", people_operations=[added("Anna", f"{after} {other}", 1)])
    await told_before(stage, "OLD: Anna", days=2)
    assert await bios(stage) == {"Anna": other}
