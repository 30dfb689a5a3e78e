"""The parts of the bench of diagnosis, and where their cases are."""

from importlib import import_module

import case

PARTS = {
    "replication": (
        "replication_link", "replication_threads", "replication_locks", "replication_applying",
        "replication_episodes",
        "replication_clocks", "replication_chain", "replication_heartbeat", "replication_healthy",
    ),
}  # fmt: skip


def cases(part):
    """The cases of a part, by name."""
    for module in PARTS[part]:
        import_module(module)
    return {one.name: one for one in case.of_part(part)}
