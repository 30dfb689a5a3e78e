"""What does check_replication_lag cost beside what one would use instead, and who tells the truth?

Whole processes, arguments and verdict included, in turn in one run, on a replica of MariaDB and one of MySQL
that the tests start. Then the same commands on replicas in trouble.
"""

import compileall
import contextlib
import os
import re
import sys
import tempfile
import textwrap
import time
from pathlib import Path

from measured import Starter, cost_line
from peers import peers

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "live"))

import software  # noqa: E402 - it is there
from replication_pair import KINDS, Pair  # noqa: E402
from replication_writer import Writer  # noqa: E402

ROUNDS = 25
CUT = 50  # seconds after which it is looked: the receiver itself gives up after 60
EVERY = 60  # seconds between runs, as an engine does it
STOPPED = 8  # seconds after which it is looked at an applier that was stopped
LONGEST = 400  # characters of what is said
OURS = "check_replication_lag"
PEERS = {  # what is in use, and Debian's packages of it
    "check_mysql": ("monitoring-plugins-standard",),
    "check_mysql_health": ("monitoring-plugins-contrib", "libdbd-mysql-perl"),
    "pmp-check-mysql-replication-delay": ("monitoring-plugins-contrib",),
}
WARNING, CRITICAL = 60, 600  # as ours are by default
NAMES = {"mariadb": "MariaDB", "mysql": "MySQL"}
STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")


class Bench:
    """The commands for one pair, and what they cost and say."""

    def __init__(self, pair, starter, paths):
        self.pair = pair
        self.starter = starter
        self.paths = paths
        self.said = {}  # by situation and name: (state, text)
        ((version,),) = (row.values() for row in pair.replica.sql("SELECT @@version"))
        self.version = f"{NAMES[pair.kind]} {version.partition('-')[0]}"

    def ours(self, *where):
        """Our plugin as it is called."""
        return [sys.executable, ROOT / "plugins" / OURS, "-u", self.pair.monitor.user, *where]

    def commands(self, server):
        """All checks of one server by their names."""
        user, password = self.pair.monitor
        limits = ("-w", WARNING, "-c", CRITICAL)
        peers = {
            "check_mysql": [*limits, "-S", "-s", server.socket, "-u", user, "-p", password],
            "check_mysql_health": [
                "--mode", "slave-lag", "--warning", WARNING, "--critical", CRITICAL,
                "--socket", server.socket, "--username", user, "--password", password,
            ],
            "pmp-check-mysql-replication-delay": [*limits, "-S", server.socket, "-l", user, "-p", password],
        }  # fmt: skip
        given = {name: [path, *peers[name]] for name, path in self.paths.items()}
        return {OURS: self.ours("-S", server.socket), **given}

    def compare(self):
        """Run each in turn, many times; the others are set against the first."""
        commands = self.commands(self.pair.replica)
        over = "TLS" if self.pair.kind == "mysql" else "TCP"  # MariaDB 10.11 has no TLS by default
        commands[f"{OURS} over {over}"] = self.ours("-H", "127.0.0.1", "-P", self.pair.replica.port)
        costs = {name: [] for name in commands}
        for _ in range(ROUNDS):
            for name, command in commands.items():
                costs[name].append(self.starter.cost(command))
        print(f"\n{self.version}, healthy, medians of {ROUNDS}")
        first, *_ = costs.values()
        for name, each in costs.items():
            print(cost_line(name, each, first))

    def ask(self, situation, server=None):
        """Note what each says now."""
        answer = os.path.join(self.pair.folder, "answer")
        for name, command in self.commands(server or self.pair.replica).items():
            status = self.starter.cost(command, output=answer).status
            text = " ".join(Path(answer).read_text(errors="replace").partition("|")[0].split())
            self.said[situation, name] = STATES[status] if status in range(4) else f"exit {status}", text

    def live_through(self):
        """Ask in each situation."""
        pair = self.pair
        with Writer(pair):
            time.sleep(3)
            self.ask("healthy")
            time.sleep(EVERY - CUT)
            pair.link.black_hole()
            time.sleep(CUT)
            self.ask(f"link dead for {CUT} s")
            pair.link.pass_all()
            pair.catch_up()
            pair.replica.stop_replication("", "SQL_THREAD")
            time.sleep(STOPPED)
            self.ask("applier stopped")
            pair.replica.start_replication("", "SQL_THREAD")
            pair.add_channel("east")
            with Writer(pair, "east"):
                pair.replica.stop_replication("east", "SQL_THREAD")
                time.sleep(STOPPED)
                self.ask("2nd channel's applier stopped")
            self.ask("not a replica", pair.source)

    def tell(self):
        """Print the states, then the words, each once."""
        situations = list(dict.fromkeys(situation for situation, _ in self.said))
        names = list(dict.fromkeys(name for _, name in self.said))
        width = max(map(len, names))
        print(f"\n{self.version}: who says what\n  {'':{width}}  {'  '.join(situations)}")
        for name in names:
            states = (f"  {self.said[one, name][0]:>{len(one)}}" for one in situations)
            print(f"  {name:{width}}" + "".join(states))
        told = set()
        for situation in situations:
            print(f"\n  {situation}")
            for name in names:
                state, text = self.said[situation, name]
                same = (name, re.sub(r"\d+", "", text))
                line = f"{name:{width}}  {state:8}  {'(as above)' if same in told else text[:LONGEST]}"
                told.add(same)
                print(textwrap.fill(line, 150, initial_indent="    ", subsequent_indent=" " * (width + 16)))


def main():
    """Print all tables."""
    compileall.compile_dir(ROOT / "lib", quiet=1)  # as it is installed
    paths = peers(PEERS)
    for kind in KINDS:
        with contextlib.ExitStack() as running:
            folder = running.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
            try:
                pair = running.enter_context(Pair(os.path.join(folder, kind), kind))
            except software.Missing as missing:
                print(f"left out: {missing}")
                continue
            os.environ["HOME"] = folder  # no ~/.my.cnf
            os.environ["STATE_DIRECTORY"] = os.path.join(folder, "state")
            os.environ["STALLWATCH_MYSQL_PASSWORD"] = pair.monitor.password
            bench = Bench(pair, running.enter_context(Starter()), paths)
            bench.compare()
            bench.live_through()
            bench.tell()


if __name__ == "__main__":
    main()
