"""What the engines of the tests have in common: a folder of their own, and a process that ends with us."""

import subprocess
from pathlib import Path

import engine_user
from server_process import Server


class Engine(Server):
    """An engine that runs as the user nagios; it has a ``command()``, and says when it ``is_ready()``."""

    boot = 120  # seconds at most; it takes 1
    grace = 10  # seconds to end by itself

    def __init__(self, folder):
        self.folder = Path(folder).absolute()
        self.log = self.path("console")

    def path(self, *parts):
        """A path below its folder."""
        return self.folder.joinpath(*parts)

    def said_to(self, *command):
        """Run its program beside it: exit status and output."""
        engine_user.give(self.folder)
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=120,
            **engine_user.surroundings(self.folder),
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    def start(self):
        """Start it."""
        engine_user.give(self.folder)
        self.launch(self.command(), **engine_user.surroundings(self.folder))


class Checking(Engine):
    """One that checks services."""

    def check(self, service, seconds=120):
        """Let it check "HOST!SERVICE" now, and give the Result of that."""
        return self.check_all([service], seconds)[service]
