"""Record what JMX servers send, for tests/recorded/jmx_bytes. By hand:

.venv/bin/python tests/live/jmx_bytes_recording.py
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from unittest import mock

from cassandra import Cassandra
from jvm import VARIANTS, Jvm
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx
from stallwatch.sources.jmx import wire

sys.path.append(str(Path(__file__).parents[1] / "unit"))

import jmx_bytes

ON_OTHERS = {"denied", "rmi_port", "not_bound", "tls"}


class Recorded:
    """A socket that keeps what it receives."""

    def __init__(self, socket):
        self.socket = socket
        self.received = b""

    def recv(self, count):
        octets = self.socket.recv(count)
        self.received += octets
        return octets

    def __getattr__(self, name):
        return getattr(self.socket, name)


def record(name, target):
    """Ask, and keep what came."""
    connected, sockets = wire.connected, []

    def recorded(*where):
        sockets.append(Recorded(connected(*where)))
        return sockets[-1]

    def encrypt(self, context):
        sockets[-1].socket = context.wrap_socket(sockets[-1].socket, server_hostname=self._host)

    with (
        mock.patch.object(wire, "connected", recorded),
        mock.patch.object(wire.Wire, "encrypt", encrypt),
        contextlib.suppress(jmx.JmxError),
        jmx.connect(target, Deadline(30)) as server,
    ):
        jmx_bytes.ASKED[name](server)
    jmx_bytes.save(name, [socket.received for socket in sockets])


def main():
    """Record all of them."""
    with tempfile.TemporaryDirectory() as folder:

        def jvm(variant):
            return Jvm(os.path.join(folder, variant), **VARIANTS[variant])

        with jvm("plain") as plain:
            target = jmx.Target(plain.host, plain.port)
            plain.tell("deadlock")
            for name in sorted(jmx_bytes.ASKED.keys() - ON_OTHERS):
                if not name.startswith("cassandra"):
                    record(name, target)
            record("not_bound", jmx.Target(plain.host, plain.port, name="other"))
        with jvm("own-rmi-port") as own:
            record("rmi_port", jmx.Target(own.host, own.rmi_port))
        with jvm("password") as locked:
            record("denied", jmx.Target(locked.host, locked.port, user="me", password="wrong"))
        with jvm("tls") as tls:
            record("tls", jmx.Target(tls.host, tls.port, tls=jmx.Tls(wanted=True, ca_file=tls.ca_file)))
        with Cassandra(os.path.join(folder, "cassandra")) as cassandra:
            record("cassandra_pools", jmx.Target(cassandra.host, cassandra.port))
        with Cassandra(os.path.join(folder, "locked"), password=True) as cassandra:
            wrong = jmx.Target(cassandra.host, cassandra.port, user="me", password="wrong")
            record("cassandra_denied", wrong)


if __name__ == "__main__":
    main()
