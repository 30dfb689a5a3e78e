"""What is wrong in itself in one line of a log, and what makes it well again: a table.

Severities are the operator's view of each line, not NDB's own level ("Arbitration check won" is an ALERT and
good news, "Redo buffer full" is INFO). API nodes that come and go are no problem and have no row.
"""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.probes.ndb_log.buffer_rules import BUFFER_RULES
from stallwatch.probes.ndb_log.rule import Rule
from stallwatch.probes.ndb_log.start_rules import START_RULES

_MEMORY = r"(?P<kind>Data|Index) usage (?:is|increased to|decreased to) (?P<percent>{})%"
COMPLETED = r"Backup (?P<id>\d+) started from (?:node )?\d+ completed"
_WAITS_FOR = r"(?:.*(?P<nodes>m_count=[1-9]\d* [0-9a-f]+))?"
_SILENCE = "check the log of node {peer}, then the network"
_ARBITRATOR = "check the management and SQL nodes that may arbitrate"


def _memory(percent: str, state: State) -> Rule:
    return Rule(
        word=b"usage ",
        pattern=_MEMORY.format(percent),
        key="memory {kind} {node}",
        state=state,
        what="{kind} memory {percent} % used",
        why="writes fail at 95 %",
        advice="delete rows, or raise DataMemory (rolling restart)",
        stays=True,
    )


