"""Runs recorded once a second on real pairs, judged again as if a check had looked every so often."""

import csv
import re
from pathlib import Path
from typing import NamedTuple

from stallwatch.probes.replication_lag.gtid import since
from stallwatch.probes.replication_lag.lag import judge
from stallwatch.probes.replication_lag.model import (
    Before,
    Channel,
    ChannelSnapshot,
    Commits,
    Contact,
    Position,
    Source,
    Thread,
    Worker,
)

CAPTURES = Path(__file__).parent / "replication"
START = 1_795_000_000.0  # Unix time of t=0
PERIOD = 30.0
BEATS = 1.0  # s: how often the source wrote its heartbeat


class Row(NamedTuple):
    """One second of a run."""

    at: float
    cells: dict

    @property
    def truth(self):
        """Seconds since the first heartbeat that the replica did not show was committed."""
        return max(0.0, float(self.cells["hb"]) - BEATS)

    @property
    def seconds_behind(self):
        """As the server said."""
        return self.number("SBM")

    def number(self, name):
        """A cell as a number; None: there was none."""
        text = self.cells.get(name)
        return None if text in {None, "None", ""} else float(text)


class Run(NamedTuple):
    """One recorded run."""

    name: str
    rows: list
    steps: dict  # what was done, and when

    @property
    def server(self):
        """Which it was: ma1011, my57, my80, my97."""
        return self.name.partition("_")[0]

    def since(self, step):
        """When a step was taken."""
        return next(at for what, at in self.steps.items() if what.startswith(step))


def load(name):
    """Read a run; the first row is repeated for the two minutes before it, in which all was well."""
    lines = (CAPTURES / f"{name}.tsv").read_text().splitlines()
    steps = {
        step: float(at) for at, step in re.findall(r"^# t=(\d+) STEP (.*)$", "\n".join(lines), re.MULTILINE)
    }
    table = csv.reader((line for line in lines if not line.startswith("#")), delimiter="\t")
    header = ["receiver" if at == header_io else name for at, name, header_io in _named(next(table))]
    rows = [Row(float(cells[0]), dict(zip(header, cells, strict=True))) for cells in table]
    return Run(name, [*_before(rows[0]), *rows], steps)


def _named(header):
    """The second column "io" of MySQL 8 is the state of the receiver in performance_schema."""
    second = header.index("io") if "io" in header else -1
    return [(at, name, second) for at, name in enumerate(header)]


def _before(first, seconds=120):
    def earlier(ago):
        space = int(first.cells["rsp"]) - 350 * ago
        gtids = {
            name: re.sub(r"\d+$", lambda last: str(int(last[0]) - ago), first.cells[name])
            for name in ("gio", "gsp", "gp")
            if name in first.cells
        }
        return Row(first.at - ago, {**first.cells, "rsp": str(space), **gtids})

    return [earlier(ago) for ago in range(seconds, 0, -1)]


def evidence(row, before=None, *, process=True, schema=True, source=False):
    """What a look would have known; without PROCESS, performance_schema or an account on the source, less."""
    channel = _channel(row)
    now = START + row.at
    return ChannelSnapshot(
        channel=channel,
        now=now,
        net_timeout=60.0,
        commits=_commits(row, now) if schema and "hbage" in row.cells else None,
        source=_source(row) if source else None,
        idle=_idle(row) if process else None,
        sees_processes=process,
        backlog=_backlog(row),
        before=before,
    )


def _channel(row):
    cells = row.cells
    idle = "has read all" in cells["sqlstate"]
    errno, _, error = cells["ioerr"].partition(" ")
    received = int(cells["rsp"])
    mariadb = "gio" in cells
    return Channel(
        name="",
        receiver=Thread(cells["IO"], cells["iostate"], int(errno), error),
        applier=Thread(cells["SQL"], cells["sqlstate"], 0, ""),
        source_host="db1",
        source_port=3306,
        source_id=101,
        source_uuid="" if mariadb else "b0c6f8d6-e537-11f1-b3bb-02fc00000001",
        seconds_behind=row.seconds_behind,
        delay=0.0,
        remaining_delay=row.number("rd"),
        received=Position("bin.000001", received),
        applied=Position("bin.000001", received if idle or cells["SQL"] == "No" else 4),
        received_gtids=cells["gio"] if mariadb else "",
        applied_gtids=cells["gsp"] if mariadb else "",
        heartbeats=int(cells["hbn"]) if mariadb else None,
        heartbeat_period=PERIOD if mariadb else None,
    )


def _sequence(text):
    return int(text.rpartition("-")[2])


