"""Targets hidden until they are erased: one row for each message, node, edge or profile part and each request.

A row belongs to a pending forgetting, or to a correction that replaced a fact, and ends with it. What several requests
hide stays hidden until the last of them is undone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, exists, func, literal, or_, select

from internal.storage.change_log import record_changes
from internal.storage.chunks import chunks
from internal.storage.engine.upsert import upsert
from internal.storage.tables import forgettings, graph_edges, graph_nodes, hidings

HiddenKind = Literal["message", "node", "edge", "part"]
"""Kinds of targets: ids of messages, nodes and edges, and keys of parts of profiles as evidence holds them."""

Targets = dict[HiddenKind, set[str]]
"""Hidden targets, by kind."""

DERIVED: Final[tuple[HiddenKind, ...]] = ("node", "edge", "part")
"""The kinds that follow from what the pending requests erase together; messages belong to a request by themselves."""

_TABLES: Final[dict[str, Table]] = {"node": graph_nodes, "edge": graph_edges}
_TARGETS: Final = select(hidings.c.target)
_ANY: Final = exists().where(hidings.c.target > "")  # one lookup in the index, for all requests

_HIDE: Final = upsert(hidings).on_conflict_do_nothing()


def visible(target: ColumnElement[str]) -> ColumnElement[bool]:
    """The condition that no request hides the target with this id. A person is as visible as its entity.

    The table is nearly always empty; that is checked once for a statement, and rows cost nothing then.
    """
    return or_(~_ANY, target.not_in(_TARGETS))


def hidden(target: ColumnElement[str]) -> ColumnElement[bool]:
    """The condition that some request hides the target with this id."""
    return exists().where(hidings.c.target == target)


def hide(
    connection: Connection, user_id: int, forgetting_id: str, kind: HiddenKind, targets: Iterable[str]
) -> list[str]:
    """Hides the owner's targets among these for one request. Returns the ones that were not hidden before."""
    wanted = sorted(set(targets))
    if kind in _TABLES:
        wanted = sorted(set(wanted).difference(missing_ids(connection, user_id, kind, wanted)))
    before = hidden_among(connection, user_id, kind, wanted)
    fresh = [target for target in wanted if target not in before]
    row = {"user_id": user_id, "forgetting_id": forgetting_id, "kind": kind}
    if wanted:
        connection.execute(_HIDE, [row | {"target": target} for target in wanted])
    if kind in _TABLES:
        record_changes(connection, user_id, kind, fresh, "delete")
    return fresh


def hide_every(connection: Connection, user_id: int, forgetting_id: str) -> None:
    """Hides every node and edge of an owner. The caller records that caches must read the owner again."""
    for kind, table in _TABLES.items():
        rows = select(literal(user_id), literal(forgetting_id), literal(kind), table.c.id)
        every = rows.where(table.c.user_id == user_id)
        columns = ["user_id", "forgetting_id", "kind", "target"]
        connection.execute(upsert(hidings).from_select(columns, every).on_conflict_do_nothing())


def inherit(connection: Connection, user_id: int, kind: HiddenKind, before: str, after: str) -> None:
    """Hides one target for every request that hides another one."""
    ours = (hidings.c.user_id == user_id) & (hidings.c.kind == kind) & (hidings.c.target == before)
    for forgetting_id in connection.execute(select(hidings.c.forgetting_id).where(ours)).scalars().all():
        hide(connection, user_id, forgetting_id, kind, [after])


def align(connection: Connection, user_id: int, wanted: Mapping[str, Targets]) -> tuple[Targets, Targets]:
    """Makes these requests hide exactly these derived targets. Returns the newly hidden and the newly visible ones."""
    stored: dict[tuple[str, HiddenKind], set[str]] = defaultdict(set)
    for forgetting_id in wanted:
        ours = (hidings.c.user_id == user_id) & (hidings.c.forgetting_id == forgetting_id) & hidings.c.kind.in_(DERIVED)
        for row in connection.execute(select(hidings.c.kind, hidings.c.target).where(ours)):
            stored[forgetting_id, row.kind].add(row.target)
    hidden, visible = _none(), _none()
    for forgetting_id, targets in wanted.items():
        for kind in DERIVED:
            fresh = targets.get(kind, set()) - stored[forgetting_id, kind]
            hidden[kind].update(hide(connection, user_id, forgetting_id, kind, fresh))
    for (forgetting_id, kind), before in stored.items():
        visible[kind].update(
            _end_some(connection, user_id, forgetting_id, kind, before - wanted[forgetting_id].get(kind, set()))
        )
    return hidden, visible


def end_hiding(connection: Connection, user_id: int, forgetting_id: str) -> Targets:
    """Ends what a request hides. Returns the targets that nothing hides any more."""
    one = (hidings.c.user_id == user_id) & (hidings.c.forgetting_id == forgetting_id)
    ended = _none()
    for row in connection.execute(delete(hidings).where(one).returning(hidings.c.kind, hidings.c.target)).all():
        ended[row.kind].add(row.target)
    return {kind: set(_now_visible(connection, user_id, kind, targets)) for kind, targets in ended.items()}


