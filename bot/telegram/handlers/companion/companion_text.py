"""What the companion says, as Markdown in the owner's language."""

from collections.abc import Sequence
from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from bot.telegram.handlers.facts.fact_text import cut, quotable
from bot.telegram.handlers.tasks.task_text import day_words, reminder_buttons
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access.model import User
from internal.flows.companion.contacts import LastContact
from internal.flows.companion.occasions import Coming, local_day, title
from internal.knowledge.model import EvidenceLine, Fact
from internal.tasks.model import Task

_QUOTE = 120
"""Characters of a quoted line."""


class CompanionWording:
    """Implements `Wording`."""

    def occasion(
        self, user: User, one: Coming, today: date, likes: Sequence[Fact], gifts: Sequence[EvidenceLine]
    ) -> str:
        lang, what = user.lang, occasion_title(user, one)
        if one.on == today:
            return phrase(lang, "occasion-day-memorial" if one.kind == "memorial" else "occasion-day", what=what)
        when = day_of(user, one.on, today)
        lines = [phrase(lang, "occasion-week", when=when[:1].upper() + when[1:], what=what)]
        if likes:
            lines.append(
                phrase(lang, "occasion-likes", list="; ".join(quotable(fact.fact).rstrip(".") for fact in likes))
            )
        if gifts:
            lines.append(phrase(lang, "occasion-gifts", list="; ".join(f"«{cut(one.quote, _QUOTE)}»" for one in gifts)))
        return "\n".join(lines)

    def nudge(self, user: User, task: Task, meant: LastContact, still_open: Sequence[Task], now: datetime) -> str:
        lang, today, person = user.lang, local_day(user, now), meant.person
        lines = [phrase(lang, "nudge", title=task.title)]
        if person is not None and task.person_id is None:
            lines[0] = phrase(lang, "nudge-person", title=task.title, name=person.display_name)
        if meant.line is not None:
            when = day_of(user, meant.line.at.astimezone(ZoneInfo(user.tz)).date(), today)
            lines.append(phrase(lang, "nudge-last", when=when, quote=cut(quotable(meant.line.quote), _QUOTE)))
        if still_open:
            lines.append(phrase(lang, "nudge-open", list="; ".join(quotable(one.title) for one in still_open)))
        return "\n".join(lines)

    def nudge_buttons(self, user: User, task: Task) -> Sequence[Sequence[dict[str, str]]]:
        return reminder_buttons(user, task)


def occasion_title(user: User, one: Coming) -> str:
    """Whose occasion it is and how many years it makes, as plain text."""
    what = title(one, user.lang).rstrip(".")
    return what if one.years is None or one.own else label(user.lang, "occasion-years", what=what, years=one.years)


def occasion_line(user: User, one: Coming, today: date) -> str:
    """One line of a list."""
    return f"{escape(day_of(user, one.on, today))} — {escape(occasion_title(user, one))}"


def day_of(user: User, on: date, today: date) -> str:
    """Today, tomorrow, or the day with its weekday."""
    zone = ZoneInfo(user.tz)
    return day_words(user.lang, datetime.combine(on, time(), zone), datetime.combine(today, time(), zone))
