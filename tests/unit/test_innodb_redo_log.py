"""What check_innodb_redo_log says of servers that were captured, from run to run."""

import ast
import json
import re

import pytest
from captured_mysql import VERSIONS, CapturedMysql, lines
from captured_runs import Runs, numbers
from stallwatch.probes.mysql import innodb
from stallwatch.probes.mysql.innodb import STATUS
from stallwatch.sources.mysql import MissingTableError, MysqlError, NoAnswerError, UnreachableError

MIB = 1 << 20
STALL = {  # bytes: what the captured servers tell, or were measured to have
    "MySQL 5.7": 24_813_735,
    "MySQL 8.0": 27_460_070,
    "MySQL 9.7": 27_460_070,
    "MariaDB 10.11": 26_461_349,
}
COUNTERS = {
    "MySQL 5.7": "buffer_flush_sync_waits",
    "MySQL 8.0": "log_on_file_space_waits",
    "MySQL 9.7": "log_on_file_space_waits",
    "MariaDB 10.11": "buffer_flush_sync",
}
ENABLED_WITH = {**COUNTERS, "MariaDB 10.11": "buffer_flush_sync%"}
STANDS = "the redo log is as full as it may be in"


class Filling(CapturedMysql):
    """Gives its ages one after the other, as bytes since the last checkpoint; the last one lasts."""

    def __init__(self, version):
        super().__init__(version)
        self.version = version
        self.ages = [9000]
        if version == "MariaDB 10.11":
            for name in ("buffer_flush_sync", "buffer_flush_sync_total_pages"):
                self.metrics[name] = self.disabled.pop(name)

    def disable(self, *names):
        """Let it count none of these, as by default."""
        for name in names:
            self.disabled[name] = self.metrics.pop(name)

    def percent(self, *fills):
        """Let it be so full, in per cent of the stall point."""
        self.ages = [round(fill / 100 * STALL[self.version]) for fill in fills]

    def rows(self, sql, *values, within=None):
        if "SHOW GLOBAL STATUS" in sql:
            self._is_so_old(self.ages.pop(0) if len(self.ages) > 1 else self.ages[0])
        return super().rows(sql, *values, within=within)

    def _is_so_old(self, age):
        if "Innodb_checkpoint_age" in self.status:
            self.status["Innodb_checkpoint_age"] = str(age)
        elif "Innodb_redo_log_current_lsn" in self.status:
            current = int(self.status["Innodb_redo_log_current_lsn"])
            self.status["Innodb_redo_log_checkpoint_lsn"] = str(current - age)
        elif "log_lsn_checkpoint_age" in self.metrics:
            self.metrics["log_lsn_checkpoint_age"] = str(age)
        else:
            for said, lsn in (
                ("Log sequence number", 5_000_000_000),
                ("Last checkpoint at", 5_000_000_000 - age),
            ):
                self.innodb_status = re.sub(rf"{said}\s+\d+", f"{said} {lsn}", self.innodb_status)

    @property
    def written(self):
        """The name of the counter of bytes."""
        names = ("Innodb_redo_log_current_lsn", "Innodb_lsn_current", "Innodb_os_log_written")
        return next(name for name in names if name in self.status)


@pytest.fixture(params=VERSIONS)
def server(request):
    return Filling(request.param)


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_innodb_redo_log", tmp_path, monkeypatch)


def test_an_idle_server_is_ok_and_told_in_one_glance(look, server):
    status, first = look(server)
    assert status == 0
    assert "first look: what is written is known from the next run on, or by --sample" in first
    status, text = look(server, **{server.written: 60 * MIB})
    assert status == 0
    headline = text.splitlines()[0]
    assert headline.startswith("INNODB_REDO_LOG OK - redo log at most 0 % of the stall point in 5 samples,")
    assert "below the async point, 1010.5 KiB/s fill it in 2" in headline
    assert ", no writer waited | redo_log=0%;95 waits=0;;0 checkpoint_age=9000B " in headline
    rate = 60 * MIB / 60.8  # the five samples take 0.8 s
    assert float(numbers(text)["redo_written_per_s"].rstrip("B")) == pytest.approx(rate, abs=1)
    assert float(numbers(text)["redo_time"].rstrip("s")) == pytest.approx(STALL[server.version] / rate, abs=1)
    assert numbers(text)["waits"] == "0"
    assert text.count("\n") == 0


def test_the_highest_of_five_samples_counts(look, server):
    server.percent(12, 30, 96, 16, 20)
    status, text = look(server)
    assert status == 1
    assert "WARNING - redo log at most 96 % of the stall point in 5 samples" in text
    assert " MiB are not yet checkpointed" in text
    server.percent(12, 30, 94, 16, 20)
    assert look(server)[0] == 0


