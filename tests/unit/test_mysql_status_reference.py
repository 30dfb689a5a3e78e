"""A server beside its reference: the same measurement, and what differs by three times or more."""

import pytest
from captured_mysql import VERSIONS, CapturedMysql
from mysql_status import Watch
from stallwatch.sources.mysql import UnreachableError

MINUTE = 60
SCANS = {"Handler_read_rnd_next": 1_200_000 * MINUTE}


@pytest.fixture(params=VERSIONS)
def version(request):
    return request.param


class Compared:
    """A server and a reference, looked at together."""

    def __init__(self, clock, version="MySQL 9.7", other=None, **asked):
        self.here = CapturedMysql(version, clock=clock)
        self.there = CapturedMysql(other or version, "db2:3306")
        self.error = None
        self.watch = Watch(self.here, reference=self.open, **asked)

    def open(self):
        if self.error:
            raise self.error
        return self.there

    def later(self, here, there):
        self.here.later(MINUTE, **here)
        self.there.later(MINUTE, **there)

    def after(self, here, there):
        self.watch.run()
        self.later(here, there)
        return self.watch.run()


def test_what_differs_is_told_the_most_different_first(version, clock):
    compared = Compared(clock, version)
    said = compared.after(SCANS | {"Com_select": 900, "Queries": 6000}, {"Com_select": 60, "Queries": 5000})
    assert said.status == 0
    assert (
        "compared with db2:3306 over 1 min: Handler_read_rnd_next 1.2 million/s instead of 0/s and "
        "Com_select 15/s instead of 1/s" in said.asides
    )
    found = said.of("differences")
    assert found["value"] == 2
    assert found["table"] == [
        {"name": "Handler_read_rnd_next", "here": 1_200_000, "reference": 0, "times": None},
        {"name": "Com_select", "here": 15, "reference": 1, "times": 15},
    ]
    _, text = compared.watch.text("-v")
    assert text.count("Handler_read_rnd_next") >= 1


def test_less_than_three_times_and_too_little_to_matter_do_not_differ(version, clock):
    said = Compared(clock, version).after(
        {"Com_select": 290 * MINUTE, "Handler_read_key": 900 * MINUTE, "Com_insert": 30},
        {"Com_select": 100 * MINUTE},
    )
    assert said.of("differences")["value"] == 0
    assert "table" not in said.of("differences")
    assert any("differs by three times" in one for one in said.asides)


def test_gauges_are_compared_at_a_first_run_already(version, clock):
    compared = Compared(clock, version)
    compared.here.status["Threads_connected"] = "300"
    compared.there.status["Threads_connected"] = "20"
    said = compared.watch.run()
    assert "compared with db2:3306: Threads_connected 300 instead of 20" in said.asides


def test_what_is_of_no_meaning_beside_another_server_is_not_compared(version, clock):
    compared = Compared(clock, version)
    for server, uptime in ((compared.here, "1000000"), (compared.there, "100")):
        server.status |= {"Uptime": uptime, "Uptime_since_flush_status": uptime}
    assert compared.watch.run().of("differences")["value"] == 0


def test_different_kinds_of_servers_are_compared_by_what_both_have(clock):
    compared = Compared(clock, "MySQL 9.7", "MariaDB 10.11", include=["Handler_.*"])
    said = compared.after(SCANS, {})
    assert [row["name"] for row in said.of("differences")["table"]] == ["Handler_read_rnd_next"]


def test_only_named_numbers_are_compared(version, clock):
    said = Compared(clock, version, include=["Com_.*"]).after(SCANS | {"Com_select": 900}, {})
    assert [row["name"] for row in said.of("differences")["table"]] == ["Com_select"]


def test_what_is_excluded_is_not_compared_and_bytes_are_said_as_such(clock):
    compared = Compared(clock, "MariaDB 10.11")
    compared.here.status["Memory_used"] = str(5 << 30)
    compared.there.status["Memory_used"] = str(100 << 20)
    assert "Memory_used 5 GiB instead of 100 MiB" in compared.watch.run().asides[-1]
    assert compared.watch.run(exclude=["memory_used"]).of("differences")["value"] == 0


def test_both_are_measured_over_the_same_interval_or_not_compared(version, clock):
    compared = Compared(clock, version, include=["Com_select"])
    compared.watch.run()
    compared.error = UnreachableError("db2:3306 refused the connection")
    compared.later({"Com_select": 60}, {"Com_select": 60})
    compared.watch.run()
    compared.error = None
    compared.later({"Com_select": 60}, {"Com_select": 60})
    said = compared.watch.run()
    assert "rates are not compared with db2:3306: no earlier look to compare with" in said.asides
    compared.later({"Com_select": 600}, {"Com_select": 60})
    assert "compared with db2:3306 over 1 min: Com_select 10/s instead of 1/s" in compared.watch.run().asides


def test_a_reference_that_was_restarted_is_not_compared_by_rates(clock):
    compared = Compared(clock, include=["Com_select"])
    compared.watch.run()
    compared.here.later(MINUTE, Com_select=600)
    compared.there.status["Uptime"] = "3"
    said = compared.watch.run()
    assert "rates are not compared with db2:3306: it has restarted since the last look" in said.asides
    assert said.status == 0


@pytest.mark.parametrize("error", [UnreachableError("db2:3306 refused the connection")])
def test_a_reference_that_cannot_be_asked_costs_no_verdict(version, error, clock):
    compared = Compared(clock, version)
    compared.watch.run(crit=["Com_select=5"])
    compared.error = error
    compared.later({"Com_select": 600}, {})
    said = compared.watch.run(crit=["Com_select=5"])
    assert (said.status, said.summary) == (2, "Com_select is 10/s")
    assert "not compared with the reference: db2:3306 refused the connection" in said.asides
    compared.later({}, {})
    assert compared.watch.run(crit=["Com_select=5"]).status == 0


def test_a_reference_that_falls_silent_within_a_look_is_told(version, clock):
    compared = Compared(clock, version)
    error = UnreachableError("db2:3306 has hung up", "was it restarted?")
    compared.there.failing["SHOW GLOBAL STATUS"] = error
    said = compared.watch.run()
    told = "not compared with the reference: db2:3306 has hung up: was it restarted?"
    assert (said.status, said.asides[-1]) == (0, told)


def test_a_sample_looks_at_both_twice(monkeypatch, clock):
    compared = Compared(clock, include=["Com_select"], sample=5.0)

    def wait(seconds):
        compared.here.later(int(seconds), Com_select=500)
        compared.there.later(int(seconds), Com_select=50)

    monkeypatch.setattr("stallwatch.history.delta.time.sleep", wait)
    said = compared.watch.run()
    assert "compared with db2:3306 over 5 s: Com_select 100/s instead of 10/s" in said.asides


def test_a_sample_with_a_reference_that_goes_away(monkeypatch, clock):
    compared = Compared(clock, include=["Com_select"], sample=5.0)

    def wait(seconds):
        compared.here.later(int(seconds), Com_select=500)
        compared.error = UnreachableError("db2:3306 refused the connection")

    monkeypatch.setattr("stallwatch.history.delta.time.sleep", wait)
    said = compared.watch.run()
    assert said.of("Com_select")["value"] == 100
    assert said.asides[-1] == "not compared with the reference: db2:3306 refused the connection"
