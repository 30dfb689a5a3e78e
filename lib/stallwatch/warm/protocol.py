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
import sys

from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GREETING = b"stallwatch 1"
LARGEST = 128 << 10  # bytes of a request: the kernel has to keep the whole of it (net.core.wmem_default)
HEAD = 96  # bytes from the beginning of a request, with the plugin's name
ANSWERED = 0xFFFFFFFF  # in place of the time allowed
QUEUED = 0xFFFFFFFE  # the same: the check waits for a processor
QUEUE = 5.0  # seconds that it waits so, from when its request came; then the front runs the plugin itself
LENGTH = struct.Struct("!I")
ALLOWED = struct.Struct("!I")
ANSWER = struct.Struct("!IIB")  # ANSWERED, and REST
REST = struct.Struct("!IB")  # length of the text, exit status
_ENCODING = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


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


def plugin(head: bytearray, seen: int, size: int) -> str:
    """Read whose request it is, of which there are ``size`` bytes, the first of them in ``head``.

    "": it is not whole yet. Raises ValueError where it is no request.
    """
    if seen < LENGTH.size:
        return ""
    whole = LENGTH.size + LENGTH.unpack_from(head)[0]
    if whole - LENGTH.size > LARGEST or size > whole:
        raise ValueError("too long")
    if size < whole:
        return ""
    start = LENGTH.size + len(GREETING) + 1
    end = head.find(b"\0", start)
    if head[LENGTH.size : start] != GREETING + b"\0" or end <= start:
        raise ValueError("no request of this version")
    return os.fsdecode(bytes(head[start:end]))


def parsed(octets: bytearray, size: int) -> Request:
    """Read a request of so many bytes, word by word: no copy of more. Raises ValueError where it is none."""
    words, start = [], LENGTH.size
    with memoryview(octets)[:size] as view:
        while (end := octets.find(b"\0", start, size)) >= 0:
            words.append(str(view[start:end], *_ENCODING))
            start = end + 1
    greeting, plugin, directory, number, *rest = words
    count = int(number)
    if greeting != os.fsdecode(GREETING) or not 0 <= count <= len(rest) or start != size:
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
