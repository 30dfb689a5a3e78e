"""stallwatch: where a database stalls, why, and what to do about it."""

import gc

__version__ = "0.1.0"

# Imports make thousands of objects that stay: see contrib/docs/startup.md.
gc.set_threshold(100_000)