@pytest.mark.parametrize(
    ("version", "fill"), [("MySQL 5.7", 93.4), ("MySQL 9.7", 94.4), ("MariaDB 10.11", 87.6)]
)
def test_the_async_point_is_told_in_words(look, version, fill):
    """Bytes: log_max_modified_age_async of 5.7.42 and 9.7.4, 7/8 of Innodb_checkpoint_max_age."""
    server = Filling(version)
    server.percent(fill)
    assert "beyond the async point, aggressive flushing" in look(server)[1]
    server.percent(fill - 0.2)
    assert "below the async point, 0 B/s written" in look(server)[1]


@pytest.mark.parametrize(("version", "fill"), [("MySQL 9.7", 94.4), ("MariaDB 10.11", 91.8)])
def test_a_log_that_stays_beyond_the_async_point_is_a_warning_and_a_peak_is_none(look, version, fill):
    server = Filling(version)
    server.percent(fill)
    status, text = look(server)
    assert (status, "beyond the async point, aggressive flushing" in text) == (1, True)
    assert f"redo_log={fill}%;95 " in text
    assert look(server, "-c", "98")[0] == 1
    assert look(server, "-w", "98")[0] == look(server, "-w", "95")[0] == 0
    server.percent(fill, fill, 40, fill, fill)
    status, text = look(server)
    assert (status, f"redo_log={fill}%;95 " in text) == (0, True)


def test_writers_that_waited_are_critical_however_empty_the_log_is_now(look, server):
    look(server)
    status, text = look(server, **{server.written: 600 * MIB, COUNTERS[server.version]: 204})
    assert status == 2
    assert "204" in text.partition(" in 1 min 1 s, ")[0]
    assert "  redo log at most 0 % of the stall point" in text
    assert "enlarge the redo log (innodb_" in text
    assert "/s fill it in " in text
    assert numbers(text)["waits"] == "204"
    assert look(server)[0] == 0


def test_how_many_waits_are_critical_is_the_user_s_choice(look, server):
    counted = {server.written: 60 * MIB, COUNTERS[server.version]: 50}
    for options, expected in (
        (("--waits-critical", "100", "--waits-warning", "0"), 1),
        (("--waits-critical", "~:"), 0),
    ):
        look(server, *options)
        assert look(server, *options, **counted)[0] == expected


def test_a_log_that_holds_an_hour_is_not_to_be_enlarged(look):
    server = Filling("MySQL 9.7")
    look(server)
    _, text = look(server, log_on_file_space_waits=3, Innodb_redo_log_current_lsn=1000)
    assert "it holds an hour of writes: see why pages are flushed so slowly" in text
    assert "SET GLOBAL" not in text


def test_the_advice_names_what_the_version_has(look):
    for version, advice in (
        ("MySQL 5.7", "(innodb_log_file_size, now 2 files of 16 MiB), or write less at once"),
        ("MySQL 9.7", "(innodb_redo_log_capacity, now 32 MiB), or write less at once"),
        ("MariaDB 10.11", "(innodb_log_file_size, now 32 MiB), or write less at once"),
    ):
        server = Filling(version)
        server.percent(97)
        assert f"enlarge the redo log {advice}" in look(server)[1]


def test_no_size_is_reckoned_from_a_burst(look):
    """A command to SET it to what a minute of much would make in an hour may fill the disk."""
    server = Filling("MySQL 9.7")
    look(server)
    _, text = look(server, Innodb_redo_log_current_lsn=6000 * MIB, log_on_file_space_waits=3)
    assert "98.7 MiB/s fill it in 300 ms" in text
    assert "SET GLOBAL" not in text
    assert numbers(text)["redo_time"] == "0.3s"


def test_where_no_metric_is_enabled_it_says_which_to_enable(look, server):
    server.disable(COUNTERS[server.version])
    look(server)
    status, text = look(server)
    assert status == 0
    assert "waits=" not in text
    enable = f"SET GLOBAL innodb_monitor_enable = '{ENABLED_WITH[server.version]}', and in my.cnf"
    assert f"whether writers waited between two runs is not counted: {enable}" in text


def test_mariadb_counts_only_if_its_second_metric_is_enabled_too(look):
    server = Filling("MariaDB 10.11")
    server.disable("buffer_flush_sync_total_pages")
    look(server)
    status, text = look(server, buffer_flush_sync=3)
    assert (status, "is not counted" in text) == (0, True)


