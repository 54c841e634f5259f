"""The choice of how often to be in touch with a person, on the person's card."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from aiogram import Router
from aiogram.types import CallbackQuery
from sqlalchemy import Connection

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Owned, Rows, button
from bot.telegram.handlers.services import Services
from bot.telegram.handlers.tasks.task_text import confirmation
from bot.telegram.i18n import label, phrase
from internal.access.model import User
from internal.people import service as people
from internal.people.model import Person
from internal.tasks import repository as tasks, service
from internal.tasks.model import Schedule, Task, TaskKind, TaskState, time_of_day, whole_day

RULES: Final[Mapping[str, str]] = {
    "week": "FREQ=WEEKLY",
    "fortnight": "FREQ=WEEKLY;INTERVAL=2",
    "month": "FREQ=MONTHLY",
}


class RhythmButton(Owned, prefix="rh", command="/person"):
    """Asks how often to be in touch with a person, or stores `every`, one of RULES."""

    person: int
    every: str = ""


async def rhythm_pressed(query: CallbackQuery, callback_data: RhythmButton, chat: Chat, services: Services) -> None:
    user, data, now = chat.user, callback_data, services.clock.now()
    person = await services.read(lambda c: people.person(c, user.user_id, data.person))
    if data.every not in RULES:
        choices = [(label(user.lang, f"rhythm-{one}"), data.model_copy(update={"every": one})) for one in RULES]
        rows: Rows = [[button(*one)] for one in choices]
        await chat.edit(phrase(user.lang, "rhythm-ask", name=person.display_name), rows)
        return
    task = await services.write(lambda c: _keep(c, user, person, data.every, services, now))
    await chat.edit(*confirmation(user, task, now))


def _keep(connection: Connection, user: User, person: Person, every: str, services: Services, now: datetime) -> Task:
    """Stores the person's rhythm in place of the one before."""
    author = service.by_owner(user.user_id, now, time_of_day(services.config.notifications.whole_day_at))
    for before in tasks.of_people(connection, user.user_id, [person.id]):
        if before.kind is TaskKind.CONTACT and before.state is TaskState.OPEN:
            service.cancel(connection, user.user_id, before.id, author)
    schedule = Schedule(whole_day(now.date(), user.tz), True, RULES[every], user.tz)
    title = label(user.lang, "rhythm-title", name=person.display_name)
    new = service.NewTask(title, schedule, TaskKind.CONTACT, person_id=person.id)
    return service.open_task(connection, user.user_id, new, author)


def router() -> Router:
    built = Router(name="rhythms")
    built.callback_query.register(rhythm_pressed, RhythmButton.filter())
    return built
