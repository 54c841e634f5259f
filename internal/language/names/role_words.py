"""Finds the role word of a name and whose role it is: Sarah is my manager, дети моей сестры.

Roles form a chain that ends with the owner, with a name, or with a pronoun: жена (коллеги (Петра)), Peter's wife.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from internal.language.kinship.words import FORMER, MY, Relation, relations
from internal.language.names.mention_words import POSSESSIVE, PRONOUNS
from internal.language.text.morphology import dictionary_languages, name_readings, parses
from internal.language.text.spelling import Token, words

_REACH_BEFORE = 3
_REACH_AFTER = 5
_APPOSITION = re.compile(
    r"\s*(?:[,(—–]|-\s|(?:is|was|'s|это|эта|этот|це|то|ведь|тоже)\b)\s*"
    r"(?:(?:is|was|это|це|он|она|він|вона|he|she|то)(?:'s)?\b)?"
)
_WORK = re.compile(
    r"работа(?:ю|ем|ем вместе|ла|л|ет со мной) (?:с|со|вместе)\b|вместе (?:работа|делаем)|работа\w+ вместе|моей команде"
    r"|нашей команде|працю(?:ю|ємо) (?:з|із|разом)|разом (?:\S+ ){0,4}працю|моїй команді|нашій команді"
    r"|\bworks? with\b|\bworking with\b|\b(?:my|our) team\b",
    re.IGNORECASE,
)
_FRIENDLY = re.compile(r"\bдруж(?:у|им|имо|ит|ить)\b|учились вместе|вчилися разом|grew up with|hang out", re.IGNORECASE)
_NAMING = words("зовут звать звали зовуть звати звали називають named called is")
_NOT_BETWEEN = words("и а но или та але чи of and or but до к ко от від из із з с со у в во для from to with at in")
"""Words that another person follows: "записав батька до кардіолога Олега Романюка"."""


_THEIRS = words("his her their its your his его её ее их его твой твоя твои його її їх їхній їхня їхні твій твоя твої")
_REFLEXIVE = words(
    "свой своя своё свое свои своего своей своему своим свою своих свій своє свої свого своєї своєму своїм своїй своєю"
)
"""Words for the subject's own: "Назар поїхав до своєї мами"."""
_HAS = words("has have had")
_WITH = words("с со з із зі")
_SPEAKER = words("я мы ми мне мені нам меня мене нас мной мною нами")
_DASHES = {"—", "–", "-"}
_SET_OFF = {",", ":", *_DASHES}
_LOOK_BACK = 6
_LONGEST_CHAIN = 4
"""The most relations in a chain."""


@dataclass(frozen=True, slots=True)
class NameSpan:
    """A sequence of tokens that is one name; `kinds` of its words: first, patronymic, surname, username."""

    start: int
    end: int
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatedRelation:
    """A role word beside a name: `relation` as written, and the chain from it to the owner.

    `owners` are the relations in between, the nearest to the name first; the last of them is that to the owner, or to
    `of`: a name of the text, or a pronoun ("" = somebody unknown).
    """

    relation: Relation
    owners: Sequence[Relation] = ()
    of: NameSpan | str | None = None


def relation_of(
    text_tokens: Sequence[Token],
    span: NameSpan,
    text: str = "",
    bounds: tuple[int, int] | None = None,
    spans: Sequence[NameSpan] = (),
) -> StatedRelation | None:
    """The relation that the words around a name state, or None.

    Without `text` only the words directly before the name are read.
    """
    before = _relation_before(text_tokens, span, text, spans)
    if before is not None or not text or bounds is None:
        return before
    return _after(text_tokens, span, text, bounds, spans) or _stated_by_sentence(text_tokens, span, text, bounds, spans)


def _stated(
    text_tokens: Sequence[Token], position: int, span: NameSpan, text: str, spans: Sequence[NameSpan]
) -> StatedRelation:
    """The relation of the role word at this position, with its chain."""
    chain = [position]
    of = _owner(text_tokens, position, span, text, spans) or _possessor(text_tokens, position, text, spans)
    while isinstance(of, int) and of not in chain and len(chain) < _LONGEST_CHAIN:
        chain.append(of)
        of = _owner(text_tokens, of, span, text, spans)
    head, *owners = (_former_or_present(_meanings(text_tokens[index])[0], text_tokens, index) for index in chain)
    return StatedRelation(head, owners, None if isinstance(of, int) else of)


