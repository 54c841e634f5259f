"""The rules of the house that no linter holds."""

from __future__ import annotations

import ast
import os
import re
import stat
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

from support.paths import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TRACKED = [
    ROOT / name
    for name in subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    if (ROOT / name).is_file()
]
CODE = [path for path in TRACKED if path.suffix == ".py" and path.relative_to(ROOT).parts[0] != "tests"]
PRODUCT = [path for path in CODE if path.relative_to(ROOT).parts[0] in {"bot", "internal", "migrations"}]
TESTS = [path for path in TRACKED if path.name.startswith("test_") and path.suffix == ".py"]

BROUGHT_ALONG = {"starlette": "fastapi"}
"""A library that its owner re-exports and pins: naming a range of our own could only contradict it."""

SQL_VERBS = {"select", "insert", "update", "delete", "text", "exists"}
"""What a statement begins with. `Connection` alone is passed through everywhere."""


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def requirement(text: str) -> str:
    return re.split(r"[\[<>=~!; ]", text)[0].lower().replace("_", "-")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def test_only_the_agreed_names_stand_in_the_root() -> None:
    """The layout of the root is fixed; beside it only what the architecture allows."""
    fixed = {"pyproject.toml", "README.md", "bot", "internal", "migrations", "tests", "config.yaml", "Dockerfile"}
    beside = {"Makefile", ".ci", "docs", "deploy", "benchmarks", "CHANGELOG.md", "LICENSE"}
    found = {path.relative_to(ROOT).parts[0] for path in TRACKED}
    assert fixed <= found
    assert {name for name in found - fixed - beside if not name.startswith(".")} == set()


def test_every_library_used_is_declared() -> None:
    """What the product imports stands in pyproject: another library might stop bringing it."""
    extras = [item for extra in PROJECT["project"]["optional-dependencies"].values() for item in extra]
    declared = {requirement(item) for item in PROJECT["project"]["dependencies"] + extras}
    owners = packages_distributions()
    for path in PRODUCT:
        for module in (
            {name.split(".")[0] for name in imports(path)} - sys.stdlib_module_names - {"bot", "internal", "migrations"}
        ):
            candidates = {requirement(owner) for owner in owners[module]} | {BROUGHT_ALONG.get(module, "")}
            assert candidates & declared, f"{name_of(path)} imports {module}"


def test_every_dependency_has_its_reason() -> None:
    """docs/decisions.md says of each dependency why it is there, and of no other."""
    rows = re.findall(r"^\| ([\w.-]+) \| \S", (ROOT / "docs/decisions.md").read_text(encoding="utf-8"), re.MULTILINE)
    project = PROJECT["project"]
    optional = project["optional-dependencies"]
    options = [item for name in ("graph", "local", "postgres", "ukrainian", "voice") for item in optional[name]]
    declared = {requirement(item) for item in project["dependencies"] + options}
    assert {requirement(row) for row in rows} - {"package"} == declared


def test_every_file_beside_the_code_is_shipped() -> None:
    """Prompts, texts and styles are part of the package, not only of the checkout."""
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    beside = [path for path in TRACKED if path.relative_to(ROOT).parts[0] in {"bot", "internal", "migrations"}]
    unpacked = [
        name_of(path) for path in beside if path.suffix != ".py" and not any(fnmatch(path.name, p) for p in patterns)
    ]
    assert unpacked == []


def test_every_room_is_a_package() -> None:
    """A folder of code without __init__.py would not be installed."""
    assert [name_of(path.parent) for path in PRODUCT if not (path.parent / "__init__.py").exists()] == []


def test_sql_stands_where_it_belongs() -> None:
    """Statements are made in repositories, in storage and in migrations, nowhere else."""

    def makes_statements(path: Path) -> bool:
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        taken = [
            node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sqlalchemy")
        ]
        return any(alias.name in SQL_VERBS for node in taken for alias in node.names)

    homes = ("internal/storage/", "migrations/", "internal/graph/store.py")
    elsewhere = [
        name_of(path) for path in PRODUCT if makes_statements(path) and not path.name.endswith("repository.py")
    ]
    assert [name for name in elsewhere if not name.startswith(homes)] == []


