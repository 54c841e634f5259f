"""What a PromQL expression asks for, held against the metrics that exist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import promql_parser as promql

VARIABLES = {"$__rate_interval": "1m", "$__range": "1h", "$__interval": "15s", "$user": ".*", "$agent": ".*"}
"""What Grafana puts into an expression before it asks."""


def filled(expression: str) -> str:
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    assert "$" not in expression, f"a variable that nobody fills in: {expression}"
    return expression


def faults(expression: str, series: Mapping[str, set[str]]) -> list[str]:
    """Metrics that are not there, and labels that they do not have; `series` is label names by metric name."""
    return list(_faults(promql.parse(expression), series))


def _faults(node: promql.Expr, series: Mapping[str, set[str]]) -> Iterator[str]:
    for selector in _selectors(node):
        name = str(selector.name)
        if name not in series:
            yield f"there is no {name}"
            continue
        matched = (str(matcher.name) for matcher in selector.matchers.matchers)
        yield from (f"{name} has no label {label}" for label in matched if label not in series[name])
    for labels, under in _groupings(node):
        names = [str(selector.name) for selector in _selectors(under) if selector.name in series]
        yield from (f"{name} has no label {label}" for name in names for label in labels if label not in series[name])


def _groupings(node: promql.Expr) -> Iterator[tuple[list[str], promql.Expr]]:
    for part in _parts(node):
        if isinstance(part, promql.AggregateExpr) and part.modifier is not None:
            yield part.modifier.labels, part.expr
        elif isinstance(part, promql.BinaryExpr) and part.modifier is not None and part.modifier.matching is not None:
            yield part.modifier.matching.labels, part


def _selectors(node: promql.Expr) -> Iterator[promql.VectorSelector]:
    return (part for part in _parts(node) if isinstance(part, promql.VectorSelector))


def _parts(node: promql.Expr) -> list[promql.Expr]:
    found: list[promql.Expr] = []
    promql.walk(node, found.append)
    return found
