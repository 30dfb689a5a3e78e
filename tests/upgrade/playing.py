"""Asks the player for runs, and gives what it answers."""

import json
import os
import subprocess
import sys
from pathlib import Path

PLAYER = Path(__file__).with_name("player.py")


class Player:
    """A context in which runs of one tree can be had."""

    def __init__(self, tree):
        self._tree = tree

    def __enter__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        command = [sys.executable, str(PLAYER), str(self._tree)]
        self._process = subprocess.Popen(command, text=True, env={**os.environ, "TZ": "UTC"}, **pipes)
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __call__(self, scenario, run, words, state):
        """One run, with the state that another one left: its answer, see player.py."""
        return self._ask({"scenario": scenario, "run": run, "words": words, "state": state})

    def scenarios(self):
        """All scenarios by name: count, views and commands."""
        return self._ask({})

    def _ask(self, asked):
        """One line and the answer to it."""
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the player has ended: {asked}"
        return json.loads(answer)
