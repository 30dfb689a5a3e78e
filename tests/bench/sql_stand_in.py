"""A server that speaks as MySQL does and answers what is made up: for measuring a plugin as a whole.

Any user with any password may log in.
"""

import contextlib
import socket
import struct
import threading

VERSION = b"9.7.2-cluster"
LOGIN = b"caching_sha2_password"  # the only one that clients of MySQL 9 know
# What it can: long passwords, found rows, long flags, connect with a schema, protocol 4.1, transactions,
# secure log-in, several results, names of log-ins, attributes of a connection.
CAPABILITIES = 0x0000A20F | 0x001B0000
QUIT, QUERY = 1, 3
UTF8, BINARY = 255, 63  # collations
SYNTAX = 1064  # an error
LONGLONG, DOUBLE, TEXT = 8, 5, 253


class Talk:
    """One connection. ``rows(sql)`` makes up the answers; what it raises may have a ``number``."""

    def __init__(self, connection, rows):
        self.stream = connection.makefile("rwb")
        self.rows = rows
        self.number = 0

    def say(self, *packets):
        """Send packets."""
        for packet in packets:
            self.stream.write(struct.pack("<I", len(packet))[:3] + bytes([self.number % 256]) + packet)
            self.number += 1
        self.stream.flush()

    def heard(self):
        """The next packet, empty if there is none."""
        head = self.stream.read(4)
        if len(head) < 4:
            return b""
        self.number = head[3] + 1
        return self.stream.read(int.from_bytes(head[:3], "little"))

    def let_in(self):
        """Greet, and let whoever it is log in."""
        low, high = CAPABILITIES & 0xFFFF, CAPABILITIES >> 16
        greeting = b"\x0a" + VERSION + b"\0" + struct.pack("<I", 7) + b"saltsalt" + b"\0"
        greeting += struct.pack("<HBHHB", low, UTF8, 2, high, 21) + bytes(10) + b"saltsaltsalt" + b"\0"
        self.say(greeting + LOGIN + b"\0")
        self.heard()
        self.say(b"\1\3", OK)  # the password is known from before

    def serve(self):
        """Answer until the other side hangs up."""
        self.let_in()
        while asked := self.heard():
            if asked[0] == QUIT:
                return
            self.say(*(self.answer(asked[1:].decode()) if asked[0] == QUERY else (OK,)))

    def answer(self, sql):
        """The packets of an answer."""
        if sql.upper().startswith("SET "):
            return [OK]
        try:
            rows = self.rows(sql)
        except Exception as error:  # noqa: BLE001 - whatever keeps it from an answer
            number = getattr(error, "number", None) or SYNTAX
            return [b"\xff" + struct.pack("<H", number) + b"#HY000" + str(error).encode()]
        names = list(rows[0]) if rows else ["nothing"]
        kinds = [_kind([row[name] for row in rows]) for name in names]
        told = [b"".join(map(_value, row.values())) for row in rows]
        return [bytes([len(names)]), *map(_column, names, kinds), END, *told, END]


OK = b"\0\0\0\2\0\0\0"
END = b"\xfe\0\0\2\0"


def _kind(values):
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {int}:
        return LONGLONG
    return DOUBLE if kinds and kinds <= {int, float} else TEXT


def _text(octets):
    """A text with its length before it."""
    if len(octets) < 251:
        return bytes([len(octets)]) + octets
    return b"\xfc" + struct.pack("<H", len(octets)) + octets


def _value(value):
    return b"\xfb" if value is None else _text(str(value).encode())


def _column(name, kind):
    about = struct.pack("<HIBHB", UTF8 if kind == TEXT else BINARY, 512, kind, 0, 0) + b"\0\0"
    return _text(b"def") + _text(b"ndbinfo") + _text(b"") * 2 + _text(name.encode()) * 2 + b"\x0c" + about


@contextlib.contextmanager
def served(rows):
    """Serve on loopback; gives the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(ConnectionError):
                        Talk(connection, rows).serve()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)
