import pytest
from clock import Waiting
from fake_replica import healthy_row
from replication_snapshots import UUID, channel, mariadb
from stallwatch.probes.replication_lag import source as asking
from stallwatch.probes.replication_lag.gtid import GtidError
from stallwatch.probes.replication_lag.model import Position
from stallwatch.probes.replication_lag.source import Identity, ask, identity
from stallwatch.sources.mysql import Flavour

OWN = "c0ffee00-e537-11f1-b3bb-02fc00000002"
NOW = 1_795_000_000.0


class Server:
    """Answers each statement that contains a key with its value; a list is given out one by one."""

    def __init__(self, name="MySQL", version=(9, 7, 4), clock=0.0, **answers):
        self.where = "db1:3306"
        self.deadline = Waiting()
        self.flavour = Flavour(name, version, "")
        self.answers = {"UNIX_TIMESTAMP": [{"now": NOW + clock}], **answers}
        self.asked = []

    def rows(self, sql, *_, within=None):
        self.asked.append(sql)
        found = next(answer for part, answer in self.answers.items() if part in sql)
        if isinstance(found[0], list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found


@pytest.fixture(autouse=True)
def _time_stands_still(monkeypatch):
    monkeypatch.setattr(asking.time, "monotonic", lambda: 1000.0)
    monkeypatch.setattr(asking.time, "sleep", lambda _: None)


def mysql(*executed, **more):
    """A MySQL server whose gtid_executed is, one after the other, ``executed``."""
    return Server(
        gtid_executed=[[{"executed": one}] for one in executed], server_uuid=[{"id": 2, "uuid": OWN}], **more
    )


def maria(server_id, written, *applied, state=None, **more):
    """A MariaDB server; ``state`` is its gtid_binlog_state, else what it has written last."""
    known = {"written": written, "state": written if state is None else state}
    positions = [[known | {"applied": one}] for one in applied or ("",)]
    return Server("MariaDB", (10, 11, 19), gtid_binlog_pos=positions, server_id=[{"id": server_id}], **more)


def test_missing_not_received_and_errant_are_told_apart():
    replica = mysql(f"{UUID}:1-80,{OWN}:1-3")
    there = ask(mysql(f"{UUID}:1-120"), replica, channel(received_gtids=f"{UUID}:1-100"))
    assert (there.missing, there.not_received, there.errant) == (40, 20, 3)
    assert (there.sequence, there.replica_sequence) == (120, 80)
    assert (there.where, there.clock_ahead) == ("db1:3306", 0.0)


@pytest.mark.parametrize(
    ("there", "here", "of"),
    [
        (mysql(f"{UUID}:1-120", f"{UUID}:1-150"), mysql(f"{UUID}:1-80"), channel()),
        (maria(101, "0-101-120"), maria(102, "", "0-101-80"), mariadb()),
    ],
)
def test_the_pace_of_the_source_is_taken_while_something_is_missing(monkeypatch, there, here, of):
    if there.flavour.mariadb:
        there.answers["gtid_binlog_pos"].append([{"written": "0-101-150", "applied": "", "state": ""}])
    moments = iter([0.0] * 4 + [10.0, 10.3, 10.3])
    monkeypatch.setattr(asking.time, "monotonic", lambda: next(moments))
    assert ask(there, here, of).pace == pytest.approx(100)


def test_tags_are_transactions_of_their_own():
    there = ask(mysql(f"{UUID}:1-5:nightly:1-9"), mysql(f"{UUID}:1-9"), channel(received_gtids=""))
    assert (there.missing, there.errant) == (9, 4)


def test_what_arrives_while_we_look_is_not_missing():
    replica = mysql(f"{UUID}:1-80", f"{UUID}:1-90", f"{UUID}:1-100")
    there = ask(mysql(f"{UUID}:1-100"), replica, channel())
    assert (there.missing, there.replica_sequence) == (0, 100)


def test_what_is_on_its_way_is_not_errant():
    """The replica is read first: what the source commits meanwhile is at most missing."""
    order = []
    replica, there = mysql(f"{UUID}:1-100"), mysql(f"{UUID}:1-100")
    for name, server in (("replica", replica), ("source", there)):
        server.asked = type(
            "Asked", (list,), {"append": lambda _, sql, name=name: order.append((name, sql))}
        )()
    ask(there, replica, channel())
    assert [name for name, sql in order if "gtid_executed" in sql] == ["replica", "source"]


def test_transactions_of_other_channels_are_not_errant():
    others = "d0d11c9f-e537-11f1-9cb5-02fc00000003"
    replica = f"{UUID}:1-101,{others}:1-50,{OWN}:1-3"
    channels = [channel(), channel(name="east")]
    assert ask(mysql(f"{UUID}:1-100"), mysql(replica), channel(), channels).errant == 4
    assert ask(mysql(f"{UUID}:1-100"), mysql(replica), channel(), channels[:1]).errant == 54


def test_domains_of_mariadb_are_compared():
    replica = maria(102, "0-101-389,7-101-5", "0-101-389,7-101-5")
    there = ask(
        maria(101, "0-101-1134,7-101-5,9-103-44"), replica, mariadb(received_gtids="0-101-400,7-101-5")
    )
    assert (there.missing, there.not_received, there.errant) == (745, 734, 0)
    assert there.sequence - there.replica_sequence == 745


def test_a_replica_that_has_applied_nothing_misses_all():
    there = ask(maria(101, "0-101-12"), maria(102, "", ""), mariadb(received_gtids="", applied_gtids=""))
    assert (there.missing, there.not_received) == (12, 12)


def test_a_channel_without_gtids_does_not_tell_what_has_arrived():
    there = ask(maria(101, "0-101-12"), maria(102, "", "0-101-9"), mariadb(received_gtids=""))
    assert (there.missing, there.not_received) == (3, None)


def test_local_writes_on_a_mariadb_replica_are_errant():
    """Five GRANTs there, and with gtid_strict_mode the next transaction of the source is error 1950."""
    replica = maria(102, "0-102-11", "0-101-6", state="0-101-6,0-102-11")
    assert ask(maria(101, "0-101-6"), replica, mariadb()).errant == 5
    own_domain = maria(102, "0-101-6,2-102-4", "0-101-6")
    assert ask(maria(101, "0-101-6"), own_domain, mariadb()).errant == 4


def test_local_writes_stay_errant_while_the_source_goes_on():
    source = maria(101, "0-101-600")
    lagging = maria(102, "0-102-505", "0-101-500", state="0-101-500,0-102-505")
    assert ask(source, lagging, mariadb()).errant == 5
    hidden = maria(102, "0-101-600", "0-101-600", state="0-101-600,0-102-505")
    assert ask(source, hidden, mariadb()).errant == 1  # how many is no longer known


@pytest.mark.parametrize(
    "there",
    [
        maria(101, "0-101-9", "", state="0-102-6,0-101-9"),
        maria(101, "0-101-9", "0-102-6"),  # a replica without log_slave_updates that took over
        maria(101, "0-101-9", "0-103-7"),  # that was a replica of another one since
    ],
)
def test_what_a_replica_wrote_while_it_was_the_source_is_not_errant(there):
    was_source_once = maria(102, "0-101-9", "0-101-9", state="0-102-6,0-101-9")
    assert ask(there, was_source_once, mariadb()).errant == 0


EAST = mariadb(name="east", received_gtids="")


def test_a_domain_that_two_sources_write_is_not_compared():
    """gtid_slave_pos has the last of either: a blocked channel looked as if it had all (MariaDB 10.11.19)."""
    replica = maria(102, "0-3-900", "0-3-900")
    found = ask(maria(101, "0-101-410"), replica, mariadb(), [mariadb(), EAST])
    assert (found.missing, found.not_received, found.sequence, found.errant) == (None, None, None, 0)
    assert "0-3-900, applied last in domain 0, is of another source" in found.remark
    assert "gtid_domain_id" in found.remark
    assert ask(maria(101, "0-101-410"), replica, mariadb(), [mariadb()]).missing == 0


@pytest.mark.parametrize(
    ("applied", "missing"),
    [("0-101-400", 10), ("0-7-399,1-3-900", 11)],  # its own, or what came through it
)
def test_what_the_source_has_had_is_in_its_count(applied, missing):
    there = maria(101, "0-101-410", state="0-7-399,0-101-410")
    found = ask(there, maria(102, applied, applied), mariadb(), [mariadb(), EAST])
    assert (found.missing, found.remark) == (missing, "")


def test_another_source_that_writes_while_we_look_hides_nothing():
    replica = maria(102, "0-101-400", "0-101-400", "0-101-400", "0-3-900")
    assert ask(maria(101, "0-101-410"), replica, mariadb(), [mariadb(), EAST]).missing == 10


@pytest.mark.parametrize(("there", "here", "ahead"), [(120.0, 0.0, 120.0), (0.0, 3.5, -3.5), (5.0, 5.0, 0.0)])
def test_clocks_are_compared(there, here, ahead):
    found = ask(mysql(f"{UUID}:1", clock=there), mysql(f"{UUID}:1", clock=here), channel())
    assert found.clock_ahead == ahead


@pytest.mark.parametrize(("round_trip", "ahead"), [(0.1, 0.25), (0.5, 0.0), (1.5, None)])
def test_a_difference_within_the_round_trips_is_none(monkeypatch, round_trip, ahead):
    times = iter([0.0, round_trip, 0.0, round_trip])
    monkeypatch.setattr(asking.time, "monotonic", lambda: next(times, 0.0))
    found = ask(mysql(f"{UUID}:1", clock=0.25), mysql(f"{UUID}:1"), channel())
    assert found.clock_ahead == (ahead if ahead is None else pytest.approx(ahead))


def test_a_source_that_tells_nonsense_is_an_error():
    with pytest.raises(GtidError):
        ask(mysql("nonsense"), mysql(f"{UUID}:1"), channel())


def without_gtids(file="bin.000003", position=900, version=(9, 7, 4), **more):
    """A source with GTIDs off."""
    return mysql(
        "",
        version=version,
        STATUS=[{"File": file, "Position": position}],
        max_binlog_size=[{"size": 1000}],
        LOGS=[{"Log_name": f"bin.00000{number}", "File_size": 1000} for number in (2, 3)],
        **more,
    )


def replica_at(*places):
    """A replica with GTIDs off that has come to one place (file, offset), then to the next."""
    rows = [[healthy_row(Relay_Source_Log_File=file, Exec_Source_Log_Pos=offset)] for file, offset in places]
    return mysql("", STATUS=rows)


def at(file, offset, **more):
    """The channel of a replica that has come to this place."""
    return channel(applied=Position(file, offset), **more)


@pytest.mark.parametrize(
    ("version", "statement"), [((5, 7, 42), "SHOW MASTER STATUS"), ((8, 4, 0), "SHOW BINARY LOG STATUS")]
)
def test_without_gtids_bytes_are_counted(version, statement):
    there, replica = without_gtids(version=version), replica_at(("bin.000003", 400))
    found = ask(there, replica, at("bin.000003", 400, received=Position("bin.000003", 900)))
    assert statement in there.asked
    assert (found.missing, found.errant, found.octets) == (None, None, 500)
    assert found.sequence - found.replica_sequence == 500


def test_bytes_are_counted_over_several_logs():
    replica = replica_at(("bin.000002", 300))
    found = ask(without_gtids(), replica, at("bin.000002", 300))
    assert found.octets == 700 + 900
    assert found.sequence - found.replica_sequence == 1600
    assert ask(without_gtids(), replica_at(("bin.000001", 300)), at("bin.000001", 300)).octets is None


def test_without_gtids_the_same_place_is_nothing_missing():
    found = ask(without_gtids(position=5000), mysql(""), at("bin.000003", 5000))
    assert (found.missing, found.not_received, found.octets) == (0, 0, 0)


@pytest.mark.parametrize("now", [("bin.000003", 900), ("bin.000003", 950), ("bin.000004", 120)])
def test_without_gtids_too_what_arrives_while_we_look_is_not_missing(now):
    replica = replica_at(("bin.000003", 500), now)
    found = ask(without_gtids(position=900), replica, at("bin.000003", 400))
    assert (found.missing, found.octets) == (0, 0)
    assert found.sequence == found.replica_sequence


def test_without_gtids_the_source_has_a_pace_too(monkeypatch):
    there = without_gtids()
    there.answers["STATUS"] = [[{"File": "bin.000003", "Position": place}] for place in (900, 1000)]
    moments = iter([0.0] * 5 + [10.0, 10.5, 10.5])
    monkeypatch.setattr(asking.time, "monotonic", lambda: next(moments))
    found = ask(there, replica_at(("bin.000003", 400)), at("bin.000003", 400))
    assert found.pace == pytest.approx(200)


def test_a_source_without_a_binary_log_is_no_crash():
    there = without_gtids()
    there.answers["STATUS"] = [[]]
    assert ask(there, replica_at(("bin.000003", 400)), channel()).sequence is None


def test_a_source_is_known_by_its_uuid_or_else_by_its_number():
    assert identity(mysql("")) == Identity(2, OWN)
    assert identity(maria(101, "")) == Identity(101, "")
    assert Identity(1, UUID).is_source_of(channel())
    assert not Identity(101, OWN).is_source_of(channel())
    assert Identity(101, "").is_source_of(mariadb())
    assert Identity(101, OWN).is_source_of(channel(source_uuid=""))
    assert not Identity(102, "").is_source_of(mariadb())
