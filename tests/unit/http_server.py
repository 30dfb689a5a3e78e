"""Servers on loopback that answer HTTP as a test says, and keep what they were asked."""

import contextlib
import json

import loopback


class Asked(list):
    """The requests that came, as bytes; ``place`` is host and port."""

    place = ("", 0)

    @property
    def bodies(self):
        """What was asked in JSON."""
        return [json.loads(one.partition(b"\r\n\r\n")[2]) for one in self]


def answer(body, status="200 OK", *headers):
    """An answer with this body: text, or what is written as JSON."""
    octets = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(octets)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + octets


@contextlib.contextmanager
def serving(reply):
    """A server; ``reply(request, connection)`` gives the bytes of an answer, or None to say nothing.

    ``request`` is the bytes that came. Gives Asked.
    """
    asked = Asked()

    def play(connection, _, ended):
        while request := _request(connection):
            asked.append(request)
            octets = reply(request, connection)
            if octets is None:
                ended.wait()
                return
            connection.sendall(octets)

    with loopback.serving(play) as asked.place:
        yield asked


def _request(connection):
    """Receive a whole request; nothing if the other side has hung up."""
    octets = b""
    while b"\r\n\r\n" not in octets:
        if not (more := connection.recv(65536)):
            return b""
        octets += more
    head, _, body = octets.partition(b"\r\n\r\n")
    length = next(
        (
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length")
        ),
        0,
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
