"""The first page without a model: one chooses a server of this machine in the browser, and the bot answers with it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import yaml
from playwright.async_api import Browser, expect
from support.patience import PATIENCE_S
from support.product.models_tried import AGENTS, MODEL, answers
from support.product.running_product import product

from internal.testing import ScriptedModel

LONG_MS = PATIENCE_S * 1000
"""A process is started, or a bot started again, on a machine that is busy."""

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_model_is_chosen_in_the_browser_and_answers(browser: Browser, tmp_path: Path) -> None:
    """It is offered there, tried with every agent's call, written, in use after a click, and offered no more."""
    async with ScriptedModel(offered=[MODEL]) as ollama:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]  # the page finds the bot again where it was
        here = {"OLLAMA_HOST": f"127.0.0.1:{ollama.port}", "LAPLACED_TELEGRAM__LOCAL__PORT": str(port)}
        configuration = tmp_path / "config.yaml"
        # Fresh processes: the page signals its parent, which of a forked one is the starter of all the others.
        async with product(tmp_path, scripted=False, own_telegram=False, fresh=True, **here) as (bot, _):
            await bot.start()
            page = await (await browser.new_context(locale="uk", viewport={"width": 1200, "height": 800})).new_page()
            await page.goto(f"{bot.chat_page}/?user=1003")
            await page.get_by_text("Обрати справжні").click()
            await expect(page.get_by_label("Модель", exact=True)).to_have_value(MODEL)
            button = page.get_by_role("button", name="Перевірити й записати")
            await button.click()
            said = page.locator(".setup-said")
            await expect(said).to_contain_text("failed", timeout=LONG_MS)
            await expect(button).to_be_enabled()
            assert not configuration.exists()

            ollama.always(MODEL, answers)
            await button.click()
            await expect(said).to_contain_text("Written: ", timeout=LONG_MS)
            assert [line.split()[0] for line in (await said.inner_text()).splitlines()[:-1]] == AGENTS
            assert yaml.safe_load(configuration.read_text())["llm"]["model"] == MODEL

            await page.get_by_role("button", name="Запустити бота з нею").click()
            field = page.locator("textarea.field-text")
            await expect(page.locator(".setup-link")).to_have_count(0, timeout=LONG_MS)
            await expect(page.locator(".head-status")).to_have_text("у мережі", timeout=LONG_MS)
            await field.fill("Where does Tom live?")
            await field.press("Enter")
            await expect(page.locator(".bubble", has_text="Tom lives in Lisbon.")).to_be_visible(timeout=LONG_MS)
            await page.context.close()
            assert await bot.stop() == 0
