"""Delivery: the only place that knows Telegram's library, serves HTTP or reads the command line."""

import os
import sys

# Set before numpy is first imported. An owner's matrices are small: several threads of its BLAS wait for one another
# while anything else runs (10,000 x 3,072 beside other work: 24 ms with two threads, 12 with one).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# httpx imports its command line, with rich and pygments, if it can: a sixtieth of the start-up time, without use.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type] # None says that there is no such module