def _owner(
    text_tokens: Sequence[Token], position: int, span: NameSpan, text: str, spans: Sequence[NameSpan]
) -> int | NameSpan | str | None:
    """Whose role this is, by the words beside it: the index of another role, a name, a pronoun; None: the owner's."""
    role, before = text_tokens[position], text_tokens[position - 1]
    if position and role.joined:
        if before.key in MY or before.key in _REFLEXIVE:
            return None if before.key in MY else next((one for one in spans if one.end < position), None)
        if before.key in _THEIRS or (before.capital and POSSESSIVE.fullmatch(before.key)):
            return before.key if before.key in _THEIRS else ""
        if role.latin and text[before.end : before.end + 1] in ("'", "’"):
            return _someone(text_tokens, position - 1, spans) or ""
    following = text_tokens[position + 1 : position + 2]
    if not role.latin:
        return _in_genitive(text_tokens, position, span, spans)
    if not following or following[0].key != "of":
        return None
    return _someone(text_tokens, _past_my(text_tokens, position + 2), spans)


def _in_genitive(
    text_tokens: Sequence[Token], position: int, span: NameSpan, spans: Sequence[NameSpan]
) -> int | NameSpan | None:
    """The role or name that follows a role in the genitive: жена коллеги, жена Петра; not the role's own name."""
    index = _past_my(text_tokens, position + 1)
    found = _someone(text_tokens, index, spans)
    if found is None or found == span or not text_tokens[index].joined:
        return None
    cases = _word_cases(text_tokens[index]) if isinstance(found, int) else _name_cases(text_tokens, found)
    apposition = isinstance(found, NameSpan) and cases & _word_cases(text_tokens[position]) and found.end != span.start
    if isinstance(found, NameSpan) and _of_other_gender(text_tokens, position, found):
        apposition = False  # жену Петра: she is not Пётр
    return None if "gent" not in cases or apposition else found


def _past_my(text_tokens: Sequence[Token], index: int) -> int:
    while index < len(text_tokens) and text_tokens[index].joined and text_tokens[index].key in MY:
        index += 1
    return index


def _possessor(
    text_tokens: Sequence[Token], position: int, text: str, spans: Sequence[NameSpan]
) -> int | NameSpan | str | None:
    """The person who has somebody in such a role: у коллеги жена, they have a son; None: the owner."""
    before = text_tokens[position - 1].key if position else ""
    if before in MY:
        return None
    if before in _WITH:
        return _accompanied(text_tokens, position - 1, spans)
    for index in range(position - 1, max(position - 1 - _LOOK_BACK, 0), -1):
        key = text_tokens[index].key
        if key in _HAS:
            return _someone(text_tokens, index - 1, spans) or _pronoun(text_tokens[index - 1])
        if text_tokens[index - 1].key in ("у", "в") and text_tokens[index].joined:
            found = _someone(text_tokens, _past_my(text_tokens, index), spans)
            return None if found == position else found or _pronoun(text_tokens[index])
        if text_tokens[index].opens:
            return None
    return None


def _pronoun(token: Token) -> str | None:
    return token.key if token.key in PRONOUNS else None


def _accompanied(text_tokens: Sequence[Token], position: int, spans: Sequence[NameSpan]) -> NameSpan | str | None:
    """The one subject of the sentence who is with the role: "Катя живёт в Одессе с мужем Андреем"; "": unclear who."""
    first = next((one for one in range(position, -1, -1) if text_tokens[one].opens), 0)
    named = [one for one in spans if first <= one.start < position]
    mine = any(token.key in _SPEAKER for token in text_tokens[first:position])
    if mine or not named:
        return None
    return named[0] if len(named) == 1 and "nomn" in _name_cases(text_tokens, named[0]) else ""


def _someone(text_tokens: Sequence[Token], position: int, spans: Sequence[NameSpan]) -> int | NameSpan | None:
    """The name or role at a position."""
    if not 0 <= position < len(text_tokens):
        return None
    named = next((other for other in spans if other.start <= position < other.end), None)
    return named or (position if _meanings(text_tokens[position]) else None)


