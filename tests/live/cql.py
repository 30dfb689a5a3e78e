"""As much of Cassandra's native protocol (version 4) as it takes to put load on one: plain QUERY requests.

Many may be under way on a connection, each on a stream of its own number.
"""

import collections
import socket
import struct

HEADER = struct.Struct(">BBhBI")  # version, flags, stream, operation, length of the body
VERSION = 4
ERROR, STARTUP, READY, QUERY, RESULT = 0, 1, 2, 7, 8
TRACED = 2  # a flag
TRACE_ID = 16  # bytes before the body proper of an answer with that flag
CONSISTENCY_ONE = 1


class CqlError(Exception):
    """The server refused a request. The code is its own: 0x1001 is overloaded, 0x1100 a write timeout."""

    def __init__(self, code, message):
        super().__init__(f"{message} (0x{code:04x})")
        self.code = code


class Connection:
    """A connection to a Cassandra that asks for no password."""

    def __init__(self, port, host="127.0.0.1", timeout=30):
        self.socket = socket.create_connection((host, port), timeout)
        self.answers = self.socket.makefile("rb")
        self._send(0, STARTUP, struct.pack(">H", 1) + _string("CQL_VERSION") + _string("3.0.0"))
        self._expect(READY)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answers.close()
        self.socket.close()

    def execute(self, *statements):
        """Let it do one statement after the other. Raises CqlError."""
        for statement in statements:
            self._send(0, QUERY, _query(statement))
            self._expect(RESULT)

    def flood(self, statements, *, traced=False):
        """Send all of them at once (32767 at most). Returns how often there was which error, by code."""
        for stream, statement in enumerate(statements):
            self._send(stream, QUERY, _query(statement), TRACED if traced else 0)
        errors = collections.Counter()
        for _ in statements:
            try:
                self._expect(RESULT)
            except CqlError as error:
                errors[error.code] += 1
        return errors

    def _send(self, stream, operation, body, flags=0):
        self.socket.sendall(HEADER.pack(VERSION, flags, stream, operation, len(body)) + body)

    def _expect(self, operation):
        _, flags, _, answer, length = HEADER.unpack(self.answers.read(HEADER.size))
        if flags & TRACED:
            length -= len(self.answers.read(TRACE_ID))
        body = self.answers.read(length)
        if answer == ERROR:
            code, size = struct.unpack_from(">IH", body)
            raise CqlError(code, body[6 : 6 + size].decode())
        assert answer == operation, f"the server answered with operation {answer}, not {operation}"


def _string(text):
    return struct.pack(">H", len(text)) + text.encode()


def _query(statement):
    text = statement.encode()
    return struct.pack(">I", len(text)) + text + struct.pack(">HB", CONSISTENCY_ONE, 0)
