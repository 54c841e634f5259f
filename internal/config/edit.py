"""Changes keys of a configuration file; the rest of it, comments included, stays unchanged."""

from collections.abc import Mapping
from typing import Any

import yaml

from internal.errors import ConfigurationError


def edited(text: str, section: str, values: Mapping[str, str]) -> str:
    """The text of a YAML file with these values in a section. An empty value is written only if the key exists.

    Raises ConfigurationError if the form of the file does not allow this safely.
    """
    try:
        before, root = yaml.safe_load(text) or {}, yaml.compose(text)
        changed = _changed(text, root, section, values)
        after = yaml.safe_load(changed)
    except (yaml.YAMLError, AttributeError, TypeError) as error:
        raise ConfigurationError(f"{section} cannot be changed in this file, which is no plain YAML") from error
    wanted = before | {section: (before.get(section) or {}) | _present(values, before.get(section) or {})}
    if after != wanted:
        raise ConfigurationError(f"{section} cannot be changed in this file; set {', '.join(values)} by hand")
    return changed


def _present(values: Mapping[str, str], there: Mapping[str, Any]) -> dict[str, str]:
    return {key: value for key, value in values.items() if value or key in there}


def _changed(text: str, root: Any, section: str, values: Mapping[str, str]) -> str:
    """Replaces values from the end to the beginning, so that earlier positions stay valid."""
    found = {key.value: (key, value) for key, value in root.value} if root else {}
    key, node = found.get(section, (None, None))
    if not isinstance(node, yaml.MappingNode) or not node.value:
        lines = "".join(f"\n  {name}: {_plain(value)}" for name, value in values.items() if value)
        if key is None or node is None:
            return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{section}:{lines}\n"
        return f"{text[: key.end_mark.index]}:{lines}{text[node.end_mark.index :]}"
    there = {one.value: value for one, value in node.value}
    edits = [
        (value.start_mark.index, value.end_mark.index, _plain(values[name]))
        for name, value in there.items()
        if name in values and value.value != values[name]
    ]
    new = [f"{name}: {_plain(value)}" for name, value in values.items() if value and name not in there]
    if node.flow_style:
        edits.append((node.start_mark.index + 1, node.start_mark.index + 1, "".join(f"{one}, " for one in new)))
    else:
        end = text.find("\n", node.value[-1][1].end_mark.index)
        end, indent = end if end >= 0 else len(text), "\n" + " " * node.value[0][0].start_mark.column
        edits.append((end, end, "".join(indent + one for one in new)))
    for start, end, put in sorted(edits, reverse=True):
        blank = " " if start == end and put and text[start - 1] == ":" else ""
        text = text[:start] + blank + put + text[end:]
    return text


def _plain(value: str) -> str:
    return yaml.safe_dump(value, allow_unicode=True, width=10_000).removesuffix("...\n").strip()
