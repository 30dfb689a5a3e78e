"""check_replication_lag at servers that are broken or mean harm: UNKNOWN, in one line, in time."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[2] / "plugins" / "check_replication_lag"
TIMEOUT, SLACK = 2, 30  # seconds; what hangs does so for ever


def say(octets):
    def play(connection):
        connection.sendall(octets)
        connection.recv(100)

    return play


def drip(connection):
    while True:
        connection.sendall(b"\x4a")
        time.sleep(0.2)


def be_silent(connection):
    while connection.recv(1000):
        pass


def refuse_at_length(connection):
    text = b"x" * (16 * 1024 * 1024 - 10)
    body = b"\xff\x15\x04#28000" + text
    with contextlib.suppress(OSError):
        connection.sendall(len(body).to_bytes(4, "little")[:3] + b"\x00" + body)
        connection.recv(100)


@contextlib.contextmanager
def server(play):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=talk, args=(connection,), daemon=True).start()

        def talk(connection):
            with connection, contextlib.suppress(OSError):
                play(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("play", "words"),
    [
        (lambda _: None, "closed the connection"),
        (say(b"HTTP/1.0 400 Bad Request\r\n\r\n"), "not MySQL"),
        (say(b"SSH-2.0-OpenSSH_9.2p1\r\n"), "not MySQL"),
        (say(os.urandom(5000)), ""),
        (drip, ""),
        (be_silent, "within"),
        (refuse_at_length, ""),
    ],
    ids=["closes", "http", "ssh", "garbage", "drips", "silent", "16 MB of error text"],
)
def test_a_broken_server_is_unknown_in_time(tmp_path, play, words):
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    timeout = TIMEOUT if words in ("", "within") else SLACK
    with server(play) as port:
        command = [sys.executable, str(PLUGIN), "-H", "127.0.0.1", "-P", str(port), "-t", f"{timeout}s"]
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)
        took = time.monotonic() - began
    assert done.returncode == 3
    assert done.stderr == ""
    assert done.stdout.startswith("REPLICATION_LAG UNKNOWN - ")
    assert done.stdout.count("\n") == 1
    assert len(done.stdout) < 1024
    assert words in done.stdout
    assert "internal error" not in done.stdout
    assert took < TIMEOUT + SLACK
