"""Which logs a user means by the names and patterns of the command line."""

from __future__ import annotations

import os

from stallwatch.sources.logs.rotation import rotated_name
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def named(patterns: Iterable[str], known: Iterable[str] = (), *, fold: bool = True) -> list[str]:
    """Absolute paths of the logs, each once, in order; a pattern's rotated files belong to their log.

    Without ``fold`` rotated files are logs of their own.

    A name without ``*``, ``?`` or ``[``, and a pattern that fits nothing, stand for themselves: opening them
    tells what is wrong. So does a log of ``known`` that a pattern fits but that is gone.
    """
    paths: dict[str, None] = {}
    for pattern in map(os.path.abspath, patterns):
        paths.update(
            dict.fromkeys(_matching(pattern, known, fold=fold) if _is_pattern(pattern) else [pattern])
        )
    return list(paths)


def _is_pattern(path: str) -> bool:
    return not os.path.lexists(path) and any(sign in path for sign in "*?[")


def _matching(pattern: str, known: Iterable[str], *, fold: bool) -> list[str]:
    from fnmatch import fnmatch
    from glob import glob

    found = set(glob(pattern)) | {path for path in known if fnmatch(path, pattern)}
    rotated = {path for path in found if fold and any(_is_rotated(path, log) for log in found)}
    return sorted(found - rotated) or [pattern]


def _is_rotated(path: str, log: str) -> bool:
    folder, name = os.path.split(path)
    stem = os.path.splitext(os.path.basename(log))[0]
    if path == log or not name.startswith(
        stem
    ):  # a folder may hold a thousand files: no pattern for each pair
        return False
    return folder == os.path.dirname(log) and rotated_name(os.path.basename(log)).fullmatch(name) is not None