def _head_role(text_tokens: Sequence[Token], position: int) -> int:
    """The role that a phrase ending with the role at `position` means: дети моей сестры are children."""
    for _ in range(_LONGEST_CHAIN):
        role, index = text_tokens[position], position - 1
        while index >= max(0, position - _LOOK_BACK) and text_tokens[index].key in MY and text_tokens[index + 1].joined:
            index -= 1
        if role.latin:
            index = index - 1 if index > 0 and text_tokens[index].key == "of" else -1
        elif "gent" not in _word_cases(role):
            break
        if index < 0 or not text_tokens[index + 1].joined or not _meanings(text_tokens[index]):
            break
        position = index
    return position


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
    if _of_other_gender(text_tokens, span.start - 1, span):
        return True
    name_cases, role_cases = _name_cases(text_tokens, span), _word_cases(role)
    return (
        "gent" in name_cases
        and "gent" not in role_cases
        and (span.kinds == ("surname",) or not name_cases & role_cases)
    )


def _of_other_gender(text_tokens: Sequence[Token], position: int, span: NameSpan) -> bool:
    """Whether a name may be in the genitive and, in the case of the role before it, has not the role's gender."""
    genders = {one.gender for one in _meanings(text_tokens[position])}
    readings = [one for one in name_readings(text_tokens[span.start].text) if one.known]
    cases = _word_cases(text_tokens[position])
    alike = [one for one in readings if one.case in cases and one.gender in (*genders, None)]
    return None not in genders and any(one.case == "gent" for one in readings) and not alike


def _relation_before(
    text_tokens: Sequence[Token], span: NameSpan, text: str, spans: Sequence[NameSpan]
) -> StatedRelation | None:
    if _owns_next(text_tokens, span, spans, text):
        return None
    for position in range(span.start - 1, max(span.start - 1 - _REACH_BEFORE, -1), -1):
        head = _head_role(text_tokens, position) if _meanings(text_tokens[position]) else position
        listed = any(one.plural for one in _meanings(text_tokens[head])) and _is_set_off(
            text_tokens, position, span, text
        )
        if text_tokens[position].key in _NOT_BETWEEN or not (
            listed or text_tokens[position + 1].joined or _set_off(text_tokens, position, span, text)
        ):
            return None
        if _meanings(text_tokens[position]) and not is_genitive_of_role(text_tokens, span):
            named = listed or any(token.key in _NAMING for token in text_tokens[position + 1 : span.start])
            if not named and position + 1 < span.start and _has_something(text_tokens, position):
                return None  # у мамы кот Барсик
            for role in dict.fromkeys(
                (head, position) if not _is_apposition(text_tokens, position, span) else (position,)
            ):
                if named or _agrees(text_tokens, role, span):
                    return _stated(text_tokens, role, span, text, spans)
        if text_tokens[position].capital and not text_tokens[position].opens and position + 1 < span.start:
            return _named_relative(text_tokens, position, span, text, spans)
    return None


def _has_something(text_tokens: Sequence[Token], position: int) -> bool:
    """Whether a role is that of the possessor of what follows: у (моей) мамы."""
    while position > 0 and text_tokens[position - 1].key in MY:
        position -= 1
    return position > 0 and text_tokens[position - 1].key == "у"


def _named_relative(
    text_tokens: Sequence[Token], position: int, span: NameSpan, text: str, spans: Sequence[NameSpan]
) -> StatedRelation | None:
    """The relation of a person whose name follows the other person's: маму Кати зовут Тамара."""
    other = next((one for one in spans if one.start <= position < one.end), None)
    if other is None or not other.start or not any(one.key in _NAMING for one in text_tokens[other.end : span.start]):
        return None
    role = other.start - 1
    return _stated(text_tokens, role, span, text, spans) if _meanings(text_tokens[role]) else None


def _owns_next(text_tokens: Sequence[Token], span: NameSpan, spans: Sequence[NameSpan], text: str) -> bool:
    """Whether a name in the genitive stands between a role and its holder's name: жена Петра (—) Ольга."""
    follows = any(
        other.start == span.end
        and (
            text_tokens[other.start].joined
            or text[text_tokens[span.end - 1].end : text_tokens[other.start].start].strip() in _DASHES
        )
        for other in spans
    )
    if not follows or text_tokens[span.start].latin or "gent" not in _name_cases(text_tokens, span):
        return False
    return not _is_apposition(text_tokens, span.start - 1, span)


def _is_apposition(text_tokens: Sequence[Token], position: int, span: NameSpan) -> bool:
    """Whether a name and the role right before it are both in the genitive: жена (коллеги Петра)."""
    both = position + 1 == span.start and position >= 0 and not text_tokens[position].latin
    return both and "gent" in _word_cases(text_tokens[position]) & _name_cases(text_tokens, span)


