"""The numbers that are judged: by the user's ranges, or by those of the sets."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.probes.mysql_status.asked import limits
from stallwatch.probes.mysql_status.kinds import COUNTER, UNKNOWN
from stallwatch.probes.mysql_status.measured import say_number
from stallwatch.probes.mysql_status.sets import SETS
from stallwatch.startup import TYPE_CHECKING
from stallwatch.thresholds import Range
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from stallwatch.findings import Finding
    from stallwatch.probes.mysql_status.asked import Asked
    from stallwatch.probes.mysql_status.lasting import Lasting
    from stallwatch.probes.mysql_status.limit import Facts, Limit
    from stallwatch.probes.mysql_status.wanted import Wanted

LEAST = 100  # that has to be counted for a ratio to it


class Judging:
    """What is known of one server, and what it is judged by."""

    def __init__(self, facts: Facts, asked: Asked) -> None:
        self._measured = facts.measured
        self._asked = asked
        self.asides: list[Fault] = []  # of what could not be judged, and is no trouble
        self._names = {name.lower(): name for name in self._measured.told.texts}
        known = {name: list(one.limits(facts)) for name, one in SETS.items()}
        self._limits = {limit.name: limit for each in known.values() for limit in each}
        in_force = [limit for name in asked.judged_sets for limit in known[name]]
        self._in_force = [limit for limit in in_force if not asked.excluded(limit.name)]

    @property
    def names(self) -> list[str]:
        """Name what the sets judge."""
        return [limit.name for limit in self._in_force if limit.name in self._measured.told.look.counts]

    def by_user(self) -> Iterator[Finding]:
        """Judge what the user gave ranges for."""
        for ranges in limits(self._asked.ranges).values():
            wanted = next(iter(ranges.values()))
            by_level = {level: one.limit for level, one in ranges.items()}
            try:
                yield from self._ratio(wanted, by_level) if wanted.per else self._variable(wanted, by_level)
            except ProbeError as error:
                yield error

    def by_sets(self, lasting: Lasting) -> Iterator[Reading]:
        """Judge what the sets know limits of and the user gave no ranges for; what is new: not confirmed."""
        own = {self._names.get(quantity[:-1]) for quantity in limits(self._asked.ranges)}
        found = {one.name: one for one in self._in_force if one.name not in own and self._is_known(one.name)}
        beyond = [one.name for one in found.values() if self._is_beyond(one)]
        if not self._measured.interval:
            lasting.begin_anew()
        elif not self._measured.interval.again:
            lasting.count(beyond)
        for one in found.values():
            yield self._by_set(one, lasting.of(one.name) if one.name in beyond else 0)

    def _is_known(self, name: str) -> bool:
        return self._measured.value(name) is not None

    def _is_beyond(self, limit: Limit) -> bool:
        value = self._measured.value(limit.name)
        return bool(limit.critical) and value is not None and Range(limit.critical).alerts(value)

    def _by_set(self, limit: Limit, run: int) -> Reading:
        name, thresholds = limit.name, self._asked.run.thresholds
        ranges = {"warning": limit.warning, "critical": limit.critical}
        thresholds[name] = {level: Range(text) for level, text in ranges.items() if text}
        reading = self._reading(name)
        reading = reading._replace(in_table=not reading.value)  # a line for each 0 would hide the others
        if not limit.critical or run >= self._asked.confirm:
            return reading
        of = "one sample" if self._asked.sample else f"{run} of {self._asked.confirm} intervals"
        return reading._replace(what=reading.what + f" ({of})" * bool(run), confirmed=False)

    def _variable(self, wanted: Wanted, ranges: Mapping[str, Range]) -> Iterator[Finding]:
        name = self._name(wanted.name)
        if self._is_unknown(name):
            return  # the first look; why is told once for all
        self._asked.run.thresholds[name] = dict(ranges)
        yield self._reading(name)

    def _is_unknown(self, name: str) -> bool:
        """Whether there is no rate at this look, as at a first one; raises ProbeError if only it has none."""
        if self._measured.is_withheld(name):
            raise ProbeError(
                f"{name} is not judged this time: it began anew since the last look, as by FLUSH STATUS"
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
            told = " and ".join(f"{one} is a {self._measured.kind(one)}" for one in names)
            raise ProbeError(f"{wanted.name}/{wanted.per} is no ratio: {told}")
        if any(self._is_unknown(one) for one in names):
            return
        above, below = (
            (self._measured.grown(one) if COUNTER in kinds else self._measured.now(one)) or 0.0
            for one in names
        )
        title, spoken = "/".join(names), f"{say_number(above)} to {say_number(below)}"
        if below < LEAST if COUNTER in kinds else below <= 0:
            at_least = f", of {LEAST} at least" if COUNTER in kinds else ""
            few = f"{names[1]} is {say_number(below)}{self._over(kinds)}{at_least}"
            self.asides.append(Fault(State.OK, f"no ratio {title} is told: {few}"))
            return
        ratio = float(f"{above / below:.6g}")
        self._asked.run.thresholds[title] = dict(ranges)
        what = f"{title} is {say_number(ratio)}{self._over(kinds)}"
        limit = self._limits.get(names[0])
        why, advice = (f"{spoken}; {limit.why}", limit.advice) if limit else (spoken, "")
        yield Reading(title, ratio, "", what, why, advice, "_per_".join(names))

    def _over(self, kinds: Iterable[str]) -> str:
        interval = self._measured.interval
        return f" over {say_duration(interval.seconds)}" if interval and COUNTER in kinds else ""

    def _name(self, wanted: str) -> str:
        """Give the server's spelling of a number that can be judged; raises ProbeError."""
        told = self._measured.told
        name = self._names.get(wanted.lower())
        whose = f"{told.where} ({told.flavour.text})"
        if name is None:
            raise ProbeError(f"{whose} has no status variable {wanted}", _alike(wanted, self._names))
        if self._measured.now(name) is None:
            raise ProbeError(f'{name} of {whose} is "{told.texts[name]}", which is no number')
        if self._measured.kind(name) == UNKNOWN:
            raise ProbeError(
                f"{name} of {whose} is not judged: it is not known whether it counts up, so that a rate is to"
                " be made of it, or goes up and down",
                f"say so: --counter {name}, or --gauge {name}",
            )
        return name


def _alike(wanted: str, names: Mapping[str, str]) -> str:
    from difflib import get_close_matches

    alike = [names[one] for one in get_close_matches(wanted.lower(), names)]
    return f"it has {', '.join(alike)}" if alike else "SHOW GLOBAL STATUS lists what it has"
