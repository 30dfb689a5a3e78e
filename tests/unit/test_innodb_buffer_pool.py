"""What check_innodb_buffer_pool says of servers that were captured, from run to run."""

import json

import pytest
from captured_mysql import VERSIONS, CapturedMysql, lines
from captured_runs import Runs, numbers
from stallwatch.probes.innodb_buffer_pool.messages import LESSON
from stallwatch.sources.mysql import MysqlError, NoAnswerError, NoTimeError, UnreachableError

REQUESTS, READS = "Innodb_buffer_pool_read_requests", "Innodb_buffer_pool_reads"
STATUS = "SHOW ENGINE INNODB STATUS"


@pytest.fixture(params=VERSIONS)
def server(request):
    return CapturedMysql(request.param)


@pytest.fixture
def mysql_9_7():
    return CapturedMysql("MySQL 9.7")


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_innodb_buffer_pool", tmp_path, monkeypatch)


@pytest.fixture
def warm(look):
    """Let a server be up for long, and have been looked at once."""

    def looked(server, *options):
        server.status["Uptime"] = "500000"
        assert look(server, *options)[0] == 0
        return server

    return looked


def test_a_first_look_tells_what_there_is_now(look, server):
    status, text = look(server)
    assert status == 0
    assert text.startswith("INNODB_BUFFER_POOL OK - ")
    assert " MiB free, " in text
    assert "first look: the miss ratio is known from the next run on, or by --sample" in text
    assert {"pages_free", "dirty", "pool_size", "innodb_status"} == set(numbers(text))


def test_the_miss_ratio_is_that_of_the_interval(look, warm, server):
    status, text = look(warm(server), **{REQUESTS: 60_000, READS: 600})
    assert status == 0
    assert "OK - 1 % of page requests missed the pool in 1 min, 10 of 1000 pages/s, " in text
    assert numbers(text)["miss_ratio"] == "1%"
    assert numbers(text)["reads_per_s"] == "10"
    status, text = look(server, "-v", **{REQUESTS: 60_000, READS: 30_000})
    assert status == 0  # evidence, and no alarm: there is no limit by default
    assert "50 % of page requests missed" in text
    assert "Innodb_buffer_pool_reads " in text


def test_the_advice_is_a_hypothesis_and_no_remedy(look, warm, server):
    """The article: 6 GB were slower than 2 GB, and 750 MB the best."""
    _, text = look(warm(server, "-w", "1%"), "-w", "1%", **{REQUESTS: 60_000, READS: 6000})
    assert LESSON in text
    assert "hypothesis to test, not a remedy" in text
    assert "750 MB has been faster than 6 GB" in text


def test_one_interval_confirms_nothing(look, warm, server):
    options, counted = ("-w", "1%", "-c", "5%"), {REQUESTS: 60_000, READS: 6000}
    warm(server, *options)
    status, text = look(server, *options, **counted)
    assert status == 1
    assert "critical if it lasts" in text
    assert look(server, *options, after=5)[0] == 1  # the same look again
    status, text = look(server, *options, **counted)
    assert status == 2
    assert "critical if it lasts" not in text
    assert look(server, *options, **{REQUESTS: 60_000})[0] == 0
    assert look(server, *options, **counted)[0] == 1


def test_a_cold_pool_is_a_warning_at_most(look, server):
    server.status["Uptime"] = "300"
    options, counted = ("-c", "5%"), {REQUESTS: 60_000, READS: 6000}
    for _ in range(24):  # a minute each
        status, _ = look(server, *options, **counted)
    assert status == 1
    assert look(server, *options, **counted)[0] == 2


def test_few_requests_are_no_ratio(look, warm, server):
    status, text = look(warm(server, "-c", "1%"), "-c", "1%", **{REQUESTS: 900, READS: 900})
    assert status == 0
    assert "too few page requests for a miss ratio: 900 in 1 min, 1000 are needed" in text
    assert "miss_ratio" not in numbers(text)
    few = ("-c", "1%", "--min-requests", "100")
    assert look(warm(server, *few), *few, **{REQUESTS: 900, READS: 900})[0] == 1


def test_reads_of_more_than_was_requested_are_all(look, warm, server):
    assert numbers(look(warm(server), **{REQUESTS: 1000, READS: 1500})[1])["miss_ratio"] == "100%"


def test_waits_for_a_free_page_are_a_warning(look, warm, server):
    status, text = look(warm(server), **{REQUESTS: 60_000, "Innodb_buffer_pool_wait_free": 6})
    assert status == 1
    assert "WARNING - 6 waits for a free page within 1 min, " in text
    assert LESSON in text
    assert look(server, **{REQUESTS: 60_000})[0] == 0


