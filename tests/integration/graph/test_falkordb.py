"""Statements of others in a real FalkorDB, and the server as a child of the program."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError
from support.paths import ROOT
from support.patience import PATIENCE_S

from internal.errors import MirrorUnavailable, Refused
from internal.graph.mirror.falkordb import Falkor
from internal.graph.mirror.falkordb_server import EmbeddedFalkor, binaries, running, socket_of
from internal.graph.mirror.projection import Batch, MirrorEdge, MirrorMark, MirrorNode

OWNER, ROWS = 42, 50


@pytest.fixture
async def falkor(tmp_path: Path) -> AsyncIterator[Falkor]:
    """A mirror of a hundred linked concepts and a fact with times; a statement has half a second and 50 rows."""
    async with running(tmp_path / "falkordb", rows=ROWS) as server:
        mirror = _client(server)
        await mirror.rebuild(OWNER, _everything(), MirrorMark("1", 1))
        yield mirror
        await mirror.aclose()


def _client(server: EmbeddedFalkor) -> Falkor:
    short = timedelta(seconds=0.5)
    return Falkor(server.url, "falkor://tests", timeout=short, rows=ROWS, stuck=server.kill)


async def _everything() -> AsyncIterator[Batch]:
    concepts = [MirrorNode("Concept", {"id": f"c{n}", "name": f"concept {n}"}) for n in range(100)]
    about = [
        MirrorEdge("CONCEPT_RELATED_TO", f"c{n}", "c0", "Concept", "Concept", {"id": f"e{n}", "relType": "kind"})
        for n in range(1, 100)
    ]
    yield Batch(nodes=concepts, edges=about)


async def _ask(falkor: Falkor, cypher: str, **params: Any) -> list[Any]:
    return list((await falkor.query(OWNER, cypher, params)).rows)


async def test_values_of_an_answer_are_those_of_json(falkor: Falkor) -> None:
    """Nodes, edges, paths, lists, maps and what JSON has no word for."""
    [row] = await _ask(
        falkor,
        "MATCH p = (a:Concept {id: $id})-[r:CONCEPT_RELATED_TO]->(b) "
        "RETURN a, r, p, [1, 2.5, null, true] AS list, {x: 'ї'} AS map, 0.0/0.0 AS nan, date('2026-02-07') AS day",
        id="c7",
    )
    concept = {"id": "c7", "label": "Concept", "properties": {"id": "c7", "name": "concept 7"}}
    edge = {"id": "e7", "type": "CONCEPT_RELATED_TO", "properties": {"id": "e7", "relType": "kind"}}
    other = {"id": "c0", "label": "Concept", "properties": {"id": "c0", "name": "concept 0"}}
    assert row["a"] == concept
    assert row["r"] == edge
    assert row["p"] == {"nodes": [concept, other], "edges": [edge]}
    assert (row["list"], row["map"], row["nan"], row["day"]) == ([1, 2.5, None, True], {"x": "ї"}, None, "2026-02-07")


VALUES = ["a\"b\\c'd`e", "\n\t\x01😀", "", "$id", -1, 2**53, 0.1, True, None, [1, ["x"]], {"a b": []}]


@pytest.mark.parametrize("value", VALUES)
async def test_parameters_are_taken_as_they_are(falkor: Falkor, value: Any) -> None:
    """No text breaks out of its quotes, and every value of JSON comes back as it was given."""
    assert await _ask(falkor, "RETURN $value AS value", value=value) == [{"value": value}]


@pytest.mark.parametrize(
    ("cypher", "reason", "told"),
    [
        ("CREATE (:Concept {id: 'x'})", "read_only", "read"),
        ("MATCH (n) SET n.name = 'x'", "read_only", "read"),
        ("MATCH (n) DELETE n", "read_only", "read"),
        ("MATCH (n) REMOVE n.name RETURN n", "read_only", "read"),
        ("MERGE (:Concept {id: 'x'}) RETURN 1", "read_only", "read"),
        ("CALL db.idx.fulltext.createNodeIndex('Concept', 'name')", "read_only", "read"),
        ("MATCH (n", "cypher", "Invalid input"),
        ("MATCH (n) RETURN m", "cypher", "'m' not defined"),
        ("MATCH (n) RETURN $missing", "cypher", "Missing parameters"),
        ("   ", "cypher", "expected"),
        ("LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row", "cypher", "LOAD CSV"),
        ("load /* 'x' */ csv FROM 'http://localhost/' AS row RETURN row", "cypher", "LOAD CSV"),
        ("LOAD // it's\n CSV FROM 'http://localhost/' AS row RETURN row", "cypher", "LOAD CSV"),
        (f"RETURN {'(' * 3000}1{')' * 3000}", "nested", "nested too deeply"),
        (f"RETURN {'(' * 30}1{')' * 30}", "nested", "nested too deeply"),
        (f"RETURN {'NOT and = ' * 30}true", "nested", "nested too deeply"),
        (f"RETURN {'-or[' * 15}1{']' * 15}", "nested", "nested too deeply"),
        (f"RETURN {'CASE WHEN 1 AND -' * 15}true{' THEN 1 END' * 15}", "nested", "nested too deeply"),
        (f"RETURN {'[x IN ' * 10}1", "cypher", "Invalid input"),
        ("RETURN (1]", "cypher", "Invalid input"),
        ("MATCH (a), (b), (c), (d) RETURN count(*)", "timeout", "0.5 s"),
        ("MATCH (a:Concept) RETURN a", "rows", "50 rows"),
        ("UNWIND range(0, 20000000) AS x RETURN count(x)", "memory", "memory"),
    ],
)
async def test_what_is_not_answered_is_refused_with_its_reason(
    falkor: Falkor, cypher: str, reason: str, told: str
) -> None:
    """Writing, what cannot be read, and what takes too long or gives too much; nothing of the graph is changed."""
    with pytest.raises(Refused) as refused:
        await _ask(falkor, cypher)
    assert refused.value.reason == reason
    assert told in str(refused.value)
    left = await _ask(falkor, "MATCH (n:Concept) RETURN count(n) AS n, max(n.name) AS m")
    assert left == [{"n": 100, "m": "concept 99"}]


@pytest.mark.parametrize("name", ["x=1 MATCH (n) DELETE n", "", "a b", "1", "x`"])
async def test_the_name_of_a_parameter_is_never_read_as_cypher(falkor: Falkor, name: str) -> None:
    """It stands before the statement, where everything is language."""
    with pytest.raises(Refused) as refused:
        await falkor.query(OWNER, "RETURN 1", {name: 1})
    assert refused.value.reason == "params"


async def test_parameters_have_a_depth(falkor: Falkor) -> None:
    """A list in a list in a list, and so on, is refused before anything is asked."""
    deep: list[Any] = []
    for _ in range(2000):
        deep = [deep]
    with pytest.raises(Refused, match="at most 50 levels") as refused:
        await _ask(falkor, "RETURN $x", x=deep)
    assert refused.value.reason == "params"


async def test_long_statements_are_answered(falkor: Falkor) -> None:
    """What people ask is nested by a few levels; many of them beside one another do not add up to a depth."""
    conditions = " AND ".join("NOT (a.name = 'x' OR NOT a.id STARTS WITH toLower('Y'))" for _ in range(40))
    columns = ", ".join(
        f"CASE WHEN size([x IN [{n}, -1] WHERE x > -1]) = 1 THEN -1 ELSE {n} END AS n{n}" for n in range(40)
    )
    path = "(a:Concept {id: 'c1'})-->(b)<--(c)-[:CONCEPT_RELATED_TO*1..2]->(d)"
    assert await _ask(falkor, f"MATCH {path} WHERE {conditions} RETURN {columns} LIMIT 1") == []
    folded = "toUpper(coalesce(head([x IN [a.name, 'b'] | trim(toLower(x + ''))]), ''))"
    assert await _ask(falkor, f"MATCH (a {{id: 'c1'}}) RETURN {folded} AS n") == [{"n": "CONCEPT 1"}]


async def test_an_error_does_not_tell_where_the_socket_is(tmp_path: Path) -> None:
    """Neither to owners nor to whoever reads their questions' answers."""
    gone = Falkor(f"unix://{tmp_path}/falkordb.sock", "falkor://tests", timeout=timedelta(seconds=1), rows=ROWS)
    for asking in (gone.ping(), gone.mark(OWNER), gone.query(OWNER, "RETURN 1", {})):
        with pytest.raises(MirrorUnavailable) as unavailable:
            await asking
        assert str(tmp_path) not in str(unavailable.value)


