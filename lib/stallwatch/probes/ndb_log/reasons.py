"""Why a node ended, where the lines before its end know more than the line of its end.

The texts are those of NDB 9.7.2. What a node logs before its end explains only the errors that
follow from it (``codes``), within ``WINDOW`` seconds.
"""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.line import shorten
from stallwatch.probes.ndb_log.down import ERROR_LOG, FORCED, NO_REASON, RESTART, by_signal
from stallwatch.probes.ndb_log.events import WINDOW
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.model import Row, Subject
from stallwatch.probes.ndb_log.nodes import NODES
from stallwatch.probes.ndb_log.rule import nodes_of
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Collection
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line
    from stallwatch.probes.ndb_log.model import Node, Present
    from stallwatch.probes.ndb_log.shutdown import Shutdown

_NOTHING: list[Any] = [0.0, (), "", "", 0.0]
_NO_CODE, _SIGNAL = 0, 6000
_NO_DIRECTORY = frozenset({_NO_CODE, 2801, 2805, 2811, 2815})
_ENOENT, _EACCES = 2, 13
_SHOWN = 120  # bytes of the line before an end
_ENDED_BY_MASTER = frozenset({2303, 2315})
# Seconds before such an end in which it was waited for: 120 s as default of
# TimeBetweenGlobalCheckpointsTimeout, and a minute for clocks and reports.
_WAITED = 180.0
_LCP_STOOD_STILL, _DECLARED_DEAD = 7200, 2315
_GCP_STOP = "GCP stop, all nodes waited for it"
_GCP_ADVICE = "check its disk, and its log for stuck threads"
_COPY = r"Killed by node (?P<by>\d+) as copyfrag failed, error: (?P<e>\d+)"
_REFUSED = (
    r"Node (?P<by>\d+) killed this node because it (?P<what>.+?)\.?(?: \w+ subscription)?"
    r" error code: (?P<e>\d+)"
)
_FAILED = (
    r"Node (?P<peer>\d+) (?:has failed\. The|declared dead due)"
    r"|NR Status: node=(?P<node>\d+),.*NEW=Node failed"
)


