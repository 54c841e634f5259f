"""Finds the role word of a name and whose role it is: Sarah is my manager, дети моей сестры.

Roles form a chain that ends with the owner, with a name, or with a pronoun: жена (коллеги (Петра)), Peter's wife.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from internal.language.kinship.kinds import kin_of_word
from internal.language.kinship.words import FORMER, MY, Relation, possessor
from internal.language.names import mention_words as marks
from internal.language.names.role_readings import (
    NameSpan,
    agrees,
    is_genitive_of_role,
    meaning,
    meanings,
    name_cases,
    of_other_gender,
    word_cases,
)
from internal.language.text.spelling import Token

_REACH_BEFORE = 3
_REACH_AFTER = 5
_LOOK_BACK = 6
_LONGEST_CHAIN = 4
"""The most relations in a chain."""
_THEIRS_WITH: Final = ("spouse", "partner", "fiance", "child")
"""Relatives with whom a person is oftener than the owner's are: "Катя живёт с мужем", but "говорила с братом"."""


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
    apposed = _beside_owner(text_tokens, span, text, spans)
    if apposed is not None:
        return _stated(text_tokens, apposed, span, text, spans)
    before = _relation_before(text_tokens, span, text, spans)
    if before is not None or not text or bounds is None:
        return before
    return _after(text_tokens, span, text, bounds, spans) or _stated_by_sentence(text_tokens, span, text, bounds, spans)


def _stated(
    text_tokens: Sequence[Token], position: int, span: NameSpan, text: str, spans: Sequence[NameSpan]
) -> StatedRelation:
    """The relation of the role word at this position, with its chain."""
    chain = [position]
    of = _owner(text_tokens, position, span, text, spans)
    if of is None:
        of = _possessor(text_tokens, position, span, spans)
    while isinstance(of, int) and of not in chain and len(chain) < _LONGEST_CHAIN:
        chain.append(of)
        of = _owner(text_tokens, of, span, text, spans)
    head, *owners = (_former_or_present(meaning(text_tokens[index]), text_tokens, index) for index in chain)
    return StatedRelation(head, owners, None if isinstance(of, int) else of)


def _owner(
    text_tokens: Sequence[Token], position: int, span: NameSpan, text: str, spans: Sequence[NameSpan]
) -> int | NameSpan | str | None:
    """Whose role this is, by the words beside it: the index of another role, a name, a pronoun; None: the owner's."""
    role, before = text_tokens[position], text_tokens[position - 1]
    if position and role.joined:
        of = None if before.key in MY else _by_possessive(text_tokens, position, text, spans)
        if of is not None or before.key in MY:
            return of
    if not role.latin:
        return _in_genitive(text_tokens, position, span, spans)
    of_it = text_tokens[position + 1].key == "of" if position + 1 < len(text_tokens) else False
    return _someone(text_tokens, _past_my(text_tokens, position + 2), spans) if of_it else None


def _by_possessive(
    text_tokens: Sequence[Token], position: int, text: str, spans: Sequence[NameSpan]
) -> int | NameSpan | str | None:
    """Whose role this is by the possessive before it: его брат, мамин брат, Tom's brother; None if there is none."""
    before, owner = text_tokens[position - 1], _someone(text_tokens, position - 1, spans)
    if before.key in marks.REFLEXIVE:
        return next((one for one in spans if one.end < position), None)
    if before.key in marks.THEIRS:
        return before.key
    if possessor(before.key):
        return position - 1
    if before.capital and marks.POSSESSIVE.fullmatch(before.key):
        return ""
    if text_tokens[position].latin and text[before.end : before.end + 1] in ("'", "’"):
        return "" if owner is None else owner
    return None


def _in_genitive(
    text_tokens: Sequence[Token], position: int, span: NameSpan, spans: Sequence[NameSpan]
) -> int | NameSpan | None:
    """The role or name that follows a role in the genitive: жена коллеги, жена Петра; not the role's own name."""
    index = _past_my(text_tokens, position + 1)
    found = _someone(text_tokens, index, spans)
    if found is None or found == span or not text_tokens[index].joined:
        return None
    cases = word_cases(text_tokens[index]) if isinstance(found, int) else name_cases(text_tokens, found)
    apposition = isinstance(found, NameSpan) and cases & word_cases(text_tokens[position]) and found.end != span.start
    if isinstance(found, NameSpan) and of_other_gender(text_tokens, position, found):
        apposition = False  # жену Петра: she is not Пётр
    return None if "gent" not in cases or apposition else found


