"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.history.delta import FIRST
from stallwatch.probes.innodb.redo import NEARLY_FULL
from stallwatch.probes.innodb_redo_log.samples import BUFFER_WAITS, CHECKPOINTED, WAITS, WRITTEN
from stallwatch.probes.mysql.status import numbers
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration, say_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stallwatch.findings import Finding
    from stallwatch.history.delta import Interval
    from stallwatch.probes.innodb.redo import Redo
    from stallwatch.probes.innodb_redo_log.samples import Samples

REDO_LOG, REDO_TIME, STANDING = "redo_log", "redo_time", "standing"

# Per cent of the stall point at which the age stands while writers wait: 99.2 to 99.8 on MySQL 9.7.2 with
# 8 and 32 MiB, 99.75 on 9.7.4, 100 on MariaDB 10.11.19.
STANDS = 99.0
_HOUR = 3600.0  # that a redo log is to hold of writes at their peak, by custom


class Found(NamedTuple):
    """What one run knows."""

    fullest: Redo | None  # None: not known
    samples: int
    standing: int  # samples in which it stood at the stall point
    lasts: bool  # it did so at the last look, too
    interval: Interval | None
    why: str | ProbeError  # there is no interval: an error if this look was cut short
    taken: Samples

    def grown(self, name: str) -> float | None:
        """Tell how much one of the counters grew since the last look; None: not known."""
        return self.interval.counts.get(name) if self.interval else None

    @property
    def rate(self) -> float | None:
        """Bytes that were written per second."""
        return self.interval.rate(WRITTEN) if self.interval else None

    @property
    def holds(self) -> float | None:
        """Seconds of writes at this rate that fit below the stall point; None: not known, or none at all."""
        return self.fullest.stall / self.rate if self.fullest and self.rate else None

    @property
    def was_cut_short(self) -> bool:
        """Whether not all could be asked that was to be."""
        return isinstance(self.why, ProbeError)

    @property
    def waits(self) -> float | None:
        """How often writers waited since the last look; None: not known."""
        counted = self.grown(WAITS)
        return 0 if counted and self.cannot_have_waited else counted

    @property
    def cannot_have_waited(self) -> bool:
        """Whether the log was so empty at the last look that what was written since has not filled it.

        What was checkpointed since then and what is not yet is the age that it would have now if nothing had
        been checkpointed. So on MariaDB an idle server is known, where a checkpoint was ordered.
        """
        checkpointed = self.grown(CHECKPOINTED)
        if checkpointed is None or self.fullest is None:
            return False
        return checkpointed + self.fullest.age < NEARLY_FULL / 100 * self.fullest.stall


def findings(found: Found, alerts: Callable[[str, float | None], bool]) -> Iterator[Finding]:
    """Tell that writers waited before all else, else how full the log is, then what could not be asked."""
    waits = _waits(found)
    if waits and alerts(waits.name, waits.value):
        yield waits
        yield from (one._replace(in_table=True) for one in _fill(found))
    else:
        yield from _fill(found)
        yield from [waits] if waits else ()
    if isinstance(found.why, ProbeError):
        yield found.why
    yield from _numbers(found)
    if not found.taken.is_enabled:
        what = "the redo log is switched off: after a crash, all data of this server are lost"
        advice = "ALTER INSTANCE ENABLE INNODB REDO_LOG, when the import is done"
        yield Fault(State.WARNING, what, "Innodb_redo_log_enabled is OFF", advice)


def asides(found: Found) -> Iterator[Fault]:
    """Say what is not known, and what is easily taken for waits for the redo log."""
    if found.was_cut_short:
        return
    if not found.interval:
        first = "first look" if found.why == FIRST else found.why
        yield Fault(State.OK, f"{first}: what is written is told from the next run on, or by --sample")
    if not found.taken.counts_waits:
        how = "it needs PROCESS"
        if not found.taken.lacks_process:
            how = f"SET GLOBAL innodb_monitor_enable = '{found.taken.counter.enable}', and in my.cnf"
        yield Fault(State.OK, f"whether writers waited between two runs is not counted: {how}")
    elif found.interval and found.grown(WAITS) is None:
        yield Fault(State.OK, "the count of waits began anew: it is told from the next run on")
    elif found.grown(WAITS) and found.cannot_have_waited:
        what = "a checkpoint was ordered, for which nobody waited: too little was written for that"
        yield Fault(State.OK, f"{what} (innodb_log_checkpoint_now)")
    if waited := found.grown(BUFFER_WAITS):
        what = (
            f"writers waited {waited:.0f} times for the log buffer (Innodb_log_waits), not for the redo log"
        )
        yield Fault(State.OK, f"{what}: see innodb_log_buffer_size")


