"""/console: the one-time link to one's own pages."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from support.interfaces.handler_stage import World, only

from internal.access.console import service as console
from internal.access.model import LANGUAGES, Language


@pytest.mark.parametrize("lang", LANGUAGES)
async def test_console_answers_with_a_link_that_works_once(world: World, lang: Language) -> None:
    """It leads to the login of the console, and opens a session of whoever asked for it."""
    await world.admit(2, "Taras", lang)
    said = only(await world.send("/console", 2))
    [link] = re.findall(r"http://127\.0\.0\.1:9082/login#link=(\S+)", said.text)
    now, lifetime = world.clock.now(), timedelta(days=1)
    opened = await world.write(lambda c: console.open_by_link(c, link, lifetime=lifetime, now=now))
    assert opened is not None
    assert opened.session.user_id == 2
    assert await world.write(lambda c: console.open_by_link(c, link, lifetime=lifetime, now=now)) is None
