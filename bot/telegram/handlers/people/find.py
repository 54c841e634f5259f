"""Finds people by a typed name: equal names first, else forms of a whole name, else its beginnings and other forms."""

import logging
import re
from collections.abc import Callable, Sequence

from aiogram.dispatcher.event.bases import SkipHandler
from aiogram.types import Message

from bot.telegram.delivery.chat import Chat
from bot.telegram.handlers.buttons import Button
from bot.telegram.handlers.services import Services
from bot.telegram.i18n import phrase
from internal.access.model import User
from internal.errors import ModelUnavailable
from internal.language.text.spelling import name_key
from internal.language.worker.process_pool import LanguageCallFailed
from internal.people import repository, service
from internal.people.model import Person, names_of

log = logging.getLogger(__name__)

NAMED = 0.5
"""The least boost with which a person is offered: a short form of one word of a name has 0.64."""

WHOLE_NAME = 0.95
"""The boost of a whole name in another case or alphabet; from this boost on, no other person is offered."""

SHOWN = 10
LONGEST_NAME = 4
"""The most words of a name: few names have more, and few sentences about somebody have fewer."""

_END_OF_SENTENCE = re.compile(r"[?!…\n]|\w{3,}\.$")
"""Marks of a sentence. A full stop after one or two letters belongs to an initial: `Саша Б.`"""


async def find(name: str, user: User, services: Services) -> list[Person]:
    """At most ten people, the likeliest first: by @username, id or equal name, else by its forms, or by a relation."""
    exact = await _exact(name, user, services)
    similar = exact or await _similar(name, user, services, await _beginning(name, user, services))
    return similar or await called(name, user, services)


async def the_one(name: str, found: Sequence[Person], chat: Chat, choices: Callable[[Person], Button]) -> Person | None:
    """The person found. If there are several, asks which; if there is none, says so; both return None."""
    if len(found) == 1:
        return found[0]
    key = "person-choose" if found else "person-unknown"
    await chat.say(phrase(chat.user.lang, key, name=name[:64]), [[choices(one)] for one in found])
    return None


async def find_answer(message: Message, user: User, services: Services) -> list[Person]:
    """The people meant by the answer to a question for a name.

    Raises SkipHandler for a sentence, which is not a name: the user has moved on, and the companion answers it.
    """
    name = answer_text(message)
    exact = await _exact(name, user, services)
    beginning = [] if exact else await _beginning(name, user, services)
    if not (exact or beginning) and reads_like_sentence(name):
        raise SkipHandler
    return exact or await _similar(name, user, services, beginning) or await called(name, user, services)


def answer_text(message: Message) -> str:
    return message.text or message.caption or ""


def reads_like_sentence(text: str) -> bool:
    """Whether a text is a sentence rather than a name: more than four words, several lines, or a final mark."""
    stripped = text.strip()
    return len(stripped.split()) > LONGEST_NAME or _END_OF_SENTENCE.search(stripped) is not None


def capitalised(name: str) -> str:
    """The name with capital letters, which distinguish names from words in a sentence."""
    return " ".join(word[:1].upper() + word[1:] for word in name.split())


async def name_similarities(name: str, user: User, services: Services) -> dict[int, float]:
    """How strongly a name fits each person, in (0, 1], most mentioned first; others are left out.

    Empty if the language tools cannot be reached: exact names are found without them.
    """
    known = await services.read(lambda c: repository.listing(c, user.user_id))
    try:
        boosts = await services.names.boosts(capitalised(name), {person.id: names_of(person) for person in known})
    except (ModelUnavailable, LanguageCallFailed):
        log.warning("name_forms_unavailable", exc_info=True)
        return {}
    return {person.id: boosts[person.id] for person in known if boosts.get(person.id, 0.0) >= NAMED}


async def called(name: str, user: User, services: Services) -> list[Person]:
    """The people whom the owner calls so, by a relation to him: "my sister". Empty without the language tools."""
    try:
        return (await services.maps.called(user.user_id, name))[:SHOWN]
    except (ModelUnavailable, LanguageCallFailed):
        log.warning("relations_unavailable", exc_info=True)
        return []


async def _exact(name: str, user: User, services: Services) -> list[Person]:
    return await services.read(lambda c: service.identified(c, user.user_id, name, limit=SHOWN))


async def _beginning(name: str, user: User, services: Services) -> list[Person]:
    return await services.read(lambda c: repository.by_name_prefix(c, user.user_id, name_key(name), limit=SHOWN))


async def _similar(name: str, user: User, services: Services, beginning: list[Person]) -> list[Person]:
    """People with this name in another form; if there are none, also those whose names only begin with its letters.

    "Катю" is a form of Катя; it begins Катюша by chance.
    """
    likely = await name_similarities(name, user, services)
    whole = max(likely.values(), default=0.0) >= WHOLE_NAME
    least = WHOLE_NAME if whole else max([NAMED, *(likely.get(person.id, 0.0) for person in beginning)])
    known = [] if whole else [person.id for person in beginning]
    # `likely` is ordered by mentions, which decide among equally likely people: sorting keeps that order.
    fitting = [*known, *(one for one in likely if likely[one] >= least and one not in known)]
    found = sorted(fitting, key=lambda one: -likely.get(one, 0.0))[:SHOWN]
    people = await services.read(lambda c: [repository.get(c, user.user_id, person_id) for person_id in found])
    return [person for person in people if person is not None]