async def test_words_that_only_look_like_loading_are_allowed(falkor: Falkor) -> None:
    """In a text, in a name or in a comment."""
    assert await _ask(falkor, "RETURN 'load csv' AS `load csv` // load csv") == [{"load csv": "load csv"}]


async def test_another_owners_graph_is_out_of_reach(falkor: Falkor) -> None:
    """A statement sees the graph it is asked of, and nobody's is empty."""
    assert list((await falkor.query(7, "MATCH (n) RETURN n", {})).rows) == []
    assert await falkor.mark(7) is None


async def _until(happened: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await happened():  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.05)


async def _answers(falkor: Falkor) -> bool:
    with suppress(MirrorUnavailable):
        await falkor.ping()
        return True
    return False


async def test_the_server_keeps_nothing_on_the_disk(tmp_path: Path) -> None:
    """What was forgotten is in no file of it; and its folder is closed to others."""
    async with running(tmp_path / "f", rows=ROWS) as server:
        falkor = _client(server)
        await falkor.rebuild(OWNER, _everything(), MirrorMark("1", 1))
        await falkor.aclose()
        assert (tmp_path / "f").stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "f").iterdir()) == []


async def test_a_server_that_is_killed_is_started_again(tmp_path: Path) -> None:
    """Empty, on the same socket."""
    async with running(tmp_path, rows=ROWS) as server:
        falkor = _client(server)
        await falkor.ping()
        before = server.pid
        server.kill()
        await _until(lambda: _answers(falkor))
        assert server.pid != before
        await falkor.aclose()


