"""What is at its limit: the cases of the articles, on all captured versions."""

import pytest
from captured_mysql import VERSIONS, CapturedMysql
from mysql_status import Watch
from stallwatch.probes.mysql_status.diagnosis import turned_away
from stallwatch.sources.mysql import UnreachableError

MINUTE = 60


@pytest.fixture(params=VERSIONS)
def server(request, clock):
    return CapturedMysql(request.param, clock=clock)


@pytest.fixture
def mysql(clock):
    return CapturedMysql("MySQL 9.7", clock=clock)


def test_a_healthy_server_is_ok_whatever_its_version(server):
    said = Watch(server).after(MINUTE, Queries=60_000, Handler_read_rnd_next=100_000)
    assert said.status == 0
    assert said.summary == ("1 000 queries/s over 1 min, 1 client connected, 1 thread at work")


def test_a_hundred_million_rows_read_in_scans_a_second_are_critical_once_they_last(server):
    watch = Watch(server, sets=["handlers"])
    watch.run()
    states = []
    for _ in range(4):
        server.later(
            MINUTE, Handler_read_rnd_next=150_000_000 * MINUTE, Handler_read_key=600, Select_scan=1200
        )
        said = watch.run()
        states.append(said.status)
    assert states == [1, 1, 2, 2]
    assert said.summary.startswith(
        "150 million rows/s read in scans (Handler_read_rnd_next), 15 million per row found "
    )
    assert "row found by key, Select_scan 20/s" in said.summary
    assert "queries lack an index" in said.summary
    found = said.of("Handler_read_rnd_next")
    assert (found["warning"], found["critical"]) == ("10000000", "100000000")
    assert ("log_slow_filter" in said.summary) == server.flavour.mariadb


def test_what_does_not_last_is_a_warning_and_is_counted_anew(mysql):
    watch = Watch(mysql, sets=["handlers"])
    watch.run()
    states = []
    for scanned in (2e8, 2e8, 1e6, 2e8, 2e8, 2e8):
        mysql.later(MINUTE, Handler_read_rnd_next=int(scanned) * MINUTE)
        states.append(watch.run().status)
    assert states == [1, 1, 0, 1, 1, 2]


def test_a_retry_does_not_count_as_one_more_interval(mysql):
    watch = Watch(mysql, sets=["handlers"])
    watch.run()
    for _ in range(5):
        again = watch.memory["lasting"]["runs"]
        mysql.later(1 if again else 30, Handler_read_rnd_next=200_000_000 * MINUTE)
        said = watch.run()
        assert said.status == 1
    assert "(1 of 3 intervals)" in said.summary


def test_ten_million_a_second_are_a_warning_for_ever(mysql):
    watch = Watch(mysql, sets=["handlers"])
    watch.run()
    for _ in range(5):
        mysql.later(MINUTE, Handler_read_rnd_next=20_000_000 * MINUTE)
        assert watch.run().status == 1


def test_confirm_1_is_critical_at_once(mysql):
    said = Watch(mysql, sets=["handlers"], confirm=1).after(
        MINUTE, Handler_read_rnd_next=200_000_000 * MINUTE
    )
    assert said.status == 2


def test_tables_opened_again_and_again_with_a_full_cache(server):
    server.variables["table_open_cache"] = "400"
    server.status["Open_tables"] = "398"
    said = Watch(server, sets=["tables"]).after(
        MINUTE, Opened_tables=57 * MINUTE, Table_open_cache_overflows=3300
    )
    assert said.status == 1
    assert said.summary == (
        "57 tables/s opened (Opened_tables), Open_tables 398 of table_open_cache 400, "
        "Table_open_cache_overflows 55/s - raise table_open_cache, for example to 800, and see whether "
        "queries are answered sooner"
    )


def test_a_cache_of_which_one_instance_is_full_is_full(server):
    server.variables["table_open_cache"] = "4000"
    server.status["Open_tables"] = "300"
    said = Watch(server, sets=["tables"]).after(MINUTE, Opened_tables=600, Table_open_cache_overflows=600)
    assert said.status == 1


def test_tables_opened_with_room_in_the_cache_are_no_limit(server):
    server.variables |= {"table_open_cache": "4000", "table_definition_cache": "4000"}
    server.status |= {"Open_tables": "300", "Open_table_definitions": "300"}
    said = Watch(server, sets=["tables"]).after(MINUTE, Opened_tables=6000, Opened_table_definitions=6000)
    assert said.status == 0


