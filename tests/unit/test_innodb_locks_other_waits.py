"""What check_innodb_locks finds of clients that wait for no lock: at their COMMIT, or for space."""

import pytest
from captured_runs import Runs
from locked_server import HEAD, WAITER, Locked, judged, row, trx
from stallwatch.causes import Certainty, Kind
from stallwatch.probes.mysql.other_waits import LARGE

CERTAIN, LIKELY, POSSIBLE = Certainty
AT_COMMIT, OF_MARIADB, ACK = "waiting for handler commit", "Commit", "Waiting for semi-sync ACK from replica"
SPACE, OTHER = "Waiting for someone to free space", "Waiting for something new"
FULL = (
    "Disk is full writing '/binlogs/b.000001' (OS errno 28 - No space left on device). Waiting for someone to"
    " free space... Retry in 60 secs. Message reprinted in 600 secs."
)
FREE, START, SEE = "FREE_SPACE", "START_REPLICA", "SEE_REPLICAS"
SLOW, NO_ACK, DISK_FULL, UNKNOWN = Kind.SLOW_DISK, Kind.NO_ACK, Kind.DISK_FULL, Kind.UNKNOWN


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_innodb_locks", tmp_path, monkeypatch)


def server_in(*states, version="MySQL 9.7", seconds=12, full="", **status):
    """A server whose clients wait in these states, each with an UPDATE of its own."""
    server = Locked(version)
    server.listed = [
        row(HEAD + number, "app", "Query", seconds, state, "UPDATE shop.orders SET a = 'x'")
        for number, state in enumerate(states)
    ]
    server.status |= status
    server.variables |= {"rpl_semi_sync_source_wait_for_replica_count": "1"}
    answer = server.rows

    def rows(sql, *values, within=None):
        if "performance_schema.error_log" in sql:
            return [{"said": full}] if full else []
        return answer(sql, *values, within=within)

    server.rows = rows
    return server


def of_mariadb(*states, **status):
    return server_in(*states, version="MariaDB 10.11", **status)


@pytest.mark.parametrize(
    ("server", "found"),
    [
        (server_in(AT_COMMIT, full=FULL), (DISK_FULL, "22", CERTAIN, "log_names_it", FREE)),
        (server_in(*[AT_COMMIT] * 2, full=FULL), (DISK_FULL, "22 23", CERTAIN, "log_names_it", FREE)),
        (of_mariadb(SPACE), (DISK_FULL, "22", CERTAIN, "waits_for_space", FREE)),
        (of_mariadb(OF_MARIADB, SPACE), (DISK_FULL, "23", CERTAIN, "waits_for_space", FREE)),
        (server_in(ACK, Rpl_semi_sync_source_clients="0"), (NO_ACK, "22", CERTAIN, "too_few", START)),
        (server_in(ACK, Rpl_semi_sync_source_clients="1"), (NO_ACK, "22", CERTAIN, "silent", SEE)),
        (of_mariadb("Waiting for semi-sync ACK from slave", Rpl_semi_sync_master_clients="0"),
         (NO_ACK, "22", CERTAIN, "too_few", START)),
        (server_in(AT_COMMIT, Innodb_os_log_pending_writes="1"), (SLOW, "22", LIKELY, "writes", "SEE_DISK")),
        (of_mariadb(OF_MARIADB), (SLOW, "22", LIKELY, "commit", "SEE_DISK")),
        (server_in(OTHER, OTHER), (UNKNOWN, "22 23", POSSIBLE, "other", "SEE_PROCESSES")),
    ],
)  # fmt: skip
def test_why_clients_wait(look, server, found):
    assert judged(look.report(server)) == ("WARNING", *found, 12)


def test_in_a_cluster_the_disk_is_not_blamed(look):
    for name, value in (("group_replication_group_name", "aaaa"), ("wsrep_on", "ON")):
        server = server_in(AT_COMMIT, Innodb_os_log_pending_writes="1")
        server.variables[name] = value
        assert judged(look.report(server, state=False))[1:6] == (
            UNKNOWN,
            "22",
            POSSIBLE,
            "cluster",
            "SEE_CLUSTER",
        )


