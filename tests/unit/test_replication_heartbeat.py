from unittest.mock import Mock

import pytest
from replication_snapshots import NOW, UUID, before, busy, channel, commits, mariadb, snapshot, source, worker
from stallwatch.findings import ProbeError
from stallwatch.probes.replication_lag.heartbeat_table import table
from stallwatch.probes.replication_lag.lag import judge
from stallwatch.probes.replication_lag.lag.from_source import beat
from stallwatch.probes.replication_lag.model import Beat, Heartbeat, Position
from stallwatch.sources.mysql import NoAnswerError
from stallwatch.units import NotUnderstoodError


class Replica:
    """Answers with rows of (server, seconds of age if ts is UTC, hours that the local zone is ahead)."""

    where = "r1:3306"

    def __init__(self, *rows, zone=0.0):
        self.found = [
            {
                "server_id": server,
                "written": f"{age} s ago",
                "utc": None if age is None else int(age * 1e6),
                "local": None if age is None else int((age + zone * 3600) * 1e6),
            }
            for server, age in rows
        ]
        self.asked = []

    def rows(self, sql, *wanted, within=None):
        self.asked.append((sql % wanted if wanted else sql, within))
        if not wanted:
            return self.found
        own = [row for row in self.found if row["server_id"] in wanted]
        return own[:1] if "LIMIT 1" in sql else own


def read(*rows, zone=0.0, of=None, **settings):
    return table("percona.heartbeat")._replace(**settings).read(Replica(*rows, zone=zone), of or channel())


def test_the_row_of_the_channels_source_counts():
    found = read((3, 0.1), (101, 12.5), (7, 90_000.0))
    assert found == Heartbeat(12.5, 101, "percona.heartbeat", written="12.5 s ago")


def test_another_server_may_be_named_the_top_of_a_chain():
    assert read((101, 0.5), (7, 33.0), server_id=7).age == 33


def test_without_the_sources_row_those_of_others_are_named_and_not_taken():
    with pytest.raises(
        ProbeError, match=r"r1:3306: percona\.heartbeat has no heartbeat of server 101, but of 3 and 5"
    ):
        read((3, 0.1), (5, 90_000.0))
    with pytest.raises(ProbeError, match="it is empty"):
        read()


def test_a_table_that_keeps_every_beat_is_not_read_as_a_whole():
    replica = Replica((101, 0.5))
    table("percona.heartbeat").read(replica, channel(), within=1.0)
    ((sql, within),) = replica.asked
    assert "WHERE server_id = 101 ORDER BY ts DESC LIMIT 1" in sql
    assert within == 1.0


def test_a_time_that_is_none_is_told():
    with pytest.raises(ProbeError, match=r"ts of server 101 in percona\.heartbeat is not a time"):
        read((101, None))


def test_a_table_that_is_locked_is_named():
    replica = Replica()
    replica.rows = Mock(side_effect=NoAnswerError("r1:3306 has not answered", "", 1205))
    what = r"heartbeat table percona\.heartbeat cannot be read: r1:3306 has not answered"
    with pytest.raises(NoAnswerError, match=what) as caught:
        table("percona.heartbeat").read(replica, channel(), within=1.0)
    assert caught.value.number == 1205


@pytest.mark.parametrize(
    ("utc", "zone", "age"),
    [
        (5.0, 2, 5.0),  # UTC, east of it
        (5.0, -5, 5.0),  # UTC, west of it: as local time it would be from the future
        (5.0 - 2 * 3600, 2, 5.0),  # local time east of UTC
        (5.0 + 5 * 3600, -5, 5.0),  # local time west of UTC
        (-0.8, 2, -0.8),
    ],
)
def test_utc_or_local_is_what_makes_sense(utc, zone, age):
    found = read((101, utc), zone=zone)
    assert found.age == pytest.approx(age)
    assert found.remark == ""


def test_of_two_that_make_sense_seconds_behind_decides():
    behind = channel(seconds_behind=18_000.0)
    assert read((101, 18_020.0), zone=-5, of=behind).age == 18_020
    assert read((101, 18_020.0), zone=-5, of=channel(seconds_behind=None)).age == 20


def test_it_may_be_said_which_it_is():
    assert read((101, 18_020.0), zone=-5, utc=True).age == 18_020
    assert read((101, 18_020.0), zone=-5, utc=False).age == 20


