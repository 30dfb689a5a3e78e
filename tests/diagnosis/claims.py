"""What a line of a check claims: its lag, on which side of that the truth is, where it goes, when it ends."""

import re
from typing import NamedTuple

_NUMBER = re.compile(r"(?:^|\s)'?(?:lag|replication_delay|slave_lag|seconds_behind_master)'?=(-?[\d.]+)")
_BOUND = r"(up to|at most|at least|perhaps|about) [\d.]+ (s|min|h|d)\b"
_SAID = re.compile(rf"{_BOUND}.{{0,20}}\bbehind|\blags {_BOUND}")
_CAVEAT = re.compile(r"would not show|cause unclear|cannot tell|cannot see|no evidence", re.IGNORECASE)
_UNKNOWN = re.compile(rf"lag (is )?(not known|unknown)|unknown time|up to|{_CAVEAT.pattern}", re.IGNORECASE)
_DURATION = r"((?:[\d.]+ (?:ms|s|min|h|d)(?: |\b))+)"
_CATCHING, _FALLING = (
    re.compile(r"catching up"),
    re.compile(r"falling behind|\bgrows\b|applier does not advance"),
)
_ETA = {"done": r"done in ", "warning": r"WARNING in ", "critical": r"CRITICAL in "}
_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
AT_MOST, AT_LEAST, ABOUT = "at most", "at least", "about"
_SIDES = {"up to": AT_MOST, "at most": AT_MOST, "at least": AT_LEAST, "perhaps": ABOUT, "about": ABOUT}


class Claim(NamedTuple):
    """What one line claims; times are in seconds.

    lag     its number; None: none is told
    side    "at most", "at least", "about": no more is known of it; "": it is told as certain
    trend   1 falling behind, -1 catching up, 0 nothing is said
    etas    in how many seconds it is "done", or crosses "warning" or "critical"
    """

    lag: float | None
    side: str
    trend: int
    etas: dict


def claim(output):
    """What the first line of a check's output claims; the lines below may foretell, or doubt it."""
    line, _, below = output.partition("\n")
    text, _, perfdata = line.partition("|")
    number = _NUMBER.search(perfdata)
    bound = _SAID.search(text)
    doubted = _UNKNOWN.search(text) or _CAVEAT.search(below)
    side = _SIDES[bound[1] or bound[3]] if bound else ABOUT if doubted else ""
    trend = -1 if _CATCHING.search(text) else 1 if _FALLING.search(text) else 0
    return Claim(float(number[1]) if number else None, side, trend, etas(f"{text}\n{below}"))


def etas(text):
    """Which ends and crossings a text foretells: seconds by "done", "warning", "critical"."""
    found = {name: re.search(words + _DURATION, text) for name, words in _ETA.items()}
    return {name: seconds(match[1]) for name, match in found.items() if match}


def seconds(text):
    """A duration as checks write it: ``1 min 25 s`` is 85.0."""
    parts = re.findall(r"([\d.]+) (ms|s|min|h|d)\b", text)
    return sum(float(number.rstrip(".")) * _UNITS[unit] for number, unit in parts)
