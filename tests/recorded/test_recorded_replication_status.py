"""SHOW REPLICA STATUS and its older names, recorded on four servers: the same model, whatever the version."""

import re
from pathlib import Path

import pytest
from stallwatch.probes.replication_lag import gtid
from stallwatch.probes.replication_lag.model import Position
from stallwatch.probes.replication_lag.queries import channel

CAPTURES = Path(__file__).parent / "replication"
HEALTHY = [
    "ma1011_all_slaves_healthy", "my57_status_full", "my57_status_healthy", "my80_status_full",
    "my80_status_healthy", "my97_status_full", "my97_status_healthy",
]  # fmt: skip


def recorded(name, **changes):
    """The channel that a recording shows, with other values in some columns."""
    text = (CAPTURES / f"{name}.txt").read_text()
    row = dict(re.findall(r"^ *(\w+): ?(.*)$", text, re.MULTILINE)) | changes
    return channel({column: None if value == "NULL" else value for column, value in row.items()})


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_channel_is_the_same_on_every_server(name):
    found = recorded(name)
    assert found.name == ""
    assert found.receiver.runs
    assert found.applier.runs
    assert re.fullmatch(r"Waiting for (source|master) to send event", found.receiver.state)
    assert "has read all relay log" in found.applier.state
    assert (found.receiver.errno, found.receiver.error, found.applier.errno, found.applier.error) == (
        0,
        "",
        0,
        "",
    )
    assert found.source_host == "127.0.0.1"
    assert found.source_port > 1024
    assert found.source_id > 0
    assert (found.seconds_behind, found.delay, found.remaining_delay) == (0.0, 0.0, None)
    assert found.received == found.applied
    assert found.received.file.startswith("bin.00000")
    assert found.received.offset > 0
    assert gtid.backlog(found) == 0


@pytest.mark.parametrize("name", HEALTHY)
def test_what_only_one_flavour_tells(name):
    found = recorded(name)
    mariadb = name.startswith("ma")
    assert gtid.is_mariadb(found.received_gtids) == mariadb
    assert bool(found.source_uuid) != mariadb
    assert (found.heartbeats, found.heartbeat_period) == ((0, 30.0) if mariadb else (None, None))


def test_all_captures_of_a_status_are_read():
    assert {path.stem for path in CAPTURES.glob("*_status_*.txt")} <= set(HEALTHY)


def test_an_applier_that_stopped_with_an_error():
    """Five local GRANTs on a replica of MariaDB with gtid_strict_mode."""
    found = recorded("ma1011_gtid_strict_errant_1950")
    assert found.receiver.runs
    assert not found.applier.runs
    assert found.applier.errno == 1950
    assert found.applier.error.startswith(
        "An attempt was made to binlog GTID 0-101-7 which would create an out-of-order"
    )
    assert found.seconds_behind is None
    assert (found.received, found.applied) == (Position("bin.000001", 1525), Position("bin.000001", 1293))
    assert (found.received_gtids, found.applied_gtids) == ("0-101-7", "0-102-11")


def test_what_the_receiver_had_when_it_last_used_gtids_is_not_what_it_has_now():
    """Seen on MariaDB 10.11.19: Gtid_IO_Pos 1-1-5, Gtid_Slave_Pos 1-1-12, and an applier that has stopped."""
    changes = {"Using_Gtid": "No", "Gtid_IO_Pos": "1-1-5", "Gtid_Slave_Pos": "1-1-12"}
    found = recorded("ma1011_all_slaves_healthy", **changes, Read_Master_Log_Pos="99999")
    assert gtid.backlog(found) is None
    assert found.received != found.applied


@pytest.mark.parametrize("name", HEALTHY)
def test_filters_are_told_where_there_are_some(name):
    assert recorded(name).filters == ()
    assert recorded(name, Replicate_Do_DB="shop").filters == ("Replicate_Do_DB = shop",)
