"""Charts in the colours of the page, light and dark."""

from typing import Any, Final

from nicegui import ui

COLOURS: Final = ("--tone-4", "--tone-5", "--tone-1", "--tone-2", "--tone-6", "--tone-3", "--tone-0", "--tone-7")
"""Colours of the series of a chart, in order."""

_STYLE: Final = "getComputedStyle(document.body).getPropertyValue('{}').trim()"


def colour(name: str) -> str:
    """JavaScript that reads a colour from the style sheet; an option with it has a colon before its name."""
    return _STYLE.format(name)


def chart(options: dict[str, Any], label: str) -> ui.echart:
    """A chart; `label` describes it in words for those who cannot see it."""
    text, line = colour("--dim"), colour("--line")
    styled: dict[str, Any] = {
        "textStyle": {":fontFamily": "getComputedStyle(document.body).fontFamily"},
        ":color": "[" + ", ".join(colour(name) for name in COLOURS) + "]",
        "animation": False,
    } | options
    tooltip = {":backgroundColor": colour("--raised"), ":borderColor": line, "textStyle": {":color": colour("--text")}}
    styled["tooltip"] = tooltip | dict(styled.get("tooltip") or {})
    if "legend" in styled:
        styled["legend"] = {"textStyle": {":color": text}, "icon": "circle", ":inactiveColor": line} | styled["legend"]
    for axis in ("xAxis", "yAxis"):
        own = dict(styled.get(axis) or {})
        own["axisLabel"] = {":color": text} | dict(own.get("axisLabel") or {})
        own["axisLine"] = {"show": axis == "xAxis", "lineStyle": {":color": line}}
        own["axisTick"] = {"show": False}
        own["splitLine"] = {"show": axis == "yAxis", "lineStyle": {":color": line}}
        styled[axis] = own
    made = ui.echart(styled).classes("chart").props("role=img")
    made.props["aria-label"] = label
    return made
