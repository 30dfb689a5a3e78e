"""R12: a backup or dump runs on the replica, the finding of "Mystery Solved: Replication lag in InnoDB"."""

from __future__ import annotations

from stallwatch.probes.replication.causes import words
from stallwatch.probes.replication.causes.case import Cause
from stallwatch.probes.replication.causes.rules import locked
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.probes.replication.causes.backups import Backup
    from stallwatch.probes.replication.causes.case import Case

_BUSY = 80.0  # per cent of the time that the disk has something to do
_SLOW_REQUEST = 0.002  # seconds: what serves many requests at once is no slower for being always busy
_RISES = 0.02  # seconds of lag per second
_MOST = 77.0  # less than what the applier itself shows


def r12_backup_runs(case: Case) -> Cause | None:
    """Blame a backup that runs, unless R5 does; more so with a busy disk, or if the lag began with it."""
    blamed = locked.held_by(case)
    found = [one for one in case.signals.backups if not blamed.intersection(one.connections)]
    if not found:
        return None
    backup = max(found, key=lambda one: (one.certain, one.pid is not None, one.seconds or 0.0))
    host = case.signals.host
    score = 60.0 if backup.certain else 30.0
    what = words.backup(backup) + ("" if backup.certain else " on this host, of this server or another")
    if host.load:
        score *= 1.4 if host.load.busy >= _BUSY and host.load.wait >= _SLOW_REQUEST else 1
        what += f", {host.disk} {host.load.busy:.0f} % busy"
    if _began_with(case, backup):
        score *= 1.3
        what += ", the lag began with it"
    others = len(found) - 1
    what += f" (and {others} more)" if others else ""
    advice = "let it end; take the next one more slowly (--throttle), or from another replica"
    return Cause("R12", min(score, _MOST), what, advice, explains=backup.certain)


def _began_with(case: Case, backup: Backup) -> bool:
    """Whether at its present slope the lag was nothing when the backup began, or later."""
    lag, trend = case.lag.seconds, case.trend
    if not lag or not trend or trend.slope < _RISES or not backup.seconds:
        return False
    return lag / trend.slope <= 1.1 * backup.seconds
