"""One run: read what is new in the logs, judge all that still counts, report it."""

from __future__ import annotations

import os
import time
from itertools import combinations

from stallwatch.findings import Fault, Finding, ProbeError, Reading, State
from stallwatch.probes.ndb_log.collect import FORMAT, collect
from stallwatch.probes.ndb_log.diagnosis import of_backups
from stallwatch.probes.ndb_log.ends import of_shutdowns
from stallwatch.probes.ndb_log.events import Event
from stallwatch.probes.ndb_log.incidents import incidents
from stallwatch.probes.ndb_log.lines import compiled
from stallwatch.probes.ndb_log.unknown import of_unknown, unknown_warnings
from stallwatch.probes.ndb_log.watchdog import DEFAULT_INTERVAL, KILL
from stallwatch.sources import logs
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import say_duration
from stallwatch.words import listed, plural, worst_first

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from stallwatch.frame.run import Run
    from stallwatch.probes.ndb_log.collect import Follow, NodeLog, Snapshot
    from stallwatch.probes.ndb_log.error_log import ErrorLog
    from stallwatch.probes.ndb_log.incidents import Incident
    from stallwatch.probes.ndb_log.model import Rules

# In the order in which they are shown; of one quantity the worst comes first.
_QUANTITIES = (
    "missed_heartbeats", "gcp_commit_lag", "gcp_save_lag", "redo_full", "redo_lag",
    "stuck", "overslept", "spin",
)  # fmt: skip
_ONE_EACH = "use one check for each cluster"
_OF_NODE = r"ndb_\d+_(?:out|cluster)\.log"


def findings(options: Namespace, run: Run, rules: Rules, memory: dict[str, Any]) -> Iterator[Finding]:
    """Read the logs that the options name; ``memory`` holds, for each path, what earlier runs left."""

    def follow(path: str, kept: Any) -> logs.Log:
        run.deadline.doing = f"reading {path}"
        if options.whole:
            return logs.Whole(path, left=run.deadline.left)
        return logs.Follow(path, kept, max_bytes=options.max_bytes, left=run.deadline.left)

    paths = logs.named(options.log, memory, fold=not options.whole)
    snapshot = collect(paths, follow, memory, rules)
    run.trace(f"read {', '.join(paths)} in {say_duration(time.time() - rules.now)}")
    run.default("stuck", critical=f"@{_kill(snapshot, rules) / 2}:")
    if options.acknowledge:
        yield from _acknowledge(snapshot, rules, run, memory)
    else:
        yield from _judge(snapshot, rules, run)
    for path in snapshot.printed:
        yield from _printed(path, follow, rules, alone=not snapshot.logs and not snapshot.error_logs)


def _printed(path: str, follow: Follow, rules: Rules, *, alone: bool) -> Iterator[Finding]:
    """Judge what ndb_mgm printed; its lines are in the perfdata where no log is read."""
    from stallwatch.probes.ndb_log import mgm_text

    text = b"".join(follow(path, None)).decode("utf-8", "replace")
    for finding in mgm_text.findings(text, rules):
        yield finding._replace(label="") if isinstance(finding, Reading) and not alone else finding


def _kill(snapshot: Snapshot, rules: Rules) -> float:
    """Seconds without a sign of life after which the watchdog ends a node; the smallest of all logs."""
    known = [log.node.watchdog_interval for log in snapshot.logs]
    interval = min((seconds for seconds in known if seconds), default=DEFAULT_INTERVAL)
    return KILL * (rules.watchdog_interval or interval)


def _judge(snapshot: Snapshot, rules: Rules, run: Run) -> Iterator[Finding]:
    """Yield the number of lines first, then what could not be found out, then each subject."""
    if snapshot.logs:
        yield _summary(snapshot.logs, whole=rules.whole)
    elif snapshot.error_logs:
        yield _records(snapshot.error_logs)
    yield from snapshot.problems
    yield from (Fault(State.OK, aside) for aside in snapshot.asides)
    if not snapshot.logs and not snapshot.error_logs:
        return
    if twice := list(_twice(snapshot.logs)):
        yield from twice  # and nothing of what two clusters together would mean
        return
    yield from _by_subject(snapshot, rules, run)
    if rules.backup_age:
        cluster_logs = [log.backups for log in snapshot.logs if log.node.is_cluster_log]
        if cluster_logs:
            yield from of_backups(cluster_logs, rules.backup_age)
        else:
            what = "the age of backups is in cluster logs only"
            yield ProbeError(what, "name one with --log, ndb_1_cluster.log")


def _twice(node_logs: Sequence[NodeLog]) -> Iterator[ProbeError]:
    """Return which logs are of two clusters, or copies.

    Those of one node id have the name that NDB sets, of others the data nodes differ.
    """
    first: dict[str, str] = {}
    for path in (log.path for log in node_logs):
        name = os.path.basename(path)
        other = first.setdefault(name, path)
        if compiled(_OF_NODE).fullmatch(name) and os.path.realpath(path) != os.path.realpath(other):
            what = f"{name} is in two folders, {os.path.dirname(other)} and {os.path.dirname(path)}"
            yield ProbeError(what, _ONE_EACH)
    for one, log in combinations([log for log in node_logs if log.node.is_cluster_log], 2):
        if one.shutdown.is_of_another_cluster(log.shutdown):
            names = f"{os.path.basename(one.path)} and {os.path.basename(log.path)}"
            what = f"{names} are of two clusters, whose data nodes have the same ids and other addresses"
            yield ProbeError(what, _ONE_EACH)


