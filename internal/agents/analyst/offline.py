"""The analyst without a model: it judges an answer by what the owner said next."""

import json
from typing import Any

from internal.agents.analyst.offline_verdicts import judge, sum_up
from internal.agents.analyst.reactions import questions
from internal.agents.analyst.topics import subject_of, topic_of
from internal.agents.analyst.verdict import Judgement
from internal.agents.model import AgentReply, AnalystRequest
from internal.language.worker.process_pool import LanguageWorker

MODEL = "offline-rules"


class OfflineAnalyst:
    """The Analyst by rules, run in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def ask(self, request: AnalystRequest) -> AgentReply:
        """As the port says; costs nothing. ModelUnavailable if the language process cannot answer."""
        return AgentReply(await self._worker.run_bulk(analyse, request), MODEL)


def analyse(request: AnalystRequest) -> str:
    """The reply in the format of the contract; pure. About 1 ms for each word that was not seen before."""
    transcript = [line.unquoted() for line in request.transcript]
    subjects = {number: subject_of(asked) for number, asked in questions(transcript).items()}
    found = judge(transcript, request.rules, request.owner.language, subjects)
    rulings = {number: found[number] for number in request.to_judge if number in found}
    topic = topic_of(transcript)
    reply = {
        "topic": topic,
        "responses": [{"message": number, **_item(ruling)} for number, ruling in sorted(rulings.items())],
        "session_summary": _item(sum_up(rulings, topic, request.owner.language)),
    }
    return json.dumps(reply, ensure_ascii=False)


def _item(ruling: Judgement) -> dict[str, Any]:
    return ruling.attributes() | ({"summary": ruling.summary} if ruling.summary else {})
