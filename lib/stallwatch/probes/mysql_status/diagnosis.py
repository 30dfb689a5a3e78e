"""What is judged: by the user's ranges, or by those of the sets, and how many looks in a row it is bad."""

from __future__ import annotations

import time

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.history import recall, remember
from stallwatch.history.delta import LEAST
from stallwatch.line import Forms
from stallwatch.probes.mysql_status.kinds import COUNTER, UNKNOWN
from stallwatch.probes.mysql_status.model import say_number
from stallwatch.probes.mysql_status.sets import SETS
from stallwatch.probes.mysql_status.sets.clients import TURNED_AWAY
from stallwatch.sources.mysql.errors import TOO_MANY
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.thresholds import Range
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run
    from stallwatch.probes.mysql_status.model import Facts
    from stallwatch.probes.mysql_status.selection import Selection, Wanted
    from stallwatch.sources.mysql import UnreachableError

ENOUGH = 100  # that has to be counted for a ratio to it
_KEPT = "lasting"
_LONGER = 10  # times as long as before between two looks: they are not in a row
_USUAL = 60.0  # seconds between two looks, at least
_ADVICE = (
    "see who is connected and what they wait for: one place is reserved for CONNECTION ADMIN (SUPER), and "
    "MySQL's admin_address and MariaDB's extra_port let in administrators, too"
)


class Diagnosis:
    """What is known of one server, and what it is judged by."""

    def __init__(self, facts: Facts, chosen: Selection, run: Run) -> None:
        self._measured = facts.measured
        self._chosen = chosen
        self._run = run
        self.asides: list[Fault] = []  # of what could not be judged, and is no trouble
        self._names = {name.lower(): name for name in self._measured.answer.texts}
        known = {name: list(one.limits(facts)) for name, one in SETS.items()}
        self._limits = {limit.name: limit for each in known.values() for limit in each}
        in_force = [limit for name in chosen.judged_sets for limit in known[name]]
        self._in_force = [limit for limit in in_force if not chosen.excludes(limit.name)]

    @property
    def names(self) -> list[str]:
        """Name what the sets judge."""
        return [limit.name for limit in self._in_force if limit.name in self._measured.answer.look.counts]

    def by_user(self) -> Iterator[Finding]:
        """Judge what the user gave ranges for."""
        for ranges in self._chosen.limits.values():
            wanted = next(iter(ranges.values()))
            by_level = {level: one.limit for level, one in ranges.items()}
            try:
                yield from self._ratio(wanted, by_level) if wanted.per else self._variable(wanted, by_level)
            except ProbeError as error:
                yield error

    def by_sets(self, streaks: Streaks, confirm: int, *, sampled: bool) -> Iterator[Reading]:
        """Judge what the sets know limits of and the user gave no ranges for.

        What is critical for less than ``confirm`` looks in a row is not confirmed.
        """
        own = {self._names.get(quantity[:-1]) for quantity in self._chosen.limits}
        found = {one.name: one for one in self._in_force if one.name not in own and self._is_known(one.name)}
        for one in found.values():
            ranges = {"warning": one.warning, "critical": one.critical}
            self._run.judge_by(one.name, {level: Range(text) for level, text in ranges.items() if text})
        bad = [name for name in found if self._run.is_problem(self._reading(name), State.CRITICAL)]
        if not self._measured.interval:
            streaks.begin_anew()
        elif not self._measured.interval.again:
            streaks.count(bad)
        for name, limit in found.items():
            looks = streaks.of(name) if name in bad else 0
            reading = self._reading(name)
            reading = reading._replace(in_table=not reading.value)  # a line for each 0 would hide the others
            if limit.critical and looks < confirm:
                of = "one sample" if sampled else f"{looks} of {confirm} intervals"
                what = reading.what + f" ({of})" * bool(looks)
                reading = reading._replace(what=what, confirmed=False)
            yield reading

    def _is_known(self, name: str) -> bool:
        return self._measured.value(name) is not None

    def _variable(self, wanted: Wanted, ranges: Mapping[str, Range]) -> Iterator[Finding]:
        name = self._name(wanted.name)
        if self._is_unknown(name):
            return  # the first look; the reason is reported once for all
        self._run.judge_by(name, ranges)
        yield self._reading(name)

    def _is_unknown(self, name: str) -> bool:
        """Whether there is no rate at this look, as at a first one; raises ProbeError if only it has none."""
        if self._measured.is_withheld(name):
            raise ProbeError(
                f"{name} is not judged this time: it was reset since the last look, as by FLUSH STATUS"
            )
        return self._measured.value(name) is None

    def _reading(self, name: str) -> Reading:
        measured, limit = self._measured, self._limits.get(name)
        value, unit = measured.value(name), measured.unit(name)
        if limit:
            return Reading(name, value, unit, limit.what, limit.why, limit.advice)
        return Reading(name, value, unit, f"{name} is {measured.say(name)}")

    def _ratio(self, wanted: Wanted, ranges: Mapping[str, Range]) -> Iterator[Finding]:
        """Judge a ratio: of what two counters have grown by, or of two numbers as they are.

        It takes enough of what it is a ratio to: what we ask ourselves makes the server read some hundreds of
        rows in scans, and hardly any by key.
        """
        names = [self._name(one) for one in (wanted.name, wanted.per)]
        kinds = {self._measured.kind(one) for one in names}
        if len(kinds) > 1:
            kinds_in_words = " and ".join(f"{one} is a {self._measured.kind(one)}" for one in names)
            raise ProbeError(f"{wanted.name}/{wanted.per} is no ratio: {kinds_in_words}")
        if any(self._is_unknown(one) for one in names):
            return
        above, below = (
            (self._measured.grown(one) if COUNTER in kinds else self._measured.now(one)) or 0.0
            for one in names
        )
        title, spoken = "/".join(names), f"{say_number(above)} to {say_number(below)}"
        if below < ENOUGH if COUNTER in kinds else below <= 0:
            at_least = f", of {ENOUGH} at least" if COUNTER in kinds else ""
            few = f"{names[1]} is {say_number(below)}{self._over(kinds)}{at_least}"
            self.asides.append(Fault(State.OK, f"no ratio {title} is judged: {few}"))
            return
        ratio = float(f"{above / below:.6g}")
        self._run.judge_by(title, ranges)
        what = f"{title} is {say_number(ratio)}{self._over(kinds)}"
        limit = self._limits.get(names[0])
        why = ", ".join(filter(None, (spoken, limit.why if limit else "")))
        advice = limit.advice if limit else ""
        yield Reading(title, ratio, "", what, why, advice, "_per_".join(names))

    def _over(self, kinds: Iterable[str]) -> str:
        interval = self._measured.interval
        return f" over {say_duration(interval.seconds)}" if interval and COUNTER in kinds else ""

    def _name(self, wanted: str) -> str:
        """Give the server's spelling of a number that can be judged; raises ProbeError."""
        answer = self._measured.answer
        name = self._names.get(wanted.lower())
        whose = f"{answer.where} ({answer.flavour.text})"
        if name is None:
            raise ProbeError(f"{whose} has no status variable {wanted}", _alike(wanted, self._names))
        if self._measured.now(name) is None:
            raise ProbeError(f'{name} of {whose} is "{answer.texts[name]}", which is no number')
        if self._measured.kind(name) == UNKNOWN:
            raise ProbeError(
                f"{name} of {whose} is not judged: it is not known whether it counts up, so that a rate is to"
                " be made of it, or goes up and down",
                f"declare it: --counter {name}, or --gauge {name}",
            )
        return name


