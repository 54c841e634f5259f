"""Standing instructions are found in what people say, and in nothing else."""

from __future__ import annotations

import pytest
import yaml
from support.paths import ROOT

from internal.language.instructions.find import find_instructions

SAID = yaml.safe_load((ROOT / "tests/data/standing_instructions.yaml").read_text(encoding="utf-8"))


def kind_of(text: str) -> str:
    found = find_instructions(text)
    return "nothing" if not found else "lifted" if found[0].lifts else "kept"


@pytest.mark.parametrize(("part", "least"), [("first", 1.0), ("second", 0.98), ("third", 1.0), ("fourth", 0.96)])
def test_instructions_are_told_from_everything_else(part: str, least: float) -> None:
    """Nothing that is none is taken for one, and few are missed."""
    wanted = {text: kind for kind, texts in SAID[part].items() for text in texts}
    wrong = [text for text, kind in wanted.items() if kind_of(text) != kind]
    assert len(wanted) >= 57
    assert not [text for text in wrong if wanted[text] == "nothing"]
    assert len(wrong) <= len(wanted) * (1 - least)


@pytest.mark.parametrize(
    ("newer", "older", "ends"),
    [
        ("now write in Russian again", "пиши мне по-украински в будни", True),
        ("Write to me in Russian on weekends", "Write to me in Ukrainian on weekdays", False),
        ("From now on no emojis", "Always answer in bullet points", False),
        ("book nothing before 11 from now on", "never book before 10", True),
        ("звертайся до мене Олю", "не називай мене на ви", False),
        ("забудь, что я просил про смайлики", "больше никаких смайликов", True),
        ("Cancel the rule about bullet points", "Always answer in bullet points", True),
        ("You can use emojis again", "больше никаких смайликов", True),
        ("I no longer want short answers", "keep your answers short", True),
        ("scrap the no emojis rule", "no emojis please", True),
        ("stop using bullet points", "Always answer in bullet points", True),
        ("ignore what I said about emojis", "no emojis please", True),
        ("я больше не хочу коротких ответов", "Отвечай коротко", True),
        ("lose the bullet points", "Always answer in bullet points", True),
        ("never mind the short answers thing", "keep your answers short", True),
        ("хватит списков", "Отвечай списками", True),
        ("проехали с короткими ответами", "Отвечай коротко", True),
        ("забий на короткі відповіді", "Відповідай коротко", True),
        ("годі вже смайликів", "Завжди став смайлики", True),
        ("lose the bullet points", "keep your answers short", False),
        ("смайлы снова можно", "Без смайлов, пожалуйста", True),
        ("правило про емодзі більше не діє", "Без емодзі, будь ласка", True),
        ("я більше не хочу коротких відповідей", "Відповідай коротко", True),
        ("Never mention football scores", "Don't ever mention football scores again", True),
        ("Always ask me before you delete a note", "Always ask me before you add a task", False),
    ],
)
def test_one_instruction_ends_another_of_the_same_manner(newer: str, older: str, ends: bool) -> None:
    """Not one about something else, nor one that holds at another time."""
    (later,), (earlier,) = find_instructions(newer), find_instructions(older)
    assert later.ends(earlier) is ends


def test_two_in_one_sentence_are_two() -> None:
    """So that each can end by itself."""
    found = find_instructions("Привет! Отвечай мне по-украински и без смайликов.")
    assert [one.text for one in found] == ["Отвечай мне по-украински", "без смайликов"]


def test_chat_slang_is_written_out() -> None:
    """ "n" and "ur" join and address as the words do."""
    found = find_instructions("keep ur answers short n no emojis pls")
    assert [one.topics for one in found] == [{"length"}, {"emoji"}]


@pytest.mark.parametrize(
    "text",
    [
        "I no longer want a short haircut",
        "short skirts are back in fashion again",
        "больше не хочу длинных отпусков",
        "я більше не люблю довгі черги",
        "I'm tired of long meetings",
        "lose the shopping list",
        "never mind the short meeting",
        "забудь список покупок",
        "забий на довгі черги",
    ],
)
def test_what_the_owner_wants_no_more_in_life_is_no_instruction(text: str) -> None:
    """Only of answers."""
    assert find_instructions(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("списками мне больше не отвечай", "kept"),
        ("подробнее отвечай пж", "kept"),
        ("жартів не треба", "kept"),
        ("пиши попроще и покороче", "kept"),
        ("keep it concise please", "kept"),
        ("be a bit brief", "kept"),
        ("turn off the jokes", "kept"),
        ("включи обратно шутки", "lifted"),
        ("вимкни режим довгих відповідей", "lifted"),
        ("turn off the detailed answers", "lifted"),
        ("bring the bullet points back", "lifted"),
        ("keep it short, the taxi is waiting", "nothing"),
        ("она длинных писем не пишет", "nothing"),
        ("верни книгу Оле", "nothing"),
        ("выключи длинную гирлянду", "nothing"),
        ("turn off the long hallway light", "nothing"),
    ],
)
def test_a_manner_may_stand_before_its_order_and_is_switched(text: str, kind: str) -> None:
    """A lamp is switched too, and a letter may be long."""
    assert kind_of(text) == kind
