"""The simulator's calls of a bot that lives in real time; tests/integration/simulator has those of a simulation."""

from __future__ import annotations

import httpx
import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_bot_in_real_time_has_no_simulation_to_control(visitor: httpx.AsyncClient) -> None:
    """It is off, orders are refused with the command that begins one, and there is no report."""
    assert (await visitor.get("/simulator")).json()["state"] == "off"
    refused = await visitor.post("/simulator", json={"action": "start", "scenario": "family"})
    assert refused.status_code == 409
    assert "laplaced simulate" in refused.json()["detail"]
    assert (await visitor.get("/simulator/report")).status_code == 404
    assert (await visitor.post("/simulator", json={"action": "fly"})).status_code == 422
