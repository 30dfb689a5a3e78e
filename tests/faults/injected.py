"""The system calls of a run, and one of them made to fail or to be the last: by strace."""

import os
import re
import subprocess
from typing import NamedTuple

# What files are made, read, written, locked and removed with, on any processor: "?" is for those without.
NAMES = (
    "?mkdir", "mkdirat", "?open", "openat", "?stat", "?lstat", "?newfstatat", "fstat", "statx", "ioctl",
    "lseek", "flock", "fcntl", "read", "pread64", "write", "pwrite64", "ftruncate", "fsync",
    "fdatasync", "close", "?unlink", "unlinkat", "?rename", "?renameat", "renameat2", "?readlink",
    "readlinkat",
)  # fmt: skip
KILLED = "signal=KILL"
ATTEMPTS = 5  # Python takes another way if somebody changes a module just then, and compiles it
_CALL = re.compile(r"(?P<thread>\d+) +(?P<name>\w+)\(")
# Where Python looks for modules must not depend on chance.
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


class Call(NamedTuple):
    """A system call: the ``number``-th of that name in the thread that made it; ``about`` what file."""

    name: str
    number: int
    about: str

    def is_in(self, line, folder):
        """Whether that line of strace's is about this call."""
        return f" {self.name}(" in line and _about(line, folder) == self.about


def _about(line, folder):
    """Which file of the state, or which folder, a line of strace's is about; "" if it is another one."""
    names = re.findall(r"\w+-[0-9a-f]{16}\.\w+", line)
    return (names or [folder])[0] if folder in line and "execve(" not in line else ""


class Ran(NamedTuple):
    """What came of a run. ``hit`` is the call that was tampered with, "" if the run did not get there."""

    status: int
    stdout: str
    stderr: str
    hit: str


class Strace:
    """Runs commands under strace; ``folder`` is for what it writes."""

    def __init__(self, program, folder):
        self._program = program
        self._log = folder / "calls"

    def unavailable(self):
        """Say why nothing can be traced here; "" if it can."""
        done = self._run(["true"])
        return "" if done.returncode == 0 else f"strace cannot trace here: {done.stderr.strip()[-200:]}"

    def calls(self, command, folder):
        """Run it: all calls with that folder and the files in it, of the thread that has the first one."""
        done = self._run(command)
        assert done.returncode in range(4), done
        thread, counts, found = None, {}, []
        for line in self._lines():
            if call := _CALL.match(line):
                key = call["thread"], call["name"]
                counts[key] = counts.get(key, 0) + 1
                about = _about(line, folder)
                thread = thread or (about and call["thread"])
                if about and call["thread"] == thread:
                    found.append(Call(call["name"], counts[key], about))
        return found

    def tampered(self, command, call, how):
        """Run it and tamper with that call; ``how``: KILLED, or "error=ENOSPC"."""
        done = self._run(command, f"--inject={call.name}:{how}:when={call.number}")
        return Ran(done.returncode, done.stdout, done.stderr, self._hit(call, how))

    def each_tampered(self, subject, how, every=1):
        """Tamper with each call of a Remembering with its state, one a run: gives the call, the end.

        With ``every`` n only with every n-th, the last one among them.
        """
        folder = str(subject.state)
        subject.prepare()
        calls = self.calls(subject.command(), folder)
        assert len(calls) > 15, calls
        for place in range(len(calls) - 1, -1, -every):
            for _ in range(ATTEMPTS):
                subject.prepare()
                ran = self.tampered(subject.command(), calls[place], how)
                if calls[place].is_in(ran.hit, folder):
                    break
                subject.prepare()
                calls = self.calls(subject.command(), folder)
            else:
                raise AssertionError(f"{calls[place]} was not hit: {ran}")
            yield calls[place], ran

    def _hit(self, call, how):
        lines = self._lines()
        if how == KILLED:
            # Its line may be unfinished: a thread that listens for signals is resumed to die, too.
            last = [line for line in lines if f" {call.name}(" in line]
            return last[-1] if any("killed by SIGKILL" in line for line in lines) and last else ""
        return next((line for line in lines if "(INJECTED)" in line), "")

    def _run(self, command, *more):
        traced = f"--trace={','.join(NAMES)}"
        command = [self._program, "-f", "-y", "-o", self._log, traced, *more, *command]
        env = {"PATH": os.environ["PATH"], **_ENVIRONMENT}
        return subprocess.run(
            [*map(str, command)], capture_output=True, text=True, check=False, timeout=120, env=env
        )

    def _lines(self):
        return self._log.read_text(errors="replace").splitlines()
