"""What a line tells for later: with whom its author was in touch, and who speaks of which matter."""

from __future__ import annotations

import pytest

from internal.language.chronicle.lines import are_related_words, names_all, read_lines

NAMES = {
    1: ["Олег", "Oleh"],
    2: ["Аня", "Ганна", "Anna"],
    3: ["Ира", "Ірина"],
    4: ["Tom"],
    5: ["мама", "Mum"],
    6: ["Peter Novak"],
}
OLEH, ANNA, IRA, TOM, MUM, PETER = 1, 2, 3, 4, 5, 6


@pytest.mark.parametrize(
    ("line", "met"),
    [
        ("Saw Tom yesterday", {TOM}),
        ("Met Tom and Anna for lunch", {TOM, ANNA}),
        ("Had coffee with Peter", {PETER}),
        ("Tom called", {TOM}),
        ("Tom saw Anna at the market", set()),
        ("Tom had dinner", set()),
        ("I have not seen Tom for ages", set()),
        ("Anna wrote a book", set()),
        ("Вчера виделась с Олегом", {OLEH}),
        ("Мы с Аней гуляли в парке", {ANNA}),
        ("Мама звонила утром", {MUM}),
        ("Аня встретила Олега в метро", set()),
        ("Аня написала книгу", set()),
        ("Не видел Олега с весны", set()),
        ("Бачилася з Олегом", {OLEH}),
        ("Мама дзвонила зранку", {MUM}),
        ("Ганна зустріла Олега на роботі", set()),
    ],
)
def test_being_in_touch_is_the_authors_own(line: str, met: set[int]) -> None:
    """What others do among themselves, or what did not happen, is none."""
    assert read_lines([(line, NAMES)])[0].met == met


@pytest.mark.parametrize(
    ("line", "spoke"),
    [
        ("Anna asked about the move", {"move": {ANNA}}),
        ("Tom thinks our renovation takes too long", {"renovation": {TOM}}),
        ("I told Anna about the move", {}),
        ("Anna never mentioned the move", {}),
        ("We talked with Anna about the move", {}),
        ("Аня спрашивала про переезд", {"переезд": {ANNA}}),
        ("Олег говорит, что переезд и ремонт надоели", {"переезд": {OLEH}, "ремонт": {OLEH}}),
        ("Рассказала Ире про переезд", {}),
        ("Ганна питала про переїзд", {"переїзд": {ANNA}}),
        ("Ірина сказала, що ремонт затягується", {"ремонт": {IRA}}),
        ("Олег сказав, що прийде завтра вранці", {}),
    ],
)
def test_a_matter_is_what_others_speak_of(line: str, spoke: dict[str, set[int]]) -> None:
    """In the basic form, with the one who speaks of it; the author himself is none."""
    assert {matter: set(who) for matter, who in read_lines([(line, NAMES)])[0].spoke.items()} == spoke


@pytest.mark.parametrize(
    ("word", "other", "same"),
    [
        ("переезд", "переехали", True),
        ("переїзд", "переїхали", True),
        ("развод", "развелись", True),
        ("move", "moved", True),
        ("перерыв", "переехали", False),
        ("съезд", "съели", False),
    ],
)
def test_a_verb_and_its_noun_are_alike(word: str, other: str, same: bool) -> None:
    """So are forms of one word; a shared prefix is not enough."""
    assert are_related_words(word, other) is same


def test_all_words_are_named() -> None:
    """Each in some form; of no words nothing is said."""
    assert names_all(["переезд"], "Мы переехали в Брест")
    assert not names_all(["переезд", "брест"], "Мы переехали в Минск")
    assert not names_all([], "Мы переехали")
