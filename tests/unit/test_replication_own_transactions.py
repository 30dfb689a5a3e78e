"""Errant transactions on the replica alone, and what --role makes of read_only."""

import json

import pytest
from replication_snapshots import UUID, channel, mariadb, stopped
from stallwatch.findings import State
from stallwatch.probes.replication_lag import own_transactions, role
from stallwatch.probes.replication_lag.own_transactions import Own
from stallwatch.probes.replication_lag.queries import Facts
from stallwatch.sources.mysql import DeniedError

OWN = "47a480dc-e7c9-11f1-9da2-02fc00000001"
OTHER = "47ac1e3e-e7c9-11f1-93b7-02fc00000001"
MYSQL = Facts(0.0, 100, 1000.0, 60.0, read_only=False, super_read_only=False, uuid=OWN)
MARIADB = Facts(0.0, 100, 1000.0, 60.0, read_only=False)


def has(own, received=f"{UUID}:1-100", **changes):
    """A channel of MySQL whose server has these of its own."""
    both = f"{UUID}:1-100" + (f",{OWN}:{own}" if own else "")
    return channel(applied_gtids=both, received_gtids=received, **changes)


def none(seconds=60.0):
    """None came since the look so many seconds before."""
    return Own(0, exact=True, seconds=seconds)


class Looks:
    """Looks at a replica, one a minute, each with what the file kept of those before."""

    def __init__(self, facts=MYSQL):
        self.facts, self.kept, self.now = facts, {}, 0.0

    def at(self, *channels, facts=None, after=60.0):
        self.now += after
        found = own_transactions.look(self.kept, facts or self.facts, channels, self.now)
        self.kept = json.loads(json.dumps(self.kept))
        return found


def mariadb_looks(*states, received="1-1-5"):
    """What is found at each look at a MariaDB whose gtid_binlog_state is this."""
    looks = Looks(MARIADB)
    applied = mariadb(received_gtids=received, applied_gtids=received)
    return [looks.at(applied, facts=MARIADB._replace(written=one)) for one in states]


def test_own_transactions_that_are_there_from_the_beginning_are_none_of_late():
    looks = Looks()
    assert [looks.at(has("1-500")) for _ in range(3)] == [None, none(), none()]


def test_the_first_own_transaction_is_found():
    looks = Looks()
    assert looks.at(has("")) is None
    assert looks.at(has("1")) == Own(1, exact=True, seconds=60.0)


def test_they_are_counted_and_reported_for_an_hour_after_the_last():
    looks = Looks()
    looks.at(has("1-5"))
    assert looks.at(has("1-7")) == Own(2, exact=True, seconds=60.0)
    assert looks.at(has("1-10")) == Own(5, exact=True, seconds=120.0)
    assert looks.at(has("1-10"), after=3000.0) == Own(5, exact=True, seconds=3120.0)
    assert looks.at(has("1-10"), after=700.0) == none(700.0)
    assert looks.at(has("1-11")) == Own(1, exact=True, seconds=60.0)


def test_tagged_ones_are_own_ones_too():
    looks = Looks()
    looks.at(has("1-5"))
    assert looks.at(has("1-5:load:1-3")) == Own(3, exact=True, seconds=60.0)


@pytest.mark.parametrize("changes", [{"receiver": stopped()}, {"applier": stopped()}])
def test_what_a_server_writes_that_does_not_replicate_is_no_error(changes):
    looks = Looks()
    looks.at(has("1-5"))
    assert looks.at(has("1-500", **changes)) is None
    assert looks.at(has("1-600")) is None
    assert looks.at(has("1-601")) == Own(1, exact=True, seconds=60.0)


def test_what_came_back_from_the_source_is_no_error():
    looks = Looks()
    looks.at(has("1-5"))
    assert looks.at(has("1-7", received=f"{UUID}:1-100,{OWN}:6-7")) == none()


def test_without_gtids_of_a_source_nothing_is_known():
    """ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS = LOCAL makes all that comes the replica's own."""
    looks = Looks()
    looks.at(has("1-5", received=""))
    assert looks.at(has("1-7", received="")) is None


def test_a_reset_another_server_and_a_long_pause_begin_anew():
    looks = Looks()
    looks.at(has("1-5"))
    assert looks.at(has("1-6"))
    assert looks.at(has("")) is None
    assert looks.at(has("1-9"), facts=MYSQL._replace(server_id=7)) is None
    assert looks.at(has("1-9")) is None
    assert looks.at(has("1-12"), after=4000.0) is None


