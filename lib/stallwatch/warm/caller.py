"""A caller of stallwatchd, whose request is read without ever waiting for it."""

from __future__ import annotations

import time
from contextlib import suppress

from stallwatch.startup import TYPE_CHECKING
from stallwatch.warm import protocol

if TYPE_CHECKING:
    import socket


class Caller:
    """A connection whose request is not whole yet, or waits for a worker."""

    def __init__(self, connection: socket.socket, patience: float) -> None:
        connection.settimeout(0)
        self.connection = connection
        self.since = time.monotonic()
        self.patience = patience  # seconds after which it runs the plugin itself
        self.plugin = ""  # known once the request is whole
        self.request = b""
        self._received = bytearray()

    def read(self) -> None:
        """Read what is there. Raises ValueError if it is no request, OSError if the caller is gone."""
        try:
            octets = self.connection.recv(protocol.LARGEST)
        except BlockingIOError:
            return
        if self.request or not octets:
            raise ValueError("the caller has left, or goes on after its request")
        self._received += octets
        head = protocol.LENGTH.size
        if len(self._received) < head:
            return
        (length,) = protocol.LENGTH.unpack_from(self._received)
        if length > protocol.LARGEST or len(self._received) > head + length:
            raise ValueError("too long")
        if len(self._received) == head + length:
            self.request = bytes(self._received[head:])
            self.plugin = protocol.parsed(self.request).plugin

    def queue(self) -> None:
        """Have it wait longer for its check to begin."""
        self.patience = protocol.QUEUE
        with suppress(OSError):  # it is gone
            self.connection.send(protocol.ALLOWED.pack(protocol.QUEUED))

    def forget(self) -> None:
        """Keep nothing of the request: this process is a worker for others now."""
        self.request = b""
        self._received = bytearray()
