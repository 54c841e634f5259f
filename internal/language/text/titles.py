"""Makes the title of a text from a phrase of it."""

import re
from typing import Final

from internal.language.text.spelling import sentence_spans

_CLAUSE_END: Final = re.compile(r"(?:[,;:]| [—–-])(?= )")
_SHORT: Final = re.compile(r"(?: \w{1,2})+$")
"""Short words at the end, such as prepositions, with which titles do not end."""
_READ: Final = 2_000
"""The most characters that are read: the rest of a pasted text is not needed."""


def title_of(text: str, most: int) -> str:
    """The beginning of a text in one line of at most `most` characters: whole sentences, else clauses, else words."""
    text, whole = text[:_READ], ""
    for start, end in sentence_spans(text):
        longer = " ".join([*whole.split(), *text[start:end].split()])
        if len(longer) > most:
            break
        whole = longer
    else:
        return whole
    if len(whole) > most // 3:
        return whole
    line = " ".join(text.split())[:most]
    clauses = [match.start() for match in _CLAUSE_END.finditer(line) if match.start() > most // 2]
    cut = clauses[-1] if clauses else max(line.rfind(" "), 0) or most - 1
    return f"{_SHORT.sub('', line[:cut])}…"
