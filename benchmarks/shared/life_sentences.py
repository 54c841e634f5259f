"""What a simulated owner says in two years: people, facts, goals, questions, decisions, tastes, small talk.

Every kind of sentence is told in Russian, Ukrainian and English, and in a form that the offline archivist reads, so
that what is measured does not depend on a model. The same seed says the same.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Final

LANGUAGES: Final = ("ru", "uk", "en")

_FIRST: Final = {
    "ru": ("Анна", "Борис", "Вера", "Глеб", "Дарья", "Егор", "Жанна", "Кирилл", "Лидия", "Марк", "Нина", "Павел"),
    "uk": ("Богдан", "Василь", "Ганна", "Зоряна", "Ірина", "Катерина", "Мирослав", "Оксана", "Петро", "Тарас"),
    "en": ("Alice", "Brian", "Clara", "Derek", "Emily", "Frank", "Grace", "Henry", "Irene", "Jack", "Laura", "Nathan"),
}
_LAST: Final = {
    "ru": ("Соколов", "Лебедев", "Морозов", "Зайцев", "Орлов", "Громов", "Тихонов", "Жуков"),
    "uk": ("Шевчук", "Бондар", "Кравець", "Гнатюк", "Мельник", "Поліщук", "Савчук", "Ткач"),
    "en": ("Whitfield", "Pemberton", "Harrow", "Carver", "Dalton", "Mercer", "Ashby", "Thorne"),
}
_FEMALE: Final = ("а", "я")

_MET: Final = {
    "ru": "Мой друг {} живёт в городе {}.",
    "uk": "Мій друг {} живе в місті {}.",
    "en": "My friend {} lives in {}.",
}
_MOVED: Final = {"ru": "{} теперь живёт в городе {}.", "uk": "{} тепер живе в місті {}.", "en": "{} lives in {} now."}
_WORKS: Final = {
    "ru": "{} работает в компании {}.",
    "uk": "{} працює в компанії {}.",
    "en": "{} works for {}.",
}
_WHERE: Final = {"ru": "Где живёт {}?", "uk": "Де живе {}?", "en": "Where does {} live?"}
_TOWNS: Final = {
    "ru": ("Суздаль", "Вологда", "Тверь", "Калуга", "Псков", "Тула"),
    "uk": ("Полтава", "Чернігів", "Луцьк", "Житомир", "Суми", "Ужгород"),
    "en": ("Portsmouth", "Wexford", "Bristol", "Norwich", "Leeds", "Durham"),
}
_FIRMS: Final = {
    "ru": ("Маяк", "Ладога", "Рубин", "Вектор"),
    "uk": ("Світанок", "Зоря", "Дніпро", "Смерека"),
    "en": ("Northgate", "Blue Heron", "Silverline", "Oakfield"),
}

_AIMS: Final = {
    "ru": ("Моя цель — выучить {}.", "Я наконец выучила {}!"),
    "uk": ("Моя мета — вивчити {}.", "Я нарешті вивчила {}!"),
    "en": ("My goal is to learn {} this year.", "I finally learned {}!"),
}
_SKILLS: Final = {
    "ru": ("итальянский", "испанский", "японский", "фортепиано", "стенографию", "жонглирование", "керамику", "верстку"),
    "uk": ("польську", "іспанську", "гончарство", "фотографію", "стенографію", "в'язання", "бандуру", "каліграфію"),
    "en": ("Welsh", "Portuguese", "pottery", "calligraphy", "juggling", "carpentry", "the cello", "woodcarving"),
}
_DOUBTS: Final = {
    "ru": ("Не знаю, какой {} купить.", "Купила {} фирмы «Север»."),
    "uk": ("Вагаюся, який {} купити.", "Купила {} фірми «Північ»."),
    "en": ("I can't decide which {} to buy.", "I bought a {} made in Norway."),
}
_THINGS: Final = {
    "ru": ("велосипед", "ноутбук", "телефон", "диван", "холодильник", "фотоаппарат", "чайник", "рояль"),
    "uk": ("велосипед", "ноутбук", "телефон", "диван", "холодильник", "фотоапарат", "чайник", "намет"),
    "en": ("bicycle", "laptop", "phone", "sofa", "fridge", "camera", "kettle", "tent"),
}
_DECISIONS: Final = {
    "ru": "Я решила {}, потому что так спокойнее.",
    "uk": "Я вирішила {}, бо так спокійніше.",
    "en": "I've decided to {} because it is calmer that way.",
}
_ACTS: Final = {
    "ru": ("уволиться из банка", "переехать за город", "продать машину", "сменить врача", "бросить кофе"),
    "uk": ("звільнитися з банку", "переїхати за місто", "продати машину", "змінити лікаря", "кинути каву"),
    "en": ("leave the bank", "move out of town", "sell the car", "change my doctor", "give up coffee"),
}
_TASTES: Final = {
    "ru": ("Обожаю {}.", "Терпеть не могу {}."),
    "uk": ("Обожнюю {}.", "Ненавиджу {}."),
    "en": ("I love {}.", "I hate {}."),
}
_LIKED: Final = {
    "ru": ("джаз", "грибной суп", "зимние прогулки", "черный чай", "старые фильмы"),
    "uk": ("джаз", "грибний суп", "зимові прогулянки", "чорний чай", "старі фільми"),
    "en": ("jazz", "mushroom soup", "winter walks", "black tea", "old films"),
}
_EVENTS: Final = {
    "ru": ("По проекту «{}» мы подписали договор {}.", "В проекте «{}» мы завершили этап {}."),
    "uk": ("За проєктом «{}» ми підписали договір {}.", "У проєкті «{}» ми завершили етап {}."),
    "en": ("On the {} project we signed contract {}.", "On the {} project we finished stage {}."),
}
_PROJECTS: Final = {
    "ru": ("Альфа", "Восток", "Пламя"), "uk": ("Орбіта", "Калина", "Хвиля"), "en": ("Falcon", "Harbour", "Lantern")
}  # fmt: skip
_RECALLED: Final = {
    "ru": ("Какие у меня цели?", "Что я решила?", "Что я люблю?", "Что было по проекту «{}»?"),
    "uk": ("Які в мене цілі?", "Що я вирішила?", "Що я люблю?", "Що було за проєктом «{}»?"),
    "en": ("What are my goals?", "What did I decide?", "What do I love?", "What happened on the {} project?"),
}
_SMALL: Final = {
    "ru": ("Доброе утро!", "Сегодня опять дождь.", "Спасибо, понятно.", "Как дела?", "Напиши короче, пожалуйста."),
    "uk": ("Добрий ранок!", "Сьогодні знову дощ.", "Дякую, зрозуміло.", "Як справи?", "Пиши коротше, будь ласка."),
    "en": ("Good morning!", "It is raining again.", "Thanks, I see.", "How are you?", "Shorter answers, please."),
}

RECALLS: Final = (
    "Какие у меня цели?", "Що було за проєктом «Орбіта»?", "What did I decide about the bank?",
    "Где живёт Анна Соколова?", "Де працює Тарас Шевчук?", "Which bicycle did I want to buy?",
)  # fmt: skip
"""What recall is measured with."""


@dataclass(slots=True)
class Life:
    """Says sentence after sentence in the language of its session; what is open then comes back later."""

    chance: random.Random
    known: dict[str, list[str]] = field(default_factory=lambda: {language: [] for language in LANGUAGES})
    aims: dict[str, deque[str]] = field(default_factory=lambda: {language: deque() for language in LANGUAGES})
    doubts: dict[str, deque[str]] = field(default_factory=lambda: {language: deque() for language in LANGUAGES})
    said: int = 0

    def session(self, language: str, turns: int) -> list[str]:
        """What the owner says in one session."""
        return [self._sentence(language) for _ in range(turns)]

    def _sentence(self, language: str) -> str:
        self.said += 1
        kinds = (self._person, self._fact, self._ask, self._aim, self._doubt, self._decide, self._taste, self._event)
        kind = self.chance.choices((*kinds, self._recall, self._small), (3, 12, 10, 4, 3, 2, 12, 14, 10, 30))[0]
        return kind(language)

    def _person(self, language: str) -> str:
        first, last = self.chance.choice(_FIRST[language]), self.chance.choice(_LAST[language])
        name = f"{first} {last}{'а' if language == 'ru' and first.endswith(_FEMALE) else ''}"
        if name not in self.known[language]:
            self.known[language].append(name)
        return _MET[language].format(name, self.chance.choice(_TOWNS[language]))

    def _someone(self, language: str) -> str:
        """Mostly one of those who came last: people come and go."""
        known = self.known[language]
        return self.chance.choice(known[-6:] if self.chance.random() < 0.7 else known)

    def _fact(self, language: str) -> str:
        if not self.known[language]:
            return self._person(language)
        if self.chance.random() < 0.5:
            return _MOVED[language].format(self._someone(language), self.chance.choice(_TOWNS[language]))
        return _WORKS[language].format(self._someone(language), self.chance.choice(_FIRMS[language]))

    def _ask(self, language: str) -> str:
        return _WHERE[language].format(self._someone(language)) if self.known[language] else self._small(language)

    def _aim(self, language: str) -> str:
        return self._open_or_close(_AIMS[language], self.aims[language], _SKILLS[language])

    def _doubt(self, language: str) -> str:
        return self._open_or_close(_DOUBTS[language], self.doubts[language], _THINGS[language])

    def _open_or_close(self, words: tuple[str, str], open_: deque[str], things: tuple[str, ...]) -> str:
        """Up to four are open at a time; then the oldest is settled."""
        if (len(open_) < 4 and self.chance.random() < 0.6) or not open_:
            thing = self.chance.choice([one for one in things if one not in open_])
            open_.append(thing)
            return words[0].format(thing)
        return words[1].format(open_.popleft())

    def _decide(self, language: str) -> str:
        return _DECISIONS[language].format(self.chance.choice(_ACTS[language]))

    def _taste(self, language: str) -> str:
        words = _TASTES[language][self.chance.random() < 0.2]
        return words.format(self.chance.choice(_LIKED[language]))

    def _event(self, language: str) -> str:
        return self.chance.choice(_EVENTS[language]).format(self.chance.choice(_PROJECTS[language]), self.said)

    def _recall(self, language: str) -> str:
        return self.chance.choice(_RECALLED[language]).format(self.chance.choice(_PROJECTS[language]))

    def _small(self, language: str) -> str:
        return self.chance.choice(_SMALL[language])
