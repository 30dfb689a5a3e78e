"""check_replication_lag on the replica of a pair, beside the truth."""

import contextlib
import re
import threading
import time
from typing import NamedTuple

import plugin_command
from plugin_command import Said

SLACK = 30  # seconds for a busy machine to start a program and to end it


class Measured(NamedTuple):
    """What one run said, and how far its lag was from what was true while it ran."""

    said: Said
    lag: float
    truth: float  # at least
    error: float


class Check:
    """Runs the plugin; what it remembers is kept below ``home``."""

    def __init__(self, home):
        self.home = home

    def __call__(self, pair, *options, account=None):
        account = account or pair.monitor
        words = ("-S", pair.replica.socket, "-u", account.user, "--state-dir", self.home / "state", *options)
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        return Said.of(plugin_command.run(self.home, "check_replication_lag", *words, variables=password))

    def until(self, status, pair, *options, text="", seconds=60):
        """Run it until it leaves with that status and its text matches; what it says then."""
        end = time.monotonic() + seconds
        while (said := self(pair, *options)).status != status or not re.search(text, said.text):
            assert time.monotonic() < end, said.output
            time.sleep(0.5)
        return said

    def measured(self, pair, writer, *options, **more):
        """Run it beside a writer."""
        with _true_lags(writer) as true:
            said = self(pair, *options, **more)
        low, high = min(true), max(true)
        lag = said.number("lag")
        return Measured(said, lag, low, max(low - lag, lag - high, 0))


@contextlib.contextmanager
def _true_lags(writer):
    """What the lag is meanwhile, again and again: a replica may stand still for a moment in between."""
    ended = threading.Event()
    seen = [writer.true_lag()]

    def watch():
        while not ended.wait(0.2):
            seen.append(writer.true_lag())

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield seen
    finally:
        ended.set()
        watching.join()
        seen.append(writer.true_lag())
