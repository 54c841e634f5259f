"""Delivery: the only place that knows Telegram's library, serves HTTP or reads the command line."""

import os
import sys

# Before numpy is first imported. An owner's matrices are small: several threads of its BLAS wait for one another as
# soon as anything else runs (10,000 x 3,072 beside other work: 24 ms with two threads, 12 with one).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# httpx imports its command line, with rich and pygments, wherever it can: a sixtieth of a start, for nothing.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # None says that there is no such module