@pytest.mark.parametrize("age", [3600.0, 3601.5, 3559.0, 900.0, 19_800.0])
def test_a_lag_of_just_hours_is_perhaps_a_zone(age):
    assert "probably of another time zone" in read((101, age)).remark


@pytest.mark.parametrize("age", [0.5, 30.0, 700.0, 1000.0, 3400.0])
def test_any_other_lag_is_none(age):
    assert read((101, age)).remark == ""


def test_the_future_is_told():
    assert read((101, -3600.0)).remark == "heartbeat is 1 h in the future: probably of another time zone"
    assert read((101, -45.0)).remark == "heartbeat is 45 s in the future: clocks differ"


def test_the_same_row_is_read_on_the_source():
    heartbeats = table("percona.heartbeat")
    there = Replica((101, 299.0), (3, 0.0))
    assert heartbeats.source_age(there, Heartbeat(300.0, 101, "")) == 299
    with pytest.raises(ProbeError, match="no heartbeat of server 9"):
        heartbeats.source_age(there, Heartbeat(300.0, 9, ""))


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("percona.heartbeat", "`percona`.`heartbeat`"),
        ("`a.b`.`c``d`", "`a.b`.`c``d`"),
        ("dash-ed.100%", "`dash-ed`.`100%`"),
        ("x.y;DROP", "`x`.`y;DROP`"),
    ],
)
def test_names_are_quoted(text, quoted):
    assert table(text).quoted == quoted
    replica = Replica((101, 0.1))
    table(text).read(replica, channel())
    assert quoted in replica.asked[0][0]


@pytest.mark.parametrize(
    "text", ["", "heartbeat", "a.b.c", "a b.c", "a.", ".b", "`a.b", "a.`b", "a.b\0", "x" * 65 + ".y"]
)
def test_what_is_no_table_is_refused(text):
    with pytest.raises(NotUnderstoodError, match=r"DATABASE\.TABLE"):
        table(text)


# Whether its writer lives

DEAD = "heartbeat writer stopped 1 h ago"
TOP = 7  # the server above our source


def row(age=3600.0, server=101, **more):
    return Heartbeat(age, server, "percona.heartbeat", **more)


def idle_since(seconds, **changes):
    """Commit times of a channel on which nothing has come for so long but heartbeats of the link."""
    then = NOW - seconds
    quiet = {"queued_commit": then, "queued_sent": then, "queued_at": then, "last_heartbeat": NOW - 10}
    return commits(workers=(worker(applied_commit=then),), **quiet | changes)


def test_a_source_that_has_nothing_to_send_has_no_heartbeat_to_send():
    lag = judge(snapshot(heartbeat=row(), commits=idle_since(3600)))
    assert lag.seconds == 0
    assert DEAD in lag.remarks


def test_a_source_that_had_something_to_send_may_have_had_a_heartbeat():
    """Its last heartbeat of the link is older than the row."""
    lag = judge(snapshot(heartbeat=row(), commits=idle_since(3600, last_heartbeat=NOW - 3700)))
    assert (lag.seconds, lag.by) == (3600, "heartbeat table")


def test_a_heartbeat_that_waits_for_the_applier_is_lag():
    known = snapshot(channel(applier=busy()), heartbeat=row(), commits=idle_since(3600), backlog=40)
    assert judge(known).seconds == 3600


def test_on_mariadb_too_a_link_heartbeat_tells_that_there_is_nothing_to_send():
    then = before(of=mariadb(heartbeats=16))
    lag = judge(snapshot(mariadb(), heartbeat=row(), before=then))
    assert DEAD in lag.remarks
    assert lag.seconds == 0
    lag = judge(snapshot(mariadb(), heartbeat=row(), before=before(of=mariadb(), offsets=(0.4,))))
    assert lag.seconds == 3600


class Looks:
    """Looks at a MariaDB channel, 60 s apart, each knowing what the one before kept."""

    def __init__(self, of=None):
        self.of = of or mariadb()
        self.before = before(of=self.of, offsets=(0.4,))  # the clocks agree

    def __call__(self, heartbeat, came=0, server=101, **changes):
        sequence = int(self.of.received_gtids.rpartition("-")[2] or 0) + came
        gtids = f"0-{server}-{sequence}" if self.of.received_gtids else ""
        place = Position("bin.000001", self.of.received.offset + 100 * came)
        changes = {"received_gtids": gtids, "received": place, "applied": place} | changes
        last, self.of = self.of, self.of._replace(**changes)
        contact = self.before.contact._replace(received=last.received, received_gtids=last.received_gtids)
        self.before = self.before._replace(contact=contact)
        known = snapshot(self.of, heartbeat=heartbeat, before=self.before, idle=1.0)
        self.before = before(of=self.of, heartbeat=beat(known), offsets=(0.4,))
        return judge(known)