def orphaned_hidings(connection: Connection) -> dict[tuple[int, str], int]:
    """The number of targets hidden for ever, for no pending request or correction, by owner and id of the request."""
    asked = select(forgettings.c.id).where(
        forgettings.c.user_id == hidings.c.user_id,
        forgettings.c.id == hidings.c.forgetting_id,
        forgettings.c.state.in_(("pending", "replaced")),
    )
    of_forgetting = (hidings.c.user_id, hidings.c.forgetting_id)
    query = (
        select(*of_forgetting, func.count()).where(~asked.exists()).group_by(*of_forgetting).order_by(*of_forgetting)
    )
    return {(user_id, forgetting_id): count for user_id, forgetting_id, count in connection.execute(query)}


def unhide_all(connection: Connection, user_id: int) -> dict[tuple[str, HiddenKind], list[str]]:
    """Makes every node and edge of an owner visible. Returns the hidden ones, by request and kind, for `hide`."""
    ours = (hidings.c.user_id == user_id) & hidings.c.kind.in_(_TABLES)
    lifted: dict[tuple[str, HiddenKind], list[str]] = {}
    for row in connection.execute(delete(hidings).where(ours).returning(*hidings.c)).all():
        lifted.setdefault((row.forgetting_id, row.kind), []).append(row.target)
    return lifted


# Runs at every message and every question and is built once: building takes longer than running it.
_OF_REQUESTS: Final = select(hidings.c.target).where(
    hidings.c.user_id == bindparam("owner"),
    hidings.c.forgetting_id.in_(bindparam("requests", expanding=True)),
    hidings.c.kind == bindparam("kind"),
)


def of_requests(connection: Connection, user_id: int, forgetting_ids: Sequence[str], kind: HiddenKind) -> set[str]:
    """The targets of a kind that these requests hide."""
    if not forgetting_ids:
        return set()
    values = {"owner": user_id, "requests": list(forgetting_ids), "kind": kind}
    return set(connection.execute(_OF_REQUESTS, values).scalars())


def hidden_among(connection: Connection, user_id: int, kind: HiddenKind, targets: Sequence[str]) -> set[str]:
    """The targets among these that some request hides."""
    ours = select(hidings.c.target).where(hidings.c.user_id == user_id, hidings.c.kind == kind)
    found: set[str] = set()
    for chunk in chunks(targets):
        found |= set(connection.execute(ours.where(hidings.c.target.in_(chunk))).scalars())
    return found


def hidden_parts(connection: Connection, user_id: int, prefix: str) -> set[str]:
    """The keys, without this prefix, of the profile parts that some request hides."""
    ours = (hidings.c.user_id == user_id) & (hidings.c.kind == "part") & hidings.c.target.startswith(prefix)
    return {
        target.removeprefix(prefix) for target in connection.execute(select(hidings.c.target).where(ours)).scalars()
    }


def parts_hidden_for(connection: Connection, user_id: int, ref_ids: Sequence[str]) -> list[str]:
    """The profile parts that are hidden by requests to forget one of these."""
    same = (forgettings.c.user_id == hidings.c.user_id) & (forgettings.c.id == hidings.c.forgetting_id)
    query = select(hidings.c.target).join(forgettings, same).where(hidings.c.user_id == user_id)
    query = query.where(hidings.c.kind == "part", forgettings.c.ref_id.in_(ref_ids))
    return sorted(set(connection.execute(query).scalars()))


def missing_ids(connection: Connection, user_id: int, kind: HiddenKind, ids: Iterable[str]) -> list[str]:
    """The ids of nodes or edges among these that are not stored."""
    table, listed, there = _TABLES[kind], sorted(ids), set[str]()
    for chunk in chunks(listed):
        one = (table.c.user_id == user_id) & table.c.id.in_(chunk)
        there |= set(connection.execute(select(table.c.id).where(one)).scalars())
    return [target for target in listed if target not in there]


def _end_some(
    connection: Connection, user_id: int, forgetting_id: str, kind: HiddenKind, targets: Iterable[str]
) -> list[str]:
    listed = sorted(targets)
    ours = (hidings.c.user_id == user_id) & (hidings.c.forgetting_id == forgetting_id) & (hidings.c.kind == kind)
    for chunk in chunks(listed):
        connection.execute(delete(hidings).where(ours, hidings.c.target.in_(chunk)))
    return _now_visible(connection, user_id, kind, listed)


def _now_visible(connection: Connection, user_id: int, kind: HiddenKind, ended: Iterable[str]) -> list[str]:
    """The targets among these that no request hides any more. Caches and mirrors are notified of them."""
    listed = sorted(ended)
    left = hidden_among(connection, user_id, kind, listed)
    visible = [target for target in listed if target not in left]
    if kind in _TABLES:
        record_changes(connection, user_id, kind, visible)
    return visible


def _none() -> Targets:
    return {"message": set(), "node": set(), "edge": set(), "part": set()}
