"""The mirror in FalkorDB: one graph for each owner, and a mark of the last mirrored change.

The mark has the graph's name as its hash tag, so that a cluster keeps both on one shard and loses both together.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from internal.errors import ConfigurationError, MirrorUnavailable, Refused
from internal.graph.labels import NODES
from internal.graph.mirror import cypher as language
from internal.graph.mirror.bulk import BulkWriter
from internal.graph.mirror.projection import STORED_TYPES, Batch, MirrorEdge, MirrorMark, MirrorNode, Rows
from internal.storage.chunks import chunks

if TYPE_CHECKING:
    from falkordb.asyncio.graph import AsyncGraph
    from redis.asyncio import Redis
    from redis.asyncio.cluster import RedisCluster

    Connection = Redis | RedisCluster

INSTALL: Final = (
    "the graph is mirrored by FalkorDB, which is not installed: pip install '.[graph]' in the folder of Laplaced"
)

_CHUNK: Final = 250
"""Most rows of one statement: formatting it blocks the event loop, for some milliseconds at this size."""

_WRITING_S: Final = 60.0
_CONNECTING_S: Final = 3.0
_GRACE_S: Final = 2.0
"""Seconds after the timeout of a statement for which the engine may stay silent."""


class Falkor:
    """A FalkorDB server as a mirror. `url` is redis's own (`unix:///socket`) or begins with falkor:// or falkors://.

    `timeout` and `rows` limit a statement of an owner; `stuck` is called when the engine exceeds the timeout.
    """

    def __init__(
        self, url: str, target: str, *, timeout: timedelta, rows: int, stuck: Callable[[], None] = lambda: None
    ) -> None:
        self._url, self._target = url, target
        self._timeout, self._rows, self._stuck = timeout.total_seconds(), rows, stuck
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()

    @property
    def target(self) -> str:
        return self._target

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.aclose()

    async def ping(self) -> None:
        """Raises MirrorUnavailable when the server does not answer, or is no FalkorDB."""
        with _translated():
            await (await self._connected()).execute_command("GRAPH.LIST")

    async def mark(self, user_id: int) -> MirrorMark | None:
        with _translated():
            connection = await self._connected()
            found = await connection.hgetall(_mark(user_id))
            exists = bool(await connection.exists(_graph(user_id)))
        mark = _mark_of(found)
        return mark if mark is not None and mark.graph == exists else None

    async def known(self, user_id: int, ids: Mapping[str, Collection[str]]) -> set[str]:
        known: set[str] = set()
        graph = await self._graph(_graph(user_id))
        for label, wanted in ids.items():
            asked = f"UNWIND $ids AS id MATCH (n:{label} {{id: id}}) RETURN n.id"
            for part in chunks(sorted(wanted), _CHUNK):
                with _translated():
                    found = await graph.ro_query(asked, {"ids": part})
                known |= {row[0] for row in found.result_set}
        return known

    async def apply(self, user_id: int, batch: Batch, mark: MirrorMark) -> None:
        graph = await self._graph(_graph(user_id))
        await _apply(graph, batch)
        with _translated():
            await (await self._connected()).hset(_mark(user_id), mapping=_fields(mark))

    async def rebuild(self, user_id: int, batches: AsyncIterator[Batch], mark: MirrorMark) -> None:
        connection = await self._connected()
        fresh, name = f"{{{_graph(user_id)}}}:new", _graph(user_id)
        with _translated():
            await connection.delete(fresh)
        if mark.graph:
            writer = BulkWriter()
            async for batch in batches:
                if given := await asyncio.to_thread(writer.arguments, batch):
                    with _translated():
                        await connection.execute_command("GRAPH.BULK", fresh, *given)
            await _make_indices(await self._graph(fresh))
        with _translated():
            if mark.graph:
                await connection.rename(fresh, name)
            else:
                await connection.delete(name)
            await connection.hset(_mark(user_id), mapping=_fields(mark))

    async def query(self, user_id: int, cypher: str, params: Mapping[str, Any]) -> Rows:
        language.check(cypher, params)
        graph = await self._graph(_graph(user_id))
        try:
            with _translated_errors(self._timeout):
                async with asyncio.timeout(self._timeout + _GRACE_S):
                    found = await graph.ro_query(cypher, dict(params), timeout=round(self._timeout * 1000))
        except TimeoutError:
            self._stuck()
            raise _too_long(self._timeout, "stuck") from None
        except _NoGraph:  # an owner without a graph
            return Rows([], [])
        if len(found.result_set) > self._rows:
            raise Refused("rows", f"query: it gives more than {self._rows} rows; a LIMIT is needed")
        columns = [column[1] for column in found.header]
        return Rows(columns, [dict(zip(columns, map(language.json_of, row), strict=True)) for row in found.result_set])

    async def _graph(self, name: str) -> AsyncGraph:
        """A new client object each time: a cached one would know labels and properties of a replaced graph."""
        return imported()(await self._connected(), name)

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._connection is None:
                with _translated():
                    self._connection = await _connection(self._url)
            return self._connection


async def _connection(url: str) -> Connection:
    """Connects to one server, or to the cluster that it is a part of."""
    imported()
    from redis.asyncio import Redis
    from redis.asyncio.cluster import RedisCluster
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff
    from redis.exceptions import ConnectionError as Disconnected

    address = re.sub("^falkor(s?)://", r"redis\1://", url)
    waiting: dict[str, Any] = {"socket_timeout": _WRITING_S, "socket_connect_timeout": _CONNECTING_S}
    # A restarted server has closed our connections, so a failed call is retried once.
    waiting["retry"] = Retry(NoBackoff(), 1, supported_errors=(Disconnected,))
    single = Redis.from_url(address, decode_responses=True, **waiting)
    try:
        clustered = (await single.info("server")).get("redis_mode") == "cluster"
    except BaseException:
        await single.aclose()
        raise
    if not clustered:
        return single
    await single.aclose()
    return RedisCluster.from_url(address, decode_responses=True, **waiting)


def imported() -> Any:
    """The client's class of a graph. Raises ConfigurationError, with the command that installs it."""
    try:
        from falkordb.asyncio.graph import AsyncGraph
    except ImportError:
        raise ConfigurationError(INSTALL) from None
    return AsyncGraph


