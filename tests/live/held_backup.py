"""A mariabackup of a replica that is stopped in its middle, as long as a test wants to look at it."""

import contextlib
import os
import select
import subprocess
import time

import software


@contextlib.contextmanager
def held_backup(replica, folder):
    """Meanwhile it has stopped the applier, and waits for us to read what it writes. Gives its process id."""
    command = [
        software.program("mariabackup", "mariadb-backup"), "--no-defaults", "--backup", "--stream=xbstream",
        "--safe-slave-backup", f"--target-dir={folder}", "--user=root", f"--socket={replica.socket}",
        f"--datadir={replica.data}",
    ]  # fmt: skip
    with open(f"{folder}.log", "wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
    try:
        _read_until(process.stdout, lambda: replica.channels()[""]["Replica_SQL_Running"] == "No")
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _read_until(stream, true, seconds=60):
    """Read what a program writes until something is true."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        if select.select([stream], [], [], 0.1)[0]:
            assert os.read(stream.fileno(), 65536)
