"""check_innodb_... on a real server, as the account that may do nothing but what is granted."""

import time

import plugin_command
from plugin_command import Said

# A busy machine takes its time.
PATIENT = ("-t", "30s")


class Check:
    """Runs a plugin; what it remembers is kept below ``home``."""

    def __init__(self, plugin, home, *options):
        self.plugin = plugin
        self.home = home
        self.options = (*PATIENT, *options)

    def __call__(self, server, *options, grants=("PROCESS",), state=True):
        """What one run says; without ``state`` it needs a --sample."""
        account = server.account("mon" if grants else "poor", *grants)
        home = ("--state-dir", self.home / "state") if state else ()
        words = (self.plugin, "-S", server.socket, "-u", account.user, *self.options, *home, *options)
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        return Said.of(plugin_command.run(self.home, *words, variables=password))

    def until(self, holds, server, *options, seconds=60):
        """Take samples until that holds of a run that the server answered; what it says then."""
        end = time.monotonic() + seconds
        while not ((said := self(server, *options, state=False)).perfdata and holds(said)):
            assert time.monotonic() < end, said.output
        return said
