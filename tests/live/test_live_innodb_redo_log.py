"""check_innodb_redo_log on real servers whose redo log is filled until writers wait."""

import contextlib
import random
import threading

import pytest
from innodb_check import Check
from mariadb import Mariadb
from sql_server import ROOT

SLOW = {  # flushing that writers outrun, as on a slow disk
    "innodb_buffer_pool_size": "64M", "innodb_adaptive_flushing": "OFF", "innodb_io_capacity": 100,
    "innodb_io_capacity_max": 100,
}  # fmt: skip
SMALL = {"mariadb": {"innodb_log_file_size": "16M"}, "mysql": {"innodb_redo_log_capacity": "8M"}}
SAMPLE = ("--sample", "1s")
ROWS, WRITERS = 8000, 4


@pytest.fixture
def check(tmp_path):
    return Check("check_innodb_redo_log", tmp_path)


@pytest.fixture(params=("mariadb", "mysql"))
def small(request, own_server):
    """A server with as small a redo log as there is."""
    return own_server(request.param, **SLOW, **SMALL[request.param])


def counter(server):
    """What is to be enabled for waits to be counted."""
    return "buffer_flush_sync%" if isinstance(server, Mariadb) else "log_on_file_space_waits"


def filled(server):
    """Make a table of pages that are all to be changed again and again."""
    server.sql("CREATE DATABASE lab")
    server.sql("CREATE TABLE lab.t (id INT PRIMARY KEY AUTO_INCREMENT, a INT, pad VARCHAR(2000))")
    with server.session() as sql:
        sql("SET sql_log_bin = 0")
        for _ in range(ROWS // 500):
            values = ", ".join(f"({random.randrange(10**9)}, REPEAT('x', 1500))" for _ in range(500))
            sql(f"INSERT INTO lab.t (a, pad) VALUES {values}")


@contextlib.contextmanager
def writing(server):
    """Let clients write, each to rows of its own, faster than pages can be flushed."""
    enough = threading.Event()

    def write(number):
        with server.session(ROOT, seconds=120) as sql:
            sql("SET sql_log_bin = 0")
            while not enough.is_set():
                low = number * ROWS // WRITERS + random.randrange(ROWS // WRITERS - 110)
                some = f"id BETWEEN {low} AND {low + 100}"
                sql(f"UPDATE lab.t SET a = a + 1, pad = REPEAT('{number}', 1500) WHERE {some}")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    for one in writers:
        one.start()
    try:
        yield
    finally:
        enough.set()
        for one in writers:
            one.join()


def test_an_idle_server_is_ok_below_the_async_point(server, check):
    below = "of the stall point in 10 samples, below the async point, no aggressive flushing; "
    # others may have written to it just now
    said = check.until(lambda said: below in said.text, server, *SAMPLE)
    assert said.status == 0, said.output
    assert said.text.startswith("INNODB_REDO_LOG OK - redo log at most "), said.output
    assert 0 <= said.number("redo_log") < 95
    assert said.number("checkpoint_age") >= 0
    assert "redo_written_per_s" in said.perfdata


def test_a_first_run_says_so_and_what_to_enable(server, check):
    said = check(server)
    assert "what is written is told from the next run on" in said.output
    assert f"SET GLOBAL innodb_monitor_enable = '{counter(server)}', and in my.cnf" in said.output


def test_without_process_all_is_told_but_the_waits(server, check):
    said = check(server, grants=())
    assert "whether writers waited between two runs is not counted: it needs PROCESS" in said.output
    assert "redo_log" in said.perfdata


def test_writers_that_wait_are_critical_and_nobody_once_they_do_not(small, check):
    small.sql(f"SET GLOBAL innodb_monitor_enable = '{counter(small)}'")
    filled(small)
    with writing(small):
        said = check.until(lambda said: said.status == 2, small, *SAMPLE)
    assert "for space in the redo log" in said.text, said.output
    assert " of the stall point in 10 samples, " in said.text
    assert said.number("waits") > 0
    assert said.number("redo_written_per_s") > 0
    small.sql("SET GLOBAL innodb_io_capacity_max = 2000")
    small.sql("SET GLOBAL innodb_io_capacity = 2000")
    quiet = check.until(lambda said: said.status == 0, small, *SAMPLE)
    assert quiet.number("waits") == 0
    assert ", no writer waited" in quiet.text


def test_without_the_metric_a_log_that_is_full_is_seen_to_be(small, check):
    """It fills up to the stall point and not beyond, which is what the stall point is."""
    filled(small)
    with writing(small):
        said = check.until(lambda said: said.number("redo_log") > 98.5, small, *SAMPLE)
    assert said.status == 1, said.output  # one run confirms nothing
    assert said.number("redo_log") < 102
    assert "waits" not in said.perfdata
    assert "is not counted: SET GLOBAL innodb_monitor_enable = " in said.output
