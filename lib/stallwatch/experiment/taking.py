"""Taking readings: running a plugin again and again, and keeping what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from stallwatch.experiment.readings import collected, load, reading
from stallwatch.frame.check import FOR_THE_NEXT_RUN
from stallwatch.history.delta import LEAST
from stallwatch.line import clean, shorten
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from stallwatch.experiment.readings import Readings

SAMPLE = "5s"  # how long an interval is, unless --sample says so; it has to fit into --timeout
_LONGEST = 300  # bytes of what a plugin said instead
_FAREWELL = 2  # seconds that an interrupted plugin has to take leave of its server
_COUNTS = 3  # UNKNOWN is the largest exit status of a plugin
_SAMPLES = re.compile(r"--sample(?![\w-])")  # not --samples
_PLUGINS = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "plugins")  # in a repository


def take(
    path: str, command: Sequence[str], count: int, pause: float, progress: Callable[[int], None]
) -> Readings:
    """Run a plugin so many times, with a pause between them, and write what it says to a new file.

    What it measures over an interval is measured over one that no other reading has a part in, see ``Apart``.
    Raises NotUnderstoodError, and KeyboardInterrupt, which says what the file has then: whole readings.
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
    """Say what the file of an interrupted run has, and how to go on."""
    try:
        number = load(path).number
    except NotUnderstoodError:
        return ": no reading was taken"
    has = f"{path} has {number} of {count} readings"
    return f": {has}: compare with these, or remove the file and take them again"


class Apart:
    """A way to run a plugin so that no two readings, nor a check that runs beside it, share an interval.

    Most plugins measure since their last run, and take runs that are too near for the same one again; those
    that can are told to measure twice in a run (``--sample``). The others get a memory of their own, pauses
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
        raise NotUnderstoodError(f"{name} said: {shorten(clean(said), _LONGEST) or 'nothing'}")
    told = reading(said, name)
    if str(told["summary"]).endswith(" --help"):  # the arguments make no sense, however often it is run
        summary = shorten(clean(str(told["summary"])), _LONGEST)
        raise NotUnderstoodError(f"{name} said: {str(told['name']).upper()} {told['state']} - {summary}")
    return said


def _said_to(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    name, *words = command
    try:
        process = subprocess.Popen(  # noqa: S603 - whoever calls us says what to run
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
    """Find a plugin: by its path, among those of this repository, for this Python, or in $PATH."""
    beside = os.path.join(_PLUGINS, name)
    if os.sep in name or not os.path.isfile(beside):
        return [name]
    return [sys.executable, beside]
