"""A thief in the place of a server that is stopped, in namespaces of its own.

    unshare --mount --net python3 tests/hostile/thief.py PLACE USER METHOD CERT KEY COMMAND...

PLACE is /mysqld, /tmp or port, USER a number, METHOD what a MySQL server asks for, "jolokia" or "rmi". It
prints what came of the command, and what the thief was told, as JSON.
"""

import contextlib
import fcntl
import json
import multiprocessing
import os
import re
import socket
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from asking_server import CACHING, FULL, MARIADB, Asking, Certificate
from jmx_bytes import load
from mysql_bytes import OK

PORT = 3306
UP = 0x49  # IFF_UP, IFF_LOOPBACK, IFF_RUNNING


def place(name):
    """A socket that is bound where a server had its own; the real places are empty here."""
    own_tmp = name == "/tmp" and not __file__.startswith("/tmp/")  # or else we would not be there any more
    for folder in filter(os.path.isdir, ["/run", "/var/lib/mysql", *["/tmp"] * own_tmp]):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=0755", "none", folder], check=True)
    os.makedirs("/run/mysqld", 0o755)
    if name == "port":
        with socket.socket() as one:  # loopback is down in a new namespace
            fcntl.ioctl(one, 0x8914, struct.pack("16sh", b"lo", UP))  # SIOCSIFFLAGS
        return None  # the socket is to be the thief's own
    listener = socket.socket(socket.AF_UNIX)
    path = f"/run/mysqld{name}.sock" if name == "/mysqld" else "/tmp/mysql.sock"
    listener.bind(path)
    os.chmod(path, 0o777)
    return listener


class Jvm:
    """A JVM's agent that keeps all that it is sent, once it has said something."""

    def __init__(self, says):
        self.says = says
        self.got = b""

    def __call__(self, peer):
        with peer:
            peer.sendall(self.says)
            while octets := peer.recv(65536):
                self.got += octets
                if b"Authorization" in self.got:
                    return


def steal(listener, user, asking, got):
    """Listen as that user, and tell all that is sent."""
    os.setresuid(user, user, user)
    listener = listener or socket.create_server(("127.0.0.1", PORT))
    listener.listen()
    got.send_bytes(b"")
    while True:
        peer, _ = listener.accept()
        with contextlib.suppress(OSError):
            asking(peer)
        got.send_bytes(asking.got)


def registry():
    """What a JVM's registry said, as if the log-in were here, too."""
    return re.sub(rb"(?s)(?<=\t127\.0\.0\.1).{4}", struct.pack(">i", PORT), load("attribute")[0])


def asking_for(method, tls):
    """Give what asks for the password in this way."""
    if method in {"jolokia", "rmi"}:
        return Jvm(registry() if method == "rmi" else b"")
    asked = method.encode()
    caching = asked == CACHING
    return Asking(
        MARIADB, method=asked if caching else b"mysql_native_password", then=None if caching else asked,
        answers=(FULL, OK) if caching else (OK,), tls=tls,
    )  # fmt: skip


def main(where, user, method, cert, key, *command):
    """Run the command while the thief is there."""
    listener = place(where)
    asking = asking_for(method, Certificate(cert, key) if where == "port" else None)
    ours, theirs = multiprocessing.Pipe()
    thief = multiprocessing.Process(target=steal, args=(listener, int(user), asking, theirs), daemon=True)
    thief.start()
    ours.recv_bytes()  # it listens
    done = subprocess.run(command, capture_output=True, check=False)
    if where == "/tmp":
        os.remove("/tmp/mysql.sock")
    got = b""
    while ours.poll(0.2):
        got += ours.recv_bytes()
    thief.kill()
    told = {"status": done.returncode, "output": done.stdout.decode(), "errors": done.stderr.decode()}
    print(json.dumps(told | {"got": got.hex()}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
