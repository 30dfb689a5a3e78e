"""Several logs of one cluster tell of the same thing: it is said once."""

import pytest
from ndb_log_service import Log

KILLED = "Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'."
DIED = "NR Status: node=4,OLD=Restart completed,NEW=Node failed, fail handling ongoing"
DOWN = (
    "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, error 6050: ended by its watchdog - check swapping, VM"
    " steal, CPU quota, disk, then restart the node"
)
MEANING = ["  WatchDog terminate, internal error or massive overload on the machine running this node"]
LABELS = [
    "lines", "shutdowns", "missed_heartbeats", "gcp_commit_lag", "gcp_save_lag", "redo_full", "redo_lag",
    "stuck", "overslept", "spin", "stuck_episodes", "unknown_warnings",
]  # fmt: skip


@pytest.mark.usefixtures("new_interpreter")
def test_the_end_of_a_node_in_three_logs_is_one_problem(check, log, peer, cluster):
    log.say(KILLED, 60, "ALERT")
    peer.say(DIED, 64)
    cluster.say(f"Node 3: {DIED}", 64)
    cluster.say(f"Node 4: {KILLED}", 60, "ALERT")
    said = check("--log", log, "--log", peer, "--log", cluster)
    assert (said.status, said.text, said.details) == (2, DOWN, MEANING)
    assert said.perfdata["shutdowns"] == "1"
    assert said.labels == LABELS


def test_who_is_named_first_does_not_matter(check, log, peer, cluster):
    log.say(KILLED, 60, "ALERT")
    peer.say(DIED, 64)
    cluster.say(f"Node 3: {DIED}", 64)
    cluster.say(f"Node 4: {KILLED}", 60, "ALERT")
    said = check("--log", cluster, "--log", peer, "--log", log)
    assert (said.text, said.details) == (DOWN, MEANING)


def test_the_logs_tell_of_it_in_different_runs(check, log, peer, cluster):
    logs = ["--log", log, "--log", peer, "--log", cluster]
    log.say("Operations=0", 100)
    peer.say("Operations=0", 100)
    cluster.say("Node 3: Local checkpoint 51 started.", 100)
    assert check(*logs).status == 0
    peer.say(DIED, 64)
    heard = check(*logs)
    assert heard.text == (
        "NDB_LOG CRITICAL - node 4 failed at HH:MM:SS, another node lost its connection - read"
        " ndb_4_out.log on its machine"
    )
    log.say(KILLED, 60, "ALERT")
    cluster.say(f"Node 4: {KILLED}", 60, "ALERT")
    said = check(*logs)
    assert (said.text, said.details, said.perfdata["shutdowns"]) == (DOWN, MEANING, "1")


def test_the_start_of_a_node_that_only_some_logs_tell_of_counts(check, log, peer, cluster):
    """The own log was read before the node came back: the latest news is the cluster log's."""
    log.say(KILLED, 60, "ALERT")
    cluster.say(f"Node 4: {KILLED}", 60, "ALERT")
    cluster.say("Node 4: Start initiated (mysql-9.7.2 ndb-9.7.2)", 50)
    cluster.say("Node 4: Started (mysql-9.7.2 ndb-9.7.2)", 30)
    said = check("--log", log, "--log", cluster)
    assert said.status == 1
    assert said.text.startswith("NDB_LOG WARNING - node 4 shut down at HH:MM:SS, started again at HH:MM:SS")


def test_an_order_that_only_the_cluster_log_tells_of_counts(check, log, peer, cluster):
    """A node that is stopped in one group of two hands nothing over."""
    cluster.say("Node 4: Node shutdown initiated", 30)
    cluster.say("Node 4: Node shutdown completed.", 20)
    peer.say(DIED, 21)
    assert check("--log", peer, "--log", cluster).status == 0


