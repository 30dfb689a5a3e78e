"""Runs of whole plugins in this process: whatever they find, they end with a report."""

import json
import re
import runpy
import time
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from unittest import mock

from fuzzing import WrongError
from stallwatch.frame.run import Run

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded"
NOW = 1_795_000_000.0
STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
_HARMFUL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ITEM = re.compile(
    r"[A-Za-z0-9_.]+=-?\d+(?:\.\d{1,9})?(?:s|B|%|c)?(?:;-?[\d.]*(?:;-?[\d.]*(?:;0;[\d.]+)?)?)?", re.ASCII
)


class Clock:
    """Time goes by only if somebody sleeps, and by a millisecond for each look at it."""

    def __init__(self, now=NOW):
        self.now = now

    def __call__(self):
        self.now += 0.001
        return self.now

    def sleep(self, seconds):
        """Let so much time go by."""
        self.now += seconds


@contextmanager
def clock(now=NOW):
    """Let everybody's time be another one."""
    own = Clock(now)
    with (
        mock.patch.object(time, "time", own),
        mock.patch.object(time, "monotonic", own),
        mock.patch.object(time, "clock_gettime", side_effect=lambda _: own()),
        mock.patch.object(time, "sleep", own.sleep),
    ):
        yield own


@cache
def plugin(name):
    """A plugin's module, as a dictionary."""
    return runpy.run_path(str(ROOT / "plugins" / name))


def said(name, arguments, memory=None):
    """Run a plugin whose memory between runs is this dictionary: gives its state, or raises WrongError."""
    of = plugin(name)
    memory = {} if memory is None else memory
    with mock.patch.object(Run, "memory", return_value=nullcontext(memory)):
        status, text = of["check"].run(of["findings"], [*arguments, "-vvv"])
    judge(name, status, text)
    as_json(memory)
    return STATES[status]


def judge(name, status, text):
    """Raise WrongError if that is no report; its first line says where it comes from."""
    if re.search(r" UNKNOWN - internal error, \w+ at ", text):
        raise WrongError(_defect(text))
    line = text.partition("\n")[0]
    start = f"{name.removeprefix('check_').upper()} {STATES[status]} - "
    if not line.startswith(start) or _HARMFUL.search(text) or text.count("|") > 1 or "  " in line:
        raise WrongError(f"a line that is none: {line[:200]!r}")
    for item in line.partition(" | ")[2].split():
        if not _ITEM.fullmatch(item):
            raise WrongError(f"perfdata that is none: {item[:200]!r}")


def _defect(text):
    """Tell the error and its place from the traceback that -vvv shows."""
    error = re.search(r"internal error, (\w+) at (\S+):\d+", text)
    places = re.findall(r'File "[^"]*?([^"/]+)", line \d+, in (\w+)', text)
    where = ":".join(places[-1]) if places else error[2]
    return f"{error[1]} in {where}\n{text}"


def as_json(memory):
    """What is remembered is to be read again by others than Python."""
    json.dumps(memory)
