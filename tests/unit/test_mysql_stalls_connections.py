"""What check_mysql_stalls finds of a server that has few connections left, or none."""

import pytest
from captured_runs import Runs, numbers
from locked_server import Locked
from stallwatch.causes import Kind
from stallwatch.frame.options import mysql
from stallwatch.sources.mysql import UnreachableError

POOL = {"user": "app", "host": "web1", "number": 80, "idle": 78, "longest": 600}
BUSY = {"user": "report", "host": "app2", "number": 60, "idle": 2, "longest": 1}
NONE_LEFT = UnreachableError("db1:3306 has no connection left (Too many connections)", "look who", 1040)


@pytest.fixture
def look(tmp_path, monkeypatch):
    return Runs("check_mysql_stalls", tmp_path, monkeypatch)


def server_with(used, *holders, most=100):
    server = Locked()
    server.status["Threads_connected"] = str(used)
    answer = server.rows

    def rows(sql, *values, within=None):
        if "@@max_connections" in sql:
            return [one | {"most": most} for one in answer(sql, *values, within=within)]
        if "COUNT(*) AS number" in sql:
            return [dict(one) for one in holders]
        return answer(sql, *values, within=within)

    server.rows = rows
    return server


@pytest.mark.parametrize(
    ("holder", "said"),
    [
        (POOL, "app@web1 has 80, 78 idle - let that pool keep fewer, or raise max_connections"),
        (BUSY, "report@app2 has 60, 2 idle - see what they wait for (SHOW PROCESSLIST)"),
    ],
)
def test_who_has_them(look, holder, said):
    status, text = look(server_with(90, holder))
    assert (status, numbers(text)["connections"]) == (1, "90%")
    assert f"90 of 100 connections used (limit 85 %), {said}" in text


def test_below_the_limit_all_is_well(look):
    status, text = look(server_with(84, POOL))
    assert (status, numbers(text)["connections"]) == (0, "84%")


def test_a_server_that_does_not_show_its_limit_has_no_share(look):
    assert "connections" not in numbers(look(server_with(84, most=0))[1])


def test_without_a_place_for_the_check_itself_the_last_look_shows_who_had_them(look, monkeypatch):
    look(server_with(70, POOL))

    def refuse(*_):
        raise NONE_LEFT

    monkeypatch.setattr(mysql, "connect", refuse)
    status, text = look(server_with(100, POOL))
    assert status == 2
    assert "no connection left (Too many connections), 1 min ago app@web1 had 80, 78 idle" in text
    assert "MySQL's admin_port" in text


def test_without_a_place_and_without_a_look_it_is_not_known(look, monkeypatch):
    def refuse(*_):
        raise NONE_LEFT

    monkeypatch.setattr(mysql, "connect", refuse)
    status, text = look(server_with(100))
    assert status == 2
    assert "whose they are is not known - look who" in text


def test_who_blocks_others_explains_that_they_are_many(look):
    server = server_with(95, BUSY)
    server.idle_head()
    assert look.report(server).ranked[0].cause.kind is Kind.ROW_LOCK
    first = look(server)[1].partition(" | ")[0]
    assert "KILL 22" in first
    assert "more problem" not in first  # they are the same incident
