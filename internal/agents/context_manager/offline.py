"""The context manager without a model: it quotes the owner, and sends due notifications as they come."""

import json

from internal.agents.context_manager.offline_snapshot import quoted
from internal.agents.context_manager.offline_wording import weigh
from internal.agents.model import AgentReply, ContextRequest, WeighingRequest
from internal.language.worker.process_pool import LanguageWorker

MODEL = "offline-rules"


class OfflineContextManager:
    """The ContextManager by rules; snapshots are made in the language process."""

    def __init__(self, worker: LanguageWorker) -> None:
        self._worker = worker

    async def update(self, request: ContextRequest) -> AgentReply:
        """Updates at no cost. Raises ModelUnavailable if the language process cannot answer."""
        return AgentReply(await self._worker.run_bulk(update, request), MODEL)

    async def weigh(self, request: WeighingRequest) -> AgentReply:
        """Decides at no cost in this process, by a few rules."""
        decided = [
            {
                "id": decision.notification_id,
                "decision": decision.choice,
                "text": decision.text,
                "until": decision.until.isoformat() if decision.until else None,
                "reason": decision.reason,
                "by": "rules",
            }
            for decision in weigh(request).values()
        ]
        return AgentReply(json.dumps({"notifications": decided}, ensure_ascii=False), MODEL)


def update(request: ContextRequest) -> str:
    """The reply in the format of the contract; pure."""
    return json.dumps({"snapshot": quoted(request)}, ensure_ascii=False)
