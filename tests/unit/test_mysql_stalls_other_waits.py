"""What check_mysql_stalls finds of clients that wait for no lock: at their COMMIT, or for space."""

import itertools

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
    return Runs("check_mysql_stalls", tmp_path, monkeypatch)


def server_in(
    *states, version="MySQL 9.7", seconds=12, full="", logged=(), members=(None,) * 3, variables=(), **status
):
    """A server whose clients wait in these states, each with an UPDATE of its own."""
    server = Locked(version)
    server.listed = [
        row(HEAD + number, "app", "Query", seconds, state, "UPDATE shop.orders SET a = 'x'")
        for number, state in enumerate(states)
    ]
    server.status |= status
    server.variables |= {"rpl_semi_sync_source_wait_for_replica_count": "1"} | dict(variables)
    answer = server.rows

    def rows(sql, *values, within=None):
        if "MY-000035" in sql:
            return [{"said": full}] if full else []
        if "performance_schema.error_log" in sql:
            return [{"said": one} for one in logged if one in sql]
        if "replication_group_members" in sql:
            return [dict(zip(("members", "present", "silent"), members, strict=True))]
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


def of_group(*states, members, **status):
    group = {"group_replication_group_name": "aaaa"}
    return server_in(*states, members=members, variables=group, **status)


def of_galera(*states, **status):
    primary = {"wsrep_cluster_status": "Primary", "wsrep_flow_control_requested": "false"}
    return server_in(*states, version="MariaDB 10.11", variables={"wsrep_on": "ON"}, **primary | status)


CERTIFIED = "Waiting for certification"
FULL_REDO = {"Innodb_checkpoint_age": "1000", "Innodb_checkpoint_max_age": "1000"}


@pytest.mark.parametrize(
    ("server", "found"),
    [
        (of_group(AT_COMMIT, members=(3, 1, "n2:3306")),
         (Kind.NO_QUORUM, CERTAIN, "members", "FIND_PRIMARY")),
        (of_group(AT_COMMIT, members=(2, 1, "n2:3306")),
         (Kind.NO_QUORUM, CERTAIN, "members", "FIND_PRIMARY")),
        (of_group(AT_COMMIT, members=(0, None, None)), (SLOW, LIKELY, "commit", "SEE_DISK")),
        (of_group("Executing hook on transaction begin.", members=(3, 1, "n2:3306")),
         (Kind.NO_QUORUM, CERTAIN, "members", "FIND_PRIMARY")),
        (of_group(AT_COMMIT, members=(3, 2, "n2:3306")),
         (Kind.SILENT_MEMBER, LIKELY, "unreachable", "SEE_MEMBER")),
        (of_group(AT_COMMIT, members=(3, 3, None), Gr_flow_control_throttle_active_count="1"),
         (Kind.FLOW_CONTROL, LIKELY, "of_another", "SEE_QUEUES")),
        (of_group(AT_COMMIT, members=(3, 3, None)), (UNKNOWN, POSSIBLE, "cluster", "SEE_CLUSTER")),
        (of_galera(CERTIFIED, wsrep_cluster_status="non-Primary"),
         (Kind.NO_QUORUM, CERTAIN, "apart", "FIND_PRIMARY")),
        (of_galera(CERTIFIED, wsrep_flow_control_active="true", wsrep_flow_control_requested="true"),
         (Kind.FLOW_CONTROL, CERTAIN, "own", "SEE_APPLIER")),
        (of_galera(CERTIFIED, wsrep_flow_control_active="true", wsrep_flow_control_requested="false"),
         (Kind.FLOW_CONTROL, LIKELY, "of_another", "SEE_QUEUES")),
        (of_galera(CERTIFIED, wsrep_flow_control_active="false"),
         (UNKNOWN, POSSIBLE, "cluster", "SEE_CLUSTER")),
    ],
)  # fmt: skip
def test_why_the_members_of_a_cluster_keep_clients_waiting(look, server, found):
    told = judged(look.report(server))
    assert (told.kind, told.certainty, told.evidence, told.step) == found


def test_a_definition_that_runs_on_all_members_of_galera(look):
    server = of_galera(CERTIFIED)
    alter = row(5, "system user", "Sleep", 12, "copy to tmp table", "ALTER TABLE shop.orders ENGINE=InnoDB")
    server.listed.append(alter)
    text = look(server)[1]
    assert "waits at COMMIT for up to 12 s (limit 10 s), probably behind ALTER TABLE shop.orders" in text


@pytest.mark.parametrize(
    ("server", "found"),
    [
        (server_in("update", version="MariaDB 10.11", **FULL_REDO), (Kind.REDO_FULL, "SEE_REDO")),
        (server_in("updating", "update", logged=("MY-012985",)), (Kind.SEMAPHORES, "SEE_ERROR_LOG")),
        (server_in("updating", "update"), (UNKNOWN, "SEE_PROCESSES")),
        (server_in("Opening tables", "Opening tables"), (UNKNOWN, "SEE_PROCESSES")),
        (server_in("query end", version="MySQL 5.7"), (SLOW, "SEE_DISK")),
        (server_in("Waiting for disk space"), (DISK_FULL, "FREE_SPACE")),
    ],
)
def test_writes_that_make_no_progress_and_waits_of_other_versions(look, server, found):
    server.done = itertools.repeat(7)
    told = judged(look.report(server))
    assert (told.state, told.kind, told.step) == ("WARNING", *found)


@pytest.mark.parametrize(
    "server",
    [
        server_in("update", version="MariaDB 10.11", **FULL_REDO),  # it makes progress
        server_in("updating", "update", seconds=400),
        server_in("Opening tables"),  # one alone
        server_in("Waiting for GTID to be committed", "Waiting for GTID to be committed", seconds=400),
        server_in("Waiting in MASTER_GTID_WAIT()", "Waiting in MASTER_GTID_WAIT()", seconds=400),
        server_in(*["Waiting for the replica SQL thread to advance position"] * 2, seconds=400),
        server_in("User sleep", "Sending to client", "Reading from net", seconds=400),
    ],
)
def test_what_is_at_work_or_waits_as_it_asked_to(look, server):
    assert look(server)[0] == 0


def test_a_full_redo_log_explains_who_blocks_others(look):
    server = server_in(version="MariaDB 10.11", **FULL_REDO)
    server.idle_head()
    server.listed[0] = row(HEAD, "app", "Query", 12, "updating", "UPDATE shop.orders SET a = 1")
    server.done = itertools.repeat(7)
    assert judged(look.report(server)).kind is Kind.REDO_FULL
    assert "KILL 22" not in look(server)[1].partition("\n")[0]


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


def test_a_commit_of_mysql_5_7_has_the_state_of_what_begins(look):
    server = server_in("starting", version="MySQL 5.7")
    server.listed[0]["Info"] = "commit"
    assert judged(look.report(server)).kind is SLOW
    server.listed[0]["Info"] = "SELECT 1"
    assert look(server, state=False)[0] == 0


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
