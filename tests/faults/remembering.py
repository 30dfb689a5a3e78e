"""Runs that remember something: of the memory alone, and of plugins."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numbered

PLUGINS = Path(__file__).parents[2] / "plugins"
# Counts its runs, and tells what it found and what was wrong; -S: site-packages come from our own path.
COUNT = """
import json, sys
from stallwatch.deadline import Deadline
from stallwatch.frame.state import memory

problems = []
with memory({"name": "demo"}, sys.argv[1], Deadline(8), problems) as kept:
    had = kept.get("runs", 0)
    kept |= {"runs": had + 1, "padding": "x" * int(sys.argv[2])}
print(json.dumps([had, [problem.what for problem in problems]]))
"""
PADDING = 5000  # bytes: more than a page


class Remembering:
    """A run that keeps its state in that directory; without ``first`` one has been there before."""

    def __init__(self, state, *, first=False):
        self.state = state
        self._before = state.with_name(f"{state.name}-before")
        if not first:
            self.run()
            shutil.copytree(state, self._before)

    def command(self):
        raise NotImplementedError

    def prepare(self):
        """Set the state back to what it was; gives the content of its file, None if there was none."""
        shutil.rmtree(self.state, ignore_errors=True)
        if self._before.exists():
            shutil.copytree(self._before, self.state)
        return self.content()

    def content(self):
        """What is in the file."""
        return next((file.read_bytes() for file in self.state.glob("*.json")), None)

    def values(self):
        """What is remembered; nothing if there is no file."""
        content = self.content()
        return {} if content is None else json.loads(content)["values"]

    def names(self):
        """The kinds of files that are there."""
        return {file.suffix for file in self.state.iterdir()}

    def run(self):
        """Run it undisturbed."""
        env = {"PATH": os.environ["PATH"]}
        return subprocess.run(
            self.command(), capture_output=True, text=True, check=False, timeout=120, env=env
        )


class Counting(Remembering):
    """A run that counts the runs."""

    def command(self):
        return [sys.executable, "-c", COUNT, str(self.state), str(PADDING)]

    def count(self):
        """How many runs are remembered."""
        return self.values().get("runs", 0)

    def told(self):
        """Run it: how many runs it found, and what was wrong."""
        ran = self.run()
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        return json.loads(ran.stdout)


class Host(Remembering):
    """check_host, which remembers counters."""

    def command(self):
        limits = ["--load-warning", "1e9", "--memory_available-warning", "0:"]
        limits = [limit.replace("_", "-") for limit in limits]
        never = ["-w", "101", "--steal-warning", "101", "--steal-critical", "101"]
        own = ["--memory-available-critical", "0:", "--swap-in-warning", "1e15", "--swap-in-critical", "1e15"]
        script = str(PLUGINS / "check_host")
        return [sys.executable, script, "--state-dir", str(self.state), *limits, *never, *own]


class NodeLog(Remembering):
    """check_ndb_log on a log, of which it has judged half of the lines."""

    HALF = 50

    def __init__(self, state, folder):
        self.base = int(time.time()) - 1000
        folder.mkdir()
        self.log = folder / "ndb_4_out.log"
        self.write(0)
        super().__init__(state)
        self.write(self.HALF)

    def write(self, first):
        """Append HALF lines from that number on."""
        with self.log.open("ab") as log:
            log.writelines(numbered.line(self.base, number) for number in range(first, first + self.HALF))

    def command(self):
        script = str(PLUGINS / "check_ndb_log")
        return [sys.executable, script, "--state-dir", str(self.state), "--log", str(self.log)]

    def judged(self):
        """The numbers of the lines that are judged."""
        return numbered.judged(self.state, self.base)
