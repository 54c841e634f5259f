"""Loads scenarios: shipped ones by name, others by path."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from bot.simulator.scenarios.model import Scenario
from internal.errors import LaplacedError

SHIPPED = Path(__file__).parent / "shipped"


class ScenarioInvalid(LaplacedError):
    """The scenario cannot be played."""


def shipped() -> list[str]:
    """The names of the scenarios that come with the program, sorted."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load(wanted: str) -> Scenario:
    """A shipped scenario, or the file at a path (a name with a dot or a slash).

    Raises ScenarioInvalid, whose message names every fault by its place in the file.
    """
    own = "." in wanted or "/" in wanted
    path = Path(wanted) if own else SHIPPED / f"{wanted}.yaml"
    if not own and not path.is_file():
        raise ScenarioInvalid(f"there is no scenario {wanted}; there are {', '.join(shipped())}, or give a file")
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioInvalid(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ScenarioInvalid(f"{path} is not a text in UTF-8") from None
    except yaml.YAMLError as error:
        raise ScenarioInvalid(f"{path} is no YAML: {_where(error)}") from None
    return parsed(tree, str(path))


def parsed(tree: Any, name: str) -> Scenario:
    """A scenario from parsed YAML. Raises ScenarioInvalid."""
    if not isinstance(tree, dict):
        raise ScenarioInvalid(f"{name}: a scenario is a mapping with name, users and story")
    try:
        return Scenario.model_validate(tree)
    except ValidationError as error:
        faults = [_fault(item) for item in error.errors(include_url=False, include_input=False)]
        raise ScenarioInvalid(f"{name}: {'; '.join(faults)}") from None


def _fault(item: Any) -> str:
    field = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"{field}: no such key"
    if item["type"] == "missing":
        return f"{field}: is missing"
    message = str(item["msg"]).removeprefix("Value error, ")
    return f"{field}: {message}" if field else message


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "it cannot be parsed"
    return problem if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: {problem}"