async def _make_indices(graph: AsyncGraph) -> None:
    for label in NODES:
        await _run(graph, f"CREATE INDEX FOR (n:{label}) ON (n.id)")
    for type in STORED_TYPES:
        await _run(graph, f"CREATE INDEX FOR ()-[r:{type}]-() ON (r.id)")


async def _apply(graph: AsyncGraph, batch: Batch) -> None:
    await _remove(graph, batch)
    for label, nodes in _by_label(batch.nodes).items():
        await _write_rows(graph, f"MERGE (n:{label} {{id: row.id}}) SET n = row", [node.properties for node in nodes])
    for key, edges in _by_ends(batch.edges).items():
        await _put_edges(graph, key, edges)
    if batch.removes:
        await _run(graph, "MATCH (d:Day) WHERE NOT (d)<-[:HAPPENED_AT]-() DELETE d")
        await _run(graph, "MATCH (y:Year) WHERE NOT (y)-[:MONTH]->() DELETE y")


async def _remove(graph: AsyncGraph, batch: Batch) -> None:
    of_session = "MATCH (s:Session {id: row}) OPTIONAL MATCH (s)<-[:PART_OF]-(e) DELETE e, s"
    await _write_rows(graph, of_session, sorted(batch.gone_sessions))
    for label in NODES:
        await _write_rows(graph, f"MATCH (n:{label} {{id: row}}) DELETE n", sorted(batch.gone_nodes))
    for type in STORED_TYPES:
        # An edge that is put in may have had other ends before.
        moved = {edge.id for edge in batch.edges if edge.type == type and edge.id is not None}
        wanted = sorted(batch.gone_edges | moved)
        await _write_rows(graph, f"MATCH ()-[r:{type} {{id: row}}]->() DELETE r", wanted)


