"""Every number of SHOW GLOBAL STATUS: rates, gauges, what is not known, and what was begun anew."""

import pytest
from captured_mysql import VERSIONS, CapturedMysql
from mysql_status import Watch
from stallwatch.probes.mysql.status import numbers
from stallwatch.probes.mysql_status.kinds import COUNTER, kind
from stallwatch.sources.mysql import NoAnswerError, UnreachableError


@pytest.fixture(params=VERSIONS)
def server(request, clock):
    return CapturedMysql(request.param, clock=clock)


@pytest.fixture
def mysql(clock):
    return CapturedMysql("MySQL 9.7", clock=clock)


def test_a_first_run_tells_gauges_and_says_when_there_will_be_rates(server):
    said = Watch(server, all=True).run()
    assert said.status == 0
    assert said.of("Threads_connected")["value"] == float(server.status["Threads_connected"])
    assert not said.has("Com_select")
    assert said.asides[1:] == [
        "db1:3306: no earlier look to compare with: rates are known from the next run on, or by --sample 5s"
    ]


def test_all_is_every_number_once_under_its_own_name(server):
    said = Watch(server, all=True).after(60, Com_select=120)
    unset = {name for name, value in server.status.items() if value == str(2**64 - 1)}
    assert sorted(said.names) == sorted(numbers(server.status).keys() - unset)
    assert said.of("Com_select")["value"] == 2
    assert said.of("Uptime")["value"] == float(server.status["Uptime"])
    assert said.status == 0


def test_perfdata_has_the_variables_own_names(mysql):
    watch = Watch(mysql, all=True)
    watch.run()
    mysql.later(60, Com_select=90)
    _, text = watch.text()
    perfdata = dict(one.split("=", 1) for one in text.splitlines()[0].partition(" | ")[2].split())
    assert len(perfdata) > 380
    assert perfdata["Com_select"] == "1.5"
    assert perfdata["Innodb_buffer_pool_bytes_data"].endswith("B")
    assert perfdata["option_tracker_usage_Binary_Log"] == "0"
    assert perfdata["Threads_running"] == "2"


def test_where_nothing_is_named_the_line_fits_into_1023_bytes(server):
    watch = Watch(server)
    watch.run()
    server.later(60, Com_select=120, Handler_read_rnd_next=123_456_789, Queries=7_654_321, Connections=1234)
    status, text = watch.text()
    assert status == 0
    assert len(text.splitlines()[0].encode()) <= 1023
    assert " | " in text


def test_include_and_exclude_are_about_whole_names(mysql):
    asked = {"include": ["Com_s.*", "Threads_.*"], "exclude": ["Com_show_.*"]}
    said = Watch(mysql, sets=["none"], **asked).after(60)
    assert {"Com_select", "Com_set_option", "Threads_running"} <= set(said.names)
    assert not [name for name in said.names if name.startswith("Com_show")]
    assert said.names == [name for name in said.names if name.startswith(("Com_s", "Threads_"))]


def test_what_is_excluded_is_neither_judged_nor_told(server):
    said = Watch(server, exclude=["Handler_read_rnd_next", "Threads_.*"]).after(
        60, Handler_read_rnd_next=20_000_000 * 60
    )
    assert said.status == 0
    assert not [name for name in said.names if name.startswith(("Handler_read_rnd", "Threads_"))]
    assert said.has("Connections")


def test_a_name_that_nothing_fits_is_told(server):
    said = Watch(server, include=["Treads_.*", "Uptime"]).run()
    assert said.status == 3
    assert "no number of SHOW GLOBAL STATUS has a name that fits --include Treads_.*" in said.summary
    assert said.has("Uptime")


def test_a_set_tells_its_numbers_and_only_those_of_this_version(server):
    said = Watch(server, sets=["tables"]).after(60)
    assert {"Open_tables", "Opened_tables", "Table_open_cache_hits"} <= set(said.names)
    assert "Threads_running" not in said.names


