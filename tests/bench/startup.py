"""What does each module of stallwatch.startup save? It, and what a check would import in its place."""

import itertools
from pathlib import Path

from copies import tree
from measured import Bench

ROUNDS = 50
ALWAYS = "import stallwatch.startup.imports"  # with which the others do their work
INSTEAD = {
    "from stallwatch.startup import NamedTuple": "from typing import NamedTuple",
    "from stallwatch.startup.argparse import ArgumentParser; ArgumentParser()": (
        "from argparse import ArgumentParser; ArgumentParser()"
    ),
    "from stallwatch.startup.hashing import hashlib": "import hashlib",
    "from stallwatch.startup.nagiosplugin import Range": "from nagiosplugin.range import Range",
    "from stallwatch.startup.pymysql import connections": "from pymysql import connections",
    "from stallwatch.startup.sockets import socket": "import socket",
    "from stallwatch.startup.tls import ssl": "import ssl",
}


def main():
    """Measure them."""
    with Bench("startup") as bench:
        python = tree(Path(bench.path("environment"))).python
        commands = {ALWAYS: [python, "-c", ALWAYS]}
        for statement in itertools.chain.from_iterable(INSTEAD.items()):
            commands[statement] = [python, "-c", f"{ALWAYS}; {statement}"]
        bench.compare("imports", commands, ROUNDS)


if __name__ == "__main__":
    main()
