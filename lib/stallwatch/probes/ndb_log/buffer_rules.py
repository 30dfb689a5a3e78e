"""Rules for lines about buffers: of sent and received messages, of jobs, and of events for the binary log.

The texts are those of ndbmtd 9.7.2. A transporter is the connection to one other node. Its errors are in
TransporterDefinitions.hpp: 0x8000 is added to those that cut the connection.
"""

from __future__ import annotations

from stallwatch.findings import State
from stallwatch.probes.ndb_log.rule import Rule

_GAP = "binary log gap (LOST_EVENTS)"
_TRANSPORTER = (
    r"Transporter to node (?P<peer>\d+) reported error 0x(?P<code>{}): (?:Error found )?(?P<cause>.+)"
)
_API = r"Failure handling of api (?P<peer>\d+) has not completed in (?P<seconds>\d+) seconds\. +Limit "
_EVENTS = r"Event buffer status(?: \(0x[0-9a-f]+\))?: .*{}.* report_reason="
_USED = r"\bused=\w+\((?P<used>\d+)% of max\)"

BUFFER_RULES = (
    Rule(
        word=b"reported error x",
        pattern=_TRANSPORTER.format("16"),
        key="send buffer {node} {peer}",
        state=State.WARNING,
        what="send buffer to node {peer} was full for a moment",
        why="error 0x16",
        advice="check node {peer} and the network to it, raise SendBufferMemory",
    ),
    Rule(
        word=b"reported error x",
        pattern=_TRANSPORTER.format("(?:80)?1[45]"),
        key="send buffer {node} {peer}",
        state=State.WARNING,
        what="message to node {peer} lost",
        why="send buffer full or broken (0x{code})",
        advice="check node {peer} and the network to it, raise SendBufferMemory",
    ),
    Rule(
        word=b"reported error x",
        pattern=_TRANSPORTER.format("(?:80)?(?:0?[34]|2[34])"),
        key="transporter {node} {peer}",
        state=State.WARNING,
        what="damaged message from node {peer}",
        why="{cause}",
        advice="check the network cards with ethtool -S",
    ),
    Rule(  # 0x0 is no error; 0xb means that the other end of shared memory has gone
        word=b"reported error x",
        pattern=_TRANSPORTER.format("(?!0+:|(?:80)?0?b:)[0-9a-f]+"),
        key="transporter {node} {peer}",
        state=State.WARNING,
        what="connection to node {peer} failed",
        why="{cause}",
        advice="check the network and the log of node {peer}",
    ),
    Rule(
        word=b"long message buffer is out of free",
        pattern=r"The long message buffer is out of free elements",
        key="long message buffer {node}",
        state=State.WARNING,
        what="long message buffer full",
        why="the node may end with error 2351",
        advice="raise LongMessageBuffer (rolling restart)",
    ),
    *(
        Rule(
            word=b"UNDO log level reached",
            pattern=rf"UNDO log level reached (?P<percent>{percent}) percent",
            key="undo log {node}",
            state=state,
            what="undo log {percent} % used",
            why="when it is full, writes to disk tables fail (error 1501)",
            advice="add an undo log file, check the disk",
        )
        for percent, state in ((r"9\d|100", State.CRITICAL), (r"\d+", State.WARNING))
    ),
    Rule(
        word=b"ticked backwards",
        pattern=r"(?:thr: \d+ Time|Watchdog: Time|timerHandlingLab, clock) ticked backwards:? (?P<ms>\d{4,})",
        key="clock {node}",
        state=State.WARNING,
        what="clock went back by {ms} ms",
        why="NDB measures its timeouts with it",
        advice="check the hypervisor's clock, and NTP",
    ),
    Rule(
        word=b"Failed to memlock pages",
        pattern=r"Failed to memlock pages, error: \d+ \((?P<cause>.+)\)",
        key="memlock {node}",
        state=State.WARNING,
        what="memory is not locked, it may be swapped",
        why="{cause}",
        advice="set LimitMEMLOCK=infinity in its service, or ulimit -l",
    ),
    Rule(
        word=b"sleeploop ",
        pattern=r"thr_no:(?P<thread>\d+) - sleeploop 10!!",
        key="job buffer {node} {thread}",
        state=State.WARNING,
        what="thread {thread} waited 3 times in 10 min for a full job buffer",
        why="another thread is too slow",
        advice="find it in ndbinfo.threadstat",
        often=3,
    ),
    Rule(
        word=b"job buffer",
        pattern=r"(?:job buffer full|out of job buffer)$",
        key="job buffer {node}",
        state=State.WARNING,
        what="job buffer full",
        why="the node ends because of it",
        advice="look for a stuck thread before it, lower the load",
    ),
    Rule(
        word=b"Failure handling of api",
        pattern=_API + r"0 ",
        key="failure handling {peer}",
        state=State.WARNING,
        what="API node {peer} cannot connect again",
        why="its failure is handled for {seconds} s, no limit",
        advice="restart this data node",
    ),
    Rule(
        word=b"Failure handling of api",
        pattern=_API + r"(?P<limit>\d+) ",
        key="failure handling {peer}",
        state=State.WARNING,
        what="API node {peer} cannot connect again",
        why="its failure is handled for {seconds} s",
        advice="wait, at {limit} s the data node ends (error 7400)",
    ),
    Rule(
        word=b"Failure handling of node",
        pattern=r"Failure handling of node (?P<peer>\d+) has not completed in (?P<long>\d+ (?:s|min))",
        key="failure handling {peer}",
        state=State.WARNING,
        what="node {peer} cannot start again",
        why="its failure is handled for {long}",
        advice="check the other data nodes' logs for stuck threads",
    ),
    Rule(
        word=b"completed failure of Node",
        pattern=r"All nodes completed failure of Node (?P<peer>\d+)",
        key="failure handling {peer}",
    ),
    Rule(word=b" Connected", pattern=r"Node (?P<peer>\d+) Connected", key="failure handling {peer}"),
    Rule(
        word=b"Disconnecting lagging nodes",
        pattern=r"(?:SUMA )?Disconnecting lagging nodes '(?P<peers>[^']*)'",
        key="lagging {peers}",
        state=State.CRITICAL,
        what="disconnected {peers} for lag",
        why=_GAP,
        advice="find why, raise MaxBufferedEpochBytes",
    ),
    Rule(
        word=b"exceeded MaxBufferedEpochs",
        pattern=r"Disconnecting node (?P<peers>\d+) because it has exceeded MaxBufferedEpochs",
        key="lagging {peers}",
        state=State.CRITICAL,
        what="disconnected {peers} for lag",
        why=_GAP,
        advice="find why it is slow, raise MaxBufferedEpochs",
    ),
    Rule(
        word=b"Nodefailure while out of event buffer",
        pattern=r"Nodefailure while out of event buffer",
        key="events missing",
        state=State.CRITICAL,
        what="a node failed with a full event buffer",
        why="probably a " + _GAP,
        advice="check replicas, MaxBufferedEpochBytes",
    ),
    Rule(
        word=b"ut of event buffer",
        pattern=r"(?:SUMA )?Out of event buffer",
        key="event buffer {node}",
        state=State.WARNING,
        what="event buffer full",
        why="binary logs get a gap if a node fails now",
        advice="find the slow SQL node, raise MaxBufferedEpochBytes",
        stays=True,
    ),
    Rule(
        word=b"vent buffering resumed",
        pattern=r"Event buffering resumed",
        key="event buffer {node}",
    ),
    Rule(
        word=b"_DISCARDING",
        pattern=_EVENTS.format("") + r"(?:PARTIALLY|COMPLETELY)_DISCARDING",
        key="events discarded {node}",
        state=State.CRITICAL,
        what="event buffer full, epochs discarded",
        why=_GAP,
        advice="check replicas, raise ndb_eventbuffer_max_alloc",
    ),
    Rule(
        word=b"Event buffer status",
        pattern=_EVENTS.format(_USED) + r"(?:LOW_FREE_EVENTBUFFER|EVENTBUFFER_USAGE_HIGH)",
        key="events {node}",
        state=State.WARNING,
        what="event buffer {used} % used",
        why="it discards epochs at 100 %",
        advice="find why it is slow, raise ndb_eventbuffer_max_alloc",
        stays=True,
    ),
    Rule(
        word=b"Event buffer status",
        pattern=_EVENTS.format("") + r"(?:ENOUGH_FREE_EVENTBUFFER|COMPLETELY_BUFFERING)",
        key="events {node}",
    ),
)
