"""Reads the configuration: a YAML file and, over it, environment variables, as one tree of plain values."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from internal.errors import ConfigurationError

PREFIX = "LAPLACED_"

Shape = type[BaseModel]
"""The model that has the valid keys."""


def from_file(path: Path, shape: Shape) -> dict[str, Any]:
    """The file's tree without blanks, with files like `api_key_file` read. Raises ConfigurationError without quotes."""
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigurationError(f"{path} is not readable YAML{_where(error)}") from None
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigurationError(f"{path} must hold keys and values")
    tree = _without_blanks(tree)
    _read_files(tree, shape)
    return tree


def _read_files(tree: dict[str, Any], shape: Shape, above: str = "") -> None:
    """Replaces each `NAME_file` by NAME with the content of that file."""
    for key, value in list(tree.items()):
        field, stem = shape.model_fields.get(key), key.removesuffix("_file")
        if field is not None and _is_section(field) and isinstance(value, dict):
            _read_files(value, field.annotation, f"{above}{key}.")  # type: ignore[arg-type]  # _is_section has looked
        elif field is None and stem != key and stem in shape.model_fields and isinstance(value, str):
            tree[stem] = _read_secret(f"{above}{key}", tree.pop(key), other=tree.get(stem) and f"{above}{stem}")


def _where(error: Exception) -> str:
    """The line of the error: the parser's own words quote the text, which may be a secret."""
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 1})" if mark else ""


def _without_blanks(tree: dict[Any, Any]) -> dict[str, Any]:
    """The tree without empty keys, which keep their defaults."""
    return {
        str(key): _without_blanks(value) if isinstance(value, dict) else value
        for key, value in tree.items()
        if value is not None
    }


def from_environment(environ: Mapping[str, str], shape: Shape) -> dict[str, Any]:
    """The tree of all variables with the prefix. Raises ConfigurationError for a key that `shape` does not have."""
    tree: dict[str, Any] = {}
    for name in sorted(environ):
        if name.upper().startswith(PREFIX):
            path, value = _variable(name, environ, shape)
            _set_value(tree, path, value, name)
    return tree


def _variable(name: str, environ: Mapping[str, str], shape: Shape) -> tuple[list[str], Any]:
    path = name[len(PREFIX) :].lower().split("__")
    field, value = _field(shape, path), environ[name]
    if field is None and path[-1].endswith("_file"):
        path[-1] = path[-1].removesuffix("_file")
        field = _field(shape, path)
        if field is not None:
            bare = name[: -len("_file")]
            value = _read_secret(name, value, other=environ.get(bare) and bare)
    if field is None:
        raise ConfigurationError(f"unknown key {'.'.join(path)} (from {name})")
    return path, _plain(value, field)


def _read_secret(name: str, path: str, *, other: str | None) -> str:
    """Reads a secret from a file. `other` is the name of a variable that sets the value too, which is an error."""
    if other:
        raise ConfigurationError(f"{name} and {other} are both set; keep one")
    try:
        value = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigurationError(f"{name}: cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{name}: {path} is not text") from None
    if not value:  # with an empty token the local Telegram would start instead of the real one
        raise ConfigurationError(f"{name}: {path} is empty")
    return value


def _field(shape: Shape, path: list[str]) -> FieldInfo | None:
    fields = shape.model_fields
    for depth, part in enumerate(path):
        field = fields.get(part)
        if field is None or depth == len(path) - 1:
            return field
        if not _is_section(field):
            return None
        fields = field.annotation.model_fields  # type: ignore[union-attr]  # _is_section has just looked
    return None


def _is_section(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def _plain(value: str, field: FieldInfo) -> Any:
    """Parses a whole section as JSON; all other values are left to their validators."""
    if not _is_section(field):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _set_value(tree: dict[str, Any], path: list[str], value: Any, name: str) -> None:
    for depth, part in enumerate(path[:-1]):
        tree = tree.setdefault(part, {})
        if not isinstance(tree, dict):
            raise ConfigurationError(f"{'.'.join(path[: depth + 1])} must hold keys and values, yet {name} is set too")
    tree[path[-1]] = value


def merge(base: dict[str, Any], over: dict[str, Any]) -> None:
    """Puts `over` into `base`, section by section."""
    for key, value in over.items():
        if not isinstance(value, dict) or key not in base:
            base[key] = value
        elif isinstance(base[key], dict):
            merge(base[key], value)
        # else: the file has another value in the place of a section, which validation reports
