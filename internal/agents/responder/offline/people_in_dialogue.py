"""The people an answer can be about: known ones, and those whom the owner mentions in this very dialogue.

Until it is archived memory knows nothing of them, while the owner was just promised that it will.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from internal.agents.archivist.offline.bio_quotes import asks, unknown_of
from internal.agents.archivist.offline.people import Dossier, Reading
from internal.agents.model import DialogueLine, ResponderRequest, TranscriptLine
from internal.agents.responder.offline.intent import asks_about_somebody, intent_of
from internal.agents.role_words import calling, roles_of, says_more_than_names
from internal.language.commands.recognise import is_order
from internal.language.names.name_words import name_words
from internal.language.names.person_names import NAMED, name_boosts
from internal.language.search.terms import query_terms
from internal.language.text.spelling import sentence_spans, tokens
from internal.people.model import Person, names_of

_CONTENT = re.compile(r"[^\W\d_]{4,}")
_STEM = 5
"""Letters by which two words count as one, whatever their endings."""
_MOST_LIKELY = 3
_LINES = 60
"""Most lines of a dialogue that are read, as many as an archivist reads: 20 ms, 0.5 s for words not seen before."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Somebody known, somebody just mentioned, or both. `before` and `latest`: said before, in the last lines."""

    person: Person | None
    names: tuple[str, ...]
    roles: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    news: str = ""
    before: bool = False
    latest: bool = False

    @property
    def name(self) -> str:
        """The stored name, else the fullest one of the dialogue."""
        return self.person.display_name if self.person else max(self.names, key=lambda name: len(name_words(name)))


def subjects(request: ResponderRequest, latest: int) -> list[Subject]:
    """Everybody known, then everybody new in the dialogue; `latest` counts the lines that are to be answered."""
    people = list({person.id: person for person in (*request.inner_circle, *request.relevant_people)}.values())
    lines = request.dialogue[-_LINES:]
    dossiers = _dossiers(request, people, lines)
    of_person = {dossier.person_id: dossier for dossier in dossiers}
    fresh = len(lines) - latest + 1
    known = [_remembered(person, of_person.get(person.id), fresh) for person in people]
    new = [_with_news(_empty(dossier), dossier, fresh) for dossier in dossiers if dossier.person_id is None]
    return [*known, *new]


def _dossiers(request: ResponderRequest, people: Sequence[Person], lines: Sequence[DialogueLine]) -> list[Dossier]:
    reading = Reading(people, request.owner.language)
    numbered = enumerate(lines, start=1)
    reading.read_all(
        [
            TranscriptLine(n, one.role, "", one.at or request.now, one.text, author_of(one)).unquoted()
            for n, one in numbered
        ]
    )
    return [dossier for dossier in reading.dossiers if dossier.lines]


def _remembered(person: Person, dossier: Dossier | None, fresh: int) -> Subject:
    called = calling(person)
    subject = Subject(person, names_of(person), called.roles, called.loose, before=True)
    return _with_news(subject, dossier, fresh) if dossier else subject


def _empty(dossier: Dossier) -> Subject:
    names = [*dossier.names, *([f"@{dossier.username}"] if dossier.username else [])]
    return Subject(None, tuple(names))


def _with_news(subject: Subject, dossier: Dossier, fresh: int) -> Subject:
    bio = subject.person.bio if subject.person else ""
    return replace(
        subject,
        roles=subject.roles | dossier.roles,
        news=unknown_of(bio, [one for one in dossier.said if intent_of(one).wish != "question"]),
        before=subject.before or min(dossier.lines) < fresh,
        latest=max(dossier.lines) >= fresh,
    )


def people_named_in(text: str, among: Sequence[Subject]) -> list[Subject]:
    """The people whom a text names outright, most plainly first; else those whom it names in small letters (олени)."""
    names = {number: subject.names for number, subject in enumerate(among)}
    for written in (text, _CONTENT.sub(lambda word: word[0].title() if query_terms(word[0]) else word[0], text)):
        boosts = name_boosts(written, names)
        if found := [number for number in boosts if boosts[number] >= NAMED]:
            return [among[number] for number in sorted(found, key=lambda number: (-boosts[number], number))]
    return []


def people_called_in(text: str, among: Sequence[Subject]) -> list[Subject]:
    """The people whom the owner calls what the text calls somebody; a role beside a name counts more."""
    asked = roles_of(text)
    return [one for one in among if asked & one.roles] or [one for one in among if asked & one.loose]


def roles_of_one(found: Sequence[Subject], known: Sequence[Subject]) -> frozenset[str]:
    """What the owner calls the one person who was found, if he calls nobody else so."""
    if len(found) != 1:
        return frozenset()
    others = frozenset[str]().union(*(one.roles | one.loose for one in known if one != found[0]))
    return found[0].roles - others


def own_words(request: ResponderRequest, names: Sequence[str], roles: frozenset[str]) -> str:
    """The owner's own latest sentences of this dialogue that name one of these, or use one of these roles."""
    lines = [line for line in request.dialogue[-_LINES:] if line.role == "user" and not author_of(line)]
    spoken = [line.text[start:end] for line in lines for start, end in sentence_spans(line.text)]
    fitting = [one for one in spoken if not asks(one) and (roles & roles_of(one) or _names_one(one, names))]
    telling = [one for one in fitting if intent_of(one).wish == "news"]
    return unknown_of("", [one for one in telling if not is_order(one, request.now, changes=True)])


def _names_one(sentence: str, names: Sequence[str]) -> bool:
    return bool(names) and name_boosts(sentence, {0: names}).get(0, 0.0) >= NAMED


def speaker_of(line: DialogueLine) -> str:
    """The name of the member of a group who wrote a line; empty in a private chat."""
    return (line.metadata or {}).get("speaker", "")


def author_of(line: DialogueLine) -> str | None:
    """The author of a forwarded line; None if it is the owner's own."""
    return (line.metadata or {}).get("forwarded_from")


def likely_people(said: str, relevant: Sequence[Person]) -> list[Person]:
    """The people near in meaning, if the question asks for a person or shares a word with what is known of one."""
    near = [person for person in relevant if says_more_than_names(person)]
    if not asks_about_somebody(said):
        stems = _stems(said)
        near = [person for person in near if stems & _stems(person.bio)]
    return near[:_MOST_LIKELY]


def _stems(text: str) -> set[str]:
    """The first letters of long words: дождь and дождя, garden and gardening."""
    return {token.key[:_STEM] for token in tokens(text) if len(token.key) >= _STEM}
