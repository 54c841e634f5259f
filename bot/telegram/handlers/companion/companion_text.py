"""The texts of the companion, as Markdown in the owner's language."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from babel.dates import format_skeleton

from bot.telegram.delivery.outbox_chat import buttons
from bot.telegram.handlers.buttons import (
    NEW_MESSAGE,
    SEVERAL_TASKS,
    FactButton,
    Owned,
    Rows,
    TaskButton,
    TaskTap,
    button,
)
from bot.telegram.handlers.companion.brief_button import ProfileLinesButton
from bot.telegram.handlers.companion.reflections import dismiss_rows, reflections_text
from bot.telegram.handlers.facts.fact_text import message_line, number_rows, quotable, shorten
from bot.telegram.handlers.tasks.task_text import day_words, reminder_buttons, task_line
from bot.telegram.i18n import label, phrase
from bot.telegram.rendering import escape
from internal.access.model import Language, User
from internal.dialogue.model import Message
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
        self,
        user: User,
        one: UpcomingOccasion,
        today: date,
        said: Message | None,
        likes: Sequence[Fact],
        gifts: Sequence[EvidenceLine],
    ) -> str:
        lang, what = user.lang, occasion_title(user, one)
        if one.on == today:
            return phrase(lang, "occasion-day-memorial" if one.kind == "memorial" else "occasion-day", what=what)
        when = day_of(user, one.on, today)
        lines = [phrase(lang, "occasion-week", when=when[:1].upper() + when[1:], what=what)]
        lines += [message_line(user, said)] if said is not None else []
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

    def digest(self, user: User, found: Agenda, now: datetime) -> tuple[str, list[list[dict[str, str]]]]:
        text, rows = agenda_text(user, found, now)
        return text, buttons(rows) or []

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


class _Receipts:
    """Numbers lines, and makes for each number the button that opens where the line comes from."""

    def __init__(self, user: User) -> None:
        self._user, self._opened = user, list[Owned]()

    def line(self, words: str, opens: Owned) -> str:
        self._opened.append(opens)
        return f"[{len(self._opened)}] {words}"

    def fact(self, one: Fact) -> str:
        return self._fact(escape(quotable(one.fact)), one.id)

    def task(self, one: Task, now: datetime) -> str:
        opens = TaskButton(owner=self._user.user_id, task=one.id, tap=TaskTap.SHOW, back_to=SEVERAL_TASKS)
        return self.line(task_line(self._user, one, now), opens)

    def occasion(self, one: UpcomingOccasion, today: date) -> str:
        return self._fact(occasion_line(self._user, one, today), one.occasion.fact_id)

    def _fact(self, words: str, fact_id: str) -> str:
        return self.line(words, FactButton(owner=self._user.user_id, fact=fact_id, back_to=NEW_MESSAGE))

    def rows(self) -> Rows:
        return number_rows([button(str(number), one) for number, one in enumerate(self._opened, start=1)])


def agenda_text(user: User, found: Agenda, now: datetime) -> tuple[str, Rows]:
    """A day or a week, section by section, with the buttons that open its lines."""
    lang, today = user.lang, local_day(user, now)
    first = format_skeleton("MMMEd", found.first, locale=lang)
    lines = [phrase(lang, "agenda-today" if found.first == found.last else "agenda-week", day=first)]
    if found.empty:
        return "\n\n".join([*lines, phrase(lang, "agenda-nothing")]), []
    receipts = _Receipts(user)
    sections = {
        "occasions": [receipts.occasion(one, today) for one in found.occasions],
        **{
            name: [receipts.task(one, now) for one in getattr(found, name)]
            for name in ("tasks", "promises", "waiting", "contacts")
        },
        "questions": [escape(quotable(str(one.properties.get("text", "")))) for one in found.questions],
    }
    return "\n".join([*lines, *_sections(lang, "agenda", sections)]), receipts.rows()


def brief_text(user: User, known: Brief, now: datetime) -> tuple[str, Rows]:
    """Half a page about somebody, with the buttons that open where each line comes from."""
    lang, person, today = user.lang, known.person, local_day(user, now)
    circle = label(lang, "circle", circle=person.circle.value)
    zone, receipts = ZoneInfo(user.tz), _Receipts(user)
    lines = [
        phrase(lang, "brief-about", name=person.display_name, circle=circle, since=person.first_seen.astimezone(zone))
    ]
    if about := _about(known):
        lines.append(
            receipts.line(escape(shorten(about, _BIO)), ProfileLinesButton(owner=user.user_id, person=person.id))
        )

    def talk(one: EvidenceLine) -> str:
        when = day_of(user, one.at.astimezone(zone).date(), today)
        return f"{escape(when)}: {phrase(lang, 'source-quote', text=shorten(quotable(one.quote), _QUOTE))}"

    lines += _sections(
        lang,
        "brief",
        {
            "facts": [receipts.fact(one) for one in known.facts],
            "people": [receipts.fact(one) for one in known.people],
            "talks": [talk(one) for one in known.talks],
            "open": [receipts.task(one, now) for one in known.still_open],
            "occasions": [receipts.occasion(one, today) for one in known.occasions],
            "questions": _questions(user, known, today),
        },
    )
    if rows := receipts.rows():
        lines += ["", phrase(lang, "brief-receipts")]
    return "\n".join(lines), rows


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
