"""The block `<inner_circle>` at the beginning of every prompt, which changes only with a profile."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from internal import text_caches
from internal.people.model import Person, candidate_line, people_block

OWNERS: Final = 1_000
"""Most owners whose block is cached, the latest ones."""


class InnerCircleBlock:
    """Shows people in order of creation, each with the number of mentions at the last change of the profile.

    Current counts, or an order by counts, would invalidate the provider's cache of the whole prompt.
    """

    def __init__(self) -> None:
        self._shown: OrderedDict[int, dict[int, Person]] = OrderedDict()
        text_caches.register_holder(self)

    def forget(self, user_id: int) -> None:
        self._shown.pop(user_id, None)

    def of(self, user_id: int, people: Sequence[Person]) -> str:
        before = self._shown.pop(user_id, {})
        counted = {one.id: _counted_as(one, before.get(one.id)) for one in sorted(people, key=lambda one: one.id)}
        self._shown[user_id] = counted
        if len(self._shown) > OWNERS:
            self._shown.popitem(last=False)
        return people_block("inner_circle", list(counted.values()))


def _counted_as(person: Person, before: Person | None) -> Person:
    if before is None:
        return person
    same = replace(person, mention_count=before.mention_count)
    return same if candidate_line(same) == candidate_line(before) else person
