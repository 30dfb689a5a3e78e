"""The words and the numbers for what a host does."""

from __future__ import annotations

from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.history import recall
from stallwatch.labels import own
from stallwatch.line import Forms, in_all_forms
from stallwatch.sources.host import name_of
from stallwatch.startup import TYPE_CHECKING
from stallwatch.table import Table
from stallwatch.units import say_duration, say_short, say_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.probes.host.diagnosis import Plateau, Rules, Stuck
    from stallwatch.probes.host.model import Activity, DiskLoad, Use

LABELLED, CHOSEN = 2, 4  # disks that have perfdata of their own: the line is to stay within 1023 bytes
_LIMIT = Line()
_IN_NUMBERS = {
    "cpu",
    "disk_busy",
    "memory_available",
}  # their evidence is numbers, of interest also if all is well
_WORKING = 10.0  # per cent: a processor that waits less than this for disks waits for nothing worth telling


def readings(host: Activity, labelled: Iterable[str]) -> list[Reading]:
    """Give all quantities that are known, in the order in which they are shown.

    ``labelled`` are the disks with perfdata of their own.
    """
    return [
        *_processors(host),
        *_load(host),
        *_busiest_disk(host),
        *_memory(host),
        *_swapping(host),
        *_network(host),
        *_each_disk(host, labelled),
    ]


def labelled(memory: dict[str, Any], host: Activity) -> list[str]:
    """Name the disks with perfdata of their own: the first few, and those that had it once keep it."""
    names = sorted(disk.name for disk in host.disks)
    before = recall(memory, "labelled", list[str]) or []
    told = [name for name in before if name in names]
    room = CHOSEN if host.places else LABELLED
    told = [*told, *(name for name in names if name not in told)][:room]
    memory["labelled"] = [*told, *(name for name in before if name not in told)][:room]
    return sorted(told)


def with_summary(readings: Sequence[Reading], summary: str, rules: Rules) -> Iterator[Reading]:
    """Let the first reading speak for all, unless it is wrong itself.

    Of what is not wrong the numbers are shown, and neither a cause nor a next step.
    """
    for number, reading in enumerate(readings):
        if rules.is_problem(reading):
            yield reading
            continue
        numbers = reading.why if reading.name in _IN_NUMBERS else ""
        whole = ", ".join(filter(None, (reading.what, numbers)))
        line = Line(more=(whole,)) if whole and not number else None
        yield reading._replace(what=whole if number else summary, why="", advice="", line=line)


def without_symptoms(readings: Iterable[Reading], rules: Rules) -> list[Reading]:
    """Give the same readings, the load as a line of busy processors instead of a second problem.

    Tasks that wait for a processor are load: it is a problem of its own only if it is worse than the
    processors, as with a critical threshold of its own.
    """
    by_name = {reading.name: reading for reading in readings if reading.label is None}
    cpu, load = by_name.get("cpu"), by_name.get("load")
    if cpu and load and rules.is_problem(cpu) and rules.is_problem(load):
        by_name["cpu"] = cpu._replace(line=_LIMIT._replace(more=(load.what,)))
        by_name["load"] = load._replace(in_table=True)
    return [by_name[reading.name] if reading.label is None else reading for reading in readings]


def summed_up(host: Activity) -> str:
    """Write it all in a sentence, for when all is well."""
    busy = f"processors {_percent(host.use.busy)} busy" if host.use else ""
    parts = [busy, _load_shortly(host)]
    if host.disks:
        parts.append(_disk_shortly(host, host.disks[0]))
    parts.append(_memory_shortly(host))
    if host.swapping:
        parts.append(_swapping_shortly(*host.swapping))
    return ", ".join(filter(None, parts)) + (f", over {say_duration(host.seconds)}" if host.seconds else "")


def stuck(those: Sequence[Stuck], host: Activity, certain: int) -> Iterator[Fault]:
    """Report disks that answer nothing, as critical after so many looks in a row."""
    for one in those:
        waits = "1 request waits" if one.waiting == 1 else f"{one.waiting} requests wait"
        what = f"disk {_named(one.disk, host)} has answered nothing for {say_duration(one.seconds)}, {waits}"
        lasts = one.looks >= certain
        why = "reads and writes there hang" + ("" if lasts else ", critical if it lasts")
        advice = "see dmesg, then look at its controller, path (multipath -ll) or array"
        yield Fault(State.CRITICAL if lasts else State.WARNING, what, why, advice)


def limits(plateaus: Sequence[Plateau], host: Activity) -> Iterator[Fault]:
    """Warn of disks at their limit; no more than that, because a backup at night does it, too."""
    for one in plateaus:
        first, last = one.spells[0], one.spells[-1]
        what = f"disk {_named(one.disk, host)} is at its limit"
        why = (
            f"{last.requests:.0f} requests/s for {say_duration(one.seconds)} while their wait rose from "
            f"{say_duration(first.wait)} to {say_duration(last.wait)}, {say_size(last.octets)}/s, "
            f"{_percent(last.busy)} busy"
        )
        if host.use and host.use.iowait >= _WORKING:
            why += f", and processors wait for it {_percent(host.use.iowait)} of their time"
        advice = (
            "see iotop or pidstat -d for who reads or writes, then spread it over more disks, or faster ones"
        )
        yield Fault(State.WARNING, what, why, advice)


