"""The responder without a model: answers by quoting what is recalled, and says so when nothing is."""

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from internal.agents.model import DialogueLine, Language, PassageLine, RecalledFact, RecalledMemory, ResponderRequest
from internal.agents.offline_phrases import phrase as offline_phrase
from internal.agents.prompts import block, newest_lines
from internal.agents.responder.blocks import (
    day,
    instructions_block,
    lessons_block,
    memories_block,
    passages_block,
    recalled_block,
)
from internal.agents.responder.offline.discretion import discreet
from internal.agents.responder.offline.intent import Intent, asked_name, intent_of, orders_writing
from internal.agents.responder.offline.obey_instructions import as_instructed, instructed_language
from internal.agents.responder.offline.people_in_dialogue import (
    Subject,
    author_of,
    likely_people,
    own_words,
    people_called_in,
    people_named_in,
    roles_of_one,
    subjects,
)
from internal.agents.responder.offline.pictures import answering_picture, in_last_picture
from internal.agents.responder.offline.quotes import newest_about, overtakes, quotable, repeats, without_file_marks
from internal.agents.responder.offline.relevant_facts import (
    answering,
    facts_about,
    of_kind,
    shared,
    sharing_words,
    unsaid_date,
)
from internal.agents.responder.offline.said_line import SaidLine
from internal.agents.role_words import asks_kinship, roles_of, says_more_than_names
from internal.language.chronicle.lines import NOTHING_KNOWN
from internal.language.commands.amendments import amended
from internal.language.commands.recognise import is_order
from internal.language.discretion.recipients import only_orders_words
from internal.language.instructions.find import find_instructions
from internal.language.kinship.words import MY
from internal.language.names.mentions import find_people
from internal.language.search.subjects import subjects_of
from internal.language.search.transliteration import read_latin
from internal.language.tasks.contacts import asks_of_contact, tells_of_contact
from internal.language.text.block_tags import escape, neutralised
from internal.language.text.spelling import name_key, sentence_spans, text_language, tokens, unquoted
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import ChatDelta, ChatMessage, ChatReply
from internal.people.model import Circle, Person, people_block

Line = TypeVar("Line", DialogueLine, PassageLine)
MODEL = "offline-rules"

_MAX_QUOTED = 3
_MAX_LISTED = 20
_MANY = 2
"""Lines of which one may have overtaken what a profile quotes."""

_LONGEST_NAME = 3
_LONGEST_VALUE = 2_000
"""Characters of a value in a phrase; Fluent refuses those of 2,500."""

_STANDING = frozenset({"active", "achieved", "abandoned", "open", "partial", "answered", "liked", "disliked"})
"""States of goals, questions and preferences that are shown; others mean nothing in a list."""


