"""Plugins whose timeout may be too short for the machine."""

import re

from subjects import UNKNOWN

MORE = (1, 3, 10)  # times that timeout, if it was
NO_TIME = "no verdict within|no time was left"  # what is said then


def in_time(ask, seconds):
    """Call ``ask`` with more and more seconds, until they are enough for a verdict: gives the Outcome."""
    for times in MORE:
        outcome = ask(seconds * times)
        if not re.search(NO_TIME, outcome.text):
            return outcome
        assert outcome.status == UNKNOWN, outcome
    raise AssertionError(outcome)
