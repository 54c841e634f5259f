"""Starts a separate bot for a simulation: in its own data folder, over the local Telegram, without waits."""

import json
import logging
from datetime import datetime, timedelta
from pathlib import Path

from bot.runtime import bot
from bot.simulation.player import Simulation
from bot.simulator.scenarios.loader import ScenarioInvalid
from bot.simulator.scenarios.plan import Plan
from bot.telegram.delivery.flood_limits import Budget
from internal.config.settings import (
    Config,
    EmbeddingConfig,
    LLMConfig,
    LocalTelegramConfig,
    StorageConfig,
    TelegramConfig,
)
from internal.config.values import Section
from internal.storage.files.permissions import PRIVATE_FOLDER

DESCRIPTION_FILE = "simulation.json"
"""The file in the data folder that describes the simulation."""

UNLIMITED = 1e9
"""Messages a second: with Telegram's own limits, months would take hours."""

_TICK = timedelta(seconds=1)

_DAYS_KEPT = 36_500
"""Days for which a simulation keeps events and login sessions, since a simulated week may last a second."""


def simulated_config(config: Config, data_dir: Path, *, offline: bool = False, model: str = "") -> Config:
    """The configuration of the simulated bot: models as configured, one for all agents, or offline.

    It does not use the real bot's data or Telegram.
    """
    telegram = TelegramConfig(group_window=timedelta(0), local=LocalTelegramConfig(port=config.telegram.local.port))
    models: dict[str, Section] = {}
    if offline:
        models = {"llm": LLMConfig(), "embedding": EmbeddingConfig(provider="offline")}
    if model:
        agents = {name: agent.model_copy(update={"model": model}) for name, agent in config.agents.each()}
        models = {"llm": config.llm.model_copy(update={"model": model, "local": ""})}
        models |= {"agents": config.agents.model_copy(update=agents)}
    return config.model_copy(
        update=models
        | {
            "telegram": telegram,
            "access": config.access.model_copy(update={"allowed_user_ids": [], "messages_per_minute": 0}),
            "scheduler": config.scheduler.model_copy(update={"tick": _TICK}),
            "storage": StorageConfig(),
            "console": config.console.model_copy(update={"session_lifetime": timedelta(days=_DAYS_KEPT)}),
            "events": config.events.model_copy(update={"keep_days": _DAYS_KEPT}),
            "data_dir": data_dir,
        }
    )


def unlimited_budget() -> Budget:
    return Budget(global_per_second=UNLIMITED, chat_per_second=UNLIMITED)


def create_data_folder(folder: Path, what: dict[str, object]) -> None:
    """Creates the data folder. Raises ScenarioInvalid if it is not empty."""
    if folder.is_dir() and any(folder.iterdir()):
        raise ScenarioInvalid(f"{folder} is not empty; give another folder with --data, or delete this one")
    folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    (folder / DESCRIPTION_FILE).write_text(json.dumps(what, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


async def simulate(
    config: Config, played: Plan, data_dir: Path, *, speed: float, stay: bool, offline: bool = False, model: str = ""
) -> int:
    """Plays a plan from beginning to end. Returns the exit code of the bot.

    Raises ScenarioInvalid for a folder that is in use, and what bot.runtime.bot.run raises.
    """
    create_data_folder(
        data_dir, {"scenario": played.scenario.name, "seed": played.seed, "start": played.start.isoformat()}
    )
    logging.getLogger().setLevel(logging.WARNING)  # months of simulated time log thousands of lines a minute
    simulation = Simulation(played, data_dir / "reports", speed=speed, stay=stay)
    simulated = simulated_config(config, data_dir, offline=offline, model=model)
    return await bot.run(simulated, budget=unlimited_budget(), simulation=simulation)


def folder_of(config: Config, name: str, seed: int, now: datetime) -> Path:
    """The data folder of a simulation if none is given."""
    return config.data_dir / "simulations" / f"{name}-{seed}-{now:%Y%m%dT%H%M%S}"