def test_connections_without_reuse(server):
    """The application of the article, with its read buffer of 5 MiB."""
    server.status["Threads_connected"] = "13"
    server.variables["read_buffer_size"] = str(5 * 1024 * 1024)
    counted = {"Connections": 80 * MINUTE, "Questions": 320 * MINUTE}
    said = Watch(server, sets=["connections"]).after(MINUTE, **counted)
    assert said.status == 1
    assert said.summary == (
        "80 new connections/s (Connections), 4 statements each, on average - let clients keep connections, "
        "or put a pool before the server, then try read_buffer_size 128 KiB (5 MiB may be zeroed for each)"
    )


def test_idle_connections_do_not_hide_those_that_are_not_used_again(server):
    server.variables["max_connections"] = "5000"
    server.status["Threads_connected"] = "1001"
    assert Watch(server, sets=["connections"]).after(MINUTE, Connections=80 * MINUTE).status == 1
    assert Watch(server, sets=["connections"]).after(MINUTE, Connections=50 * MINUTE).status == 0


def test_a_small_read_buffer_is_not_to_blame(server):
    server.variables["read_buffer_size"] = "131072"
    said = Watch(server, sets=["connections"]).after(MINUTE, Connections=80 * MINUTE)
    assert "read_buffer_size" not in said.summary


def test_connections_near_their_limit(server):
    server.variables["max_connections"] = "151"
    server.status["Threads_connected"] = "140"
    said = Watch(server, sets=["connections"]).run()
    assert said.status == 1
    assert "140 clients are connected (Threads_connected), max_connections is 151" in said.summary


@pytest.mark.parametrize("server", [one for one in VERSIONS if "MySQL" in one], indirect=True)
def test_clients_that_are_turned_away_page_once_it_lasts(server):
    watch = Watch(server)
    watch.run()
    states = []
    for _ in range(3):
        server.later(MINUTE, Connection_errors_max_connections=120)
        said = watch.run()
        states.append(said.status)
    assert states == [1, 1, 2]
    assert said.summary.startswith("2 clients/s turned away (Connection_errors_max_connections)")


@pytest.mark.parametrize("server", [one for one in VERSIONS if "MySQL" in one], indirect=True)
def test_clients_that_are_turned_away_come_before_those_who_come(server):
    watch = Watch(server)
    watch.run()
    server.later(MINUTE, Connection_errors_max_connections=120, Connections=15000)
    said = watch.run()
    assert said.status == 1
    assert said.summary.startswith("2 clients/s turned away (Connection_errors_max_connections)")
    assert said.of("Connections")["state"] == "WARNING"


def test_mariadb_counts_who_is_turned_away_among_those_who_fail_to_log_in(clock):
    """As MariaDB 10.11.19 does while the place of administrators is free."""
    server = CapturedMysql("MariaDB 10.11", clock=clock)
    server.variables["max_connections"] = server.status["Threads_connected"] = "60"
    watch = Watch(server, sets=["connections"])
    watch.run()
    states = []
    for _ in range(3):
        server.later(MINUTE, Aborted_connects=120)
        said = watch.run()
        states.append(said.status)
    assert states == [1, 1, 2]
    assert said.summary.startswith(
        "2 log-ins/s failed (Aborted_connects), all connections are used, max_connections is 60"
    )
    server.status["Threads_connected"] = "20"
    server.later(MINUTE, Aborted_connects=120)  # wrong passwords, as far as anybody knows
    assert watch.run().status == 0


def test_mariadb_tells_once_that_more_have_come_than_there_are_places(clock):
    server = CapturedMysql("MariaDB 10.11", clock=clock)
    server.variables["max_connections"] = server.status["Max_used_connections"] = "60"
    watch = Watch(server)
    watch.run()
    server.later(MINUTE, Max_used_connections=1)
    said = watch.run()
    assert (said.status, said.summary.partition(",")[0]) == (
        1, "61 clients were connected at once (Max_used_connections)",
    )  # fmt: skip
    server.later(MINUTE)
    assert watch.run().status == 0


def test_who_has_the_place_of_administrators_sees_that_all_others_are_taken(server):
    server.variables["max_connections"] = "60"
    server.status["Threads_connected"] = "61"
    watch = Watch(server)
    watch.run()
    states = []
    for _ in range(3):
        server.later(MINUTE)
        states.append(watch.run().status)
    assert states == [1, 1, 2]


