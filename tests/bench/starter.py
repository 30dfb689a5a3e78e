"""Runs commands one after the other, and tells what each costs.

A process begins with the peak memory of the one that starts it. So commands are started by a small one.
"""

import subprocess
import sys
from typing import NamedTuple

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # as Debian has it
ENVIRONMENT = {"PATH": PATH, "LANG": "C.UTF-8"}
_STARTER = """
import os, sys, time
for line in sys.stdin:
    command = eval(line)
    nowhere = [(os.POSIX_SPAWN_OPEN, 1, command.pop(0), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
               (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    begun = time.monotonic()
    _, status, usage = os.wait4(os.posix_spawnp(command[0], command, os.environ, file_actions=nowhere), 0)
    print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, time.monotonic() - begun,
          usage.ru_maxrss / 1024, flush=True)
"""


class Cost(NamedTuple):
    """What a run of a command cost, and how it ended."""

    status: int
    processor: float  # seconds of processor time, with all that it starts
    time: float  # seconds
    memory: float  # MiB, of its largest process
    failed: str = ""  # what became of it, if it did not do what it should


class Starter:
    """Runs commands one after the other, with little more than these variables in their environment."""

    def __init__(self, **environment):
        self.environment = ENVIRONMENT | environment

    def __enter__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _STARTER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def cost(self, command, output="/dev/null"):
        """Run a command with this file as standard output."""
        print(repr([str(output), *map(str, command)]), file=self.process.stdin, flush=True)
        status, *numbers = self.process.stdout.readline().split()
        return Cost(int(status), *map(float, numbers))