def test_without_a_metric_a_log_that_stands_at_the_stall_point_twice_is_critical(look, server):
    server.disable(COUNTERS[server.version])
    server.percent(80, 99.6, 99.7, 70, 99.5)
    status, text = look(server)
    assert status == 1
    assert f"WARNING - {STANDS} 3 of 5 samples: writers wait - " in text
    assert "  redo log at most 99.7 %" in text
    assert "waits=" not in text
    assert look(server, after=5)[0] == 1  # the same look again
    status, text = look(server)
    assert status == 2
    assert f"CRITICAL - {STANDS} 5 of 5 samples: writers wait, as at the last look" in text
    server.percent(70)
    assert look(server)[0] == 0
    server.percent(99.6)
    assert look(server)[0] == 1


def test_a_metric_outranks_where_the_log_stood(look, server):
    look(server)
    server.percent(99.6)
    status, text = look(server)
    assert status == 1
    assert STANDS not in text
    assert "at most 99.6 % of the stall point" in text


def test_a_log_that_writers_waited_for_was_full(look):
    """9.7.4 with 32 MiB, looked at every second: at most 81.6 % of the capacity, and 128 waits."""
    rows = [
        (int(age), ast.literal_eval(metrics)["log_on_file_space_waits"])
        for age, metrics in re.findall(r"age=(\d+) .* m=(\{.*\})", "\n".join(lines("my97_redofill.txt")))
    ]
    server = Filling("MySQL 9.7")
    server.metrics["log_on_file_space_waits"] = rows[0][1]
    look(server)
    server.ages = [age for age, _ in rows[:5]]
    status, text = look(server, log_on_file_space_waits=rows[-1][1] - rows[0][1])
    assert status == 2
    assert "CRITICAL - writers waited 128 times for space in the redo log in 1 min" in text
    assert "at most 99.8 % of the stall point in 5 samples, beyond the async point" in text
    assert max(age for age, _ in rows) / (32 * MIB) == pytest.approx(0.816, abs=0.001)


def test_the_async_point_of_mysql_9_7():
    """log_max_modified_age_async of 9.7.2 and 9.7.4."""
    numbers = {"Innodb_redo_log_current_lsn": 5e9, "Innodb_redo_log_checkpoint_lsn": 5e9}
    found = innodb.redo({**numbers, "Innodb_redo_log_capacity_resized": 32 * MIB}, {})
    assert found.async_point == pytest.approx(25_899_520, rel=1e-4)
    assert found.async_point / (32 * MIB) == pytest.approx(0.772, abs=0.001)
    assert found.stall / (32 * MIB) == pytest.approx(0.818, abs=0.001)


def test_of_a_tiny_log_writers_wait_before_the_async_point():
    """9.7.2 with 8 MiB: they stood at 99.6 % of 6 238 399 bytes, log_max_modified_age_async is 6 352 896."""
    numbers = {"Innodb_redo_log_current_lsn": 5e9, "Innodb_redo_log_checkpoint_lsn": 5e9 - 6_213_167}
    found = innodb.redo({**numbers, "Innodb_redo_log_capacity_resized": 8 * MIB}, {})
    assert found.async_point == found.stall == pytest.approx(6_238_399, abs=1)
    assert found.fill == pytest.approx(99.6, abs=0.05)


# MySQL 5.7 to 8.0.29


@pytest.fixture
def old():
    return Filling("MySQL 5.7")


def test_the_text_of_the_status_tells_it_if_the_metric_does_not(look, old):
    old.disable("log_lsn_checkpoint_age")
    old.percent(30, 97, 20, 10, 10)
    status, text = look(old)
    assert status == 1
    assert "at most 97 % of the stall point in 2 samples" in text
    assert sum("SHOW ENGINE INNODB STATUS" in one for one in old.asked) == 2


@pytest.mark.parametrize("earlier", [False, True])
def test_a_text_that_hangs_is_why_it_is_not_told_and_asked_once(look, old, monkeypatch, earlier):
    old.disable("log_lsn_checkpoint_age")
    plain = old.rows

    def rows(sql, *values, within=None):
        if "SHOW ENGINE" in sql:
            old.asked.append(sql)
            look.sleep(within)
            raise NoAnswerError(f"db1:3306 did not answer within {within} s")
        return plain(sql, *values, within=within)

    if earlier:
        old.processes = [{"Id": 7, "Command": "Query", "Time": 130, "Info": STATUS.sql}]
    look(old, "-t", "60s")
    old.asked.clear()
    monkeypatch.setattr(old, "rows", rows)
    status, text = look(old, **{old.written: 60 * MIB, COUNTERS["MySQL 5.7"]: 3})
    assert status == 2
    assert "CRITICAL - writers waited 3 times for space in the redo log" in text
    assert "it is not known how full the redo log is: " in text
    assert ("of ours hangs for 2 min 10 s" if earlier else "takes longer than 2 s") in text
    assert "SET GLOBAL innodb_monitor_enable = 'log_lsn_checkpoint_age'" in text
    assert sum("SHOW ENGINE" in one for one in old.asked) == (0 if earlier else 1)
    status, text = look(old, **{old.written: 60 * MIB})
    assert status == 3
    assert "no writer waited" not in text.splitlines()[0]