class OfflineResponder:
    """The Responder by rules, run in the language process; streams sentence by sentence."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    def messages(self, request: ResponderRequest) -> list[ChatMessage]:
        """What was given, and the dialogue. There are no instructions, and the rules can follow no lesson."""
        blocks = (
            instructions_block(request.instructions, request.owner.timezone),
            people_block("inner_circle", request.inner_circle),
            people_block("relevant_people", request.relevant_people),
            block("relations", [escape(line) for line in request.relations]),
            recalled_block(request.facts, request.owner.timezone),
            memories_block(request.memories, request.owner.timezone),
            passages_block(request.passages, request.owner.timezone),
            lessons_block(request.lessons),
        )
        return [
            *(ChatMessage("system", block) for block in blocks if block),
            *(ChatMessage(line.role, neutralised(line.text)) for line in request.dialogue),
        ]

    async def reply(self, request: ResponderRequest) -> AsyncIterator[ChatDelta]:
        """The reply piece by piece. ModelUnavailable if the language process cannot answer."""
        text = await self._worker.run(compose, replace(request, toolbox=None))
        for start, end in pairwise([*(start for start, _ in sentence_spans(text)), len(text)]):
            yield ChatDelta(text[start:end])
        yield ChatDelta("", ChatReply(text, MODEL))


def compose(request: ResponderRequest) -> str:
    """The answer to the last message of the dialogue, in its language; pure."""
    request = without_file_marks(request)
    lines = newest_lines(request.dialogue)
    if request.owner.language != "en":
        lines = [replace(line, text=read_latin(line.text)) for line in lines]
        request = replace(request, dialogue=[*request.dialogue[: len(request.dialogue) - len(lines)], *lines])
    own = "\n".join(unquoted(line.text) for line in lines if author_of(line) is None)
    wish = intent_of(own)
    read = own or "\n".join(line.text for line in lines if author_of(line) is not None)
    only_names = wish.wish == "news" and _only_names(read)
    spoken = request.owner.language if only_names else text_language(read, request.owner.language)
    speech = _Speech(instructed_language(request) or spoken)
    found = find_instructions(own)
    yes = speech("lifted" if all(one.lifts for one in found) else "instructed") if found else ""
    for one in found:
        own = own.replace(one.text, "")
    if yes and not tokens(own):
        return yes
    answer = as_instructed(f"{yes} {_answer(request, lines, own, intent_of(own), speech)}".strip(), request)
    first = not any(line.role == "assistant" for line in request.dialogue)
    return f"{answer} {speech('offline')}" if first and wish.wish not in ("thanks", "farewell") else answer


def _only_names(said: str) -> bool:
    """Whether a message is only a name: its language is unknown then, a Russian owner writes "Masha" too."""
    found = tokens(said)
    return len(found) <= _LONGEST_NAME and all(token.capital or token.username for token in found)


class _Speech:
    """The phrases of one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.kept: Callable[[str], str] = str
        """Takes what is secret from a quotation, if it does not answer."""

    def __call__(self, phrase: str, **values: str | int) -> str:
        given = {name: value[:_LONGEST_VALUE] if isinstance(value, str) else value for name, value in values.items()}
        return offline_phrase(__package__, self.language, phrase, **given)

    def names(self, names: Sequence[str]) -> str:
        head, last = names[:-1], names[-1]
        return f"{', '.join(head)} {self('and')} {last}" if head else last

    def subject(self, subject: Subject) -> str:
        """What is known of somebody, then what this dialogue adds to it."""
        news = self("quoted", said=_plain(subject.news)) if subject.news else ""
        if subject.person is None:
            return f"{_plain(subject.name)}. {news}"
        return f"{self._person(subject.person, news)} {news}".strip()

    def _person(self, person: Person, news: str) -> str:
        name, circle = _plain(person.display_name), self(person.circle.value)
        circle = circle[:1].lower() + circle[1:]
        if says_more_than_names(person):
            return self("about", name=name, circle=circle, bio=_plain(person.bio))
        return f"{name} ({circle})." if news else self("about-empty", name=name, circle=circle)


def _plain(text: str) -> str:
    """Stored words, escaped: replies are Markdown."""
    return re.sub(r"([*`\[\]])", r"\\\1", " ".join(text.split()))


def _answer(request: ResponderRequest, lines: Sequence[DialogueLine], own: str, wish: Intent, speech: _Speech) -> str:
    authors = list(dict.fromkeys(_plain(author) for line in lines if (author := author_of(line))))
    if not own and authors:
        return speech("forwarded", names=speech.names(authors))
    if at_once := _at_once(request, len(lines), own, speech):
        return at_once
    match wish.wish:
        case "circle" if wish.circle:
            return _circle(wish.circle, (*request.inner_circle, *request.relevant_people), speech)
        case "question" | "news" if wish.wish == "question" or request.relations:
            request = request if asks_kinship(own, request.relations) else replace(request, relations=())
            request, known, speech.kept = discreet(request, own, subjects(request, len(lines)))
            in_touch = not request.relations and asks_of_contact(own)
            return _in_touch(request, own, speech) if in_touch else _question(request, own, known, speech)
        case "news" | "circle":
            news = _reply_to_news(subjects(request, len(lines)), authors, speech)
            return speech("cannot-write") if orders_writing(own) else news
        case small_talk:
            return speech(small_talk, persona=request.persona_name)


