"""The words and the numbers for what was found."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, ProbeError, Reading, State
from stallwatch.history.delta import not_yet
from stallwatch.line import Forms
from stallwatch.probes.innodb_redo_log.collect import BUFFER_WAITS, REDO_TIME, STANDING, WAITS
from stallwatch.probes.mysql.innodb import NEARLY_FULL, redo_log
from stallwatch.probes.mysql.status import numbers
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration, say_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from stallwatch.findings import Finding
    from stallwatch.probes.innodb_redo_log.collect import Snapshot

_HOUR = 3600.0  # that a redo log is to hold of writes at their peak, by custom


def all_of_it(snapshot: Snapshot, is_problem: Callable[[Finding], bool]) -> Iterator[Finding]:
    """Report that writers waited before all else, else how full the log is, then what could not be asked."""
    waits = _waits(snapshot)
    if waits and is_problem(waits):
        yield waits
        yield from (one._replace(in_table=True) for one in _fill(snapshot))
    else:
        yield from _fill(snapshot)
        yield from [waits] if waits else ()
    if isinstance(snapshot.interval.why, ProbeError):
        yield snapshot.interval.why
    yield from _numbers(snapshot)
    if not snapshot.samples.is_enabled:
        what = "the redo log is switched off: after a crash, all data of this server are lost"
        advice = "ALTER INSTANCE ENABLE INNODB REDO_LOG, when the import is done"
        yield Fault(State.WARNING, what, "Innodb_redo_log_enabled is OFF", advice)
    if not isinstance(snapshot.interval.why, ProbeError):
        yield from _asides(snapshot)


def _asides(snapshot: Snapshot) -> Iterator[Fault]:
    """Return what is not known, and what is easily taken for waits for the redo log."""
    counts = snapshot.interval.counts
    if not snapshot.interval.seconds:
        yield not_yet("what is written", snapshot.interval)
    if not snapshot.samples.counts_waits:
        how = "it needs PROCESS"
        if not snapshot.samples.lacks_process:
            how = f"SET GLOBAL innodb_monitor_enable = '{snapshot.samples.counter.enable}', and in my.cnf"
        yield Fault(State.OK, f"whether writers waited between two runs is not counted: {how}")
    elif snapshot.interval.seconds and WAITS not in counts:
        what = "the count of waits was reset or switched on since the last look"
        yield Fault(State.OK, f"{what}: it is known from the next run on")
    elif counts.get(WAITS) and snapshot.cannot_have_waited:
        what = "a checkpoint was ordered, no writer waited for it: too little was written for that"
        yield Fault(State.OK, f"{what} (innodb_log_checkpoint_now)")
    if waited := counts.get(BUFFER_WAITS):
        times = f"{waited:.0f} times for the log buffer (Innodb_log_waits)"
        yield Fault(State.OK, f"writers waited {times}, not for the redo log: see innodb_log_buffer_size")


def _waits(snapshot: Snapshot) -> Reading | None:
    """Give whether writers waited: by the metric, or else by where the log stood, which proves only that."""
    counted, samples = snapshot.waits, snapshot.samples
    line = Line(more=(_state(snapshot),))
    if counted is not None:
        within = say_duration(snapshot.interval.seconds)
        said = samples.counter.said.format(f"{counted:.0f}") if counted else "no writer waited"
        why = _filled_in(snapshot) if counted else ""
        what = f"{said} in {within}"
        return Reading(WAITS, counted, "", what, why, _advice(snapshot), line=line if counted else None)
    if not snapshot.standing or (samples.counts_waits and not isinstance(snapshot.interval.why, ProbeError)):
        return None
    times = f"{snapshot.standing} of {len(samples.redos)} samples"
    what = f"the redo log is as full as it may be in {times}: writers wait"
    what += ", as at the last look" if snapshot.lasts else ""
    return Reading(
        STANDING,
        snapshot.standing,
        "",
        what,
        _filled_in(snapshot),
        _advice(snapshot),
        label="",
        confirmed=snapshot.lasts,
        line=line,
    )


def _fill(snapshot: Snapshot) -> Iterator[Reading]:
    if not (one := snapshot.fullest):
        return
    what = _state(snapshot)
    if snapshot.waits == 0:
        what += ", no writer waited"
    what = Forms(what, _height(snapshot, one.fill), f"redo log at most {round(one.fill, 1):g} %")
    least = State.WARNING if snapshot.warns else State.OK
    yield redo_log(one, what, _advice(snapshot))._replace(state=least)


def _state(snapshot: Snapshot) -> str:
    """Return how full it was, what InnoDB does about it, and how much is written."""
    said = "it is not known how full the redo log is"
    if one := snapshot.fullest:
        point = "below the async point"
        if one.fill >= NEARLY_FULL and one.async_point >= one.stall:  # a small log, or one of many threads
            point = "which comes before the async point"
        elif one.is_flushed_for or snapshot.standing:
            point = "beyond the async point, aggressive flushing"
        said = f"{_height(snapshot, one.fill)}, {point}"
    if snapshot.rate is None:
        return said
    return f"{said}, {_filled_in(snapshot) or f'{say_size(snapshot.rate)}/s written'}"


def _height(snapshot: Snapshot, fill: float) -> str:
    samples = len(snapshot.samples.redos)
    times = f"{samples} samples" if samples > 1 else "one sample"
    return f"redo log at most {round(fill, 1):g} % of the stall point in {times}"


def _filled_in(snapshot: Snapshot) -> str:
    """Return how long the log lasts at the present rate; "": not known."""
    if not snapshot.holds or snapshot.rate is None:
        return ""
    return f"{say_size(snapshot.rate)}/s fill it in {_said(snapshot.holds)}"


def _said(seconds: float) -> str:
    return say_duration(round(seconds, 1))


def _numbers(snapshot: Snapshot) -> Iterator[Reading]:
    if snapshot.fullest:
        age = snapshot.fullest.age
        yield Reading("checkpoint_age", age, "B", f"the checkpoint is at most {say_size(age)} behind")
    if snapshot.rate is not None:
        rate = round(snapshot.rate)
        yield Reading("redo_written_per_s", rate, "B", f"{say_size(rate)}/s written to the redo log")
    if snapshot.holds:
        holds = _said(snapshot.holds)
        what = f"the redo log holds {holds} of writes at this rate"
        yield Reading(REDO_TIME, round(snapshot.holds, 1), "s", what, advice=_advice(snapshot))


def _advice(snapshot: Snapshot) -> str:
    if snapshot.holds and snapshot.holds >= _HOUR:
        return "it holds an hour of writes: see why pages are flushed so slowly (disk, innodb_io_capacity)"
    return f"enlarge the redo log ({_size(snapshot.samples.settings)}), or write less at once"


def _size(settings: Mapping[str, str]) -> str:
    """Return which variable it is, and what that is now: of one file, where there are several."""
    known = numbers(settings)
    name = next((one for one in ("innodb_redo_log_capacity", "innodb_log_file_size") if one in known), "")
    if not name:
        return "innodb_log_file_size"
    files = known.get("innodb_log_files_in_group", 1) if name == "innodb_log_file_size" else 1
    times = f"{files:.0f} files of " if files > 1 else ""
    return f"{name}, now {times}{say_size(known[name])}"
