"""Which statement is ended on the server, and which is left alone: by a process list that a test sets."""

import time
from types import SimpleNamespace

import pytest
from stallwatch.deadline import Deadline
from stallwatch.probes.mysql_query import kill
from stallwatch.probes.mysql_query.collect import Plan, Runs
from stallwatch.probes.mysql_query.kill import Running, end
from stallwatch.probes.mysql_query.queries import Identity, Query
from stallwatch.sources.mysql import Flavour, MysqlError

SQL = "SHOW TABLES WHERE SLEEP(9)"
OURS = Identity(41, "mon", "uuid db1 3306", 0)
OTHER = "the process list shows another statement there"
ELSEWHERE = "the process list shows it at another connection"
FLAVOURS = {
    "MySQL": Flavour("MySQL", (9, 7, 2), "MySQL 9.7.2"),
    "MariaDB": Flavour("MariaDB", (10, 11, 19), "x"),
}


class Asked:
    """A server with a process list, in which KILL QUERY ends what it names, unless it is ``refused``."""

    where = "db1:3306"

    def __init__(self, processes, flavour="MySQL", here=OURS, refused=None):
        self.flavour = FLAVOURS[flavour]
        self.processes = processes
        self.here = here
        self.refused = refused
        self.killed = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """It is left."""

    def rows(self, sql, within):
        assert within >= 0
        if sql.startswith("KILL QUERY "):
            self.killed.append(sql.removeprefix("KILL QUERY "))
            if self.refused:
                raise self.refused
            self.processes = []
        if "CONNECTION_ID()" in sql:
            here = self.here
            return [{"connection": 50, "user": "mon@x", "server": here.server, "started": here.started}]
        return self.processes if "PROCESSLIST" in sql else []


def process(id=41, user="mon", command="Query", time=3, info=SQL, **more):  # noqa: A002 - as in the list
    """A row of the process list, in which the query has run for three seconds."""
    row = {"id": id, "user": user, "command": command, "time": time, "info": info, **more}
    return {name: value for name, value in row.items() if value is not ...}


@pytest.fixture(autouse=True)
def _own_time(clock):
    """Time goes by only if somebody sleeps."""


def ended(server, sql=SQL, at=OURS):
    """What is said of a statement that has run for three seconds."""
    return end(lambda _: server, Running(sql, at, time.monotonic() - 3), Deadline(0.1))


def test_mysql_ends_what_runs_over_that_connection():
    server = Asked(
        [process(7, info="SELECT 1"), process(), process(50, info="SHOW FULL PROCESSLIST", time=0)]
    )
    assert (ended(server), server.killed) == ("", ["41"])


def test_mariadb_ends_the_statement_by_its_own_number():
    server = Asked([process(query=1234)], "MariaDB")
    assert (ended(server), server.killed) == ("", ["ID 1234"])


@pytest.mark.parametrize("sql", [f" \n{SQL} ;\t", f"{SQL};", SQL])
def test_what_is_around_a_statement_does_not_matter(sql):
    server = Asked([process()])
    assert (ended(server, sql), server.killed) == ("", ["41"])


@pytest.mark.parametrize(
    ("processes", "said"),
    [
        ([], ""),  # it has ended
        ([process(command="Sleep", info=None)], ""),
        ([process(7, info="SELECT 1")], ""),
        ([process(info="SHOW TABLES")], OTHER),  # a proxy gave the connection to another client
        ([process(info=None)], OTHER),
        ([process(user="shop")], OTHER),
        ([process(time=0)], OTHER),
        ([process(time=3600)], OTHER),
        ([process(time=None)], OTHER),
        ([process(7)], ELSEWHERE),  # a proxy has numbers of its own
        ([process(7, time=600)], ""),  # another check's
    ],
)
def test_what_is_not_ours_for_sure_is_left_alone(processes, said):
    server = Asked(processes)
    assert (ended(server), server.killed) == (said, [])


@pytest.mark.parametrize(
    "here",
    [
        OURS._replace(server="uuid db2 3306"), OURS._replace(started=-60.0), OURS._replace(server=""),
        OURS._replace(started=None),
    ],
)  # fmt: skip
def test_nothing_is_ended_on_another_server(here):
    server = Asked([process()], here=here)
    assert ended(server) == "a second connection to db1:3306 reached another server"
    assert server.killed == []


def test_nothing_is_ended_on_a_server_that_is_not_known():
    server = Asked([process()])
    assert (ended(server, at=None), server.killed) == ("the server does not name its connection", [])


def test_a_connection_that_has_ended_meanwhile_needs_no_end():
    server = Asked([process()], refused=MysqlError("Unknown thread id: 41", "", 1094))
    rows = server.rows

    def gone(sql, within):
        return rows(sql, within) if not server.killed else []

    server.rows = gone
    assert ended(server) == ""


def test_who_may_not_end_it_says_so():
    server = Asked([process()], refused=MysqlError("You are not owner of thread 41", "", 1095))
    assert ended(server) == "You are not owner of thread 41"


def test_what_does_not_end_is_told_in_time_and_asked_once():
    server = Asked([process()])
    rows = server.rows

    def deaf(sql, within):
        kept = server.processes
        found = rows(sql, within)
        server.processes = kept
        return found

    server.rows = deaf
    assert (ended(server), server.killed) == ("KILL QUERY has not ended it yet", ["41"])


# A run that a signal ends


@pytest.mark.parametrize(
    ("runs_since", "writes", "seconds", "is_told"),
    [
        (1000.0, False, 60, True),
        (None, False, 60, False),
        (1000.0, True, 60, False),
        (1000.0, False, 0, False),
    ],
)
def test_a_statement_that_runs_when_a_signal_comes(monkeypatch, runs_since, writes, seconds, is_told):
    told = []
    monkeypatch.setattr(kill, "end", lambda _, running, deadline: told.append((running, deadline.seconds)))
    deadline = Deadline(seconds)
    query = Query(SQL, "", writes)
    runs = Runs(lambda _: None, query, Plan(1, 0.0, reconnect=False, needs=1.0), deadline)
    (farewell,) = deadline.farewells
    farewell()
    assert told == []
    runs.log_ins = [0.01]
    runs._session = SimpleNamespace(runs_since=runs_since, identity=OURS)
    farewell()
    assert told == ([(Running(SQL, OURS, runs_since), 0.5)] if is_told else [])


def test_a_statement_that_was_given_up_is_not_ended_again(monkeypatch):
    told = []
    monkeypatch.setattr(kill, "end", lambda *_: told.append("ended") or "")
    deadline = Deadline(60)
    runs = Runs(lambda _: None, Query(SQL), Plan(1, 0.0), deadline)
    for log_in in (0.01, 5.0):  # with the second, another connection takes too long
        runs.log_ins = [log_in]
        runs._session = SimpleNamespace(runs_since=1000.0, identity=OURS, close=lambda: None)
        runs._give_up()
        deadline.farewells[0]()
    assert told == ["ended"]