def _acknowledge(snapshot: Snapshot, rules: Rules, run: Run, memory: dict[str, Any]) -> Iterator[Finding]:
    """Forget all that was reported up to here, and logs that are gone; yield what that was."""
    found = _by_subject(snapshot, rules, run)
    held = [one.what for one in found if run.is_problem(one) and not getattr(one, "in_table", False)]
    for log in snapshot.logs:
        log.forget()
    for error_log in snapshot.error_logs:
        memory[error_log.path] = {"format": FORMAT, "acknowledged": rules.now}
    for path in [path for path in memory if not os.path.lexists(path)]:
        del memory[path]
    lines = sum(log.lines for log in snapshot.logs)
    yield Reading("lines", lines, what=f"acknowledged: {'; '.join(held) or 'nothing was held'}")
    yield from snapshot.problems


def _by_subject(snapshot: Snapshot, rules: Rules, run: Run) -> Iterator[Finding]:
    """Yield incidents first, then what else the logs show, subject by subject."""
    node_logs = snapshot.logs
    found = [*of_shutdowns([*(log.shutdown for log in node_logs), *snapshot.error_logs])]
    found += [one for log in node_logs for one in log.findings(rules)]
    events = [one for one in found if isinstance(one, Event)]
    wrong = [event for event in events if run.is_problem(event.finding)]
    shutdowns, *others = [one for one in found if not isinstance(one, Event)]
    now = max((log.present.now for log in node_logs), default=rules.now)
    for incident in incidents(wrong):
        fault = incident.fault(lambda event: _state(event, run), now)
        yield fault
        others += _in_perfdata(incident, fault.state)
    yield shutdowns
    others += [event.finding for event in events if event not in wrong]
    yield from _merged(others)
    if not node_logs:
        return
    episodes = sum(log.watchdog.episodes for log in node_logs)
    yield Reading("stuck_episodes", episodes, what=f"stuck episodes: {episodes}")
    yield from of_unknown([log.unknown for log in node_logs])
    for log in node_logs:
        yield from log.zone.findings(os.path.basename(log.path))


def _state(event: Event, run: Run) -> State:
    """Judge an event; one that is over is no more than a WARNING."""
    finding = event.finding
    if isinstance(finding, Fault):
        return State.WARNING if event.over else finding.state
    critical = not event.over and run.is_problem(finding, State.CRITICAL)
    return State.CRITICAL if critical else State.WARNING


def _in_perfdata(incident: Incident, state: State) -> Iterator[Reading]:
    """Yield the numbers of an incident, which is reported as a whole."""
    for event in incident.events:
        if isinstance(event.finding, Reading):
            yield event.finding._replace(in_table=True, confirmed=state is State.CRITICAL)


def _merged(found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield faults first, then each quantity, the worst of all logs first and alone in the perfdata."""
    # A cluster log repeats its nodes' lines: of findings that are the same, the worst counts.
    ascending = sorted(found, key=lambda one: (_gravity(one), _value(one)))
    once = list({(type(one), getattr(one, "name", ""), one.what): one for one in ascending}.values())
    yield from (finding for finding in once if not isinstance(finding, Reading))
    readings = [finding for finding in once if isinstance(finding, Reading)]
    for name in _QUANTITIES:
        worst = worst_first((one for one in readings if one.name == name), _value)
        yield from worst[:1]
        yield from (reading._replace(label="") for reading in worst[1:] if reading.value)


def _gravity(finding: Finding) -> int:
    return finding.state.gravity if isinstance(finding, Fault) else 0


def _value(finding: Finding) -> float:
    return (finding.value or 0) if isinstance(finding, Reading) else 0


def _records(error_logs: Sequence[ErrorLog]) -> Reading:
    """Return what was read where there are error logs only."""
    count = sum(log.records for log in error_logs)
    names = listed([os.path.basename(log.path) for log in error_logs])
    return Reading("lines", count, what=f"{plural(count, 'record')} of {names}")


def _summary(node_logs: Sequence[NodeLog], *, whole: bool) -> Reading:
    """Return what was read; the line comes first when nothing else is to be reported."""
    lines = sum(log.lines for log in node_logs)
    names = os.path.basename(node_logs[0].path) if len(node_logs) == 1 else f"{len(node_logs)} logs"
    longest = max(log.watchdog.longest for log in node_logs)
    stuck = f"longest stuck {say_duration(longest)}" if longest else "no thread stuck"
    count = sum(log.unknown.count for log in node_logs)
    unknown = f", {unknown_warnings(count)}" if count else ""
    noun = f"{'' if whole else 'new '}{'line' if lines == 1 else 'lines'}"
    return Reading("lines", lines, what=f"{lines} {noun} of {names}, {stuck}{unknown}")
