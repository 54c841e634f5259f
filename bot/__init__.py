"""Delivery: the only place that knows Telegram's library, serves HTTP or reads the command line."""

import os

# Before numpy is first imported. An owner's matrices are small: several threads of its BLAS wait for one another as
# soon as anything else runs (10,000 x 3,072 beside other work: 24 ms with two threads, 12 with one).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
