"""Whether a line is about those whom a question is about."""

from collections.abc import Sequence, Set
from datetime import timedelta
from itertools import takewhile
from typing import Final

from internal.agents.responder.offline.said_line import SaidLine
from internal.agents.role_words import roles_of
from internal.language.commands.vocabulary import readings
from internal.language.kinship.kinds import kin_of_word
from internal.language.kinship.words import relations
from internal.language.names.mentions import find_people
from internal.language.names.name_words import may_be_pet_name
from internal.language.names.person_names import NAMED, name_boosts
from internal.language.search.subjects import besides_change, subjects_of, tells_change
from internal.language.search.terms import query_terms, terms_in
from internal.language.text.spelling import Language, text_language, tokens, words

SPEAKER: Final = words("я мы ми i we i'm we're i've we've")
OTHERS: Final = words(
    "он она они вин він вона вони he she they he's she's they're его её ее их його її їх his her their"
)
_NOBODY: Final = words("они вони they")
"""Those who act on the owner without being named: "they gave me a raise"."""
_LINKS: Final = words("а и но and but а та але now теперь тепер")
_TOUCHED: Final = words("меня мне мной нас нам мене мені мною me us")
_OWN: Final = words("мой моя мои наш наша наши мій моя мої наш наша наші my our one")
_BEGINS: Final = 3
"""Words of a line among which somebody else stands whom it is about."""
_BURST: Final = timedelta(minutes=2)
"""Longest pause after which a message goes on from the one before: "sold the Lada", "got himself a Kia"."""


class AskedPeople:
    """Whom a question is about, by name or kinship; nobody: the owner."""

    def __init__(self, said: str, names: Sequence[str], roles: Set[str], language: Language, asked: Set[str]) -> None:
        self._language, self._asked = language, asked
        self._names = [*names, *(one.name for one in find_people(said, text_language(said, language)))]
        self.terms = {term for name in self._names for word in query_terms(name) for term, _ in word}
        self._roles = roles_of(said) | roles
        self.named = bool(self.terms or self._roles)

    def spoken_of(self, text: str) -> bool:
        """Whether a line names those asked about, or begins with "he"; the owner says "I" or "we"."""
        said = tokens(text)
        if self.named:
            return self.same(text, terms_in(text)) or any(token.key in OTHERS for token in said[:_BEGINS])
        return any(token.key in SPEAKER for token in said)

    def may_be_about(self, subjects: Set[str]) -> bool:
        """Whether a line that touches these subjects may tell what is asked."""
        return not subjects or not self._asked or bool(subjects & self._asked)

    def same(self, text: str, terms: Set[str]) -> bool:
        """Whether a line names one of those asked about, or is the owner's about himself."""
        if self.named:
            there = roles_of(text)
            return (
                bool(self.terms & terms)
                or name_boosts(text, {0: self._names}).get(0, 0.0) >= NAMED  # in another form: Андрюха, Дэн
                or any(_same_kinship_word(one, other) for one in self._roles for other in there)
                or any(may_be_pet_name(token.key, name) for token in tokens(text)[:_BEGINS] for name in self._names)
            )
        return self.not_another(text)

    def not_another(self, text: str) -> bool:
        """Whether a line is not about somebody else, if the question is about the owner."""
        said = tokens(text)
        begins = said[:_BEGINS]
        if self.named or not begins or any(token.key in SPEAKER for token in begins):
            return True
        touched = any(token.key in _TOUCHED for token in said)
        if touched and begins[0].key in _NOBODY:
            return True
        if begins[0].key in OTHERS or (len(begins) > 1 and begins[0].key in _LINKS and begins[1].key in OTHERS):
            return False
        if begins[0].key in _OWN and len(begins) > 1 and subjects_of(begins[1].text) & self._asked:
            return True
        if begins[0].key in _OWN and not touched and any(token.key in relations() for token in begins[1:]):
            return False
        return not self.begins_with_somebody(text)

    def may_go_on(self, text: str) -> bool:
        """Whether a line that takes up a word of another may be about those asked about, as nobody else is named."""
        if not self.named or self.same(text, terms_in(text)):
            return self.not_another(text)
        begins = [token.key for token in tokens(text)[:_BEGINS]]
        return SPEAKER.isdisjoint(begins) and _OWN.isdisjoint(begins[:1]) and not self.begins_with_somebody(text)

    def continue_in(self, found: Sequence[SaidLine], line: SaidLine) -> bool:
        """Whether a line of no other subject goes on from what was just said: of nobody, or of "her"."""
        last, of, keys = found[-1], subjects_of(line.text), {token.key for token in tokens(line.text)}
        if line.speaker or line.in_file or not last.at or not line.at or line.at - last.at > _BURST:
            return False
        if self.begins_with_somebody(line.text) or tokens(line.text)[0].key in {*SPEAKER, *_OWN}:
            return False  # a statement of its own
        if keys & OTHERS or of & self._asked:
            return True
        begun, tells = subjects_of(last.text), last.overrides or tells_change(last.text)
        if not self.may_be_about(subjects_of(besides_change(line.text)) if tells else of):
            return False
        tells = tells or tells_change(line.text)
        if not (tells or (found[1:] and (not begun or begun & self._asked))):
            return False
        within = 1 if "partner" in self._asked else _BEGINS  # a name further on may be that of the new one
        return not self.begins_with_somebody(line.text, within)

    def in_two_lines(self, before: SaidLine, line: SaidLine) -> str:
        """Both lines, if the first names those asked about, and the second, of nobody, goes on at once."""
        goes_on = before.at and line.at and line.at - before.at <= _BURST and self.may_go_on(line.text)
        tells = tells_change(before.text) or tells_change(line.text)
        continued = goes_on and tells and not before.speaker and self.same(before.text, terms_in(before.text))
        return f"{before.text.rstrip(' .')}.\n{line.text}" if continued else ""

    def begins_with_somebody(self, text: str, within: int = _BEGINS) -> bool:
        """Whether a line names somebody, or a relative, at its beginning."""
        found = find_people(text, text_language(text, self._language))
        people = {one.written for one in found if one.name == one.written}
        words = {word for name in people for word in name.split()}
        begins = tokens(text)[:within]
        verbless = list(takewhile(lambda token: not _is_verb(token.text), begins))
        return any(
            ((token.text in people or (token.text in words and token in verbless)) and not subjects_of(token.text))
            or _is_relative(token.key)
            for token in begins
        )


def _same_kinship_word(one: str, other: str) -> bool:
    """Whether two words of kinship mean the same, or are one with other endings: брат and братишка, папа and батя."""
    kin, same = kin_of_word(one), kin_of_word(other)
    if kin and same and kin.kind == same.kind:
        return kin == same or None in (kin.gender, same.gender)
    return any(a.startswith(b[: max(3, len(b) - 2)]) for a, b in ((one, other), (other, one)))


def _is_relative(key: str) -> bool:
    """Whether a word is that of a relative or friend in its dictionary form, which does something itself."""
    return any(one.word == key and one.circle in ("Family", "Friends") for one in relations().get(key, ()))


def _is_verb(word: str) -> bool:
    return any("VERB" in marks for _, marks in readings(word)[:1])