def test_what_is_kept_of_texts_is_dropped_with_what_was_forgotten() -> None:
    """Results are kept by `internal/text_caches.py`; nothing empties the caches of functools by itself."""
    pages_of_kinds = "internal/memory/queries/repository.py"
    keeping = {name_of(path) for path in PRODUCT if "lru_cache" in path.read_text(encoding="utf-8")}
    assert keeping == {"internal/text_caches.py", pages_of_kinds}


def test_modules_stay_readable() -> None:
    """Beyond 400 lines a module is split; only lists of tables may be longer."""
    lists = {"internal/storage/tables.py"}
    lengths = {name_of(path): path.read_text(encoding="utf-8").count("\n") for path in PRODUCT}
    long = {name for name, length in lengths.items() if length > 400 and not name.startswith("migrations/versions/")}
    assert long - lists == set()


def test_words_with_many_meanings_name_nothing() -> None:
    """No name in code is a word that stood for something else in each place (docs/glossary.md has the words to use)."""
    avoided = {"told", "seat", "tray", "door", "veil", "buried", "fallen", "witness", "whoever"}

    def names_in(path: Path) -> set[str]:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        defined = {n.name for n in nodes if isinstance(n, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
        named = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.arg for n in nodes if isinstance(n, ast.arg)}
        return {part.lower() for name in defined | named for part in name.split("_")}

    assert {name_of(path): found for path in CODE if (found := names_in(path) & avoided)} == {}


def test_every_test_says_what_it_shows() -> None:
    """Each test carries its behaviour as a docstring."""
    silent = []
    for path in TESTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                silent += [] if ast.get_docstring(node) else [f"{name_of(path)}:{node.name}"]
    assert silent == []


def test_test_modules_have_names_of_their_own() -> None:
    """Two test modules of one name cannot be collected together."""
    names = [path.name for path in TESTS]
    assert sorted(names) == sorted(set(names))


def test_nothing_is_left_for_later_in_the_code() -> None:
    """What is not built is not hinted at either."""
    marks = re.compile(r"\b(TODO|FIXME|XXX)\b")
    assert [name_of(path) for path in PRODUCT if marks.search(path.read_text(encoding="utf-8"))] == []


def test_no_registry_is_named() -> None:
    """Where packages come from is the machine's own setting."""
    hosts = re.compile(r"\b(pypi|pythonhosted|npmjs|deb\.debian|docker)\.(org|io|com)\b|\bghcr\.")
    found = [
        name_of(path) for path in TRACKED if path != Path(__file__) and hosts.search(path.read_text("utf-8", "ignore"))
    ]
    assert found == []


def test_ci_can_be_run() -> None:
    """The one script of all checks is executable and bash accepts it."""
    script = ROOT / ".ci/run"
    assert script.stat().st_mode & stat.S_IXUSR
    subprocess.run(["bash", "-n", script], check=True)


def test_dockerfile_passes_its_linter() -> None:
    """hadolint has nothing to say."""
    hadolint = Path(sys.executable).with_name("hadolint")
    told = subprocess.run([hadolint, ROOT / "Dockerfile"], check=False, capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, "")


def test_dockerfile_copies_only_what_is_let_in() -> None:
    """Everything that the image copies passes .dockerignore, and nothing with secrets does."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {name for names in copied for name in names.split()} == let_in
    assert "*" in lines
    assert all((ROOT / name).exists() for name in let_in)


def test_makefile_tells_what_it_offers() -> None:
    """A bare make lists the targets and does nothing."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    told = subprocess.run(["make"], cwd=ROOT, check=True, capture_output=True, text=True, env=environment).stdout
    assert [line.split()[1] for line in told.splitlines()[:2]] == ["run", "test"]
