"""Who tells the truth about a replica, check_replication_lag or what one would use instead?

The same commands on replicas in trouble, of MariaDB and of MySQL: which states they say.
"""

import re
import textwrap
import time
from pathlib import Path

from measured import Bench
from mysql import Commands
from pairs import PASSWORD, pairs
from peers import peers

# isort: split
from replication_writer import Writer

CUT = 50  # seconds after which it is looked: the receiver itself gives up after 60
EVERY = 60  # seconds between runs, as an engine does it
STOPPED = 8  # seconds after which it is looked at an applier that was stopped
LONGEST = 400  # characters of what is said
# pt-heartbeat would need its --update to run, which does not know MySQL 9.7.
LAG_PEERS = ("check_mysql", "check_mysql_health", "pmp-check-mysql-replication-delay")
STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")


class Truth:
    """What is said of one pair in each situation."""

    def __init__(self, pair, bench, paths):
        self.pair = pair
        self.bench = bench
        self.paths = paths
        self.said = {}  # by situation and name: (state, text)

    def ask(self, situation, server=None):
        """Note what each says now."""
        answer = self.bench.path("answer")
        commands = Commands(self.pair, server or self.pair.replica, self.paths)
        for name, command in {**commands.ask("check_replication_lag"), **commands.lag()}.items():
            status = self.bench.starter.cost(command, output=answer).status
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

    def tell(self, where):
        """Keep the states, and print them with the words, each once."""
        situations = list(dict.fromkeys(situation for situation, _ in self.said))
        names = list(dict.fromkeys(name for _, name in self.said))
        self.bench.said[where] = {
            situation: {name: self.said[situation, name][0] for name in names} for situation in situations
        }
        told = set()
        print(f"\n{where}: who says what")
        for situation in situations:
            print(f"\n  {situation}")
            for name in names:
                state, text = self.said[situation, name]
                same = (name, re.sub(r"\d+", "", text))
                line = f"{name:36}  {state:8}  {'(as above)' if same in told else text[:LONGEST]}"
                told.add(same)
                print(textwrap.fill(line, 150, initial_indent="    ", subsequent_indent=" " * 52), flush=True)


def main():
    """Live through it on each kind of server."""
    with Bench("replication", STALLWATCH_MYSQL_PASSWORD=PASSWORD) as bench:
        paths = peers(bench, *LAG_PEERS)
        for pair, where in pairs(bench):
            truth = Truth(pair, bench, paths)
            truth.live_through()
            truth.tell(where)


if __name__ == "__main__":
    main()
