"""The parts of the bench of diagnosis, and where their cases are."""

from importlib import import_module

import case

# Pairs of each kind of server, or clusters, that work side by side.
LANES = {"replication": 5, "ndb": 2, "locks": 7, "jmx": 4, "first-tries": 1}
QUICK_LANES = LANES | {"jmx": 6}  # of which most wait, so that it takes less than 3 minutes
PARTS = {
    "replication": (
        "replication_link", "replication_threads", "replication_locks", "replication_applying",
        "replication_episodes",
        "replication_clocks", "replication_chain", "replication_heartbeat", "replication_healthy",
    ),
    "ndb": ("ndb_whole_nodes", "ndb_threads", "ndb_network", "ndb_disks", "ndb_contention", "ndb_healthy"),
    "locks": ("locks_rows", "locks_tables", "locks_applier", "locks_disk", "locks_healthy"),
    "jmx": ("jmx_faults", "jmx_queues", "jmx_cassandra", "jmx_healthy"),
    "first-tries": ("first_tries",),
}  # fmt: skip


def cases(part):
    """The cases of a part, by name."""
    for module in PARTS[part]:
        import_module(module)
    return {one.name: one for one in case.CASES.values() if one.story.__module__ in PARTS[part]}
