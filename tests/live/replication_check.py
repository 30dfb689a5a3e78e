"""check_replication_lag on the replica of a pair, beside the truth."""

import time
from typing import NamedTuple

import plugin_command
from plugin_command import Said

SLACK = 5  # seconds for a busy machine to start a program and to end it


class Measured(NamedTuple):
    """What one run said, and how far its lag was from what was true while it ran."""

    said: Said
    lag: float
    truth: float
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

    def until(self, status, pair, *options, seconds=20):
        """Run it until it leaves with that status; what it says then."""
        end = time.monotonic() + seconds
        while (said := self(pair, *options)).status != status:
            assert time.monotonic() < end, said.output
        return said

    def measured(self, pair, writer, *options, **more):
        """Run it beside a writer."""
        before = writer.true_lag()
        said = self(pair, *options, **more)
        low, high = sorted((before, writer.true_lag()))
        lag = said.number("lag")
        return Measured(said, lag, (low + high) / 2, max(low - lag, lag - high, 0))