def test_two_ends_of_one_node_are_two(check, log, cluster):
    log.say(KILLED, 600, "ALERT")
    log.starts(500)
    log.say(KILLED, 60, "ALERT")
    cluster.say(f"Node 4: {KILLED}", 600, "ALERT")
    cluster.say("Node 4: Started (mysql-9.7.2 ndb-9.7.2)", 500)
    cluster.say(f"Node 4: {KILLED}", 60, "ALERT")
    said = check("--log", log, "--log", cluster)
    assert (said.text, said.perfdata["shutdowns"]) == (DOWN, "2")


def test_the_ends_of_two_nodes_are_two(check, log, peer):
    log.say(KILLED, 60, "ALERT")
    peer.say(KILLED, 60, "ALERT")
    said = check("--log", log, "--log", peer)
    assert said.perfdata["shutdowns"] == "2"
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, ")
    assert said.text.endswith(" (+1 more problem)")


def test_a_log_with_a_name_of_its_own_tells_of_the_same_node(check, log, cluster):
    log.path = log.path.with_name("data_node.log")
    log.say("NDB Cluster -- DB node 4", 7000)
    log.say(KILLED, 60, "ALERT")
    cluster.say(f"Node 4: {KILLED}", 60, "ALERT")
    said = check("--log", log, "--log", cluster)
    assert (said.text, said.details, said.perfdata["shutdowns"]) == (DOWN, MEANING, "1")


def test_the_worst_of_all_logs_is_in_the_perfdata_once(check, log, peer):
    log.stuck(2, 600, 1200, ago=60)
    peer.stuck(1, 600, 2400, ago=60)
    peer.stuck(2, 100, 200, ago=50)
    said = check("--log", log, "--log", peer)
    assert sorted(said.labels) == sorted(LABELS)
    assert said.perfdata["stuck"] == "2.4s;1;9"
    assert said.perfdata["stuck_episodes"] == "3"
    assert said.text.startswith("NDB_LOG WARNING - node ")
    assert said.text.endswith("(+1 more problem)")


def test_the_order_of_the_perfdata_is_always_the_same(check, log, peer):
    log.stuck(2, 600, 1200, ago=60)
    peer.stuck(1, 600, 2400, ago=60)
    assert check("--log", log, "--log", peer).labels == LABELS


def test_the_longest_standstill_of_all_logs_is_said_first(check, log, peer):
    log.stuck(2, 600, 1200, ago=60)
    peer.stuck(1, 600, 2400, ago=60)
    assert "node 3 thread 1 was stuck 2.4 s" in check("--log", log, "--log", peer).text


def test_an_alert_that_a_node_and_the_cluster_log_tell_of_is_said_once(check, log, cluster):
    log.say("GCP Monitor: GCP_COMMIT lag 20 sec (no max lag), [SignalCounter: x]", 60, "WARNING")
    cluster.say("Node 4: GCP Monitor: GCP_COMMIT lag 20 sec (no max lag)", 60, "WARNING")
    said = check("--log", log, "--log", cluster)
    assert said.status == 1
    assert said.details == []
    assert said.labels == LABELS


def test_two_cluster_logs_of_which_one_has_more_leave_no_label_out(check, cluster):
    """The second management node was there for the first of two lags that were as long as each other."""
    other = type(cluster)(cluster.path.with_name("ndb_2_cluster.log"))
    other.say("Node 4: GCP Monitor: GCP_COMMIT lag 20 sec (no max lag)", 70, "WARNING")
    for log in (cluster, other):
        log.say("Node 3: GCP Monitor: GCP_COMMIT lag 20 sec (no max lag)", 60, "WARNING")
    said = check("--log", cluster, "--log", other)
    assert said.labels == LABELS
    assert said.perfdata["gcp_commit_lag"] == "20s;10;30"


