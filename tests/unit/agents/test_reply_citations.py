"""Citations in replies, in whatever form, wherever the stream is cut."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from internal.agents.citation_forms import CITATION
from internal.agents.citations import CitationFilter, cited, cited_only, marks_in, with_numbers, without_citations
from internal.agents.model import PassageLine, RecalledFact, RecalledMemory, RecalledPassage
from internal.errors import ModelReplyInvalid

ZALANDO = RecalledFact(1, "f1", "Катажина працює в Zalando", source="Катажина", target="Zalando")
BERLIN = RecalledFact(2, "f2", "Анна живёт в Берлине", source="Анна", target="Берлин")
RACES = RecalledFact(12, "f12", "Peter never misses a race", source="Peter", target="races")
GIVEN = (ZALANDO, BERLIN, RACES)
SPANISH = RecalledMemory(1, "m1", "Goal", "выучить испанский до лета")
PIANO = RecalledMemory(13, "m13", "Memory", "Anna sold the piano")
KEPT = (SPANISH, PIANO)
SAID = (
    RecalledPassage(4, "message", "p4", [PassageLine(datetime(2026, 5, 3, tzinfo=UTC), "Оля", "Поезд уходит в шесть")]),
)

_PIECES = st.sampled_from([
    "[F1]", "[F2]", "[F12]", "[f1, F2]", "[F1;3]", "[F99]", "[Ф2]", "[", "[F", "F1]", " ", "\n", "`", "```\n", "слово",
    "[1]", "[7]", "(F1)", "(F1", ")", "]", "【F3】", "【2†source】", "【", "[Fact:9]", "[Fact 2]", "[факт №1]", ".",
    ", ", "».", "Zalando", "в Берлине", "([F1])", "(см. [F2])", "(", "](http://a.b)", "[^1]", "[F1-F3]", "[Person:42]",
    "Formula 1", "([F98])", "[M1]", "[M13, F1]", "[M9]", "[м1]", "(M13)", "[Memory 1]", "(память 1)", "[m2]",
    "[13]", "Anna sold it",
])  # fmt: skip
_REPLIES = st.lists(_PIECES, max_size=14).map("".join)
_ORDINARY = st.text("абвгдежзиклмн opqrst,.!?:-–—«»\"'\n0123456789/*_", max_size=60)


def streamed(text: str, cuts: list[int], facts: tuple[RecalledFact, ...] = GIVEN) -> str:
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    citations = CitationFilter(facts, (), KEPT)
    pieces = [citations.feed(text[start:end]) for start, end in pairwise(places)]
    return "".join(pieces) + citations.finish()


@pytest.mark.parametrize(
    "said",
    [
        "Он в ACME [F1], а [F7] нет.",
        "Katarzyna is at Zalando (F1).",
        "Катажина в Zalando [1].",
        "Вона там【1†source】.",
        "[Fact:1] да",
    ],
)
def test_a_citation_comes_whole(said: str) -> None:
    """However slowly it is written, whoever shows a reply never shows half of a citation."""
    citations = CitationFilter(GIVEN)
    shown = ""
    for letter in said:
        shown += citations.feed(letter)
        assert "F" not in with_numbers(shown)
        assert not set("[]【】()†") & set(with_numbers(shown))
    assert "¹" in with_numbers(shown + citations.finish())


@given(_REPLIES, st.lists(st.integers(0, 300), max_size=8))
def test_where_a_stream_is_cut_does_not_matter(text: str, cuts: list[int]) -> None:
    """What is shown is the same, and only given facts are cited in it."""
    whole = streamed(text, [])
    assert streamed(text, cuts) == whole
    assert set(map(str, marks_in(whole))) <= {"[F1]", "[F2]", "[F12]", "[M1]", "[M13]"}


@given(_REPLIES)
def test_letter_by_letter_it_is_the_same(text: str) -> None:
    """A model that streams single letters is shown as one that answers at once."""
    assert streamed(text, list(range(len(text)))) == streamed(text, [])


@given(_REPLIES)
def test_numbers_do_not_change_while_a_reply_is_written(text: str) -> None:
    """Whatever is shown of a reply so far shows the numbers that the whole of it will show."""
    whole, citations, shown = marks_in(streamed(text, [])), CitationFilter(GIVEN, (), KEPT), ""
    for letter in text:
        shown += citations.feed(letter)
        assert whole[: len(marks_in(shown))] == marks_in(shown)


@given(_ORDINARY)
def test_a_text_without_brackets_stays_as_it_is(text: str) -> None:
    """Whatever else stands in a reply is passed on letter for letter."""
    assert streamed(text, [3, 9, 20]) == text
    assert without_citations(text) == with_numbers(text) == text


@given(
    st.lists(st.sampled_from(["[1] milk", "- [2] eggs (F1)", "[x] done", "a[1] = b[2]", "x (1)", "[1](http://a.b)"]))
)
def test_lists_and_links_stay_as_they_are(lines: list[str]) -> None:
    """What only looks like a citation, and stands behind nothing that a fact tells, is left alone."""
    text = "\n".join(lines)
    assert streamed(text, [5, 11, 17]) == text == without_citations(text)


@given(_REPLIES)
def test_code_stays_as_it_is(text: str) -> None:
    """What stands in a fence is passed on letter for letter."""
    fenced = f"```\n{text.replace('`', '')}\n```\n"
    assert streamed(fenced, [7, 19]) == fenced
    assert without_citations(fenced) == fenced


def test_many_invented_citations_leave_nothing() -> None:
    """Neither spaces nor commas, however long the row of them is."""
    assert streamed(f"Он в ACME {', '.join(['[Person:3]'] * 30)}.", []) == "Он в ACME."
    assert streamed("Завтра позвонить маме [T1], потом паспорт [T12].", []) == "Завтра позвонить маме, потом паспорт."


@given(
    st.sampled_from(["Он в ACME", "Она там"]),
    st.lists(st.sampled_from(["[F9]", "[Fact:8]", "【F7】", "[Person:3]"]), min_size=1, max_size=20),
)
def test_nothing_is_left_where_invented_citations_stood(words: str, invented: list[str]) -> None:
    """Neither spaces nor commas nor a second stop."""
    for joined in ("", " ", ", "):
        assert streamed(f"{words} {joined.join(invented)}.", []) == f"{words}."
        assert streamed(f"{words}. {joined.join(invented)}.", []) == f"{words}."
        assert streamed(f"{words}, {joined.join(invented)}, и всё", []) == f"{words}, и всё"


@pytest.mark.parametrize(
    ("said", "kept", "shown"),
    [
        ("Он в ACME [F2].", "Он в ACME.", "Он в ACME¹."),
        ("Он в ACME [F2], она в Киеве [F1].", "Он в ACME, она в Киеве.", "Он в ACME¹, она в Киеве²."),
        ("Оба [F1][F2] там [F1]", "Оба там", "Оба¹˒² там¹"),
        ("Оба [F1, F2] там", "Оба там", "Оба¹˒² там"),
        ("Оба [F1], [F2].", "Оба.", "Оба¹˒²."),
        ("Нет [F9] такого [F7].", "Нет такого.", "Нет такого."),
        ("Малые [f1] и кириллица [Ф2].", "Малые и кириллица.", "Малые¹ и кириллица²."),
        ("`a[f1]`\n```\nb[F1]\n```\nкод", "`a[f1]`\n```\nb[F1]\n```\nкод", "`a[f1]`\n```\nb[F1]\n```\nкод"),
        ("[Free] и [F] текст", "[Free] и [F] текст", "[Free] и [F] текст"),
        ("Она там [Fact:1], не [Fact:9].", "Она там, не.", "Она там¹, не."),
        ("Вона там [факт 1] і [Факт №2].", "Вона там і.", "Вона там¹ і²."),
        ("Она там【F1】, а он【2†source】.", "Она там, а он.", "Она там¹, а он²."),
        ("Both [F1–F2].", "Both.", "Both¹˒²."),
        ("Катажина там [1], Анна [2], он [7].", "Катажина там, Анна, он.", "Катажина там¹, Анна², он."),
        ("Katarzyna works for Zalando (F1).", "Katarzyna works for Zalando.", "Katarzyna works for Zalando¹."),
        ("Anna lives in Berlin. [2]", "Anna lives in Berlin.", "Anna lives in Berlin.¹"),
        ("Він у «Google». [F1].", "Він у «Google».", "Він у «Google».¹"),
        ("Он в Zalando (см. [F1]).", "Он в Zalando.", "Он в Zalando¹."),
        ("[F1] да", "да", "¹ да"),
        ("[F9] Он там", "Он там", "Он там"),
        ("Смотри [F1](http://a.b) там", "Смотри [F1](http://a.b) там", "Смотри [F1](http://a.b) там"),
        ("[1] milk\n[2] Zalando bread [1]", "[1] milk\n[2] Zalando bread [1]", "[1] milk\n[2] Zalando bread [1]"),
        ("Anna смотрит Formula 1 (F1).", "Anna смотрит Formula 1 (F1).", "Anna смотрит Formula 1 (F1)."),
        ("Press Help (F1) or [esc].", "Press Help (F1) or [esc].", "Press Help (F1) or [esc]."),
        ("Обновите страницу (F2).", "Обновите страницу (F2).", "Обновите страницу (F2)."),
    ],
)  # fmt: skip
def test_what_is_kept_and_what_is_shown(said: str, kept: str, shown: str) -> None:
    """The dialogue keeps no citation; the owner sees small numbers in the order of first use, invented ones never."""
    reply = cited_only(said, GIVEN)
    assert without_citations(reply) == kept
    assert with_numbers(reply) == shown


def test_what_the_owner_calls_f1_is_no_citation() -> None:
    """Where the dialogue speaks of F1, the letters in round brackets mean what it means."""
    said = "Катажина любит гонки и работает в Zalando (F1)."
    assert cited_only(said, GIVEN, ["Ты смотришь F1 по воскресеньям?"]) == said
    assert cited(cited_only(said, GIVEN)) == [1]


def test_a_bare_number_without_facts_is_no_citation() -> None:
    """Where no facts were given, a reply has nothing to cite by a bare number."""
    assert cited_only("Сказано в отчёте [1] и в законе [2].", ()) == "Сказано в отчёте [1] и в законе [2]."


def test_long_texts_are_read_in_good_time() -> None:
    """Brackets that never close cost no more than the text is long."""
    assert streamed("[F1, " * 4000 + "(см. [F" * 2000, []).startswith("[F1, [F1")


@given(st.integers(0, 999), st.sampled_from(["[F{}]", "[Fact:{}]", "【{}】", "[факт {}]", "[^F{}]"]))
def test_each_form_is_one_citation(number: int, form: str) -> None:
    """The grammar reads each form whole."""
    assert CITATION.fullmatch(form.format(number))


def test_a_reply_of_nothing_but_invented_citations_is_none() -> None:
    """It would be an empty message."""
    with pytest.raises(ModelReplyInvalid):
        cited_only("[F3] [F4]", (ZALANDO,))


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        ("Ты хотел выучить испанский [M1].", "Ты хотел выучить испанский[M1]."),
        ("Оба [F1, M1] там", "Оба[F1][M1] там"),
        ("Оба [M1, 13].", "Оба[M1][M13]."),
        ("Она там [Memory 13], нет [Память №9].", "Она там[M13], нет."),
        ("Вона там [спогад 1] і [м13].", "Вона там[M1] і[M13]."),
        ("Она там【M1】.", "Она там[M1]."),
        ("Anna sold the piano (M13).", "Anna sold the piano[M13]."),
        ("Анна продала piano, Anna sold [13].", "Анна продала piano, Anna sold[M13]."),
        ("Ноутбук на чипе Apple M1 (M1).", "Ноутбук на чипе Apple M1 (M1)."),
        ("Площадь [m2]: 40", "Площадь [m2]: 40"),
        ("По трассе (M13) быстрее.", "По трассе (M13) быстрее."),
    ],
)
def test_memories_are_cited_as_facts_are(said: str, passed: str) -> None:
    """In the forms that models slip into; chips, motorways and square metres are no citations."""
    assert cited_only(said, GIVEN, (), KEPT) == passed


@pytest.mark.parametrize(
    ("said", "passed"),
    [
        ("Поезд в шесть [S4].", "Поезд в шесть[S4]."),
        ("Поезд [F1, S4] там", "Поезд[F1][S4] там"),
        ("Поезд в шесть [сообщение 4], нет [S9].", "Поезд в шесть[S4], нет."),
        ("Потяг о шостій [повідомлення 4].", "Потяг о шостій[S4]."),
        ("At six [message 4], said [С4].", "At six[S4], said[S4]."),
        ("Поезд уходит в шесть [4].", "Поезд уходит в шесть[S4]."),
        ("Галактика Galaxy S4 (S4).", "Галактика Galaxy S4 (S4)."),
        ("Длится [s5] секунд", "Длится [s5] секунд"),
    ],
)
def test_passages_are_cited_as_facts_are(said: str, passed: str) -> None:
    """In the forms that models slip into; telephones and seconds are no citations."""
    assert cited_only(said, GIVEN, (), KEPT, SAID) == passed


def test_facts_and_memories_share_the_small_numbers() -> None:
    """The owner sees one row of numbers, in the order of first use."""
    reply = cited_only("Испанский [M1], Берлин [F2], снова испанский [M1].", GIVEN, (), KEPT)
    assert with_numbers(reply) == "Испанский¹, Берлин², снова испанский¹."
    assert without_citations(reply) == "Испанский, Берлин, снова испанский."
    assert cited(reply) == [2]


def test_a_memory_that_was_not_given_is_not_cited() -> None:
    """Whatever a model invents."""
    assert cited_only("Он там [M1], она тут [M7].", GIVEN) == "Он там, она тут."
