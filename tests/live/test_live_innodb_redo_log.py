"""check_innodb_redo_log on real servers whose redo log is filled until writers wait."""

import time

import pytest
from innodb_check import Check
from mariadb import Mariadb
from redo_load import SLOW, SMALL, counter, filled, writing

SAMPLE = ("--sample", "1s")


@pytest.fixture
def check(tmp_path):
    return Check("check_innodb_redo_log", tmp_path)


THREADS = {"mysql": {"innodb_thread_concurrency": 16}, "mariadb": {}}  # they move MySQL's stall point


@pytest.fixture(params=("mariadb", "mysql"))
def small(request, own_server):
    """A server with as small a redo log as there is."""
    return own_server(request.param, **SLOW, **SMALL[request.param], **THREADS[request.param])


def test_an_idle_server_is_ok_below_the_async_point(server, check):
    below = " samples, below the async point, "
    # others may have written to it just now
    said = check.until(lambda said: below in said.text, server, *SAMPLE)
    assert said.status == 0, said.output
    assert said.text.startswith("INNODB_REDO_LOG OK - redo log at most "), said.output
    assert 0 <= said.number("redo_log") < 95
    assert said.number("checkpoint_age") >= 0
    assert "redo_written_per_s" in said.perfdata


def test_a_first_run_says_so_and_what_to_enable(server, check):
    said = check(server)
    assert "what is written is known from the next run on" in said.output
    assert f"SET GLOBAL innodb_monitor_enable = '{counter(server)}', and in my.cnf" in said.output


def test_without_process_all_is_told_but_the_waits(server, check):
    said = check(server, grants=())
    assert "whether writers waited between two runs is not counted: it needs PROCESS" in said.output
    assert "redo_log" in said.perfdata


def stands(said):
    """Whether the log was seen where writers wait, by a run in which nothing was lost."""
    whole = "redo_log" in said.perfdata and "is not counted" in said.output
    return whole and said.number("redo_log") > 97


@pytest.mark.own_server("MariaDB takes minutes to change the size of its buffer pool while it runs")
@pytest.mark.slow("the redo log is filled")
def test_writers_that_wait_are_critical_and_nobody_once_they_do_not(small, check):
    """The log fills up to the stall point and not beyond, which is what the stall point is."""
    filled(small)
    with writing(small):
        said = check.until(stands, small, *SAMPLE)
        assert said.status == 1, said.output  # one run confirms nothing
        assert said.number("redo_log") < 102
        assert "waits" not in said.perfdata
        small.sql(f"SET GLOBAL innodb_monitor_enable = '{counter(small)}'")
        said = check.until(lambda said: said.status == 2, small, *SAMPLE)
    assert "for space in the redo log" in said.text, said.output
    assert " of the stall point in " in said.output
    assert said.number("waits") > 0
    assert said.number("redo_written_per_s") > 0
    small.sql("SET GLOBAL innodb_io_capacity_max = 2000")
    small.sql("SET GLOBAL innodb_io_capacity = 2000")
    quiet = check.until(lambda said: said.status == 0 and "waits" in said.perfdata, small, *SAMPLE)
    assert quiet.number("waits") == 0
    assert ", no writer waited" in quiet.text
    if isinstance(small, Mariadb):
        an_ordered_checkpoint_is_no_wait(small, check)


def an_ordered_checkpoint_is_no_wait(idle, check):
    """MariaDB counts it as it counts those that writers wait for, if there is anything to flush."""
    idle.sql("SET GLOBAL innodb_log_checkpoint_now = ON")
    check(idle)
    end = time.monotonic() + 60
    said = None
    while not said or "a checkpoint was ordered" not in said.output:  # it may be too soon for an interval
        assert not said or time.monotonic() < end, said.output
        idle.sql("UPDATE lab.t SET a = a + 1 WHERE id < 10")
        idle.sql("SET GLOBAL innodb_log_checkpoint_now = ON")
        said = check(idle)
    assert said.status == 0, said.output
    assert said.number("waits") == 0