def test_of_two_logs_that_say_the_same_of_nodes_without_a_number_the_worst_is_in_the_perfdata(check, log):
    one, two = (type(log)(log.path.with_name(name)) for name in ("one.log", "two.log"))
    one.say("thr: 1: Overslept 3004 ms, expected ~10ms", 60)
    two.say("thr: 1: Overslept 3001 ms, expected ~10ms", 60)
    said = check("--log", one, "--log", two)
    assert said.perfdata["overslept"].startswith("3.004s;")
    assert said.details == []


def test_a_backup_that_one_management_node_s_log_saw_complete(check, cluster):
    cluster.say("Node 3: Backup 8 started from node 1 completed. StartGCP: 1 StopGCP: 2", 60)
    other = type(cluster)(cluster.path.with_name("ndb_2_cluster.log"))
    other.say("Node 3: Local checkpoint 51 started.", 100_000)
    said = check("--log", cluster, "--log", other, "--backup-age", "26h")
    assert said.status == 0
    assert said.perfdata["backup_age"].startswith("6")


@pytest.mark.parametrize("name", ["ndb_3_out.log", "ndb_1_cluster.log"])
def test_logs_of_two_clusters_are_not_judged_as_one(check, tmp_path, name):
    paths = [tmp_path / folder / name for folder in ("shop", "bank")]
    for path, node in zip(paths, (3, 4), strict=True):
        path.parent.mkdir()
        log = Log(path)
        source = "MgmtSrvr" if "cluster" in name else "ndbd"
        log.say(f"Node {node}: Forced node shutdown completed. Initiated by signal 9.", 20, "ALERT", source)
    said = check("--log", paths[0], "--log", paths[1])
    assert said.status == 3
    assert said.text == (
        f"NDB_LOG UNKNOWN - {name} is in two folders, {tmp_path}/shop and {tmp_path}/bank - use one check "
        "for each cluster"
    )
    assert check("--log", paths[0]).status == 2


def test_a_link_to_a_log_is_the_same_log(check, log, tmp_path):
    log.starts(60)
    other = tmp_path / "logs"
    other.mkdir()
    (other / log.path.name).symlink_to(log.path)
    assert check("--log", log, "--log", other / log.path.name).status == 0


def a_cluster_log(tmp_path, node, address, checkpoint, ago):
    log = Log(tmp_path / f"ndb_{node}_cluster.log")
    log.say(f"Nodeid 3 allocated for NDB at {address}", 5000, source="MgmtSrvr")
    log.say("Node 3: Started (mysql-9.7.2 ndb-9.7.2)", 4900, source="MgmtSrvr")
    log.say(f"Node 3: Local checkpoint {checkpoint} started. Keep GCI = 1", ago, source="MgmtSrvr")
    return log


def test_cluster_logs_of_two_clusters_whose_data_nodes_have_the_same_ids(check, tmp_path):
    shop, bank = (
        a_cluster_log(tmp_path, 1, "10.0.0.3", 51, 600),
        a_cluster_log(tmp_path, 2, "10.9.9.3", 7, 300),
    )
    shop.say("Node 3: Forced node shutdown completed. Initiated by signal 9.", 20, "ALERT", "MgmtSrvr")
    said = check("--log", shop, "--log", bank)
    assert said.status == 3
    assert said.text == (
        "NDB_LOG UNKNOWN - ndb_1_cluster.log and ndb_2_cluster.log are of two clusters, whose data nodes have"
        " the same ids and other addresses - use one check for each cluster"
    )


@pytest.mark.parametrize(
    ("address", "checkpoint", "ago"),
    [("10.0.0.3", 51, 600), ("192.168.0.3", 51, 601), ("10.0.0.3", 50, 4000)],
    ids=["the same", "seen in two networks", "one management node was down"],
)
def test_two_management_nodes_of_one_cluster(check, tmp_path, address, checkpoint, ago):
    first = a_cluster_log(tmp_path, 1, "10.0.0.3", 51, 600)
    second = a_cluster_log(tmp_path, 2, address, checkpoint, ago)
    assert check("--log", first, "--log", second).status == 0
