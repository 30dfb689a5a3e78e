"""A caller of stallwatchd, whose request is looked at without ever waiting for it."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from fcntl import ioctl
from struct import Struct
from termios import FIONREAD

from stallwatch.warm import protocol

_SIZE = Struct("i")
_head = bytearray(protocol.HEAD)  # of the request that is looked at, for a moment


class Caller:
    """A connection whose request is not whole yet, or waits for a worker.

    The request stays where the kernel has it until the worker takes it: there are passwords in it, and this
    process, of which all workers are forked, keeps none.
    """

    def __init__(self, connection: socket.socket, patience: float) -> None:
        connection.settimeout(0)
        self.connection = connection
        self.since = time.monotonic()
        self.patience = patience  # seconds after which it runs the plugin itself
        self.plugin = ""  # known once the request is whole

    def look(self) -> None:
        """See whether the request is whole. Raises ValueError if there is none, OSError if nobody is left."""
        try:
            # Its size first: what comes meanwhile is looked at the next time.
            (size,) = _SIZE.unpack(ioctl(self.connection, FIONREAD, bytes(_SIZE.size)))
            seen = self.connection.recv_into(_head, len(_head), socket.MSG_PEEK)
            if self.plugin or not seen:
                raise ValueError("the caller has left, or goes on after its request")
            self.plugin = protocol.plugin(_head, seen, size)
        except BlockingIOError:
            return
        finally:
            _head[:] = bytes(len(_head))

    def queue(self) -> None:
        """Have it wait longer for its check to begin."""
        self.patience = protocol.QUEUE
        with suppress(OSError):  # it is gone
            self.connection.send(protocol.ALLOWED.pack(protocol.QUEUED))