def _past_my(text_tokens: Sequence[Token], index: int) -> int:
    while index < len(text_tokens) and text_tokens[index].joined and text_tokens[index].key in MY:
        index += 1
    return index


def _possessor(
    text_tokens: Sequence[Token], position: int, span: NameSpan, spans: Sequence[NameSpan]
) -> int | NameSpan | str | None:
    """The person who has somebody in such a role: у коллеги жена, they have a son; None: the owner; "": unclear."""
    before = text_tokens[position - 1].key if position else ""
    if before in MY or (position + 1 < span.start and text_tokens[position + 1].key in MY):
        return None
    if _may_be_subjects(text_tokens, position, span, spans):
        of = _accompanied(text_tokens, position - 1, spans)
        return "" if of is None else of
    if before in marks.WITH or before in marks.BORE:
        return _accompanied(text_tokens, position - 1, spans)
    return _who_has(text_tokens, position, spans)


def _who_has(text_tokens: Sequence[Token], position: int, spans: Sequence[NameSpan]) -> int | NameSpan | str | None:
    last = position if text_tokens[position].opens else max(position - 1 - _LOOK_BACK, 0)
    for index in range(position - 1, last, -1):
        if text_tokens[index].key in marks.HAS:
            found = _someone(text_tokens, index - 1, spans)
            return _pronoun(text_tokens[index - 1]) if found is None else found
        if text_tokens[index - 1].key in ("у", "в") and text_tokens[index].joined:
            found = _someone(text_tokens, _past_my(text_tokens, index), spans)
            return None if found == position else found or _pronoun(text_tokens[index])
        if text_tokens[index].opens:
            return None
    return None


def _pronoun(token: Token) -> str | None:
    return token.key if token.key in marks.PRONOUNS else None


def _accompanied(text_tokens: Sequence[Token], position: int, spans: Sequence[NameSpan]) -> int | NameSpan | str | None:
    """The one subject of the sentence who is with the role: "Катя живёт в Одессе с мужем Андреем"; "": unclear who."""
    first = _sentence_start(text_tokens, position)
    named = [one for one in spans if first <= one.start < position]
    people = _subjects(text_tokens, first, position, spans)
    if any(token.key in marks.SPEAKER for token in text_tokens[first:position]) or not (named or people):
        return None
    kin = kin_of_word(meaning(text_tokens[position + 1]).word)
    close = kin is not None and kin.kind in _THEIRS_WITH
    return people[0] if close and len(people) == 1 and len(named) < 2 else ""


def _may_be_subjects(text_tokens: Sequence[Token], position: int, span: NameSpan, spans: Sequence[NameSpan]) -> bool:
    """Whether a role without a possessive may be another person's: "Катя говорила с начальником Петром".

    Relatives are taken for the owner's, unless a later clause names them: "Катя вышла замуж, мужа зовут Олег".
    """
    role, first = text_tokens[position], _sentence_start(text_tokens, position)
    naming = any(token.key in marks.NAMING for token in text_tokens[position + 1 : span.start])
    if not naming and meaning(role).circle == "Family":
        return False
    governed = any(token.key in marks.BEHIND for token in text_tokens[max(first, position - 2) : position])
    if not (governed or (naming if role.latin else "nomn" not in word_cases(role))):
        return False
    mine = any(token.key in marks.I_OR_WE for token in text_tokens[first:position])
    return not mine and bool(_subjects(text_tokens, first, position, spans))


def _sentence_start(text_tokens: Sequence[Token], position: int) -> int:
    return next((one for one in range(position, -1, -1) if text_tokens[one].opens), 0)


def _subjects(text_tokens: Sequence[Token], first: int, end: int, spans: Sequence[NameSpan]) -> list[int | NameSpan]:
    """The people in the nominative in a part of a sentence of whom it goes on, by name or role."""
    found: list[int | NameSpan] = []
    starts = {one.start: one for one in spans}
    inside = {index for one in spans for index in range(one.start, one.end)}
    for index in range(first, end):
        span, token = starts.get(index), text_tokens[index]
        after = span.end if span is not None else index + 1
        if span is None and (index in inside or after in starts or not meanings(token)):
            continue
        cases = word_cases(token) if span is None else name_cases(text_tokens, span)
        called = index > 0 and text_tokens[index - 1].key in marks.NAMING
        goes_on = text_tokens[after].joined and text_tokens[after].key not in marks.NAMING
        if goes_on and not called and (token.latin or "nomn" in cases):
            found.append(index if span is None else span)
    return found


