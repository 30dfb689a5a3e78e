"""MySQL and MariaDB servers as they were recorded: they answer as sources.mysql does, at their pace.

So does the management server of an NDB Cluster. A statement that was not recorded gets the recorded answer to
the same question, if there is one (recorded_answers.py).
"""

import json

import pymysql
from recorded_answers import Answers, NotAskedError
from stallwatch.findings import ProbeError
from stallwatch.line import shorten
from stallwatch.sources.mysql import Flavour, no_answer, rows
from stallwatch.sources.ndb_mgm import NodeStatus

HOW = "record the servers anew: README.md beside the recording tells how"


class NotRecordedError(Exception):
    """The plugin asks what it did not ask when this was recorded."""


class Clock:
    """Time as it went by: for ``time.time``, ``time.monotonic`` and ``time.sleep``."""

    def __init__(self, now):
        self.now = now  # seconds of Unix time

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        """Let so much time go by."""
        self.now += seconds

    def reach(self, moment):
        """Let time go by until then, if it is not later already."""
        self.now = max(self.now, moment)


class RecordedRun:
    """One run of the plugin: the options that it was given, and what servers answered.

    What was asked that is not here is in ``surprises``: the plugin itself would make an UNKNOWN of it.
    What answers lack of what was asked is in ``lacks``, each with the flavour of the server.
    """

    def __init__(self, recorded, statements):
        self.plugin = recorded["plugin"]
        self.options = recorded["options"]
        self.began = recorded["began"]
        self.clock = Clock(self.began)
        self.deadline = None  # of the run that is played, once it has logged in
        self.surprises = []
        self.lacks = []
        self._log_ins = recorded["log_ins"]
        self._management = recorded.get("management", [])
        self._statements = statements

    def data_nodes(self, *_):
        """As ``ndb_mgm.data_nodes``: what the management server of an NDB Cluster answered."""
        if not self._management:
            raise self.surprise("the management server was not asked so often when it was recorded")
        answer = self._management.pop(0)
        self.come(answer)
        if "error" in answer:
            raise ProbeError(*answer["error"])
        return {int(node): NodeStatus(*status) for node, status in answer["nodes"].items()}

    def come(self, answer):
        """Let time go by until the answer is there."""
        self.clock.reach(self.began + answer["at"])
        self.clock.sleep(answer["took"])

    def connect(self, target, deadline, *_):
        """As ``mysql.connect``: log-ins at one server come in the order of then."""
        self.deadline = deadline
        return self.log_in(target.where)

    def log_in(self, where):
        """The next log-in at that server."""
        found = next((one for one in self._log_ins if one["where"] == where), None)
        if found is None:
            raise self.surprise(f"no further log-in at {where} was recorded")
        self._log_ins.remove(found)
        return RecordedServer(self, found, self._statements)

    def surprise(self, what):
        """Note it; the exception that says so."""
        error = NotRecordedError(f"{what}: {HOW}")
        self.surprises.append(error)
        return error


class RecordedServer:
    """One log-in."""

    local = False  # nothing of the host that it ran on was recorded
    answers_after = None  # nor how long it takes today

    def __init__(self, run, recorded, statements):
        self.where = recorded["where"]
        name, version, text = recorded["flavour"]
        self.flavour = Flavour(name, tuple(version), text)
        self._account = recorded["account"]
        self._run = run
        self.deadline = run.deadline
        self._answers = Answers(recorded["answers"], statements)
        run.come(recorded)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def close(self):
        """As the server's."""

    def again(self):
        """As the server's."""
        return self._run.log_in(self.where)

    def rows(self, sql, *arguments, within=None):
        """As the server's."""
        try:
            answer, lack = self._answers.next(statement(sql, *arguments))
        except NotAskedError as error:
            raise self._run.surprise(f"{self.where} {error}") from None
        self._run.come(answer)
        if "error" in answer:
            raise self._error(sql, answer)
        if lack:
            self._run.lacks.append((self.flavour, lack))
        columns = [*answer["rows"][0]] if answer["rows"] else []
        values = [one.values() for one in answer["rows"]]
        return rows.by_column(columns, values, self.where, shorten(statement(sql), 80))

    def _error(self, sql, answer):
        """What is made today of the error that the server gave then."""
        user = self._account.rpartition("@")[0]
        asked = no_answer.Asked(sql, self.where, user, self._account, answer["took"])
        return no_answer.reason(pymysql.OperationalError(*answer["error"]), asked)


def statement(sql, *arguments):
    """A statement, whichever way it is broken into lines."""
    return " ".join([*sql.split(), *map(repr, arguments)])


def load(path):
    """The runs of a recording."""
    recorded = json.loads(path.read_text())
    return [RecordedRun(run, recorded["statements"]) for run in recorded["runs"]]
