"""Writes a new graph in the binary format of GRAPH.BULK, which the engine loads without parsing statements."""

import struct
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final

from internal.graph.mirror.projection import Batch

_NUMBERS: Final = range(-(2**63), 2**63)


class BulkWriter:
    """Turns the batches of one new graph into arguments of GRAPH.BULK.

    Edges name their ends by the numbers that the engine gives to nodes: from 0, in the order in which they are sent.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}
        self._derived: set[tuple[str, int, int]] = set()

    def arguments(self, batch: Batch) -> list[Any]:
        """The arguments for this batch, without nodes sent before and without edges that have an unsent end.

        Empty if nothing is left.
        """
        begins, before = not self._numbers, len(self._numbers)
        nodes, edges = self._nodes(batch), self._edges(batch)
        if not nodes and not edges:
            return []
        counts = (len(self._numbers) - before, sum(map(len, edges.values())), len(nodes), len(edges))
        files = [_header(*key) + b"".join(rows) for key, rows in (*nodes.items(), *edges.items())]
        return [*(["BEGIN"] if begins else []), *counts, *files]

    def _nodes(self, batch: Batch) -> dict[tuple[str, tuple[str, ...]], list[bytes]]:
        fresh = {(node.label, node.id): node for node in batch.nodes if (node.label, node.id) not in self._numbers}
        found = defaultdict(list)
        for node in sorted(fresh.values(), key=lambda node: (node.label, *node.properties)):
            self._numbers[node.label, node.id] = len(self._numbers)
            found[node.label, tuple(node.properties)].append(_row(node.properties))
        return found

    def _edges(self, batch: Batch) -> dict[tuple[str, tuple[str, ...]], list[bytes]]:
        found = defaultdict(list)
        for edge in batch.edges:
            source = self._numbers.get((edge.source_label, edge.source))
            target = self._numbers.get((edge.target_label, edge.target))
            if source is None or target is None or (edge.type, source, target) in self._derived:
                continue
            if edge.id is None:
                self._derived.add((edge.type, source, target))
            ends = struct.pack("<qq", source, target)
            found[edge.type, tuple(edge.properties)].append(ends + _row(edge.properties))
        return found


def _header(name: str, properties: tuple[str, ...]) -> bytes:
    return _text(name) + struct.pack("<I", len(properties)) + b"".join(map(_text, properties))


def _row(properties: Mapping[str, Any]) -> bytes:
    return b"".join(map(_value, properties.values()))


def _value(value: Any) -> bytes:
    if isinstance(value, str):
        return b"\3" + _text(value)
    if value is None or isinstance(value, bool):
        return b"\0" if value is None else struct.pack("<B?", 1, value)
    if isinstance(value, list):
        return struct.pack("<Bq", 5, len(value)) + b"".join(map(_value, value))
    whole = isinstance(value, int) and value in _NUMBERS
    return struct.pack("<Bq", 4, value) if whole else struct.pack("<Bd", 2, value)


def _text(text: str) -> bytes:
    return text.replace("\0", "").encode() + b"\0"
