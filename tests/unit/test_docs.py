"""What the documents say exists, and is said once."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from types import ModuleType

import click
import pytest
from support.paths import ROOT

from bot.cli.main import main
from bot.telegram.menu import OWNER_COMMANDS
from internal.config.settings import Config, MetricsConfig, load
from internal.storage.database import Database
from internal.storage.migration import migrate
from internal.telemetry.metrics import Metrics
from internal.telemetry.repository import stored_gauges

README = (ROOT / "README.md").read_text(encoding="utf-8")
START = (ROOT / "docs/getting-started.md").read_text(encoding="utf-8")
USING = (ROOT / "docs/using.md").read_text(encoding="utf-8")
PAGES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
EVERYTHING = "\n".join(PAGES.values())
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CONFIG = (ROOT / "config.yaml").read_text(encoding="utf-8")


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / f"docs/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DEPENDENCIES = script("dependencies")
SETTINGS = {setting.key: setting for setting in script("settings").settings(CONFIG)}


def shell_lines(text: str) -> list[str]:
    """The lines inside fences that are no other language."""
    fences = text.split("```")[1::2]
    return [line for fence in fences if fence.startswith(("\n", "sh\n")) for line in fence.splitlines()[1:]]


def test_the_page_of_settings_is_made_from_the_configuration_file() -> None:
    """docs/configuration.md is what `python docs/settings.py` writes now."""
    assert (ROOT / "docs/configuration.md").read_text(encoding="utf-8") == script("settings").render(CONFIG)


def test_the_page_of_dependencies_names_the_licence_of_each_direct_one() -> None:
    """docs/dependencies.md has what the metadata of every direct dependency says, under its installation."""
    tables = DEPENDENCIES.TARGET.read_text(encoding="utf-8").partition(DEPENDENCIES.MARK)[2].split("\n## ")[1:]
    shown = [dict(re.findall(r"^\| \*\*([\w-]+)\*\* \| (.+) \|$", table, re.MULTILINE)) for table in tables]
    assert shown == [{name: DEPENDENCIES.licence(name) for name in names} for names in DEPENDENCIES.direct().values()]


def test_the_page_of_dependencies_names_every_package_of_the_image() -> None:
    """Each package of the lock files that is installed here stands in a table of docs/dependencies.md."""
    named = set(
        re.findall(r"^\| \**([\w-]+?)\** \| ", DEPENDENCIES.render().partition(DEPENDENCIES.MARK)[2], re.MULTILINE)
    )
    assert DEPENDENCIES.TARGET.read_text(encoding="utf-8") == DEPENDENCIES.render()
    assert {name for name in DEPENDENCIES.locked("all") if _installed(name)} <= named


def test_nothing_of_the_default_installation_is_under_strong_copyleft() -> None:
    """What asks for the source of more than its own files is an extra."""
    licences = {name: DEPENDENCIES.licence(name) for name in DEPENDENCIES.locked("core") if _installed(name)}
    assert len(licences) > 90
    assert {name for name, licence in licences.items() if re.search(r"GPL|SSPL|RSAL|-NC", licence)} == set()


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def test_every_setting_has_a_meaning() -> None:
    """The file has the keys that the program has, each with a comment; an agent's limits are said once for all."""
    limits = re.compile(r"agents\.\w+\.(temperature|max_tokens|timeout|reasoning_effort|short_prompt)")
    fields = {key for key in _leaves(Config().model_dump()) if not limits.fullmatch(key)}
    assert set(SETTINGS) == fields
    assert [key for key, setting in SETTINGS.items() if not setting.meaning] == []


def _leaves(tree: dict[str, object], above: str = "") -> list[str]:
    found = []
    for name, value in tree.items():
        found += _leaves(value, f"{above}{name}.") if isinstance(value, dict) else [above + name]
    return found


def test_the_defaults_shown_to_beginners_are_those_of_the_configuration() -> None:
    """Each row of the table of settings in docs/getting-started.md names a key, and its default as it is."""
    rows = re.findall(r"^\| `([a-z_]+(?:\.[a-z_]+)*)` \| (`[^`]*`|empty) \|", START, re.MULTILINE)
    assert len(rows) > 10
    assert {key: default.strip("`") for key, default in rows} == {
        key: SETTINGS[key].default or "empty" for key, _ in rows
    }
    [count] = re.findall(r"all (\d+) settings", START)
    assert int(count) == len(SETTINGS)


OF_TESTS = {"test_store", "test_long"}
"""What the tests read, and the product does not."""


def test_settings_named_in_the_text_exist() -> None:
    """A dotted key of a section, or a variable, anywhere in a document is one of the configuration."""
    sections = "|".join({key.split(".")[0] for key in SETTINGS if "." in key})
    named = set(re.findall(rf"`((?:{sections})(?:\.[a-z_]+)+)[:`]", EVERYTHING))
    modules = {name for name in named if name.endswith(("json", "yml", "py"))}
    known = set(SETTINGS) | {".".join(key.split(".")[:n]) for key in SETTINGS for n in (1, 2)}
    assert named - modules - known == set()
    variables = set(re.findall(r"LAPLACED_([A-Z_]+?)(?:_FILE)?\b(?=[`= ])", EVERYTHING))
    assert variables
    assert {name.lower().replace("__", ".") for name in variables} - set(SETTINGS) == OF_TESTS


