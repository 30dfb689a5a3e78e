"""stallwatch: where a database stalls, why, and what to do about it."""

import gc

__version__ = "0.1.0"

# Imports make thousands of objects that stay: to look for rubbish among them is 2 ms of a check (3.11).
gc.set_threshold(100_000)
