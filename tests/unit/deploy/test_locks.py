"""The lock files of deploy/locks follow from pyproject.toml."""

from __future__ import annotations

import re
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from deploy.lock import FOLDER, LOCKS, fingerprint, made_from, read_project

PROJECT = read_project()
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
MACHINES = [
    {"sys_platform": system, "platform_machine": machine, "platform_system": name, "python_full_version": f"{python}.1"}
    | {"python_version": python, "implementation_name": "cpython", "platform_python_implementation": "CPython"}
    for system, name in (("linux", "Linux"), ("darwin", "Darwin"))
    for machine in ("x86_64", "aarch64")
    for python in ("3.11", "3.12", "3.13", "3.14")
]


def locked(name: str) -> dict[str, list[Requirement]]:
    """The pinned requirements of a lock file by package, one for each marker."""
    found: dict[str, list[Requirement]] = {}
    for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("#", " ")):
            requirement = Requirement(line.rstrip(" \\"))
            found.setdefault(key(requirement), []).append(requirement)
    return found


def key(requirement: Requirement) -> str:
    return re.sub(r"[-_.]+", "-", requirement.name).lower()


def wanted(name: str) -> list[Requirement]:
    """What pyproject.toml asks for in one of the installations, extras resolved."""
    if "--only-group" in LOCKS[name]:
        return [Requirement(text) for text in PROJECT["dependency-groups"][name]]
    extras = [word for word in LOCKS[name] if not word.startswith("--")]
    texts = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"], *_of_extras(extras)]
    return [Requirement(text) for text in texts]


def _of_extras(extras: list[str]) -> list[str]:
    optional: dict[str, Any] = PROJECT["project"]["optional-dependencies"]
    texts: list[str] = []
    for text in (text for extra in extras for text in optional[extra]):
        requirement = Requirement(text)
        texts += _of_extras(sorted(requirement.extras)) if requirement.name == "laplaced" else [text]
    return texts


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_is_made_from_this_pyproject(name: str) -> None:
    """Whoever changes the dependencies runs `make lock`: the file carries a hash of what it was made from."""
    assert made_from(FOLDER / f"{name}.txt") == fingerprint(PROJECT), "run: make lock"


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_holds_what_pyproject_asks_for(name: str) -> None:
    """On each machine and Python every requirement that applies finds one locked version, which is in its range."""
    pins = locked(name)
    for requirement in wanted(name):
        for machine in MACHINES:
            if not _applies(requirement.marker, machine):
                continue
            fitting = [pin for pin in pins[key(requirement)] if _applies(pin.marker, machine)]
            assert len(fitting) == 1, f"{requirement} on {machine}"
            [version] = fitting[0].specifier
            assert requirement.specifier.contains(version.version, prereleases=True), f"{requirement}, not {fitting[0]}"


def _applies(marker: Marker | None, machine: dict[str, str]) -> bool:
    return marker is None or marker.evaluate(machine)


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes_and_no_origin(name: str) -> None:
    """Files are known by their content; where they come from is the machine's own setting."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.partition("\n")[2])
    assert [entry.partition(" ")[0] for entry in entries if not HASH.search(entry)] == []
    assert "://" not in text


def test_installations_agree_on_versions() -> None:
    """What is tested is what is run: each smaller installation has the versions of the tests' one."""
    tested = {name: {str(pin) for pin in pins} for name, pins in locked("test").items()}
    for smaller in ("core", "run", "all"):
        versions = {name: {str(pin.specifier) for pin in pins} for name, pins in locked(smaller).items()}
        assert {
            name for name, pins in versions.items() if not all(any(p in t for t in tested[name]) for p in pins)
        } == set()
