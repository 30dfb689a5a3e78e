"""Who tells the truth about a replica, check_replication_lag or what one would use instead?

Asked of replicas in trouble, MariaDB and MySQL: which states they say, or pt-heartbeat how many seconds.
"""

import contextlib
import re
import subprocess
import textwrap
import time
from pathlib import Path

from measured import Bench
from mysql import Commands
from pairs import PASSWORD, pairs
from peers import peers

# isort: split
from replication_writer import Writer

DEAD = (50, 90)  # seconds after which it is looked at a dead link: the receiver itself gives up after 60
EVERY = 60  # seconds between runs, as an engine does it
BEGUN = 60  # seconds that the first heartbeat may take
STOPPED = 8  # seconds after which it is looked at an applier that was stopped
LONGEST = 400  # characters of what is said
LAG_PEERS = ("check_mysql", "check_mysql_health", "pmp-check-mysql-replication-delay", "pt-heartbeat")
# Not with --create-table: of its other columns are file and position, for which pt-heartbeat 3.2.1 asks
# SHOW MASTER STATUS, which MySQL does not know since 8.4.
BEATS = "CREATE TABLE {}.heartbeat (ts VARCHAR(26) NOT NULL, server_id INT UNSIGNED NOT NULL PRIMARY KEY)"
STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")


class Truth:
    """What is said of one pair in each situation."""

    def __init__(self, pair, bench, paths):
        self.pair = pair
        self.bench = bench
        self.paths = paths
        self.said = {}  # by situation and name: (state, text)

    def ask(self, situation, server=None, channel=""):
        """Note what each says now; pt-heartbeat is asked for that channel."""
        answer = self.bench.path("answer")
        source, _, schema = self.pair.channels[channel]
        commands = Commands(self.pair, server or self.pair.replica, self.paths)
        asked = {**commands.ask("check_replication_lag"), **commands.lag(schema, source.number)}
        for name, command in asked.items():
            status = self.bench.starter.cost(command, output=answer).status
            text = " ".join(Path(answer).read_text(errors="replace").partition("|")[0].split())
            self.said[situation, name] = state(name, status, text), text

    def live_through(self):
        """Ask in each situation."""
        with Writer(self.pair), self.beating():
            time.sleep(3)
            self.ask("healthy")
            time.sleep(EVERY - DEAD[0])
            self.cut_the_link()
            self.stop_the_applier()
            self.stop_a_second_applier()
            self.ask("not a replica", self.pair.source)

    def cut_the_link(self):
        """Ask before and after the receiver has given up."""
        self.pair.link.black_hole()
        begun = time.monotonic()
        for seconds in DEAD:
            time.sleep(begun + seconds - time.monotonic())
            self.ask(f"link dead for {seconds} s")
        self.pair.link.pass_all()
        self.pair.catch_up()

    def stop_the_applier(self):
        """Ask when it does not run, and let it run again."""
        self.pair.replica.stop_replication("", "SQL_THREAD")
        time.sleep(STOPPED)
        self.ask("applier stopped")
        self.pair.replica.start_replication("", "SQL_THREAD")

    def stop_a_second_applier(self):
        """Ask when that of a channel more does not run."""
        self.pair.add_channel("east")
        with Writer(self.pair, "east"), self.beating("east"):
            self.pair.replica.stop_replication("east", "SQL_THREAD")
            time.sleep(STOPPED)
            self.ask("2nd channel's applier stopped", channel="east")

    @contextlib.contextmanager
    def beating(self, channel=""):
        """Have pt-heartbeat write into the source of a channel, if it is here."""
        if "pt-heartbeat" not in self.paths:
            yield
            return
        source, _, schema = self.pair.channels[channel]
        source.sql(BEATS.format(schema))
        table = ("-D", schema, "-S", source.socket, "-u", "root")
        command = [self.paths["pt-heartbeat"], "--update", "--no-version-check", *table]
        with subprocess.Popen(command, env=self.bench.starter.environment) as process:
            try:
                self.wait_for_a_beat(schema, process)
                yield
            finally:
                process.terminate()

    def wait_for_a_beat(self, schema, process):
        """Wait until the first has come to the replica."""
        until = time.monotonic() + BEGUN
        self.pair.catch_up()  # the table is there
        while not self.pair.replica.sql(f"SELECT 1 FROM {schema}.heartbeat"):
            if process.poll() is not None or time.monotonic() > until:
                raise TimeoutError(f"no heartbeat in {schema}; its writer's exit status: {process.poll()}")
            time.sleep(0.1)

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


def state(name, status, text):
    """What an exit status says; pt-heartbeat gives seconds instead, and ends with 0 however many they are."""
    if name == "pt-heartbeat" and not status:
        return f"{text} s"
    return STATES[status] if name != "pt-heartbeat" and status in range(4) else f"exit status {status}"


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
