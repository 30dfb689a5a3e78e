"""Taking readings: running a plugin again and again, and keeping what it says."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from stallwatch.experiment.readings import collected, reading
from stallwatch.line import clean, shorten
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.experiment.readings import Readings

_LONGEST = 300  # bytes of what a plugin said instead
_COUNTS = 3  # UNKNOWN is the largest exit status of a plugin
_PLUGINS = os.path.join(os.path.dirname(__file__), *[os.pardir] * 3, "plugins")  # in a repository


def take(
    path: str, command: Sequence[str], count: int, pause: float, progress: Callable[[int], None]
) -> Readings:
    """Run a plugin so many times, with a pause between them, and write what it says to a new file.

    Raises NotUnderstoodError: what was said until then is kept.
    """
    if os.path.exists(path):
        raise NotUnderstoodError(f"{path} is there already: give another name")
    readings = []
    for number in range(count):
        time.sleep(pause if number else 0)
        text = _said(command)
        readings.append(reading(text, command[0]))
        try:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise NotUnderstoodError(f"{path}: {error.strerror}") from None
        progress(number + 1)
    return collected(readings, path)


def _said(command: Sequence[str]) -> str:
    name, *words = command
    try:
        done = subprocess.run(  # noqa: S603 - whoever calls us says what to run
            [*_program(name), *words, "--output", "json"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise NotUnderstoodError(f"{name} cannot be run: {error.strerror}") from None
    said = done.stdout or done.stderr
    if not 0 <= done.returncode <= _COUNTS or not said.startswith("{"):
        raise NotUnderstoodError(f"{name} said: {shorten(clean(said), _LONGEST) or 'nothing'}")
    return done.stdout


def _program(name: str) -> list[str]:
    """Find a plugin: by its path, among those of this repository, for this Python, or in $PATH."""
    beside = os.path.join(_PLUGINS, name)
    if os.sep in name or not os.path.isfile(beside):
        return [name]
    return [sys.executable, beside]