def _someone(text_tokens: Sequence[Token], position: int, spans: Sequence[NameSpan]) -> int | NameSpan | None:
    """The name or role at a position."""
    if not 0 <= position < len(text_tokens):
        return None
    named = next((other for other in spans if other.start <= position < other.end), None)
    return named or (position if meanings(text_tokens[position]) else None)


def _head_role(text_tokens: Sequence[Token], position: int) -> int:
    """The role that a phrase ending with the role at `position` means: дети моей сестры are children."""
    for _ in range(_LONGEST_CHAIN):
        role, index = text_tokens[position], position - 1
        while index >= max(0, position - _LOOK_BACK) and text_tokens[index].key in MY and text_tokens[index + 1].joined:
            index -= 1
        if role.latin:
            index = index - 1 if index > 0 and text_tokens[index].key == "of" else -1
        elif "gent" not in word_cases(role):
            break
        if index < 0 or not text_tokens[index + 1].joined or not meanings(text_tokens[index]):
            break
        position = index
    return position


def _relation_before(
    text_tokens: Sequence[Token], span: NameSpan, text: str, spans: Sequence[NameSpan]
) -> StatedRelation | None:
    if _owns_next(text_tokens, span, spans, text):
        return None
    for position in range(span.start - 1, max(span.start - 1 - _REACH_BEFORE, -1), -1):
        head = _head_role(text_tokens, position) if meanings(text_tokens[position]) else position
        listed = any(one.plural for one in meanings(text_tokens[head])) and _is_set_off(
            text_tokens, position, span, text
        )
        if text_tokens[position].key in marks.NOT_BETWEEN or not (
            listed or text_tokens[position + 1].joined or _set_off(text_tokens, position, span, text)
        ):
            return None
        if meanings(text_tokens[position]) and not is_genitive_of_role(text_tokens, span):
            named = listed or any(token.key in marks.NAMING for token in text_tokens[position + 1 : span.start])
            if not named and position + 1 < span.start and _has_something(text_tokens, position):
                return None  # у мамы кот Барсик
            for role in dict.fromkeys(
                (head, position) if not _is_apposition(text_tokens, position, span) else (position,)
            ):
                if named or agrees(text_tokens, role, span):
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
    if (
        other is None
        or not other.start
        or not any(one.key in marks.NAMING for one in text_tokens[other.end : span.start])
    ):
        return None
    role = other.start - 1
    return _stated(text_tokens, role, span, text, spans) if meanings(text_tokens[role]) else None


def _owns_next(text_tokens: Sequence[Token], span: NameSpan, spans: Sequence[NameSpan], text: str) -> bool:
    """Whether a name in the genitive stands between a role and its holder's name: жена Петра (—) Ольга."""
    follows = any(
        other.start == span.end
        and (
            text_tokens[other.start].joined
            or text[text_tokens[span.end - 1].end : text_tokens[other.start].start].strip() in marks.DASHES
        )
        for other in spans
    )
    if not follows or text_tokens[span.start].latin or "gent" not in name_cases(text_tokens, span):
        return False
    return not _is_apposition(text_tokens, span.start - 1, span)


def _is_apposition(text_tokens: Sequence[Token], position: int, span: NameSpan) -> bool:
    """Whether a name and the role right before it are both in the genitive: жена (коллеги Петра)."""
    both = position + 1 == span.start and position >= 0 and not text_tokens[position].latin
    return both and "gent" in word_cases(text_tokens[position]) & name_cases(text_tokens, span)


def _is_set_off(text_tokens: Sequence[Token], position: int, span: NameSpan, text: str) -> bool:
    """Whether only a punctuation mark separates a word from a name."""
    between = text[text_tokens[position].end : text_tokens[span.start].start].strip()
    return position + 1 == span.start and between in marks.SET_OFF