class Reasons(Subject):
    """What the log of a node shows before its end."""

    END = b"Forced node shutdown"

    def __init__(self, node: Node, present: Present, memory: dict[str, Any], shutdown: Shutdown) -> None:
        super().__init__(node, present, memory)
        self._shutdown = shutdown
        # Node: when it was said, the errors that it explains, why, advice, and for how long it was waited
        # for.
        self._reasons: dict[str, list[Any]] = memory.setdefault("reasons", {})
        self.last = ""  # the line before the one that is read

    def _on_no_directory(self, match: re.Match[str], line: Line) -> None:
        path, errno = withheld.data(match["path"]), number(match["errno"])
        if errno == _EACCES:
            why, advice = f"permission denied on DataDir {path}", "give it to the user that runs the node"
        elif errno == _ENOENT:
            why, advice = f"DataDir {path} is missing", "create it, or correct DataDir"
        else:
            why, advice = f"cannot enter DataDir {path} (errno {errno})", "look at that directory"
        self._note(line, _NO_DIRECTORY, why, advice)

    def _on_no_password(self, _: re.Match[str], line: Line) -> None:
        advice = "start it with --filesystem-password-from-stdin"
        self._note(line, {_NO_CODE}, "the file system is encrypted, no password was given", advice)

    def _on_copy_failed(self, match: re.Match[str], line: Line) -> None:
        why = f"node {match['by']} could not copy data to it (error {match['e']})"
        advice = f"run perror --ndb {match['e']}, and check the log of node {match['by']}"
        self._note(line, {2303}, why, advice)

    def _on_refused(self, match: re.Match[str], line: Line) -> None:
        why = f"node {match['by']} ended it, it {match['what']} (error {match['e']})"
        advice = f"run perror --ndb {match['e']}, and check the log of node {match['by']}"
        self._note(line, {2303}, withheld.message(why), advice)

    def _on_gcp_stop(self, match: re.Match[str], line: Line) -> None:
        """Note it of each node that the master ends, or of the one that logs that it is ended."""
        mask = match.groupdict().get("mask")
        for node in nodes_of(mask) if mask else (line.node,):
            self._note(line._replace(node=node), _ENDED_BY_MASTER, _GCP_STOP, _GCP_ADVICE, _WAITED)

    def _on_checkpoint(self, _: re.Match[str], line: Line) -> None:
        from stallwatch.probes.ndb_log import exit_codes

        why, advice = exit_codes.short(_LCP_STOOD_STILL, ""), "check its disk with iostat -kx 1"
        self._note(line, {_LCP_STOOD_STILL, _DECLARED_DEAD}, why, advice)
        self._shutdown.foretell(line, why, advice + RESTART)

    def _on_isolated(self, match: re.Match[str], line: Line) -> None:
        """Note why a node that cut itself off did so, if it cannot end in time."""
        when, _, why, advice, _ = self._reasons.get(match["we"], _NOTHING)
        if why and 0 <= line.moment - when <= WINDOW:
            self._shutdown.explain(number(match["we"]), why, advice + RESTART)

    def _on_failed(self, match: re.Match[str], line: Line) -> None:
        """Note why a node failed, where other nodes log only that it did."""
        node = number(match["peer"] or match["node"])
        when, _, why, advice, waited = self._reasons.get(str(node), _NOTHING)
        if waited and 0 <= line.moment - when <= WINDOW:
            self._shutdown.explain(node, why, advice + RESTART, waited=waited)

    def _on_forced(self, match: re.Match[str], line: Line) -> None:
        code = number(match["error"] or "0")
        when, codes, why, advice, waited = self._reasons.pop(str(line.node), _NOTHING)
        last = "" if self._node.is_cluster_log else shorten(withheld.message(self.last), _SHOWN)
        before = f'the line before is "{last}"' if last else ""
        stood_still = WINDOW if code == _LCP_STOOD_STILL else 0.0
        if code == _SIGNAL and match["signal"]:
            self._shutdown.explain(line.node, *by_signal(number(match["signal"])), (before,))
        elif code in codes and 0 <= line.moment - when <= WINDOW:
            said = f"error {code}: {why}" if code else why
            self._shutdown.explain(line.node, said, advice + RESTART, waited=waited or stood_still)
        elif code:
            self._shutdown.explain(line.node, more=(before,), waited=stood_still)
        elif not match["signal"]:
            self._shutdown.explain(line.node, f"{NO_REASON}{before and ', '}{before}", ERROR_LOG)

    def _note(self, line: Line, codes: Collection[int], why: str, advice: str, waited: float = 0.0) -> None:
        if len(self._reasons) < NODES:
            self._reasons[str(line.node)] = [line.moment, sorted(codes), why, advice, waited]

    def keep(self) -> None:
        """Put into the memory what may still explain an end."""
        kept = {node: one for node, one in self._reasons.items() if self._present.holds(one[0])}
        self._memory["reasons"] = kept

    LINES = (
        Row(
            b"Cannot change directory to",
            r"Cannot change directory to '(?P<path>[^']*)', error: (?P<errno>\d+)",
            _on_no_directory,
        ),
        Row(b"password not provided", r"Data node configured to have encryption but pass", _on_no_password),
        Row(b"Waited too long with LCP", r"Waited too long with LCP not progressing", _on_checkpoint),
        Row(b"declared dead by", r"We\((?P<we>\d+)\) have been declared dead by (?P=we)\b", _on_isolated),
        Row(b"as copyfrag failed", _COPY, _on_copy_failed),
        Row(b"killed this node because it", _REFUSED, _on_refused),
        Row(b"killed this node because GCP", r"Node \d+ killed this node because GCP stop", _on_gcp_stop),
        Row(b"Detected GCP stop", r"Detected GCP stop\(\d+\)\.*sending kill to (?P<mask>.+)", _on_gcp_stop),
        Row(b"has failed. The Node state", _FAILED, _on_failed),
        Row(b"declared dead due", _FAILED, _on_failed),
        Row(b"NR Status: node=,OLD=", _FAILED, _on_failed),
        Row(END, FORCED, _on_forced),
    )  # fmt: skip
