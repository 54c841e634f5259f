"""What the words of names and roles may be: the case, the gender, and the meaning of a role word."""

from collections.abc import Sequence
from dataclasses import dataclass

from internal.language.kinship.words import MY, Relation, possessor, relations
from internal.language.names.given_names import readings_as
from internal.language.text.morphology import dictionary_languages, parses
from internal.language.text.spelling import Token


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A sequence of tokens that is one name; `kinds` of its words: first, patronymic, surname, username."""

    start: int
    end: int
    kinds: tuple[str, ...]


def is_genitive_of_role(text_tokens: Sequence[Token], span: NameSpan) -> bool:
    """Whether the name is a genitive after a role word: жена Петрова is about a wife, and about Петров.

    A single surname that may be either (Петрова) is taken for the genitive; with a first name it agrees with the
    role.
    """
    if not span.start or not text_tokens[span.start].joined:
        return False
    role = text_tokens[span.start - 1]
    owned = span.start > 1 and text_tokens[span.start - 2].key in MY
    if role.key not in relations() or role.latin or owned:
        return False
    if of_other_gender(text_tokens, span.start - 1, span):
        return True
    cases, role_cases = name_cases(text_tokens, span), word_cases(role)
    apart = span.kinds == ("surname",) or not cases & role_cases
    return "gent" in cases and "gent" not in role_cases and apart


def of_other_gender(text_tokens: Sequence[Token], position: int, span: NameSpan) -> bool:
    """Whether a name may be in the genitive and, in the case of the role before it, has not the role's gender."""
    genders = {one.gender for one in meanings(text_tokens[position])}
    readings = readings_as(text_tokens[span.start].text, span.kinds[0])
    cases = word_cases(text_tokens[position])
    alike = [one for one in readings if one.case in cases and one.gender in (*genders, None)]
    return None not in genders and any(one.case == "gent" for one in readings) and not alike


def meaning(token: Token) -> Relation:
    """The first meaning of a role word, or of the one in a possessive adjective."""
    return (meanings(token) or relations()[possessor(token.key)])[0]


def meanings(token: Token) -> tuple[Relation, ...]:
    key = token.key
    for prefix in ("ex-", "экс-", "екс-"):
        key = key.removeprefix(prefix)
    shouted = token.text.isupper()
    return relations().get(key, ()) if token.opens or shouted or not token.capital else ()


def agrees(text_tokens: Sequence[Token], position: int, span: NameSpan) -> bool:
    """Whether a role and its name have the same case: in "брат Оли приехал" Оля is not the brother."""
    if text_tokens[position].latin or text_tokens[span.start].latin:
        return True
    name, role = name_cases(text_tokens, span), word_cases(text_tokens[position])
    return not name or not role or bool(name & role)


def name_cases(text_tokens: Sequence[Token], span: NameSpan) -> frozenset[str]:
    shared: frozenset[str] = frozenset()
    for token, kind in zip(text_tokens[span.start : span.end], span.kinds, strict=True):
        cases = frozenset(reading.case for reading in readings_as(token.text, kind))
        shared = cases if not shared else (shared & cases or shared)
    return shared


def word_cases(token: Token) -> frozenset[str]:
    """The cases of a word; guesses at words without a dictionary entry count only if there are no others."""
    found = [
        (parse.is_known, str(parse.tag.case))
        for language in dictionary_languages(token.key)
        if language != "en"
        for parse in parses(token.key, language)
        if parse.tag.case is not None and parse.tag.POS in ("NOUN", "ADJF")
    ]
    known = any(is_known for is_known, _ in found)
    return frozenset(case for is_known, case in found if is_known or not known)
