"""Readings of a plugin, that is what it said with ``--output json``: taking them, and files of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import islice
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from stallwatch.frame.check import FOR_THE_NEXT_RUN
from stallwatch.history.delta import LEAST
from stallwatch.line import clean, shorten
from stallwatch.thresholds import Range
from stallwatch.units import NotUnderstoodError, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    Said = dict[str, Any]

_LARGEST = 1 << 28  # letters of a file
_BLOCK = 1 << 20  # letters that are read at once: as many take their memory even if the file is short
SAMPLE = "5s"  # how long an interval is, unless --sample sets it; it has to fit into --timeout
_LONGEST = 300  # bytes of what a plugin said instead
_FAREWELL = 2  # seconds that an interrupted plugin has to take leave of its server
_COUNTS = 3  # UNKNOWN is the largest exit status of a plugin
_SAMPLES = re.compile(r"--sample(?![\w-])")
_PLUGINS = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "plugins")  # in a repository


class Measure(NamedTuple):
    """A quantity by its label in the perfdata: ``values`` of all readings, and which are better, if known."""

    label: str
    unit: str
    better: str  # "lower", "higher" or ""
    values: tuple[float, ...]


class Readings(NamedTuple):
    """What one plugin reported, some times; ``summary`` is from its last run."""

    plugin: str
    states: Counter[str]
    measures: dict[str, Measure]
    summary: str

    @property
    def number(self) -> int:
        """How many."""
        return sum(self.states.values())


def load(path: str) -> Readings:
    """Read a file; raises NotUnderstoodError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = "".join(islice(iter(partial(file.read, _BLOCK), ""), _LARGEST // _BLOCK))
    except OSError as error:
        raise NotUnderstoodError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NotUnderstoodError(f"{path} is not UTF-8, so it is no output of a plugin") from None
    return collected(_all_in(text, os.path.basename(path)), os.path.basename(path))


def collected(readings: Iterable[Said], name: str) -> Readings:
    """Put together what each reading shows; ``name`` is where they are from. Raises NotUnderstoodError."""
    told = [*readings]
    if not told:
        raise NotUnderstoodError(f"{name} has no readings in it")
    plugins = {str(one["name"]) for one in told}
    if len(plugins) > 1:
        raise NotUnderstoodError(
            f"{name} has readings of {' and of '.join(sorted(plugins))}: keep them apart"
        )
    found: dict[str, list[Said]] = {}
    for one in told:
        for finding in one["findings"]:
            if finding.get("label") and is_number(finding.get("value")):
                found.setdefault(finding["label"], []).append(finding)
    measures = {label: _measure(label, findings) for label, findings in found.items()}
    states = Counter(str(one["state"]) for one in told)
    return Readings(plugins.pop(), states, measures, str(told[-1]["summary"]))


def reading(text: str, name: str) -> Said:
    """Read what a plugin said once."""
    for one in _all_in(text, name):
        return one
    raise NotUnderstoodError(f"{name} is empty")


def _all_in(text: str, name: str) -> Iterator[Said]:
    decoder, blank, at, number = json.JSONDecoder(), re.compile(r"\s*"), 0, 0
    while (at := blank.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        number += 1
        try:
            said, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            raise NotUnderstoodError(
                f"{name}: reading {number} is not JSON: did the plugin run with --output json?"
            ) from None
        if not _is_of_a_plugin(said):
            raise NotUnderstoodError(
                f"{name}: reading {number} is not what a plugin prints with --output json"
            )
        yield said


def _is_of_a_plugin(said: object) -> bool:
    parts = {"name", "state", "summary", "findings"}
    if not isinstance(said, dict) or not parts <= said.keys() or not isinstance(said["findings"], list):
        return False
    return all(isinstance(one, dict) for one in said["findings"])


def _measure(label: str, findings: list[Said]) -> Measure:
    first = findings[0]
    limits = (first.get("warning"), first.get("critical"))
    better = next(filter(None, (_better(limit) for limit in limits)), "")
    return Measure(label, str(first.get("unit") or ""), better, tuple(one["value"] for one in findings))


def _better(limit: object) -> str:
    """Return which values a threshold allows, if it has one end."""
    if not isinstance(limit, str):
        return ""
    try:
        allowed = Range(limit)
    except NotUnderstoodError:
        return ""
    bounded = allowed.start > 0, allowed.end != float("inf")
    return {(True, False): "higher", (False, True): "lower"}.get(bounded, "") if not allowed.inside else ""


def take(
    path: str, command: Sequence[str], count: int, pause: float, progress: Callable[[int], None]
) -> Readings:
    """Run a plugin so many times, with a pause between them, and write its reports to a new file.

    What it measures over an interval is measured over one that no other reading has a part in, see ``Apart``.
    Raises NotUnderstoodError, and KeyboardInterrupt: the file then has whole readings.
    """
    if os.path.exists(path):
        raise NotUnderstoodError(f"{path} is there already: give another name")
    readings = []
    try:
        with Apart(command, pause) as apart:
            for number in range(count):
                time.sleep(apart.pause if number else 0)
                text = _said(apart.command)
                readings.append(reading(text, command[0]))
                _write(path, text)
                progress(number + 1)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_left(path, count)) from None
    return collected(readings, path)


def _write(path: str, text: str) -> None:
    try:
        with open(path, "ab", buffering=0) as file:  # at once: a signal comes before it or after
            file.write(text.encode())
    except OSError as error:
        raise NotUnderstoodError(f"{path}: {error.strerror}") from None


def _left(path: str, count: int) -> str:
    """Return what the file of an interrupted run has, and how to go on."""
    try:
        number = load(path).number
    except NotUnderstoodError:
        return ": no reading was taken"
    has = f"{path} has {number} of {count} readings"
    return f": {has}: compare with these, or remove the file and take them again"


class Apart:
    """A way to run a plugin so that no two readings, nor a check that runs beside it, share an interval.

    Most plugins measure since their last run, and take runs that are too near for the same one again; those
    that can measure twice in a run (``--sample``) do so. The others get a memory of their own, pauses
    of LEAST seconds, and a first run that is thrown away, which has nothing to compare with.
    """

    def __init__(self, command: Sequence[str], pause: float) -> None:
        self.command, self.pause = [*command], pause
        self._folder: TemporaryDirectory[str] | None = None
        known = _said_to([command[0], "--help"]).stdout
        if _SAMPLES.search(known):
            self.command += [] if _has(command, "--sample") else ["--sample", SAMPLE]
        elif FOR_THE_NEXT_RUN in " ".join(known.split()) and not _has(command, "--no-state"):
            self.pause = max(pause, LEAST)
            self._folder = TemporaryDirectory(prefix="stallwatch-experiment-")

    def __enter__(self) -> Self:
        """Have something to compare with."""
        if self._folder:
            self.command += ["--state-dir", self._folder.name]
            _said(self.command)
            time.sleep(self.pause)
        return self

    def __exit__(self, *_: object) -> None:
        """Forget that."""
        if self._folder:
            self._folder.cleanup()


def _has(command: Sequence[str], option: str) -> bool:
    return any(word == option or word.startswith(f"{option}=") for word in command)


def _said(command: Sequence[str]) -> str:
    name = command[0]
    done = _said_to([*command, "--output", "json"])
    said = done.stdout or done.stderr
    if not 0 <= done.returncode <= _COUNTS or not said.startswith("{"):
        raise NotUnderstoodError(f"{name} printed: {shorten(clean(said), _LONGEST) or 'nothing'}")
    told = reading(said, name)
    if str(told["summary"]).endswith(" --help"):  # the arguments make no sense, however often it is run
        summary = shorten(clean(str(told["summary"])), _LONGEST)
        raise NotUnderstoodError(f"{name} printed: {str(told['name']).upper()} {told['state']} - {summary}")
    return said


def _said_to(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    name, *words = command
    try:
        process = subprocess.Popen(  # noqa: S603 - the command is the user's
            [*_program(name), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    except OSError as error:
        raise NotUnderstoodError(f"{name} cannot be run: {error.strerror}") from None
    with process:
        try:
            output, errors = process.communicate()
        except KeyboardInterrupt:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(_FAREWELL)
            raise
        finally:
            process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def _program(name: str) -> list[str]:
    """Find a plugin: by its path, beside this program, in this repository, or in $PATH.

    $PATH is last: monitoring-plugins has programs named check_host and check_mysql_query, too.
    """
    beside = os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), name)
    in_repository = os.path.join(_PLUGINS, name)
    if os.sep in name:
        return [name]
    if os.access(beside, os.X_OK):
        return [beside]
    return [sys.executable, in_repository] if os.path.isfile(in_repository) else [name]