def _set_off(text_tokens: Sequence[Token], position: int, span: NameSpan, text: str) -> bool:
    """Whether a mark separates an owned role from its name: Our CTO, Hiroshi Sato, ..., муж сестры, Роман, ..."""
    role, before = text_tokens[position], text_tokens[position - 1]
    if not position or not _is_set_off(text_tokens, position, span, text) or not (meanings(role) or role.key in MY):
        return False
    if before.key in MY or role.key in MY:
        return text[role.end : text_tokens[span.start].start].strip() == "," or _is_closed(text_tokens, span, text)
    of = before.key == "of" or (meanings(before) and not role.latin and "gent" in word_cases(role))
    owned = of or possessor(before.key) or text[before.end : before.end + 1] in ("'", "’")
    return bool(owned) and role.joined and _is_closed(text_tokens, span, text)


def _is_closed(text_tokens: Sequence[Token], span: NameSpan, text: str) -> bool:
    """Whether a mark or the end follows a name, as after one that is set off."""
    return text[text_tokens[span.end - 1].end :].lstrip()[:1] in marks.CLOSING


def _beside_owner(text_tokens: Sequence[Token], span: NameSpan, text: str, spans: Sequence[NameSpan]) -> int | None:
    """The role of a name that marks set off from that of the role's owner: дочка (моего брата) Ореста, Настуня, ..."""
    other = next((one for one in spans if one.end == span.start and one.start), None)
    if other is None or not _is_set_off(text_tokens, span.start - 1, span, text):
        return None
    role = other.start - 1 - (other.start > 1 and text_tokens[other.start - 1].key == "of")
    if not _is_closed(text_tokens, span, text) or not meanings(text_tokens[role]):
        return None
    head = _head_role(text_tokens, role)
    owned = role < other.start - 1 or is_genitive_of_role(text_tokens, other)
    if head == role and not owned:
        return None
    return head if agrees(text_tokens, head, span) else None


def _after(
    text_tokens: Sequence[Token], span: NameSpan, text: str, bounds: tuple[int, int], spans: Sequence[NameSpan]
) -> StatedRelation | None:
    rest = text[text_tokens[span.end - 1].end : bounds[1]]
    opening = marks.APPOSITION.match(rest)
    if opening is None or not opening.group().strip():
        return None
    limit = next((other.start for other in spans if other.start >= span.end), len(text_tokens))
    if opening.group().strip() in ("'s", "’s") and span.end < limit and meanings(text_tokens[span.end]):
        return None  # "Peter's wife" does not mean Peter
    for position in range(span.end, min(span.end + _REACH_AFTER, limit)):
        if text_tokens[position].start >= bounds[1]:
            return None
        if meanings(text_tokens[position]) and not _owns_another(text_tokens, position, text):
            return _stated(text_tokens, position, span, text, spans)
    return None


def _owns_another(text_tokens: Sequence[Token], position: int, text: str) -> bool:
    """Whether a role belongs to another person: Tom, her brother's neighbour."""
    before = text_tokens[position - 1].key if position else ""
    another = before in marks.REFLEXIVE or before in marks.PRONOUNS or before in ("your", "твой", "твоя")
    return another or text[text_tokens[position].end : text_tokens[position].end + 1] in ("'", "’")


def _stated_by_sentence(
    text_tokens: Sequence[Token], span: NameSpan, text: str, bounds: tuple[int, int], spans: Sequence[NameSpan]
) -> StatedRelation | None:
    inside = [other for other in spans if bounds[0] <= text_tokens[other.start].start < bounds[1]]
    sentence = text[bounds[0] : bounds[1]]
    if len(inside) != 1 or inside[0] != span:
        return None
    if marks.WORK.search(sentence):
        return StatedRelation(Relation("", "Work_Inner", "en", None))
    return StatedRelation(Relation("", "Friends", "en", None)) if marks.FRIENDLY.search(sentence) else None


def _former_or_present(relation: Relation, text_tokens: Sequence[Token], position: int) -> Relation:
    former = text_tokens[position].key.startswith(("ex-", "экс-", "екс-")) or any(
        token.key in FORMER for token in text_tokens[max(0, position - 2) : position]
    )
    if former and relation.circle == "Work_Inner":
        return replace(relation, circle="Work_Outer", former=True)
    return replace(relation, former=former)
