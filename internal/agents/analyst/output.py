"""The analyst's reply format, and its parsing into judgements."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from internal.agents.analyst.verdict import Judgement, joint_verdict
from internal.agents.json_reply import read_object
from internal.agents.model import TranscriptLine
from internal.agents.reply_items import ItemReader, array, cut, one_line
from internal.agents.reply_schema import NUMBER, TEXT, array_of, object_of, one_of
from internal.chronicle.model import Verdict
from internal.errors import ModelReplyInvalid, Refusal, Refused
from internal.llm.model import ReplySchema

KEYS: Final = ("topic", "responses", "session_summary")

MAX_LESSONS: Final = 3
MAX_LESSON: Final = 200
"""Most characters of a lesson: a longer one is no rule."""

MAX_TOPIC: Final = 80
MAX_SUMMARY: Final = 600
MAX_ERRORS: Final = 5
MAX_ERROR: Final = 300
MAX_RULES: Final = 20
MAX_RULE: Final = 160

VERDICTS: Final[Mapping[str, Verdict]] = {
    "correct": "correct",
    "partially_correct": "partially_correct",
    "partly_correct": "partially_correct",
    "partial": "partially_correct",
    "incorrect": "incorrect",
}
"""Verdicts as models write them, spaces and hyphens as underscores."""

_NUMBER = re.compile(r"\D{0,10}(\d{1,6})\D{0,2}")
_RULE_NUMBER = re.compile(r"(?:R|rule|правило)?\s*#?(\d{1,3})(?:\W*|\s*[.:)–—-]\s.*)", re.IGNORECASE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")

_RULING: Final = {
    "verdict": one_of(get_args(Verdict)),
    "rules_used": array_of(TEXT),
    "rules_ignored": array_of(TEXT),
    "errors": array_of(TEXT),
    "lessons": array_of(TEXT),
    "summary": TEXT,
}
REPLY_SCHEMA = ReplySchema(
    "analyst_reply",
    object_of(
        {
            "topic": TEXT,
            "responses": array_of(object_of({"message": NUMBER, **_RULING}, "message", "verdict")),
            "session_summary": object_of(_RULING, "verdict", "summary"),
        }
    ),
)


@dataclass(frozen=True, slots=True)
class AnalystReply:
    """A parsed reply: `responses` by the numbers of their lines; `session` is None if it has no summary of the session.

    `topic` is empty if none was named. `refused` are the refused judgements.
    """

    topic: str
    responses: Mapping[int, Judgement]
    session: Judgement | None
    refused: tuple[Refusal, ...] = ()


def parse(text: str, transcript: Sequence[TranscriptLine], rules: Sequence[str] = ()) -> AnalystReply:
    """The reply as judgements of the assistant's lines of the transcript; each that breaks a rule is refused.

    A rule that is named by its number in `rules` (from 1) is replaced by its words. Reasons of refusals: bad_shape,
    no_message, not_a_response, judged_twice, unknown_verdict, unknown_rule, too_many (of lessons). Raises
    ModelReplyInvalid when the reply as a whole cannot be read.
    """
    reply = read_object(text, KEYS, bare="responses")
    reader = _Reader({line.number for line in transcript if line.role == "assistant"}, rules)
    reader.keep(array(reply, "responses"), reader.response)
    session = reader.session(reply.get("session_summary"))
    return AnalystReply(_topic(reply.get("topic")), reader.responses, session, tuple(reader.refused))


def name_of_rule(rule: str) -> str:
    """The short name of a rule: its first sentence, cut between words."""
    return cut(_SENTENCE_END.split(rule, maxsplit=1)[0], MAX_RULE)


class _Reader(ItemReader):
    def __init__(self, responses: set[int], rules: Sequence[str]) -> None:
        super().__init__("judgement")
        self._there, self._rules = responses, rules
        self.responses: dict[int, Judgement] = {}

    def response(self, raw: dict[str, Any]) -> None:
        number = _number(raw.get("message"))
        if number not in self._there:
            raise Refused("not_a_response", f"line {number} is no answer of the assistant's")
        if number in self.responses:
            raise Refused("judged_twice", f"line {number} was judged already")
        self.responses[number] = self._ruling(raw, _verdict(raw.get("verdict")))

    def session(self, raw: object) -> Judgement | None:
        """The judgement of the session; without an own verdict it has the joint verdict of its responses."""
        if raw is None:
            return None
        if isinstance(raw, str):
            raw = {"summary": raw}
        if not isinstance(raw, dict):
            raise ModelReplyInvalid("`session_summary` is no object")
        verdict = joint_verdict(self.responses.values())
        try:
            verdict = _verdict(raw["verdict"]) if raw.get("verdict") is not None else verdict
        except Refused as refusal:
            self.refuse(refusal)
        ruling = self._ruling(raw, verdict)
        return ruling if ruling.texts else None

    def _ruling(self, raw: Mapping[str, Any], verdict: Verdict) -> Judgement:
        lessons = _texts(raw.get("lessons"), MAX_LESSON)
        if len(lessons) > MAX_LESSONS:
            self.refuse(Refused("too_many", f"a judgement may hold {MAX_LESSONS} lessons"))
        return Judgement(
            verdict,
            self._named_rules(raw.get("rules_used")),
            self._named_rules(raw.get("rules_ignored")),
            _texts(raw.get("errors"), MAX_ERROR)[:MAX_ERRORS],
            lessons[:MAX_LESSONS],
            one_line(raw.get("summary"), MAX_SUMMARY),
            by_rules=raw.get("by") == "rules",
        )

    def _named_rules(self, raw: object) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for name in _texts(raw, MAX_SUMMARY):
            try:
                found[self._rule(name)] = None
            except Refused as refusal:
                self.refuse(refusal)
        return tuple(found)[:MAX_RULES]

    def _rule(self, text: str) -> str:
        """The rule with this number or these words; the model's own words if there is none."""
        if match := _RULE_NUMBER.fullmatch(text):
            number = int(match[1])
            if not 1 <= number <= len(self._rules):
                raise Refused("unknown_rule", f"there is no rule {number}")
            return name_of_rule(self._rules[number - 1])
        folded = text.casefold().rstrip(".")
        meant = [rule for rule in self._rules if folded in rule.casefold()]
        return name_of_rule(meant[0]) if len(meant) == 1 else cut(text, MAX_RULE)


def _topic(raw: object) -> str:
    if raw is not None and not isinstance(raw, str):
        raise ModelReplyInvalid("`topic` is no text")
    return one_line(raw, MAX_TOPIC).rstrip(".")


def _number(raw: object) -> int:
    if isinstance(raw, str) and (match := _NUMBER.fullmatch(raw.strip())):
        return int(match[1])
    if isinstance(raw, int | float) and not isinstance(raw, bool) and raw == raw // 1:
        return int(raw)
    raise Refused("no_message", f"{str(raw)[:80]!r} is no number of a line")


def _verdict(raw: object) -> Verdict:
    word = re.sub(r"[\s_-]+", "_", raw.strip(" .").casefold()) if isinstance(raw, str) else ""
    if word not in VERDICTS:
        raise Refused("unknown_verdict", f"{str(raw)[:80]!r} is no verdict")
    return VERDICTS[word]


def _texts(raw: object, longest: int) -> tuple[str, ...]:
    """The texts, each once and on one line; a single text counts as a list, and numbers (of rules) as texts."""
    listed = raw if isinstance(raw, list) else [raw]
    lines = (one_line(str(one) if isinstance(one, int) else one, longest) for one in listed)
    return tuple(dict.fromkeys(line for line in lines if any(map(str.isalnum, line))))