RULES = (
    # Who answers is there again.
    Rule(word=b"Arbitration ", pattern=r"Arbitration (?:won|lost) - \w+ reply from node", key="arbitrator"),
    Rule(
        word=b"Arbitration ",
        pattern=r"Arbitration (?:check )?lost - (?P<cause>.+)",
        key="arbitration {node}",
        state=State.CRITICAL,
        what="arbitration lost",
        why="{cause}",
        advice="this node ends itself: look at the network",
    ),
    Rule(
        word=b"no arbitrator",
        pattern=r"Network partitioning - (?P<cause>no arbitrator (?:available|configured))",
        key="arbitration {node}",
        state=State.CRITICAL,
        what="network partitioning",
        why="{cause}",
        advice="check the network, set ArbitrationRank",
    ),
    Rule(word=b"Started (", pattern=r"Started \(", key="arbitration {node}"),
    # The memory of a new process is empty.
    Rule(word=b"Start initiated", pattern=r"Start initiated", key="memory Data {node}"),
    Rule(word=b"Start initiated", pattern=r"Start initiated", key="memory Index {node}"),
    Rule(word=b"Start phase  completed", pattern=r"Start phase 0 completed", key="memory Data {node}"),
    Rule(word=b"Start phase  completed", pattern=r"Start phase 0 completed", key="memory Index {node}"),
    Rule(
        word=b"Could not find an arbitrator",
        pattern=r"Could not find an arbitrator",
        key="arbitrator",
        state=State.WARNING,
        what="no arbitrator found",
        why="a network split would end all nodes",
        advice=_ARBITRATOR,
    ),
    Rule(
        word=b"Lost arbitrator",
        pattern=r"Lost arbitrator node (?P<peer>\d+) - (?P<cause>.+?)(?: \[.*)?$",
        key="arbitrator",
        state=State.WARNING,
        what="arbitrator node {peer} lost",
        why="{cause}",
        advice=_ARBITRATOR,
    ),
    Rule(
        word=b"proposed disconnected node",
        pattern=r"President (?P<president>\d+) proposed disconnected node (?P<peer>\d+) as arbitrator",
        key="arbitrator {peer}",
        state=State.WARNING,
        what="arbitrator node {peer} is not connected",
        why="node {president} proposed it",
        advice=_ARBITRATOR,
    ),
    Rule(word=b" Connected", pattern=r"Node (?P<peer>\d+) Connected", key="arbitrator {peer}"),
    Rule(
        word=b"Arbitration failure",
        pattern=r"Arbitration failure - (?P<cause>.+?)(?: \[.*)?$",
        key="arbitrator",
        state=State.WARNING,
        what="arbitration failed",
        why="{cause}",
        advice=_ARBITRATOR,
    ),
    Rule(word=b"arbitrator node", pattern=r"(?:Started|Receive|Prepare) arbitrator node", key="arbitrator"),
    Rule(
        word=b"missed heartbeat",
        pattern=r"Node (?P<observer>\d+) missed heartbeat (?P<value>\d+) from node (?P<peer>\d+)",
        key="silence {observer} {peer}",
        what="management node {observer} missed heartbeat {value} of node {peer}",
        why="after 3 it cuts the connection",
        advice=_SILENCE,
        quantity="missed_heartbeats",
    ),
    Rule(
        word=b"missed heartbeat",
        pattern=r"Node (?P<peer>\d+) missed heartbeat (?P<value>\d+)",
        key="silence {observer} {peer}",
        what="node {peer} missed heartbeat {value}",
        why="after 4 a node is declared dead",
        advice=_SILENCE,
        quantity="missed_heartbeats",
    ),
    Rule(
        word=b"due to missed heartbeat",
        pattern=r"Node (?P<observer>\d+) disconnecting node (?P<peer>\d+) due to missed heartbeat",
        key="silence {observer} {peer}",
        state=State.CRITICAL,
        what="management node {observer} cut the connection of node {peer}",
        why="missed heartbeats",
        advice=_SILENCE,
    ),
    Rule(word=b" Connected", pattern=r"Node (?P<peer>\d+) Connected", key="silence {observer} {peer}"),
    Rule(
        word=b"late heartbeat",
        pattern=r"Node (?P<peer>\d+) late heartbeat (?P<ms>\d+)ms",
        key="late heartbeat {peer} {node}",
        state=State.WARNING,
        what="node {peer} was late with its heartbeat 3 times in 10 min",
        why="last by {ms} ms",
        advice=_SILENCE,
        often=3,
    ),
    Rule(
        word=b"GCP_COMMIT lag",
        pattern=r"GCP Monitor: GCP_COMMIT lag (?P<value>\d+) sec" + _WAITS_FOR,
        key="gcp commit {node}",
        what="GCP_COMMIT lag {value} s",
        why="commits waited for {nodes}",
        advice="check the logs of the other nodes for stuck threads",
        quantity="gcp_commit_lag",
    ),
    Rule(
        word=b"GCP_SAVE lag",
        pattern=r"GCP Monitor: GCP_SAVE lag (?P<value>\d+) sec" + _WAITS_FOR,
        key="gcp save {node}",
        what="GCP_SAVE lag {value} s",
        why="a global checkpoint waited for the disk of {nodes}",
        advice="check the redo log's disk on every data node with iostat -kx 1",
        quantity="gcp_save_lag",
    ),
    Rule(
        word=b"Detected GCP stop",
        pattern=r"Detected GCP stop\(\d+\)\.*(?:sending kill to (?P<nodes>.+))?",
        key="gcp stop",
        state=State.CRITICAL,
        what="global checkpoints stopped",
        why="they waited for {nodes}, which is ended",
        advice="check the disk and the log of {nodes} for stuck threads",
    ),
    Rule(  # it is done with its own part
        word=b"LCP Frag watchdog",
        pattern=r"LCP Frag watchdog ?: (?P<cause>No progress [^,(]*\d+ s).* lcp state LCP_WAIT_END_LCP",
        key="lcp wait {node}",
        state=State.WARNING,
        what="local checkpoint waits for other nodes",
        why="{cause}",
        advice="check the disks of the other data nodes with iostat -kx 1",
    ),
    Rule(
        word=b"LCP Frag watchdog",
        pattern=r"LCP Frag watchdog ?: (?P<cause>No progress [^,(]*\d+ s|.*?too slow)(?!.*LCP_WAIT_END_LCP)",
        key="lcp {node}",
        state=State.WARNING,
        what="local checkpoint does not progress",
        why="{cause}",
        advice="check the data directory's disk with iostat -kx 1",
    ),
    Rule(
        word=b"Waited too long with LCP",
        pattern=r"Waited too long with LCP not progressing",
        key="lcp {node}",
        state=State.CRITICAL,
        what="local checkpoint stood still too long",
        why="error 7200 follows",
        advice="check the data directory's disk with iostat -kx 1",
    ),
    _memory(r"9\d|1\d\d", State.CRITICAL),
    _memory(r"8\d", State.WARNING),
    Rule(word=b"usage ", pattern=_MEMORY.format(r"\d+"), key="memory {kind} {node}"),
    Rule(
        word=b"Backup ",
        pattern=r"Backup (?P<id>\d+) started from (?:node )?\d+ has been aborted\. Error: (?P<e>\d+)",
        key="backup",
        state=State.WARNING,
        what="backup {id} aborted",
        why="error {e}",
        advice="run perror --ndb {e}, then start the backup again",
    ),
    Rule(
        word=b"Backup ",
        pattern=r"Backup request from \d+ failed to start\. Error: (?P<e>\d+)",
        key="backup",
        state=State.WARNING,
        what="backup failed to start",
        why="error {e}",
        advice="run perror --ndb {e}, then start it again",
    ),
    Rule(word=b"Backup ", pattern=COMPLETED, key="backup"),
    Rule(
        word=b"Filesystem problem",
        pattern=r"Filesystem problem: (?P<cause>.+?)(?:\. Check (?P<path>(?:\w:)?[/\\]\S*?)\.? \(.*)?$",
        key="filesystem {node}",
        state=State.WARNING,
        what="file system problem",
        why="{cause} {path}",
        advice="look at the disk and in dmesg",
    ),
    Rule(
        word=b"is approaching the maximum value",
        pattern=r"Current Global checkpoint id \(\d+\) is approaching the maximum value \(\d+\), "
        r"projected to occur in (?P<days>\d+) days",
        key="gci",
        state=State.WARNING,
        what="global checkpoint ids run out in {days} days",
        why="as the data node projects",
        advice="plan a backup, an initial restart and a restore",
        stays=True,
    ),
    Rule(
        word=b"is approaching the maximum value",
        pattern=r"GCI \((?P<gci>\d+)\) is approaching the maximum value \((?P<maximum>\d+)\)",
        key="gci",
        state=State.WARNING,
        what="global checkpoint ids run out",
        why="{gci} of {maximum}",
        advice="plan a backup, an initial restart and a restore",
        stays=True,
    ),
    *BUFFER_RULES,
    *START_RULES,
)
# Quantities that the rules report: unit, and what to show when no line has it.
QUANTITIES = {
    "missed_heartbeats": ("", "no missed heartbeat"),
    "gcp_commit_lag": ("s", "no GCP_COMMIT lag"),
    "gcp_save_lag": ("s", "no GCP_SAVE lag"),
}
