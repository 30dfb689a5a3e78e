"""What is kept of a trial, a case of one strength on one server: a file of lines of JSON.

{"case": ..., "server": ..., "strength": ..., ...}          the head
{"event": "injected", "at": ...}
{"who": "alone", "begun": ..., "ended": ..., "status": ..., "output": ...}
{"lags": [[at, seconds], ...], "truths": [[least, most], ...]}   when all is over; one truth for each run
"""

import json
import time
from typing import NamedTuple

ALONE, WITH_SOURCE = "check_replication_lag", "check_replication_lag --source"
OURS = (ALONE, WITH_SOURCE)


class Run(NamedTuple):
    """One run of a check: when, how it ended, what it printed, and the true lag meanwhile."""

    who: str
    begun: float
    ended: float
    status: int
    output: str
    low: float | None = None
    high: float | None = None

    @property
    def told(self):
        """The object of ``--output json``; None: it printed text."""
        return json.loads(self.output) if self.output.startswith("{") else None

    @property
    def line(self):
        """The first line of what it printed, or would have."""
        if told := self.told:
            return f"{told['name'].upper()} {told['state']} - {told['summary']}"
        return self.output.partition("\n")[0]

    @property
    def cause(self):
        """The ``cause`` of the problem that is reported first; {}: it has none."""
        told = self.told or {"findings": ()}
        worst = (one for one in told["findings"] if one["state"] == told["state"])
        return next((one for one in worst if "explained_by" not in one), {}).get("cause", {})

    @property
    def text(self):
        """The first line without its perfdata."""
        return self.line.partition(" | ")[0]


class Trial(NamedTuple):
    """What happened: ``events`` are moments by name, ``lags`` the true lag now and then."""

    case: str
    server: str
    strength: str
    runs: tuple = ()
    lags: tuple = ()
    events: dict = {}  # noqa: RUF012 - never changed
    delay: float = 0.0  # seconds that the replica is behind by intention
    failed: str = ""  # why it came to nothing
    version: str = ""  # of the server
    nodes: tuple = ()  # of a cluster: those that have the fault
    heads: tuple = ()  # connections that block others; 0: a transaction without a connection
    may_end: tuple = ()  # connections whose KILL helps

    def by(self, who):
        """The runs of one of those that were asked."""
        return [run for run in self.runs if run.who == who]


class Recorder:
    """Writes a trial down while it goes on, so that nothing is lost if it is ended."""

    def __init__(self, path, head):
        self.file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - it is a context itself
        self.runs = []
        self.add(**head)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def add(self, **told):
        """Write a line."""
        self.file.write(json.dumps(told, ensure_ascii=False) + "\n")
        self.file.flush()

    def event(self, name):
        """Note that something happens now."""
        self.add(event=name, at=round(time.time(), 3))

    def run(self, run):
        """Note what a run said."""
        self.runs.append(run)
        self.add(who=run.who, begun=round(run.begun, 3), ended=round(run.ended, 3), status=run.status,
                 output=run.output)  # fmt: skip


def read(path):
    """The Trial of a file."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.endswith("\n")]
    head, *rest = lines
    told = {
        name: value for one in rest if "who" not in one and "event" not in one for name, value in one.items()
    }
    runs = [Run(**one) for one in rest if "who" in one]
    truths = told.get("truths") or [(None, None)] * len(runs)
    runs = [run._replace(low=low, high=high) for run, (low, high) in zip(runs, truths, strict=False)]
    events = {one["event"]: one["at"] for one in rest if "event" in one}
    failed = told.get("failed", "" if "truths" in told else "it did not end in time")
    lags = tuple(map(tuple, told.get("lags", ())))
    delay = told.get("delay", 0.0)
    names = head["case"], head["server"], head["strength"]
    return Trial(*names, tuple(runs), lags, events, delay, failed, head.get("version", ""),
                 *(tuple(told.get(name, ())) for name in ("nodes", "heads", "may_end")))  # fmt: skip
