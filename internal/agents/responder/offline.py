"""The responder without a model: answers by quoting what it remembers, and says so when it remembers nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

from fluent.runtime import FluentBundle, FluentResource

from internal.agents.model import Language, ResponderRequest
from internal.agents.prompts import neutralised
from internal.agents.responder.phrases import Wanted, asked_name, wanted
from internal.language.kinship import relations
from internal.language.names import mentions, name_boosts
from internal.language.sightings import find_people
from internal.language.spelling import sentences, text_language, tokens
from internal.language.worker import LanguageWorker
from internal.llm.model import ChatDelta, ChatMessage, ChatReply
from internal.people.model import Circle, Person, names_of, people_block

MODEL = "offline-rules"

_MAX_QUOTED = 3
_MAX_LISTED = 20
_NAMED = 0.5
"""A name boost from which somebody counts as named: a short form of a part of the name has 0.64."""


class OfflineResponder:
    """The Responder by rules, run in the language process; streams sentence by sentence."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    def messages(self, request: ResponderRequest) -> list[ChatMessage]:
        """What the rules read: the people given, and the dialogue. There are no instructions."""
        blocks = (
            people_block("inner_circle", request.inner_circle),
            people_block("relevant_people", request.relevant_people),
        )
        return [
            *(ChatMessage("system", block) for block in blocks if block),
            *(ChatMessage(line.role, neutralised(line.text)) for line in request.dialogue),
        ]

    async def reply(self, request: ResponderRequest) -> AsyncIterator[ChatDelta]:
        """The reply piece by piece. ModelUnavailable if the language process cannot answer."""
        text = await self._worker.run(compose, request)
        for start, end in _pieces(text):
            yield ChatDelta(text[start:end])
        yield ChatDelta("", ChatReply(text, MODEL))


def _pieces(text: str) -> list[tuple[int, int]]:
    starts = [start for start, _ in sentences(text)]
    return list(pairwise([*starts, len(text)]))


def compose(request: ResponderRequest) -> str:
    """The answer to the last message of the dialogue, in its language; pure."""
    said = _last_words(request)
    speech = _Speech(text_language(said, request.owner.language))
    wish = wanted(said)
    answer = _answer(request, said, wish, speech)
    first = not any(line.role == "assistant" for line in request.dialogue)
    return f"{answer} {speech('offline')}" if first and wish.wish != "thanks" else answer


def _last_words(request: ResponderRequest) -> str:
    """The owner's messages since the last reply: they get one answer."""
    lines: list[str] = []
    for line in reversed(request.dialogue):
        if line.role == "assistant":
            break
        lines.insert(0, line.text)
    return "\n".join(lines)


class _Speech:
    """The phrases of one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._bundle = _bundle(language)

    def __call__(self, phrase: str, **values: str | int) -> str:
        pattern = self._bundle.get_message(phrase).value
        if pattern is None:
            raise LookupError(f"the phrase {phrase} has no text in {self.language}")
        text, errors = self._bundle.format_pattern(pattern, values)
        if errors:
            raise errors[0]
        return str(text)

    def names(self, names: Sequence[str]) -> str:
        head, last = names[:-1], names[-1]
        return f"{', '.join(head)} {self('and')} {last}" if head else last

    def person(self, person: Person) -> str:
        circle = self(person.circle.value)
        name, bio = _plain(person.display_name), _plain(person.bio)
        return (
            self("about", name=name, circle=circle, bio=bio) if bio else self("about-empty", name=name, circle=circle)
        )


@cache
def _bundle(language: Language) -> FluentBundle:
    bundle = FluentBundle([language], use_isolating=False)
    bundle.add_resource(FluentResource(phrase_source(language)))
    return bundle


def phrase_source(language: Language) -> str:
    """The Fluent source of a language's phrases."""
    return files(__package__).joinpath(f"offline.{language}.ftl").read_text(encoding="utf-8")


def _plain(text: str) -> str:
    """Stored words shown as they are: replies are Markdown."""
    return re.sub(r"([*`\[\]])", r"\\\1", " ".join(text.split()))


def _answer(request: ResponderRequest, said: str, wish: Wanted, speech: _Speech) -> str:
    people = list({person.id: person for person in (*request.inner_circle, *request.relevant_people)}.values())
    match wish.wish:
        case "greeting":
            return speech("greeting", persona=request.persona_name)
        case "thanks":
            return speech("thanks")
        case "circle" if wish.circle:
            return _circle(wish.circle, people, speech)
        case "question":
            return _question(request, said, people, speech)
    return _news(said, people, speech)


def _circle(circle: Circle, people: Sequence[Person], speech: _Speech) -> str:
    wanted_circles = {circle, Circle.WORK_OUTER} if circle is Circle.WORK_INNER else {circle}
    inside = [person for person in people if person.circle in wanted_circles][:_MAX_LISTED]
    label = speech(circle.value)
    if not inside:
        return speech("circle-nobody", circle=label)
    return "\n".join((speech("circle-list", circle=label), *(f"- {_line(person)}" for person in inside)))


def _line(person: Person) -> str:
    bio = _plain(person.bio)
    return f"{_plain(person.display_name)}: {bio}" if bio else _plain(person.display_name)


def _question(request: ResponderRequest, said: str, people: Sequence[Person], speech: _Speech) -> str:
    named = _named(said, people) or _of_role(said, people) or _named(request.query, people)
    if named:
        return "\n".join(speech.person(person) for person in named[:_MAX_QUOTED])
    asked = asked_name(said)
    strangers = [sighting.name for sighting in find_people(said, speech.language)] or ([asked] if asked else [])
    if strangers:
        return speech("unknown", names=speech.names([_plain(name) for name in dict.fromkeys(strangers)]))
    if request.relevant_people:
        likely = request.relevant_people[:_MAX_QUOTED]
        return "\n".join((speech("perhaps"), *(f"- {speech.person(person)}" for person in likely)))
    return speech("nothing")


def _named(text: str, people: Sequence[Person]) -> list[Person]:
    """The people a text names, most plainly first."""
    boosts = name_boosts(text, {person.id: names_of(person) for person in people})
    named = [person for person in people if boosts.get(person.id, 0) >= _NAMED]
    return sorted(named, key=lambda person: -boosts[person.id])


def _of_role(text: str, people: Sequence[Person]) -> list[Person]:
    """Those who were called what the question calls somebody: "What does my brother do?" finds "my brother Tom"."""
    asked = _roles(text)
    return [person for person in people if asked & _roles(person.bio)]


def _roles(text: str) -> set[str]:
    """The dictionary forms of the role words of a text."""
    return {role.word for token in tokens(text) for role in relations().get(token.key, ())}


def _news(said: str, people: Sequence[Person], speech: _Speech) -> str:
    known = mentions(said, {person.id: names_of(person) for person in people})
    written = {form.casefold() for form in known.values()}
    old = [_plain(person.display_name) for person in people if person.id in known]
    sightings = [
        sighting for sighting in find_people(said, speech.language) if sighting.written.casefold() not in written
    ]
    new = list(dict.fromkeys(_plain(sighting.name) for sighting in sightings))
    parts = [
        speech("noted", names=speech.names(new), count=len(new)) if new else "",
        speech("noted-known", names=speech.names(old)) if old else "",
    ]
    return " ".join(filter(None, parts)) or speech("heard")