def test_the_metric_spares_the_text(look, old):
    assert look(old)[0] == 0
    assert not any("SHOW ENGINE" in one for one in old.asked)


def test_without_process_it_is_unknown_and_names_the_grant(look, old):
    old.denied = {"INNODB_METRICS": "PROCESS", "SHOW ENGINE": "PROCESS"}
    status, text = look(old)
    assert status == 3
    assert "does not show how full its redo log is: only accounts with PROCESS see it" in text
    assert "GRANT PROCESS" in text


def test_an_account_of_one_connection_is_unknown(look, old, monkeypatch):
    old.disable("log_lsn_checkpoint_age")

    def full():
        raise UnreachableError("db1:3306 has no connection left for us (error 1226)")

    monkeypatch.setattr(old, "again", full)
    status, text = look(old)
    assert status == 3
    assert "it is not known how full the redo log is: db1:3306 has no connection left for us" in text


# what goes wrong


def lose(server, monkeypatch, part, error, after=0):
    """Let statements with such a part fail, but for so many."""
    plain, seen = server.rows, []

    def rows(sql, *values, within=None):
        if part in sql:
            seen.append(sql)
            if len(seen) > after:
                raise error
        return plain(sql, *values, within=within)

    monkeypatch.setattr(server, "rows", rows)


LOST = [NoAnswerError("db1:3306 did not answer within 2 s"), MysqlError("db1:3306 says: interrupted")]


@pytest.mark.parametrize("error", LOST)
def test_waits_that_could_not_be_asked_are_unknown_and_told_by_the_next_run(look, monkeypatch, error):
    server = Filling("MySQL 9.7")
    look(server)
    with monkeypatch.context() as failing:
        lose(server, failing, "INNODB_METRICS", error)
        status, text = look(server, log_on_file_space_waits=180)
    assert status == 3
    assert f"UNKNOWN - {error.what}" in text
    assert "redo_log=0%" in text
    assert "is not counted" not in text
    status, text = look(server)
    assert status == 2
    assert "writers waited 180 times for space in the redo log in 2 min" in text


@pytest.mark.parametrize("error", LOST)
@pytest.mark.parametrize("sampled", [False, True])
def test_samples_before_one_that_is_lost_are_judged(look, monkeypatch, error, sampled):
    server = Filling("MySQL 9.7")
    look(server)
    server.percent(99.7)
    lose(server, monkeypatch, "SHOW GLOBAL STATUS", error, after=7 if sampled else 3)
    options, count = (("--sample", "2s"), 7) if sampled else ((), 3)
    status, text = look(server, *options, state=not sampled)
    assert status == 1
    assert f"WARNING - {STANDS} {count} of {count} samples: writers wait" in text
    assert error.what in text


@pytest.mark.parametrize("part", ["SHOW GLOBAL STATUS", "SHOW GLOBAL VARIABLES"])
def test_what_failed_is_told_as_it_is(look, server, part):
    server.failing = {part: MysqlError("db1:3306 says: max_queries_per_hour")}
    status, text = look(server)
    assert status == 3
    assert text.startswith("INNODB_REDO_LOG UNKNOWN - db1:3306 says: max_queries_per_hour")


def test_a_server_without_the_table_of_metrics_does_not_count(look):
    server = Filling("MariaDB 10.11")
    server.failing = {"INNODB_METRICS": MissingTableError("no such table")}
    status, text = look(server)
    assert (status, "is not counted" in text) == (0, True)


def test_two_services_do_not_take_each_other_s_waits(look):
    server = Filling("MySQL 9.7")
    other = ("--redo-time-warning", "1:")
    look(server)
    look(server, *other)
    for _ in range(3):
        assert look(server, after=30, log_on_file_space_waits=50)[0] == 2
        assert look(server, *other, after=30)[0] == 2


def test_a_damaged_memory_is_a_first_look(look, server, tmp_path):
    look(server)
    (path,) = (tmp_path / "state").glob("*.json")
    kept = json.loads(path.read_text())
    kept["values"]["look"] = []
    path.write_text(json.dumps(kept))
    assert "first look: " in look(server)[1]