@pytest.mark.parametrize("state", [ACK, AT_COMMIT, SPACE])
def test_who_waits_at_commit_is_no_head_of_a_queue(look, state):
    """To end it would not help: what it waits for stays."""
    server = server_in(state, Rpl_semi_sync_source_clients="0")
    server.idle_head()
    server.listed[0] = row(HEAD, "app", "Query", 12, state, "UPDATE shop.orders SET a = 1")
    text = look(server)[1]
    assert ", with 2 others behind" in text
    assert "KILL 22" not in text
    assert " blocks " not in text
    assert judged(look.report(server)).kind is not Kind.ROW_LOCK


def test_a_commit_that_began_just_now_is_a_head_like_any_other(look):
    server = Locked()
    server.idle_head()
    server.listed[0] = row(HEAD, "app", "Query", 1, AT_COMMIT, "COMMIT")
    assert judged(look.report(server)).kind is Kind.ROW_LOCK


def test_it_is_critical_when_two_looks_show_the_same_statement(look):
    server = server_in(ACK, seconds=61)
    assert judged(look.report(server)).state == "WARNING"
    server.listed[0]["Time"] = 122
    assert judged(look.report(server, after=61)) == (
        "CRITICAL",
        NO_ACK,
        "22",
        CERTAIN,
        "too_few",
        "START_REPLICA",
        61,
    )


def test_clients_that_give_up_and_come_again_are_one_stall(look):
    server = server_in(ACK, seconds=5)
    look(server)
    server.listed[0] |= {"Id": 99, "Time": 4}
    found = judged(look.report(server, after=40))
    assert (found.state, found.kind, found.value) == ("WARNING", NO_ACK, 40)


@pytest.mark.parametrize(
    "server",
    [
        server_in(OTHER),
        server_in(AT_COMMIT, seconds=1),
        server_in("executing", "Sending data", seconds=500),
        server_in("Waiting for an event from Coordinator", seconds=500),
    ],
)
def test_what_only_looks_like_it(look, server):
    if "Coordinator" in server.listed[0]["State"]:
        server.listed[0]["User"] = "system user"
    assert look(server)[0] == 0


def test_a_large_commit_alone_is_at_work_for_minutes(look):
    server = server_in(AT_COMMIT)
    server.transactions = [trx(HEAD, 100, modified=LARGE)]
    assert look(server)[0] == 0
    server.listed.append(row(WAITER, "app", "Query", 11, AT_COMMIT, "INSERT INTO shop.orders VALUES (1)"))
    assert judged(look.report(server, state=False)).kind is SLOW
    del server.listed[1]
    server.listed[0]["Time"] = 300
    assert judged(look.report(server, state=False)).kind is SLOW


def test_a_state_without_a_rule_is_never_critical(look):
    server = server_in(OTHER, seconds=4000)
    assert judged(look.report(server)).state == "WARNING"
    server.listed[0]["Time"] = 4061
    assert judged(look.report(server, after=61)).state == "WARNING"


def test_a_commit_behind_one_that_waits_for_a_replica_is_the_same_stall(look):
    server = of_mariadb(OF_MARIADB, "Waiting for semi-sync ACK from slave", Rpl_semi_sync_master_clients="0")
    text = look(server)[1]
    assert (
        "1 connection waits at COMMIT for up to 12 s (limit 10 s), with 1 other behind, 0 of 1 semi-sync"
        in text
    )
    assert "disk" not in text
    assert "more problem" not in text


def test_a_commit_behind_one_that_waits_for_space_is_the_same_stall(look):
    text = look(of_mariadb(SPACE, OF_MARIADB, OF_MARIADB))[1]
    assert (
        "1 connection waits for space on a disk for up to 12 s (limit 10 s), with 2 others behind, a disk"
        in text
    )
    assert "more problem" not in text
