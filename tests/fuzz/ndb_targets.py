"""What an NDB Cluster writes into its logs, and its management server says."""

import os
from types import SimpleNamespace

from choices import Choices
from fuzzing import Target
from plugin_runs import RECORDED, clock, said
from scratch import empty, file
from stallwatch.deadline import Deadline
from stallwatch.findings import ProbeError
from stallwatch.probes.ndb_log import lines
from stallwatch.sources import ndb_mgm, recording

LOGS = sorted((RECORDED / "ndb_log").glob("*.log"))
ANSWER = (
    b"node status\nnodes: 4\nnode.3.type: NDB\nnode.3.status: STARTED\nnode.3.startphase: 0\n"
    b"node.4.type: NDB\nnode.4.status: STARTING\nnode.4.startphase: 4\nnode.4.node_group: -1\n"
    b"node.1.type: MGM\n\n"
)
NOW = 1_790_000_000.0


def a_line(octets):
    """One line of a log."""
    line = octets.replace(b"\n", b" ")
    lines.parse(line)
    lines.speaks_ndb(octets)


def a_whole_log(octets):
    """All that check_ndb_log makes of a log that someone sent."""
    with clock(NOW):
        return said(
            "check_ndb_log", ["--whole", "--backup-age", "1d", "--log", file("ndb_4_out.log", octets)]
        )


def a_log_that_grows(octets):
    """The same from run to run, and through rotation; the first octets say where it is cut."""
    choices = Choices(octets[:6])
    text, memory = octets[6:], {}
    path = empty("log") / "ndb_4_out.log"
    came_to = "nothing"
    with clock(NOW) as now:
        for cut in sorted(choices.below(len(text) + 1) for _ in range(3)):
            path.write_bytes(text[:cut])
            came_to = said("check_ndb_log", ["--log", str(path)], memory)
            if cut % 3 == 0:
                os.replace(path, f"{path}.1")
            now.sleep(60)
    return came_to


def an_answer_of_the_management_server(octets):
    """Whatever it says, in pieces."""
    answer = octets.decode(errors="replace")
    with recording.use(SimpleNamespace(answer=lambda *_: answer)):
        for node in ndb_mgm.data_nodes("mgm1", ndb_mgm.PORT, Deadline(60)).values():
            if not (isinstance(node.status, str) and 0 <= node.phase < 100_000):
                raise AssertionError(node)


def some_lines():
    """Each shape of line once, of all logs."""
    found = {}
    for path in LOGS:
        for line in path.read_bytes().splitlines():
            found.setdefault(line[30:60], line)
    return [*found.values()][:1500]


def logs():
    """Beginnings and ends of logs."""
    texts = [path.read_bytes() for path in LOGS]
    return [text[:6000] for text in texts] + [text[-6000:] for text in texts]


TOKENS = (
    b"2026-11-20T23:08:01Z [ndbd] WARNING  -- ",
    b"Node 4: ",
    b" - Repeated 3 times",
    b"Ndb kernel thread 2 is stuck in: ",
    b" elapsed=",
    b"Watchdog: User time: ",
    b"Forced node shutdown completed",
    b"\n",
    b"\0" * 100,
    b" waiting for lock, contentions: 9 spins: 9",
    b"[MgmtSrvr] ALERT    -- ",
)
TARGETS = {
    "ndb_line": Target(a_line, some_lines, (lines.GarbledError,), TOKENS, 2000, frozenset({"value"})),
    "ndb_log": Target(
        a_whole_log, logs, (), TOKENS, 200, frozenset({"OK", "WARNING", "CRITICAL", "UNKNOWN"})
    ),
    "ndb_log_growing": Target(
        a_log_that_grows,
        lambda: [b"\x20\0\x70\0\xf0\1" + one for one in logs()],
        (),
        TOKENS,
        70,
        frozenset({"OK", "CRITICAL"}),
    ),
    "ndb_mgm": Target(
        an_answer_of_the_management_server,
        lambda: [ANSWER],
        (ProbeError,),
        (b"node.", b".type: NDB\n", b".startphase: ", b"\n\n"),
        1000,
        frozenset({"value", "ProbeError"}),
    ),
}