def test_threads_that_may_write_at_once_move_the_stall_point(look):
    """Of 32 MiB with innodb_thread_concurrency 64, writers waited at 84.7 % of what is so by default."""
    server = Filling("MySQL 9.7")
    server.variables["innodb_thread_concurrency"] = "64"
    server.ages = [23_266_304]
    status, text = look(server)
    assert status == 1
    assert "at most 100 % of the stall point in 5 samples, which comes before the async point" in text


def test_a_checkpoint_that_was_ordered_is_no_wait(look):
    """MariaDB 10.11.19 counts a sync flush for SET GLOBAL innodb_log_checkpoint_now even if idle."""
    server = Filling("MariaDB 10.11")
    look(server)
    status, text = look(server, Innodb_lsn_current=20, buffer_flush_sync=1)
    assert status == 0
    assert ", no writer waited | " in text
    assert "a checkpoint was ordered, no writer waited for it" in text
    assert numbers(text)["waits"] == "0"


def test_a_log_that_was_nearly_full_at_the_last_look_may_have_been_waited_for(look):
    server = Filling("MariaDB 10.11")
    server.percent(80)
    look(server)
    server.percent(5)
    status, text = look(server, Innodb_lsn_current=4 * MIB, buffer_flush_sync=2)
    assert status == 2
    assert "CRITICAL - 2 sync flushes made writers wait for space in the redo log in" in text


@pytest.mark.parametrize("version", ["MySQL 8.0", "MySQL 9.7", "MariaDB 10.11"])
def test_without_process_all_is_told_but_the_waits(look, version):
    server = Filling(version)
    server.denied = {"INNODB_METRICS": "PROCESS"}
    look(server)
    status, text = look(server)
    assert status == 0
    assert "redo log at most 0 % of the stall point" in text
    assert "whether writers waited between two runs is not counted: it needs PROCESS" in text


def test_a_server_that_began_anew_has_no_rate(look, server):
    look(server)
    server.status["Uptime"] = "5"
    status, text = look(server, after=1)
    assert status == 0
    assert "it has restarted since the last look: what is written is known from the next run on" in text
    assert "redo_written_per_s" not in text


def test_a_count_of_waits_that_began_anew_is_not_taken_for_none(look):
    server = Filling("MySQL 9.7")
    server.metrics["log_on_file_space_waits"] = "50"
    look(server)
    server.metrics["log_on_file_space_waits"] = "3"
    status, text = look(server)
    assert status == 0
    assert "the count of waits was reset or switched on since the last look" in text
    assert "waits=" not in text


def test_waits_for_the_log_buffer_are_another_thing(look, server):
    look(server)
    status, text = look(server, Innodb_log_waits=7)
    assert status == 0
    assert "writers waited 7 times for the log buffer (Innodb_log_waits), not for the redo log" in text


def test_a_server_without_a_redo_log_is_told(look):
    server = Filling("MySQL 9.7")
    server.status["Innodb_redo_log_enabled"] = "OFF"
    status, text = look(server)
    assert status == 1
    assert "the redo log is switched off: after a crash, all data of this server are lost" in text


def test_a_sample_needs_no_last_run(look, server):
    status, text = look(server, "--sample", "2s", "--no-state", state=False)
    assert status == 0
    assert "in 10 samples" in text
    assert "redo_written_per_s=0B" in text


def test_a_server_that_does_not_answer_is_unknown(look, server):
    server.failing = {"SHOW GLOBAL STATUS": NoAnswerError("db1:3306 did not answer within 2 s")}
    assert look(server)[0] == 3
    assert look(server, "--unreachable", "critical")[0] == 2


@pytest.mark.parametrize("lost", ["Uptime", "Innodb_checkpoint_max_age"])
def test_a_server_that_tells_nothing_is_unknown(look, lost):
    server = Filling("MariaDB 10.11")
    server.status = {} if lost == "Uptime" else {**server.status, lost: "0"}
    server.innodb_status = "no section LOG"
    status, text = look(server)
    assert status == 3
    assert text.startswith("INNODB_REDO_LOG UNKNOWN - db1:3306 ")


def test_json_and_human_say_the_same(look, server):
    server.percent(96)
    status, text = look(server, "--output", "json")
    told = json.loads(text)
    assert (status, told["state"]) == (1, "WARNING")
    assert told["findings"][0]["name"] == "redo_log"
    status, text = look(server, "--output", "human")
    assert (status, text.splitlines()[0]) == (1, "innodb_redo_log is WARNING")
