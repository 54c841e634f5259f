"""People's requests and answers, as the people-graph specification writes a Person, without its vector."""

from datetime import datetime

from pydantic import BaseModel

from bot.web.http.fields import Out
from internal.people.model import Circle
from internal.storage.backup.backup import HELD


class PersonOut(Out):
    id: int
    user_id: int
    display_name: str
    aliases: list[str]
    telegram_id: int | None
    username: str | None
    circle: Circle
    bio: str
    first_seen: datetime
    last_seen: datetime
    mention_count: int


class FoundPerson(PersonOut):
    score: float


class SplitPerson(PersonOut):
    """The requested person as he is now, and the `other` one who was merged with him before."""

    other: PersonOut


class MessagesAbout(BaseModel):
    """Messages about a person; `backup_days` is how long backups in the data folder hold erased data."""

    count: int
    backup_days: int = HELD.days


class PeopleOut(BaseModel):
    """People; `count` is the number of all people, not only the listed ones."""

    people: list[PersonOut]
    count: int


class FoundPeople(BaseModel):
    people: list[FoundPerson]
    count: int
