"""What plugins ask of MySQL servers and get, noted for tests/recorded: recorded_mysql.py answers the same."""

import json
import os
import runpy
import sys
import time
from pathlib import Path
from unittest import mock

from stallwatch.sources import mysql

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded"
CONNECT = mysql.connect
sys.path.append(str(RECORDED))

from recorded_mysql import statement  # noqa: E402 - it is there


class Recording:
    """Runs plugins, and notes what servers answer; ``folder`` keeps what the plugins remember.

    ``real(target)`` is the server that a target of this recording stands for, and ``row`` and ``value``
    give what it answered without a trace of this host.
    """

    def __init__(self, folder):
        self.folder = folder
        self.began = 0.0
        self.statements = {}  # (text, columns) -> number
        self.runs = []

    def run(self, plugin, options, password):
        """One run more; gives the exit status and what it said."""
        of_plugin = runpy.run_path(str(ROOT / "plugins" / plugin))
        self.runs.append({"plugin": plugin, "options": options, "began": time.time(), "log_ins": []})
        self.began = time.monotonic()
        environment = {"STALLWATCH_MYSQL_PASSWORD": password, "HOME": self.folder}
        with mock.patch.object(mysql, "connect", self.connect), mock.patch.dict(os.environ, environment):
            own = ["--state-dir", self.folder]
            status, text = of_plugin["check"].run(of_plugin["findings"], [*options, *own])
        print(f"{text}\nexit status {status}\n", flush=True)  # noqa: T201
        if "internal error" in text:
            raise RuntimeError("that is worth no recording")
        return status, text

    def connect(self, target, deadline, _, trace):
        """As ``mysql.connect``, of a server by its name in the recording, whose log-in is a first use."""
        return self.log_in(target.where, lambda: CONNECT(self.real(target), deadline, None, trace))

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
    answers_after = None  # nor how long it takes today

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
            self._note(recording.number(asked), begun, error=[number, recording.value(said)])
            raise
        noted = list(map(recording.row, rows))
        number = recording.number(asked, *noted[:1])
        self._note(number, begun, rows=[list(row.values()) for row in noted])
        return rows

    def _note(self, number, begun, **answer):
        self._log_in["answers"].append({"statement": number, **self._recording.spent(begun), **answer})
