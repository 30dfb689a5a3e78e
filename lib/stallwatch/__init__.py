"""stallwatch: where a database stalls, why, and what to do about it."""

__version__ = "0.1.0"