def _at_once(request: ResponderRequest, latest: int, said: str, speech: _Speech) -> str:
    """What is answered without looking anything up: about a picture, to an order to write, to a correction."""
    if (shown := in_last_picture(said, request)) is not None:
        return speech("picture", said=_plain(shown)) if shown else speech("picture-unseen")
    if orders_writing(said, certainly=True):
        return speech("cannot-write")
    before = next((one.text for one in reversed(request.dialogue[:-latest]) if one.role == "user"), "")
    corrected = amended(unquoted(before), said)
    return (
        ""
        if corrected is None or is_order(before, request.now, changes=True)
        else speech("corrected", said=_plain(corrected))
    )


def _in_touch(request: ResponderRequest, said: str, speech: _Speech) -> str:
    """The newest line that tells of being in touch with whom a question names, or how often it is meant to be."""

    def telling(lines: Sequence[Line]) -> list[Line]:
        return [line for line in lines if tells_of_contact(line.text)]

    passages = [replace(one, lines=telling(one.lines)) for one in request.passages]
    request = replace(request, dialogue=telling(request.dialogue), passages=passages)
    whom = " ".join(one.name for one in find_people(said, speech.language)) or said
    return _quoted(newest_about(whom, request)[:1], said, request, speech).rstrip() or speech("nothing")


def _circle(circle: Circle, people: Sequence[Person], speech: _Speech) -> str:
    """Everybody of a circle; at work there are two circles."""
    asked = (circle, Circle.WORK_OUTER) if circle is Circle.WORK_INNER else (circle,)
    inside = {one: [person for person in people if person.circle is one][:_MAX_LISTED] for one in asked}
    listed = [
        "\n".join((f"{speech(one.value)}:", *(f"- {line}" for line in dict.fromkeys(map(_line, found)))))
        for one, found in inside.items()
        if found
    ]
    return "\n\n".join(listed) or speech("circle-nobody", circle=speech(circle.value))


def _line(person: Person) -> str:
    name = _plain(person.display_name)
    return f"{name}: {_plain(person.bio)}" if says_more_than_names(person) else name


def _question(request: ResponderRequest, said: str, known: Sequence[Subject], speech: _Speech) -> str:
    if request.relations:
        return _related(request, said, known, speech)
    found = people_named_in(said, known) or people_called_in(said, known) or people_named_in(request.query, known)
    names = [name for subject in found for name in subject.names]
    if kept := _asked_for(request, _with_name(said, known), names, speech):
        return kept
    roles = roles_of_one(found, known)
    lines = newest_about(said, request, names, roles=roles) or newest_about(request.query, request, names, roles=roles)
    tells = any(one.news or (one.person is not None and says_more_than_names(one.person)) for one in found)
    kinds = bool(subjects_of(said))
    profiles = [f"{one.person.bio if one.person else ''} {one.news}" for one in found]
    updated = len(lines) >= _MANY or any(
        line.overrides or (kinds and not any(repeats(profile, line.text) for profile in profiles)) for line in lines
    )
    if found and (tells or not lines) and not updated:
        return "\n".join(speech.subject(subject) for subject in found[:_MAX_QUOTED])
    remembered = sharing_words(said, request.memories) or sharing_words(request.query, request.memories)
    if remembered and shared(said, remembered[0].text) >= max((line.share for line in lines), default=0.0):
        newer = [line for line in lines if line.change and line.newer_than(remembered[0].at)][:1]
        return _quoted(newer, said, request, speech) + _memories(remembered, request, speech)
    if lines:
        quoted = [_quoted([one], said, request, speech) for one in lines]
        who = [speech.subject(one) for one in found[:_MAX_QUOTED]] if asked_name(said) and tells else []
        return "\n".join((_before(quoted[0], "".join(quoted[1:]), speech), *who))
    return _of_strangers(request, said, speech) or _guess(said, request, known, speech)