def _alike(wanted: str, names: Mapping[str, str]) -> str:
    from difflib import get_close_matches

    alike = [names[one] for one in get_close_matches(wanted.lower(), names)]
    return f"it has {', '.join(alike)}" if alike else "SHOW GLOBAL STATUS lists what it has"


class _Look(NamedTuple):
    """The last look, and for how many in a row numbers were beyond their limits."""

    runs: dict[str, int]
    at: float  # seconds since the epoch
    every: float  # seconds between it and the one before
    refused: bool  # it was a log-in that was refused


class Streaks:
    """For how many looks in a row numbers were beyond their limits, by name: a single one pages nobody.

    Unlike those of `history.streak` they end after a long pause, and a log-in that is refused is a look, too.
    """

    def __init__(self, memory: dict[str, Any]) -> None:
        self._memory = memory
        self._last = recall(memory, _KEPT, _Look) or _Look({}, 0.0, 0.0, refused=False)

    def of(self, name: str) -> int:
        """Give how many looks in a row it has been."""
        return max(0, self._last.runs.get(name, 0))

    @property
    def since(self) -> float:
        """Give how many seconds ago the last look was that counts."""
        return time.time() - self._last.at

    def count(self, beyond: Iterable[str], *, refused: bool = False) -> None:
        """Count one more look, at which these were beyond their limits, and nothing else.

        The interval after looks that were refused is about these looks, and no other one.
        """
        since = self.since if self._last.at else 0.0
        if since > _LONGER * max(self._last.every, _USUAL):
            self._last = self._last._replace(runs={})
        more = 0 if self._last.refused and not refused else 1
        self._keep({name: max(1, self.of(name) + more) for name in beyond}, since, refused=refused)

    def begin_anew(self) -> None:
        """Forget all: this look is not comparable with what was before."""
        self._keep({}, 0.0)

    def _keep(self, runs: dict[str, int], every: float, *, refused: bool = False) -> None:
        self._last = _Look(runs, time.time(), every, refused)
        remember(self._memory, _KEPT, self._last)


def turned_away(error: UnreachableError, memory: dict[str, Any], confirm: int, *, sampled: bool) -> Fault:
    """Judge a log-in that was refused: CRITICAL after ``confirm`` looks in a row, a WARNING before.

    The looks count together with those that are let in and see others turned away. Raises the ``error`` if
    it is any other.
    """
    if error.number != TOO_MANY:
        raise error
    streaks = Streaks(memory)
    if streaks.since >= LEAST or not streaks.of(TURNED_AWAY[0]):
        streaks.count(TURNED_AWAY, refused=True)
    looks = streaks.of(TURNED_AWAY[0])
    lasts = looks >= confirm
    of = "" if lasts else " (one sample)" if sampled else f" ({looks} of {confirm} looks)"
    used_up = "max_connections is used up"
    what = Forms(f"{used_up}: not even this check is let in{of}", f"{used_up}{of}")
    return Fault(State.CRITICAL if lasts else State.WARNING, what, error.what, _ADVICE)
