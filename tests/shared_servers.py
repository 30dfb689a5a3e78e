"""Servers that tests share: a worker stops them when it goes on to another group, and frees their memory."""

import contextlib


class SharedServers:
    """The servers that run in this process's name, each started for the first test that asks for it."""

    def __init__(self):
        self._running = {}
        self._ends = contextlib.ExitStack()

    def get(self, name, make):
        """The server of that name; ``make()`` gives a context that starts and stops it."""
        if name not in self._running:
            self._running[name] = self._ends.enter_context(make())
        return self._running[name]

    def stop(self):
        """Stop them all; they can be started again."""
        self._running.clear()
        self._ends.close()


SERVERS = SharedServers()