def table(host: Activity) -> Table:
    """Give the figures of iostat of all disks."""
    columns = (
        "disk", "busy", "await_ms", "queue", "r_per_s", "w_per_s", "rkB_per_s", "wkB_per_s", "merged_per_s",
        "kB_each",
    )  # fmt: skip
    rows = (
        (
            _named(disk.name, host),
            _rounded(disk.busy), _rounded(disk.wait, 1000), _rounded(disk.queue),
            _rounded(disk.reads), _rounded(disk.writes),
            _rounded(disk.read, 1 / 1024), _rounded(disk.written, 1 / 1024),
            _rounded(disk.merged), _rounded(disk.size, 1 / 1024),
        )
        for disk in host.disks
    )  # fmt: skip
    return Table(columns, tuple(rows))


def _processors(host: Activity) -> Iterator[Reading]:
    use = host.use
    if use is None:
        return
    advice = "see top for who uses them, check_mysqld_process for mysqld"
    what = f"processors {_percent(use.busy)} busy{_over(host)}"
    why = ", ".join(filter(None, (_times(use), _load_shortly(host))))
    yield Reading("cpu", _rounded(use.busy), "%", what, why, advice, line=_LIMIT)
    yield Reading("user", _rounded(use.user), "%", in_table=True)
    yield Reading("system", _rounded(use.system), "%", in_table=True)
    what = f"processors wait for disks {_percent(use.iowait)} of their time{_over(host)}"
    why = _disk_shortly(host, host.disks[0]) if host.disks else ""
    yield Reading(
        "iowait", _rounded(use.iowait), "%", what, why, "see iotop or pidstat -d for who reads or writes",
        line=_LIMIT,
    )  # fmt: skip
    what = f"steal {_percent(use.steal)} of the processors' time{_over(host)}"
    why = "the hypervisor has more guests than it can serve, or this guest has used up what it may"
    advice = "ask the administrator of the hypervisor, or move this guest"
    yield Reading("steal", _rounded(use.steal), "%", what, why, advice, line=_LIMIT)
    what = f"the busiest processor {_percent(use.busiest)} busy"
    yield Reading("busiest_processor", _rounded(use.busiest), "%", what)


def _load(host: Activity) -> Iterator[Reading]:
    """Give the load over 5 minutes, which a short burst does not raise."""
    load, value = host.snapshot.load, host.load
    if load is None or value is None:
        return
    what = f"load {load[1]:g} over 5 min, {say_short(value)} per processor"
    busy = f"processors {_percent(host.use.busy)} busy ({_times(host.use)})" if host.use else ""
    tasks = Forms("tasks run, want to run, or wait for a disk or a file server", "tasks run or wait")
    why = in_all_forms(tasks, lambda one: ", ".join(filter(None, [busy, one])))
    ps = "run ps -eo stat,pid,comm --sort=stat"
    advice = Forms(f"{ps}, and look at the tasks in state D and R", ps)
    yield Reading("load", round(value, 3), "", what, why, advice, line=_LIMIT)


def _busiest_disk(host: Activity) -> Iterator[Reading]:
    timed = [disk for disk in host.disks if disk.busy is not None]
    if timed:
        disk = timed[0]
        advice = "see iotop or pidstat -d for who reads or writes"
        yield Reading(
            "disk_busy", _rounded(disk.busy), "%", *_disk(host, disk), advice, table=table(host), line=_LIMIT
        )
        if disk.queue is not None:
            yield Reading("disk_queue", _rounded(disk.queue), "", in_table=True)
    if slow := host.slowest:
        what = f"requests of disk {_named(slow.name, host)} take {say_duration(slow.wait or 0.0)}"
        what += _over(host)
        why = f"{_percent(slow.busy or 0.0)} busy, {say_short(slow.queue or 0.0)} in its queue"
        advice = "check with iostat -x 1 whether it is slow, or asked too much"
        yield Reading("disk_await", _exact(slow.wait), "s", what, why, advice, line=_LIMIT)


def _memory(host: Activity) -> Iterator[Reading]:
    if memory := host.snapshot.memory:
        what, why = _memory_shortly(host), f"{say_size(memory.available)} of {say_size(memory.total)}"
        advice = "make buffers smaller, or see who has it: ps -eo rss,pid,comm --sort=-rss"
        yield Reading(
            "memory_available", _rounded(memory.share_available), "%", what, why, advice, line=_LIMIT
        )


