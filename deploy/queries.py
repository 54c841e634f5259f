"""The PromQL behind the panels: what is asked, and what its lines are called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """One PromQL expression; `legend` names its lines, with labels as `{{label}}`."""

    expr: str
    legend: str = ""


def quantiles(histogram: str, matchers: str = "", by: str = "") -> list[Query]:
    """Half, 95 % and 99 % of what a histogram saw, for each value of the label `by` if there is one."""
    labels, legend = (f"le, {by}", f"{{{{{by}}}}} ") if by else ("le", "")
    rate = f"sum by ({labels}) (rate({histogram}_bucket{{{matchers}}}[$__rate_interval]))"
    return [Query(f"histogram_quantile({share}, {rate})", f"{legend}p{share * 100:g}") for share in (0.5, 0.95, 0.99)]


def mean(histogram: str, matchers: str, legend: str) -> Query:
    """The average of what a histogram saw within each step of the graph."""
    total, count = (f"sum(rate({histogram}_{part}{{{matchers}}}[$__rate_interval]))" for part in ("sum", "count"))
    return Query(f"{total} / {count}", legend)


def counts(counter: str, by: str, matchers: str = "") -> list[Query]:
    """How often it happened within each step of the graph, for each value of a label."""
    return [Query(f"sum by ({by}) (increase({counter}{{{matchers}}}[$__rate_interval]))", f"{{{{{by}}}}}")]


def each(counter: str, first: str, second: str, matchers: str = "") -> list[Query]:
    """As `counts`, for each pair of two labels' values."""
    asked = f"sum by ({first}, {second}) (increase({counter}{{{matchers}}}[$__rate_interval]))"
    return [Query(asked, f"{{{{{first}}}}} {{{{{second}}}}}")]


def since(gauge: str) -> str:
    """Seconds since the moment that a gauge holds; 0 while it holds none."""
    return f"(time() - {gauge}) * ({gauge} > bool 0)"
