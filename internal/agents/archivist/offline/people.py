"""Reads a transcript by rules: what the owner said of each person, and in which lines."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from internal.agents.archivist.offline.bio_quotes import asks
from internal.agents.archivist.offline.kinship import called_so, gender_fits, kin_in, meaning
from internal.agents.model import Language, TranscriptLine
from internal.agents.role_words import calling
from internal.language.commands.amendments import amend_lines
from internal.language.commands.recognise import is_command
from internal.language.discretion.recipients import only_orders_words
from internal.language.kinship.words import Relation, circle_through
from internal.language.names.introductions import is_own_name
from internal.language.names.mentions import NameMention, find_people, gender_of
from internal.language.names.name_words import is_fond_form, name_words
from internal.language.names.person_names import mentions, name_boosts, same_person_reason
from internal.language.text.morphology import Gender
from internal.language.text.spelling import name_key, sentence_spans, text_language, tokens, words
from internal.people.model import Circle, Person, names_of

_IDENTITY = re.compile(
    r"\W{0,3}(?:это и есть|он же|она же|він же|вона ж|это|це|то|is actually|is|aka|also known as|=|—|–)"
    r"(?:\s+(?:это|це))?\W{0,3}",
    re.IGNORECASE,
)
_MOST_PEOPLE = 100
"""Most people of one transcript, each compared with each new name; more are a list and no conversation."""
_MOST_RECENT = 3
"""The number of people named last whom "she" may mean."""
_SURELY = 0.75
"""Least boost of a sure match: a first name of the known name has 0.8, in the other alphabet 0.76, short forms less."""
_PRONOUNS: Mapping[str, Gender | None] = {
    **dict.fromkeys(words("он его ему ним нем він його йому ним he his him"), "masc"),
    **dict.fromkeys(words("она ее ей ней вона її їй нею she her"), "femn"),
    **dict.fromkeys(words("это це"), None),
}


@dataclass(slots=True)
class Dossier:
    """The statements of one conversation about one person. `person_id` is None for somebody new."""

    person_id: int | None
    names: list[str] = field(default_factory=list)
    username: str | None = None
    circle: str | None = None
    gender: Gender | None = None
    roles: set[str] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)
    said: list[str] = field(default_factory=list)

    def add_name(self, name: str) -> None:
        if name_key(name) not in {name_key(known) for known in self.names}:
            self.names.append(name)

    def take(self, mention: NameMention) -> None:
        """Adds the data of a mention; the last circle wins."""
        if not (mention.username and mention.username == mention.name and self.names):
            self.add_name(mention.name)
        self.username = mention.username or self.username
        self.circle = mention.circle or self.circle
        self.gender = gender_of(mention) or self.gender
        self.roles |= {mention.role} if mention.role else set()


@dataclass(frozen=True, slots=True)
class Identity:
    """The owner's statement that two names are one person."""

    one: Dossier
    other: Dossier
    line: int
    sentence: str


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """A sentence: the people it names, in order, and those it continues to speak of. `start` is its place in the line.

    `speaker` None is the owner. `kin` are the owner's known relatives whom it calls by kinship alone, by the meaning of
    the word.
    """

    line: TranscriptLine
    start: int
    text: str
    named: Sequence[tuple[NameMention, Dossier]]
    continued: Dossier | None
    speaker: Dossier | None = None
    kin: Mapping[str, Dossier] = field(default_factory=dict)