def test_what_lasted_before_a_restart_or_a_long_time_ago_does_not_count(mysql):
    watch = Watch(mysql)
    watch.run()

    def turned_away(clients, seconds=MINUTE):
        mysql.later(seconds, Connection_errors_max_connections=clients)
        return watch.run()

    assert [turned_away(60).status for _ in range(2)] == [1, 1]
    mysql.status |= {"Uptime": "5", "Connection_errors_max_connections": "0"}
    assert watch.run().status == 0
    said = turned_away(1)
    assert said.status == 1
    assert "(1 of 3 intervals)" in said.summary
    turned_away(60)
    said = turned_away(1, 5 * 86400)
    assert said.status == 1
    assert "(1 of 3 intervals)" in said.summary


class Full:
    """Log-ins at a server that has no place left."""

    def __init__(self, later, **asked):
        self.later = later
        self.memory = {}
        self.asked = {"confirm": 3, "sampled": False} | asked

    def look(self, seconds=MINUTE, number=1040):
        """Be refused, so much later."""
        self.later(seconds)
        error = UnreachableError("db1:3306 has no connection left (Too many connections)", number=number)
        return turned_away(error, self.memory, **self.asked)


def test_a_log_in_for_which_there_is_no_place_pages_once_it_lasts(clock):
    full = Full(clock.later)
    found = [full.look() for _ in range(4)]
    assert [one.state.name for one in found] == ["WARNING", "WARNING", "CRITICAL", "CRITICAL"]
    assert found[0].what == "max_connections is used up: not even this check is let in (1 of 3 looks)"
    assert found[2].what == "max_connections is used up: not even this check is let in"
    assert "extra_port" in found[0].advice


def test_a_retry_of_such_a_log_in_is_the_same_look(clock):
    full = Full(clock.later)
    assert {full.look(3).what for _ in range(4)} == {
        "max_connections is used up: not even this check is let in (1 of 3 looks)"
    }


def test_such_log_ins_count_together_with_what_is_seen_by_those_who_are_let_in(mysql):
    full = Full(mysql.later)
    watch = Watch(mysql)
    watch.memory = full.memory
    watch.run()
    full.look(), full.look()
    mysql.later(50, Connection_errors_max_connections=204)
    said = watch.run()
    assert said.status == 1  # this interval is about the same two looks
    assert said.summary.startswith(
        "1.2 clients/s turned away (Connection_errors_max_connections) (2 of 3 intervals)"
    )
    mysql.later(50, Connection_errors_max_connections=60)
    assert watch.run().status == 2
    mysql.later(50)
    assert watch.run().status == 0
    assert full.look().state.name == "WARNING"


def test_other_refusals_are_no_finding_of_this_check(clock):
    with pytest.raises(UnreachableError):
        Full(clock.later).look(number=1045)


def test_threads_of_the_server_itself_are_not_at_work_for_clients(monkeypatch, clock):
    """A MariaDB replica that has nothing to do, as 10.11.19 tells it."""
    server = CapturedMysql("MariaDB 10.11", clock=clock)
    monkeypatch.setattr("stallwatch.sources.host.processors", lambda: 2)
    server.local = True
    server.variables |= {"slave_parallel_threads": "20", "event_scheduler": "ON"}
    server.status |= {"Threads_running": "25", "Slaves_running": "1", "Slaves_connected": "1"}
    said = Watch(server).run()
    assert said.status == 0
    assert said.summary == "1 client connected, 1 thread at work"
    server.status["Threads_running"] = "40"
    said = Watch(server).run()
    assert said.status == 1
    assert said.summary.startswith("16 threads are at work besides 24 of the server's own (Threads_running)")


def test_threads_that_are_made_for_each_connection(server):
    server.variables["thread_cache_size"] = "8"
    counted = {"Threads_created": 1800, "Connections": 2000}
    server.status["Threads_connected"] = "2000"
    server.variables["max_connections"] = "5000"
    said = Watch(server, sets=["threads"]).after(MINUTE, **counted)
    assert said.status == 1
    assert said.summary.startswith(
        "30 threads/s created (Threads_created), for 90 % of the new connections: thread_cache_size is 8"
    )
    server.variables["thread_handling"] = "pool-of-threads"  # it makes and ends them as it likes
    assert Watch(server, sets=["threads"]).after(MINUTE, **counted).status == 0


