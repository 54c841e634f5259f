"""Hints for the archivist: who may be the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from support.agents.conversations import person

from internal.flows.archivist.name_reader import WorkerNameReader
from internal.language.names.hints import MAX_HINTS, Hint, hints_of_pairs, hints_of_texts
from internal.language.worker.process_pool import LanguageWorker

PEOPLE = {
    1: ["Мария Ивановна"],
    2: ["Иван Петров", "@petrov"],
    3: ["Иван Сидоров"],
    4: ["Олена Коваль"],
    5: ["Robert Hughes"],
}


class InThisProcess(LanguageWorker):
    async def run_bulk(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)


def hints(people: Mapping[int, Sequence[str]], texts: Sequence[str]) -> list[Hint]:
    return [*hints_of_texts(people, texts), *hints_of_pairs(people)]


def test_names_of_the_texts_are_compared_with_known_people() -> None:
    """Short forms, other alphabets and shorter names are suggested, each with its reason."""
    found = set(hints(PEOPLE, ["Вчера с Машей ездили к Роберту", "Bob called", "спроси у @olena_koval"]))
    assert ("Маша", 1, "diminutive") in found
    assert ("Bob", 5, "diminutive") in found
    assert ("@olena_koval", 4, "username") in found


def test_what_is_clear_is_not_hinted() -> None:
    """Somebody's own name or username, in any case form, is no question."""
    assert hints(PEOPLE, ["с Марией Ивановной и Иваном Сидоровым, @petrov тоже"]) == []


def test_two_ivans_are_not_hinted() -> None:
    """Other surnames are other people, in texts and among the known."""
    assert hints({2: ["Иван Петров"], 3: ["Иван Сидоров"]}, ["Иван Кузнецов пришёл"]) == []


def test_known_people_that_look_the_same_are_paired_once() -> None:
    """A pair is told once; nominatives that only look like case forms are no pair."""
    known = {1: ["Маша"], 2: ["Мария"], 3: ["Александр"], 4: ["Александра"], 5: ["Petrov"], 6: ["Петров"]}
    assert hints(known, []) == [("Маша", 2, "diminutive"), ("Petrov", 6, "transliteration")]


async def test_hints_are_bounded() -> None:
    """A prompt gets at most thirty."""
    surnames = "абвгдежзиклмнопрстуфхцчшщэюя" * 2
    known = [person(number, f"Мария {surname}ова") for number, surname in enumerate(surnames)]
    assert len(await WorkerNameReader(InThisProcess()).hints(known, ["Маша пришла"])) == MAX_HINTS
