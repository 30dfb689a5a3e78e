"""Files of readings: what a plugin said with ``--output json``, one after the other."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from stallwatch.thresholds import Range
from stallwatch.units import NotUnderstoodError, is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Said = dict[str, Any]

_LARGEST = 1 << 28  # letters of a file
_BLOCK = 1 << 20  # letters that are read at once: as many take their memory even if the file is short


class Measure(NamedTuple):
    """A quantity by its label in the perfdata: ``values`` of all readings, and which are better, if known."""

    label: str
    unit: str
    better: str  # "lower", "higher" or ""
    values: tuple[float, ...]


class Readings(NamedTuple):
    """What one plugin told, some times; ``summary`` is what it said last."""

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
        raise NotUnderstoodError(f"{path} is not UTF-8, so it is nothing that a plugin said") from None
    return collected(_all_in(text, os.path.basename(path)), os.path.basename(path))


def collected(readings: Iterable[Said], name: str) -> Readings:
    """Put together what each reading tells; ``name`` says where they are from. Raises NotUnderstoodError."""
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
                f"{name}: reading {number} is not JSON: was the plugin told --output json?"
            ) from None
        if not _is_of_a_plugin(said):
            raise NotUnderstoodError(f"{name}: reading {number} is not what a plugin says with --output json")
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
    """Tell which values a threshold allows, if it has one end."""
    if not isinstance(limit, str):
        return ""
    try:
        allowed = Range(limit)
    except NotUnderstoodError:
        return ""
    bounded = allowed.start > 0, allowed.end != float("inf")
    return {(True, False): "higher", (False, True): "lower"}.get(bounded, "") if not allowed.inside else ""