def _swapping(host: Activity) -> Iterator[Reading]:
    if host.swapping is None:
        return
    read, written = host.swapping
    what = f"{say_size(read)}/s read from swap{_over(host)}"
    why = "tasks wait for memory of theirs that was given away"
    why = ", ".join(filter(None, [why, _memory_shortly(host)]))
    advice = "make buffers smaller, or see who has grown: ps -eo rss,pid,comm --sort=-rss"
    yield Reading("swap_in", round(read), "B", what, why, advice)
    yield Reading("swap_out", round(written), "B", f"{say_size(written)}/s written to swap{_over(host)}")


def _network(host: Activity) -> Iterator[Reading]:
    """Give the worst interface of each kind."""
    if not host.network:
        return
    one = max(host.network, key=lambda trouble: trouble.errors)
    what = (
        f"{one.interface}: {say_short(one.errors)} packets/s with errors"
        if one.errors
        else "no network errors"
    )
    advice = f"check cable, port and duplex: ip -s -s link show {one.interface}, ethtool -S {one.interface}"
    yield Reading("network_errors", round(one.errors, 3), "", what + _over(host), advice=advice)
    one = max(host.network, key=lambda trouble: trouble.drops)
    what = f"{one.interface}: {say_short(one.drops)} packets/s dropped" if one.drops else "no packets dropped"
    why = "buffers were full, or their protocol is not known here"
    advice = f"ethtool -S {one.interface} shows which"
    yield Reading("network_drops", round(one.drops, 3), "", what + _over(host), why, advice)


def _each_disk(host: Activity, labelled: Iterable[str]) -> Iterator[Reading]:
    by_name = {disk.name: disk for disk in host.disks}
    for disk in (by_name[name] for name in labelled):
        what, name = ": ".join(_disk(host, disk)), own(disk.name)
        if disk.busy is not None:
            yield Reading("disk_busy", _rounded(disk.busy), "%", what, label=f"{name}_busy", in_table=True)
        if disk.wait is not None:
            yield Reading("disk_await", _exact(disk.wait), "s", what, label=f"{name}_await", in_table=True)
        if disk.queue is not None:
            yield Reading("disk_queue", _rounded(disk.queue), "", label=f"{name}_queue", in_table=True)
        yield Reading("reads", _rounded(disk.reads), "", label=f"{name}_reads", in_table=True)
        yield Reading("writes", _rounded(disk.writes), "", label=f"{name}_writes", in_table=True)
        yield Reading("read", round(disk.read), "B", label=f"{name}_read", in_table=True)
        yield Reading("written", round(disk.written), "B", label=f"{name}_written", in_table=True)


def _disk(host: Activity, disk: DiskLoad) -> tuple[str, str]:
    """Give how busy a disk is, and what it does."""
    each = "" if disk.wait is None else f", each for {say_duration(disk.wait)}"
    return (
        f"disk {_named(disk.name, host)} {_percent(disk.busy or 0.0)} busy{_over(host)}",
        (
            f"{disk.reads:.0f} reads/s, {disk.writes:.0f} writes/s, {say_size(disk.read + disk.written)}/s, "
            f"{say_short(disk.queue or 0.0)} in its queue{each}"
        ),
    )


def _disk_shortly(host: Activity, disk: DiskLoad) -> str:
    busy = "" if disk.busy is None else f" {_percent(disk.busy)} busy"
    wait = f"await {say_duration(disk.wait)}" if disk.wait else f"{disk.requests:.0f} requests/s"
    more = f" of {len(host.disks)}" if len(host.disks) > 1 else ""
    return f"disk {_named(disk.name, host)}{more}{busy} ({wait})"


def _named(disk: str, host: Activity) -> str:
    """Name a disk, and what an administrator knows it by."""
    more = [name_of(disk), host.places.get(disk)]
    known = ", ".join(name for name in more if name)
    return f"{disk} ({known})" if known else disk


def _times(use: Use) -> str:
    return (
        f"user {say_short(use.user)} %, system {say_short(use.system)} %, iowait {say_short(use.iowait)} %, "
        f"steal {say_short(use.steal)} %, the busiest processor {say_short(use.busiest)} %"
    )


def _load_shortly(host: Activity) -> str:
    return "" if host.load is None else f"load {say_short(host.load)} per processor"


def _memory_shortly(host: Activity) -> str:
    memory = host.snapshot.memory
    return f"{_percent(memory.share_available)} of memory available" if memory else ""


def _swapping_shortly(read: float, written: float) -> str:
    if not read and not written:
        return "no swapping"
    return f"{say_size(read)}/s swapped in, {say_size(written)}/s out"


def _over(host: Activity) -> str:
    return f" over {say_duration(round(host.seconds, 1))}" if host.seconds else ""


def _percent(value: float) -> str:
    return f"{round(value, 1):g} %"


def _exact(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)


def _rounded(value: float | None, factor: float = 1.0) -> float | None:
    return None if value is None else round(value * factor, 2)
