"""Servers that answer without end. As a program: ask the one of that name, and print what that comes to.

A module without pytest and Hypothesis, which take longer to import than the question takes.
"""

import json
import resource
import struct
import sys

import mysql_bytes
from mysql_bytes import LET_IN, ask, error, greeting, packet, result, served, text
from stallwatch.sources import mysql

SECONDS = 2
LARGEST = 2**24 - 1

ENDLESS = {
    "error texts of 16 MB": (
        b"",
        struct.pack("<I", LARGEST)[:3] + b"\1" + b"\xff\x28\4#HY000" + b"x" * (LARGEST - 9),
    ),
    "error texts of 2 MB": (b"", packet(1, error(1064, b"x" * 1_900_000))),
    "a text of 16 MB": (result(b"a")[:-9], packet(4, b"x" * (LARGEST - 1))),
    "rows": (result(b"a")[:-9], b"".join(packet((4 + n) % 256, text(b"x" * 50)) for n in range(256))),
    "rows of NULL": (
        result(*[b"a"] * 250)[:-9],
        b"".join(packet((253 + n) % 256, b"\xfb" * 250) for n in range(256)),
    ),
    "columns": (
        packet(1, b"\xfe" + b"\xff" * 8),
        b"".join(packet((2 + n) % 256, result(b"a")[9:-18]) for n in range(256)),
    ),
    "results after results": (b"", packet(1, b"\0\0\0\x0a\0\0\0")),
    "greetings": (None, greeting() * 100),
}


def never_end(name):
    """Ask such a server, and print what that came to."""
    first, again = ENDLESS[name]

    def play(connection):
        if first is not None:
            turns_before_the_answer(connection)
            connection.sendall(first)
        while True:
            connection.sendall(again)

    def turns_before_the_answer(connection):
        for part in LET_IN:
            connection.sendall(part)
            connection.recv(65536)

    with served(play) as port:
        try:
            what = str(ask(port, SECONDS))
        except mysql.MysqlError as raised:
            what = raised.what.replace(f"127.0.0.1:{port}", "db1")
    print(json.dumps({"what": what, "peak_MiB": mysql_bytes.peak()}))  # noqa: T201


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    never_end(sys.argv[1])
