"""What a prompt shows of a life when the answer is for somebody else: violations and completeness.

    python -m benchmarks.privacy.discretion [--part development|held-back|all] [--show]

Tells each person of `discretion_set` to the product, with the offline models and as one dialogue, lets it read all,
gives each order, and looks for the keys of the facts in the prompt that the responder's model would get: once with the
facts still in the recent dialogue, once long after, when only recall brings them. `--show` lists what went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import runpy
import tempfile
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from bot.application.app import App
from bot.runtime.headless import open_alone
from bot.runtime.turns import discretion_of, prompts
from internal.access import repository as users
from internal.access.model import Role, User, UserState
from internal.agents.responder.agent import ModelResponder
from internal.config.settings import load
from internal.dialogue import repository as dialogue, turn_repository as turns
from internal.dialogue.model import Incoming, Turn, TurnState
from internal.flows.turn.prompt import read_question
from internal.flows.views.status import reading_state
from internal.storage.engine.owner_scope import acting_for
from internal.storage.types import new_id

FOLDER = Path(__file__).parents[1] / "discretion_set"
SCORE = runpy.run_path(str(FOLDER / "score.py"))
BOT, LONG_AFTER = 7, 100
"""LONG_AFTER are the tokens of recent dialogue in the second round."""


async def prompted(profiles: Mapping[str, Any], long_after: bool = False) -> list[dict[str, Any]]:
    """For each order the prompt, and the one without discretion; in the form that score.py reads."""
    with tempfile.TemporaryDirectory() as name:
        settings = {"LAPLACED_DATA_DIR": name, "LAPLACED_SERVER__PORT": "0", "LAPLACED_SCHEDULER__TICK": "0.1s"}
        if long_after:
            settings["LAPLACED_AGENTS__RESPONDER__HISTORY_TOKENS"] = str(LONG_AFTER)
        async with open_alone(load(None, settings)) as (app, _):
            lines = []
            for user_id, (file, profile) in enumerate(profiles.items(), 1):
                with acting_for(user_id):
                    lines += [line async for line in _of_profile(app, user_id, file, profile)]
            return lines


async def _of_profile(app: App, user_id: int, file: str, profile: Mapping[str, Any]) -> Any:
    await app.database.write(lambda c: _tell(c, app, user_id, profile))
    while await app.database.read(lambda c: reading_state(c, user_id)) is not None:
        await app.read_now(user_id)
    await app.archive(user_id, None)
    rules, everything = prompts(app, discretion_of(app)), prompts(app, None)
    responder = ModelResponder(None, app.config.agents.responder)  # type: ignore[arg-type] # it writes no answer here
    for n, context in enumerate(profile["contexts"]):

        def ask(connection: Connection, text: str = context["order"], n: int = n) -> Turn:
            now = app.clock.now()
            incoming = Incoming(user_id, BOT, user_id, 1000 + n, text, now)
            turn_id = new_id()
            message = dialogue.add_incoming(connection, incoming, metadata={}, turn_id=turn_id)
            assert message is not None
            return turns.open_turn(connection, incoming, now=now, close_at=now, seq=message.seq, id=turn_id)

        turn = await app.database.write(ask)
        question = await app.database.read(lambda c, turn=turn: read_question(c, turn))
        shown, all_of_it = [
            "\n".join(one.content for one in responder.messages(await way.request(question)))
            for way in (rules, everything)
        ]
        await app.database.write(lambda c, turn=turn: turns.finish(c, turn, TurnState.CLOSED))
        yield {"file": file, "order": context["order"], "prompt": shown, "everything": all_of_it}


def _tell(connection: Connection, app: App, user_id: int, profile: Mapping[str, Any]) -> None:
    now = app.clock.now() - timedelta(days=3)
    of_whom = (profile["name"], None, profile["language"], "UTC", True)
    users.add(connection, User(user_id, Role.MEMBER, UserState.ACTIVE, *of_whom, now))
    for n, fact in enumerate(profile["facts"].values()):
        incoming = Incoming(user_id, BOT, user_id, n + 1, fact["text"], now + timedelta(minutes=n))
        dialogue.add_incoming(connection, incoming, metadata={}, turn_id=None)
    dialogue.record_activity(connection, user_id, now)


def main() -> None:
    parser = argparse.ArgumentParser(description="Violations and completeness of prompts for others.")
    parser.add_argument("--part", choices=SCORE["PARTS"], default="development")
    parser.add_argument("--show", action="store_true", help="list what went wrong; never with the part held back")
    given = parser.parse_args()
    profiles = SCORE["read"](given.part)
    for long_after in (False, True):
        lines = asyncio.run(prompted(profiles, long_after))
        print("long after:" if long_after else "in the same dialogue:")
        print(SCORE["table"](profiles, lines))
        if given.show:
            print(*_faults(profiles, lines), sep="\n")


def _faults(profiles: Mapping[str, Any], lines: list[dict[str, Any]]) -> Iterator[str]:
    for found in SCORE["judged"](profiles, lines):
        for kind in ("violating", "kept_back", "not_recalled"):
            for fact in found[kind]:
                yield f"{kind:12} {found['file']} | {found['order']} | {fact}"


if __name__ == "__main__":
    main()
