"""The texts of the companion, as Markdown in the owner's language."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import format_skeleton

from bot.telegram.delivery.outbox_chat import buttons
from bot.telegram.handlers.companion.reflections import dismiss_rows, reflections_text
from bot.telegram.handlers.facts.fact_text import quotable, shorten
from bot.telegram.handlers.tasks.task_text import day_words, reminder_buttons, task_line
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access.model import Language, User
from internal.flows.companion.brief import Brief
from internal.flows.companion.contacts import LastContact
from internal.flows.companion.occasions import UpcomingOccasion, local_day, title
from internal.flows.companion.today import Agenda
from internal.flows.reflections.model import Reflection
from internal.knowledge.model import EvidenceLine, Fact
from internal.language.text.spelling import sentence_spans
from internal.people.bio import bio_from_names
from internal.tasks.model import Task

_QUOTE = 120
"""The most characters of a quoted line."""
_BIO = 300
_MOST_ASKED = 2
"""The most questions proposed; more would be an interview."""


class CompanionWording:
    """Implements `Wording`."""

    def occasion(
        self, user: User, one: UpcomingOccasion, today: date, likes: Sequence[Fact], gifts: Sequence[EvidenceLine]
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
            lines.append(
                phrase(
                    lang,
                    "occasion-gifts",
                    list="; ".join(label(lang, "source-quote", text=shorten(one.quote, _QUOTE)) for one in gifts),
                )
            )
        return "\n".join(lines)

    def nudge(self, user: User, task: Task, meant: LastContact, still_open: Sequence[Task], now: datetime) -> str:
        lang, today, person = user.lang, local_day(user, now), meant.person
        lines = [phrase(lang, "nudge", title=task.title)]
        if person is not None and task.person_id is None:
            lines[0] = phrase(lang, "nudge-person", title=task.title, name=person.display_name)
        if meant.line is not None:
            when = day_of(user, meant.line.at.astimezone(ZoneInfo(user.tz)).date(), today)
            lines.append(phrase(lang, "nudge-last", when=when, quote=shorten(quotable(meant.line.quote), _QUOTE)))
        if still_open:
            lines.append(phrase(lang, "nudge-open", list="; ".join(quotable(one.title) for one in still_open)))
        return "\n".join(lines)

    def digest(self, user: User, found: Agenda, now: datetime) -> str:
        return agenda_text(user, found, now)

    def reflections(self, user: User, found: Sequence[Reflection], now: datetime) -> tuple[str, Sequence[Any]]:
        text = f"{reflections_text(user, found, now)}\n\n{phrase(user.lang, 'reflections-way-out')}"
        return text, buttons(dismiss_rows(user, found, within=True)) or ()

    def nudge_buttons(self, user: User, task: Task) -> Sequence[Sequence[dict[str, str]]]:
        return reminder_buttons(user, task)


def occasion_title(user: User, one: UpcomingOccasion) -> str:
    """The person and the number of years of an occasion, as plain text."""
    what = title(one, user.lang).rstrip(".")
    return what if one.years is None or one.own else label(user.lang, "occasion-years", what=what, years=one.years)


def occasion_line(user: User, one: UpcomingOccasion, today: date) -> str:
    """An occasion as one line of a list."""
    return f"{escape(day_of(user, one.on, today))} — {escape(occasion_title(user, one))}"


def agenda_text(user: User, found: Agenda, now: datetime) -> str:
    """A day or a week, section by section."""
    lang, today = user.lang, local_day(user, now)
    first = format_skeleton("MMMEd", found.first, locale=lang)
    lines = [phrase(lang, "agenda-today" if found.first == found.last else "agenda-week", day=first)]
    if found.empty:
        return "\n\n".join([*lines, phrase(lang, "agenda-nothing")])
    sections = {
        "occasions": [occasion_line(user, one, today) for one in found.occasions],
        **{
            name: [task_line(user, one, now) for one in getattr(found, name)]
            for name in ("tasks", "promises", "waiting", "contacts")
        },
        "questions": [escape(quotable(str(one.properties.get("text", "")))) for one in found.questions],
    }
    return "\n".join([*lines, *_sections(lang, "agenda", sections)])


def brief_text(user: User, known: Brief, now: datetime) -> tuple[str, list[Fact]]:
    """Half a page about somebody, and the facts whose numbers stand in it, in order."""
    lang, person, today = user.lang, known.person, local_day(user, now)
    circle = label(lang, "circle", circle=person.circle.value)
    zone, numbered = ZoneInfo(user.tz), [*known.facts, *known.people]
    lines = [
        phrase(lang, "brief-about", name=person.display_name, circle=circle, since=person.first_seen.astimezone(zone))
    ]
    if about := _about(known):
        lines.append(escape(shorten(about, _BIO)))

    def fact(one: Fact) -> str:
        return f"[{numbered.index(one) + 1}] {escape(quotable(one.fact))}"

    def talk(one: EvidenceLine) -> str:
        when = day_of(user, one.at.astimezone(zone).date(), today)
        return f"{escape(when)}: {phrase(lang, 'source-quote', text=shorten(quotable(one.quote), _QUOTE))}"

    lines += _sections(
        lang,
        "brief",
        {
            "facts": [fact(one) for one in known.facts],
            "people": [fact(one) for one in known.people],
            "talks": [talk(one) for one in known.talks],
            "open": [task_line(user, one, now) for one in known.still_open],
            "occasions": [occasion_line(user, one, today) for one in known.occasions],
            "questions": _questions(user, known, today),
        },
    )
    if numbered:
        lines += ["", phrase(lang, "brief-receipts")]
    return "\n".join(lines), numbered


def _about(known: Brief) -> str:
    """The profile's sentences that add something to the lines and facts below them."""
    person = known.person
    below = {_bare(text) for text in (*[one.quote for one in known.talks], *[one.fact for one in known.facts])}
    parts = [person.bio[start:end].strip() for start, end in sentence_spans(person.bio)]
    return (
        "" if person.bio == bio_from_names(person.names) else " ".join(one for one in parts if _bare(one) not in below)
    )


def _bare(text: str) -> str:
    return text.casefold().strip(" .!…")


def _questions(user: User, known: Brief, today: date) -> list[str]:
    lang = user.lang
    waiting = (one.title.partition(": ")[2] or one.title for one in known.waiting)
    asked = [phrase(lang, "brief-ask-waiting", what=quotable(one)) for one in waiting]
    asked += [
        phrase(lang, "brief-ask-occasion", what=occasion_title(user, one), when=day_of(user, one.on, today))
        for one in known.occasions
        if one.on < today
    ]
    for line in known.talks:
        if line.at.astimezone(ZoneInfo(user.tz)).date() == today:
            continue
        when = day_of(user, line.at.astimezone(ZoneInfo(user.tz)).date(), today)
        asked.append(phrase(lang, "brief-ask-talk", what=shorten(quotable(line.quote), _QUOTE), when=when))
    return asked[:_MOST_ASKED]


def _sections(lang: Language, of: str, sections: Mapping[str, Sequence[str]]) -> list[str]:
    """Lists with headings, without the empty ones."""
    lines: list[str] = []
    for name, items in sections.items():
        if items:
            lines += ["", f"__{phrase(lang, f'{of}-{name}')}__", *(f"• {one}" for one in items)]
    return lines


def day_of(user: User, on: date, today: date) -> str:
    """Today, tomorrow, or the day with its weekday."""
    zone = ZoneInfo(user.tz)
    return day_words(user.lang, datetime.combine(on, time(), zone), datetime.combine(today, time(), zone))
