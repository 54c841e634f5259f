"""Recognises the commands of a turn's messages with their objects. Runs in the language process: imports no storage."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from rapidfuzz.distance import OSA

from internal.agents.role_words import people_called
from internal.flows.tasks.find_reminders import Reminder
from internal.language.commands.amendments import amended, amending
from internal.language.commands.claims import find_claims, task_of
from internal.language.commands.questions import page_command
from internal.language.commands.recognise import WHAT_WAS_SAID, find_commands
from internal.language.commands.vocabulary import (
    ALL,
    TASK_WORDS,
    WORD,
    Command,
    Kind as CommandKind,
    content_words,
    forms,
)
from internal.language.dates.units import blank_out, fold
from internal.language.names.person_names import NAMED, name_boosts
from internal.language.search.terms import english_stem
from internal.language.tasks.completion import find_completions, find_move, only_about
from internal.language.tasks.times import TimeFound, find_time
from internal.language.tasks.titles import title_of
from internal.language.text.slang import spell_out
from internal.language.text.spelling import Language, text_language
from internal.language.worker.embedding import judge_statement
from internal.people.model import Person, names_of

Kind = Literal[CommandKind, "done", "show"]

MOST: Final = 5
"""Commands of one turn; more are a pasted text."""
_LEAST_LETTERS: Final = 5
_OF_PEOPLE: Final = frozenset({"brief", "agenda", "shared"})
"""Pages for which a message may name somebody: a question about one birthday asks for no list."""
_YOU: Final = frozenset({"ты", "ти", "вы", "ви", "you"})
_MORE_TO_ANSWER: Final = 4
"""Words besides a finished task from which a sentence tells something more."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A command: `people` and `tasks` are the ids that may be meant, `words` its object where neither is found."""

    kind: Kind
    message_id: str
    people: tuple[int, ...] = ()
    tasks: tuple[str, ...] = ()
    words: str = ""
    time: TimeFound | None = None
    sure: bool = True
    days: int = 1
    every: bool = False
    last: bool = False


def recognise(
    texts: Sequence[tuple[str, str, datetime]],
    titles: Mapping[str, str],
    people: Sequence[Person] | None,
    quoted: str,
    language: Language,
    before: str = "",
) -> tuple[list[Recognised], bool] | None:
    """The commands of messages (id, text, time), and whether these hold nothing else.

    Without `people` it returns None where somebody may be meant: they are read for the few messages that need them.

    `titles` are those of the open tasks by id, `quoted` is what the messages answer, or the last card of the chat:
    "cancel it" is about that. `before` is what their author wrote last before them, which they may correct.
    """
    found: list[Recognised] = []
    only = True
    for message_id, written, at in texts:
        text = spell_out(written)
        spoken = text_language(text, language)
        commands = find_commands(text, at, spoken)
        if people is None and any(one.kind in ("forget", "remove", "mark", "brief") for one in commands):
            return None
        read = [
            _brief(one, message_id, people or ())
            if one.kind == "brief"
            else _resolved(one, message_id, titles, people or (), quoted)
            for one in commands
        ]
        rest = _without(text, [one for one, known in zip(commands, read, strict=True) if known is not None])
        mine = [one for one in read if one is not None]
        for done in find_completions(rest, list(titles.values()), judge_statement):
            task_id = list(titles)[done.index]
            if all(task_id not in one.tasks for one in mine):
                mine.append(Recognised("done" if done.outcome == "done" else "cancel", message_id, tasks=(task_id,)))
                left = set(content_words(rest)) - set(content_words(titles[task_id]))
                rest = "" if len(left) < _MORE_TO_ANSWER and "?" not in rest else rest
        if not mine and (put_off := find_move(rest, list(titles.values()), at, spoken)) is not None:
            index, time, sure = put_off
            mine, rest = [Recognised("move", message_id, (), (list(titles)[index],), time=time, sure=sure)], ""
        if not mine and (moved := _corrected(text, before, at, spoken, titles, quoted)) is not None:
            mine, rest = [replace(moved, message_id=message_id)], ""
        if not mine and (named := only_about(rest, list(titles.values()))) is not None:
            mine, rest = [Recognised("show", message_id, tasks=(list(titles)[named],), sure=False)], ""
        only = only and not content_words(rest)
        found += mine
    return found[:MOST], only and bool(found)


