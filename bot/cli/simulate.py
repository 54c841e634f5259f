"""`laplaced simulate`: virtual users live through months with a bot of their own, in minutes."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli.base import command, load
from bot.simulation.load_options import Load

if TYPE_CHECKING:
    from internal.config.settings import Config


@command("laplaced simulate family --seed 7")
@click.argument("scenario", required=False)
@click.option("--list", "listed", is_flag=True, help="List the scenarios that come with the program.")
@click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True, help="Same seed, same life.")
@click.option(
    "--speed",
    type=click.FloatRange(0, 10_000_000),
    default=0,
    help="Simulated seconds in a real one, at most.  [default: 0, as fast as the bot can follow]",
)
@click.option("--stay", is_flag=True, help="Let the bot go on in real time when the scenario is over.")
@click.option("--until-today", is_flag=True, help="Shift it by whole weeks: it ends within the last seven days.")
@click.option("--offline", is_flag=True, help="Without a model provider, whatever is configured.")
@click.option(
    "--data",
    "data_dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder of the simulated bot; it must be empty.  [default: a new one below data_dir/simulations]",
)
@click.option("--users", type=click.IntRange(1, 10_000), help="Load instead of a scenario: number of users who write.")
@click.option("--rate", type=click.FloatRange(0.01, 1000), default=5, show_default=True, help="Messages a second.")
@click.option("--seconds", type=click.FloatRange(1, 86_400), default=60, show_default=True, help="How long they write.")
def simulate(
    config_path: Path | None,
    scenario: str | None,
    listed: bool,
    seed: int,
    speed: float,
    stay: bool,
    until_today: bool,
    offline: bool,
    data_dir: Path | None,
    users: int | None,
    rate: float,
    seconds: float,
) -> None:
    """Let the virtual users of SCENARIO talk to a bot of their own, in compressed time, and report what it remembers.

    SCENARIO is the name of one that comes with the program (see --list), or a YAML file. The configured bot and its
    data are not touched. docs/simulation.md has the format of scenarios, and what is measured.
    """
    if sum((scenario is not None, listed, users is not None)) != 1:
        raise click.UsageError("give a SCENARIO, or --users N, or --list")
    if listed:
        click.echo("\n".join(_listing()))
        return
    config, folder = load(config_path), data_dir
    if users is not None:
        raise SystemExit(asyncio.run(_load(config, folder, offline, Load(users, rate, seconds, seed))))
    how: dict[str, Any] = {"seed": seed, "speed": speed, "stay": stay, "until_today": until_today, "offline": offline}
    raise SystemExit(asyncio.run(play(config, scenario or "", folder, **how)))


def _listing() -> list[str]:
    from bot.simulator.scenarios import loader

    scenarios = [loader.load(name) for name in loader.shipped()]
    return [f"{scenario.name:<12} {scenario.days:>4} days  {scenario.title}" for scenario in scenarios]


async def play(
    config: Config,
    name: str,
    data_dir: Path | None,
    *,
    seed: int = 1,
    speed: float = 0,
    stay: bool = False,
    until_today: bool = False,
    offline: bool = False,
    model: str = "",
) -> int:
    """Plays a scenario to its end. Returns the exit code of the bot."""
    from bot.simulation import launch
    from bot.simulator.scenarios import loader
    from bot.simulator.scenarios.plan import plan, shifted

    scenario, now = loader.load(name), datetime.now(UTC)
    played = plan(scenario, seed, shifted(scenario, now.date()) if until_today else None)
    folder = data_dir or launch.folder_of(config, scenario.name, seed, now)
    return await launch.simulate(config, played, folder, speed=speed, stay=stay, offline=offline, model=model)


async def _load(config: Config, data_dir: Path | None, offline: bool, load_options: Load) -> int:
    from bot.runtime import bot
    from bot.simulation import launch
    from bot.simulation.load import LoadGenerator

    folder = data_dir or launch.folder_of(config, "load", load_options.seed, datetime.now(UTC))
    launch.create_data_folder(folder, asdict(load_options))
    generator = LoadGenerator(load_options, folder / "reports" / "load.json")
    simulated = launch.simulated_config(config, folder, offline=offline)
    return await bot.run(simulated, budget=launch.unlimited_budget(), simulation=generator)
