"""Recognises questions about the owner's past: how often something happens, and what led to something."""

from collections.abc import Sequence
from typing import Final

from internal.language.chronicle.lines import SHAPES, WORDS, Names, names_all, read_lines
from internal.language.commands.vocabulary import WORD, content_words, forms, readings
from internal.language.dates.units import fold
from internal.language.names.person_names import mentions
from internal.language.tasks.contacts import contact_verb, wants_contact
from internal.language.text.english import IRREGULAR_VERBS
from internal.language.text.spelling import name_key, sentence_spans

_IDLE: Final = WORDS["near"] | WORDS["idle"]


def past_question(text: str) -> tuple[str, str] | None:
    """The kind of a question, "often" or "led", and its subject; None for advice ("how often should I ...") and
    others."""
    folded = fold(text)
    found = next(((kind, match) for kind in ("often", "led") if (match := SHAPES[kind].search(folded))), None)
    if found is None or WORDS["advice"] & set(WORD.findall(folded)):
        return None
    return found[0], text[found[1].end() :]


def answering(kind: str, about: str, lines: Sequence[str], names: Names) -> list[int] | None:
    """The indexes of the lines that answer, never questions; None if the question is not about the owner's life."""
    who = mentions(about, names)
    called = {name_key(part) for written in who.values() for part in written.split()}
    said = [word for word in content_words(about) if word not in called and not forms(word) & _IDLE]
    verbs = {word for word in said if kind == "often" and (contact_verb(word) or any(map(wants_contact, forms(word))))}
    rest = [word for word in said if word not in verbs]

    def answers(line: str) -> bool:
        if kind == "led":
            return gives_cause(line, [*rest, *called])
        meant = read_lines([(line, names)])[0].met if verbs and who else mentions(line, names).keys()
        is_his = bool(set(meant) & who.keys()) if who else bool(rest) and (not verbs or contact_verb(line) is not None)
        return is_his and (not rest or names_all(rest, line))

    def hints(line: str) -> bool:
        """Whether a line gives the cause of something that has a noun of the question: not all words are the same."""
        return any(gives_cause(line, [word]) for word in rest if not _is_verb(word))

    statements = [
        (n, line) for n, line in enumerate(lines) if not line.rstrip().endswith("?") and not past_question(line)
    ]
    found = [index for index, line in statements if answers(line)]
    if kind == "led" and not found:
        found = [index for index, line in statements if hints(line)]
    own = any(forms(word) & WORDS["near"] for word in WORD.findall(fold(about)))
    return found or ([] if who or own else None)


def _is_verb(word: str) -> bool:
    return any("VERB" in marks for _, marks in readings(word)[:1]) or word in IRREGULAR_VERBS


def gives_cause(line: str, effect: Sequence[str]) -> bool:
    """Whether a line gives the cause of something: its words precede "because", or follow "therefore"."""
    spans = [*sentence_spans(line)]
    for (start, end), before in zip(spans, [(0, 0), *spans], strict=False):
        folded, preceding = fold(line[start:end]), line[slice(*before)]
        why, then = SHAPES["because"].search(folded), SHAPES["so"].search(folded)
        if why and names_all(effect, folded[: why.start()] or folded.partition(",")[2] or preceding):
            return True
        cause = (folded[: then.start()].strip(" ,—-") or preceding) if then else ""
        if then and content_words(cause) and names_all(effect, folded[then.end() :]):
            return True
    return False