def test_waits_of_a_dirty_pool_speak_for_the_disk(look, warm, server):
    total = int(server.status["Innodb_buffer_pool_pages_total"])
    server.status |= {
        "Innodb_buffer_pool_pages_data": str(total - 10),
        "Innodb_buffer_pool_pages_free": "10",
        "Innodb_buffer_pool_pages_dirty": str(total // 2),
    }
    _, text = look(warm(server), Innodb_buffer_pool_wait_free=6)
    assert "check the disk (iostat -kx 1) and innodb_io_capacity: pages are not written fast enough" in text
    assert LESSON not in text


@pytest.mark.parametrize(("version", "limit"), [("MySQL 5.7", 75), ("MySQL 9.7", 90)])
def test_too_many_dirty_pages_are_those_the_server_does_not_want(look, version, limit):
    server = CapturedMysql(version)
    server.status |= {
        "Innodb_buffer_pool_pages_total": "1000",
        "Innodb_buffer_pool_pages_data": "990",
        "Innodb_buffer_pool_pages_free": "10",
        "Innodb_buffer_pool_pages_dirty": str(10 * limit),
    }
    status, text = look(server)
    assert status == 0
    assert f" dirty={limit}%;{limit} " in text
    server.status["Innodb_buffer_pool_pages_dirty"] = str(10 * limit + 1)
    status, text = look(server)
    assert status == 1
    assert f"{limit}.1 % of the pages are dirty, innodb_max_dirty_pages_pct is {limit} %" in text
    assert look(server, "--dirty-warning", "95%")[0] == 0


def test_a_server_that_is_to_be_clean_is_not_wrong(look, mysql_9_7):
    mysql_9_7.variables["innodb_max_dirty_pages_pct"] = "0.000000"  # as before a shutdown
    mysql_9_7.status["Innodb_buffer_pool_pages_dirty"] = "50"
    assert look(mysql_9_7)[0] == 0


def test_few_free_pages_are_wrong_for_whom_they_are(look, mysql_9_7):
    mysql_9_7.status["Innodb_buffer_pool_pages_free"] = "3"
    assert look(mysql_9_7)[0] == 0
    assert look(mysql_9_7, "--pages-free-warning", "100:")[0] == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "load",
            "Loading buffer pool(s) from /var/lib/mysql/ib_buffer_pool",
            "buffer pool load is under way",
        ),
        ("load", "Loaded 1201/8192 pages", "buffer pool load 15 % is under way"),
        ("dump", "Dumping buffer pool 1/8, page 400/1000", "buffer pool dump 5 % is under way"),
    ],
)
def test_a_dump_or_load_is_told_and_wrong_to_nobody(look, server, name, text, said):
    server.status[f"Innodb_buffer_pool_{name}_status"] = text
    status, output = look(server)
    assert status == 0
    assert said in output
    assert ("SET GLOBAL innodb_buffer_pool_load_abort = ON ends it" in output) == (name == "load")


def test_captured_texts_of_what_is_over_are_not_under_way(look, mysql_9_7):
    captured = [line.split("\t") for line in lines("bufferpool_dump_texts.txt") if line.count("\t") == 1]
    assert len(captured) > 10
    for name, text in captured:
        if name.endswith(("dump_status", "load_status")):
            mysql_9_7.status[name] = text
            assert "under way" not in look(mysql_9_7)[1]


def test_mariadb_tells_that_a_load_was_given_up(look):
    server = CapturedMysql("MariaDB 10.11")
    server.status["Innodb_buffer_pool_load_incomplete"] = "ON"
    assert "the last load of the buffer pool is incomplete" in look(server)[1]
    server.status["Innodb_buffer_pool_load_status"] = "Loaded 1201/8192 pages"
    assert "incomplete" not in look(server)[1]


@pytest.mark.parametrize("name", ["innodb_auto_lru_dump", "innodb_buffer_pool_restore_at_startup"])
def test_the_dumps_of_old_percona_servers_are_flagged(look, name):
    server = CapturedMysql("MySQL 5.7")
    server.variables[name] = "1"
    status, text = look(server)
    assert status == 1
    assert f"WARNING - {name} is on: the LRU list is dumped again and again" in text
    assert f"SET GLOBAL {name} = 0" in text
    server.variables[name] = "0"
    assert look(server)[0] == 0


# SHOW ENGINE INNODB STATUS


def slow(server, look, monkeypatch, seconds, error=None):
    """Let the status take so long."""
    plain = server.rows

    def rows(sql, *values, within=None):
        if STATUS in sql:
            look.sleep(seconds)
            if error:
                raise error
        return plain(sql, *values, within=within)

    monkeypatch.setattr(server, "rows", rows)