@pytest.mark.parametrize("gtids", ["0-101-100", ""])
def test_a_row_that_its_writers_transactions_outlive_is_dead(gtids):
    look = Looks(mariadb(received_gtids=gtids))
    found = [look(row(600.0 + 60 * number, written="then"), came=5) for number in range(4)]
    assert [lag.seconds for lag in found] == [600, 660, 0, 0]
    assert (found[1].low, found[1].high) == (0, 660)  # told as "up to"
    assert "heartbeat writer stopped 12 min ago" in found[2].remarks
    assert "heartbeat writer stopped 14 min ago" in look(row(840.0, written="then")).remarks  # nothing came
    assert look(row(1.0, written="now"), came=5).by == "heartbeat table"


def test_a_row_that_a_slow_link_renews_is_lag():
    look = Looks()
    found = [look(row(600.0, written=f"{number}"), came=5) for number in range(4)]
    assert [lag.seconds for lag in found] == [600] * 4


def test_a_row_with_which_nothing_else_comes_is_lag():
    look = Looks()
    assert [look(row(600.0, written="then")).seconds for _ in range(4)] == [600] * 4


def test_what_others_write_does_not_outlive_the_row():
    look = Looks()
    assert [look(row(600.0, written="then"), came=5, server=3).seconds for _ in range(4)] == [600] * 4


def test_an_applier_in_the_midst_of_much_has_not_come_to_the_row():
    look = Looks()
    late = {"seconds_behind": 600.0, "applier": busy()}
    assert [look(row(600.0, written="then"), came=5, **late).seconds for _ in range(4)] == [600] * 4


def test_what_is_kept_of_a_row():
    known = snapshot(mariadb(), heartbeat=row(written="then"))
    assert beat(known) == Beat(101, "then")
    assert beat(snapshot()) is None
    again = known._replace(before=before(heartbeat=Beat(101, "then", 120.0, 60.0)))
    assert beat(again) == Beat(101, "then", 180.0, 180.0)
    assert beat(again._replace(heartbeat=row(written="now"))) == Beat(101, "now")


# Chains: our source is a replica itself


def test_what_the_middle_lacks_is_no_dead_writer_unless_the_top_says_so():
    known = snapshot(heartbeat=row(server=TOP), source=source(), commits=idle_since(3600))
    lag = judge(known)
    assert (lag.seconds, lag.by) == (3600, "heartbeat table")
    assert judge(known._replace(heartbeat=row(server=TOP, source_age=1.0))).seconds == 3600
    assert DEAD in judge(known._replace(heartbeat=row(server=TOP, source_age=3600.0))).remarks


def test_what_the_middle_writes_itself_tells_nothing_of_the_top():
    young = commits(queued=f"{UUID}:100")
    assert judge(snapshot(heartbeat=row(server=TOP), commits=young)).seconds == 3600


def test_younger_work_of_the_top_tells_that_its_writer_is_dead():
    above = "a1c6f8d6-e537-11f1-b3bb-02fc00000007"
    lag = judge(snapshot(heartbeat=row(server=TOP), commits=commits(queued=f"{above}:100")))
    assert DEAD in lag.remarks


def late_middle(**changes):
    """Transactions that were committed at the top an hour before our source had them."""
    return commits(queued_commit=NOW - 3601.1, workers=(worker(applied_commit=NOW - 3601.1),), **changes)


def test_a_source_that_is_behind_itself_is_lag_although_nothing_is_missing_here():
    lag = judge(snapshot(commits=late_middle(), source=source()))
    assert lag.seconds == pytest.approx(3600)
    assert (lag.upstream, lag.transport, lag.apply) == (lag.seconds, 0, 0)
    assert lag.by == "commit time"


def test_a_source_that_was_behind_once_is_not_so_for_ever():
    old = late_middle(queued_at=NOW - 1000, queued_sent=NOW - 1000)
    assert judge(snapshot(commits=old._replace(queued_commit=NOW - 4600), source=source())).seconds == 0
