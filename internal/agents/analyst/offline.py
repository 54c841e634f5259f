"""Judges a session by simple rules: the answers that no model judged, all of them without a model."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from internal.agents.analyst.output import name_of_rule
from internal.agents.analyst.reactions import Reaction, questions, reactions
from internal.agents.analyst.topics import session_topic, subject_of
from internal.agents.analyst.verdict import Judgement, joint_verdict
from internal.agents.model import AgentReply, AnalystRequest, Language, TranscriptLine
from internal.agents.offline_phrases import phrase as offline_phrase
from internal.chronicle.model import Verdict
from internal.language.text.spelling import text_language, tokens
from internal.language.worker.process_pool import LanguageWorker

_VERDICTS: Final[Mapping[Reaction, Verdict]] = {
    "corrected": "incorrect",
    "said-before": "incorrect",
    "repeated": "partially_correct",
    "unclear": "partially_correct",
    "language": "partially_correct",
    "shorter": "partially_correct",
    "longer": "partially_correct",
}
phrase = partial(offline_phrase, "internal.agents.analyst")

_LEAST_WORDS: Final = 3
"""Words from which the language of a message can be detected."""

Subjects = Mapping[int, str]
"""The subject of each answer in a few common words; absent if it is unknown."""


def judge(
    transcript: Sequence[TranscriptLine], rules: Sequence[str], language: Language, subjects: Subjects | None = None
) -> dict[int, Judgement]:
    """A judgement of each of the assistant's lines, by its number, in the owner's language. Pure."""
    asked = questions(transcript)
    numbered = {line.number: line for line in transcript}
    return {
        number: _ruling(
            reaction, _kept_language(asked[number], numbered[number]), rules, language, (subjects or {}).get(number, "")
        )
        for number, reaction in reactions(transcript).items()
    }


def sum_up(rulings: Mapping[int, Judgement], topic: str, language: Language) -> Judgement:
    """Derives the judgement of a session from those of its answers. Pure."""
    wrong = sum(ruling.verdict != "correct" for ruling in rulings.values())
    counts = phrase(language, "summary", count=len(rulings), wrong=wrong)
    return Judgement(joint_verdict(rulings.values()), summary=f"{topic} — {counts}" if topic else counts, by_rules=True)


def _ruling(
    reaction: Reaction, kept_language: bool | None, rules: Sequence[str], language: Language, subject: str
) -> Judgement:
    of_language = [name_of_rule(rule) for rule in rules if "language" in rule][:1]
    verdict = _VERDICTS.get(reaction, "correct")
    if kept_language is False and verdict == "correct":
        verdict, reaction = "partially_correct", "language"
    complains = reaction in _VERDICTS
    return Judgement(
        verdict,
        rules_used=tuple(of_language) if kept_language and reaction != "language" else (),
        rules_ignored=tuple(of_language) if kept_language is False or reaction == "language" else (),
        errors=(phrase(language, f"error-{reaction}"),) if complains else (),
        lessons=(_lesson(reaction, language, subject),) if complains else (),
        by_rules=True,
    )


def _lesson(reaction: Reaction, language: Language, subject: str) -> str:
    if subject and reaction in ("corrected", "said-before", "repeated", "unclear"):
        return phrase(language, f"lesson-{reaction}-about", subject=subject)
    return phrase(language, f"lesson-{reaction}")


def _kept_language(asked: Sequence[TranscriptLine], answer: TranscriptLine) -> bool | None:
    """Whether an answer is in the language of its question; None if one of the languages is unknown."""
    said = " ".join(line.text for line in asked if line.owners_word)
    if min(len(tokens(said)), len(tokens(answer.text))) < _LEAST_WORDS:
        return None
    wanted = text_language(said)
    # Some words fit both Slavic languages; then the question's language is the likelier one.
    return text_language(answer.text, wanted) == wanted


MODEL = "offline-rules"


class OfflineAnalyst:
    """The Analyst by rules, run in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def ask(self, request: AnalystRequest) -> AgentReply:
        """Judges at no cost. Raises ModelUnavailable if the language process cannot answer."""
        return AgentReply(await self._worker.run_bulk(analyse, request), MODEL)


def analyse(request: AnalystRequest) -> str:
    """The reply in the format of the contract; pure. Takes about 1 ms for each new word."""
    transcript = [line.unquoted() for line in request.transcript]
    subjects = {number: subject_of(asked) for number, asked in questions(transcript).items()}
    found = judge(transcript, request.rules, request.owner.language, subjects)
    rulings = {number: found[number] for number in request.to_judge if number in found}
    topic = session_topic(transcript)
    reply = {
        "topic": topic,
        "responses": [{"message": number, **_item(ruling)} for number, ruling in sorted(rulings.items())],
        "session_summary": _item(sum_up(rulings, topic, request.owner.language)),
    }
    return json.dumps(reply, ensure_ascii=False)


def _item(ruling: Judgement) -> dict[str, Any]:
    return ruling.attributes() | ({"summary": ruling.summary} if ruling.summary else {})