@pytest.mark.parametrize(("seconds", "expected"), [(0.3, 0), (2, 1)])
def test_the_time_that_the_status_takes_is_judged(look, server, monkeypatch, seconds, expected):
    slow(server, look, monkeypatch, seconds)
    status, text = look(server)
    assert status == expected
    assert f"{STATUS} takes " in look(server, "-v")[1]
    assert float(numbers(text)["innodb_status"].rstrip("s")) == pytest.approx(seconds, abs=0.01)


def test_a_hanging_status_loses_nothing_else(look, warm, mysql_9_7, monkeypatch):
    warm(mysql_9_7)
    slow(mysql_9_7, look, monkeypatch, 7, NoAnswerError("db1:3306 did not answer within 7 s"))
    status, text = look(mysql_9_7, **{REQUESTS: 60_000, READS: 600})
    assert status == 1
    assert f"WARNING - {STATUS} takes longer than 7 s - InnoDB's own locks are contended" in text
    assert numbers(text)["miss_ratio"] == "1%"


def test_a_server_of_which_nothing_else_can_be_asked_in_time_has_not_answered(look, mysql_9_7, monkeypatch):
    what = f"db1:3306 has not answered within 7 s: asked {STATUS}"
    slow(mysql_9_7, look, monkeypatch, 7, NoAnswerError(what))
    mysql_9_7.failing = {"SELECT 1": NoTimeError("no time was left to ask db1:3306: SELECT 1")}
    status, text = look(mysql_9_7)
    assert status == 3
    assert f"UNKNOWN - {what} |" in text


def test_one_that_still_hangs_is_critical_and_not_asked_again(look, mysql_9_7):
    mysql_9_7.processes = [
        {"Id": 77, "User": "mon", "Host": "localhost", "Command": "Query", "Time": 130,
         "State": "starting", "Info": f"/* stallwatch */ {STATUS}"},
    ]  # fmt: skip
    status, text = look(mysql_9_7)
    assert status == 2
    assert f"CRITICAL - an earlier {STATUS} of ours hangs for 2 min 10 s, connection 77" in text
    assert not any(sql.startswith("/* stallwatch */") for sql in mysql_9_7.asked)
    assert look(mysql_9_7, "--innodb-status-critical", "1h")[0] == 1


def test_without_process_the_status_is_not_timed(look, server):
    server.denied = {STATUS: "PROCESS"}
    status, text = look(server)
    assert status == 0
    assert f"how long {STATUS} takes is not known: it needs PROCESS" in text


def test_an_account_of_one_connection_is_told_the_rest(look, server, monkeypatch):
    def full():
        raise UnreachableError("db1:3306 has no connection left for us", number=1226)

    monkeypatch.setattr(server, "again", full)
    status, text = look(server)
    assert status == 0
    assert f"{STATUS} was not asked: db1:3306 has no connection left for us" in text


@pytest.mark.parametrize("number", [0, 1040])
def test_a_log_in_that_hangs_or_is_refused_is_the_finding(look, mysql_9_7, monkeypatch, number):
    def refused():
        raise UnreachableError("db1:3306 sends no greeting within 8 s", number=number)

    monkeypatch.setattr(mysql_9_7, "again", refused)
    status, text = look(mysql_9_7)
    assert status == 3
    assert "UNKNOWN - db1:3306 sends no greeting within 8 s" in text
    assert "pages_free" in numbers(text)
    assert look(mysql_9_7, "--unreachable", "critical")[0] == 2


@pytest.mark.parametrize("part", ["SHOW PROCESSLIST", "SHOW ENGINE"])
def test_a_status_that_could_not_be_asked_is_unknown(look, mysql_9_7, part):
    mysql_9_7.failing = {part: MysqlError(f"db1:3306 says: error 1317: asked {part}")}
    status, text = look(mysql_9_7)
    assert status == 3
    assert f"UNKNOWN - db1:3306 says: error 1317: asked {part}" in text
    assert "innodb_status" not in numbers(text)


def test_a_sample_leaves_time_for_the_status(look, mysql_9_7):
    status, text = look(mysql_9_7, "--sample", "5s", state=False)
    assert (status, "innodb_status" in numbers(text)) == (0, True)


def test_no_time_for_the_status_is_unknown(look, mysql_9_7, monkeypatch):
    plain = mysql_9_7.rows

    def rows(sql, *values, within=None):
        if "VARIABLES" in sql:
            look.sleep(7)
        return plain(sql, *values, within=within)

    monkeypatch.setattr(mysql_9_7, "rows", rows)
    status, text = look(mysql_9_7)
    assert status == 3
    assert f"no time was left to ask db1:3306 {STATUS}, this check had 1 s of 8 s left - give it" in text


def test_one_of_somebody_else_that_hangs_is_critical_and_not_asked_again(look, mysql_9_7):
    mysql_9_7.processes = [
        {"Id": 77, "User": "pmm", "Host": "localhost", "Command": "Query", "Time": 130, "Info": STATUS}
    ]
    status, text = look(mysql_9_7)
    assert status == 2
    assert f"an earlier {STATUS} of the user pmm hangs for 2 min 10 s, connection 77" in text
    assert not any(sql.startswith("/* stallwatch */") for sql in mysql_9_7.asked)


