"""Runs checks side by side, as an engine would: each again after so many seconds, whatever it says."""

import concurrent.futures
import subprocess
import time

from record import Run

PATIENCE = 30  # seconds after which an engine ends a check for good
ENDED = 3  # its status then


class Polls:
    """Runs these commands at each moment that is due, until it is told to stop.

    commands     by who is asked
    environment  of all of them
    """

    def __init__(self, commands, environment, recorder, every):
        self.commands = commands
        self.environment = environment
        self.recorder = recorder
        self.every = every
        self.due = time.monotonic()
        self.threads = concurrent.futures.ThreadPoolExecutor(len(commands))
        self.hand = concurrent.futures.ThreadPoolExecutor(1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.threads.shutdown()
        self.hand.shutdown()

    def go_on(self, seconds, meanwhile=None):
        """Run them whenever they are due, for so many seconds, and let something be done meanwhile."""
        end = time.monotonic() + seconds
        doing = self.hand.submit(meanwhile) if meanwhile else None
        while self.due < end:
            time.sleep(max(0.0, self.due - time.monotonic()))
            for run in self.threads.map(self._run, *zip(*self.commands.items(), strict=True)):
                self.recorder.run(run)
            self.due = max(self.due + self.every, time.monotonic())  # on a busy machine some are left out
        time.sleep(max(0.0, end - time.monotonic()))
        if doing:
            doing.result(PATIENCE)

    def _run(self, who, command):
        begun = time.time()
        try:
            done = subprocess.run(
                [str(word) for word in command], env=self.environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Run(who, begun, time.time(), ENDED, f"(it did not end within {PATIENCE} s)\n")
        return Run(who, begun, time.time(), done.returncode, done.stdout.decode(errors="replace"))
