"""Which messages are about a person, and what becomes of them when they are forgotten along."""

from __future__ import annotations

import pytest
from support.flows.erase_stage import KEY, ErasingStage, added, fact
from support.flows.flow_stage import OWNER, Talk

from internal.dialogue import reply_source_repository, repository as dialogue
from internal.dialogue.model import ReplySource
from internal.flows.forgetting import requests
from internal.flows.forgetting.messages_about import messages_about
from internal.flows.forgetting.requests import UNDO_WINDOW
from internal.flows.visibility.prompt_filter import PromptFilter

NAMING = (
    "Познакомилась с Петровым",
    "Пётр прислал фото",
    "У Пети день рождения",
    "Написала @petr_p",
    "Anna met Petrov",
)
SAYING = "Он любит чай"
"""Names nobody, and supports what goes."""
OTHER = ("Хороший день", "Анна пришла", "Олег Сидоров звонил")


@pytest.fixture
async def stage(talk: Talk) -> ErasingStage:
    stage = ErasingStage(talk)
    known = {"circle": "Friends", "aliases": ["Петя", "Petrov"], "username": "petr_p"}
    stage.reply(
        "Познакомилась",
        people_operations=[added("Пётр Петров", "Новый знакомый.", 1, 7, **known), added("Анна", "Подруга.", 15)],
        facts=[fact("Пётр Петров", "LIKES", "чай", "Пётр Петров любит чай", 11)],
    )
    await stage.said(*NAMING, SAYING, *OTHER)
    stage.archivist.script.clear()
    return stage


async def about(stage: ErasingStage) -> list[str]:
    person = next(one for one in await stage.people() if one.display_name == "Пётр Петров")
    found = await messages_about(stage.database, OWNER, person.id, now=stage.talk.clock.now())
    return [one.content for one in await stage.talk.messages() if one.id in found]


async def test_messages_name_or_support_what_goes(stage: ErasingStage) -> None:
    """Cases, short names, usernames, another alphabet; a line that states a fact of the person; answers citing them."""
    said = {one.content: one.id for one in await stage.talk.messages() if one.role == "user"}

    def cited(connection: object) -> None:
        for source, text in ((said[NAMING[0]], "Это он."), (said[OTHER[0]], "Солнечно.")):
            answer = dialogue.add(connection, OWNER, "assistant", text, now=stage.talk.clock.now())  # type: ignore[arg-type]
            sources = [ReplySource(1, "message", source, cited=True)]
            reply_source_repository.add(connection, OWNER, answer.id, sources)  # type: ignore[arg-type]

    await stage.talk.write(cited)
    assert await about(stage) == [*NAMING, SAYING, "Это он."]


async def test_of_two_of_one_name_the_messages_of_the_other_stay(stage: ErasingStage) -> None:
    """What may be meant of somebody else who is known is not taken along."""
    stage.reply("Иванов", people_operations=[added("Пётр Иванов", "Сосед.", 1)])
    await stage.said("Пётр Иванов переехал")
    assert await about(stage) == [text for text in (*NAMING, SAYING) if "Пётр " not in text]


async def test_forms_that_no_name_of_the_profile_has_are_found_too(stage: ErasingStage) -> None:
    """Short and foreign forms, as the search finds them; not an ordinary word that looks like one."""
    found = ("Петька звонил", "З Петром на риболовлі", "Видела Петруху", "Peter came by")
    await stage.said(*found, "Петли скрипят")
    assert await about(stage) == [*NAMING, SAYING, *found]


async def test_what_names_a_forgotten_person_in_another_form_is_in_no_table_and_no_prompt(stage: ErasingStage) -> None:
    """A fact about somebody else, and a line of before: erased and hidden by a form the profile does not have."""
    stage.reply(
        "Дружит", facts=[fact("Анна", "LIKES", "рыбалка", "Анна ездит с Петрухой на рыбалку", 1)], people_operations=[]
    )
    await stage.said("Анна ездит с Петрухой на рыбалку", "Борис любит чай")
    person = next(one for one in await stage.people() if one.display_name == "Пётр Петров")
    await stage.eraser.erase_now(OWNER, "person", str(person.id))
    assert await stage.tables_with("Петрух") <= {"messages", "segments", "message_terms", "search_items"}
    shown = PromptFilter(stage.database, KEY)
    left = await shown.messages(OWNER, [one for one in await stage.talk.messages() if one.role == "user"])
    assert "Анна ездит с Петрухой на рыбалку" not in {one.content for one in left}
    assert "Борис любит чай" in {one.content for one in left}


@pytest.mark.parametrize("at_once", [False, True])
async def test_forgotten_along_they_are_in_no_table(stage: ErasingStage, at_once: bool) -> None:
    """With and without a time to undo; what is about others stays."""
    person = next(one for one in await stage.people() if one.display_name == "Пётр Петров")
    if at_once:
        await stage.eraser.erase_now(OWNER, "person", str(person.id), messages=True)
    else:
        now = stage.talk.clock.now()
        found = await messages_about(stage.database, OWNER, person.id, now=now)
        await stage.talk.write(lambda c: requests.ask_forget(c, OWNER, person.id, now=now, messages=found))
        stage.talk.clock.advance(UNDO_WINDOW)
        assert await stage.eraser.erase_due() == 1
    said = [one.content for one in await stage.talk.messages() if one.role == "user"]
    assert said == list(OTHER)
    for word in ("петр", "petr", "Он любит", "Новый знакомый"):
        assert await stage.tables_with(word) == set(), word
        assert stage.files_with(word) == []
