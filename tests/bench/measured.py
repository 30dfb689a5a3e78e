"""What a command costs with all that it starts: processor time, time, and memory of its largest process.

A process begins with the peak memory of the one that starts it. So commands are started by a small one.
"""

import statistics
import subprocess
import sys
from typing import NamedTuple

_STARTER = """
import os, sys, time
for line in sys.stdin:
    command = eval(line)
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, command.pop(0), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
               (os.POSIX_SPAWN_OPEN, 0, command.pop(0), os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    begun = time.monotonic()
    _, status, usage = os.wait4(os.posix_spawnp(command[0], command, os.environ, file_actions=nowhere), 0)
    print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, time.monotonic() - begun,
          usage.ru_maxrss / 1024, flush=True)
"""


class Cost(NamedTuple):
    """Exit status; seconds of processor time; seconds; MiB."""

    status: int
    processor: float
    time: float
    memory: float


class Starter:
    """Runs commands one after the other."""

    def __enter__(self):
        command = [sys.executable, "-I", "-S", "-c", _STARTER]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def cost(self, command, output="/dev/null", given="/dev/null"):
        """Run a command with these files as standard output and input."""
        print(repr([output, given, *map(str, command)]), file=self.process.stdin, flush=True)
        status, *numbers = self.process.stdout.readline().split()
        return Cost(int(status), *map(float, numbers))


def cost_line(name, costs, first):
    """A line: medians, and how many times as much as the first."""
    _, *medians = map(statistics.median, zip(*costs, strict=True))
    line = "  {:33} {:6.3f} s processor {:6.3f} s {:6.1f} MiB".format(name, *medians)
    if costs is not first:
        pairs = list(zip(first, costs, strict=True))
        times = [statistics.median(b[kind] / a[kind] for a, b in pairs) for kind in (1, 2, 3)]
        line += "   {:4.2f} {:4.2f} {:4.2f} times as much".format(*times)
    return line + "".join({f"   exit status {one.status}" for one in costs if one.status})
