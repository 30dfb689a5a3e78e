"""How much memory a plugin and its children take together at most."""

import os
import sys
import threading
import time
from dataclasses import dataclass

import psutil
from runs import Outcome, environment, finish, start
from subjects import PLUGINS, SECRET, Subject

MOST = 64.0  # MiB that a plugin and its children may take beyond what they take at rest
EVERY = 0.005  # seconds between two looks at the children
# The plugin notes its own peak as its last act, however it ends: nothing is missed between two looks.
_NOTED = """import os, runpy, sys
_leave, _note = os._exit, os.open(sys.argv.pop(1), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
def _noted(status):
    with open("/proc/self/status", "rb") as about:
        os.write(_note, about.read())
    _leave(status)
os._exit = _noted
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@dataclass(frozen=True)
class Peak:
    """What came of a run, and how much memory it took at most: its own and that of its children, MiB.

    The two need not have been at the same moment.
    """

    outcome: Outcome
    own: float
    children: float

    def beyond(self, rest):
        """MiB that it took more than a run at rest."""
        return self.own + self.children - rest.own - rest.children


def peak_of(home, plugin, *arguments):
    """Run a plugin, or a script of that path, with these arguments: gives its Peak."""
    note = home / "peak"
    subject = Subject(str(plugin), "", tuple(map(str, arguments)))
    script = PLUGINS / f"check_{plugin}" if isinstance(plugin, str) else plugin
    began = time.monotonic()
    process = start(
        [sys.executable, "-c", _NOTED, note, script, *subject.arguments], home, env=environment(home)
    )
    with _Looking(process.pid) as looking:
        outcome = finish(process, subject, home, began, SECRET)
    return Peak(outcome, _high(note.read_text()), looking.most)


class _Looking:
    """Looks at the children of a process again and again, beside the test."""

    def __init__(self, pid):
        self.most = 0.0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()

    def _look(self):
        while not self._ended.wait(EVERY):
            try:
                children = psutil.Process(self._pid).children(recursive=True)
            except psutil.NoSuchProcess:
                return
            self.most = max(self.most, sum(_peak_so_far(child.pid) for child in children))


def _peak_so_far(pid):
    """What a program has taken at most so far; 0: it has ended, or has not begun and is still our memory."""
    try:
        if os.path.samefile(f"/proc/{pid}/exe", sys.executable):
            return 0.0
        with open(f"/proc/{pid}/status") as about:
            return _high(about.read())
    except (OSError, StopIteration):
        return 0.0


def _high(about):
    return next(int(line.split()[1]) for line in about.splitlines() if line.startswith("VmHWM:")) / 1024