def _is_set_off(text_tokens: Sequence[Token], position: int, span: NameSpan, text: str) -> bool:
    """Whether only a punctuation mark separates a word from a name."""
    between = text[text_tokens[position].end : text_tokens[span.start].start].strip()
    return position + 1 == span.start and between in _SET_OFF


def _set_off(text_tokens: Sequence[Token], position: int, span: NameSpan, text: str) -> bool:
    """Whether a comma separates an owned role from its name: Our CTO, Hiroshi Sato, ..."""
    owned = position > 0 and (text_tokens[position - 1].key in MY or text_tokens[position].key in MY)
    return (
        owned
        and position + 1 == span.start
        and text[text_tokens[position].end : text_tokens[span.start].start].strip() == ","
    )


def _after(
    text_tokens: Sequence[Token], span: NameSpan, text: str, bounds: tuple[int, int], spans: Sequence[NameSpan]
) -> StatedRelation | None:
    rest = text[text_tokens[span.end - 1].end : bounds[1]]
    opening = _APPOSITION.match(rest)
    if opening is None or not opening.group().strip():
        return None
    limit = next((other.start for other in spans if other.start >= span.end), len(text_tokens))
    if opening.group().strip() in ("'s", "’s") and span.end < limit and _meanings(text_tokens[span.end]):
        return None  # "Peter's wife" does not mean Peter
    for position in range(span.end, min(span.end + _REACH_AFTER, limit)):
        if text_tokens[position].start >= bounds[1]:
            return None
        if _meanings(text_tokens[position]) and not _owns_another(text_tokens, position, text):
            return _stated(text_tokens, position, span, text, spans)
    return None


def _owns_another(text_tokens: Sequence[Token], position: int, text: str) -> bool:
    """Whether a role belongs to another person: Tom, her brother's neighbour."""
    before = text_tokens[position - 1].key if position else ""
    another = before in _REFLEXIVE or before in PRONOUNS or before in ("your", "твой", "твоя")
    return another or text[text_tokens[position].end : text_tokens[position].end + 1] in ("'", "’")


def _stated_by_sentence(
    text_tokens: Sequence[Token], span: NameSpan, text: str, bounds: tuple[int, int], spans: Sequence[NameSpan]
) -> StatedRelation | None:
    inside = [other for other in spans if bounds[0] <= text_tokens[other.start].start < bounds[1]]
    sentence = text[bounds[0] : bounds[1]]
    if len(inside) != 1 or inside[0] != span:
        return None
    if _WORK.search(sentence):
        return StatedRelation(Relation("", "Work_Inner", "en", None))
    return StatedRelation(Relation("", "Friends", "en", None)) if _FRIENDLY.search(sentence) else None


def _meanings(token: Token) -> tuple[Relation, ...]:
    key = token.key
    for prefix in ("ex-", "экс-", "екс-"):
        key = key.removeprefix(prefix)
    shouted = token.text.isupper()
    return relations().get(key, ()) if token.opens or shouted or not token.capital else ()


def _former_or_present(relation: Relation, text_tokens: Sequence[Token], position: int) -> Relation:
    former = text_tokens[position].key.startswith(("ex-", "экс-", "екс-")) or any(
        token.key in FORMER for token in text_tokens[max(0, position - 2) : position]
    )
    if former and relation.circle == "Work_Inner":
        return replace(relation, circle="Work_Outer", former=True)
    return replace(relation, former=former)


def _agrees(text_tokens: Sequence[Token], position: int, span: NameSpan) -> bool:
    """Whether a role and its name have the same case: in "брат Оли приехал" Оля is not the brother."""
    if text_tokens[position].latin or text_tokens[span.start].latin:
        return True
    name, role = _name_cases(text_tokens, span), _word_cases(text_tokens[position])
    return not name or not role or bool(name & role)


def _name_cases(text_tokens: Sequence[Token], span: NameSpan) -> frozenset[str]:
    shared: frozenset[str] = frozenset()
    for token in text_tokens[span.start : span.end]:
        cases = frozenset(reading.case for reading in name_readings(token.text) if reading.known)
        shared = cases if not shared else (shared & cases or shared)
    return shared


def _word_cases(token: Token) -> frozenset[str]:
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
