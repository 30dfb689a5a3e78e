"""What can no check be cheaper than? Processes that do next to nothing, and clients that ask once."""

import contextlib
from pathlib import Path

from copies import tree
from measured import ROOT, Bench
from pairs import MONITOR, version

# isort: split
import software
from mariadb import Mariadb

ROUNDS = 50
STARTS = {
    "python3 -I -S -c pass": ("-I", "-S", "-c", "pass"),
    "python3 -I -c pass": ("-I", "-c", "pass"),
    "python3 -I, left at once": ("-I", "-c", "import posix; posix._exit(0)"),
    "python3 -I -c 'import argparse'": ("-I", "-c", "import argparse"),
}
RAW = ROOT / "tests" / "bench" / "raw_client.py"


def clients(bench, python, server):
    """What asks SELECT 1, by name: as little as Python can, and MariaDB's own, if it is here."""
    account = server.account(MONITOR)
    found = {"a raw client, python3 -I -S": [python, "-I", "-S", RAW, server.socket, *account]}
    try:
        program = software.program("mariadb", "mariadb-client")
    except software.Missing as missing:
        bench.leave_out(missing)
        return found
    login = ("--no-defaults", "-S", server.socket, f"-u{account.user}", f"-p{account.password}")
    return found | {"the mariadb client": [program, *login, "-e", "SELECT 1"]}


def main():
    """Measure them."""
    with Bench("floor") as bench, contextlib.ExitStack() as running:
        commands = {"/bin/true": ["/bin/true"]}
        python = tree(Path(bench.path("environment"))).python
        commands |= {name: [python, *words] for name, words in STARTS.items()}
        try:
            server = running.enter_context(Mariadb(bench.path("server")))
        except software.Missing as missing:
            bench.leave_out(missing)
        else:
            bench.software["MariaDB"] = version(server)
            commands |= clients(bench, python, server)
        bench.compare("the floor", commands, ROUNDS)


if __name__ == "__main__":
    main()
