"""What is known of one healthy channel, to be changed where a test needs it so."""

from datetime import UTC, datetime

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

NOW = 1_795_000_000.0
HERE = Position("bin.000001", 5000)
IDLE = "Replica has read all relay log; waiting for more updates"
BUSY = "Waiting for replica workers to process their queues"
UUID = "b0c6f8d6-e537-11f1-b3bb-02fc00000001"


def channel(**changes):
    """A MySQL channel that is current."""
    healthy = Channel(
        name="",
        receiver=Thread("Yes", "Waiting for source to send event", 0, ""),
        applier=Thread("Yes", IDLE, 0, ""),
        source_host="db1",
        source_port=3306,
        source_id=101,
        source_uuid=UUID,
        seconds_behind=0.0,
        delay=0.0,
        remaining_delay=None,
        received=HERE,
        applied=HERE,
        received_gtids=f"{UUID}:1-100",
        applied_gtids=f"{UUID}:1-100",
    )
    return healthy._replace(**changes)


def mariadb(**changes):
    """A MariaDB channel that is current."""
    own = {
        "applier": Thread("Yes", "Slave has read all relay log; waiting for more updates", 0, ""),
        "source_uuid": "",
        "received_gtids": "0-101-100",
        "applied_gtids": "0-101-100",
        "heartbeats": 18,
        "heartbeat_period": 30.0,
    }
    return channel(**own | changes)


def stopped(state="No"):
    """A thread that does not run."""
    return Thread(state, "", 0, "")


def busy():
    """An applier that has something in hand."""
    return Thread("Yes", BUSY, 0, "")


def commits(**changes):
    """Commit times of a channel that is current: its last transaction came 1 s ago, after 0.1 s."""
    healthy = Commits(
        now=NOW,
        last_heartbeat=NOW - 25,
        heartbeats=4,
        heartbeat_period=30.0,
        queued=f"{UUID}:100",
        queued_commit=NOW - 1.1,
        queued_sent=NOW - 1.1,
        queued_at=NOW - 1,
        queueing_commit=None,
        coordinator_commit=None,
        workers=(worker(applied_commit=NOW - 1.1),),
    )
    return healthy._replace(**changes)


def worker(**changes):
    """An idle worker."""
    idle = Worker(1, 50, "", None, None, None, 0, "", None)
    return idle._replace(**changes)


def source(**changes):
    """A source that has nothing that the replica has not."""
    healthy = Source("db1:3306", 0.0, 0, 0, 0, 100.0, 100.0)
    return healthy._replace(**changes)


def before(seconds_ago=60.0, *, of=None, **changes):
    """The last look, when all was well with channel ``of``; less had been received than now."""
    then = of or channel()
    contact = Contact(Position("bin.000001", 4000), then.received_gtids, then.heartbeats)
    healthy = Before(seconds_ago, 0.0, contact, 0.0, seconds_behind=0.0, applied=Position("bin.000001", 4000))
    return healthy._replace(**changes)


def snapshot(of=None, **changes):
    """What is known of a channel; ``of`` is the channel."""
    known = ChannelSnapshot(
        channel=of or channel(), now=NOW, net_timeout=60.0, sees_processes=True, backlog=0
    )
    return known._replace(**changes)


def told_of(age):
    """When the newest event was written, as MariaDB 11.6 tells it, so many seconds before NOW."""
    return datetime.fromtimestamp(NOW - age, UTC).strftime("%Y-%m-%d %H:%M:%S")
