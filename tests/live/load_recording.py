"""Record what each check costs the server that it asks, for contrib/docs/load.md. By hand:

.venv/bin/python tests/live/load_recording.py && make generate
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from cassandra import VERSION, Cassandra
from jvm import Jvm
from load_checks import CHECKS, of_java, of_sql
from load_counting import JmxCounts, SqlCounts
from ndb_cluster import NdbCluster
from replication_pair import Pair

FILE = Path(__file__).parents[1] / "recorded" / "load.json"
LATER = 7  # runs after a first one
APART = 1.2  # seconds: a check that comes sooner after its first run has nothing to compare
EXACT = ("connections", "statements", "calls")


def counted(counts, check, home, runs=LATER):
    """What the first run of a check costs, and what a later one does."""
    found = []
    for _ in range(1 + runs):
        time.sleep(APART)
        said, cost = counts.run(home, check)
        assert said.asked, said
        found.append(cost)
    return {"first": _rounded(found[0]), "later": _rounded(usual(found[1:]))}


def usual(costs):
    """What is usual among runs: the most that was asked, and the least that was counted of it.

    A heartbeat of replication comes on top now and then, and time depends on who else runs.
    """
    return {name: _among(name)(cost[name] for cost in costs) for name in costs[0]}


def _among(name):
    return max if name in EXACT else median if name == "seconds" else min


def _rounded(cost):
    return {name: round(value, 4 if name == "seconds" else None) for name, value in cost.items()}


def recorded(kind, counts, folder, version):
    """What all checks of that kind of server cost it."""
    checks = {}
    counts.run(_home(folder, f"{kind}-warm"), next(iter(CHECKS[kind])))  # logs in as nobody did before
    for check in CHECKS[kind]:
        checks[check] = counted(counts, check, _home(folder, f"{kind}-{check}"))
    return {"version": version, "checks": checks}


def _home(folder, name):
    home = Path(folder) / name
    home.mkdir()
    return home


def of_pair(folder, kind):
    """On the replica of a pair."""
    with Pair(Path(folder) / kind, kind) as pair:
        server = pair.replica
        return recorded(kind, SqlCounts(server, kind, of_sql(kind, server)), folder, _version(server))


def of_cluster(folder):
    """On the SQL node of a cluster with two data nodes."""
    with NdbCluster(Path(folder) / "ndb", sql=True) as cluster:
        node = cluster.sql_node
        return recorded("ndb", SqlCounts(node, "ndb", of_sql("ndb", node)), folder, _version(node))


def of_jvm(folder):
    """On a JVM that shows little."""
    with Jvm(Path(folder) / "jvm") as jvm:
        version = jvm.jcmd("VM.version").splitlines()[-1].removeprefix("JDK ")
        return recorded("jvm", JmxCounts(of_java(jvm)), folder, version)


def of_cassandra(folder):
    """On a Cassandra of one node."""
    with Cassandra(Path(folder) / "cassandra") as cassandra:
        return recorded("cassandra", JmxCounts(of_java(cassandra)), folder, VERSION)


def _version(server):
    ((version,),) = (row.values() for row in server.sql("SELECT @@version"))
    return version.partition("-")[0]


def main():
    """Record all of them, or those that are named."""
    makers = {
        "mysql": lambda folder: of_pair(folder, "mysql"),
        "mariadb": lambda folder: of_pair(folder, "mariadb"),
        "ndb": of_cluster,
        "jvm": of_jvm,
        "cassandra": of_cassandra,
    }
    found = json.loads(FILE.read_text()) if FILE.exists() else {}
    for kind in sys.argv[1:] or makers:
        with tempfile.TemporaryDirectory() as folder:
            found[kind] = makers[kind](folder)
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
