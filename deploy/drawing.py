"""How a page of panels becomes a dashboard, with Grafana's own types and builders (grafana-foundation-sdk)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from grafana_foundation_sdk.builders import (
    bargauge,
    common as settings,
    dashboard as building,
    heatmap,
    prometheus,
    stat,
    timeseries,
)
from grafana_foundation_sdk.models import common, dashboard as grafana, units
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from deploy.queries import Query

SOURCE = grafana.DataSourceRef(type_val="prometheus", uid="laplaced-prometheus")

VARIABLES = {
    "user": ("User", "label_values(laplaced_people_total, user_id)"),
    "agent": ("Agent", "label_values(laplaced_llm_requests_total, agent)"),
}

Look = Literal["lines", "bars", "number", "name", "ranking", "heat"]
Drawn = timeseries.Panel | stat.Panel | bargauge.Panel | heatmap.Panel
AnyPanel = TypeVar("AnyPanel", timeseries.Panel, stat.Panel, bargauge.Panel, heatmap.Panel)


@dataclass(frozen=True, slots=True)
class Panel:
    """`width` is in 24ths of the page; `warn` and `alarm` are the values from which it turns yellow and red."""

    title: str
    queries: Sequence[Query]
    meaning: str
    unit: str = units.Short
    look: Look = "lines"
    width: int = 8
    warn: float | None = None
    alarm: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A dashboard: its variables, and its rows of panels by their titles."""

    title: str
    meaning: str
    variables: Sequence[str]
    rows: Mapping[str, Sequence[Panel]]


def number(title: str, expr: str, meaning: str, unit: str = units.Short, *, width: int = 4, **steps: float) -> Panel:
    """A single figure as of now; `steps` are `warn` and `alarm`."""
    return Panel(title, [Query(expr)], meaning, unit, "number", width, steps.get("warn"), steps.get("alarm"))


def dashboard(name: str, page: Page) -> grafana.Dashboard:
    drawing = (
        building.Dashboard(f"Laplaced: {page.title}")
        .uid(f"laplaced-{name}")
        .description(page.meaning)
        .tags(["laplaced"])
        .readonly()
        .refresh("1m")
        .time("now-24h", "now")
        .timezone("browser")
        .tooltip(grafana.DashboardCursorSync.CROSSHAIR)
        .link(_links())
        .annotation(_alerts())
    )
    for variable in page.variables:
        drawing.with_variable(_variable(variable))
    number_of = 0
    for title, panels in page.rows.items():
        drawing.with_row(building.Row(title).id(number_of := number_of + 1))
        for panel in panels:
            drawing.with_panel(_draw(panel).id(number_of := number_of + 1))
    return drawing.build()


def _links() -> building.DashboardLink:
    link = building.DashboardLink("Laplaced").type(grafana.DashboardLinkType.DASHBOARDS).tags(["laplaced"])
    return link.as_dropdown(True).include_vars(True).keep_time(True).icon("external link")


def _alerts() -> building.AnnotationQuery:
    firing = 'ALERTS{alertstate="firing", job="laplaced"}'
    return building.AnnotationQuery().name("Alerts").datasource(SOURCE).enable(True).icon_color("red").expr(firing)


def _variable(name: str) -> building.QueryVariable:
    label, query = VARIABLES[name]
    everything = grafana.VariableOption(selected=True, text="All", value="$__all")
    choice = building.QueryVariable(name).label(label).query(query).datasource(SOURCE).current(everything)
    choice.multi(True).include_all(True).all_value(".*").sort(grafana.VariableSort.ALPHABETICAL_ASC)
    return choice.refresh(grafana.VariableRefresh.ON_TIME_RANGE_CHANGED)


def _draw(panel: Panel) -> Drawn:
    match panel.look:
        case "lines" | "bars":
            return _framed(_graph(panel.look), panel, height=8)
        case "number":
            return _framed(_figure(), panel, height=4)
        case "name":
            return _framed(_figure().text_mode(common.BigValueTextMode.NAME), panel, height=4)
        case "ranking":
            ranking = bargauge.Panel().orientation(common.VizOrientation.HORIZONTAL)
            return _framed(ranking.display_mode(common.BarGaugeDisplayMode.BASIC).min(0), panel, height=8)
        case "heat":
            return _framed(heatmap.Panel().hide_legend(), panel, height=8)


def _graph(look: Look) -> timeseries.Panel:
    legend = settings.VizLegendOptions().show_legend(True).display_mode(common.LegendDisplayMode.LIST)
    graph = timeseries.Panel().min(0).legend(legend.placement(common.LegendPlacement.BOTTOM))
    if look == "lines":
        return graph.fill_opacity(10).show_points(common.VisibilityMode.NEVER)
    stacked = settings.StackingConfig().mode(common.StackingMode.NORMAL)
    return graph.draw_style(common.GraphDrawStyle.BARS).fill_opacity(80).stacking(stacked)


def _figure() -> stat.Panel:
    latest = settings.ReduceDataOptions().calcs(["lastNotNull"])
    return stat.Panel().reduce_options(latest).graph_mode(common.BigValueGraphMode.NONE).no_value("0")


def _framed(drawn: AnyPanel, panel: Panel, height: int) -> AnyPanel:
    drawn.title(panel.title).description(panel.meaning).datasource(SOURCE).unit(panel.unit)
    drawn.span(panel.width).height(height).thresholds(_steps(panel))
    for letter, query in zip("ABC", panel.queries, strict=False):
        drawn.with_target(_query(query, panel.look).ref_id(letter))
    return drawn


def _query(query: Query, look: Look) -> prometheus.Dataquery:
    asked = prometheus.Dataquery().expr(query.expr).legend_format(query.legend or "__auto")
    if look == "heat":
        return asked.range().format(PromQueryFormat.HEATMAP)
    return asked.range() if look in {"lines", "bars"} else asked.instant()


def _steps(panel: Panel) -> building.ThresholdsConfig:
    steps = [grafana.Threshold(value=None, color="green")]
    if panel.warn is not None:
        steps.append(grafana.Threshold(value=panel.warn, color="yellow"))
    if panel.alarm is not None:
        steps.append(grafana.Threshold(value=panel.alarm, color="red"))
    return building.ThresholdsConfig().mode(grafana.ThresholdsMode.ABSOLUTE).steps(steps)
