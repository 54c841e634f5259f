"""The sentences of agents without a model: Fluent files `offline.<language>.ftl` beside each agent."""

from functools import cache
from importlib.resources import files

from fluent.runtime import FluentBundle, FluentResource

from internal.agents.model import Language


def phrase_source(package: str, language: Language) -> str:
    """The Fluent source of the sentences of one agent, named by its package."""
    return files(package).joinpath(f"offline.{language}.ftl").read_text(encoding="utf-8")


def phrase(package: str, language: Language, key: str, **values: str | int) -> str:
    """One sentence with these values. Raises KeyError for an unknown key: a mistake of the program."""
    bundle = _bundle(package, language)
    pattern = bundle.get_message(key).value
    if pattern is None:
        raise KeyError(f"{language}: {key} says nothing")
    text, errors = bundle.format_pattern(pattern, values)
    if errors:
        raise KeyError(f"{language}: {key}: {errors[0]}")
    return str(text)


@cache
def _bundle(package: str, language: Language) -> FluentBundle:
    # Isolation marks would be characters in text that people copy.
    bundle = FluentBundle([language], use_isolating=False)
    bundle.add_resource(FluentResource(phrase_source(package, language)))
    return bundle