def opened(
    pages: Sequence[str], text: tuple[str, str, datetime], people: Sequence[Person], language: Language
) -> list[Recognised]:
    """The pages that a message (id, text, time) means by its meaning, with the days and the person that it names."""
    message_id, written, at = text
    said = spell_out(written)
    asked = (page_command(page, said, at, text_language(said, language)) for page in pages)
    commands = [one for one in asked if one is not None]
    named = _people(said, content_words(said), people)
    if named and not _OF_PEOPLE.issuperset(pages):
        return []
    found = (
        _brief(one, message_id, people)
        if one.kind == "brief"
        else Recognised(one.kind, message_id, time=one.time, days=one.days)
        for one in commands
    )
    return [one for one in found if one is not None]


def _corrected(
    text: str, before: str, at: datetime, language: Language, titles: Mapping[str, str], quoted: str
) -> Recognised | None:
    """The move that a correction of the time makes, of the task that the last card names: "sorry, on Thursday"."""
    named = tuple(one for one, title in titles.items() if fold(title) in fold(quoted))
    whole, said = amended(before, text) if named else None, amending(text)
    time = find_time(whole or said, at, language) if whole or said else None
    if time is None or time.recurrence or len(named) != 1:
        return None
    earlier = find_time(before, at, language) if whole else None
    if earlier.moment == time.moment if earlier else not whole and content_words(blank_out(said, time.spans)):
        return None
    return Recognised("move", "", tasks=named, time=time)


def asks_for(
    texts: Sequence[tuple[str, str, datetime]], title: str, how: Kind, time: TimeFound | None, language: Language
) -> bool:
    """Whether messages say what is to become of a task: an order, that it is done, or the time to which it moves."""
    found, _ = recognise(texts, {title: title}, [], "", language) or ([], False)
    said = (find_time(spell_out(text), at, text_language(text, language)) for _, text, at in texts)
    moves = (one for one in said if how == "move" and one is not None and time is not None)
    return any(one.kind == how for one in found) or any(_same_time(one, time) for one in moves)


def _same_time(said: TimeFound, time: TimeFound | None) -> bool:
    """Whether a time is the one that was said, as far as that was said: its day, or only its hour."""
    if time is None:
        return False
    return said.moment.timetz() == time.moment.timetz() if said.hour_only else said.moment.date() == time.moment.date()


@dataclass(frozen=True, slots=True)
class JudgedReply:
    """A reply without what it claims and nobody did, and the reminder that it promises and the owner asked for."""

    text: str
    reminder: Reminder | None = None
    untrue: bool = False


def judge(
    reply: str, known: Sequence[str], did: Collection[str], asked: tuple[str, str, datetime] | None, language: Language
) -> JudgedReply:
    """Takes out the claims that nothing stands behind: `did` are the kinds of what is done in this turn.

    `known` are the open tasks and the people. `asked` is the owner's newest message (id, text, time), from which a
    promised reminder may be made; None where he did not write it himself.
    """
    claims = [one for one in find_claims(reply, known) if one.kind not in did]
    claims = [one for one in claims if one.kind == "change" or not matching(content_words(one.text), known)]
    if not claims:
        return JudgedReply(reply)
    reminder = None
    promised = [one for one in claims if one.kind == "remind"]
    if promised and asked is not None:
        message_id, said, at = asked
        title, time = task_of(promised[0], said, at, language)
        title = title if content_words(title) else title_of(said, time.spans if time else ())
        if time is not None and time.moment > at and best_facts(title, [said]):
            reminder = Reminder(title, time, message_id)
    for one in reversed(claims):
        reply = f"{reply[: one.span[0]]}{reply[one.span[1] :]}"
    untrue = any(one.kind == "change" for one in claims) or reminder is None
    return JudgedReply(reply.strip(), reminder, untrue)


def object_of(what: str, people: Sequence[Person]) -> Recognised:
    """What a model wants to be forgotten, in the owner's words: everything, people, or what the words say."""
    words = content_words(what)
    if not words:
        return Recognised("forget_all", "")
    return Recognised("forget", "", people=_people(what, words, people), words=what, sure=False)


def matching(words: Sequence[str], titles: Sequence[str]) -> list[int]:
    """The indexes of the titles that share most of these words, in any form and with one slip; empty if none does."""
    telling = [word for word in words if not forms(word) & TASK_WORDS] or list(words)
    shared = [_shared(telling, title) for title in titles]
    most = max(shared, default=0)
    return [position for position, count in enumerate(shared) if count == most] if most else []


