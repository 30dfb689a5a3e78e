"""Recorded conversations with JMX servers, replayed to the client as they were, or damaged in any way.

What was recorded is what the servers sent: tests/recorded/jmx_bytes, see tests/live/jmx_bytes_recording.py.
By hand, a hundred thousand damaged ones, with a line of JSON about them:

    .venv/bin/python tests/unit/jmx_bytes.py 100000
"""

import json
import random
import resource
import signal
import socket
import struct
import sys
import traceback
from pathlib import Path
from unittest import mock

from stallwatch.deadline import Deadline
from stallwatch.sources import jmx
from stallwatch.sources.jmx import wire
from stallwatch.sources.jmx.info import Bean

RECORDED = Path(__file__).parents[1] / "recorded" / "jmx_bytes"
POOLS = "org.apache.cassandra.metrics:type=ThreadPools,path=transport,*"
TROUBLE = ["Good", "ThrowsRuntime", "NotSerializable", "Externalizable", "LastGood"]


def every_attribute(name):
    """Ask what attributes a bean has, and for all of them."""

    def ask(server):
        (attributes,) = server.describe([Bean(name, "")])
        if isinstance(attributes, jmx.JmxError):
            return attributes
        return list(server.read([(name, [one.name for one in attributes if one.readable])]))

    return ask


def listing(server):
    """Ask for all kinds of lists."""
    beans = server.beans("target:type=Standard,*")
    return [server.domains(), server.names("java.lang:*"), list(server.describe(beans)), beans]


def one(name, attribute):
    """Ask for one attribute."""
    return lambda server: list(server.read([(name, [attribute])]))


# What was asked, by the name of the recording.
ASKED = {
    "attribute": one("target:type=Numbers", "Int"),
    "numbers": every_attribute("target:type=Numbers"),
    "arrays": every_attribute("target:type=Arrays"),
    "collections": every_attribute("target:type=Collections"),
    "tables": every_attribute("target:type=Tables"),
    "composites": every_attribute("target:type=Composites"),
    "times": every_attribute("target:type=Times"),
    "foreign": every_attribute("target:type=Foreign"),
    "mixed": every_attribute("target:type=Mixed"),
    "trouble": lambda server: list(server.read([("target:type=Trouble", TROUBLE)])),
    "listing": listing,
    "deadlocked": lambda server: server.deadlocked_threads(),
    "missing": lambda server: list(server.read([("a:b=c", ["D"]), ("target:type=Numbers", ["None", "Int"])])),
    "denied": one("target:type=Numbers", "Int"),
    "not_bound": one("target:type=Numbers", "Int"),
    "rmi_port": one("target:type=Numbers", "Int"),
    "tls": one("target:type=Numbers", "Int"),
    "cassandra_pools": lambda server: list(
        server.read([(name, ["Value", "Count"]) for name in server.names(POOLS)])
    ),
    "cassandra_denied": one("java.lang:type=Runtime", "Uptime"),
}


def load(name):
    """What the server sent in a recorded conversation, connection by connection."""
    octets, streams = (RECORDED / f"{name}.bin").read_bytes(), []
    while octets:
        (length,) = struct.unpack(">I", octets[:4])
        streams.append(octets[4 : 4 + length])
        octets = octets[4 + length :]
    return streams


def save(name, streams):
    """Keep what a server sent."""
    RECORDED.mkdir(exist_ok=True)
    octets = b"".join(struct.pack(">I", len(stream)) + stream for stream in streams)
    (RECORDED / f"{name}.bin").write_bytes(octets)


class Played:
    """A socket that says what it is to say, takes everything, and then is closed by the other side."""

    family = socket.AF_INET

    def __init__(self, stream):
        self.stream = memoryview(stream)

    def getpeername(self):
        return "192.0.2.1", 7199

    def getsockname(self):
        return "192.0.2.2", 50000

    def recv(self, count):
        octets, self.stream = bytes(self.stream[:count]), self.stream[count:]
        return octets

    def send(self, octets):
        return len(octets)

    def settimeout(self, _):
        pass

    def setsockopt(self, *_):
        pass

    def close(self):
        pass


def replay(ask, streams, deadline=10):
    """Let the client ask a server that sends these streams, one for each connection, and then refuses."""
    left = iter(streams)

    def connected(host, port, _):
        for stream in left:
            return Played(stream)
        raise jmx.UnreachableError(f"{host}:{port} refused the connection")

    with (
        mock.patch.object(wire, "connected", connected),
        mock.patch.object(wire.Wire, "encrypt"),
        jmx.connect(jmx.Target("db1", 7199, user="me", password="secret"), Deadline(deadline)) as server,
    ):
        return ask(server)


# damage

# Tags, references, lengths, the start of an answer and of a field: what means something wherever it comes.
_TELLING = (
    "70 71007e0000 72 73 75 76 7700 78 79 7affffffff 7b 7d 7e 7fffffff 80000000 ffffffff 00000000 00010000 "
    "7fffffffffffffff 51aced0005770f01 4c 5b 5a 74ffff"
)
TELLING = [bytes.fromhex(octets) for octets in _TELLING.split()]


def damaged(streams, chance):
    """Change, add, take away or repeat bytes, lengths and references, or cut off, in a few places."""
    changed = [bytearray(stream) for stream in streams]
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        stream = chance.choice(changed)
        at = chance.randrange(len(stream) + 1)
        part = stream[at : at + chance.choice((1, 1, 2, 4, 8, 40))]
        match chance.randrange(8):
            case 0 | 1:
                stream[at : at + 1] = bytes([chance.randrange(256)])
            case 2 | 3:
                telling = chance.choice(TELLING)
                stream[at : at + len(telling)] = telling
            case 4:
                stream[at:at] = chance.choice(TELLING)
            case 5:
                del stream[at : at + len(part)]
            case 6:
                other = chance.randrange(len(stream) + 1)
                stream[other:other] = part * chance.choice((1, 2, 100))
            case _:
                if chance.random() < 0.2:
                    del stream[at:]
                else:  # a reference to another object, which may be one that holds it
                    stream[at : at + 5] = b"\x71\x00\x7e\x00" + bytes([chance.randrange(64)])
    return [bytes(stream) for stream in changed]


class TooSlow(BaseException):
    """Nothing may catch it."""


def _too_slow(*_):
    raise TooSlow


def withstand(name, seed, seconds):
    """Replay a damaged conversation. What it came to."""
    streams = damaged(load(name), random.Random(f"{name} {seed}"))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        json.dumps(replay(ASKED[name], streams), default=str)
    except jmx.JmxError as error:
        return type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "values"


def main(count, first=0, seconds=30):
    """Withstand so many, none with more processor time; print what they came to, as a line of JSON."""
    signal.signal(signal.SIGPROF, _too_slow)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    came_to, failures = {}, []
    names = sorted(ASKED)
    for number in range(first, first + count):
        name = names[number % len(names)]
        try:
            what = withstand(name, number, seconds)
        except (Exception, TooSlow):  # noqa: BLE001 - that is what is looked for
            failures.append(f"{name} {number}\n{''.join(traceback.format_exc(limit=-6))}")
            continue
        came_to[what] = came_to.get(what, 0) + 1
    with open("/proc/self/status") as status:  # ru_maxrss begins with that of the process that started us
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024
    print(json.dumps({"came_to": came_to, "peak_MiB": peak, "failures": failures}))  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
