"""Everything that finds what is relevant to a question, built once and shared by answers, pages and commands."""

from bot.application.models import Models, entity_types
from internal.access import repository as users
from internal.config.settings import Config
from internal.language.worker.process_pool import LanguageWorker
from internal.recall.index.dictionaries import Dictionaries
from internal.recall.index.terms import WorkerTerms
from internal.recall.messages.search import MessageSearch
from internal.recall.prompt.facts import FactRecall
from internal.recall.prompt.lessons import LessonRecall
from internal.recall.prompt.memories import MemoryRecall
from internal.recall.prompt.overview import Overview, OverviewSearch, PeopleFinder
from internal.recall.prompt.passages import PassageRecall
from internal.recall.search.knowledge import KnowledgeSearch
from internal.recall.search.names import WorkerNames
from internal.recall.search.people import PeopleSearch
from internal.scheduling.clock import Clock
from internal.storage.database import Database
from internal.storage.engine.owner_scope import acting_for
from internal.telemetry.metrics import Metrics


class Searches:
    """The searches over people, knowledge and messages, and what recalls with them for a prompt."""

    def __init__(
        self, config: Config, clock: Clock, database: Database, metrics: Metrics, models: Models, worker: LanguageWorker
    ) -> None:
        self._database = database
        self.dictionaries = Dictionaries(config.rag.retrieval.dictionaries, config.data_dir)
        self.names, self.terms = WorkerNames(worker), WorkerTerms(worker, self.dictionaries)
        self.people = PeopleSearch(database, models.embedder, names=self.names, observer=metrics)
        self.knowledge = KnowledgeSearch(
            database,
            clock,
            embedder=models.embedder,
            terms=self.terms,
            names=self.names,
            types=entity_types(config),
            observer=metrics,
        )
        self.messages = MessageSearch(
            database,
            clock,
            embedder=models.embedder,
            terms=self.terms,
            names=self.names,
            observer=metrics,
            data_dir=config.data_dir,
        )
        self.facts = FactRecall(database, self.knowledge)
        self.memories = MemoryRecall(database, self.knowledge, config.memory.associations)
        self.passages = PassageRecall(self.messages, self.knowledge)
        self.lessons = LessonRecall(database, clock, self.terms, metrics)
        self.finder = PeopleFinder(database, self.people, self.knowledge)

    async def overview(self, user_id: int, query: str, limit: int) -> Overview:
        """Everything that a question recalls, at most `limit` of each kind. Raises NotFound for an unknown user."""
        everything = OverviewSearch(self._database, self.finder, self.knowledge, self.memories, self.messages)
        with acting_for(user_id):
            await self._database.read(lambda c: users.get(c, user_id))
            return await everything.recall(user_id, query, limit)
