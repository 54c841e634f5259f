"""An owner's archived dialogue whose every derived row can be searched for a word, down to the bytes on the disk."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import Connection, select
from support.flows.flow_stage import OWNER, Talk

from internal.agents.archivist.reply.name_matcher import NameMatcher
from internal.agents.model import AgentReply, ArchivistRequest
from internal.config.settings import RunsConfig
from internal.flows.archival.ingestion import add_episode, text_segments
from internal.flows.archivist.handler import ArchivistHandler
from internal.flows.archivist.name_reader import WorkerNameReader
from internal.flows.archivist.resolve_reply import ReplyResolver
from internal.flows.archivist.write_mentions import MentionFinder
from internal.flows.forgetting.requests import Erased, ForgettingService
from internal.flows.runs.loop import RunLoop
from internal.knowledge import service as knowledge
from internal.knowledge.entities.types import EntityTypes
from internal.knowledge.model import Fact, FactFilter
from internal.language.worker.process_pool import LanguageWorker
from internal.llm.model import Usage
from internal.people import repository as people
from internal.people.model import Person
from internal.storage.database import Database
from internal.storage.forgetting.forgettings import Kind
from internal.storage.tables import TEXT, metadata
from internal.testing import TrigramEmbedder

KEY = b"k" * 32


P = ParamSpec("P")
T = TypeVar("T")


class LanguageHere(LanguageWorker):
    """The language process's own functions, called in this process: half a second once instead of at each test."""

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return function(*args, **kwargs)

    run_bulk = run


class Interrupted(LanguageHere):
    """The same, but what stands in `between` happens first, once: another agent is done while this one reads names."""

    def __init__(self) -> None:
        super().__init__()
        self.between: list[Callable[[], Awaitable[Any]]] = []

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        found = function(*args, **kwargs)
        while self.between:
            await self.between.pop()()
        return found

    run_bulk = run


class Scripted:
    """An archivist that answers each request with what was scripted for a word of its transcript."""

    def __init__(self) -> None:
        self.script: dict[str, dict[str, Any]] = {}
        self.asked: list[ArchivistRequest] = []

    async def ask(self, request: ArchivistRequest) -> AgentReply:
        self.asked.append(request)
        said = "\n".join(line.text for line in request.transcript)
        found = [reply for word, reply in self.script.items() if word in said]
        reply = {name: [one for part in found for one in part.get(name, ())] for name in _LISTS}
        return AgentReply(json.dumps(reply, ensure_ascii=False), "scripted", Usage(10, 5))


_LISTS = ("people_operations", "entities", "facts", "memories")


class NoNames:
    async def hints(self, known: Sequence[Person], texts: Sequence[str]) -> list[Any]:
        return []

    async def mentions(self, known: Sequence[Person], texts: Sequence[str]) -> list[set[int]]:
        return [{one.id for one in known if any(name in text for name in one.names)} for text in texts]


class Nobody:
    """Watches nothing."""

    def people_applied(self, user_id: int, op_type: str, count: int = 1) -> None: ...
    def facts_changed(self, outcome: str, count: int = 1) -> None: ...
    def memories_changed(self, outcome: str, count: int = 1) -> None: ...
    def operation_refused(self, agent: str, reason: str) -> None: ...
    def extraction_seconds(self, user_id: int, seconds: float) -> None: ...
    def agent_run(self, agent: str, outcome: str) -> None: ...


class ErasingStage:
    """What is said is archived by `archive`; `reply` scripts the archivist for slices that hold a word."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.archivist, self.names = talk, Scripted(), Interrupted()
        database, clock = talk.database, talk.clock
        handler = ArchivistHandler(
            database,
            clock,
            self.archivist,
            NoNames(),
            ReplyResolver(database, NameMatcher(LanguageHere(), TrigramEmbedder())),
            Nobody(),
            mentions=MentionFinder(database, WorkerNameReader(self.names)),
            types=EntityTypes(),
            persona_name="Laplaced",
            tombstone_key=KEY,
            ask_owner=lambda connection, user_id, links, now: None,
            wake=lambda: None,
        )
        self.runs = RunLoop(database, clock, [handler], RunsConfig(), Nobody(), 0.0, lambda *owed: None)
        self.eraser = ForgettingService(database, clock, KEY)

    @property
    def database(self) -> Database:
        return self.talk.database

    def reply(self, word: str, **lists: Sequence[dict[str, Any]]) -> None:
        self.archivist.script[word] = dict(lists)

    async def said(self, *texts: str) -> str:
        """The id of the archived fragment in which this was said, each answered."""
        for text in texts:
            await self.talk.exchange(text)
        await self.talk.publication().publish_now(OWNER)
        await self.archive()
        return (await self.talk.messages())[-1].episode_id or ""

    async def told(self, text: str) -> str:
        """The id of an archived text."""
        now = self.talk.clock.now()
        stored = await self.talk.write(
            lambda c: add_episode(
                c, OWNER, source="text", name="note", segments=text_segments(text, now), content=text,
                source_description="a note", source_url=None, reference_time=now, dedupe=None, agents=["archivist"],
                now=now,
            )
        )  # fmt: skip
        await self.archive()
        return stored.episode.id

    async def archive(self) -> None:
        self.talk.clock.advance(60)
        await self.runs.work_off(OWNER, 30)

    async def forget(self, kind: Kind, ref_id: str | None) -> Erased:
        return await self.eraser.erase_now(OWNER, kind, ref_id)

    async def facts(self, **wanted: Any) -> list[Fact]:
        now = self.talk.clock.now()
        return await self.talk.read(lambda c: knowledge.facts_about(c, OWNER, FactFilter(**wanted), now=now))

    async def people(self) -> list[Person]:
        return await self.talk.read(lambda c: people.listing(c, OWNER))

    async def tables_with(self, text: str) -> set[str]:
        """The tables one of whose text-bearing columns holds this, whatever its case."""
        return await self.talk.read(lambda c: _tables_with(c, text.casefold()))

    def files_with(self, text: str) -> list[str]:
        """The database's files that hold this text anywhere, in free pages too, in any of three cases.

        None of a server's: which of its pages are free is its own affair.
        """
        forms = {form.encode() for form in (text, text.casefold(), text.upper(), text.capitalize())}
        path = self.database.path
        if path is None:
            return []
        files = sorted(path.parent.glob(path.name + "*"))
        return [file.name for file in files if any(form in file.read_bytes() for form in forms)]


def _tables_with(connection: Connection, text: str) -> set[str]:
    found = set()
    for table in metadata.sorted_tables:
        for column in table.c:
            if column.info.items() >= TEXT.items():
                for value in connection.execute(select(column)).scalars():
                    plain = value.decode("utf-8", "replace") if isinstance(value, bytes) else _plain(value)
                    if text in plain.casefold():
                        found.add(table.name)
    return found


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def added(name: str, bio: str, *lines: int, **more: Any) -> dict[str, Any]:
    return {"type": "Added", "person": {"display_name": name, "bio": bio, **more}, "evidence": list(lines)}


def fact(source: str, relation: str, target: str, words: str, *lines: int) -> dict[str, Any]:
    return {"source": source, "relation": relation, "target": target, "fact": words, "evidence": list(lines)}


async def bios(stage: ErasingStage) -> dict[str, str]:
    return {person.display_name: person.bio for person in await stage.people()}
