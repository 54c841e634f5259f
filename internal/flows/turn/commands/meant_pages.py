"""Opens the page that a short question means, where the rules recognised nothing in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from internal.access.model import User
from internal.flows.turn.commands.recognise import Recognised, opened
from internal.language.commands.meaning import LONGEST, meant_pages
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Embedder
from internal.people import repository as people
from internal.storage.database import Database


@dataclass(frozen=True, slots=True)
class MeantPages:
    """Chooses pages by the vectors of messages; `embedder` is the built-in one, to which the weights belong.

    A page only shows something: nothing that changes memory or tasks is started by a vector.
    """

    database: Database
    embedder: Embedder
    worker: LanguageWorker

    async def find(self, user: User, texts: Sequence[tuple[str, str, datetime]]) -> list[Recognised]:
        """What the owner's only new message asks to see. Raises what the embedder and the language process raise."""
        if len(texts) != 1 or len((said := texts[0][1]).split()) > LONGEST:
            return []
        [vector] = await self.embedder.embed_queries([said])
        if not (pages := meant_pages(said, vector)):
            return []
        everybody = await self.database.read(lambda c: people.listing(c, user.user_id))
        return await self.worker.run(opened, pages, texts[0], everybody, user.lang)
