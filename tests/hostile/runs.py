"""One run of a plugin in trouble, and what holds for every run, whatever the trouble is."""

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
from figures import lateness
from printed_labels import known
from subjects import SECRET, UNKNOWN, Subject

STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
SLACK = 0.5  # seconds after its timeout in which a plugin has ended
BUSY = 20.0  # seconds more that a machine that is busy with other tests may take
SHOWN = (SECRET, repr(SECRET)[1:-1], SECRET.encode().hex())
PATIENCE = 120  # seconds, then it is said to hang
ENDING = 5.0  # seconds that the kernel may take to end what was killed
strict = False  # whether SLACK is all that a plugin gets, beside what this machine takes for any program


@dataclass(frozen=True)
class Outcome:
    """What came of a run; ``took`` seconds on the wall. ``left`` are its children that live on."""

    subject: Subject
    status: int
    stdout: bytes
    stderr: bytes
    took: float
    left: tuple[str, ...]
    home: Path

    @property
    def text(self):
        """All that it said."""
        return self.stdout.decode()

    @property
    def line(self):
        """Line 1."""
        return self.text.partition("\n")[0]

    def holds(self, timeout, *statuses):
        """Assert what holds for every run: ``timeout`` is its -t, in seconds."""
        assert self.status in (statuses or range(4)), self
        assert self.stderr == b"", self
        assert not self.left, self
        self._ended_in_time(timeout)
        self._is_well_formed()
        self._shows_no_secret()
        return self

    def is_silent(self, timeout):
        """Assert what holds where standard output cannot be written."""
        assert (self.status, self.stdout, self.stderr, self.left) == (UNKNOWN, b"", b"", ()), self
        self._ended_in_time(timeout)
        self._shows_no_secret()
        return self

    def _ended_in_time(self, timeout):
        lateness.append(self.took - timeout)
        if lateness[-1] > SLACK:
            assert lateness[-1] < SLACK + (3 * _start_of_a_program() if strict else BUSY), self

    def _is_well_formed(self):
        assert self.text.endswith("\n"), self
        assert not re.search(
            r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", self.text
        ), self
        assert re.match(rf"{self.subject.name} {STATES[self.status]} - \S", self.line), self
        assert "  " not in self.line, self
        assert "Traceback" not in self.text, self
        assert "internal error" not in self.text, self
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
        for secret in SHOWN:
            assert secret not in shown, self


def _start_of_a_program():
    """Seconds that this machine takes at present to start a Python that does nothing."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", ""], check=True)
    return time.monotonic() - began


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


def finish(process, subject, home, began):
    """Wait for its end: gives the Outcome."""
    stdout, stderr = process.communicate(timeout=PATIENCE)
    took = time.monotonic() - began
    return Outcome(subject, process.returncode, stdout or b"", stderr or b"", took, _left(process.pid), home)


def run(subject, place, home, *more, **settings):
    """Run it at that place with more arguments; ``settings`` are those of a subprocess."""
    began = time.monotonic()
    process = start(subject.command(place, *more), home, **settings)
    return finish(process, subject, home, began)


def _left(session):
    """The processes of that session, whose first one has ended, that do not end either."""
    until = time.monotonic() + ENDING
    while (left := _members(session)) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _members(session):
    return tuple(
        " ".join(process.info["cmdline"] or [process.info["name"]])
        for process in psutil.process_iter(["pid", "name", "cmdline", "status"])
        if _session(process.info["pid"]) == session and process.info["status"] != psutil.STATUS_ZOMBIE
    )


def _session(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None
