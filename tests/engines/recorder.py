"""Plugins that keep what they say: what an engine was told can be told apart from what it makes of it."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

import engine_user

SCRIPT = """#!/bin/sh
run={runs}/$(printf '%s\\0' "$0" "$@" | sha256sum | cut -d' ' -f1)
{plugin} "$@" >"$run.stdout" 2>"$run.stderr"
status=$?
echo $status >"$run.status"
cat "$run.stdout"
cat "$run.stderr" >&2
exit $status
"""


class Run(NamedTuple):
    """What a plugin wrote, and its exit status."""

    stdout: str
    stderr: str
    status: int


class Recorder:
    """All plugins of a folder, in a folder of their own, from which an engine runs them."""

    def __init__(self, folder, plugins):
        self.plugins = Path(folder, "plugins")
        self.runs = Path(folder, "runs")
        for place in (self.plugins, self.runs):
            place.mkdir(parents=True)
        engine_user.give(self.runs)
        for plugin in Path(plugins).glob("check_*"):
            self.record(plugin)

    def record(self, plugin):
        """Let the one of this name be this plugin."""
        path = self.plugins / plugin.name
        path.write_text(SCRIPT.format(runs=self.runs, plugin=plugin))
        path.chmod(0o755)

    def last(self, command):
        """The last Run of that command, a list of words."""
        words = b"".join(os.fsencode(word) + b"\0" for word in command)
        run = self.runs / hashlib.sha256(words).hexdigest()
        assert run.with_suffix(".status").exists(), f"not run: {command}"
        stdout, stderr, status = (run.with_suffix(f".{part}") for part in Run._fields)
        return Run(stdout.read_bytes().decode(), stderr.read_bytes().decode(), int(status.read_text()))
