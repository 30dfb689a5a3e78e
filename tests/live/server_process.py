"""A server of the tests: a program and all that it starts, in a process group that cannot outlive us."""

import contextlib
import os
import signal
import subprocess
import time

import psutil
from loopback import wait_until

# The guard leads the process group. Its standard input is a pipe that we hold: when we end, however we end,
# it sees the end of the file and takes the group with it. Until we wait for it, nobody else gets its number.
GUARD = '"$@" & read the_end; kill -KILL -$$'
LOGS = {}  # the paths of the logs of all servers that were started, in that order, as keys


class ServerProcess:
    """A running program, writing to a log file of its own."""

    def __init__(self, command, log, **more):
        LOGS[str(log)] = None
        with open(log, "ab") as output:
            self.guard = subprocess.Popen(
                ["/bin/sh", "-c", GUARD, "guard", *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **more,
            )
        until = time.monotonic() + 10
        while not self.family and time.monotonic() < until:  # the guard is about to start it
            time.sleep(0.01)

    @property
    def family(self):
        """The program's first process, its children, and so on, as far as they are alive."""
        try:
            found = psutil.Process(self.guard.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []
        return [process for process in found if _alive(process)]

    def wait(self, seconds):
        """Wait until the program and everything it started has ended by itself. Whether it has."""
        return not _left(lambda: self.family, seconds)

    def stop(self, grace=0):
        """End the program: politely where there is time for it, in any case for good."""
        if self.guard.returncode is not None:
            return
        family = self.family
        seen = set(family)

        def running():
            """Those that were ever seen: an engine starts each plugin in a group of its own."""
            seen.update(self.family)
            return [process for process in seen if _alive(process)]

        if grace and family:
            family[0].terminate()
            _left(running, grace)
        os.killpg(self.guard.pid, signal.SIGKILL)
        for process in running():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        _left(running, 10)
        self.guard.stdin.close()
        self.guard.wait()


class Server:
    """What runs a program from ``start`` to ``stop``: a subclass starts it, and says when it ``is_ready``.

    It has a ``log``, the path of a file.
    """

    boot = 180  # seconds at most to get ready
    grace = 0  # seconds to end by itself
    process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def launch(self, command, **surroundings):
        """Start it by this command, and wait until it is ready."""
        self.process = ServerProcess(command, self.log, **surroundings)
        try:
            wait_until(self.is_ready, self.boot, self.process, self.log)
        except BaseException:
            self.stop()
            raise

    def stop(self, grace=None):
        """End it, in order if it does so within that many seconds."""
        if self.process:
            self.process.stop(self.grace if grace is None else grace)


def _left(running, seconds):
    """Wait until none of those is ``running``, so long at most. Those that still are."""
    until = time.monotonic() + seconds
    while (left := running()) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _alive(process):
    """Whether the process runs: one that has ended and waits for its parent to notice does not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
