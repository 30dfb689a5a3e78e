"""A thief in the place of a MySQL server that is stopped, in namespaces of its own.

    unshare --mount --net python3 tests/hostile/thief.py PLACE METHOD CERT KEY COMMAND...

PLACE is /mysqld, /tmp or port. It prints what came of the command, and what the thief was told, as JSON.
"""

import contextlib
import fcntl
import json
import multiprocessing
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from asking_server import CACHING, FULL, MARIADB, Asking, Certificate
from mysql_bytes import OK

NOBODY = 65534
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
        return socket.create_server(("127.0.0.1", 3306))
    listener = socket.socket(socket.AF_UNIX)
    path = f"/run/mysqld{name}.sock" if name == "/mysqld" else "/tmp/mysql.sock"
    listener.bind(path)
    os.chmod(path, 0o777)
    return listener


def steal(listener, asking, got):
    """Listen as nobody, and tell all that is sent."""
    os.setresuid(NOBODY, NOBODY, NOBODY)
    listener.listen()
    while True:
        peer, _ = listener.accept()
        with contextlib.suppress(OSError):
            asking(peer)
        got.send_bytes(asking.got)


def listens(path):
    """Whether somebody listens at a socket: it has the flag __SO_ACCEPTCON."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return any(line.endswith(f" {path}") and line.split()[3] == "00010000" for line in lines)


def main(where, method, cert, key, *command):
    """Run the command while the thief is there."""
    listener = place(where)
    tls = Certificate(cert, key) if where == "port" else None
    asked = method.encode()
    caching = asked == CACHING
    asking = Asking(
        MARIADB, method=asked if caching else b"mysql_native_password", then=None if caching else asked,
        answers=(FULL, OK) if caching else (OK,), tls=tls,
    )  # fmt: skip
    ours, theirs = multiprocessing.Pipe()
    thief = multiprocessing.Process(target=steal, args=(listener, asking, theirs), daemon=True)
    thief.start()
    while not tls and not listens(listener.getsockname()):
        pass
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
