"""The generations of the configuration that data nodes run with: they are one, or a change is unfinished."""

from __future__ import annotations

from stallwatch.findings import Reading
from stallwatch.probes.ndbinfo.words import listed, named
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.ndb_nodes.clocks import Clocks
    from stallwatch.probes.ndbinfo.cluster import Cluster

_NAME = "generations"


def look(cluster: Cluster, clocks: Clocks) -> Iterator[Reading]:
    """Tell how long the generations differ; nothing where they are not told (before 7.1.10)."""
    by_generation: dict[int, list[int]] = {}
    for node in sorted(cluster.nodes.values()):
        if node.config_generation is not None:
            by_generation.setdefault(node.config_generation, []).append(node.id)
    if not by_generation:
        return
    if len(by_generation) == 1:
        if len(cluster.nodes) == cluster.configured:
            clocks.over(_NAME)
        yield Reading(_NAME, 0, "s", "no generations of the configuration differ")
        return
    newest = max(by_generation)
    old = [node for generation, nodes in by_generation.items() if generation != newest for node in nodes]
    each = [f"{generation} on {named(nodes)}" for generation, nodes in sorted(by_generation.items())]
    yield Reading(
        _NAME, clocks.seconds(_NAME), "s",
        f"the generations of the configuration differ: {listed(each)}",
        "a rolling restart is not finished",
        f"restart {named(sorted(old))}{', one at a time' if len(old) > 1 else ''}",
    )  # fmt: skip
