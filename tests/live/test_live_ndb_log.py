"""check_ndb_log beside a real cluster: what happens to the node is what the check says."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ndb_cluster import NdbCluster

PLUGIN = Path(__file__).parents[2] / "plugins" / "check_ndb_log"


class Service:
    """The check as a monitoring engine runs it: the same command again and again, on the logs of node 4.

    ``output`` is all that the last run printed: it shows what else was said where a test fails.
    """

    def __init__(self, cluster: NdbCluster, state: Path):
        self.command = [
            sys.executable, PLUGIN, "--state-dir", state,
            "--log", cluster.out_log(4), "--log", cluster.cluster_log,
        ]  # fmt: skip

    def run(self, *options):
        """Exit status and first line without the perfdata, of a run a second after whatever happened."""
        time.sleep(1)  # a node that wakes up takes some 40 ms to write what it has to say of it
        done = subprocess.run(
            [*self.command, *options], capture_output=True, text=True, check=False, timeout=30
        )
        assert done.stderr == ""
        self.output = done.stdout
        return done.returncode, done.stdout.partition(" | ")[0]


@pytest.fixture
def service(ndb_cluster, tmp_path):
    """A service that knows of nothing that happened before."""
    service = Service(ndb_cluster, tmp_path / "state")
    service.run("--acknowledge")
    return service


def test_a_quiet_cluster_is_ok(service):
    status, line = service.run()
    assert status == 0
    assert line.startswith("NDB_LOG OK - ")
    assert line.endswith(" new lines of 2 logs, no thread stuck")


def test_a_frozen_thread_did_not_run(service, ndb_cluster, thread_trouble):
    ndb_cluster.freeze(4, "ldm", 3)
    status, line = service.run()
    assert status == 1, service.output
    stuck = r"NDB_LOG WARNING - node 4 thread 2 \(ldm\) was stuck (2\.[89]|3|3\.\d) s until "
    assert re.match(stuck, line), service.output
    assert ", process not running (no CPU time)" in line
    assert "check swapping, VM steal, CPU quota" in line


def test_a_thread_that_computes_is_a_busy_ndb_kernel(service, ndb_cluster, thread_trouble):
    ndb_cluster.spin(4, "ldm", 3)
    status, line = service.run()
    assert status == 1, service.output
    assert line.startswith("NDB_LOG WARNING - node 4 thread 2 (ldm) was stuck "), service.output
    assert ", NDB kernel busy (user " in line


def test_a_thread_in_system_calls_is_a_busy_os_kernel(service, ndb_cluster, thread_trouble):
    ndb_cluster.loop_in_system_calls(4, "ldm", 3)
    status, line = service.run()
    assert status == 1, service.output
    assert line.startswith("NDB_LOG WARNING - node 4 thread 2 (ldm) was stuck "), service.output
    assert ", OS kernel busy (system " in line


def test_a_stopped_process_stands_still_as_a_whole(service, ndb_cluster):
    ndb_cluster.freeze_process(4, 3)
    status, line = service.run()
    assert status == 1
    assert line.startswith("NDB_LOG WARNING - node 4 stood still 3")
    assert ", all threads overslept - check for a paused VM" in line


def test_an_alert_stays_for_the_next_run_and_is_acknowledged_by_hand(service, ndb_cluster, thread_trouble):
    ndb_cluster.freeze(4, "ldm", 2)
    assert service.run()[0] == 1
    assert service.run()[0] == 1
    status, line = service.run("--acknowledge")
    assert status == 0
    assert re.match(r"NDB_LOG OK - acknowledged: node 4 thread 2 \(ldm\) was stuck ", line)
    assert service.run()[0] == 0


@pytest.mark.slow("a data node starts again")
def test_a_killed_node_is_critical_until_its_angel_has_started_it(service, ndb_cluster):
    ndb_cluster.kill_child(4)
    ndb_cluster.wait_for(4, "starting")
    status, line = service.run()
    assert status == 2
    assert line.startswith("NDB_LOG CRITICAL - node 4 shut down at ")
    ndb_cluster.wait_for(4)
    status, line = service.run()
    assert status == 1
    assert "started again at " in line
    assert "signal 9 (killed) - look in dmesg for the out-of-memory killer" in line


@pytest.mark.slow("a data node restarts")
def test_an_ordered_restart_is_no_problem(service, ndb_cluster):
    ndb_cluster.restart(4)
    status, line = service.run()
    assert (status, line[:13]) == (0, "NDB_LOG OK - ")


@pytest.mark.slow("both data nodes start again")
def test_a_dead_cluster_is_critical_though_nobody_had_a_last_word(service, ndb_cluster):
    ndb_cluster.kill(3)
    ndb_cluster.kill(4)
    status, line = service.run()
    assert status == 2, service.output
    assert "all data nodes (3 and 4) are down since " in line, service.output
    ndb_cluster.start_again(3, 4)
    status, line = service.run()
    assert status == 1, service.output
    # Also where the one that was killed last wrote that it lost the other.
    assert "no shutdown in the log - check uptime and dmesg of its machine" in service.output