def _waits(found: Found) -> Reading | None:
    """Tell whether writers waited: by the metric, or else by where the log stood, which proves only that."""
    counted = found.waits
    if counted is not None and found.interval:
        within = say_duration(found.interval.seconds)
        said = found.taken.counter.said.format(f"{counted:.0f}") if counted else "no writer waited"
        why = _state(found) if counted else ""
        return Reading(WAITS, counted, what=f"{said} within {within}", why=why, advice=_advice(found))
    if not found.standing or (found.taken.counts_waits and not found.was_cut_short):
        return None
    times = f"{found.standing} of {found.samples} samples"
    what = f"the redo log is as full as it may be in {times}: writers wait"
    what += ", as at the last look" if found.lasts else ""
    return Reading(
        STANDING, found.standing, "", what, _state(found), _advice(found), label="", confirmed=found.lasts
    )


def _fill(found: Found) -> Iterator[Reading]:
    if not (one := found.fullest):
        return
    why = f"{say_size(one.age)} of {say_size(one.stall)} are not yet checkpointed"
    what = _state(found) + (f", it holds {_said(found.holds)} of that" if found.holds else "")
    if found.waits == 0:
        what += ", no writer waited"
    yield Reading(REDO_LOG, round(one.fill, 1), "%", what, why, _advice(found))


def _state(found: Found) -> str:
    """Say how full it was, what InnoDB does about it, and how much is written."""
    said = "it is not known how full the redo log is"
    if one := found.fullest:
        times = f"{found.samples} samples" if found.samples > 1 else "one sample"
        point = "below the async point, no aggressive flushing"
        if one.fill >= NEARLY_FULL and one.async_point >= one.stall:  # a small log, or one of many threads
            point = "which comes before the async point, no aggressive flushing"
        elif one.is_flushed_for or found.standing:
            point = "beyond the async point, aggressive flushing"
        said = f"redo log at most {round(one.fill, 1):g} % of the stall point in {times}, {point}"
    return said if found.rate is None else f"{said}; {say_size(found.rate)}/s written"


def _said(seconds: float) -> str:
    return say_duration(round(seconds, 1))


def _numbers(found: Found) -> Iterator[Reading]:
    if found.fullest:
        age = found.fullest.age
        yield Reading("checkpoint_age", age, "B", f"the checkpoint is at most {say_size(age)} behind")
    if found.rate is not None:
        rate = round(found.rate)
        yield Reading("redo_written_per_s", rate, "B", f"{say_size(rate)}/s written to the redo log")
    if found.holds:
        holds = _said(found.holds)
        what = f"the redo log holds {holds} of writes at this rate"
        yield Reading(REDO_TIME, round(found.holds, 1), "s", what, advice=_advice(found))


def _advice(found: Found) -> str:
    if found.holds and found.holds >= _HOUR:
        return "it holds an hour of writes: see why pages are flushed so slowly (disk, innodb_io_capacity)"
    known = _size(found.taken.settings)
    if found.holds:
        known += f"; it is filled in {_said(found.holds)} at this rate"
    return f"enlarge the redo log ({known}), or write less at once"


def _size(settings: Mapping[str, str]) -> str:
    """Say which variable it is, and what that is now: of one file, where there are several."""
    known = numbers(settings)
    name = next((one for one in ("innodb_redo_log_capacity", "innodb_log_file_size") if one in known), "")
    if not name:
        return "innodb_log_file_size"
    files = known.get("innodb_log_files_in_group", 1) if name == "innodb_log_file_size" else 1
    times = f"{files:.0f} files of " if files > 1 else ""
    return f"{name}, now {times}{say_size(known[name])}"
