"""Record what check_replication_lag asks of a replica and gets, for tests/recorded/replication/servers.

.venv/bin/python tests/live/replication_recording.py mariadb|mysql [NAME ...]
"""

import argparse
import concurrent.futures
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

from replication_pair import KINDS, Pair
from replication_stories import ONLY_MARIADB, STORIES, without_gtid
from stallwatch.sources import mysql
from stallwatch.sources.mysql.server import Server

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "recorded"))

from recorded_mysql import statement  # noqa: E402 - it is there

SERVERS = ROOT / "tests" / "recorded" / "replication" / "servers"
PLUGIN = runpy.run_path(str(ROOT / "plugins" / "check_replication_lag"))
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


class Recording:
    """Runs the plugin on the servers of a pair, and notes what they answer."""

    def __init__(self, pair, folder):
        self.pair = pair
        self.folder = folder
        self.names = None
        self.began = 0.0
        self.statements = {}  # (text, columns) -> number
        self.runs = []

    def __call__(self, *options, of="db2", account=None):
        """One run more."""
        account = account or self.pair.monitor
        options = ["-H", of, "-u", account.user, *options]
        self.names = Names(self.pair)
        self.runs.append({"options": options, "began": time.time(), "log_ins": []})
        self.began = time.monotonic()
        environment = {"STALLWATCH_MYSQL_PASSWORD": account.password, "HOME": self.folder}
        with mock.patch.object(mysql, "connect", self.connect), mock.patch.dict(os.environ, environment):
            status, text = PLUGIN["check"].run(PLUGIN["findings"], [*options, "--state-dir", self.folder])
        print(f"{text}\nexit status {status}\n", flush=True)  # noqa: T201
        if "internal error" in text:
            raise RuntimeError("that is worth no recording")

    def connect(self, target, deadline, trace):
        """As ``mysql.connect``, of a server by its name here."""
        socket = self.names.servers[target.host].socket
        real = mysql.Target(socket=socket, user=target.user, password=target.password)
        return self.log_in(target.where, lambda: Server(real, deadline, trace))

    def log_in(self, where, new):
        """Log in by ``new``, and note it."""
        begun = time.monotonic()
        server = new()
        log_in = {"where": where, "flavour": server.flavour, "account": server._account, **self.spent(begun)}
        log_in["answers"] = []
        self.runs[-1]["log_ins"].append(log_in)
        return RecordingServer(self, server, log_in)

    def spent(self, begun):
        """When something began and how long it took, as it is recorded."""
        return {"at": round(begun - self.began, 6), "took": round(time.monotonic() - begun, 6)}

    def number(self, sql, columns=()):
        """The number of a statement whose answer has these columns."""
        return self.statements.setdefault((sql, tuple(columns)), len(self.statements))

    def text(self):
        """The recording as JSON, a line for each answer."""
        statements = [{"sql": sql, "columns": columns} for sql, columns in self.statements]
        runs = [_nested(run, "log_ins", map(_log_in, run["log_ins"])) for run in self.runs]
        of_statements = ",\n".join(map(json.dumps, statements))
        of_runs = ",\n".join(runs)
        return f'{{\n"statements": [\n{of_statements}\n],\n"runs": [\n{of_runs}\n]\n}}\n'


def _log_in(log_in):
    answers = (json.dumps(answer, separators=(",", ":")) for answer in log_in["answers"])
    return _nested(log_in, "answers", answers)


def _nested(of, name, parts):
    """An object as JSON, with a line for each of what it has under that name."""
    others = json.dumps({other: value for other, value in of.items() if other != name})
    lines = ",\n".join(parts)
    return f'{others[:-1]}, "{name}": [\n{lines}\n]}}'


class RecordingServer:
    """A server as it is, whose answers are noted."""

    local = False  # this host is not recorded

    def __init__(self, recording, server, log_in):
        self._recording = recording
        self._server = server
        self._log_in = log_in
        self.where = log_in["where"]
        self.flavour = server.flavour

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server.close()

    def close(self):
        """As the server's."""
        self._server.close()

    def again(self):
        """As the server's."""
        return self._recording.log_in(self.where, self._server.again)

    def rows(self, sql, *arguments, within=None):
        """As the server's."""
        recording, begun, asked = self._recording, time.monotonic(), statement(sql, *arguments)
        try:
            rows = self._server.rows(sql, *arguments, within=within)
        except mysql.MysqlError as error:
            number, said = error.__context__.args  # what the server itself said
            self._note(recording.number(asked), begun, error=[number, recording.names.value(said)])
            raise
        noted = list(map(recording.names.row, rows))
        number = recording.number(asked, *noted[:1])
        self._note(number, begun, rows=[list(row.values()) for row in noted])
        return rows

    def _note(self, number, begun, **answer):
        self._log_in["answers"].append({"statement": number, **self._recording.spent(begun), **answer})


def record(kind, story, folder):
    """Let a new pair live through a story; write what was asked and answered."""
    state = os.path.join(folder, "state")
    os.mkdir(state, 0o700)
    with Pair(os.path.join(folder, "pair"), kind, gtid=story is not without_gtid) as pair:
        recording = Recording(pair, state)
        story(pair, recording)
        name, version, _ = recording.runs[0]["log_ins"][0]["flavour"]
    file = f"{name.lower()}-{version[0]}.{version[1]}-{story.__name__.replace('_', '-')}.json"
    (SERVERS / file).write_text(recording.text())


def main():
    """Record the stories of these names, or all: each by a process of its own."""
    stories = {story.__name__.replace("_", "-"): story for story in STORIES}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("name", nargs="*", choices=[[], *stories], help="what happens (default: all that)")
    options = parser.parse_args()
    names = [
        name
        for name in options.name or stories
        if options.kind == "mariadb" or stories[name] not in ONLY_MARIADB
    ]
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
