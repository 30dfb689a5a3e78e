"""SQL, API and management nodes that check_ndb_nodes expects, and which of them are not connected."""

import pytest
from stallwatch.probes.ndb_nodes.clients import Client, missing

MANAGEMENT = {1: Client("ndb_mgmd", "10.0.0.9:1186")}
SQL = {51: Client("mysqld", "10.0.0.51:3306"), 52: Client("mysqld", "10.0.0.52:3306")}
ALL = MANAGEMENT | SQL
RESTORE = {60: Client("ndb_restore", "10.0.0.7")}


@pytest.fixture
def look():
    """Look a minute after the last time; gives the reading."""
    memory, clock = {}, [0.0]

    def look(connected, wanted=(), forgotten=(), after=60.0):
        clock[0] += after
        return missing(connected, wanted, forgotten, memory, clock[0])

    look.memory = memory
    return look


@pytest.fixture
def settled(look):
    """As ``look``; all have been connected for a while."""
    for _ in range(11):
        assert look(ALL).value == 0
    return look


def without(*nodes):
    return {node: client for node, client in ALL.items() if node not in nodes}


def test_an_sql_node_that_was_connected_for_a_while_is_expected(settled):
    found = settled(without(52))
    assert found.value == 1
    assert found.what == "SQL node 52 is not connected to the data nodes"
    assert found.advice == "check mysqld at 10.0.0.52:3306 and its log"
    assert "node 52 was mysqld at 10.0.0.52:3306, last seen 1 min ago" in found.line.more
    assert "if the cluster is to be without it: --forget-api 52, once" in found.line.more
    assert settled(ALL).value == 0


def test_a_management_node_is_expected_too(settled):
    assert settled(without(1)).what == "management node 1 is not connected to the data nodes"


def test_several_are_one_finding(settled):
    assert settled(without(51, 52)).what == "SQL nodes 51 and 52 are not connected to the data nodes"
    assert settled(without(1, 52)).what == (
        "management node 1 and SQL node 52 are not connected to the data nodes"
    )


def test_it_is_expected_until_somebody_forgets_it(settled):
    for _ in range(3):
        assert settled(without(52), after=86400).value == 1
    assert settled(without(52), forgotten=(52,)).value == 0
    assert settled(without(52)).value == 0


def test_a_program_that_comes_and_goes_is_not_expected(look):
    """A backup or ndb_restore takes a slot for hours, and gives it back."""
    for _ in range(20):
        look(ALL | RESTORE)
    assert look(ALL).value == 0


def test_an_sql_node_that_was_tried_out_is_not_expected(look):
    for _ in range(5):
        look(ALL)
    assert look(without(52)).value == 0


def test_an_sql_node_that_was_tried_out_twice_is_not_expected(settled):
    tried = {53: Client("mysqld", "10.0.0.53:3306")}
    settled(ALL | tried)
    settled(ALL)
    settled(ALL | tried, after=86400)
    assert settled(ALL).value == 0


def test_an_sql_node_that_takes_another_slot_when_it_restarts_is_the_same(settled):
    elsewhere = without(52) | {53: SQL[52]}
    assert settled(elsewhere).value == 0
    assert settled(without(52)).what.startswith("SQL node 53 is not connected")


def test_sql_nodes_that_swap_their_slots_are_all_there(settled):
    swapped = MANAGEMENT | {51: SQL[52], 52: SQL[51]}
    assert settled(swapped).value == 0
    assert settled(ALL).value == 0
    settled(swapped)
    assert settled(MANAGEMENT | {52: SQL[51]}).what == "SQL node 51 is not connected to the data nodes"


def test_of_two_that_were_down_the_one_that_took_the_slot_of_the_other_is_back(settled):
    """It is named by its address: its id is that of one that runs."""
    settled(MANAGEMENT)
    found = settled(MANAGEMENT | {52: SQL[51]})
    assert found.value == 1
    assert found.what == "SQL node 10.0.0.52:3306 is not connected to the data nodes"
    assert found.advice == "check mysqld at 10.0.0.52:3306 and its log"
    said = "node 52 was mysqld at 10.0.0.52:3306, last seen 2 min ago, and is mysqld at 10.0.0.51:3306 now"
    assert found.line.more[0] == said
    assert settled(MANAGEMENT | {51: SQL[52], 52: SQL[51]}).value == 0


def test_a_slot_that_a_restore_takes_for_a_minute_does_not_hide_that_its_sql_node_is_gone(settled):
    found = settled(without(52) | {52: RESTORE[60]})
    assert found.what == "SQL node 10.0.0.52:3306 is not connected to the data nodes"
    assert "is ndb_restore at 10.0.0.7 now" in found.line.more[0]
    assert settled(ALL).value == 0


def test_an_sql_node_whose_address_changes_is_the_same(settled):
    assert settled(without(52) | {52: Client("mysqld", "10.0.1.52:3306")}).value == 0
    assert settled(without(52)).advice == "check mysqld at 10.0.1.52:3306 and its log"


def test_of_two_sql_nodes_on_one_host_the_one_that_is_gone_is_named(look):
    both = {51: Client("mysqld", "10.0.0.5:3306"), 52: Client("mysqld", "10.0.0.5:3307")}
    for _ in range(12):
        look(both)
    assert look({52: both[51]}).what == "SQL node 10.0.0.5:3307 is not connected to the data nodes"


def test_of_a_pool_of_connections_each_is_expected(look):
    pool = dict.fromkeys((51, 54, 55), SQL[51])
    for _ in range(12):
        look(pool)
    assert look({51: SQL[51], 54: SQL[51]}).what.startswith("SQL node 55 is")
    assert look({54: SQL[51], 55: SQL[51]}).what.startswith("SQL node 51 is")


def test_whom_the_user_names_is_expected_at_once(look):
    found = look(ALL, wanted=(52, 60))
    assert found.value == 1
    assert found.what == "API node 60 is not connected to the data nodes"
    assert found.line.more == ()  # nothing to forget: whoever expects it has said so


def test_a_node_that_the_user_names_and_looks_know_is_missing_once(settled):
    assert settled(without(52), wanted=(51, 52)).value == 1


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        7,
        {"51": ["mysqld", "u", 0, 0]},
        [None],
        [["x", "mysqld", "u", 0, 0]],
        [[51, "mysqld", "u", None, 0]],
    ],
)
def test_memory_that_is_damaged_does_no_harm(look, nonsense):
    look.memory["api_nodes"] = nonsense
    assert look(ALL).value == 0
