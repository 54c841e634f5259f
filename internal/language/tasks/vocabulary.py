"""The words of tasks, promises and contacts by class, from `words.json`; patterns take theirs as alternatives."""

from functools import partial
from typing import Final

from internal.language.text import tables

any_of: Final = partial(tables.any_of, "internal.language.tasks")
all_of: Final = partial(tables.all_of, "internal.language.tasks")
