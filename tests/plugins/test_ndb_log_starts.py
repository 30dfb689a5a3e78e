# ruff: noqa: E501 - what is said is written as it is said
"""Data nodes that wait for others in their start, start without them, or do not get on; and starts that do."""

from ndb_log_service import HOUR, MINUTE, Log

WAITS = "Node 3: Initial start, waiting for 4 to connect,  nodes [ all: 3 and 4 connected: 3 no-wait:  ]"


def begins(cluster, node, ago):
    cluster.say(f"Nodeid {node} allocated for NDB at 10.0.0.{node}", ago)
    cluster.say(f"Node 1: Node {node} Connected", ago - 1)
    cluster.say(f"Node {node}: Start phase 0 completed (system restart)", ago - 5)


def waits(cluster, since, until):
    for ago in range(since, until, -3):
        cluster.say(WAITS, ago)


def test_a_start_that_waits_for_a_node_that_does_not_come(check, cluster):
    begins(cluster, 3, 400)
    waits(cluster, 390, 0)
    assert check("--log", cluster).text == (
        "NDB_LOG CRITICAL - node 3: its start waits for node 4 at HH:MM:SS, for 3 min or longer"
        " - start node 4, check the network and firewall"
    )


def test_a_start_that_waits_for_a_minute_is_well(check, cluster):
    begins(cluster, 3, 100)
    waits(cluster, 90, 30)
    assert check("--log", cluster).status == 0


def test_a_start_that_has_waited_is_well(check, cluster):
    begins(cluster, 3, 900)
    waits(cluster, 890, 200)
    cluster.say("Node 3: Start with all nodes 3 and 4", 199)
    assert check("--log", cluster).status == 0


def test_a_cluster_that_started_without_a_node_until_that_has_started(check, cluster):
    begins(cluster, 3, 300)
    cluster.say("Node 3: Start potentially partitioned with nodes 3  [ missing: 4 no-wait:  ]", 200)
    cluster.say("Node 3: Started (mysql-9.7.2 ndb-9.7.2)", 180)
    said = check("--log", cluster)
    assert said.text == (
        "NDB_LOG WARNING - node 3: started without node 4 at HH:MM:SS, which may run as a cluster of its own"
        " - make sure that it does not, then start node 4"
    )
    cluster.say("Node 4: Started (mysql-9.7.2 ndb-9.7.2)", 20)
    assert check("--log", cluster).status == 0


def test_a_node_that_another_one_says_to_have_come_back_is_not_missing(check, cluster):
    begins(cluster, 3, 300)
    cluster.say("Node 3: Start potentially partitioned with nodes 3  [ missing: 4 no-wait:  ]", 200)
    cluster.say("Node 3: Started (mysql-9.7.2 ndb-9.7.2)", 180)
    assert check("--log", cluster).status == 1
    cluster.say("Node 3: NR Status: node=4,OLD=Wait LCP to ensure durability,NEW=Restart completed", 20)
    assert check("--log", cluster).status == 0


def test_a_system_restart_that_does_not_get_on(check, cluster):
    for node in (3, 4):
        begins(cluster, node, 50 * MINUTE)
    cluster.say("Node 3: Start phase 4 completed (system restart)", 40 * MINUTE)
    said = check("--log", cluster)
    assert said.text == (
        "NDB_LOG WARNING - nodes 3 and 4 are still starting, phase 4 completed at HH:MM:SS, nothing for 40 min"
        " - check their disks and network, and ndb_3_out.log"
    )
    for node in (3, 4):
        cluster.say(f"Node {node}: Started (mysql-9.7.2 ndb-9.7.2)", 10)
    assert check("--log", cluster).status == 0


def test_a_node_that_copies_its_data_for_less_than_an_hour_is_well(check, cluster):
    cluster.say("Nodeid 4 allocated for NDB at 10.0.0.4", 55 * MINUTE)
    cluster.say("Node 4: Start phase 4 completed (node restart)", 50 * MINUTE)
    assert check("--log", cluster).status == 0


def test_a_start_of_which_the_end_is_in_no_log_is_not_told_for_ever(check, cluster):
    cluster.say("Node 3: Start phase 4 completed (system restart)", 30 * HOUR)
    assert check("--log", cluster).status == 0


def test_a_start_in_a_log_that_does_not_name_its_node(check, tmp_path):
    log = Log(tmp_path / "data node.log")
    log.say("Start phase 4 completed (system restart)", 40 * MINUTE)
    assert check("--log", log).text == (
        "NDB_LOG WARNING - node is still starting, phase 4 completed at HH:MM:SS, nothing for 40 min"
        " - check its disk and network, and the lines before in its log"
    )


def test_a_node_id_that_was_allocated_is_no_start_where_starts_are_not_logged(check, cluster):
    cluster.say("Nodeid 3 allocated for NDB at 10.0.0.3", 100 * MINUTE)
    cluster.say("Node 3: Local checkpoint 5 started. Keep GCI = 7 oldest restorable GCI = 7", MINUTE)
    assert check("--whole", "--log", cluster).status == 0


def test_a_cluster_that_started_without_two_nodes_until_they_come(check, cluster):
    cluster.say("Node 3: Start with nodes 3 and 4 [ missing: 5 and 6 no-wait:  ]", 200)
    cluster.say("Node 3: Started (mysql-9.7.2 ndb-9.7.2)", 180)
    assert check("--log", cluster).text == (
        "NDB_LOG WARNING - node 3: started without nodes 5 and 6 at HH:MM:SS, less redundancy meanwhile"
        " - start nodes 5 and 6"
    )
    for node in (5, 6):
        cluster.say(f"Node 3: NR Status: node={node},OLD=Wait for LCP,NEW=Restart completed", 20)
    assert check("--log", cluster).status == 0
