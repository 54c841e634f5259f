"""Compiles the patterns that the program compiles at their first use: half a second for all, once for all copies."""

from __future__ import annotations

import gc

from internal.language.text.patterns import _Deferred

for one in gc.get_objects():
    if isinstance(one, _Deferred):
        one.search  # noqa: B018 - which compiles it
