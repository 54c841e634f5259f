"""Recorded replies of weak and strong models, replayed over HTTP: what the running product remembers of each."""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import unified_diff
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from support.paths import ROOT
from support.product.owners_chat import Chat
from support.product.running_product import ARCHIVIST, RESPONDER, product, until

from bot.simulator.scenarios import known_state
from internal.graph import store
from internal.graph.model import NodeFilter
from internal.storage.database import Database
from internal.testing import Fault, Step

DATA = ROOT / "tests" / "data"
JOINT_PROMPT = ROOT / "tests" / "integration" / "agents" / "golden" / "together.txt"
REQUESTS = DATA / "recordings_requests.txt"
OWNERS = {"ru": "Анна", "uk": "Олег", "en": "Alex"}
REFRESH = "UPDATE_GOLDEN=1 python -m pytest tests/acceptance/test_recordings.py"
MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d \w{3}")


@dataclass(frozen=True)
class Recording:
    """As `recordings.yaml` explains it."""

    name: str
    says: list[str]
    reply: str | list[Any]
    people: list[str]
    owner: str = ""
    facts: list[str] = field(default_factory=list)
    entities: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    calls: int | None = None

    @property
    def language(self) -> str:
        return self.name.split()[0]

    @property
    def owner_name(self) -> str:
        return self.owner or OWNERS[self.language]

    @property
    def match(self) -> str:
        return re.escape(self.says[0])

    @property
    def replies(self) -> list[Any]:
        return self.reply if isinstance(self.reply, list) else [self.reply]

    def wrong(self, known: known_state.StoredMemory, entities: list[str], calls: int) -> list[str]:
        """What is in memory and should not be, or the other way round."""
        held = {
            "facts": list(map(known_state.fact_words, known.facts)),
            "entities": entities,
            "memories": list(map(known_state.memory_words, known.memories)),
            "tasks": [task.title for task in known.tasks],
        }
        people = sorted(person.display_name for person in known.people)
        found = [] if people == sorted(self.people) else [f"people {people}, not {sorted(self.people)}"]
        for kind, texts in held.items():
            missing = [words for words in getattr(self, kind) if not any(words in text for text in texts)]
            found += [f"no {words!r} in {kind} {texts}" for words in missing]
        derived = [*known.derived(), *entities, *(person.username or "" for person in known.people)]
        found += [f"{words!r} in {text!r}" for words in self.never for text in derived if words in text]
        wanted = len(self.replies) if self.calls is None else self.calls
        return found if calls == wanted else [*found, f"{calls} calls, not {wanted}"]


RECORDINGS = [Recording(**one) for one in yaml.safe_load((DATA / "recordings.yaml").read_text(encoding="utf-8"))]


async def test_what_real_models_reply_becomes_what_it_should(tmp_path: Path) -> None:
    """One product reads all recordings, each of an owner of its own; what it asked is compared with what it asked."""
    settings = {"LAPLACED_DIALOGUE__IDLE_TIMEOUT": "1h", "LAPLACED_AGENTS__ANALYST__ENABLED": "false"}
    async with product(tmp_path, scripted=True, **settings) as (bot, people):
        assert bot.model is not None
        assert people is not None
        bot.model.always(RESPONDER, "Noted.")
        for one in RECORDINGS:
            bot.model.script(ARCHIVIST, *(Step(_reply(reply), match=one.match) for reply in one.replies))
        bot.model.always(ARCHIVIST, {"people_operations": []})
        users = [await people.add_user(one.owner_name, language_code=one.language) for one in RECORDINGS]
        bot.settings["LAPLACED_ACCESS__ALLOWED_USER_IDS"] = ",".join(map(str, users))
        await bot.start()
        await asyncio.gather(
            *(_talk(Chat(people, user), one.says) for user, one in zip(users, RECORDINGS, strict=True))
        )
        done = "SELECT count(*) FROM runs HAVING sum(agent = 'archivist') >= ? AND min(state IN ('applied', 'dead'))"
        await until(lambda: bot.rows(done, len(RECORDINGS)))
        assert await bot.stop() == 0
        asked = [[a for a in bot.model.asked(ARCHIVIST) if re.search(one.match, a.text)] for one in RECORDINGS]
        async with Database.open(bot.data_dir / "laplaced.db") as database:
            faults = []
            for one, user, calls in zip(RECORDINGS, users, asked, strict=True):
                known = await database.read(lambda c, user=user: known_state.read(c, user, datetime.now(UTC)))  # type: ignore[misc]
                things = await database.read(lambda c, user=user: store.nodes(c, user, NodeFilter(labels=["Entity"])))  # type: ignore[misc]
                faults += [f"{one.name}: {wrong}" for wrong in one.wrong(known, [t.name for t in things], len(calls))]
        assert not faults, "\n".join(faults)
    instructions, contexts = zip(*((m["content"] for m in calls[0].messages[:2]) for calls in asked), strict=True)
    [(joint, _)] = Counter(instructions).items()
    sections = (
        f"===== {one.name}\n{MOMENT.sub('…', context)}\n" for one, context in zip(RECORDINGS, contexts, strict=True)
    )
    _compare({JOINT_PROMPT: f"{joint}\n", REQUESTS: "\n".join(sections)})


def _compare(sent: dict[Path, str]) -> None:
    """Fails with the lines that changed; REFRESH takes them over."""
    if os.environ.get("UPDATE_GOLDEN"):
        for path, text in sent.items():
            path.write_text(text, encoding="utf-8")
    golden = {path: path.read_text(encoding="utf-8").splitlines() for path in sent}
    diffs = (unified_diff(golden[path], text.splitlines(), path.name, "sent now") for path, text in sent.items())
    changed = list(chain.from_iterable(diffs))
    assert not changed, "\n".join([f"what is asked has changed; if it should: {REFRESH}", *changed])


def _reply(raw: Any) -> Any:
    return Fault(raw["fault"], text=raw["text"]) if isinstance(raw, dict) else raw


async def _talk(chat: Chat, says: list[str]) -> None:
    for text in (*says, "/archive"):
        await chat.say(text)
