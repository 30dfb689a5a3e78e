"""check_ndb_redo_buffer beside a real cluster that writes more than its redo buffers hold, or its disk."""

import os
import re
import time

import ndb_load
import plugin_command
import pytest
from ndb_configuration import DATA_NODES
from plugin_command import Said
from sql_node import MONITOR

RATE = 2 << 20  # octets per second of a slow disk
DISK = "the disk is too slow: "
SLOW_DATA_FILES = re.compile(
    r"node \d: .* % of page (reads|writes) took over 0.5 s .* slow (disk below|for) data"
)
LARGER_WILL_NOT_HELP = "a larger RedoBuffer will not help, different disks for redo and LCP"


@pytest.fixture
def check(ndb, tmp_path):
    """Run the plugin as the documented account."""
    account = ndb.sql_node.account(*MONITOR)

    def run(*options):
        words = (
            "-S",
            ndb.sql_node.socket,
            "-u",
            account.user,
            "--state-dir",
            tmp_path / "state",
            "-t",
            "20s",
        )
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        command = ("check_ndb_redo_buffer", *words, *options)
        return Said.of(plugin_command.run(tmp_path, *command, variables=password))

    return run


@pytest.fixture
def logs(ndb, tmp_path):
    """The options that name the data nodes' logs, of which only what is new from now on is there."""
    paths = [tmp_path / f"ndb_{node}_out.log" for node in DATA_NODES]
    begun = {node: os.path.getsize(ndb.out_log(node)) for node in DATA_NODES}

    def logs():
        for node, path in zip(DATA_NODES, paths, strict=True):
            with open(ndb.out_log(node), "rb") as log:
                log.seek(begun[node])
                path.write_bytes(log.read())
        return [word for path in paths for word in ("--log", path)]

    return logs


def until(check, wanted, *options, logs=lambda: (), seconds=60):
    """Run it until it says so."""
    end = time.monotonic() + seconds
    while not wanted(said := check(*options, *logs())):
        assert time.monotonic() < end, said.output
        time.sleep(0.5)
    return said


def test_an_idle_cluster_is_ok_with_nothing_but_select_on_ndbinfo(check):
    said = until(check, lambda said: said.number("redo_buffer_peak") < 30)  # what others wrote is gone
    assert said.status == 0, said.output
    assert "% full (5 samples in " in said.text
    assert {"node3_redo_buffer", "node4_redo_buffer", "redo_space"} <= set(said.perfdata)


@pytest.mark.slow("the redo buffer fills on a slow disk")
def test_a_slow_disk_is_told_while_the_load_runs(check, ndb, throttle):
    ndb_load.blob_table(ndb.sql_node)
    with ndb_load.blob_writes(ndb.sql_node), ndb.slow_disk(RATE):
        lags = f", {DISK}redo writes lag - use a faster disk"
        said = until(check, lambda said: said.status == 2 and lags in said.text)
        detailed = check("-v", "--data-dir", ndb.path(3))
    assert "not the processor: the busiest thread of node " in said.output
    assert LARGER_WILL_NOT_HELP in said.output
    assert said.number("redo_buffer") > 85
    assert any(line.startswith("node_id") for line in detailed.more)
    said = until(check, lambda said: said.number("redo_buffer") < 60)
    assert said.status < 2, said.output


@pytest.mark.slow("pages of a table on disk are written on a slow disk")
def test_a_slow_disk_under_disk_tables_is_told(check, ndb, throttle):
    ndb_load.disk_table(ndb.sql_node)
    check()
    with ndb_load.disk_writes(ndb.sql_node), ndb.slow_disk(RATE / 3):
        said = until(check, lambda said: SLOW_DATA_FILES.search(said.output))
    assert said.number("slow_pages") > 10


def test_a_slow_disk_is_told_by_the_nodes_logs(check, ndb, logs, throttle):
    ndb_load.blob_table(ndb.sql_node)
    with ndb_load.blob_writes(ndb.sql_node), ndb.slow_disk(RATE):
        log_says = f"{DISK}its log shows "
        said = until(check, lambda said: log_says in said.output, "--output", "human", logs=logs)
    assert LARGER_WILL_NOT_HELP in said.output


def test_a_small_buffer_is_told_by_the_nodes_logs(check, ndb, logs):
    """On a disk that keeps up: a sample seldom hits an episode of some milliseconds."""
    ndb_load.blob_table(ndb.sql_node)
    end = time.monotonic() + 60
    with ndb_load.blob_writes(ndb.sql_node, writers=2, rows=200):
        while not any(": Redo buffer full" in path.read_text() for path in logs()[1::2]):
            assert time.monotonic() < end
            time.sleep(1)
    options = logs()
    if any(": Lag - " in path.read_text() for path in options[1::2]):
        pytest.skip("the disk of this machine did not keep up: a data node's log tells of lag")
    # What was written may not be on the disk yet.
    said = until(check, lambda said: said.status == 1, "--no-state", logs=logs)
    assert "redo buffer was full " in said.text
    assert said.text.partition(" (+")[0].endswith("short bursts - increase RedoBuffer")
    assert said.number("redo_full") < 0.2
