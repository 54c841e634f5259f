"""Ids that come with an address stay one segment of the path they are put into."""

from __future__ import annotations

import httpx
import pytest

from bot.console.rest import ConsoleRest, segment


@pytest.mark.parametrize(
    "named", ["..", ".", "../users", "a/b", "x?user_id=2", "x#y", "%2e%2e", "018f-uuid", "кот і пес"]
)
async def test_an_id_leads_to_no_other_call(named: str) -> None:
    """What the server reads behind the path is the whole id, and nothing joins the query."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://127.0.0.1:1") as http:
        await ConsoleRest(http, "lcs_token").get(f"/graph/around/{segment(named)}", user_id=1)
    assert asked[0].url.path == f"/graph/around/{named}"
    assert asked[0].url.raw_path.count(b"/") == 3
    assert asked[0].url.query == b"user_id=1"
