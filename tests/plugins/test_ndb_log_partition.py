# ruff: noqa: E501 - what is said is written as it is said
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
        "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, it lost node 3, and arbitrator node 1 chose the other side"
        " - check the network between them"
    )
    assert not any("node 3 declared dead" in line for line in said.details)
    assert said.perfdata["shutdowns"] == "1"


def test_a_node_that_is_dead_is_so_though_the_one_that_lost_it_had_no_arbitrator(check, cluster):
    """Nobody can tell whether the other side lives: no arbitrator chose it."""
    cluster.say("Node 3: Local checkpoint 51 started.", 100)
    cluster.say("Node 4: Node 3 declared dead due to missed heartbeat", 40, "ALERT")
    cluster.say("Node 4: Network partitioning - no arbitrator available", 40, "ALERT")
    cluster.say(f"Node 4: {ENDED}", 39, "ALERT")
    said = check("--log", cluster)
    assert said.text.startswith("NDB_LOG CRITICAL - all data nodes (3 and 4) are down since HH:MM:SS")
