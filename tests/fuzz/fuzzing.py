"""Parsers and whole plugins are given octets by chance: only our own errors come out, in bounds.

A target is a function of octets. What it comes to ("value", or the name of an error that it may raise) is
counted; any other exception, more than a second of processor time or more than 64 MiB is a failure.

By hand, from the root of the project; what fails is kept in a folder, ``findings/TARGET/NAME`` after a look:

    .venv/bin/python tests/fuzz/fuzzing.py TARGET --seconds 60 --keep /tmp/findings
    .venv/bin/python tests/fuzz/fuzzing.py TARGET --replay FILE
"""

import argparse
import atexit
import contextlib
import faulthandler
import gc
import hashlib
import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
FINDINGS = HERE / "findings"
SECONDS = 1.0  # of processor time for one input
MEBIBYTES = 64  # for one input
MOST = 512  # MiB that a process may take beside what it has at the beginning: the machine is to survive
LONGEST = 1 << 16  # bytes of an input


class Target(NamedTuple):
    """What is to withstand any octets.

    run    takes octets; gives what it came to, a word; raises only ``errors``
    seeds  gives octets that mean something, to be changed
    tokens what means something wherever it comes
    count  how many inputs are tried in ``make test``
    reach  what inputs come to in any such test, or else it tests nothing
    """

    run: object
    seeds: object
    errors: tuple = ()
    tokens: tuple = ()
    count: int = 1000
    reach: frozenset = frozenset({"value"})


class Failure(NamedTuple):
    """What went wrong: ``where`` is the same for the same defect, ``why`` is for a person."""

    where: str
    why: str


class TooSlowError(BaseException):
    """Nothing may catch it."""


class WrongError(AssertionError):
    """A target ended, but not as it should."""


class Trial(NamedTuple):
    """One input: what it came to, or its failure, and what it took: seconds of processor time, MiB."""

    came_to: str
    failure: Failure | None
    seconds: float
    mebibytes: float


def prepare():
    """Make this process ready to try inputs."""
    signal.signal(signal.SIGPROF, _too_slow)
    faulthandler.enable()
    warnings.simplefilter("error")  # it would stand on standard error
    _forget_peak()  # that of imports
    here = _memory("VmSize") << 10
    resource.setrlimit(resource.RLIMIT_AS, (here + (MOST << 20), resource.RLIM_INFINITY))


def _too_slow(*_):
    raise TooSlowError


def tried(target, octets, seconds=SECONDS):
    """Give it one input, in a process that is prepared.

    The peak of memory may be that of an earlier one, unless it is forgotten, which takes as long as a parser.
    """
    before = _memory("VmRSS")
    begun = time.process_time()
    failure = None
    came_to = "failure"
    try:
        signal.setitimer(signal.ITIMER_PROF, 2 * seconds)  # it is judged by the clock below
        came_to = target.run(octets) or "value"
    except target.errors as error:
        came_to = type(error).__name__
    except (Exception, TooSlowError, SystemExit) as error:  # noqa: BLE001 - that is what is looked for
        failure = Failure(_where(error), "".join(traceback.format_exception(error, limit=-8)))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    took, grown = time.process_time() - begun, (_memory("VmHWM") - before) / 1024
    if not failure and took > seconds:
        failure = Failure("too slow", f"{took:.2f} s of processor time for {len(octets)} bytes")
    if not failure and grown > MEBIBYTES:
        failure = Failure("too much memory", f"{grown:.0f} MiB for {len(octets)} bytes")
    return Trial(came_to, failure, took, grown)


def _where(error):
    """Name an error and the place of ours that it comes from."""
    if isinstance(error, WrongError):
        return str(error).partition("\n")[0][:200]
    ours = [one for one in traceback.extract_tb(error.__traceback__) if "stallwatch" in one.filename]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else "?"
    return f"{type(error).__name__} in {place}"


def _forget_peak():
    """Begin to measure the peak of memory anew (man proc, /proc/PID/clear_refs)."""
    gc.collect()
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))