def test_more_threads_at_work_than_processors(server, monkeypatch):
    server.variables["event_scheduler"] = "OFF"
    server.status |= {"Threads_running": "40", "Slaves_running": "0", "Slaves_connected": "0"}
    assert Watch(server, sets=["threads"]).run().status == 0  # how many processors it has is not known
    server.local = True
    monkeypatch.setattr("stallwatch.sources.host.processors", lambda: 8)
    said = Watch(server, sets=["threads"]).run()
    assert said.status == 1
    assert said.summary.startswith("40 threads are at work (Threads_running), for 8 processors")
    server.status["Threads_running"] = "8"
    monkeypatch.setattr("stallwatch.sources.host.processors", lambda: 2)
    assert Watch(server, sets=["threads"]).run().status == 0


@pytest.mark.parametrize(
    ("one", "counted", "sentence"),
    [
        ("innodb", {"Innodb_buffer_pool_wait_free": 600}, "10 waits/s for a free page"),
        ("innodb", {"Innodb_log_waits": 600}, "10 waits/s for the log buffer (Innodb_log_waits)"),
        (
            "temporary",
            {"Created_tmp_disk_tables": 1200, "Created_tmp_tables": 2400},
            "20 temporary tables/s on disk (Created_tmp_disk_tables), 50 % of all temporary tables",
        ),
        (
            "replication",
            {"Binlog_cache_disk_use": 1200, "Binlog_cache_use": 2400},
            "20 transactions/s written to the binary log through a file (Binlog_cache_disk_use), 50 % of all",
        ),
    ],
)  # fmt: skip
def test_other_limits_are_warnings(server, one, counted, sentence):
    watch = Watch(server, sets=[one])
    watch.run()
    for _ in range(4):
        server.later(MINUTE, **counted)
        said = watch.run()
        assert said.status == 1
    assert sentence in said.summary


@pytest.mark.parametrize(
    ("one", "counted"),
    [
        ("temporary", {"Created_tmp_disk_tables": 120, "Created_tmp_tables": 120}),  # as our own, but more
        ("temporary", {"Created_tmp_disk_tables": 1200, "Created_tmp_tables": 24_000}),
        ("replication", {"Binlog_cache_disk_use": 1200, "Binlog_cache_use": 240_000}),
        ("innodb", {"Innodb_buffer_pool_reads": 600_000, "Innodb_buffer_pool_read_requests": 700_000}),
    ],
)
def test_what_is_no_limit(server, one, counted):
    assert Watch(server, sets=[one]).after(MINUTE, **counted).status == 0


def test_semi_synchronous_replication_that_nobody_acknowledges(clock):
    server = CapturedMysql("MariaDB 10.11", clock=clock)
    said = Watch(server).after(MINUTE, Rpl_semi_sync_master_no_tx=6)
    assert said.status == 1
    assert "semi-synchronous replication has become asynchronous" in said.summary


def test_only_the_named_sets_are_judged(mysql):
    said = Watch(mysql, sets=["handlers"]).after(MINUTE, Innodb_log_waits=6000)
    assert said.status == 0


@pytest.mark.parametrize(
    "asked", [{"all": True}, {"include": ["Uptime"]}, {"crit": ["Threads_connected=500"]}]
)
def test_what_is_named_besides_switches_no_set_off(server, asked):
    watch = Watch(server)
    watch.run(**asked)
    for _ in range(3):
        server.later(MINUTE, Handler_read_rnd_next=120_000_000 * MINUTE)
        said = watch.run(**asked)
    assert said.status == 2


def test_no_set_is_judged_where_none_is_wanted(mysql):
    said = Watch(mysql, sets=["none"], all=True).after(MINUTE, Innodb_log_waits=6000)
    assert said.status == 0


def test_a_larger_cache_takes_more_files(server):
    server.variables |= {"table_open_cache": "400", "open_files_limit": "1024"}
    server.status |= {"Open_tables": "400", "Open_files": "860"}
    said = Watch(server, sets=["tables"]).after(MINUTE, Opened_tables=6000)
    assert "raise open_files_limit (1024) first, then table_open_cache, for example to 800" in said.summary


def test_temptable_has_a_size_of_its_own(mysql):
    mysql.variables |= {"tmp_table_size": str(64 << 20), "max_heap_table_size": str(16 << 20)}
    counted = {"Created_tmp_disk_tables": 6000, "Created_tmp_tables": 6000}
    said = Watch(mysql, sets=["temporary"]).after(MINUTE, **counted)
    assert "in memory they have tmp_table_size 64 MiB" in said.summary
    mysql.variables["internal_tmp_mem_storage_engine"] = "MEMORY"
    said = Watch(mysql, sets=["temporary"]).after(MINUTE, **counted)
    assert "in memory they have max_heap_table_size 16 MiB" in said.summary
