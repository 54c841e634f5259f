"""A year of a small family with truth for occasions and promises: a timely word follows what is heard, and little else.

Said in three languages to the product without a model, archived, and lived day by day. Dates and names are drawn.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest
from babel.dates import format_skeleton
from support.flows.flow_stage import OWNER, WatchedDrafts, add_user

from bot.application.app import App
from bot.application.bootstrap import open_app
from bot.runtime.bot import turn_flow
from bot.telegram.i18n import phrase
from internal.access import repository as users
from internal.config.settings import AccessConfig, Config
from internal.dialogue.mailbox import repository as mailbox
from internal.dialogue.model import Incoming
from internal.dialogue.notifications import repository as notifications
from internal.dialogue.notifications.model import Notification, NotificationKind
from internal.flows.turn.intake import Intake
from internal.storage.engine.owner_scope import acting_for_everyone
from internal.testing import FrozenClock

BEGIN = date(2027, 1, 4)
WEEKS = 52
FAMILY = {
    "ru": [
        ("{У} {имени} {date} день рождения", "birthday", "Костя/Кости Лариса/Ларисы Глеб/Глеба Инна/Инны Юра/Юры"),
        ("Не забыть бы: {date} юбилей {имени}, {n} лет", "birthday", "Галина/Галины Борис/Бориса"),
        ("Слушай, {имени} {date} свадьба, мы приглашены", "wedding", "Лиза/У_Лизы Роман/У_Романа"),
        ("{date} именины {имени}", "name_day", "Татьяна/Татьяны Николай/Николая"),
    ],
    "uk": [
        ("{У} {имени} {date} день народження", "birthday", "Оксана/Оксани Тарас/Тараса Соломія/Соломії Богдан/Богдана"),
        ("{date} у {имени} весілля", "wedding", "Ярина/Ярини Остап/Остапа"),
        ("До речі, {имени} {date} виповнюється {n}", "birthday", "Орися/Орисі Назар/Назару"),
    ],
    "en": [
        ("{имени}'s birthday is on {date}", "birthday", "Gareth/Gareth Megan/Megan Rhys/Rhys Olivia/Olivia"),
        ("{имени} turns {n} on {date}", "birthday", "Harriet/Harriet Duncan/Duncan"),
        ("{имени} is getting married on {date}, so exciting", "wedding", "Fiona/Fiona Callum/Callum"),
        ("We went for a walk, and {имени} told me that her birthday was on {date}", "birthday", "Bridget/Bridget"),
    ],
}
PROMISES = {
    "ru": ["{имя} вернёт книгу {date}", "{имя} обещала перезвонить {date}", "{имя} скинет фотографии {date}"],
    "uk": ["{имя} поверне книжку {date}", "{имя} обіцяла передзвонити {date}", "{имя} надішле фотографії {date}"],
    "en": [
        "{имя} will return the book on {date}",
        "{имя} promised to call back on {date}",
        "{имя} will send the photos on {date}",
    ],
}
NOBODY = {"ru": ["Лариса", "Инна", "Галина"], "uk": ["Оксана", "Соломія", "Ярина"], "en": ["Megan", "Olivia", "Fiona"]}
DAILY = {
    "ru": [
        "Сегодня шёл дождь, весь день читал",
        "Купил новый чайник",
        "Работы было много, устал",
        "Пробежал пять километров",
    ],
    "uk": ["Сьогодні весь день дощ", "Купив нову лампу", "Багато роботи, втомився", "Дивився чудовий фільм про море"],
    "en": ["It rained all day, I read a lot", "Bought a new kettle", "Work was busy", "Ran five miles and felt great"],
}


@dataclass
class Truth:
    """What was said, and on which days a word of it is timely."""

    who: str
    said: date
    days: set[date]
    heard: bool = False


@dataclass
class Year:
    app: App
    clock: FrozenClock
    said: int = 0
    occasions: list[Truth] = field(default_factory=list)
    promises: list[Truth] = field(default_factory=list)

    async def say(self, text: str, user_id: int) -> None:
        self.said += 1
        app, now = self.app, self.clock.now()
        incoming = Incoming(user_id=user_id, bot_id=7, text=text, timestamp=now, tg_id=self.said, chat_id=user_id)
        [row] = await app.database.write(lambda c: mailbox.receive(c, 7, [(self.said, "{}")], now))
        user = await app.database.read(lambda c: users.get(c, user_id))
        limits = AccessConfig(messages_per_minute=0, daily_cost_usd=0)
        intake = Intake(app.database, self.clock, app.buffers, limits, phrase, timedelta(seconds=2))
        taken = await intake.take(row.n, user, incoming)
        assert taken.turn is not None
        self.clock.advance(10)
        await turn_flow(app, WatchedDrafts(), lambda: None).answer(taken.turn)

    async def notices(self, user_id: int) -> list[Notification]:
        return await self.app.database.read(lambda c: notifications.listing(c, user_id, limit=10_000))


@pytest.fixture
async def year(tmp_path: Path) -> AsyncIterator[Year]:
    clock = FrozenClock(datetime.combine(BEGIN, time(12), UTC))
    with acting_for_everyone():
        async with open_app(Config(data_dir=tmp_path), clock=clock) as app:
            yield Year(app, clock)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("lang", list(FAMILY))
async def test_a_year_of_a_family(year: Year, lang: str) -> None:
    """At least 95 % of the occasions and promises are followed by a timely word; at most one wrong word a week."""
    chance = random.Random(7)
    await year.app.database.write(lambda c: add_user(c, OWNER, lang))
    plan = _plan(lang, chance, year)
    for number in range(7 * WEEKS):
        day = BEGIN + timedelta(days=number)
        for text in plan.get(day, []):
            year.clock.set(datetime.combine(day, time(12), UTC))
            await year.say(text, OWNER)
        if day in plan:
            await year.app.archive(OWNER, None)
        for hour in (9, 18):
            year.clock.set(datetime.combine(day, time(hour, 5), UTC))
            await year.app.companion.say_due()
            await year.app.reminders.fire_due()
    right, wrong = _judged(year, await year.notices(OWNER))
    told = [*year.occasions, *year.promises]
    missed = [(one.who, one.said, sorted(one.days)) for one in told if not one.heard]
    print(f"{lang}: {right}/{len(told)} followed, {len(wrong)} wrong words in {WEEKS} weeks", missed, wrong)
    assert right >= 0.95 * len(told), missed
    assert len(wrong) <= WEEKS, wrong


def _plan(lang: str, chance: random.Random, year: Year) -> dict[date, list[str]]:
    """What is said on which day; notes the truth."""
    plan: dict[date, list[str]] = {}

    def words(on: date) -> str:
        return str(format_skeleton("MMMMd", on, locale=lang))

    for shape, _, people in FAMILY[lang]:
        for person in people.split():
            name, form = person.replace("_", " ").split("/")
            said = BEGIN + timedelta(days=chance.randrange(5, 200))
            on = said + timedelta(days=chance.randrange(9, 120))
            text = shape.replace("{У}", "У").replace("{имени}", form)
            plan.setdefault(said, []).append(
                text.replace("{date}", words(on)).replace("{n}", str(chance.randrange(20, 80)))
            )
            year.occasions.append(Truth(name, said, {on, on - timedelta(days=7)}))
    for number in range(12):
        said = BEGIN + timedelta(days=chance.randrange(5, 300))
        on = said + timedelta(days=chance.randrange(2, 14))
        name = chance.choice(NOBODY[lang])
        plan.setdefault(said, []).append(PROMISES[lang][number % 3].replace("{имя}", name).replace("{date}", words(on)))
        year.promises.append(Truth(name, said, {on}))
    for number in range(0, 7 * WEEKS, 3):
        plan.setdefault(BEGIN + timedelta(days=number), []).append(chance.choice(DAILY[lang]))
    return plan


def _judged(year: Year, found: list[Notification]) -> tuple[int, list[str]]:
    """How many truths were followed by a word on one of their days, and the words that follow from none."""
    wrong = []
    for one in found:
        of = year.occasions if one.kind is NotificationKind.OCCASION else year.promises
        day = one.created_at.date()
        fitting = [truth for truth in of if day in truth.days and truth.who in one.text]
        for truth in fitting:
            truth.heard = True
        if not fitting:
            wrong.append(f"{day} {one.kind}: {one.text}")
    return sum(one.heard for one in (*year.occasions, *year.promises)), wrong