async def _put_edges(graph: AsyncGraph, key: tuple[str, str, str], edges: Sequence[MirrorEdge]) -> None:
    type, source, target = key
    ends = f"MATCH (a:{source} {{id: row.source}}), (b:{target} {{id: row.target}})"
    stored = [edge for edge in edges if edge.id is not None]
    derived = [edge for edge in edges if edge.id is None]
    for how, some in (("CREATE", stored), ("MERGE", derived)):
        rows = [{"source": edge.source, "target": edge.target, "properties": dict(edge.properties)} for edge in some]
        await _write_rows(graph, f"{ends} {how} (a)-[r:{type}]->(b) SET r = row.properties", rows)


async def _write_rows(graph: AsyncGraph, statement: str, rows: Sequence[Any]) -> None:
    for part in chunks(rows, _CHUNK):
        await _run(graph, f"UNWIND $rows AS row {statement}", {"rows": part})


async def _run(graph: AsyncGraph, statement: str, params: dict[str, object] | None = None) -> None:
    with _translated():
        await graph.query(statement, params)


def _by_label(nodes: Iterable[MirrorNode]) -> dict[str, list[MirrorNode]]:
    found: dict[str, list[MirrorNode]] = defaultdict(list)
    for node in nodes:
        found[node.label].append(node)
    return found


def _by_ends(edges: Iterable[MirrorEdge]) -> dict[tuple[str, str, str], list[MirrorEdge]]:
    found: dict[tuple[str, str, str], list[MirrorEdge]] = defaultdict(list)
    for edge in edges:
        found[edge.type, edge.source_label, edge.target_label].append(edge)
    return found


def _graph(user_id: int) -> str:
    return f"laplaced:{user_id}"


def _mark(user_id: int) -> str:
    return f"{{{_graph(user_id)}}}:mark"


def _fields(mark: MirrorMark) -> dict[Any, Any]:
    return {"version": mark.version, "seq": mark.seq, "graph": int(mark.graph)}


def _mark_of(found: Mapping[Any, Any]) -> MirrorMark | None:
    try:
        return MirrorMark(str(found["version"]), int(found["seq"]), found["graph"] == "1")
    except (KeyError, ValueError):
        return None


def _too_long(seconds: float, reason: str = "timeout") -> Refused:
    return Refused(reason, f"query: it took longer than {seconds:g} s, and was given up")


class _NoGraph(Exception):
    """The owner has no graph."""


@contextmanager
def _translated() -> Iterator[None]:
    """Translates errors of the client into MirrorUnavailable, without the statement, which holds people's words."""
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        raise MirrorUnavailable(f"the mirror cannot be used: {_error_text(error)}") from None


@contextmanager
def _translated_errors(seconds: float) -> Iterator[None]:
    """Translates errors of an owner's statement into Refused. Raises TimeoutError when the engine does not answer."""
    from redis.exceptions import ConnectionError as Disconnected, ResponseError, TimeoutError as Silent

    try:
        yield
    except (TimeoutError, Silent):
        raise TimeoutError from None
    except ResponseError as error:
        raise _refusal(str(error), seconds) from None
    except (Disconnected, OSError) as error:
        raise MirrorUnavailable(f"the mirror cannot be used: {_error_text(error)}") from None


def _refusal(said: str, seconds: float) -> Exception:
    if "Invalid graph operation on empty key" in said:
        return _NoGraph()
    if "timed out" in said:
        return _too_long(seconds)
    if said.startswith(("NOPERM", "Max pending queries")):
        return MirrorUnavailable(f"the mirror cannot be used: {said[:120]}")
    if "read-only" in said:
        return Refused("read_only", "query: only statements that read are allowed")
    if "consumption exceeded" in said:
        return Refused("memory", "query: it needs more memory than a statement may have")
    return Refused("cypher", f"query: {said.removeprefix('errMsg: ').split(' errCtx:')[0][:300]}")


def _error_text(error: Exception) -> str:
    """The kind of the error, with the engine's words but not the client's, which contain the path of its socket."""
    from redis.exceptions import ResponseError

    kind = type(error).__name__
    return f"{kind}: {str(error).split('errCtx')[0][:120]}" if isinstance(error, ResponseError) else kind
