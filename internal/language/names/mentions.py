"""Finds people's names in a message: their positions, their nominatives, and the relations stated around them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from internal.language.kinship.words import CircleName, Relation, circle_through, possessor
from internal.language.names import mention_words as marks
from internal.language.names.given_names import gender_of_name, given_names, is_english_given_name
from internal.language.names.name_words import is_given_name, is_patronymic
from internal.language.names.nominative import name_context, nominative
from internal.language.names.role_readings import NameSpan, is_genitive_of_role
from internal.language.names.role_words import StatedRelation, relation_of
from internal.language.text.english import IDEAS, NOT_NAMES, ORDINARY_NAMES, PERSONAL_VERBS, opens_sentence
from internal.language.text.morphology import Gender, name_readings, ordinary
from internal.language.text.spelling import Language, Token, sentence_spans, tokens


@dataclass(frozen=True, slots=True)
class NameMention:
    """A person named in a text. `name` is nominative, `start` and `end` count characters, `sentence` counts from 0."""

    name: str
    written: str
    start: int
    end: int
    sentence: int
    gender: Gender | None = None
    surname: bool = False
    username: str | None = None
    circle: CircleName | None = None
    role: str | None = None
    """The dictionary form of the role word beside the name: sister. Only for a relation to the owner."""
    of: tuple[str, CircleName] | None = None
    """The name of the person whose relative or colleague it is, if his own circle is unknown, and the circle to him."""
    kin: tuple[Relation, ...] = ()
    """The roles that lead to the owner, or to `kin_of`; the first is that of the named person."""
    kin_of: str | None = None


def find_people(text: str, language: Language) -> list[NameMention]:
    """The people that a message of this language names, in order. Some 5 ms for 20 new words.

    Left out are places, months, companies, streets, works of art, ordinary words, kinship words without a name, and
    words at the start of a sentence that are more likely ordinary words (Надежда, Will).
    """
    return [one for one in _MentionFinder(text, language).read() if not marks.no_name(text, one.start, one.end)]


class _MentionFinder:
    """One pass over the tokens of one text."""

    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._language = language
        self._tokens = tokens(text)
        self._bounds = sentence_spans(text)
        self._found: list[NameMention] = []

    def read(self) -> list[NameMention]:
        by_sentence = groupby(self._spans(), key=lambda span: self._sentence(self._tokens[span.start].start))
        for _, group in by_sentence:
            spans, listed = list(group), False
            for span in spans:
                mention, several = self._mention(span, spans)
                if listed and mention.circle is None and self._goes_on(mention):
                    mention, several = replace(mention, circle=self._found[-1].circle), True
                self._found.append(mention)
                listed = several
        return _join_usernames(self._found, self._text)

    def _goes_on(self, mention: NameMention) -> bool:
        """Whether a name continues the list of the one before: мои дети Миша и Даша."""
        between = self._text[self._found[-1].end : mention.start]
        return len(between) <= marks.LONGEST_AND and marks.AND.fullmatch(between) is not None

    def _spans(self) -> list[NameSpan]:
        found: list[NameSpan] = []
        position = 0
        while position < len(self._tokens):
            token = self._tokens[position]
            if token.username:
                kinds: tuple[str, ...] = () if token.key.endswith("bot") else ("username",)
            elif token.latin:
                kinds = self._latin(position)
            else:
                kinds = self._cyrillic(position)
            if kinds and not (token.username is False and self._is_public(position)):
                found.append(NameSpan(position, position + len(kinds), kinds))
            position += max(len(kinds), 1)
        return found

    def _is_public(self, position: int) -> bool:
        """Whether a name is that of a street, a work or a public figure: "улица академика Королёва"."""
        start = self._sentence_start(position)
        before = [token.key for token in self._tokens[max(start, position - 2) : position]]
        if not before or before[-1] in marks.FROM_SOMEBODY:
            return False
        if before[-1] in marks.THING_WORDS and not given_names(self._tokens[position].text):
            return True
        return any(key in marks.PUBLIC for key in before)

    def _sentence_start(self, position: int) -> int:
        begin, _ = self._bounds[self._sentence(self._tokens[position].start)]
        return bisect_left(self._tokens, begin, key=lambda token: token.start)

    def _sentence(self, index: int) -> int:
        return bisect_right(self._bounds, index, key=lambda bounds: bounds[1])

    # --- Cyrillic

    def _cyrillic(self, position: int) -> tuple[str, ...]:
        """The kinds of the words of the name that begins here; empty if none does."""
        kind = self._kind(position)
        if kind == "first":
            return ("first", *self._after_first(position))
        if kind != "surname":
            return ()
        follower = position + 1
        if self._kind(follower) == "first" and self._adjacent(follower) and self._agree(position, follower):
            return ("surname", "first", *self._patronymic(follower + 1, position))
        return ("surname",)

    def _after_first(self, position: int) -> tuple[str, ...]:
        kinds = self._patronymic(position + 1, position)
        follower = position + 1 + len(kinds)
        if self._adjacent(follower) and self._agree(position, follower) and self._may_follow(follower):
            return (*kinds, "surname")
        return kinds

    def _patronymic(self, position: int, first: int) -> tuple[str, ...]:
        if self._adjacent(position) and is_patronymic(self._tokens[position].text) and self._agree(first, position):
            return ("patronymic",)
        return ()

    def _adjacent(self, position: int) -> bool:
        return position < len(self._tokens) and self._tokens[position].joined and not self._tokens[position].username

    def _may_follow(self, position: int) -> bool:
        """Whether a word after a first name is a surname: it is known as one, or has a capital and no other meaning."""
        token = self._tokens[position]
        if token.latin:
            return token.capital and not token.text.isupper()
        if marks.surname(token) and (token.capital or not ordinary(token.key)):
            return True
        return token.capital and not token.opens and not is_given_name(token.text) and not marks.is_place(token)

    def _agree(self, one: int, other: int) -> bool:
        cases = [_cases(self._tokens[position].text) for position in (one, other)]
        return not all(cases) or bool(cases[0] & cases[1])

    def _kind(self, position: int) -> str | None:
        if position >= len(self._tokens):
            return None
        token = self._tokens[position]
        if token.username or token.latin or len(token.key) < 2:
            return None
        return self._capital_kind(position) if token.capital else self._small_kind(token)

    def _capital_kind(self, position: int) -> str | None:
        token = self._tokens[position]
        if owner := self._owner_of_noun(position):
            return "first" if owner[:1].isupper() else None
        doubtful = token.opens and ordinary(token.key) and not self._followed_by_surname(position)
        doubtful = doubtful and not marks.DAY.match(self._text, token.start + len(token.text))
        if doubtful or (marks.is_place(token) and position and self._tokens[position - 1].key in marks.PLACE_BEFORE):
            return None
        if is_given_name(token.text):
            return "first"
        if marks.surname(token) and not (token.opens and ordinary(token.key)):
            return "surname"
        if ordinary(token.key) or marks.is_place(token):
            return None
        return "surname" if self._introduced(position) or self._acts_like_person(position) else None

    def _owner_of_noun(self, position: int) -> str:
        """The person of a possessive adjective before a noun: Оля of "Олин день", папа of "Папин"; else empty."""
        follower, key = position + 1, self._tokens[position].key
        before_noun = self._adjacent(follower) and not self._tokens[follower].capital
        if not before_noun or not marks.is_noun(self._tokens[follower]) or is_given_name(key):
            return ""
        return (possessor(key) if self._tokens[position].opens else "") or marks.possessor_named(key)

    def _introduced(self, position: int) -> bool:
        """Whether an unknown capitalised word follows a role: after "мой начальник" it is a name."""
        if not position or self._tokens[position - 1].key in marks.PLACE_BEFORE:
            return False  # "my brother moved to Leeds"
        return relation_of(self._tokens, NameSpan(position, position + 1, ("surname",))) is not None

    def _acts_like_person(self, position: int) -> bool:
        """Whether an unknown capitalised word is the subject of a verb of people: "Гульчатай переехала"."""
        follower = position + 1
        if not self._tokens[position].opens or len(self._tokens[position].key) < marks.UNKNOWN:
            return False
        return self._adjacent(follower) and self._tokens[follower].key in marks.HUMAN_VERBS

    def _followed_by_surname(self, position: int) -> bool:
        follower = position + 1
        if not self._adjacent(follower) or not self._tokens[follower].capital:
            return False
        return marks.surname(self._tokens[follower]) or is_patronymic(self._tokens[follower].text)

    def _small_kind(self, token: Token) -> str | None:
        if ordinary(token.key) or len(token.key) < 3:
            return None
        if given_names(token.text):
            return "first"
        if len(token.key) >= 5 and marks.SURNAME_SHAPE.search(token.key) and marks.known_surname(token):
            return "surname"
        return None

    # --- Latin

    def _latin(self, position: int) -> tuple[str, ...]:
        token = self._tokens[position]
        if not token.capital:
            return ("first",) if self._small_latin(position) else ()
        if not self._latin_start(position):
            return ()
        length = 1
        while self._continues(position + length) and length < 4:
            length += 1
        follower = position + length
        if self._adjacent(follower) and self._tokens[follower].key in marks.NOT_PEOPLE_AFTER:
            return ()
        if any(self._tokens[index].key in marks.NOT_PEOPLE_AFTER for index in range(position + 1, follower)):
            return ()
        first = "first" if is_given_name(token.text) else "surname"
        return (first, *("surname",) * (length - 1))

    def _latin_start(self, position: int) -> bool:
        token = self._tokens[position]
        if not _name_like(token):
            return False
        if self._introduced_as_person(position) or marks.HAS_OCCASION.match(self._text, token.start + len(token.text)):
            return True
        if not (is_given_name(token.text) and len(token.key) > 2):
            return False
        if not token.opens or token.key not in ORDINARY_NAMES:
            return True
        if token.key in IDEAS:
            return self._followed_by_personal(position)
        follower = self._tokens[position + 1] if self._adjacent(position + 1) else None
        return follower is None or follower.key in marks.AFTER_NAMES or not opens_sentence(follower.key)

    def _followed_by_personal(self, position: int) -> bool:
        """Whether a surname, a personal verb or a role follows: Hope Miller, Hope called, Joy is my friend."""
        follower = position + 1
        if self._adjacent(follower) and self._tokens[follower].key in PERSONAL_VERBS:
            return True
        if self._continues(follower) and not is_given_name(self._tokens[follower].text):
            return True
        span = NameSpan(position, follower, ("first",))
        bounds = self._bounds[self._sentence(self._tokens[position].start)]
        return relation_of(self._tokens, span, self._text, bounds, [span]) is not None

    def _introduced_as_person(self, position: int) -> bool:
        """Whether words for people precede: Mr, my boss, I met; "with" if two capitalised words follow."""
        if not position:
            return False
        before = self._tokens[position - 1]
        if before.key in marks.TITLES or (self._tokens[position].opens is False and before.key in marks.MEETING):
            return True
        if before.key == "with" and self._continues(position + 1) and not self._continues(position + 2):
            return True
        return self._introduced(position) and not self._tokens[position].opens

    def _continues(self, position: int) -> bool:
        if not self._adjacent(position):
            return False
        token = self._tokens[position]
        if token.key in marks.KEPT_PARTICLES:
            return position + 1 < len(self._tokens) and self._tokens[position + 1].capital
        inside = token.capital and token.latin and not token.opens
        return inside and (_name_like(token) or token.key in marks.NOT_PEOPLE_AFTER)

    def _small_latin(self, position: int) -> bool:
        token = self._tokens[position]
        if len(token.key) < 3 or token.key in ORDINARY_NAMES | NOT_NAMES or not position:
            return False
        if not is_english_given_name(token.text):
            return False
        before = self._tokens[position - 1]
        return (
            before.key in marks.COMPANY
            or relation_of(self._tokens, NameSpan(position, position + 1, ("first",))) is not None
        )

    def _mention(self, span: NameSpan, spans: Sequence[NameSpan]) -> tuple[NameMention, bool]:
        """The mention, and whether its role word stands for several people."""
        first, last = self._tokens[span.start], self._tokens[span.end - 1]
        end = last.start + 1 + len(last.text) if last.username else last.start + len(last.text)
        mention = NameMention(
            name=self._text[first.start : end],
            written=self._text[first.start : end],
            start=first.start,
            end=end,
            sentence=self._sentence(first.start),
            surname="surname" in span.kinds,
        )
        stated = relation_of(self._tokens, span, self._text, self._bounds[mention.sentence], spans)
        gender, several = (stated.relation.gender, stated.relation.plural) if stated else (None, False)
        mention = self._related(mention, stated) if stated else mention
        if span.kinds == ("username",):
            return replace(mention, name=first.text, username=first.text), several
        if first.latin:
            return replace(mention, name=_capitals(mention.name), gender=gender), several
        name, gender = self._restored(span, gender)
        return replace(mention, name=name, gender=gender), several

    def _related(self, mention: NameMention, stated: StatedRelation) -> NameMention:
        """The mention with the circle that the chain of relations from the owner gives."""
        *chain, nearest = [one.circle for one in (stated.relation, *stated.owners)]
        circle: CircleName | None = nearest
        named: str | None = None
        if stated.of is not None:
            of, named = self._owner(stated.of, mention.sentence)
            circle = circle_through(of, nearest)
        for link in reversed(chain):
            circle = circle_through(circle, link)
        mine = not stated.owners and stated.of is None and not stated.relation.plural
        of_whom = (named, nearest) if named and circle is None and not chain else None
        related = replace(mention, circle=circle, role=stated.relation.word or None if mine else None, of=of_whom)
        if stated.of is not None and named is None:
            return related  # a pronoun says whose it is
        return replace(related, kin=(stated.relation, *stated.owners), kin_of=named)

    def _owner(self, of: NameSpan | str, sentence: int) -> tuple[CircleName | None, str | None]:
        """The circle and the name of whose relation is stated; "her" is the only woman named before in the sentence."""
        if isinstance(of, str):
            gender = marks.PRONOUNS.get(of)
            fitting = [one for one in self._found if None in (gender, gender_of(one)) or gender_of(one) == gender]
            begin, same = self._bounds[sentence][0], [one for one in fitting if one.sentence == sentence]
            earlier = [one.key for one in self._tokens if same and begin <= one.start < same[0].start]
            others = any(marks.PRONOUNS.get(key) == gender for key in earlier)  # "his grandpa Lou and his sister"
            names = set() if others or gender is None else {one.name for one in same}
            circle = fitting[-1].circle if fitting and of in marks.PRONOUNS else None
            return circle, names.pop() if len(names) == 1 else None
        name, _ = self._restored(of, None) if not self._tokens[of.start].latin else (self._written(of), None)
        before = [one for one in self._found if one.start == self._tokens[of.start].start]
        return (before[0].circle if before else None), name

    def _written(self, span: NameSpan) -> str:
        return " ".join(token.text for token in self._tokens[span.start : span.end])

    def _restored(self, span: NameSpan, gender: Gender | None) -> tuple[str, Gender | None]:
        before = self._tokens[span.start - 1] if span.start > self._sentence_start(span.start) else None
        follower = self._tokens[span.end] if span.end < len(self._tokens) and self._tokens[span.end].joined else None
        if span.kinds == ("first",) and (owner := self._owner_of_noun(span.start)):
            return owner, gender_of_name(owner)
        around = name_context(
            before.text if before and not before.latin and self._tokens[span.start].joined else None,
            follower.text if follower and not follower.latin else None,
            self._language if self._language != "en" else "ru",
            gender,
        )
        if is_genitive_of_role(self._tokens, span):
            around = replace(around, cases=frozenset({"gent"}))
        written = [token.text for token in self._tokens[span.start : span.end]]
        return nominative(written, span.kinds, around)


def _join_usernames(mentions: Sequence[NameMention], text: str) -> list[NameMention]:
    """Joins a username to the name right before it: Юлия (@yulia) is one person."""
    joined: list[NameMention] = []
    for mention in mentions:
        before = joined[-1] if joined else None
        between = text[before.end : mention.start] if before else ""
        if mention.username and before and not before.username and re.fullmatch(r"[\s,(—–-]{1,4}", between):
            joined[-1] = replace(
                before,
                username=mention.username,
                circle=before.circle or mention.circle,
                role=before.role or mention.role,
            )
        else:
            joined.append(mention)
    return joined


def gender_of(mention: NameMention) -> Gender | None:
    """The gender of a mention, else that of its first name, if all its bearers have the same."""
    return mention.gender or gender_of_name(mention.name)


def _name_like(token: Token) -> bool:
    shouted = token.text.isupper() and len(token.text) > 1
    return token.capital and token.key not in NOT_NAMES and not shouted


def _capitals(name: str) -> str:
    return " ".join(word if word in marks.KEPT_PARTICLES else word[:1].upper() + word[1:] for word in name.split())


def _cases(word: str) -> frozenset[str]:
    return frozenset(reading.case for reading in name_readings(word) if reading.known)
