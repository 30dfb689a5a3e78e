"""MySQL and MariaDB servers as they were recorded: they answer what ``sources.mysql`` asks, at their pace.

So does the management server of an NDB Cluster. A statement that was not recorded gets the recorded answer to
the same question, if there is one (recorded_answers.py).
"""

import json

import pymysql
import record_and_play
from recorded_answers import Answers, NotAskedError
from stallwatch.findings import ProbeError
from stallwatch.sources import recording
from stallwatch.sources.mysql.flavour import flavour

SET_UP = "SET NAMES utf8mb4, "  # begins what sets up a log-in
HOW = "record the servers anew: README.md beside the recording tells how"
WHO = ["@@version", "@@version_comment", "@@hostname", "CURRENT_USER()"]


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


class RecordedRun(record_and_play.Player):
    """One run of the plugin: the options that it was given, and what servers answered; see recording.use.

    What was asked that is not here is in ``surprises``: the plugin itself would make an UNKNOWN of it.
    What answers lack of what was asked is in ``lacks``, each with the flavour of the server.
    """

    def __init__(self, recorded, statements):
        super().__init__((), self.come)
        self.plugin = recorded["plugin"]
        self.options = recorded["options"]
        self.began = recorded["began"]
        self.clock = Clock(self.began)
        self.surprises = []
        self.lacks = []
        self._recorded = recorded["log_ins"]
        self._open = {}  # log-ins by their numbers
        self._management = recorded.get("management", [])
        self._statements = statements

    def answer(self, of, asked, ask=None, *to):
        """Answer; nothing of the host is recorded."""
        return ask(*to) if of[0] == "host" else super().answer(of, asked)

    def find(self, of, asked):
        """The next answer to this question."""
        source, where, number = of
        if source == "ndb_mgm":
            return self._nodes()
        if asked == recording.LOG_IN:
            self._open[number] = self._log_in(where)
            return self._open[number].entry
        return self._open[number].find(*asked)

    def come(self, entry):
        """Let time go by until the answer is there."""
        self.clock.reach(self.began + entry["at"])
        self.clock.sleep(entry["took"])

    def surprise(self, what):
        """Note it; the exception that says so."""
        error = NotRecordedError(f"{what}: {HOW}")
        self.surprises.append(error)
        return error

    def _nodes(self):
        """What the management server of an NDB Cluster answered."""
        if not self._management:
            raise self.surprise("the management server was not asked so often when it was recorded")
        entry = self._management.pop(0)
        if "error" in entry:
            return {**entry, "error": ProbeError(*entry["error"])}
        nodes = (
            f"node.{node}.type: NDB\nnode.{node}.status: {status}\nnode.{node}.startphase: {phase}\n"
            for node, (status, phase) in entry["nodes"].items()
        )
        return {**entry, "answer": f"node status\n{''.join(nodes)}\n"}

    def _log_in(self, where):
        """The next log-in at that server: they come in the order of then."""
        found = next((one for one in self._recorded if one["where"] == where), None)
        if found is None:
            raise self.surprise(f"no further log-in at {where} was recorded")
        self._recorded.remove(found)
        return LogIn(self, found, self._statements)


class LogIn:
    """One log-in at a server: ``entry`` is how it went."""

    def __init__(self, run, recorded, statements):
        self.entry = {"at": recorded["at"], "took": recorded["took"], "answer": None}
        self._run = run
        self._where = recorded["where"]
        name, version, _ = recorded["flavour"]
        self._who = [f"{'.'.join(map(str, version))}-{name}", name, self._where, recorded["account"]]
        self._answers = Answers(recorded["answers"], statements)

    def find(self, sql, *arguments):
        """The next answer to a statement. Who the server is and how it is set up is not recorded as such."""
        if sql == f"SELECT {', '.join(WHO)}":
            return {**self.entry, "took": 0, "answer": [WHO, [self._who]]}
        if sql.startswith(SET_UP):
            return {**self.entry, "took": 0, "answer": [[], []]}
        try:
            entry, lack = self._answers.next(statement(sql, *arguments))
        except NotAskedError as error:
            raise self._run.surprise(f"{self._where} {error}") from None
        if "error" in entry:
            return {**entry, "error": pymysql.OperationalError(*entry["error"])}
        if lack:
            self._run.lacks.append((flavour(*self._who[:2]), lack))
        columns = [*entry["rows"][0]] if entry["rows"] else []
        return {**entry, "answer": [columns, [[*one.values()] for one in entry["rows"]]]}


def statement(sql, *arguments):
    """A statement, whichever way it is broken into lines."""
    return " ".join([*sql.split(), *map(repr, arguments)])


def load(path):
    """The runs of a recording."""
    recorded = json.loads(path.read_text())
    return [RecordedRun(run, recorded["statements"]) for run in recorded["runs"]]
