"""R36: a STOP REPLICA that waits for the applier."""

import pytest
from replication_signals import MARIADB, applier, case, looks, process, transaction
from replication_snapshots import channel, mariadb, stopped
from stallwatch.probes.replication_lag.causes import explain, stopping

STOPS = process(23, "Killing slave", command="Query", info="STOP REPLICA", seconds=40.0)


def test_r36_a_stop_that_waits_is_told_before_what_the_applier_does():
    long = transaction(age=1800.0, modified=1_200_000)
    found = explain(case(looks=looks(applier(), STOPS, transactions=[long])))
    assert [cause.rule for cause in found] == ["R36", "R10"]
    assert found[0].what == "STOP REPLICA of connection 23 has waited for 40 s"
    assert found[0].advice == "wait until it ends, then START REPLICA SQL_THREAD"


@pytest.mark.parametrize(
    ("info", "name"),
    [
        ("STOP SLAVE", ""),
        ("stop all slaves", "east"),
        ("STOP SLAVE 'east'", "east"),
        ("STOP SLAVE 'east' SQL_THREAD", "east"),
        ('STOP SLAVE "east"', "east"),
    ],
)
def test_r36_on_mariadb(info, name):
    seen = looks(applier(), STOPS._replace(info=info))
    found = stopping.r36_stop_waits(case(mariadb(name=name), looks=seen, flavour=MARIADB))
    assert found.what == "STOP SLAVE of connection 23 has waited for 40 s"


@pytest.mark.parametrize("info", ["STOP SLAVE", "STOP SLAVE SQL_THREAD", "STOP SLAVE 'west'"])
def test_r36_on_mariadb_the_stop_of_another_connection(info):
    seen = looks(applier(), STOPS._replace(info=info))
    assert stopping.r36_stop_waits(case(mariadb(name="east"), looks=seen, flavour=MARIADB)) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"info": "STOP REPLICA FOR CHANNEL 'east'"},  # not this one
        {"info": 'STOP REPLICA FOR CHANNEL "east"'},
        {"info": "STOP REPLICA IO_THREAD"},
        {"info": "STOP GROUP_REPLICATION"},
        {"info": "SELECT 'STOP REPLICA'"},
        {"seconds": 2.0},
        {"command": "Sleep", "info": ""},
    ],
)
def test_r36_against(changes):
    assert stopping.r36_stop_waits(case(looks=looks(applier(), STOPS._replace(**changes)))) is None


def test_r36_an_applier_that_is_stopped_is_waited_for_no_more():
    assert stopping.r36_stop_waits(case(channel(applier=stopped()), looks=looks(STOPS))) is None