@pytest.mark.parametrize("damage", [{"written": 3}, {"written": {OWN: "x"}}, {"at": "x"}, {"who": []}])
def test_a_damaged_memory_begins_anew(damage):
    looks = Looks()
    looks.at(has("1-5"))
    looks.kept |= damage
    looks.at(has("1-6"))
    looks.at(has("1-6"))
    assert looks.at(has("1-7")) is not None


def test_mariadb_counts_its_own_server_id_in_a_domain_of_its_own():
    assert mariadb_looks("1-1-5", "0-100-4,1-1-5", "0-100-4,1-1-5")[1:] == [
        Own(4, exact=True, seconds=60.0),
        Own(4, exact=True, seconds=120.0),
    ]


def test_mariadb_says_at_least_where_the_source_writes_to_the_same_domain():
    assert mariadb_looks("1-1-5", "1-1-5,1-100-7")[1] == Own(2, exact=True, seconds=60.0)
    assert mariadb_looks("1-1-5", "1-1-9,1-100-7")[1] == Own(1, exact=False, seconds=60.0)


def test_mariadb_says_at_least_while_something_received_is_not_applied():
    looks = Looks(MARIADB)
    behind = mariadb(received_gtids="0-1-1000", applied_gtids="0-1-500")
    looks.at(behind, facts=MARIADB._replace(written="0-1-500"))
    found = looks.at(behind, facts=MARIADB._replace(written="0-1-500,0-100-505"))
    assert found == Own(1, exact=False, seconds=60.0)
    caught_up = mariadb(received_gtids="0-1-1000", applied_gtids="0-1-1000")
    found = looks.at(caught_up, facts=MARIADB._replace(written="0-1-1000,0-100-1001"))
    assert not found.exact


def test_mariadb_with_those_of_an_old_switchover_is_no_error():
    assert mariadb_looks("1-100-4,1-1-5", "1-100-4,1-1-9", "1-100-4,1-1-90") == [None, none(), none()]


class Asked:
    """A server that says who replicates from it."""

    def __init__(self, *rows, error=None):
        self.rows_, self.error, self.asked = [dict(row) for row in rows], error, 0

    def rows(self, _):
        self.asked += 1
        if self.error:
            raise self.error
        return self.rows_


def goes_on(server, facts, *channels):
    return own_transactions.go_on_to_a_source({}, server, facts, channels, 0.0)


def test_a_source_that_replicates_from_here_has_them_and_that_is_remembered():
    kept, server = {"number": 3}, Asked({"uuid": UUID.upper()})
    assert own_transactions.go_on_to_a_source(kept, server, MYSQL, [has("1-5")], 100.0)
    assert own_transactions.go_on_to_a_source(kept, server, MYSQL, [has("1-5")], 3000.0)
    assert (kept["number"], server.asked) == (0, 1)
    own_transactions.go_on_to_a_source(kept, server, MYSQL, [has("1-5")], 4000.0)
    assert server.asked == 2


@pytest.mark.parametrize("damage", ["x", None, [], True, 9e9])
def test_what_is_remembered_of_that_may_be_damaged(damage):
    server = Asked({"uuid": "d" + UUID[1:]})  # a replica that is not our source
    kept = {"taken": damage}
    assert own_transactions.go_on_to_a_source(kept, server, MYSQL, [has("1-5")], 100.0) is False
    assert server.asked == 1


