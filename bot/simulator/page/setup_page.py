"""The page to choose the models: three fields for `laplaced setup`, and its output."""

import asyncio
import os
import signal
import sys

from nicegui import ui

from bot.shared.child_process import LONGEST_RECORD
from bot.simulator.page.phrases import Phrases
from bot.simulator.telegram import Installation
from internal.llm.presets import find_local, list_models, presets

OTHER, LOCAL = "other", "local"


class SetupPage:
    """One open tab."""

    def __init__(self, installation: Installation, language: str) -> None:
        self._installation, self._say = installation, Phrases(language)
        offered = {one.name: one.title for one in presets().values()}
        offered |= {OTHER: self._say("setup-other"), LOCAL: self._say("setup-local")}
        with ui.element("div").classes("setup"):
            ui.label(self._say("setup-title")).classes("dialog-title")
            ui.label(self._say("setup-hint")).classes("dialog-hint")
            self._provider = ui.select(offered, label=self._say("setup-provider"), on_change=self._chosen)
            self._address = ui.input(self._say("setup-address"), placeholder="http://127.0.0.1:8000/v1")
            self._key = ui.input(self._say("setup-key"), password=True, password_toggle_button=True)
            self._model = ui.input(self._say("setup-model"))
            self._key.on("blur", self._list_models)
            self._address.on("blur", self._list_models)
            for field in (self._provider, self._address, self._key, self._model):
                field.props("outlined dense").classes("dialog-field")
            self._said = ui.label().classes("setup-said")
            with ui.row().classes("dialog-buttons"):
                ui.link(self._say("back"), "/")
                self._button = ui.button(self._say("setup-try"), on_click=self._try, color=None)
                self._button.props("unelevated no-caps")
                self._start = ui.button(self._say("setup-start"), on_click=self._restart, color=None)
                self._start.props("unelevated no-caps").set_visibility(False)
        self._address.set_visibility(False)
        ui.timer(0, self._look, once=True)

    async def _look(self) -> None:
        """Fills in the first server on this machine that answers."""
        found = await find_local()
        self._provider.set_value(self._provider.value or (found[0].preset.name if found else "openrouter"))

    async def _chosen(self) -> None:
        preset = presets().get(str(self._provider.value))
        self._address.set_visibility(self._provider.value == OTHER)
        self._key.set_visibility(self._provider.value == OTHER or bool(preset and preset.key))
        self._model.set_value(preset.model if preset else "")
        await self._list_models()

    async def _list_models(self) -> None:
        preset = presets().get(str(self._provider.value))
        url = preset.url if preset else str(self._address.value or "")
        listed = await list_models(url, str(self._key.value or "")) if url and (self._key.value or preset) else None
        self._model.set_autocomplete(listed or [])
        if listed and not self._model.value:
            self._model.set_value(listed[0])

    async def _try(self) -> None:
        """Runs the command; the key is passed over standard input, so that no process list shows it."""
        self._button.disable()
        self._said.set_text(self._say("setup-trying"))
        words = ["--config", self._installation.config] if self._installation.config else []
        words += ["--provider", str(self._provider.value), "--model", str(self._model.value or ""), "--yes"]
        words += ["--base-url", str(self._address.value or "")] if self._provider.value == OTHER else []
        key = str(self._key.value or "")
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "setup", *words, *(["--key-file", "-"] if key else []),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"}, limit=LONGEST_RECORD,
        )  # fmt: skip
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(key.encode())
        program.stdin.close()
        lines = []
        async for line in program.stdout:
            lines.append(line.decode(errors="replace").rstrip())
            self._said.set_text("\n".join(lines))
        written = await program.wait() == 0
        self._start.set_visibility(written)
        self._button.set_visibility(not written)
        self._button.enable()

    async def _restart(self) -> None:
        """Restarts the bot. The browser loads the chat when it can connect to the new process, not the ending one."""
        await ui.run_javascript("history.replaceState(null, '', '/')", timeout=10)
        os.kill(self._installation.bot, signal.SIGUSR1)