def _related(request: ResponderRequest, said: str, known: Sequence[Subject], speech: _Speech) -> str:
    """Who is what to whom, or what the owner's days tell, behind a newer line that overtakes it."""
    counted = not any(" — " in line or line in NOTHING_KNOWN for line in request.relations)
    meant = people_named_in("\n".join(line.partition(" — ")[0] for line in request.relations), known)
    lines = [] if counted else newest_about(said, request, [name for one in meant for name in one.names])
    newer = [one for one in lines if one.overrides and (people_named_in(one.text, meant) or subjects_of(one.text))][:1]
    kept = [line for line in request.relations if not newer or not overtakes(newer[0], line, said)]
    stated = "\n".join(f"{_plain(line)}." for line in kept)
    return _before(_quoted(newer, said, request, speech), stated, speech)


def _before(change: str, older: str, speech: _Speech) -> str:
    """What tells of a change, and what was said before it, as such."""
    return (change + speech("before", older=older) if change and older else change or older).rstrip()


def _with_name(said: str, known: Sequence[Subject]) -> str:
    """A question with the name of the one relative whom it calls by kinship: facts have the name."""
    meant = (
        [] if people_named_in(said, known) else [one for one in people_called_in(said, known) if one.person is not None]
    )
    if len(meant) != 1:
        return said
    asked = (word for word in said.split() if name_key(word) not in MY)  # "my mother" is not the owner himself
    return f"{' '.join(asked)} {meant[0].name}"


def _asked_for(request: ResponderRequest, said: str, names: Sequence[str], speech: _Speech) -> str:
    """The memories of the kind asked for, else the facts that answer; empty if there is neither."""
    if kept := of_kind(said, request.memories) or of_kind(request.query, request.memories):
        return _memories(kept, request, speech)
    if not (answers := answering(said, request.facts) or answering(request.query, request.facts)):
        return ""
    first = answers[0]
    names = [*names, first.source] if first.source and not first.about_owner and facts_about(said, [first]) else names
    lines = newest_about(said, request, names, first.text) or newest_about(request.query, request, names, first.text)
    fresh = (line for line in lines if line.newer_than(first.said_at))
    newer = [line for line in fresh if not any(repeats(line.text, fact.text) for fact in answers)][:1]
    quoted = _quoted(newer, said, request, speech)
    if newer and overtakes(newer[0], first.text, said):
        return quoted.rstrip()
    facts = _facts(answers[: 1 if newer else None], request, speech)
    return _before(quoted, facts, speech) if newer and newer[0].overrides else quoted + facts


def _of_strangers(request: ResponderRequest, said: str, speech: _Speech) -> str:
    """The lines about somebody unknown, else other known lines; empty if no person seems to be meant."""
    asked = asked_name(said)
    strangers = [mention.name for mention in find_people(said, speech.language)] or ([asked] if asked else [])
    words = own_words(request, strangers, roles_of(said))
    if words:
        return speech("quoted", said=_plain(speech.kept(words)))
    if about := facts_about(said, request.facts):
        return "\n".join((speech("only-this"), _facts(about, request, speech)))
    names = list(dict.fromkeys(map(_plain, strangers)))
    return speech("unknown", names=speech.names(names), count=len(names)) if names else ""


def _guess(said: str, request: ResponderRequest, known: Sequence[Subject], speech: _Speech) -> str:
    if orders_writing(said) or only_orders_words(said):
        return speech("cannot-write")
    likely = {person.id for person in likely_people(said, request.relevant_people)}
    guesses = [one for one in known if one.person and one.person.id in likely and says_more_than_names(one.person)]
    listed = [f"- {speech.subject(guess)}" for guess in guesses]
    return "\n".join((speech("perhaps"), *listed)) if listed else speech("nothing")