def test_commands_of_the_machine_exist() -> None:
    """Every `laplaced ...` in a document is a command, with arguments it takes."""
    written = [line for line in shell_lines(EVERYTHING) if line.startswith("laplaced ")]
    written += re.findall(r"`(laplaced [a-z][^`]*)`", EVERYTHING)
    assert len(written) > 5
    for line in written:
        name, *arguments = shlex.split(line, comments=True)[1:]
        assert name in main.commands, line
        command = main.commands[name]
        if isinstance(command, click.Group) and arguments:
            assert arguments[0] in command.commands, line
            command = command.commands[arguments[0]]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in arguments if word.startswith("--")} <= options | {"--help"}, line
    assert {name for name in main.commands if f"`laplaced {name}`" not in START} == set()


def test_targets_of_make_exist() -> None:
    """Every `make ...` in a document is a target."""
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
    called = (re.match(r"(?:\w+=\S+ )*make ([a-z]+)", line) for line in shell_lines(EVERYTHING))
    named = {found[1] for found in called if found} | set(re.findall(r"`make ([a-z]+)`", EVERYTHING))
    assert {"run", "test", "screenshots", "bench"} <= named
    assert named - targets == set()


def test_chat_commands_are_all_described() -> None:
    """The table of docs/using.md has every command of the bot's menu, and no other."""
    cells = re.findall(r"^\| (`/.*?) \|", USING, re.MULTILINE)
    assert {name for cell in cells for name in re.findall(r"`/(\w+)", cell)} == set(OWNER_COMMANDS)


def test_links_lead_somewhere() -> None:
    """Every relative link and picture is there, and every heading that is linked to."""
    for path, text in PAGES.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            file, _, heading = target.partition("#")
            assert file.startswith("http") or (path.parent / file).exists(), f"{path.name}: {target}"
            if not file:
                headings = {found.lower().replace(" ", "-") for found in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}
                assert heading in headings, f"{path.name}: {target}"


def test_modules_named_in_the_text_exist() -> None:
    """A path into the code names something that is there."""
    paths = set(re.findall(r"`((?:bot|internal|tests|docs|deploy|benchmarks|migrations)/[\w./-]*)`", EVERYTHING))
    assert {path for path in paths if not (ROOT / path).exists()} == set()


def test_readme_is_one_screen() -> None:
    """It shows what this is, a picture, the first commands and where to go next; everything else is in docs/."""
    assert README.count("\n") <= 45
    assert all(f"\nmake {target}" in README for target in ("run", "test"))
    assert "](docs/images/chat.png)" in README


def test_every_page_is_in_the_index() -> None:
    """docs/README.md says of each page whom it is for."""
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| \[[^]]+\]\(([a-z-]+\.md)\) \| \S", index, re.MULTILINE))
    assert listed == {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_a_word_has_one_meaning() -> None:
    """No word has two rows in docs/glossary.md."""
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z][^|]*?) \|", glossary, re.MULTILINE)
    words = [word for row in rows if row != "word" for word in row.split(", ")]
    assert len(words) > 80
    assert sorted(words) == sorted(set(words))


def test_pictures_are_small() -> None:
    """The pages are read over slow lines too."""
    pictures = list((ROOT / "docs/images").iterdir())
    taken = script("screenshots")
    assert {path.name for path in pictures} == {
        *taken.PICTURES,
        *taken.MEDIA_PICTURES,
        *taken.CONSOLE_PICTURES,
        taken.SETUP,
    }
    assert [path.name for path in pictures if path.stat().st_size > taken.LARGEST] == []


@pytest.mark.parametrize("line", [line for line in shell_lines(EVERYTHING) if "=" in line and "LAPLACED_" in line])
def test_variables_of_the_examples_are_accepted(line: str) -> None:
    """What the pages say to put in the environment loads."""
    given = dict(word.split("=", 1) for word in shlex.split(line) if word.startswith("LAPLACED_") and "=" in word)
    assert isinstance(load(None, given), Config)


async def test_metrics_named_in_the_text_exist(tmp_path: Path) -> None:
    """Every `laplaced_...` in a document is exposed by the program."""
    async with Database.open(tmp_path / "laplaced.db") as database:
        await database.exclusive(migrate)
        stored = await database.read(partial(stored_gauges, most_people=10))
        exposed = Metrics(MetricsConfig(), "key", database.path).exposition(stored).decode()
    families = set(re.findall(r"^# HELP (\S+)", exposed, re.MULTILINE))
    assert set(re.findall(r"\blaplaced_[a-z_]+\b", EVERYTHING)) - families == set()
