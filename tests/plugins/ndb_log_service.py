"""Logs that are written line by line, and what a run of check_ndb_log says about them."""

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PLUGIN = Path(__file__).parents[2] / "plugins" / "check_ndb_log"
NOBODY = 65534
MINUTE, HOUR, DAY = 60, 3600, 86400

_CLOCK = re.compile(r"(?:\d{4}-\d\d-\d\d )?\b\d\d:\d\d:\d\d\b")


@dataclass
class Said:
    """What one run said. ``text`` is line 1 before the perfdata, with every time of day as HH:MM:SS."""

    status: int
    text: str
    perfdata: dict[str, str]
    labels: list[str]
    details: list[str]
    output: str

    @classmethod
    def of(cls, process):
        assert process.stderr == ""
        first, *details = process.stdout.rstrip("\n").split("\n")
        text, _, perfdata = first.partition(" | ")
        pairs = [item.partition("=")[::2] for item in perfdata.split()]
        return cls(
            status=process.returncode,
            text=_CLOCK.sub("HH:MM:SS", text),
            perfdata=dict(pairs),
            labels=[label for label, _ in pairs],
            details=[_CLOCK.sub("HH:MM:SS", line) for line in details],
            output=process.stdout,
        )


class Log:
    """A log that a node writes; "ago" counts from the moment when the test began."""

    def __init__(self, path):
        self.path = path
        self.now = time.time()

    def __str__(self):
        return str(self.path)

    def add(self, text):
        """Append it as it stands; text or bytes."""
        with self.path.open("ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def say(self, text, ago=0.0, level="INFO", source="ndbd"):
        """Append a line as 9.4 and later write it, in UTC."""
        self.add(f"{stamp(self.now - ago)} [{source}] {level:<8} -- {text}\n")

    def say_legacy(self, text, ago=0.0, level="INFO", source="ndbd"):
        """Append a line as 6.3 to 9.3 write it, in local time."""
        self.add(f"{legacy_stamp(self.now - ago)} [{source}] {level:<8} -- {text}\n")

    def stuck(self, thread, *elapsed, ago=0.0, user=0, system=0, place="Yielding to OS"):
        """Append the watchdog's reports of one standstill that ended ``ago`` seconds ago.

        The process used ``user`` and ``system`` ticks of 10 ms from one report to the next.
        """
        for count, ms in enumerate(elapsed):
            when = ago + (elapsed[-1] - ms) / 1000
            report = f"Ndb kernel thread {thread} is stuck in: {place} elapsed={ms}"
            self.say(report, when, "WARNING")
            times = f"Watchdog: User time: {80 + count * user}  System time: {600 + count * system}"
            self.say(times, when)

    def starts(self, ago=0.0):
        """Append what a new process says until it has started."""
        self.say("Angel pid: 17488 started child: 8002", ago)
        self.say("NDB Cluster -- DB node 4", ago)
        self.say("thr: 2 tid: 17552 (ldm) PGMAN(1) DBACC(1) DBLQH(1) DBTUP(1)", ago)
        self.say("Start phase 101 completed", ago)
        self.say("Started (mysql-9.7.2 ndb-9.7.2)", ago)
        self.say("Node started", ago)


def stamp(when):
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def legacy_stamp(when):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(when))
