"""One run of a plugin in trouble, and what holds for every run, whatever the trouble is."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import psutil
from figures import lateness
from printed_labels import known
from subjects import SECRET, UNKNOWN, Subject

STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
SLACK = 0.5  # seconds after its timeout in which a plugin has ended
BUSY = 20.0  # seconds more that a machine that is busy with other tests may take
PATIENCE = 120  # seconds, then it is said to hang
ENDING = 5.0  # seconds that the kernel may take to end what was killed
strict = False  # whether SLACK is all that a plugin gets, beside what this machine takes for any program
_starts = deque(maxlen=2)  # seconds that it took for one, the last times


@dataclass(frozen=True)
class Outcome:
    """What came of a run, which began the session of that number and was told this secret.

    It ``took`` so many seconds on the wall.
    """

    subject: Subject
    status: int
    stdout: bytes
    stderr: bytes
    took: float
    session: int
    home: Path
    secret: str

    @property
    def text(self):
        """All that it said."""
        return self.stdout.decode()

    @property
    def line(self):
        """Line 1."""
        return self.text.partition("\n")[0]

    @property
    def left(self):
        """Its children that live on, as soon as the kernel has had the time to end them."""
        return _left(self.session)

    def holds(self, timeout, *statuses, late=SLACK):
        """Assert what holds for every run: ``timeout`` is its -t, ``late`` what it may take more, seconds."""
        assert self.status in (statuses or range(4)), self
        assert self.stderr == b"", self
        left = self.left
        assert not left, (left, self)
        self._ended_in_time(timeout, late)
        self._is_well_formed()
        self._shows_no_secret()
        return self

    def is_silent(self, timeout):
        """Assert what holds where standard output cannot be written."""
        assert (self.status, self.stdout, self.stderr, self.left) == (UNKNOWN, b"", b"", ()), self
        self._ended_in_time(timeout, SLACK)
        self._shows_no_secret()
        return self

    def _ended_in_time(self, timeout, late):
        lateness.append(self.took - timeout)
        assert lateness[-1] < late + (3 * _start_of_a_program() if strict else BUSY), self

    def _is_well_formed(self):
        assert self.text.endswith("\n"), self
        assert not re.search(
            r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", self.text
        ), self
        assert re.match(rf"{self.subject.name} {STATES[self.status]} - \S", self.line), self
        assert "  " not in self.line, self
        assert "Traceback" not in self.text, self
        assert "internal error, " not in self.text, self
        assert self.text.count("|") <= 1, self
        text, _, perfdata = self.line.partition(" | ")
        assert "|" not in text, self
        for item in perfdata.split(" ") if perfdata else ():
            known(self.subject.plugin, item)
        if self.status == UNKNOWN and not perfdata:
            assert len(self.line.encode()) <= 1023, self

    def _shows_no_secret(self):
        shown = self.text + "".join(
            file.read_text(errors="replace") for file in self.home.rglob("*") if file.is_file()
        )
        for secret in (self.secret, repr(self.secret)[1:-1], self.secret.encode().hex()):
            assert secret not in shown, self


def _start_of_a_program():
    """Seconds in which this machine starts a Python that does nothing: after this run, or before it."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", ""], check=True)
    _starts.append(time.monotonic() - began)
    return max(_starts)


def environment(home, **more):
    """Next to nothing, as under an engine, and the secret."""
    return {
        "PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", "LC_ALL": "C", "HOME": str(home),
        "STATE_DIRECTORY": str(home / "state"), "STALLWATCH_MYSQL_PASSWORD": SECRET,
        "STALLWATCH_JMX_PASSWORD": SECRET, **more,
    }  # fmt: skip


def start(command, home, **settings):
    """Start it in a session of its own: gives the process."""
    settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | settings
    settings.setdefault("env", environment(home))
    return subprocess.Popen(command, start_new_session=True, cwd=home, **settings)


def finish(process, subject, home, began, secret=SECRET):
    """Wait for its end: gives the Outcome."""
    try:
        stdout, stderr = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        with process:  # its pipes are closed, too
            os.killpg(process.pid, signal.SIGKILL)
        raise
    took = time.monotonic() - began
    return Outcome(subject, process.returncode, stdout or b"", stderr or b"", took, process.pid, home, secret)


def run(subject, place, home, *more, **settings):
    """Run it at that place with more arguments; ``settings`` are those of a subprocess."""
    began = time.monotonic()
    process = start(subject.command(place, *more), home, **settings)
    return finish(process, subject, home, began, place.password)


def _left(session):
    """The processes of that session, whose first one has ended, that do not end either."""
    until = time.monotonic() + ENDING
    while (left := _members(session)) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _members(session):
    found = []
    for pid in psutil.pids():
        if _session(pid) == session:
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.cmdline() or [process.name()]))
    return tuple(found)


def _session(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None