class Campaign:
    """Many inputs for one target: what they came to and took, and which failed, each defect once."""

    def __init__(self, name, target, keep=None):
        self.name = name
        self.target = target
        self.keep = keep
        self.tried = 0
        self.came_to = Counter()
        self.failures = {}
        self.slowest = self.largest = 0.0
        self.begun = time.monotonic()

    def take(self, octets, seconds=SECONDS):
        """Try one input."""
        trial = tried(self.target, octets, seconds)
        if trial.failure and trial.failure.where in {"too slow", "too much memory"}:
            _forget_peak()
            trial = tried(self.target, octets, seconds)  # the machine may have been busy, or tidying up
        self.tried += 1
        self.came_to[trial.came_to] += 1
        self.slowest = max(self.slowest, trial.seconds)
        self.largest = max(self.largest, trial.mebibytes)
        if trial.failure and trial.failure.where not in self.failures:
            self.failures[trial.failure.where] = trial.failure.why
            self._keep(octets)

    def _keep(self, octets):
        if self.keep:
            folder = Path(self.keep) / self.name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / hashlib.sha256(octets).hexdigest()[:12]).write_bytes(octets)

    def told(self):
        """What came of it, for JSON."""
        return {
            "target": self.name,
            "tried": self.tried,
            "seconds": round(time.monotonic() - self.begun, 1),
            "came_to": dict(self.came_to.most_common()),
            "slowest": round(self.slowest, 3),
            "largest_MiB": round(self.largest, 1),
            "failures": self.failures,
        }


def campaign(name, target, count, seconds, keep=None, first=0):
    """Try inputs that are seeds, changed by chance, always the same ones."""
    from mutation import mutated

    one = Campaign(name, target, keep)
    seeds = [octets[:LONGEST] for octets in target.seeds()]
    end = time.monotonic() + seconds
    for number in range(first, first + count):
        if time.monotonic() > end:
            break
        if number < len(seeds):
            one.take(seeds[number])
        else:
            one.take(mutated(f"{name} {number}", seeds, target.tokens, LONGEST))
    return one.told()


def findings(name, target):
    """Try the inputs that once let a target fail."""
    one = Campaign(name, target)
    for path in sorted((FINDINGS / name).glob("*")):
        one.take(path.read_bytes())
    return one.told()


def leave(status):
    """Tidy up and end: threads of what was tried may still wait for something."""
    sys.stdout.flush()
    atexit._run_exitfuncs()
    os._exit(status)


def main():
    """Try inputs, and print a line of JSON for each target."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    options.add_argument("targets", nargs="*", metavar="TARGET", help="default: all")
    options.add_argument("--seconds", type=float, default=float("inf"), help="for each target")
    options.add_argument("--count", type=int, help="inputs for each (default: as make test does)")
    options.add_argument("--first", type=int, default=0, help="the number of the first input")
    options.add_argument("--keep", help="a folder for what fails")
    options.add_argument("--findings", action="store_true", help="only what once failed")
    options.add_argument("--replay", help="an input from a file, and its traceback")
    given = options.parse_args()
    from all_targets import TARGETS

    prepare()
    for name in given.targets or TARGETS:
        target = TARGETS[name]
        if given.replay:
            trial = tried(target, Path(given.replay).read_bytes())
            print(trial.failure.why if trial.failure else trial)  # noqa: T201
            continue
        if given.findings:
            print(json.dumps(findings(name, target)))  # noqa: T201
            continue
        count = given.count or (target.count if given.seconds == float("inf") else sys.maxsize)
        print(json.dumps(campaign(name, target, count, given.seconds, given.keep, given.first)), flush=True)  # noqa: T201
    leave(0)


if __name__ == "__main__":
    sys.path[:0] = [str(HERE.parent / folder) for folder in ("unit", "recorded", "live")]
    sys.modules["fuzzing"] = sys.modules["__main__"]
    main()
