"""The button that shows what to know before meeting a person."""

from bot.telegram.handlers.buttons import Button, Owned, button
from bot.telegram.handlers.facts.fact_text import quotable, shorten
from bot.telegram.i18n import label
from internal.access.model import User

_ON_A_BUTTON = 30


class BriefButton(Owned, prefix="br", command="/brief"):
    """Shows what to know before meeting a person."""

    person: int


class ProfileLinesButton(Owned, prefix="pl", command="/brief"):
    """Shows the lines from which a person's profile was made."""

    person: int


def brief_button(user: User, person_id: int, name: str = "") -> Button:
    """A button with the person's name, if it is known."""
    key = "brief-button" if name else "brief-button-unnamed"
    words = label(user.lang, key, name=shorten(quotable(name), _ON_A_BUTTON))
    return button(words, BriefButton(owner=user.user_id, person=person_id))
