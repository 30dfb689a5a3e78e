"""The network between data nodes is cut: who ended, and who lives, by what the arbitrator decided."""

import pytest

ENDED = "Forced node shutdown completed. Caused by error 2305: 'Node lost connection to other nodes'."


@pytest.fixture
def parted(log, peer, cluster):
    """Both data nodes declared each other dead; the arbitrator, node 1, chose node 3."""

    def node(own, number, text, ago, level="INFO"):
        own.say(text, ago, level)
        cluster.say(f"Node {number}: {text}", ago, level)

    for value, ago in ((2, 50), (3, 45), (4, 40)):
        node(peer, 3, f"Node 4 missed heartbeat {value}", ago, "WARNING")
        node(log, 4, f"Node 3 missed heartbeat {value}", ago, "WARNING")
    node(peer, 3, "Node 4 declared dead due to missed heartbeat", 40, "ALERT")
    node(peer, 3, "Network partitioning - arbitration required", 40, "ALERT")
    node(peer, 3, "Arbitration won - positive reply from node 1", 40, "ALERT")
    node(log, 4, "Node 3 declared dead due to missed heartbeat", 39.8, "ALERT")
    node(log, 4, "Network partitioning - arbitration required", 39.8, "ALERT")
    node(log, 4, "Arbitration lost - negative reply from node 1", 39.5, "ALERT")
    node(log, 4, ENDED, 39, "ALERT")
    cluster.say("Node 1: Node 4 Disconnected", 38.5, "ALERT")
    return {"log": log, "peer": peer, "cluster": cluster}


@pytest.mark.parametrize("logs", [("cluster",), ("log",), ("cluster", "log", "peer")])
def test_who_lost_arbitration_is_down_and_whom_it_declared_dead_is_not(check, parted, logs):
    said = check(*(word for name in logs for word in ("--log", parted[name])))
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, arbitrator node 1 chose the other side"
        " - check the network to node 3, then restart the node"
    )
    assert not any("node 3 declared dead" in line for line in said.details)
    assert said.perfdata["shutdowns"] == "1"


def test_who_is_told_to_have_lost_the_arbitration_declared_nobody_dead_before_it_ended(check, cluster):
    """A cluster log that has not heard of the winner."""
    cluster.say("Node 3: Local checkpoint 51 started.", 100)
    cluster.say("Node 4: Local checkpoint 51 completed", 100)
    cluster.say("Node 4: Node 3 declared dead due to missed heartbeat", 40, "ALERT")
    cluster.say("Node 4: Arbitration lost - negative reply from node 1", 39, "ALERT")
    said = check("--log", cluster)
    assert "node 3 declared dead" not in said.output
    assert said.perfdata["shutdowns"] == "0"


def test_a_node_that_is_dead_is_so_though_the_one_that_lost_it_had_no_arbitrator(check, cluster):
    """Nobody can tell whether the other side lives: no arbitrator chose it."""
    cluster.say("Node 3: Local checkpoint 51 started.", 100)
    cluster.say("Node 4: Node 3 declared dead due to missed heartbeat", 40, "ALERT")
    cluster.say("Node 4: Network partitioning - no arbitrator available", 40, "ALERT")
    cluster.say(f"Node 4: {ENDED}", 39, "ALERT")
    said = check("--log", cluster)
    assert said.text.startswith("NDB_LOG CRITICAL - all data nodes (3 and 4) are down since HH:MM:SS")


def test_a_connection_that_broke_is_why_the_network_was_cut(check, log):
    """8.0: no heartbeat was missed, the connection was reset."""
    log.say("Transporter to node 3 reported error 0x1: Error found during closing of socket", 40.1, "ERROR")
    log.say("Node 3 disconnected in recv with errnum: 104 in state: 0", 40)
    log.say("Network partitioning - arbitration required", 40, "ALERT")
    log.say("Arbitration lost - negative reply from node 1", 39.8, "ALERT")
    log.say(ENDED, 39, "ALERT")
    said = check("--log", log)
    assert said.text == (
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, arbitrator node 1 chose the other side"
        " - check the network to node 3, then restart the node"
    )
    assert any("connection to node 3 failed at HH:MM:SS" in line for line in said.details)


def test_a_management_node_that_cut_off_all_data_nodes_is_first(check, log, peer, cluster):
    """The data nodes run: what they say goes on."""
    for node in (3, 4):
        cluster.say(f"Node {node}: Local checkpoint 51 started.", 200)
        for value in (1, 2, 3):
            cluster.say(f"Node 1 missed heartbeat {value} from node {node}.", 100 - 1.5 * value, "WARNING")
        cluster.say(f"Node 1 disconnecting node {node} due to missed heartbeat", 95, "ERROR")
        cluster.say(f"Node 1: Node {node} Disconnected", 95, "ALERT")
    for own in (log, peer):
        own.say("Communication to Node 1 opened", 20)
    said = check("--log", log, "--log", peer, "--log", cluster)
    assert said.text == (
        "NDB_LOG WARNING - management node 1 has lost nodes 3 and 4 since HH:MM:SS, their logs go on"
        " - check the network between their hosts"
    )
