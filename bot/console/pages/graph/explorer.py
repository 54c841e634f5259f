"""The graph explorer: answers what the browser asks for."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from nicegui import ui
from nicegui.events import GenericEventArguments

from bot.console.elements import empty_list, style, trouble_notice
from bot.console.page_context import PageContext
from bot.console.rest import Json, RefusedByServer, segment

_WORDS: Final = (
    "search", "found", "nothing", "kinds", "view", "drawn", "listed", "closer", "farther", "whole", "details", "expand",
    "only", "profile", "links", "sources", "no-sources", "alone", "choose", "communities", "now", "as-of", "full",
)  # fmt: skip

_BEGINNINGS: Final = 3
_AT_FIRST: Final = 14
"""Nodes to begin with if none is named, and neighbours of each kind around each node."""

_KINDS: Final = {"fact": 4, "memory": 2, "chronicle": 3}
"""The parts of the memory and their tones."""

LOOKS: Final[dict[str, tuple[str, int]]] = {
    "owner": ("face", 4), "person": ("person", 4), "organization": ("business", 5), "project": ("rocket_launch", 1),
    "tool": ("build", 7), "technology": ("memory", 7), "place": ("place", 3), "concept": ("lightbulb", 7),
    "rule": ("gavel", 7), "Entity": ("label", 5), "Preference": ("favorite", 6), "Topic": ("topic", 1),
    "Memory": ("psychology", 2), "Concept": ("lightbulb", 6), "Keyword": ("tag", 6), "Source": ("source", 7),
    "Decision": ("alt_route", 0), "Goal": ("flag", 0), "Question": ("help", 0), "Context": ("folder", 1),
    "TemporalMarker": ("schedule", 5), "Contradiction": ("report", 0), "Session": ("forum", 3),
    "Request": ("chat", 3), "Response": ("smart_toy", 5), "Feedback": ("feedback", 1), "Analysis": ("fact_check", 6),
    "Day": ("today", 7), "Year": ("calendar_month", 7),
}  # fmt: skip
"""The icon and tone of a node: of an entity by its type, of any other by its label."""

_RELATIONS: Final = (
    "RELATES_TO", "HAS_CONCEPT", "HAS_KEYWORD", "BELONGS_TO", "MENTIONS", "FROM_SOURCE", "IN_CONTEXT",
    "OCCURRED_DURING", "INFORMED", "PARTIALLY_ANSWERS", "SUPPORTS", "REVEALS", "CONCEPT_RELATED_TO", "LED_TO",
    "DEPENDS_ON", "PART_OF", "CONFLICTS_WITH", "SUPERSEDES", "RESPONDS_TO", "FEEDBACK_ON", "ANALYZES", "SUMMARIZES",
    "NEXT", "MONTH", "HAPPENED_AT", "INVOLVES", "WORKS_FOR", "LIVES_IN", "KNOWS", "LIKES",
    "Family", "Friends", "Work_Inner", "Work_Outer", "Other",
)  # fmt: skip
"""Relations with a phrase of their own, circles among them; relations of facts are free text."""


async def build(context: PageContext) -> None:
    """Lays out the graph, beginning with `node` of the address, else with the owner and the nodes with most links."""
    style("people")
    style("graph")
    request = ui.context.client.request
    node = request.query_params.get("node", "") if request is not None else ""
    first, kept = await asyncio.gather(
        _beginning(context, node), context.rest.get("/graph/communities", user_id=context.user_id)
    )
    if first:
        _Explorer(context, first, kept["communities"])
    else:
        empty_list("hub", context.say("graph-empty"), context.say("graph-empty-text"))


async def _beginning(context: PageContext, node: str) -> list[Json]:
    """The neighbours of the nodes to begin with: of `node`, if it is named. Raises Trouble."""
    found = (
        [{"id": node}]
        if node
        else (await context.rest.get("/graph/beginnings", user_id=context.user_id, limit=_BEGINNINGS))["nodes"]
    )
    return list(await asyncio.gather(*(_around(context, one["id"], {}) for one in found)))


async def _around(context: PageContext, node: str, asked: Json) -> Json:
    """The neighbours of a node. Raises Trouble."""
    found: Json = await context.rest.get(
        f"/graph/around/{segment(node)}",
        user_id=context.user_id,
        beside=asked.get("beside") or None,
        limit=asked.get("limit", _AT_FIRST),
        as_of=asked.get("day"),
    )
    for one in (found["node"], *found["nodes"]):
        one["name"] = context.say.source(one["name"])
    return found


class _Explorer(ui.element, component="graph.js"):
    """Fetches what the browser asks for; the browser holds what is shown."""

    def __init__(self, context: PageContext, beginning: Sequence[Json], communities: Sequence[Json]) -> None:
        super().__init__()
        self._context, say = context, context.say
        words = {_camel(name): say(f"graph-{name}") for name in _WORDS} | {"close": say("close")}
        words |= {"more": say("graph-more", count="#"), "counts": say("graph-counts", nodes="#n", edges="#e")}
        self._props["words"] = words
        self._props["labels"] = {
            name: {"name": say(f"label-{name}"), "icon": icon, "tone": f"tone-{tone}"}
            for name, (icon, tone) in LOOKS.items()
        }
        self._props["relations"] = {name: say(f"relation-{name}") for name in _RELATIONS}
        self._props["kinds"] = [
            {"id": kind, "name": say(f"graph-kind-{kind}"), "tone": f"tone-{tone}"} for kind, tone in _KINDS.items()
        ]
        for n, one in enumerate(communities):
            one["tone"], circle = f"tone-{n % 8}", one["circle"]
            one["name"] = f"{say(f'circle-{circle}')}: {one['name']}" if circle else one["name"]
        self._props["communities"], self._props["beginning"] = list(communities), list(beginning)
        self._props["locale"], self._props["zone"] = say.language, str(say.zone)
        self._props["profile"] = context.at("/people", person="PERSON")
        self.on("load", self._load)
        self.on("search", self._search)
        self.on("sources", self._send_sources)

    async def _load(self, event: GenericEventArguments) -> None:
        """Sends nodes with their links. Nodes that are gone are left out, unless nothing else was asked for."""
        asked: dict[str, Any] = event.args
        found = []
        try:
            with trouble_notice(self._context):
                for node in asked["ids"]:
                    try:
                        found.append(await _around(self._context, node, asked))
                    except RefusedByServer:
                        if len(asked["ids"]) == 1:
                            raise
        finally:
            if found:
                self.run_method("loaded", found, asked["fresh"])
            else:
                self.run_method("failed")

    async def _search(self, event: GenericEventArguments) -> None:
        query, say = str(event.args), self._context.say
        body = {"query": query, "search_type": "nodes", "max_results": 8, "group_ids": [str(self._context.user_id)]}
        with trouble_notice(self._context):
            found = await self._context.rest.post("/graph/search", body, user_id=self._context.user_id)
            hits = [
                {
                    "uuid": one["uuid"],
                    "name": say.source(one["name"]),
                    "summary": one["summary"],
                    "label": ", ".join(one["labels"]),
                }
                for one in found["results"]
            ]
            self.run_method("hits", query, hits)

    async def _send_sources(self, event: GenericEventArguments) -> None:
        with trouble_notice(self._context):
            path = f"/graph/facts/{segment(event.args)}"
            fact = await self._context.rest.get(path, user_id=self._context.user_id)
            lines = [{name: line[name] for name in ("quote", "speaker", "at")} for line in fact["evidence"]]
            self.run_method("lines", fact["uuid"], lines)


def _camel(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(word.capitalize() for word in rest)