def test_an_unknown_name_is_told_as_it_is_and_refused_as_a_rate(mysql):
    mysql.status["Rocksdb_rows_read"] = "100"
    watch = Watch(mysql, include=["Rocksdb_.*"])
    said = watch.after(60, Rocksdb_rows_read=60)
    assert said.of("Rocksdb_rows_read")["value"] == 160
    said = watch.run(warn=["Rocksdb_rows_read=5"])
    assert said.status == 3
    assert (
        "Rocksdb_rows_read of db1:3306 (MySQL 9.7.4) is not judged: it is not known whether it counts up"
        in said.summary
    )
    assert "--counter Rocksdb_rows_read, or --gauge Rocksdb_rows_read" in said.summary


def test_the_user_may_say_what_it_is(mysql):
    mysql.status["Rocksdb_rows_read"] = "100"
    watch = Watch(mysql, kinds={"rocksdb_rows_read": "counter"})
    assert (
        watch.after(60, warn=["Rocksdb_rows_read=5"], Rocksdb_rows_read=60).of("Rocksdb_rows_read")["value"]
        == 1
    )
    said = watch.run(kinds={"rocksdb_rows_read": "gauge"}, warn=["Rocksdb_rows_read=5"])
    assert (said.status, said.of("Rocksdb_rows_read")["value"]) == (1, 160)


def test_what_is_known_stays_what_it_is(mysql):
    said = Watch(mysql, kinds={"com_select": "gauge"}, include=["Com_select"]).after(60, Com_select=60)
    assert said.of("Com_select")["value"] == 1


def test_after_flush_status_what_fell_and_what_may_have_is_not_told(mysql):
    mysql.status |= {"Key_reads": "500", "Created_tmp_files": "5"}
    watch = Watch(mysql, sets=["none"], include=["Key_reads", "Created_tmp_files", "Com_select"])
    watch.run()
    mysql.status |= {"Key_reads": "3", "Created_tmp_files": "9"}
    mysql.later(60, Com_select=60)
    said = watch.run()
    assert said.status == 0
    assert said.of("Com_select")["value"] == 1  # FLUSH STATUS only adds to it
    assert not said.has("Key_reads")
    assert not said.has("Created_tmp_files")  # 9 since FLUSH STATUS, not 4 since the last run
    assert said.asides[1:] == [
        "reset, as by FLUSH STATUS, so no rates this time: Created_tmp_files and Key_reads"
    ]


def test_a_server_that_tells_of_flush_status_is_believed(clock):
    server = CapturedMysql("MariaDB 10.11", clock=clock)
    server.status |= {"Aborted_clients": "3"}
    watch = Watch(server, include=["Aborted_clients"])
    watch.run()
    server.later(60, Aborted_clients=60)  # grown beyond what it was
    server.status["Uptime_since_flush_status"] = "50"
    said = watch.run()
    assert not said.has("Aborted_clients")
    assert (
        "reset, as by FLUSH STATUS, so no rates this time: Aborted_clients, Aborted_connects and "
        "Binlog_cache_disk_use" in said.asides
    )


def test_a_range_that_could_not_be_judged_is_unknown(mysql):
    mysql.status["Aborted_clients"] = "5"
    watch = Watch(mysql)
    assert watch.run(crit=["Aborted_clients=0.1"]).status == 0
    mysql.later(60)
    mysql.status["Aborted_clients"] = "0"
    said = watch.run(crit=["Aborted_clients=0.1"])
    assert said.status == 3
    assert said.summary.startswith("Aborted_clients is not judged this time: it was reset")


def test_after_a_restart_there_are_no_rates_and_no_alarm(server):
    watch = Watch(server, all=True)
    watch.run(warn=["Com_select=1"])
    server.status["Uptime"] = "5"
    said = watch.run(warn=["Com_select=1"])
    assert said.status == 0
    why = "it has restarted since the last look"
    assert said.asides[1:] == [f"db1:3306: {why}: rates are known from the next run on, or by --sample 5s"]
    assert not said.has("Com_select")


