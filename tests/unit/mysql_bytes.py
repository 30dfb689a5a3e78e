"""A server of bytes: recorded conversations with MySQL and MariaDB, played as they were, or damaged.

What was recorded is what the servers sent: tests/recorded/mysql_bytes, made by
tests/live/mysql_bytes_recording.py.
By hand, a hundred thousand damaged ones, with a line of JSON about them:

    .venv/bin/python tests/unit/mysql_bytes.py 100000
"""

import contextlib
import io
import json
import random
import resource
import signal
import socket
import struct
import sys
import threading
import traceback
from pathlib import Path
from unittest import mock

from stallwatch.deadline import Deadline
from stallwatch.sources import mysql
from stallwatch.sources.mysql import log_in

RECORDED = Path(__file__).parents[1] / "recorded" / "mysql_bytes"
STATEMENT = "SHOW ENGINE INNODB STATUS"

# what a server says


def packet(number, octets):
    """One packet, with its number within the exchange."""
    return struct.pack("<I", len(octets))[:3] + bytes([number]) + octets


def greeting(version=b"10.11.19-MariaDB", protocol=10, capabilities=0x81BFF7DF):
    """The first words of a server that wants a native password; bit 11 of the capabilities is TLS."""
    low, high = capabilities & 0xFFFF, capabilities >> 16
    octets = bytes([protocol]) + version + b"\0" + struct.pack("<I", 7) + b"saltsalt" + b"\0"
    octets += struct.pack("<HBHHB", low, 45, 2, high, 21) + bytes(10) + b"saltsaltsalt" + b"\0"
    return packet(0, octets + b"mysql_native_password\0")


TLS = 0x81BFF7DF | 0x800
OK = b"\0\0\0\2\0\0\0"


def error(number, text, state=b"#HY000"):
    """An error; before the log-in it comes without a state."""
    return b"\xff" + struct.pack("<H", number) + state + text


def text(octets):
    """A text with its length before it."""
    return b"\xfd" + struct.pack("<I", len(octets))[:3] + octets


def result(*columns, rows=()):
    """The packets of a result whose columns are texts."""
    end = b"\xfe\0\0\2\0"
    of_text = b"\x0c" + struct.pack("<HIBHB", 45, 99, 253, 0, 0) + b"\0\0"
    about = [text(b"def") + text(b"") * 3 + text(name) + text(b"") + of_text for name in columns]
    told = [b"".join(b"\xfb" if value is None else text(value) for value in row) for row in rows]
    packets = [bytes([len(columns)]), *about, end, *told, end]
    return b"".join(packet(number % 256, octets) for number, octets in enumerate(packets, 1))


WHO = result(b"a", b"b", b"c", b"d", rows=[(b"10.11.19-MariaDB", b"Debian 12", b"db1", b"mon@%")])
LET_IN = [greeting(), packet(2, OK), WHO, packet(1, OK)]  # greeting, log-in, who it is, session

# who says it


@contextlib.contextmanager
def served(play):
    """A server on loopback; ``play`` is given each connection. Gives its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve():
        while not ended.is_set():
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(60)
                    play(connection)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(70)


def turns(parts):
    """Say the first part, and one more for whatever one hears; then hang up."""

    def play(connection):
        for number, octets in enumerate(parts):
            if number and not connection.recv(65536):
                return
            connection.sendall(octets)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(65536)

    return play


def ask(port, seconds=60, tls="PREFERRED"):
    """Log in, and give the rows of one statement."""
    target = mysql.Target("127.0.0.1", port, user="mon", password="geheim", tls=mysql.Tls(tls))
    with mysql.connect(target, Deadline(seconds), known=None) as server:
        return server.rows(STATEMENT)


class Played(io.BytesIO):
    """A socket that says what it is to say, takes everything, and then is closed by the other side."""

    family = socket.AF_INET

    def makefile(self, _):
        return io.BufferedReader(self)

    def getpeername(self):
        return ("192.0.2.1", 3306)

    def getsockname(self):
        return ("192.0.2.2", 40000)

    def settimeout(self, _):
        pass

    def sendall(self, _):
        pass


def replay(parts, seconds=60):
    """Ask a server that says these parts, without waiting to be asked."""
    with mock.patch.object(log_in, "connected", return_value=Played(b"".join(parts))):
        return ask(3306, seconds, "DISABLED")


# recordings


def load(name):
    """What a server sent in a recorded conversation, turn by turn."""
    octets, parts = (RECORDED / f"{name}.bin").read_bytes(), []
    while octets:
        (length,) = struct.unpack(">I", octets[:4])
        parts.append(octets[4 : 4 + length])
        octets = octets[4 + length :]
    return parts


def save(name, parts):
    """Keep what a server sent."""
    RECORDED.mkdir(exist_ok=True)
    octets = b"".join(struct.pack(">I", len(part)) + part for part in parts)
    (RECORDED / f"{name}.bin").write_bytes(octets)


# damage

_TELLING = (
    "00 01 02 03 04 0a 0b fa fb fc fd fe ff ffff ffffff 000000 00000000 ffffffff fb00 fe00 0000000000000000"
)
TELLING = [bytes.fromhex(octets) for octets in _TELLING.split()]


def damaged(parts, chance):
    """Change, add, take away or repeat bytes, lengths and numbers, or cut off, in a few places."""
    changed = [bytearray(part) for part in parts]
    for _ in range(chance.choice((1, 1, 1, 2, 4, 16))):
        part = chance.choice(changed)
        at = chance.randrange(len(part) + 1) if chance.random() < 0.7 else min(chance.randrange(8), len(part))
        some = part[at : at + chance.choice((1, 1, 2, 4, 8, 40))]
        match chance.randrange(6):
            case 0 | 1:
                part[at : at + 1] = bytes([chance.randrange(256)])
            case 2:
                telling = chance.choice(TELLING)
                part[at : at + len(telling)] = telling
            case 3:
                part[at:at] = chance.choice(TELLING)
            case 4:
                del part[at : at + len(some)]
            case _:
                part[at:at] = some * chance.choice((1, 2, 100))
    return [bytes(part) for part in changed]


class TooSlow(BaseException):
    """Nothing may catch it."""


def _too_slow(*_):
    raise TooSlow


def withstand(name, seed, seconds):
    """Ask a server that plays a damaged conversation. What it came to."""
    parts = damaged(load(name), random.Random(f"{name} {seed}"))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        json.dumps(replay(parts))
    except mysql.MysqlError as error:
        return type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "rows"


def peak():
    """Megabytes that this process has had at most; ru_maxrss begins with that of who started us."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024


def main(count, first=0, seconds=30):
    """Withstand so many, none with more processor time; print what they came to, as a line of JSON."""
    signal.signal(signal.SIGPROF, _too_slow)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    came_to, failures = {}, []
    names = sorted(path.stem for path in RECORDED.glob("*.bin"))
    for number in range(first, first + count):
        name = names[number % len(names)]
        try:
            what = withstand(name, number, seconds)
        except (Exception, TooSlow):  # noqa: BLE001 - that is what is looked for
            failures.append(f"{name} {number}\n{''.join(traceback.format_exc(limit=-6))}")
            continue
        came_to[what] = came_to.get(what, 0) + 1
    print(json.dumps({"came_to": came_to, "peak_MiB": peak(), "failures": failures}))  # noqa: T201


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
