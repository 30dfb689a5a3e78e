"""What a front and stallwatchd send each other: one connection for each check.

Request: 4 bytes of length (big-endian), then words that end with NUL each: GREETING, the plugin's name, the
working directory, the number of arguments, the arguments, and the environment as NAME=value.

Answer: 4 bytes, QUEUED, if the check waits for a processor. 4 bytes, the milliseconds that it may still take,
once it has begun and whenever that changes. Then 4 bytes, ANSWERED; 4 of length; 1 of exit status; and what
the plugin prints. If the connection closes before that, the front runs the plugin itself.
"""

from __future__ import annotations

import os
import struct

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GREETING = b"stallwatch 1"
LARGEST = 128 << 10  # bytes of a request: it has to fit into one message to a worker
ANSWERED = 0xFFFFFFFF  # in place of the time allowed
QUEUED = 0xFFFFFFFE  # the same: the check waits for a processor
QUEUE = 5.0  # seconds that it waits so, from when its request came; then the front runs the plugin itself
LENGTH = struct.Struct("!I")
ALLOWED = struct.Struct("!I")
ANSWER = struct.Struct("!IIB")  # ANSWERED, and REST
REST = struct.Struct("!IB")  # length of the text, exit status


class Request(NamedTuple):
    """A check that is to be run."""

    plugin: str  # its name, as check_mysql_query
    directory: str  # the working directory
    arguments: list[str]
    environment: dict[str, str]


def packed(plugin: str, directory: str, arguments: Sequence[str], environment: Mapping[str, str]) -> bytes:
    r"""Give a request as it is sent, with its length.

    >>> packed("check_host", "/", ["-v"], {"TZ": "UTC"})
    b'\x00\x00\x00&stallwatch 1\x00check_host\x00/\x001\x00-v\x00TZ=UTC\x00'
    """
    variables = (f"{name}={value}" for name, value in environment.items())
    words = [plugin, directory, str(len(arguments)), *arguments, *variables]
    body = b"".join(word + b"\0" for word in (GREETING, *map(os.fsencode, words)))
    return LENGTH.pack(len(body)) + body


def parsed(body: bytes) -> Request:
    """Read a request without its length. Raises ValueError where it is none."""
    greeting, plugin, directory, number, *rest = map(os.fsdecode, body.split(b"\0"))
    count = int(number)
    if greeting != os.fsdecode(GREETING) or not 0 <= count < len(rest) or rest.pop():
        raise ValueError("no request of this version")
    variables = (word.partition("=") for word in rest[count:])
    return Request(plugin, directory, rest[:count], {name: value for name, _, value in variables if name})


def answered(status: int, text: str) -> bytes:
    """Give an answer as it is sent: exit status, and text as the plugin prints it."""
    octets = text.encode(errors="replace")
    return ANSWER.pack(ANSWERED, len(octets), status) + octets


def allowed(seconds: float) -> bytes:
    """Write how long the check may still take (``seconds``), as it is sent to the front."""
    return ALLOWED.pack(max(0, min(round(seconds * 1000), QUEUED - 1)))