# what goes wrong


def dirty(server):
    """Let 97 per cent of its pages be dirty."""
    server.status |= {
        "Innodb_buffer_pool_pages_total": "1000",
        "Innodb_buffer_pool_pages_data": "990",
        "Innodb_buffer_pool_pages_free": "10",
        "Innodb_buffer_pool_pages_dirty": "970",
    }


def test_a_sample_whose_second_look_is_lost_tells_the_first(look, mysql_9_7, monkeypatch):
    dirty(mysql_9_7)
    plain, seen = mysql_9_7.rows, []

    def rows(sql, *values, within=None):
        if "GLOBAL STATUS" in sql:
            seen.append(sql)
            if len(seen) > 1:
                raise NoAnswerError("db1:3306 did not answer within 2 s")
        return plain(sql, *values, within=within)

    monkeypatch.setattr(mysql_9_7, "rows", rows)
    status, text = look(mysql_9_7, "--sample", "2s", state=False)
    assert status == 1
    assert "WARNING - 97 % of the pages are dirty" in text
    assert "db1:3306 did not answer within 2 s" in text


@pytest.mark.parametrize("error", [NoAnswerError, MysqlError])
def test_settings_that_could_not_be_asked_are_unknown(look, mysql_9_7, error):
    dirty(mysql_9_7)
    mysql_9_7.failing = {"SHOW GLOBAL VARIABLES": error("db1:3306 did not answer within 2 s")}
    status, text = look(mysql_9_7)
    assert status == 3
    assert "UNKNOWN - db1:3306 did not answer within 2 s" in text
    assert numbers(text)["dirty"] == "97%"


def test_a_status_that_failed_is_not_called_empty(look, mysql_9_7):
    mysql_9_7.failing = {"SHOW GLOBAL STATUS": MysqlError("db1:3306 says: max_queries_per_hour")}
    status, text = look(mysql_9_7)
    assert status == 3
    assert "UNKNOWN - db1:3306 says: max_queries_per_hour" in text


def test_two_services_do_not_take_each_other_s_intervals(look, warm, mysql_9_7):
    strict = ("-c", "5%")
    warm(mysql_9_7, *strict)
    warm(mysql_9_7)
    counted = {REQUESTS: 60_000, READS: 6000}
    states = []
    for _ in range(3):
        states.append(look(mysql_9_7, *strict, after=30, **counted)[0])
        assert look(mysql_9_7, after=30, **counted)[0] == 0
    assert states == [1, 2, 2]


def test_a_damaged_memory_is_a_first_look(look, mysql_9_7, tmp_path):
    look(mysql_9_7)
    (path,) = (tmp_path / "state").glob("*.json")
    kept = json.loads(path.read_text())
    kept["values"]["look"] = []
    path.write_text(json.dumps(kept))
    assert "first look: " in look(mysql_9_7)[1]


def test_a_server_without_innodb_is_unknown(look, server):
    server.status = {name: value for name, value in server.status.items() if not name.startswith("Innodb")}
    status, text = look(server)
    assert status == 3
    assert "shows no buffer pool: SHOW GLOBAL STATUS has no Innodb_buffer_pool_pages_total" in text


def test_a_server_that_does_not_answer_is_unknown(look, server):
    server.failing = {"SHOW GLOBAL STATUS": NoAnswerError("db1:3306 did not answer within 2 s")}
    assert look(server)[0] == 3
    assert look(server, "--unreachable", "critical")[0] == 2


def test_a_server_that_began_anew_has_no_ratio(look, warm, server):
    warm(server)
    server.status["Uptime"] = "5"
    status, text = look(server, after=1)
    assert status == 0
    assert "it has restarted since the last look: the miss ratio is known from the next run on" in text


def test_a_sample_needs_no_last_run(look, server):
    status, text = look(server, "--sample", "2s", "--no-state", state=False)
    assert status == 0
    assert "too few page requests for a miss ratio: 0 in 2 s, 1000 are needed" in text
    assert numbers(text)["wait_free"] == "0"


def test_json_has_the_counters_as_a_table(look, warm, server):
    _, text = look(warm(server), "--output", "json", **{REQUESTS: 60_000, READS: 600})
    told = json.loads(text)
    (table,) = [one["table"] for one in told["findings"] if "table" in one]
    row = {"counter": READS, "grown": 600, "per_s": 10, "since_start": int(server.status[READS])}
    assert row in table
    status, text = look(server, "--output", "human", **{REQUESTS: 60_000, READS: 600})
    assert (status, text.splitlines()[0]) == (0, "innodb_buffer_pool is OK")