async def test_a_killed_program_leaves_no_server(tmp_path: Path) -> None:
    """Its child is told by the system; whatever is left nevertheless is ended by the next start."""
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from internal.graph.mirror.falkordb_server import running\n"
        "async def main():\n"
        f"    async with running(Path({str(tmp_path)!r}), rows=1) as server:\n"
        "        print(server.pid, flush=True); await asyncio.sleep(60)\n"
        "asyncio.run(main())"
    )
    program = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, cwd=ROOT)
    assert program.stdout is not None
    orphan = int(await program.stdout.readline())
    program.kill()
    await program.wait()
    async with running(tmp_path, rows=ROWS) as server:
        assert server.pid != orphan
        await _until(lambda: _gone(orphan))


async def _gone(pid: int) -> bool:
    """Nobody waits for the child of a killed program: it may stay as a zombie, which runs no more."""
    listed = await asyncio.create_subprocess_exec("ps", "-o", "stat=", "-p", str(pid), stdout=asyncio.subprocess.PIPE)
    state, _ = await listed.communicate()
    return state.strip()[:1] in (b"", b"Z")


async def test_an_orphan_on_the_socket_is_ended(tmp_path: Path) -> None:
    """Also where no system told it that its parent died."""
    listening = socket_of(tmp_path)
    orphan = await _redis(tmp_path, "--port", "0", "--unixsocket", str(listening))
    await _until(lambda: _is_there(listening))
    async with running(tmp_path, rows=ROWS) as started:
        async with asyncio.timeout(PATIENCE_S):
            assert await orphan.wait() == 0
        assert started.pid != orphan.pid


async def _is_there(path: Path) -> bool:
    return await asyncio.to_thread(path.exists)


async def _redis(folder: Path, *options: str) -> asyncio.subprocess.Process:
    server, module = binaries()
    command = [server, *options, "--save", "", "--loadmodule", module]
    return await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL, cwd=folder)


async def test_a_folder_with_a_long_name_has_its_socket_elsewhere(tmp_path: Path) -> None:
    """A socket's path may have some hundred bytes; a data folder may have more."""
    folder = tmp_path / ("long" * 30)
    async with running(folder, rows=ROWS) as server:
        assert folder not in server.socket.parents
        assert server.socket == socket_of(folder)
        falkor = _client(server)
        await falkor.ping()
        await falkor.aclose()
    server.socket.parent.rmdir()


async def test_a_server_with_a_password_and_a_cluster(tmp_path: Path) -> None:
    """A graph and its mark are on one shard of a cluster; a wrong password is told without showing it."""
    with socket.socket() as free, socket.socket() as beside:
        for one in (free, beside):
            one.bind(("127.0.0.1", 0))
        port, bus = int(free.getsockname()[1]), int(beside.getsockname()[1])
    options = ("--port", str(port), "--bind", "127.0.0.1", "--requirepass", "secret-of-tests")
    # By default the bus is 10,000 above the port, where there may be none.
    cluster = await _redis(tmp_path, *options, "--cluster-enabled", "yes", "--cluster-port", str(bus))
    url, short = f"falkor://:secret-of-tests@127.0.0.1:{port}", timedelta(seconds=5)
    falkor = Falkor(url, "falkor://tests", timeout=short, rows=ROWS)
    stranger = Falkor(url.replace("secret", "wrong"), "falkor://tests", timeout=short, rows=ROWS)
    try:
        await _join(url)
        await falkor.rebuild(OWNER, _everything(), MirrorMark("1", 5))
        assert await falkor.mark(OWNER) == MirrorMark("1", 5)
        assert await _ask(falkor, "MATCH (n:Concept) RETURN count(n) AS n") == [{"n": 100}]
        gone = Batch(gone_nodes={"c1"})
        await falkor.apply(OWNER, gone, MirrorMark("1", 6))
        assert await falkor.known(OWNER, {"Concept": ["c1", "c2"]}) == {"c2"}
        with pytest.raises(MirrorUnavailable) as refused:
            await stranger.ping()
        assert "wrong-of-tests" not in str(refused.value)
    finally:
        await falkor.aclose()
        await stranger.aclose()
        cluster.kill()
        await cluster.wait()


async def _join(url: str) -> None:
    """Gives the only server of a cluster every slot."""

    async def taken() -> bool:
        with suppress(RedisError):
            await redis.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            return True
        return False

    async def joined() -> bool:
        return "cluster_state:ok" in str(await redis.execute_command("CLUSTER", "INFO"))

    async with Redis.from_url(url.replace("falkor", "redis"), decode_responses=True) as redis:
        await _until(taken)
        await _until(joined)
