# ruff: noqa: E501 - a text beside what is said of it, in one line
"""What ndb_mgm printed is judged with --whole; as a log that is followed, it is refused with what to use."""

import pytest

ALL_UP = """Connected to management server at localhost port 1186 (using cleartext)
Cluster Configuration
---------------------
[ndbd(NDB)]	2 node(s)
id=3	@127.0.0.1  (mysql-9.7.2 ndb-9.7.2, Nodegroup: 0, *)
id=4	@127.0.0.1  (mysql-9.7.2 ndb-9.7.2, Nodegroup: 0)

[ndb_mgmd(MGM)]	1 node(s)
id=1	@127.0.0.1  (mysql-9.7.2 ndb-9.7.2)

[mysqld(API)]	2 node(s)
id=51	@127.0.0.1  (mysql-9.7.2 ndb-9.7.2)
id=52 (not connected, accepting connect from any host)
"""
NODE_4 = "id=4	@127.0.0.1  (mysql-9.7.2 ndb-9.7.2, Nodegroup: 0)"
GONE = "id=4 (not connected, accepting connect from 127.0.0.1)"
MANAGEMENT = "id=1	@127.0.0.1  (mysql-9.7.2 ndb-9.7.2)"
STATUS = "Node 3: started (mysql-9.7.2 ndb-9.7.2)\nNode 4: {}\n"
USAGE = "Node {}: Data usage is {}%(2404 32K pages of total 2532)\n"


@pytest.fixture
def judged(check, tmp_path):
    path = tmp_path / "show.txt"

    def run(text, *options):
        path.write_text(text)
        return check("--log", path, *(options or ("--whole",)))

    return run


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ALL_UP, "OK - ndb_mgm printed: 2 of 2 data nodes started"),
        (ALL_UP.replace("Connected to management server at localhost", "-- NDB Cluster"), "OK - ndb_mgm printed: 2 of"),
        (ALL_UP.replace(NODE_4, GONE), "CRITICAL - node 4 is not connected - read ndb_4_out.log on its machine"),
        (ALL_UP.replace("ndb-9.7.2, Nodegroup: 0)", "ndb-9.7.2, starting, Nodegroup: 0)"), "WARNING - node 4 is starting"),
        (ALL_UP.replace(MANAGEMENT, "id=1 (not connected, x)"), "WARNING - management node 1 is not connected"),
        (STATUS.format("not connected"), "CRITICAL - node 4 is not connected"),
        (STATUS.format("starting (Last completed phase 4) (mysql-9.7.2)"), "WARNING - node 4 is starting"),
        (STATUS.format("not connected") + STATUS.format("started (x)"), "OK - ndb_mgm printed: 2 of 2 data nodes"),
        (USAGE.format(3, 21) + USAGE.format(4, 22), "OK - ndb_mgm printed: at most 22 % of memory used"),
        (USAGE.format(3, 21) + USAGE.format(4, 94), "CRITICAL - node 4: Data memory 94 % used"),
        (USAGE.format(3, 85), "WARNING - node 3: Data memory 85 % used"),
        ("Connected to management server at x port 1186\nNode 3: Backup not started\n", "UNKNOWN - ndb_mgm printed neither"),
    ],
)  # fmt: skip
def test_it_is_judged_as_a_whole(judged, text, expected):
    assert judged(text).text.startswith(f"NDB_LOG {expected}")


def test_it_is_no_log_to_follow(judged):
    said = judged(ALL_UP, "--no-state")
    assert said.status == 3
    assert "show.txt is no log but what ndb_mgm printed in one moment - check_ndb_nodes" in said.text


def test_it_adds_to_a_log(check, judged, log, tmp_path):
    judged(ALL_UP.replace(NODE_4, GONE))
    log.starts(ago=60)
    said = check("--whole", "--log", log, "--log", tmp_path / "show.txt")
    assert said.text.startswith("NDB_LOG CRITICAL - node 4 is not connected")
    assert said.labels.count("lines") == 1
