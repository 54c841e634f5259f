"""The fault tests drive the same process as the acceptance tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "acceptance"))
