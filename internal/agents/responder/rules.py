"""The rules by which an answer is judged: the responder's own instructions, one by one."""

import re
from functools import cache
from importlib.resources import files

_SECTION = re.compile(r"^# How you answer\n(.*?)(?=^# )", re.MULTILINE | re.DOTALL)
_RULE = re.compile(r"^- (.*(?:\n  .*)*)", re.MULTILINE)


@cache
def rules() -> tuple[str, ...]:
    """The responder's rules in the order of its instructions, each on one line. There is at least one."""
    prompt = files(__package__).joinpath("prompt.md").read_text(encoding="utf-8")
    section = _SECTION.search(prompt)
    found = tuple(" ".join(rule.split()) for rule in _RULE.findall(section[1])) if section else ()
    if not found:
        raise LookupError("the responder's instructions have no rules under '# How you answer'")
    return found
