"""`laplaced setup`: asks which models shall answer, tries them, and writes the configuration."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from bot.cli.base import DEFAULT_CONFIG, command, fail, load

if TYPE_CHECKING:
    from bot.application.setup import Choice, Setup
    from internal.llm.presets import Found

SHOWN_MODELS = 8
OTHER, LOCAL = "other", "local"


@command("laplaced setup --provider ollama --model qwen3:8b --yes")
@click.option("--provider", metavar="NAME", help="Such as openrouter or ollama; other: with --base-url; local: a file.")
@click.option("--base-url", metavar="URL", help="Address of another server that speaks the OpenAI wire format.")
@click.option("--model", metavar="NAME", help="Model of all agents; with `local` a GGUF file or OWNER/REPO/FILE.gguf.")
@click.option("--key-file", type=click.File("r"), metavar="FILE", help="File that holds the key; - is standard input.")
@click.option(
    "--yes", is_flag=True, help="Ask nothing: without a --model take the first, and write if every agent answers."
)
def setup(
    config_path: Path | None,
    provider: str | None,
    base_url: str | None,
    model: str | None,
    key_file: TextIO | None,
    yes: bool,
) -> None:
    """Choose the models: a provider or a server on this machine, its key, and a model.

    Every agent's call is tried and shown with what it answered. Only then config.yaml is written, with its comments
    kept, and the key into a file of its own that nobody else can read.
    """
    from bot.application.setup import Setup
    from internal.telemetry.logs import redact

    load(config_path, quiet=True)
    key = key_file.read().strip() if key_file is not None else None
    choice = asyncio.run(_choice(provider or (OTHER if base_url else None), base_url, model, key, yes))
    redact.register(choice.key)
    prepared = Setup(config_path or DEFAULT_CONFIG, choice)
    whole = asyncio.run(_shown(prepared))
    if yes and not whole:
        fail("nothing was written, because an agent's call failed; without --yes you can decide")
    if yes or click.confirm(f"Write {config_path or DEFAULT_CONFIG}?", default=whole):
        click.echo(f"Written: {', '.join(map(str, prepared.write()))}. Start the bot now, or start it again.")


async def _choice(provider: str | None, base_url: str | None, model: str | None, key: str | None, yes: bool) -> Choice:
    """The choice, asking for what the options leave out. Raises UsageError."""
    from bot.application.setup import Choice
    from internal.llm.presets import find_local, list_models, presets

    if provider is None:
        if yes:
            raise click.UsageError("--yes needs --provider or --base-url")
        provider = _ask_provider(await find_local(1.0))
    if provider == LOCAL:
        return Choice(local=model or _ask("Model file, or OWNER/REPO/FILE.gguf", "", yes, "--model"))
    if provider != OTHER and provider not in presets():
        raise click.UsageError(f"--provider is one of {', '.join([*presets(), OTHER, LOCAL])}")
    preset = presets().get(provider)
    url = base_url or (preset.url if preset else _ask("Address, such as http://host:8000/v1", "", yes, "--base-url"))
    if key is None and not yes and (preset is None or preset.key):
        where = f"from {preset.key}" if preset else "Enter: none"
        key = click.prompt(
            f"Key ({where})", default="" if preset is None else None, hide_input=True, show_default=False
        )
    if not model:
        listed = await list_models(url, key or "") or []
        if listed and not yes:
            click.echo(f"It has: {', '.join(listed[:SHOWN_MODELS])}{' ...' if len(listed) > SHOWN_MODELS else ''}")
        usual = preset.model if preset and (preset.model in listed or not listed) else ""
        model = _ask("Model", usual or next(iter(listed), ""), yes, "--model")
    return Choice(url, model, key or "")


def _ask(question: str, usual: str, yes: bool, option: str) -> str:
    if yes:
        if not usual:
            raise click.UsageError(f"{option} is needed here")
        return usual
    return str(click.prompt(question, default=usual or None))


def _ask_provider(found: list[Found]) -> str:
    """Asks for a provider and returns its name; those on this machine are listed first."""
    from internal.llm.presets import presets

    here = {one.preset.name: f"{one.preset.title} on this machine" for one in found}
    away = {name: preset.title for name, preset in presets().items() if name not in here and not preset.port}
    offered = here | away | {OTHER: "another server", LOCAL: "a model file in this program, without a server"}
    for number, title in enumerate(offered.values(), start=1):
        click.echo(f"{number:>3}  {title}")
    number = click.prompt("Which models shall answer", type=click.IntRange(1, len(offered)), default=1)
    return list(offered)[number - 1]


async def _shown(prepared: Setup) -> bool:
    """Prints how each call went. Returns whether all succeeded. Raises SetupFailed."""
    whole = True
    async for one in prepared.tried():
        whole = whole and one.error is None
        said = f"failed: {one.error}" if one.error else f"ok{f', {one.note}' if one.note else ''}"
        click.echo(f"{one.agent:<16}{one.seconds:>6.1f} s  {one.model}: {said}")
    return whole