def _backlog(row):
    if "gio" in row.cells:
        return _sequence(row.cells["gio"]) - _sequence(row.cells["gsp"])
    return int(row.cells["relaygap"])


def _source(row):
    there, received, here = (_sequence(row.cells[name]) for name in ("gp", "gio", "gsp"))
    return Source("db1:3306", 0.0, max(0, there - here), max(0, there - received), 0, there, here)


def _idle(row):
    found = re.search(r":(\d+):\w+ has read all", row.cells["pl"])
    return float(found[1]) if found else None


def _commits(row, now):
    """5.7 has no times of transactions, and a last heartbeat to the second, in a zone of its own."""
    if "qage" not in row.cells:
        return Commits(now, None, int(row.cells["hbn"]), PERIOD, "", None, None, None, None, None, ())
    queued_at = now - row.number("qage")
    sent = queued_at - row.number("qlag")
    applying = row.number("applag")
    worker = Worker(
        number=1,
        thread=None,
        applying="" if applying is None else "transaction",
        applying_commit=None if applying is None else now - applying,
        applying_since=None,
        applied_commit=now - row.number("lastapp"),
        errno=0,
        error="",
        error_at=None,
    )
    beat = now - row.number("hbage")
    beats = int(row.number("hbn"))
    return Commits(now, beat, beats, PERIOD, "transaction", sent, sent, queued_at, None, None, (worker,))


class Told(NamedTuple):
    """What a look said, and what was true."""

    row: Row
    lag: object

    @property
    def error(self):
        """Seconds between them; None: the look gave no figure."""
        return None if self.lag.seconds is None else abs(self.lag.seconds - self.row.truth)


def told(run, moments, **access):
    """Judge the run at the first row from each moment on; the list of what was told."""
    memory, looks = Memory(), []
    for moment in moments:
        row = next(row for row in run.rows if row.at >= moment)
        known = evidence(row, memory.before(row.at), **access)
        lag = judge(known)
        memory.keep(row.at, known, lag)
        looks.append(Told(row, lag))
    return looks


def of_every_second(run, every, **access):
    """Judge every row, each by a check that looks ``every`` so many seconds."""
    begin, end = run.rows[0].at, run.rows[-1].at
    looks = [
        look
        for first in range(every)
        for look in told(run, range(int(begin) + first, int(end) + 1, every), **access)
    ]
    return sorted((look for look in looks if look.row.at >= 0), key=lambda look: look.row.at)


class Memory:
    """What a look leaves for the next one."""

    def __init__(self):
        self.last = None
        self.since = 0.0
        self.history = []
        self.offsets = []
        self.gap = None

    def before(self, now):
        """As the next look at ``now`` finds it."""
        if self.last is None:
            return None
        at, known, lag = self.last
        return Before(
            seconds_ago=now - at,
            lag=lag.seconds,
            contact=_contact(known),
            unchanged_for=at - self.since,
            source_history=tuple((now - then, sequence) for then, sequence in self.history),
            transaction_gap=self.gap,
            high=lag.high,
            seconds_behind=known.channel.seconds_behind,
            applied=known.channel.applied,
            offsets=tuple(self.offsets[-10:]),
            heard_within=lag.heard_within,
        )

    def keep(self, at, known, lag):
        """Keep what a look found."""
        if self.last is None or _contact(self.last[1]) != _contact(known):
            self.since = at
        if self.last and (came := since(known.channel.received_gtids, self.last[1].channel.received_gtids)):
            self.gap = (at - self.last[0]) / came
        if known.source:
            self.history.append((at, known.source.sequence))
        if lag.offset is not None:
            self.offsets.append(lag.offset)
        self.last = at, known, lag


def _contact(known):
    heartbeats = known.commits.heartbeats if known.commits else known.channel.heartbeats
    return Contact(known.channel.received, known.channel.received_gtids, heartbeats)


class Errors(NamedTuple):
    """How far looks were off: ours, and the server's own figure."""

    ours: float
    worst: float
    unknown: int
    seconds_behind: float
    seconds_behind_worst: float
    seconds_behind_unknown: int


def errors(looks):
    """Mean and worst error, and how often there was no figure."""
    ours = [look.error for look in looks if look.error is not None]
    theirs = [
        abs(look.row.seconds_behind - look.row.truth) for look in looks if look.row.seconds_behind is not None
    ]
    return Errors(
        sum(ours) / max(1, len(ours)),
        max(ours, default=0.0),
        len(looks) - len(ours),
        sum(theirs) / max(1, len(theirs)),
        max(theirs, default=0.0),
        len(looks) - len(theirs),
    )