@pytest.mark.parametrize(
    ("server", "facts", "of", "expected"),
    [
        (Asked(), MYSQL, has("1-5"), None),  # neither performance_schema nor PROCESS
        (Asked({"uuid": OTHER}), MYSQL, has("1-5"), False),  # the middle of a chain
        (Asked({"uuid": OTHER}), MYSQL, channel(applied_gtids=f"{OTHER}:1-3"), None),  # or of a ring
        (Asked(error=DeniedError("denied")), MYSQL, has("1-5"), None),
        (Asked(), MARIADB._replace(written="0-100-4"), mariadb(received_gtids="0-100-4,1-1-5"), True),
        (Asked(), MARIADB._replace(written="0-100-4"), mariadb(received_gtids="0-100-3"), None),
        (Asked({"host": "", "command": "Slave_IO"}), MARIADB._replace(written="0-100-4"), mariadb(), False),
        (
            Asked({"host": "db1:4711", "command": "Binlog Dump"}),
            MARIADB._replace(written="0-100-4"), mariadb(), True,
        ),
        (
            Asked({"host": "db7:4711", "command": "Binlog Dump"}),
            MARIADB._replace(written="0-100-4"), mariadb(), None,
        ),
        (
            Asked({"host": "127.0.0.1:4711", "command": "Binlog Dump"}),
            MARIADB._replace(written="0-100-4"), mariadb(source_host="127.0.0.1"), None,
        ),
    ],
)  # fmt: skip
def test_who_replicates_from_here(server, facts, of, expected):
    assert goes_on(server, facts, of) is expected


@pytest.mark.parametrize(
    ("processes", "expected"),
    [
        ([], None),
        ([{"host": "", "command": "Query"}], False),
        ([{"host": "db1:4711", "command": "Binlog Dump GTID"}], None),
    ],
)
def test_where_performance_schema_is_off_the_process_list_decides(processes, expected):
    class Off(Asked):
        def rows(self, statement):
            return processes if "PROCESSLIST" in statement else []

    assert goes_on(Off(), MYSQL, has("1-5")) is expected


def test_the_line_says_who_could_write():
    own = Own(2, exact=True, seconds=40.0)
    found = own_transactions.finding(own, MYSQL, [channel()], doubtful=False)
    assert found.what == "replica of db1: 2 transactions written here in the last 40 s, read_only is OFF"
    assert found.advice == "find who writes here, then SET GLOBAL super_read_only = ON"
    closed = MYSQL._replace(read_only=True, super_read_only=True)
    found = own_transactions.finding(own._replace(exact=False), closed, [channel()], doubtful=False)
    assert found.what == "replica of db1: at least 2 transactions written here in the last 40 s"
    assert found.advice == "find who writes here, and compare the data"
    found = own_transactions.finding(own, MARIADB, [channel(), channel()], doubtful=True)
    assert (found.state, found.what.partition(":")[0]) == (State.OK, "this replica")


def test_none_are_a_number_without_advice():
    found = own_transactions.finding(none(), MYSQL, [channel()], doubtful=False)
    assert found.what == "replica of db1: no errant GTIDs in the last 1 min"
    assert (found.name, found.value, found.advice, found.line.more) == ("errant", 0, "", ())


def test_what_a_source_does_not_have_is_said_in_the_same_words():
    def told(number, facts=MYSQL):
        return own_transactions.not_on_source(channel(), "db1:3306", number, facts, "errant")

    found = told(5)
    assert found.what == "replica of db1: 5 transactions here are not on db1:3306, read_only is OFF"
    assert found.advice == "find who writes here, then SET GLOBAL super_read_only = ON"
    assert len(f"REPLICATION_LAG WARNING - {found.what} - {found.advice}") <= 160
    closed = told(1, MYSQL._replace(read_only=True, super_read_only=True))
    assert closed.what == "replica of db1: 1 transaction here is not on db1:3306"
    assert closed.advice == "find who writes here, and compare the data"
    assert told(1, MARIADB).advice.endswith("SET GLOBAL read_only = ON")
    none = told(0)
    assert none.what == "replica of db1: no transactions here that db1:3306 does not have"
    assert (none.value, none.advice, none.line.more) == (0, "", ())


# --role


@pytest.mark.parametrize(
    ("name", "read_only", "channels", "expected"),
    [
        (None, False, 1, []),
        (None, True, 0, []),
        ("replica", True, 1, []),
        ("replica", None, 1, []),
        ("replica", False, 1, [State.WARNING]),
        ("source", False, 0, [State.OK]),
        ("source", None, 0, [State.OK]),
        ("source", False, 1, [State.OK]),
        ("source", True, 0, [State.CRITICAL]),
        ("source", True, 1, [State.CRITICAL, State.OK]),
    ],
)
def test_read_only_is_judged_by_the_role(name, read_only, channels, expected):
    facts = MYSQL._replace(read_only=read_only)
    found = list(role.judge(name, facts, [channel()] * channels, "db2:3306"))
    assert [one.state for one in found] == expected
    assert len(found) < 2 or found[1].what == "this source still replicates from db1:3306"
