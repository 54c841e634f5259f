"""What holds for every test."""

from __future__ import annotations

import gc
import os
import shutil
import ssl
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

# Where a test embeds in its own process, threads that wait for each other in a loop would take ten times the processor.
os.environ |= {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}

import hypothesis.internal.conjecture.providers
import pytest
from hypothesis import settings
from hypothesis.internal.constants_ast import Constants
from support.long import LONG, examples
from support.product import collected_workers
from support.product.forked_process import start_children_by_fork
from support.product.program import BEFORE_PYTHON, NO_DICTIONARIES, begin_starters, starter
from support.stores import stores

import bot.telegram  # noqa: F401  first of all: aiogram, imported by itself, takes four seconds more
import internal.llm.transport

os.environ |= NO_DICTIONARIES

# Files of the tests are in memory where there is room: on a disk every commit of a store waits for it.
_IN_MEMORY, _ROOM_BYTES = Path("/dev/shm"), 4 * 2**30
if "TMPDIR" not in os.environ and _IN_MEMORY.is_dir() and shutil.disk_usage(_IN_MEMORY).free > _ROOM_BYTES:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_IN_MEMORY)

# No test may reach a real model provider: it would cost money and make the suite depend on the network.
internal.llm.transport.ALLOW_MODEL_REQUESTS = False

# How long an example takes says more of what else the machine does than of the code: a pause of it is no failure.
settings.register_profile("untimed", deadline=None, max_examples=examples(100))
settings.load_profile("untimed")
if not LONG:  # hypothesis looks through all our modules for values worth drawing: 2.7 s of each worker in a fresh clone
    hypothesis.internal.conjecture.providers._get_local_constants = Constants

_PROCESSES = ("faults", "acceptance", "browser", "integration/cli", "integration/simulator", "integration/mcp")
"""Folders whose tests start and kill whole processes: a file of them takes up to three minutes."""

_WAITING = ("tests/faults/", "tests/acceptance/", "tests/integration/mcp/", "tests/integration/simulator/")
"""Where tests wait for others' work most of their time; they are the longest, too."""

_WAITING_AT_ONCE = 2
"""How many workers wait while the others work: more of them would leave processors idle now, and be missing later."""

_SPREAD = (
    "tests/acceptance/test_media_in_chat.py",
    "tests/acceptance/test_offline.py",
    "tests/acceptance/test_operator_commands.py",
    "tests/acceptance/test_people_in_chat.py",
    "tests/faults/test_commit_points.py",
    "tests/faults/test_shared_words.py",
)
"""Files of long tests of which each starts a product of its own, so that several workers share them."""

_TOGETHER = "tests/browser/console/"
"""One worker plays them all, with one product, one process of pages and one browser."""


# No test speaks TLS, yet each client that is opened reads the authorities again, 40 ms of processor time.
pytest.MonkeyPatch().setattr(ssl, "create_default_context", cache(ssl.create_default_context))

# Most language processes of the tests are copies of one that has read its dictionaries, which takes a second each time.
start_children_by_fork(starter, BEFORE_PYTHON["PYTHONPATH"])

gc.disable()  # what is imported stays: looking through it again and again is a good part of the collection


def pytest_configure(config: pytest.Config) -> None:
    stores.configure(config)


def pytest_unconfigure() -> None:
    stores.unconfigure()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadfile` the tests of a file stay with one worker, but for _SPREAD and _TOGETHER.

    While there are tests that wait, some workers play them and the others those that work.
    """
    from xdist.scheduler import LoadFileScheduling

    if config.getoption("dist") != "loadfile":
        return None

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(_TOGETHER):
                return _TOGETHER
            return nodeid if nodeid.startswith(_SPREAD) else str(super()._split_scope(nodeid))

        def _assign_work_unit(self, node: Any) -> None:
            waiting = sum(self._waits(units) for other, units in self.assigned_work.items() if other is not node)
            wanted = (scope for scope in self.workqueue if scope.startswith(_WAITING) is (waiting < _WAITING_AT_ONCE))
            self.workqueue.move_to_end(next(wanted, next(iter(self.workqueue))), last=False)
            super()._assign_work_unit(node)

        @staticmethod
        def _waits(units: dict[str, dict[str, bool]]) -> bool:
            return any(scope.startswith(_WAITING) and not all(tests.values()) for scope, tests in units.items())

    return Scheduling(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: list[Any]) -> None:
    """The tests are collected once, not by each worker anew; what starts products makes itself ready meanwhile."""
    collected_workers.begin(config, specs)
    if config.args_source is config.ArgsSource.TESTPATHS and not (config.option.keyword or config.option.markexpr):
        begin_starters(config.pluginmanager.getplugin("dsession").nodemanager.testrunuid)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """One PostgreSQL for all workers of a run."""
    node.workerinput["postgres"] = stores.shared_with_workers()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """What has to hold on both engines is one test for each; one that draws examples looks at the logic above them."""
    engines = stores.engines_of(metafunc.definition.path, metafunc.function.__name__)
    if engines != (stores.wanted() or stores.SQLITE,) and not getattr(metafunc.function, "is_hypothesis_test", False):
        metafunc.fixturenames.append("store")
        metafunc.parametrize("store", engines)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    stores.begin(item)
    try:
        return (yield)
    finally:
        stores.end()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest files first, or one worker would still be busy with them when all the others have nothing to do."""
    if stores.wanted() == stores.POSTGRESQL:
        left_out = {item for item in items if stores.is_left_out(item.path, getattr(item, "originalname", item.name))}
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    if not LONG:
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
    items.sort(key=lambda item: not any(stores.lies_in(item.path, folder) for folder in _PROCESSES))


def pytest_collection_finish() -> None:
    """From here on only what the tests themselves leave behind is looked through, as rarely as in the product."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 100)
