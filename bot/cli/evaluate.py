"""`laplaced eval`: how well recall finds what was said, and what a model makes of a chat."""

import asyncio
import json
from pathlib import Path
from typing import Any

import click

from bot.cli.base import command, command_group, load

_FILE = click.Path(path_type=Path, dir_okay=False)
_FILES = click.argument("files", nargs=-1, required=True, metavar="FILE...", type=_FILE)
_VECTORS = click.option(
    "--vectors",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the vectors in this folder: a second run makes no vectors.",
)


@command_group("laplaced eval locomo locomo10.json --out rankings.jsonl")
def evaluation() -> None:
    """Measure how well recall finds what was said, and what a model makes of a chat.

    Conversations are files in the form of LoCoMo. They go through the bot's own write path into a scratch store, which
    is deleted; your own data is never opened.
    """


@command("laplaced eval chat chat_en --model qwen2.5:7b", evaluation)
@click.argument("scenario", default="chat_en")
@click.option("--model", default="", help="Ask this model of the configured server, for every agent.")
@click.option("--offline", is_flag=True, help="Without a model, by rules.")
@click.option("--data", "data_dir", type=click.Path(path_type=Path, file_okay=False), help="As for laplaced simulate.")
def chat(config_path: Path | None, scenario: str, model: str, offline: bool, data_dir: Path | None) -> None:
    """Chat through SCENARIO with a separate bot, and report its knowledge, its answers and the cost.

    SCENARIO is the same as for laplaced simulate; chat_en, chat_ru and chat_uk are short ones. People, facts, tasks and
    answers are counted as right, wrong or missed; calls, tokens and seconds follow.
    """
    from bot.cli.simulate import play

    raise SystemExit(asyncio.run(play(load(config_path), scenario, data_dir, offline=offline, model=model)))


@command("laplaced eval locomo locomo10.json --out rankings.jsonl", evaluation)
@_FILES
@click.option("--out", "target", type=_FILE, required=True, help="File to write the rankings to, one question a line.")
@click.option(
    "--embedder",
    "name",
    metavar="NAME",
    default="offline",
    show_default=True,
    help="offline: the one built in; api: the configured server's; none: search by words only.",
)
@_VECTORS
def locomo(config_path: Path | None, files: tuple[Path, ...], target: Path, name: str, folder: Path | None) -> None:
    """Rank the turns of conversations for each of their questions, at most 50.

    Each line is {"file", "question", "category", "ranking": [dia_id, ...], "chances": [of each that it answers, ...]}.
    Only the turns of a file are read, with their speakers, times, and the captions of their pictures.
    """
    from bot.runtime.evaluation import rank_files

    count = asyncio.run(rank_files(load(config_path), files, target, name, folder))
    click.echo(f"{target}: {count} questions ranked")


@command("laplaced eval score rankings.jsonl locomo10.json", evaluation)
@click.argument("rankings", type=_FILE)
@_FILES
def score(config_path: Path | None, rankings: Path, files: tuple[Path, ...]) -> None:
    """Score rankings against the evidence in the files, as one JSON object.

    Recall of turns at 5, 10, 20 and 50, NDCG at 10 and recall of sessions at 5; overall, by category, by file, and by
    tag where questions have tags. Averaged over the questions that have evidence.
    """
    load(config_path)
    from bot.evaluation import locomo as conversations
    from bot.evaluation.scores import read_rankings, report

    ranked, missing = read_rankings(rankings, conversations.read(files))
    click.echo(_json({"unranked": missing, **report(ranked)}))


@command("laplaced eval train first.json second.json --out ranking.json", evaluation)
@_FILES
@click.option("--out", "target", type=_FILE, required=True, help="File to write the weights to.")
@click.option("--tags", is_flag=True, help="Tell the figures by tag too, where questions have tags.")
@_VECTORS
def train(config_path: Path | None, files: tuple[Path, ...], target: Path, tags: bool, folder: Path | None) -> None:
    """Learn the weights of the ranking from conversations, with the embeddings that are built in.

    Prints one JSON object: how the ranking does on each conversation when it is learned from all others. Without
    --vectors the vectors are kept in a folder of the system's temporary files.
    """
    from bot.runtime.evaluation import train_on_files

    click.echo(_json(asyncio.run(train_on_files(load(config_path), files, target, folder, tags=tags))))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
