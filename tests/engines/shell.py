"""An interactive shell at a terminal of its own, to press the keys of a person who completes."""

import os
import pty
import re
import select
import shlex
import subprocess
import time

import software

ALL = "\x18"  # Ctrl-X inserts everything that could stand there
TAB = "\t"
PATIENCE = 90  # seconds
PROMPT = "ready> "

START = {
    "bash": (
        ["--norc", "--noprofile", "-i"],
        """bind 'set enable-bracketed-paste off'; bind '"\\C-x": insert-completions'
. {file}
""",
    ),
    "zsh": (
        ["-f", "-i"],
        """fpath=({folder} $fpath); autoload -U compinit; compinit -D -u
zle -C all complete-word _generic; bindkey '^X' all
zstyle ':completion:all:*' completer _all_matches _complete
zstyle ':completion:all:*' insert true
""",
    ),
}


class Shell:
    """Bash or zsh with our completion; raises software.Missing."""

    def __init__(self, name, folder, file):
        self._program = software.program(name, name)
        self._command, start = START[name]
        places = {"folder": folder, "file": folder / file}
        self._start = start.format(**{name: shlex.quote(str(path)) for name, path in places.items()})

    def words(self, home, *lines):
        """What a program would be called with, for each line that is typed."""
        said = home / "said"
        for program in {line.split()[0] for line in lines}:
            path = home / program
            path.write_text(f"#!/bin/sh\nprintf '%s\\n' $# \"$@\" >>{said}\necho ran\n")
            path.chmod(0o755)
        (home / "start").write_text(self._start)
        self._type([". ./start; echo ran", *lines], home)
        return _calls(said.read_text().splitlines())

    def _type(self, lines, home):
        env = {
            "PATH": f"{home}:/usr/bin:/bin",
            "HOME": str(home),
            "TERM": "dumb",
            "LC_ALL": "C",
            "PS1": PROMPT,
        }
        terminal, its_end = pty.openpty()
        # A fork of our own (pty.fork) is warned of where threads run (Python 3.12).
        process = subprocess.Popen(
            ["setsid", "--ctty", self._program, *self._command],
            stdin=its_end, stdout=its_end, stderr=its_end, env=env, cwd=home,
        )  # fmt: skip
        os.close(its_end)
        try:
            _wait_for(PROMPT, terminal)
            for line in lines:  # one by one: zsh stops completing where more has been typed already
                os.write(terminal, f"{line}\r".encode())
                _wait_for(f"\r\nran\r\n.*{PROMPT}", terminal)
        finally:
            process.kill()
            process.wait()
            os.close(terminal)


def _wait_for(pattern, terminal):
    shown, ends = "", time.monotonic() + PATIENCE
    while not re.search(pattern, shown, re.DOTALL):
        assert time.monotonic() < ends, shown
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")


def _calls(lines):
    calls = []
    while lines:
        number, *lines = lines
        calls.append(lines[: int(number)])
        lines = lines[int(number) :]
    return calls