class Reading:
    """The dossiers of a transcript, in the order in which people are first named."""

    def __init__(self, people: Sequence[Person], default: Language) -> None:
        self._people = {person.id: person for person in people}
        self._known = {person.id: names_of(person) for person in people}
        self._by_telegram = {person.telegram_id: person for person in people if person.telegram_id is not None}
        self.language = default
        self._recent: list[Dossier] = []
        self.dossiers: list[Dossier] = []
        self.identities: list[Identity] = []
        self.said: list[SentenceReading] = []
        self.heard: list[SentenceReading] = []

    def read_all(self, lines: Sequence[TranscriptLine]) -> None:
        """Reads lines one after another, each as corrected by a line that only corrects it."""
        for line in amend_lines(lines, lambda one: (one.text, one.at) if one.owners_word else None):
            self.read(line)

    def read(self, line: TranscriptLine) -> None:
        """Reads one line. Only the owner's own lines count for statements about him and for the people he means."""
        if not line.owners_word:
            self._hear(line)
            return
        spans = sentence_spans(line.text)
        orders = {n for n, (start, end) in enumerate(spans) if is_command(line.text[start:end], line.at)}
        sightings = [one for one in self._sightings(line.text) if not is_own_name(one, line.text)]
        named = self._by_sentence([one for one in sightings if one.sentence not in orders], line)
        for number, (start, end) in enumerate(spans):
            if number in orders:
                continue
            inside = named.get(number, [])
            sentence = line.text[start:end]
            continued = next(iter(self._continued(sentence)), None)
            kin = self._kin(sentence)
            self.said.append(SentenceReading(line, start, sentence, inside, continued, kin=kin))
            self._sentence(line, sentence, inside)
            self._speak_of(kin.values())

    def _hear(self, line: TranscriptLine) -> None:
        """Reads another speaker's line: only he and people named there by full names are known.

        "My sister Anna" is his sister, and his Anna may be another one than the owner's.
        """
        if line.role != "user" or line.own or line.forwarded_from is not None:
            return
        speaker = self._speaker(line)
        if speaker is None:
            return
        full = [one for one in self._sightings(line.text) if len(name_words(one.name)) > 1 and one.role is None]
        named = self._by_sentence([replace(one, circle=None) for one in full], line)
        for number, (start, end) in enumerate(sentence_spans(line.text)):
            self.heard.append(SentenceReading(line, start, line.text[start:end], named.get(number, []), None, speaker))

    def _by_sentence(
        self, sightings: Sequence[NameMention], line: TranscriptLine
    ) -> dict[int, list[tuple[NameMention, Dossier]]]:
        """The people meant by the names of each sentence."""
        named: dict[int, list[tuple[NameMention, Dossier]]] = {}
        for mention in sightings:
            subject = self._subject(mention, line)
            if subject is not None:
                named.setdefault(mention.sentence, []).append((mention, subject))
        return named

    def _speaker(self, line: TranscriptLine) -> Dossier | None:
        """The speaker: by the id of a message, else by name and surname; None for a channel, a login, a bot."""
        known = next((self._by_telegram[one] for one in line.telegram_ids if one in self._by_telegram), None)
        if known is not None:
            return self._known_dossier(known)
        found = self._sightings(line.speaker)
        if len(found) != 1 or found[0].written != line.speaker or len(name_words(found[0].name)) < 2:
            return None
        return self._subject(found[0], line)

    def _known_dossier(self, person: Person) -> Dossier:
        found = next((one for one in self.dossiers if one.person_id == person.id), None)
        if found is None:
            found = Dossier(person.id, [person.display_name], person.username)
            self.dossiers.append(found)
        return found

    def _sightings(self, text: str) -> list[NameMention]:
        """Names found by the finder, and known people found only by the index of their names."""
        found = find_people(text, text_language(text, self.language))
        for written in mentions(text, self._known).values():
            start = text.find(written)
            if start >= 0 and not any(one.start < start + len(written) and start < one.end for one in found):
                number = next(n for n, (_, end) in enumerate(sentence_spans(text)) if start < end)
                found.append(NameMention(written, written, start, start + len(written), number))
        return sorted(found, key=lambda mention: mention.start)

    def _subject(self, mention: NameMention, line: TranscriptLine) -> Dossier | None:
        """The person meant by a mention; None if it fits several known people."""
        meant = self._meant(mention)
        owner = self._owner_of(mention.username)
        if owner is not None and owner != meant:
            if isinstance(meant, int):
                self._same_username(mention, meant, owner, line)
            meant = owner
        if meant == "several":
            return None
        person = meant if isinstance(meant, int) else None
        full = len(self.dossiers) >= _MOST_PEOPLE
        return self._found(mention, person) if full else self._dossier(mention, person)

    def _dossier(self, mention: NameMention, meant: int | None) -> Dossier:
        dossier = self._found(mention, meant)
        if dossier is None:
            dossier = Dossier(meant, [mention.name], mention.username)
            self.dossiers.append(dossier)
        return dossier

    def _found(self, mention: NameMention, meant: int | None) -> Dossier | None:
        for dossier in self.dossiers:
            if meant is not None and dossier.person_id == meant:
                return dossier
            if meant is None and dossier.person_id is None and _same(dossier, mention):
                return dossier
        return None

    def _same_username(self, mention: NameMention, meant: int, owner: int, line: TranscriptLine) -> None:
        """Handles "Маша (@masha)" with @masha known under another name: one username is one person."""
        start, end = sentence_spans(line.text)[mention.sentence]
        one, other = self._dossier(replace(mention, username=None), meant), self._dossier(mention, owner)
        one.lines.add(line.number)
        self.identities.append(Identity(one, other, line.number, line.text[start:end].strip()))

    def _owner_of(self, username: str | None) -> int | None:
        known = mentions(f"@{username}", self._known) if username else {}
        return next(iter(known), None)

    def _meant(self, mention: NameMention) -> int | str | None:
        """The id of the known person with this name, "several", or None for somebody new."""
        found = mentions(mention.name, self._known) or mentions(mention.written, self._known)
        fitting = [person for person in found if not self._contradicts(mention, person)]
        if len(fitting) == 1:
            return fitting[0]
        exact = [person for person, boost in name_boosts(mention.name, self._known).items() if boost >= _SURELY]
        if len(exact) == 1 and any(is_fond_form(mention.name, name) for name in self._known[exact[0]]):
            return exact[0]
        return "several" if not found and len(exact) > 1 and len(name_words(mention.name)) == 1 else None

    def _contradicts(self, mention: NameMention, person: int) -> bool:
        """A fuller name than the known one is the same person only if the known one is a surname.

        In the other alphabet a name is weaker evidence: then kinship and gender must not speak against it.
        """
        if self._foreign(mention, person) and self._another(mention, self._people[person]):
            return True
        written = name_words(mention.name)
        for name in self._known[person]:
            known = name_words(name)
            if not name.startswith("@") and same_person_reason(name, mention.name) is not None:
                return len(written) > len(known) and all(word.kind == "first" for word in known)
            if name_key(name) == name_key(mention.name):
                return False
        return len(written) > 1

    def _foreign(self, mention: NameMention, person: int) -> bool:
        names = [name for name in self._known[person] if not name.startswith("@")]
        return all(name.isascii() != mention.name.isascii() for name in names)

    @staticmethod
    def _another(mention: NameMention, person: Person) -> bool:
        """Whether a mention is another person: my colleague Masha is not the sister Маша, my brother Sasha not Саша."""
        genders = {mention.gender, calling(person).gender} - {None}
        if len(genders) > 1:
            return True
        circles = {mention.circle, person.circle.value} - {None, Circle.OTHER.value}
        return len(circles) > 1 and Circle.FAMILY.value in circles

    def _sentence(self, line: TranscriptLine, sentence: str, inside: Sequence[tuple[NameMention, Dossier]]) -> None:
        ordered = only_orders_words(sentence)
        if (asks(sentence) and not ordered) or is_command(sentence, line.at, changes=True):
            self._speak_of(dossier for _, dossier in inside)
            return
        for mention, dossier in inside:
            dossier.take(self._related(mention))
        if self._identify(line, sentence, inside):
            return
        meant = [dossier for _, dossier in inside] or list(self._continued(sentence))
        for subject in {id(dossier): dossier for dossier in meant}.values():
            subject.said += [] if ordered else [sentence]  # somebody is named by an order, and nothing told of him
            subject.lines.add(line.number)
        self._speak_of(meant)

    def _related(self, mention: NameMention) -> NameMention:
        """The mention with the circle that follows from a known person whose relative or colleague it is."""
        if mention.of is None:
            return mention
        name, circle = mention.of
        known = {self._people[number].circle.value for number in mentions(name, self._known)}
        circles = {
            one.circle for one in self.dossiers if one.circle and name_key(name) in map(name_key, one.names)
        } or known
        return replace(mention, circle=circle_through(circles.pop(), circle)) if len(circles) == 1 else mention

    def _speak_of(self, dossiers: Iterable[Dossier]) -> None:
        for dossier in dossiers:
            self._recent = [dossier, *(one for one in self._recent if one is not dossier)][:_MOST_RECENT]

    def _kin(self, sentence: str) -> dict[str, Dossier]:
        """The known relatives whom a sentence calls by kinship; after an unknown one, "she" means nobody else."""
        found: dict[str, Dossier] = {}
        for relation in kin_in(sentence):
            dossiers = [one for one in self.dossiers if meaning(relation.word) in map(meaning, one.roles)]
            spoken = {one.person_id for one in dossiers}
            known = [number for number in called_so(relation.word, self._people) if number not in spoken]
            if len(dossiers) + len(known) != 1:
                self._recent = [one for one in self._recent if not gender_fits(one.gender, relation.gender)]
                continue
            found[meaning(relation.word)] = dossiers[0] if dossiers else self._relative(known[0], relation.gender)
        return found

    def relative(self, kin: Relation) -> Dossier | None:
        """The owner's relative meant by a word of kinship, a new one if none fits; None if several fit."""
        same = [one for one in self.dossiers if meaning(kin.word) in {*map(meaning, (*one.roles, *one.names))}]
        known = called_so(kin.word, self._people)
        if len(same) == 1 or (not same and len(known) == 1):
            return same[0] if same else self._relative(known[0], kin.gender)
        if same or known:
            return None
        dossier = Dossier(None, [kin.word.capitalize()], circle=kin.circle, gender=kin.gender, roles={kin.word})
        self.dossiers.append(dossier)
        return dossier

    def _relative(self, person: int, gender: Gender | None) -> Dossier:
        dossier = next((one for one in self.dossiers if one.person_id == person), None)
        if dossier is None:
            dossier = Dossier(person, [self._people[person].display_name], gender=gender)
            self.dossiers.append(dossier)
        return dossier

    def _identify(self, line: TranscriptLine, sentence: str, inside: Sequence[tuple[NameMention, Dossier]]) -> bool:
        if len(inside) != 2 or inside[0][1] is inside[1][1]:
            return False
        (first, one), (second, other) = inside
        between = line.text[first.end : second.start]
        if not _IDENTITY.fullmatch(between):
            return False
        one.lines.add(line.number)
        other.lines.add(line.number)
        self.identities.append(Identity(one, other, line.number, sentence.strip()))
        return True

    def _continued(self, sentence: str) -> Iterator[Dossier]:
        """The person meant by "он" at the beginning of a sentence: the last named one of that gender."""
        opening = [token.key for token in tokens(sentence)[:2]]
        pronoun = next((word for word in opening if word in _PRONOUNS), None)
        if pronoun is None:
            return
        gender = _PRONOUNS[pronoun]
        yield from [one for one in self._recent if gender_fits(one.gender, gender)][:1]


def _same(dossier: Dossier, mention: NameMention) -> bool:
    """Whether a mention is a case form or a part of a dossier's name, and so means the same person."""
    if mention.username and dossier.username == mention.username:
        return True
    return any(
        name_key(name) == name_key(mention.name)
        or same_person_reason(name, mention.name) in ("declension", "prefix", "patronymic")
        or is_fond_form(name, mention.name)
        for name in dossier.names
    )
