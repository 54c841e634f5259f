"""Token counts."""

import re
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import Any, Final


def count_tokens(text: str) -> int:
    """The number of tokens of a text in the o200k_base vocabulary.

    The number is exact for recent OpenAI models and an approximation for others, whose tokenizers are not public or not
    installed: budgets need a margin. The first call loads the vocabulary (see `load`); after that a page of text takes
    less than a millisecond. No token spans the space between two words, so words are counted one by one and the counts
    cached.
    """
    return sum(map(_count_word, _WORD_BOUNDARY.split(text)))


_WORD_BOUNDARY: Final = re.compile(r"(?<=\S)(?= \S)")

_CACHE_SIZE: Final = 65_536
"""The number of words whose counts are cached by hash, so that no text is kept. Some 6 MB."""

_CACHED_COUNTS: Final[dict[int, int]] = {}


def _count_word(word: str) -> int:
    key = hash(word)
    count = _CACHED_COUNTS.get(key)
    if count is None:
        count = load().count(word.encode("utf-8", "replace").decode("utf-8"))
        if len(_CACHED_COUNTS) >= _CACHE_SIZE:
            _CACHED_COUNTS.clear()
        _CACHED_COUNTS[key] = count
    return count


@cache
def load() -> Any:
    """The vocabulary, loaded once in 0.2 s and 67 MB. Call it in a thread at start so that no reply waits.

    Only the package's native part is loaded: its Python part unpacks three vocabularies into dictionaries, which takes
    0.7 s and 141 MB.
    """
    package = find_spec("bpe_openai")
    native = PathFinder.find_spec("_bindings", package.submodule_search_locations) if package else None
    if native is None or native.loader is None:
        raise ImportError("bpe_openai is not installed as expected")
    bindings = module_from_spec(native)
    native.loader.exec_module(bindings)
    return bindings.tokenizer_for_encoding("o200k_base")
