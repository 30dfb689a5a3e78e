"""Record what check_replication_lag asks of a replica and gets, for tests/recorded/replication/servers.

.venv/bin/python tests/live/replication_recording.py mariadb|mysql [NAME ...]
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

from mysql_recording import RECORDED, Recording
from replication_pair import KINDS, Pair
from replication_stories import STORIES, without_gtid
from stallwatch.sources import mysql

SERVERS = RECORDED / "replication" / "servers"
AT_ONCE = 3  # pairs
HOST, PORT = "127.0.0.1", 3306
READ_OF_STATUS = r"^(?:Log sequence number|Last checkpoint at) .*$"
METRIC = ("NAME", "COUNT", "STATUS", "ENABLED")


class Names:
    """The servers of a pair by names, ``db1`` and so on: an answer is to tell nothing of this host."""

    def __init__(self, pair):
        source, *others = [channel.source for channel in pair.channels.values()]
        self.servers = dict(zip(("db1", "db2", "db3"), (source, pair.replica, *others), strict=False))
        self.folder = pair.folder
        links = {channel.source: channel.link for channel in pair.channels.values()}
        self.ports = {server.port: name for name, server in self.servers.items()}
        self.ports |= {links[server].port: name for name, server in self.servers.items() if server in links}

    def row(self, row):
        """A row without what nobody reads, which is much of what InnoDB tells."""
        if row.get("Type") == "InnoDB":  # its status
            row = row | {"Status": "\n".join(re.findall(READ_OF_STATUS, row["Status"], re.MULTILINE))}
        if "AVG_COUNT" in row:  # a metric
            row = {name: value for name, value in row.items() if name in METRIC}
        if row.get("Variable_name") == "port":
            row = row | {"Value": str(PORT)}
        port = next((value for name, value in row.items() if name.endswith("_Port")), None)
        of = self.ports.get(port, "db1")
        return {
            name: PORT if name.endswith("_Port") else self.value(value, of) for name, value in row.items()
        }

    def value(self, value, of="db1"):
        """One value, of a row about that server."""
        if not isinstance(value, str):
            return value
        for port, name in self.ports.items():
            value = value.replace(f"{HOST}:{port}", f"{name}:{PORT}")
        value = value.replace(HOST, of).replace(self.folder, "/srv")
        return "db2" if value == os.uname().nodename else value


class ReplicationRecording(Recording):
    """Runs the plugin on the servers of a pair, and notes what they answer."""

    def __init__(self, pair, folder):
        super().__init__(folder)
        self.pair = pair
        self.names = None

    def __call__(self, *options, of="db2", account=None):
        """One run more."""
        account = account or self.pair.monitor
        self.names = Names(self.pair)
        self.run("check_replication_lag", ["-H", of, "-u", account.user, *options], account.password)

    def real(self, target):
        """A server by its name here."""
        socket = self.names.servers[target.host].socket
        return mysql.Target(socket=socket, user=target.user, password=target.password)

    def row(self, row):
        """What is to be kept of a row."""
        return self.names.row(row)

    def value(self, value):
        """What is to be kept of a value."""
        return self.names.value(value)


def record(kind, story, folder):
    """Let a new pair live through a story; write what was asked and answered."""
    state = os.path.join(folder, "state")
    os.mkdir(state, 0o700)
    with Pair(os.path.join(folder, "pair"), kind, gtid=story is not without_gtid) as pair:
        recording = ReplicationRecording(pair, state)
        story(pair, recording)
        name, version, _ = recording.runs[0]["log_ins"][0]["flavour"]
    file = f"{name.lower()}-{version[0]}.{version[1]}-{story.__name__.replace('_', '-')}.json"
    (SERVERS / file).write_text(recording.text())


def main():
    """Record the stories of these names, or all: each by a process of its own."""
    stories = {story.__name__.replace("_", "-"): story for story in STORIES}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    about = f"the scenarios (default: all): {', '.join(stories)}"
    parser.add_argument("name", nargs="*", choices=[[], *stories], metavar="NAME", help=about)
    options = parser.parse_args()
    names = options.name or list(stories)
    if len(names) == 1:
        with tempfile.TemporaryDirectory(prefix="recording-") as folder:
            record(options.kind, stories[names[0]], folder)
        return
    commands = [[sys.executable, __file__, options.kind, name] for name in names]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        found = list(threads.map(_done, commands))
    sys.exit(any(found))


def _done(command):
    """Run it, and let it say what it has to say in one piece. Returns its exit status."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(f"--- {' '.join(command[-2:])}\n{done.stdout}{done.stderr}", flush=True)  # noqa: T201
    return done.returncode


if __name__ == "__main__":
    main()
