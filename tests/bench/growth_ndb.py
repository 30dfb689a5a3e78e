"""What do the plugins that read ndbinfo cost, from 2 data nodes to as many as NDB can have?

Stand-ins for SQL nodes answer as a large cluster would (tests/unit/large_cluster.py).
"""

import contextlib

from growth_limits import flat, linear
from measured import Bench
from ndb import Answers, check
from sql_stand_in import served

# isort: split
from large_cluster import TROUBLES

ROUNDS = 15
NODES = (2, 6, 12, 24, 48, 96, 144)  # NDB has 144 at most


class Busy(Answers):
    """A cluster that works: what was asked once is known before it is asked again."""

    def later(self):
        """A minute goes by. This process is not what is measured, but a check waits for it."""
        super().later()
        for sql in sorted(self.asked):
            self(sql)


def costs(bench, plugin):
    """Measure one plugin on clusters of all sizes."""
    clusters = {count: Busy(count) for count in NODES}

    def later():
        for cluster in clusters.values():
            cluster.later()

    with contextlib.ExitStack() as running:
        commands = {}
        for count, cluster in clusters.items():
            where = ("-H", "127.0.0.1", "-P", running.enter_context(served(cluster)), "-p", "any")
            commands[count] = check(plugin, *where, "--state-dir", bench.path(f"{plugin} {count}"))
        for command in commands.values():  # what is remembered, so that next time all is asked
            bench.starter.cost(command)
        later()
        return bench.compare(plugin, commands, ROUNDS, later)


def main():
    """Measure each."""
    with Bench("growth_ndb") as bench:
        found = {plugin: costs(bench, plugin) for plugin in TROUBLES}
        linear(bench, found)
        flat(bench, found, "memory")


if __name__ == "__main__":
    main()
