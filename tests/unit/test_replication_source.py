import pytest
from replication_evidence import UUID, channel, mariadb
from stallwatch.probes.replication import source as asking
from stallwatch.probes.replication.channel import Position
from stallwatch.probes.replication.gtid import GtidError
from stallwatch.probes.replication.source import Identity, ask, identity
from stallwatch.sources.mysql import Flavour

OWN = "c0ffee00-e537-11f1-b3bb-02fc00000002"
NOW = 1_795_000_000.0


class Server:
    """Answers each statement that contains a key with its value; a list is given out one by one."""

    def __init__(self, name="MySQL", version=(9, 7, 4), clock=0.0, **answers):
        self.where = "db1:3306"
        self.flavour = Flavour(name, version, "")
        self.answers = {"UNIX_TIMESTAMP": [{"now": NOW + clock}], **answers}
        self.asked = []

    def rows(self, sql, *_):
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


def maria(server_id, written, *applied, **more):
    positions = [[{"written": written, "applied": one}] for one in applied or ("",)]
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
        there.answers["gtid_binlog_pos"].append([{"written": "0-101-150", "applied": ""}])
    moments = iter([0.0] * 4 + [10.0, 10.3])
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


def test_local_writes_on_a_mariadb_replica_are_errant():
    """Five GRANTs there, and with gtid_strict_mode the next transaction of the source is error 1950."""
    replica = maria(102, "0-102-11", "0-101-6")
    assert ask(maria(101, "0-101-6"), replica, mariadb()).errant == 5
    own_domain = maria(102, "0-101-6,2-102-4", "0-101-6")
    assert ask(maria(101, "0-101-6"), own_domain, mariadb()).errant == 4
    was_source_once = maria(102, "0-102-6", "0-101-9")
    assert ask(maria(101, "0-101-9"), was_source_once, mariadb()).errant == 0


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


@pytest.mark.parametrize(
    ("version", "statement"), [((5, 7, 42), "SHOW MASTER STATUS"), ((8, 4, 0), "SHOW BINARY LOG STATUS")]
)
def test_without_gtids_bytes_are_counted(version, statement):
    there = without_gtids(version=version)
    found = ask(
        there, mysql(""), channel(applied=Position("bin.000003", 400), received=Position("bin.000003", 900))
    )
    assert statement in there.asked
    assert (found.missing, found.not_received, found.errant, found.octets) == (None, 0, None, 500)
    assert found.sequence - found.replica_sequence == 500


def test_bytes_are_counted_over_several_logs():
    found = ask(without_gtids(), mysql(""), channel(applied=Position("bin.000002", 300)))
    assert found.octets == 700 + 900
    assert found.sequence - found.replica_sequence == 1600
    assert ask(without_gtids(), mysql(""), channel(applied=Position("bin.000001", 300))).octets is None


def test_without_gtids_the_same_place_is_nothing_missing():
    found = ask(without_gtids(position=5000), mysql(""), channel(applied=Position("bin.000003", 5000)))
    assert (found.missing, found.octets) == (0, 0)


def test_a_source_without_a_binary_log_is_no_crash():
    there = without_gtids()
    there.answers["STATUS"] = [[]]
    assert ask(there, mysql(""), channel()).sequence is None


def test_a_source_is_known_by_its_uuid_or_else_by_its_number():
    assert identity(mysql("")) == Identity(2, OWN)
    assert identity(maria(101, "")) == Identity(101, "")
    assert Identity(1, UUID).is_source_of(channel())
    assert not Identity(101, OWN).is_source_of(channel())
    assert Identity(101, "").is_source_of(mariadb())
    assert Identity(101, OWN).is_source_of(channel(source_uuid=""))
    assert not Identity(102, "").is_source_of(mariadb())
