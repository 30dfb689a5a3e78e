"""What plugins ask of MySQL servers and get, noted for tests/recorded: recorded_mysql.py answers the same."""

import json
import os
import runpy
import sys
import time
from pathlib import Path
from unittest import mock

from stallwatch.sources import mysql, recording
from stallwatch.sources.mysql.flavour import flavour

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded"
CONNECT = mysql.connect
sys.path.append(str(RECORDED))

import record_and_play  # noqa: E402 - it is there
from recorded_mysql import SET_UP, WHO, statement  # noqa: E402 - it is there


class Recording:
    """Runs plugins, and notes what servers answer; ``folder`` keeps what the plugins remember.

    ``real(target)`` is the server that a target of this recording stands for, and ``row`` and ``value``
    give what it answered without a trace of this host.
    """

    def __init__(self, folder):
        self.folder = folder
        self.began = 0.0
        self.places = {}  # of servers in the recording, by where they are
        self.statements = {}  # (text, columns) -> number
        self.runs = []

    def run(self, plugin, options, password):
        """One run more; gives the exit status and what it said."""
        of_plugin = runpy.run_path(str(ROOT / "plugins" / plugin))
        run, lines = {"plugin": plugin, "options": options, "began": time.time()}, []
        self.runs.append(run)
        self.began = time.monotonic()
        environment = {"STALLWATCH_MYSQL_PASSWORD": password, "HOME": self.folder}
        with (
            mock.patch.object(mysql, "connect", self.connect),
            mock.patch.dict(os.environ, environment),
            recording.use(record_and_play.Recorder(lines.append)),
        ):
            own = ["--state-dir", self.folder]
            status, text = of_plugin["check"].run(of_plugin["findings"], [*options, *own])
        run["log_ins"] = self.log_ins(map(json.loads, lines))
        print(f"{text}\nexit status {status}\n", flush=True)  # noqa: T201
        if "internal error" in text:
            raise RuntimeError("that is worth no recording")
        return status, text

    def connect(self, target, deadline, _, trace):
        """As ``mysql.connect``, of a server by its name in the recording, whose log-in is a first use."""
        real = self.real(target)
        self.places[real.where] = target.where
        return self.named(CONNECT(real, deadline, None, trace))

    def named(self, server):
        """The server under its name, as one of another host: nothing of this one is recorded."""
        again = server.again
        server.where, server.local = self.places[server.where], False
        server.again = lambda: self.named(again())
        return server

    def log_ins(self, entries):
        """The log-ins of a run, each with its answers, from what was recorded."""
        found = {}
        for entry in entries:
            asked, number = entry["asked"], entry["log_in"]
            when = {"at": round(entry["at"] - self.runs[-1]["began"], 6), "took": entry["took"]}
            if entry["source"] != "mysql" or asked[0].startswith(SET_UP):
                continue
            if asked == [*recording.LOG_IN]:
                found[number] = {"where": self.places[entry["where"]]}, when, []
            elif asked == [f"SELECT {', '.join(WHO)}"]:
                (version, comment, _, account), *_ = entry["answer"][1]
                found[number][0].update(flavour=flavour(version, comment), account=account)
            else:
                found[number][2].append(self._answer(statement(*asked), when, entry))
        # Those that failed have no flavour, and are not played.
        return [who | when | {"answers": told} for who, when, told in found.values() if "flavour" in who]

    def _answer(self, asked, when, entry):
        if "error" in entry:
            (_, (number, said), _), *_ = entry["error"]["__error__"]  # what the server itself said
            return {"statement": self.number(asked), **when, "error": [number, self.value(said)]}
        columns, values = entry["answer"]
        rows = [self.row(dict(zip(columns, row, strict=True))) for row in values]
        number = self.number(asked, *rows[:1])
        return {"statement": number, **when, "rows": [list(row.values()) for row in rows]}

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
