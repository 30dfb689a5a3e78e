"""Rules for lines about data nodes that wait for others in their start, or start without them.

The texts are those of ndbmtd 9.7.2 (QMGR), which logs every 3 s for whom it waits. A system start or initial
start that waits means that no data node is up.
"""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.probes.ndb_log.rule import Rule

_NODES = r"(?P<nodes>\d[\d, and]*?)"
_OFTEN = 60  # lines: 3 minutes; nodes that are started one after the other wait that long


def _waits(pattern: str) -> Rule:
    return Rule(
        word=b"aiting ",
        pattern=pattern,
        key="start waits {node}",
        state=State.CRITICAL,
        what="its start waits for {nodes}",
        why="for 3 min or longer",
        advice="start {nodes}, check the network and firewall",
        often=_OFTEN,
    )


START_RULES = (
    _waits(rf"(?:Initial start, waiting(?: \d+)? for|Waiting \d+ sec for nodes) {_NODES} to connect"),
    _waits(rf"Waiting (?:\d+ sec )?for non partitioned start, .*missing: {_NODES} no-wait"),
    *(
        Rule(word=word, pattern=pattern, key="start waits {node}")
        for word, pattern in (
            (b"tart with ", r"(?:Initial start|Start) with (?:all )?nodes"),
            (b"potentially partitioned", r"Start potentially partitioned"),
            (b"Start phase  completed", r"Start phase [1-9]\d* completed"),  # it waits before these
            (b"Started (", r"Started \("),
            (b"shutdown completed", r"(?:Forced node|Node) shutdown completed"),
        )
    ),
    Rule(
        word=b"Start potentially partitioned",
        pattern=rf"Start potentially partitioned with nodes .*missing: {_NODES} no-wait",
        key="without {peer}",
        state=State.WARNING,
        what="started without {nodes}",
        why="which may run as a cluster of its own",
        advice="make sure that it does not, then start {nodes}",
    ),
    Rule(
        word=b"tart with nodes",
        pattern=rf"(?:Initial start|Start) with nodes .*missing: {_NODES} no-wait",
        key="without {peer}",
        state=State.WARNING,
        what="started without {nodes}",
        why="less redundancy meanwhile",
        advice="start {nodes}",
    ),
    Rule(word=b"Started (", pattern=r"Started \(", key="without {node}"),
    Rule(
        word=b"NR Status: node=,OLD=",
        pattern=r"NR Status: node=(?P<peer>\d+),OLD=.*,NEW=Restart completed",
        key="without {peer}",
    ),
    Rule(
        word=b"NR Status: node=,OLD=", pattern=r"NR Status: node=\d+,.*,NEW=Restart completed", key="without "
    ),
)
