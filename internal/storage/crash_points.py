"""Named crash points, so that a test can kill the real process exactly before, during or after a commit.

docs/processing.md describes the commit points C1 to C13. Outside tests a point costs one comparison.
"""

import os
import signal
from collections.abc import Sequence

CRASH_VARIABLE = "CRASH_LAPLACED_AT"
"""`C4:before`, `C4:during` or `C4:after`, and `:3` behind it for the third time the point is passed."""

COMMIT_POINTS = tuple(f"C{number}" for number in range(1, 14))
"""Every point that a `Database.write` names: the kill tests and the table in the docs go by this list."""

_wanted = os.environ.get(CRASH_VARIABLE, "")
_passed = 0


def crash_if_asked(points: Sequence[str], moment: str) -> None:
    if not _wanted:
        return
    point, wanted_moment, *count = _wanted.split(":")
    if point in points and wanted_moment == moment:
        global _passed  # noqa: PLW0603 - one process, one counter, only under a crash test
        _passed += 1
        if _passed == int(count[0] if count else 1):
            os.kill(os.getpid(), signal.SIGKILL)