def best_facts(words: str, facts: Sequence[str]) -> list[int]:
    """The indexes of the facts that share most of these words, at least half of those that name something."""
    telling = content_words(words)
    best = matching(telling, facts)
    return [position for position in best if 2 * _shared(telling, facts[position]) >= len(telling)]


def _shared(words: Sequence[str], title: str) -> int:
    return sum(any(_is_same_word(word, other) for other in content_words(title)) for word in words)


def _resolved(
    command: Command, message_id: str, titles: Mapping[str, str], people: Sequence[Person], quoted: str
) -> Recognised | None:
    kind = command.kind
    if kind in ("forget_all", "name", "about_me", "about_you", "agenda", "changes", "birthdays", "shared"):
        return Recognised(kind, message_id, words=command.about, time=command.time, days=command.days)
    if kind in ("waiting", "promised", "contacts"):
        words = content_words(command.about)
        known = tuple(list(titles)[position] for position in matching(words, list(titles.values()))) if words else ()
        return Recognised(kind, message_id, tasks=known) if known or not words else None
    return _with_object(command, message_id, titles, people, quoted)


def _with_object(
    command: Command, message_id: str, titles: Mapping[str, str], people: Sequence[Person], quoted: str
) -> Recognised | None:
    kind, own, ids = command.kind, content_words(command.about), list(titles)
    words = own or content_words(quoted)
    named = tuple(one for one in ids if fold(titles[one]) in fold(quoted)) if not own else ()
    tasks = named or tuple(ids[position] for position in matching(words, list(titles.values())))
    every = any(forms(word) & ALL for word in WORD.findall(fold(command.about)))
    if own and not tasks and all(forms(word) & TASK_WORDS for word in own):
        pointed = tuple(one for one in ids if not every and fold(titles[one]) in fold(quoted))
        tasks = pointed or tuple(ids)
    if kind == "cancel" and not tasks and not _YOU.isdisjoint(WORD.findall(fold(command.about))):
        return Recognised("changes", message_id)  # "cancel what you did yesterday"
    if kind in ("cancel", "move") or (kind == "mark" and tasks):
        act: Kind = "done" if kind == "mark" else kind
        last = kind == "cancel" and not own
        known = bool(tasks or (command.sure and (own or (last and not WORD.findall(command.about)))))
        return Recognised(act, message_id, tasks=tasks, time=command.time, every=every, last=last) if known else None
    if tasks and any(forms(word) & TASK_WORDS for word in words):
        return Recognised("cancel", message_id, tasks=tasks, every=every)
    meant = () if command.states else _people(command.about, words, people)
    if meant:
        return Recognised("forget", message_id, people=meant)
    if tasks and not WHAT_WAS_SAID.match(command.about):
        return Recognised("cancel", message_id, tasks=tasks)
    return Recognised("forget", message_id, words=_named_part(command.about), sure=command.sure)


def _brief(command: Command, message_id: str, people: Sequence[Person]) -> Recognised | None:
    meant = _people(command.about, content_words(command.about), people)
    return Recognised("brief", message_id, people=meant) if meant else None


def _named_part(about: str) -> str:
    """The words from the first to the last that names something: "please everything about Vadik" is Vadik."""
    said = [match.span() for match in WORD.finditer(about) if content_words(match[0])]
    return about[said[0][0] : said[-1][1]] if said else about


def _people(about: str, words: Sequence[str], people: Sequence[Person]) -> tuple[int, ...]:
    """The people whom the words name most plainly, else those whom the owner calls so."""
    names = {one.id: names_of(one) for one in people}
    apart = ", ".join(word[:1].upper() + word[1:] for word in words)  # or a word beside a name would be its surname
    boosts = {**name_boosts(apart, names), **name_boosts(about, names)}
    most = max(boosts.values(), default=0.0)
    if most >= NAMED:
        return tuple(one for one, boost in boosts.items() if boost == most)
    return people_called(about, people)


def _without(text: str, commands: Sequence[Command]) -> str:
    for start, end in {one.span for one in commands}:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _is_same_word(word: str, other: str) -> bool:
    """Whether two words are forms of one, or one is the other misspelt."""
    if forms(word) & forms(other) or (word.isascii() and english_stem(word) == english_stem(other)):
        return True
    long = min(len(word), len(other)) >= _LEAST_LETTERS
    return long and word[0] == other[0] and OSA.distance(fold(word), fold(other), score_cutoff=1) <= 1