def test_runs_close_together_are_one(mysql):
    watch = Watch(mysql, include=["Com_select"])
    watch.after(30, Com_select=60)
    mysql.later(3, Com_select=300)
    assert watch.run().of("Com_select")["value"] == pytest.approx(360 / 33, rel=1e-4)


def test_an_answer_without_uptime_is_unknown(mysql):
    mysql.status = {}
    said = Watch(mysql).run()
    assert said.status == 3
    assert said.summary == "db1:3306 does not show its uptime: asked SHOW GLOBAL STATUS"


def test_a_server_that_hangs_up_is_unknown(mysql):
    mysql.failing["SHOW GLOBAL STATUS"] = UnreachableError("db1:3306 has hung up")
    said = Watch(mysql).run()
    assert (said.status, said.summary) == (3, "db1:3306 has hung up")


def test_settings_that_are_not_known_are_said_and_never_0(mysql):
    mysql.status["Threads_connected"] = "151"
    mysql.failing["SHOW GLOBAL VARIABLES"] = NoAnswerError("db1:3306 did not answer within 2 s")
    watch = Watch(mysql)
    said = watch.after(60, Opened_tables=6000)
    assert said.status == 3
    assert said.summary.endswith("as its settings are not known: db1:3306 did not answer within 2 s")
    assert said.of("Threads_connected")["why"].startswith("max_connections is not known")
    assert Watch(mysql, sets=["handlers"]).after(60, Opened_tables=6000).status == 0  # needs none


def test_settings_are_asked_last(mysql):
    mysql.asked.clear()
    Watch(mysql).run()
    assert [sql[:18] for sql in mysql.asked] == ["SHOW GLOBAL STATUS", "SHOW GLOBAL VARIAB"]


def test_memory_that_is_none_of_ours_is_a_first_run(mysql):
    for kept in ({"server": 5, "reference": [], "lasting": "x"}, {"server": {"uptime": "x"}}):
        watch = Watch(mysql)
        watch.memory = kept
        assert watch.run().status == 0


def test_a_table_tells_counters_and_gauges_with_v(mysql):
    asked = {"sets": ["none"], "include": ["Com_select", "Threads_connected"]}
    watch = Watch(mysql, everything=True, **asked)
    said = watch.after(60, Com_select=120)
    total = float(mysql.status["Com_select"])
    assert said.of("numbers")["table"] == [
        {"name": "Com_select", "kind": "counter", "value": total, "per_second": 2},
        {"name": "Threads_connected", "kind": "gauge", "value": 1, "per_second": None},
    ]
    _, text = watch.text("-v")
    assert "Threads_connected  gauge" in text


def test_every_counter_of_a_capture_gets_a_rate(server):
    counters = [name for name in numbers(server.status) if kind(name, server.flavour) == COUNTER]
    grow = {name: 600 for name in counters if server.status[name].isdecimal()}
    said = Watch(server, all=True).after(60, **grow)
    assert {said.of(name)["value"] for name in grow} == {10}


@pytest.mark.usefixtures("clock")
def test_help_where_no_time_is_left_for_a_sample(mysql):
    said = Watch(mysql, sample=1000.0)
    status, text = said.text("-t", "0.5s")
    assert status == 3
    assert "no time is left for a sample" in text
    assert "1 client connected" in text  # what was known until then


def test_a_sample_looks_twice_and_remembers_nothing(mysql, monkeypatch):
    def wait(seconds):
        mysql.later(int(seconds), Com_select=50)

    monkeypatch.setattr("stallwatch.history.delta.time.sleep", wait)
    watch = Watch(mysql, include=["Com_select"], sample=5.0)
    assert watch.run().of("Com_select")["value"] == 10
    assert "server" not in watch.memory