def _facts(facts: Sequence[RecalledFact], request: ResponderRequest, speech: _Speech) -> str:
    """The facts as they were said, each with its dates and its number."""
    return "\n".join(f"{_dated(fact, request.owner.timezone, speech)} [F{fact.n}]." for fact in facts)


def _dated(fact: RecalledFact, timezone: str, speech: _Speech) -> str:
    text = _plain(fact.text).rstrip(".")
    since = unsaid_date(text, day(fact.valid_at, timezone, fact.valid_precision)) if fact.valid_at else ""
    until = unsaid_date(text, day(fact.invalid_at, timezone, fact.invalid_precision)) if fact.invalid_at else ""
    phrase = f"fact{'-since' if since else ''}{'-until' if until else ''}"
    return speech(phrase, fact=text, since=since, until=until)


def _memories(memories: Sequence[RecalledMemory], request: ResponderRequest, speech: _Speech) -> str:
    """One memory as a sentence, several as a list; each with its state, date and number."""
    lines = [f"{_remembered(one, request.owner.timezone, speech)} [M{one.n}]" for one in memories]
    if len(lines) == 1:
        return f"{lines[0]}."
    return "\n".join((speech("remembered"), *(f"- {line}" for line in lines)))


def _quoted(lines: Sequence[SaidLine], said: str, request: ResponderRequest, speech: _Speech) -> str:
    """Lines with their speaker, day and the number of their passage, each on its own line."""
    return "".join(f"{_quotation(line, said, request, speech)}\n" for line in lines)


def _quotation(line: SaidLine, said: str, request: ResponderRequest, speech: _Speech) -> str:
    if line.amended:
        return speech("amended", quotation=_quotation(replace(line, amended=False), said, request, speech))
    parts = [line.text] if line.in_file or line.speaker else line.text.split(".\n")  # lines in a row
    kept = parts if line.speaker else [part for part in map(speech.kept, parts) if part]
    text = speech("and-quoted").join(_plain(quotable(part, said, part=line.in_file)) for part in kept)
    zone = request.owner.timezone
    mark = f" [S{line.n}]" if line.n is not None else ""
    if line.speaker:
        at = day(line.at or request.now, zone)
        return f"{speech('said-by', name=_plain(line.speaker), at=at, text=text)}{mark}"
    if line.at is None or (not mark and day(line.at, zone) == day(request.now, zone)):
        return speech("quoted", said=text)
    if shown := answering_picture(said, line.text):
        return f"{speech('in-picture', at=day(line.at, zone), text=_plain(quotable(shown, said)))}{mark}"
    return f"{speech('said-own', at=day(line.at, zone), text=text)}{mark}"


def _remembered(memory: RecalledMemory, timezone: str, speech: _Speech) -> str:
    text = _plain(memory.text).rstrip(".")
    if memory.due is not None and (due := unsaid_date(text, day(memory.due, timezone))):
        text = speech("memory-due", text=text, due=due)
    known = [
        *([speech("memory-status", status=memory.status)] if memory.status in _STANDING else []),
        *([day(memory.at, timezone)] if memory.at else []),
    ]
    return f"{text} ({', '.join(known)})" if known else text


def _reply_to_news(known: Sequence[Subject], authors: Sequence[str], speech: _Speech) -> str:
    latest = [subject for subject in known if subject.latest]
    new = [_plain(subject.name) for subject in latest if not subject.before]
    old = [_plain(subject.name) for subject in latest if subject.before]
    parts = [
        speech("noted", names=speech.names(new)) if new else "",
        speech("noted-known", names=speech.names(old)) if old else "",
        speech("forwarded", names=speech.names(authors)) if authors else "",
    ]
    return " ".join(filter(None, parts)) or speech("heard")
