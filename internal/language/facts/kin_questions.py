"""Answers who somebody is: "who is my sister's son?", "кто муж Маши?", "ким мені доводиться Коля?".

For the language process.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from internal.language.kinship.chains import KinMap, StatedTie, Tie, chain_words, tie_words
from internal.language.kinship.kinds import Kin, composed, kin_of_word
from internal.language.kinship.words import MY, possessor, relations
from internal.language.names.given_names import gender_of_name
from internal.language.names.person_names import mentions
from internal.language.text.spelling import Language, Token, tokens

ASKS: Final = re.compile(
    r"\b(?:who|whose|name|called|related|to me|кто|кого|кем|чей|зовут|звать|имя|хто|ким|чий|звати|звуть|ім['’ʼ]я"
    r"|приход|довод)",
    re.IGNORECASE,
)
"""Words of which every question about a relation contains one; other messages are not read further."""

_TO_ME = re.compile(
    r"\b(?:приход\w+|довод\w+|related|to me|(?:мне|мені)\b.*\b[кх]то|[кх]то\b.*\b(?:мне|мені))\b",
    re.IGNORECASE,
)
_BETWEEN: Final = frozenset({"of", "the", "у", "s", *MY})


@dataclass(frozen=True, slots=True)
class Ties:
    """An owner's people: their names by node id, the stated relations between them, and the owner's own node."""

    owner: str
    names: Mapping[str, Sequence[str]]
    stated: Sequence[StatedTie]

    def map(self) -> KinMap:
        return KinMap(self.stated, {node: gender_of_name(names[0]) for node, names in self.names.items() if names})

    @property
    def shown(self) -> dict[str, str]:
        return {node: names[0] for node, names in self.names.items() if names}


def people_of_chain(text: str, ties: Ties) -> list[str] | None:
    """The nodes of the people to whom the role words of a text lead from the owner: "мамин брат", "my sister's son".

    None if it has no chain of relations, or names somebody at its beginning.
    """
    chain, _ = _chain(text)
    if not chain or mentions(text, dict(enumerate(ties.names.values()))):
        return None
    found = _from_owner(ties.map(), ties.owner, chain)
    return [node for node in found if node in ties.names] or ([] if chain[1:] else None)


def _from_owner(kin: KinMap, owner: str, chain: Sequence[Kin]) -> Mapping[str, Tie]:
    """The people to whom a chain leads; if its middle is unknown, those of its sum: mother's brother is an uncle."""
    found = kin.who(owner, chain)
    kind = composed(chain[1].kind, chain[0].kind) if len(chain) == 2 and not found else None
    return kin.who(owner, [Kin(kind, chain[1].gender)]) if kind else found


def kin_lines(text: str, ties: Ties, language: Language) -> list[str]:
    """The answer, a line for each person meant: "Коля — племянник (сестра Маша → сын)"; empty if there is none."""
    chain, own = _chain(text)
    nodes = list(ties.names)
    named = [nodes[index] for index in mentions(text, dict(enumerate(ties.names.values())))]
    shown, kin = ties.shown, ties.map()
    if chain and len(named) == 1 and not own:
        found = kin.who(named[0], chain)
        return [
            f"{shown[node]} — {shown[named[0]]} → {chain_words(tie, shown, language)}"
            for node, tie in _people(found, shown)
        ]
    if chain and not named:
        return [
            f"{shown[node]} — {tie_words(tie, shown, language)}"
            for node, tie in _people(_from_owner(kin, ties.owner, chain), shown)
        ]
    if named and not chain and _TO_ME.search(text):
        known = kin.ties(ties.owner)
        return [f"{shown[node]} — {tie_words(known[node], shown, language)}" for node in named if node in known]
    return []


def _people(found: Mapping[str, Tie], shown: Mapping[str, str]) -> list[tuple[str, Tie]]:
    return [(node, tie) for node, tie in found.items() if node in shown]


def _chain(text: str) -> tuple[list[Kin], bool]:
    """The relations of the longest row of role words, first the one nearest to its beginning; and whether it is "my".

    "сын моей сестры" and "son of my sister" lead from the end, "my sister's son" and "у сестры сын" from the start.
    """
    best: list[int] = []
    row: list[int] = []
    words = tokens(text)
    for index, token in enumerate(words):
        if _kin(token) is not None:
            row.append(index)
        elif token.key not in _BETWEEN:
            best, row = max(best, row, key=len), []
    best = max(best, row, key=len)
    if not best:
        return [], False
    first, last = best[0], best[-1]
    chain = [kin for index in best if (kin := _kin(words[index])) is not None]
    before = {token.key for token in words[max(0, first - 2) : first]}
    within = {token.key for token in words[first:last]}
    from_start = "of" not in within and (
        _possessive(words[first], text)
        or words[first].key not in relations()
        or ("у" in before and len(chain) > 1)
        or bool(before & MY and not within & MY)
    )
    return (chain if from_start else chain[::-1]), bool((before | within) & MY)


def _kin(token: Token) -> Kin | None:
    if token.capital and not token.opens:
        return None
    return kin_of_word(token.key if token.key in relations() else possessor(token.key))


def _possessive(token: Token, text: str) -> bool:
    return token.latin and text[token.end : token.end + 1] in ("'", "’")
