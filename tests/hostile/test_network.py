"""Plugins whose server is not there, is silent, is something else, or means harm."""

import concurrent.futures
import random
import re
import socket
import struct
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bad_servers
import pytest
from bad_servers import drips, hang_up, once, repeats, reset, says, silent
from cells import cells
from loopback import serving
from ndb_configuration import DATA_NODES
from runs import environment, finish, start
from sleeping import sleeping
from slow_machine import MORE, NO_TIME
from sql_node import MONITOR
from subjects import (
    ALSO_ASKING,
    BESIDE,
    CRITICAL,
    JMX,
    MYSQL,
    NDB,
    NETWORK,
    OK,
    SUBJECTS,
    UNKNOWN,
    WARNING,
    Place,
    Subject,
)

sys.path.append(str(Path(__file__).parents[1] / "unit"))
import jmx_bytes
import mysql_bytes
from mysql_bytes import LET_IN, greeting, packet, result, text

ASKING = (*(one for one in SUBJECTS if one.source in NETWORK), *ALSO_ASKING)
PATIENT = 30  # seconds that a plugin is given for what does not take its time
SILENCE, DRIPPING = 1, 3  # seconds for what does
LEAST = {"mysql_query": 2}  # seconds: twice its --spread, else its command line is refused
MEMORY = 256 << 20  # bytes of address space
LEVELS = {"critical": CRITICAL, "warning": WARNING, "unknown": UNKNOWN}
LARGEST = 2**24 - 1  # bytes of a packet of MySQL


class Bad(NamedTuple):
    """A bad server: a context that gives its host and port, and any of the words that are said of it.

    {where} in the words is its address; ``slow`` is the time to be given to one that takes all there is, in
    seconds.
    """

    server: Any
    words: tuple[str, ...]
    slow: int = 0


def bad(server, *words, slow=0):
    return Bad(server, words, slow)


def plays(play, *words, slow=0):
    return Bad(partial(serving, play), words, slow)


# who is not there

NO_NAME = "the host nosuch.invalid cannot be looked up: "
NO_HOST = "cannot be looked up: that is no host name"
RESET = "{where} cannot be reached: Connection reset by peer"
NO_WORD = "({where} sends no greeting within "
NOT_IN = "({where} does not finish the log-in within "
NO_ANSWER = "{where} has not answered within "
CLOSED = "{where} closed the connection"
WITHOUT, CUT = f"{CLOSED} without a", f"{CLOSED} in the middle of its greeting"
NO_MYSQL = "{where} does not speak MySQL's protocol"
NO_JMX = "{where} does not speak JMX: it sent "
ELSE = "{where} speaks something else, not JMX over RMI"
NO_STREAM = "{where} speaks RMI in another protocol than the stream protocol, not JMX over RMI"
TOO_MUCH = "{where} sends too much before the log-in"
BREAKS = "{where} breaks MySQL's protocol"

MARIADB = mysql_bytes.load("mariadb")  # its greeting, let in, who it is, the session is set, an answer
# What it says once it has heard something; all of it over one connection, so without a second greeting.
FOUND, _OVER_RMI = jmx_bytes.load("attribute")
_, ENTERED, VALUE, _ = (b"Q\xac\xed" + part for part in _OVER_RMI.split(b"Q\xac\xed"))
JAVA = [b"", FOUND, ENTERED, VALUE]
TO_HTTP = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
TLS_ALERT = b"\x15\x03\x01\x00\x02\x02\x46"  # fatal, protocol version
TLS_HELLO = b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03" + bytes(116)
SSH = b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"
NOISE = random.Random(8).randbytes(5000)  # the first byte is 0x3a, a length of MySQL of some MB
RETURN = FOUND[: FOUND.index(b"w\x0f") + 17]  # the greeting, and the head of an answer


def mysql_head(length, number=0):
    return struct.pack("<I", length)[:3] + bytes([number])


def version(octets):
    """A server that says this is its version, lets us in, and then hangs up."""
    who = result(b"a", b"b", b"c", b"d", rows=[(octets, b"x", b"db1", b"mon@%")])
    return says(greeting(version=octets[:50]), packet(2, mysql_bytes.OK), who, packet(1, mysql_bytes.OK), b"")


TROUBLES = {
    "no such host": {
        kind: bad(lambda: bad_servers.named("nosuch.invalid"), NO_NAME) for kind in (MYSQL, JMX)
    },
    "no host name": {kind: bad(lambda: bad_servers.named("ü" * 70), NO_HOST) for kind in (MYSQL, JMX)},
    "refused": {
        MYSQL: bad(bad_servers.nobody, "{where} refused the connection"),
        JMX: bad(bad_servers.nobody, "{where} refused the connection"),
    },
    "filtered": {
        kind: bad(bad_servers.filtered, "{where} does not answer: no connection", slow=SILENCE)
        for kind in (MYSQL, JMX)
    },
    "silent": {MYSQL: plays(silent, NO_WORD, slow=SILENCE), JMX: plays(silent, NO_ANSWER, slow=SILENCE)},
    "one byte every 2 s": {
        MYSQL: plays(drips(b"\0"), NO_WORD, slow=DRIPPING),
        JMX: plays(drips(b"\0"), ELSE),
    },
    "a greeting byte by byte": {
        MYSQL: plays(drips(MARIADB[0]), NO_WORD, slow=DRIPPING),
        JMX: plays(says(b"", then=drips(FOUND)), NO_ANSWER, slow=DRIPPING),
    },
    "a log-in byte by byte": {
        MYSQL: plays(says(MARIADB[0], then=drips(MARIADB[1])), NOT_IN, slow=DRIPPING),
        JMX: plays(says(*JAVA[:2], b"", then=drips(ENTERED)), NO_ANSWER, slow=DRIPPING),
    },
    "an answer byte by byte": {
        MYSQL: plays(says(*MARIADB[:2], then=drips(MARIADB[2])), NO_ANSWER, slow=DRIPPING),
        JMX: plays(
            says(*JAVA[:3], b"", then=drips(VALUE)), NO_ANSWER, "be read: no answer within ", slow=DRIPPING
        ),
    },
    "closes at once": {MYSQL: plays(hang_up, f"{WITHOUT} word"), JMX: plays(hang_up, f"{WITHOUT}n answer")},
    "resets": {MYSQL: plays(reset, f"{WITHOUT} word", RESET), JMX: plays(reset, f"{WITHOUT}n answer", RESET)},
    "closes in its greeting": {
        MYSQL: plays(says(MARIADB[0][:40]), CUT),
        JMX: plays(says(b"", FOUND[:7]), f"{WITHOUT}n answer"),
    },
    "closes in the look-up": {JMX: plays(says(b"", FOUND[:100]), f"{WITHOUT}n answer")},
    "closes after its greeting": {MYSQL: plays(says(MARIADB[0]), f"{CLOSED} while we logged in")},
    "closes in the log-in": {
        MYSQL: plays(says(MARIADB[0], MARIADB[1][:5]), f"{CLOSED} while we logged in"),
        JMX: plays(says(*JAVA[:2], ENTERED[:100]), f"{WITHOUT}n answer"),
    },
    "closes in its first answer": {
        MYSQL: plays(says(*MARIADB[:2], MARIADB[2][:100]), CLOSED),
        JMX: plays(once(says(*JAVA[:3], VALUE[:30])), f"{CLOSED} when asked for "),
    },
    "closes in a later answer": {
        MYSQL: plays(says(*MARIADB[:4], MARIADB[4][:1000]), CLOSED),
    },
    "garbage": {MYSQL: plays(says(NOISE), NO_MYSQL), JMX: plays(says(NOISE), ELSE)},
    "HTTP": {
        MYSQL: plays(says(TO_HTTP), "{where} speaks HTTP, not MySQL's classic protocol"),
        JMX: plays(says(TO_HTTP), "{where} speaks HTTP, not JMX over RMI"),
    },
    "a TLS alert": {
        MYSQL: plays(says(TLS_ALERT), CUT),
        JMX: plays(says(b"", TLS_ALERT), "no TLS connection with {where}: "),
    },
    "a TLS handshake": {MYSQL: plays(says(TLS_HELLO), CUT), JMX: plays(says(TLS_HELLO), ELSE)},
    "SSH": {
        MYSQL: plays(says(SSH), "{where} speaks SSH, not MySQL's classic protocol"),
        JMX: plays(says(SSH), ELSE),
    },
    "the other protocol": {MYSQL: plays(says(FOUND), NO_MYSQL), JMX: plays(says(MARIADB[0]), ELSE)},
    "an endless greeting": {
        MYSQL: plays(says(mysql_head(LARGEST) + b"\x0a", then=repeats(b"x" * 65536)), TOO_MUCH),
        JMX: plays(says(b"N\xff\xff", then=repeats(b"x" * 65536)), NO_JMX),
    },
    "a log-in of endless changes": {
        MYSQL: plays(
            says(greeting(), then=repeats(packet(2, b"\xfemysql_native_password\0" + b"s" * 20))), BREAKS
        ),
    },
    "endless rows": {
        MYSQL: plays(
            says(
                *LET_IN,
                result(b"a")[:-9],
                then=repeats(b"".join(packet((4 + number) % 256, text(b"x" * 50)) for number in range(256))),
            ),
            "{where} answers too much to be read",
            NO_ANSWER,
            slow=SILENCE,
        ),
    },
    "endless columns": {
        MYSQL: plays(
            says(
                *LET_IN,
                packet(1, b"\xfe" + b"\xff" * 8),
                then=repeats(
                    b"".join(packet((2 + number) % 256, result(b"a")[9:-18]) for number in range(256))
                ),
            ),
            "{where} answers too much to be read",
        ),
    },
    "endless nulls": {
        JMX: plays(
            says(
                RETURN + b"ur\0\x13[Ljava.lang.Object;" + bytes(8) + b"\2\0\0xp\0\7\xa1\x20",
                then=repeats(b"p" * 65536),
            ),
            NO_JMX,
        ),
    },
    "endless text": {
        JMX: plays(says(RETURN + b"\x7c" + struct.pack(">q", 2**23), then=repeats(b"x" * 65536)), NO_JMX),
    },
    "an error of 16 MB": {
        MYSQL: plays(says(mysql_head(LARGEST) + b"\xff\x15\x04#28000", then=repeats(b"x" * 65536)), TOO_MUCH)
    },
    "an error of 4 MB": {
        MYSQL: plays(
            says(greeting(), packet(2, mysql_bytes.error(45000, b"x" * 4_000_000))),
            "{where} sends too much before the log-in",
        )
    },
    "a packet of 16 MB": {MYSQL: plays(says(mysql_head(LARGEST) + NOISE), TOO_MUCH)},
    "a text of 2^62 bytes": {
        MYSQL: plays(says(*LET_IN[:2], packet(1, b"\x04\xfe" + b"\xff" * 7 + b"\x3f")), CLOSED),
        JMX: plays(says(RETURN + b"\x7c" + struct.pack(">q", 2**62)), NO_JMX),
    },
    "an array of 2^31-1": {
        JMX: plays(
            says(RETURN + b"ur\0\x02[J" + bytes(8) + b"\2\0\0xp\x7f\xff\xff\xff"),
            f"{NO_JMX}an array of {2**31 - 1}, more than a check reads",
        ),
    },
    "a row with a text of 2^62 bytes": {
        MYSQL: plays(
            says(
                *LET_IN[:2],
                result(b"a", b"b", b"c", b"d")[:-9]
                + packet(7, b"\xfe" + b"\xff" * 7 + b"\x3f")
                + packet(8, b"\xfe\0\0\2\0"),
            ),
            BREAKS,
        ),
    },
    "2^60 columns": {
        MYSQL: plays(
            says(*LET_IN[:2], packet(1, b"\xfe" + bytes(7) + b"\x10")),
            "{where} answers too much to be read",
        )
    },
    "a newer protocol": {
        MYSQL: plays(says(greeting(protocol=12)), NO_MYSQL),
        JMX: plays(says(b"\x4f"), NO_STREAM),
    },
    "the X protocol": {
        MYSQL: plays(says(b"\x05\0\0\0\x0b\x08\x05\x1a\0"), "{where} speaks MySQL's X protocol")
    },
    "a newer serialization": {JMX: plays(says(RETURN.replace(b"\xac\xed\0\5", b"\xac\xed\0\6")), NO_JMX)},
    "a newer reference": {
        JMX: plays(
            says(FOUND.replace(b"UnicastRef2", b"UnicastRef3")),
            f"{NO_JMX}a reference of the unknown kind UnicastRef3",
        )
    },
    "a log-in that nobody knows": {
        MYSQL: plays(
            says(greeting(), packet(2, b"\xfeauth_of_2030\0data")),
            "{where} wants the user {user} to log in by auth_of_2030, which",
        )
    },
    "capabilities that nobody knows": {
        MYSQL: plays(
            says(greeting(capabilities=0xFFFFF7FF), packet(2, mysql_bytes.OK), LET_IN[2][:50]),
            CLOSED,
        ),
    },
    "a version of 5000 digits": {MYSQL: plays(version(b"1." + b"9" * 5000), CLOSED)},
    "a version without numbers": {MYSQL: plays(version(b"banana"), BREAKS)},
    "a version from the future": {MYSQL: plays(version(b"99.99.99-NewDB"), CLOSED)},
    "no version": {MYSQL: plays(version(b""), BREAKS)},
}

# Of what is said about a server that is not to be asked, a few stand for all.
FEW = ("no such host", "refused", "silent", "closes in the log-in", "HTTP")
OF_A_KIND = [one for one in ASKING if one.source in (MYSQL, JMX)]
LIKE_THOSE = [one for one in ASKING if one not in OF_A_KIND]  # they ask as those do


def family(subject):
    return JMX if subject.source == JMX else MYSQL


def concerned(trouble, subject):
    return family(subject) in trouble


def own_verdicts(one, subject):
    """What --unreachable does not lower: a query that does not end is as bad as one that is too slow.

    On a machine that is fast enough the rows are too many before that: a run that failed is a warning.
    """
    is_query = subject.plugin == "mysql_query" and one is TROUBLES["endless rows"][MYSQL]
    return (WARNING, CRITICAL) if is_query else ()


@pytest.fixture(scope="module")
def sleeper(tmp_path_factory):
    """The file with the id of a process that does nothing."""
    with sleeping(tmp_path_factory.mktemp("sleeper")) as file:
        yield file


def ask(home, sleeper, subject, one, *more, status=None, around=()):
    """Let it ask that bad server, in little memory; it leaves with that status and says the right words."""
    status = subject.unreachable if status is None else status
    for times in MORE:
        timeout = max(one.slow * times, LEAST.get(subject.plugin, 0)) if one.slow else PATIENT
        with one.server() as (host, port):
            port_of_rmi = ("--rmi-port", port) if subject.source == JMX else ()
            place = Place(host, port, pid_file=sleeper)
            command = subject.command(place, *port_of_rmi, "-t", timeout, *more)
            began = time.monotonic()
            process = start([*around, "prlimit", f"--as={MEMORY}", *command], home)
            outcome = finish(process, subject, home, began).holds(timeout)
        said = outcome.text if subject.source == BESIDE else outcome.line
        told = any(words.format(where=f"{host}:{port}", user=place.user) in said for words in one.words)
        if told:
            break
        assert one.slow, (one.words, outcome)
        assert outcome.status in (status, UNKNOWN), outcome
        assert outcome.status == status or re.search(NO_TIME, outcome.text), outcome
    assert told, (one.words, outcome)
    assert outcome.status in (own_verdicts(one, subject) or (status,)), outcome
    return outcome


@cells(TROUBLES, concerned, OF_A_KIND)
def test_a_bad_server_is_told_in_its_words_and_in_time(home, sleeper, subject, trouble):
    ask(home, sleeper, subject, trouble[family(subject)])


@pytest.mark.only_in_all_cells
@cells(TROUBLES, concerned, LIKE_THOSE)
def test_a_bad_server_is_told_by_whoever_asks_like_those(home, sleeper, subject, trouble):
    ask(home, sleeper, subject, trouble[family(subject)])


def obey(home, sleeper, subject, one, **settings):
    """It leaves as --unreachable says, and as it is made to where nothing is said."""
    said = {"": subject.unreachable, **LEVELS}

    def at(level):
        own = home / (level or "default")
        own.mkdir()
        words = ("--unreachable", level) if level else ()
        ask(own, sleeper, subject, one, *words, status=said[level], **settings)

    with concurrent.futures.ThreadPoolExecutor() as each:
        list(each.map(at, said))


@cells({name: TROUBLES[name] for name in FEW}, concerned, ASKING)
def test_what_a_bad_server_means_is_for_the_user_to_say(home, sleeper, subject, trouble):
    obey(home, sleeper, subject, trouble[family(subject)])


@pytest.mark.only_in_all_cells
@cells({name: TROUBLES[name] for name in TROUBLES if name not in FEW}, concerned, ASKING)
def test_what_any_bad_server_means_is_for_the_user_to_say(home, sleeper, subject, trouble):
    obey(home, sleeper, subject, trouble[family(subject)])


# a name server that does not answer

NAME_SERVER = "127.66.66.66"
_IN_ITS_PLACE = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'


@pytest.fixture(scope="module")
def around(tmp_path_factory):
    """What a command is to follow that shall have no other name server than one that is silent."""
    file = tmp_path_factory.mktemp("resolver") / "resolv.conf"
    file.write_text(f"nameserver {NAME_SERVER}\n")
    words = ["unshare", "--mount", "sh", "-c", _IN_ITS_PLACE, str(file)]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as name_server:
        try:
            name_server.bind((NAME_SERVER, 53))
        except OSError as error:
            pytest.skip(f"no name server of our own, which takes root: {error}")
        tried = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
        if tried.returncode:
            pytest.skip(f"no resolv.conf of our own, which takes root: {tried.stderr.strip()}")
        yield words


SILENT_NAME_SERVER = {"no name server answers": bad(
    lambda: bad_servers.named("db.example"),
    "the host db.example cannot be looked up: no name server has answered in time", slow=SILENCE,
)}  # fmt: skip


@cells(SILENT_NAME_SERVER, subjects=ASKING, one=True)
def test_a_silent_name_server_is_told_and_means_what_the_user_says(home, sleeper, around, subject, trouble):
    obey(home, sleeper, subject, trouble, around=around)


# a value that is too much

BOMBS = {
    "an array of 2^31-1": b"ur\0\x02[J" + bytes(8) + b"\2\0\0xp\x7f\xff\xff\xff",
    "an object array of 2^31-1": (b"ur\0\x13[Ljava.lang.Object;" + bytes(8) + b"\2\0\0xp\x7f\xff\xff\xff"),
    "a text of 2^62 bytes": b"\x7c" + struct.pack(">q", 2**62),
    "a text of -1 bytes": b"\x7c" + struct.pack(">q", -1),
    "a block of 2^32-1 bytes": b"\x7a\xff\xff\xff\xff",
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_value_that_is_too_much_is_no_unreachable_server(home, sleeper, name):
    (jmx,) = (one for one in ASKING if one.plugin == "jmx")
    head = VALUE[: VALUE.index(b"w\x0f") + 17]
    play = says(*JAVA[:3], head + BOMBS[name])
    one = plays(play, "HeapMemoryUsage of java.lang:type=Memory cannot be read: ")
    ask(home, sleeper, jmx, one, "--unreachable", "critical", status=UNKNOWN)


# servers that are asked besides


@pytest.fixture(scope="module")
def replica(running_pair):
    """What names a healthy replica to the plugin, and the password."""
    pair = running_pair("mariadb")
    pair.heal()
    words = ("-S", pair.replica.socket, "-u", pair.monitor.user)
    return Subject("replication_lag", MYSQL, words), pair.monitor.password


def beside(home, subject, password, one, option, *more):
    """Let it ask a bad server besides the one that it judges, by that option."""
    with one.server() as (host, port):
        command = subject.command(Place(), option, f"{host}:{port}", "-t", PATIENT, *more)
        env = environment(home, STALLWATCH_MYSQL_PASSWORD=password)
        began = time.monotonic()
        process = start(["prlimit", f"--as={MEMORY}", *command], home, env=env)
        outcome = finish(process, subject, home, began).holds(PATIENT)
    user = subject.arguments[subject.arguments.index("-u") + 1]
    words = [words.format(where=f"{host}:{port}", user=user) for words in one.words]
    assert any(one in outcome.text for one in words), (words, outcome)
    assert password not in outcome.text
    return outcome


def every(troubles, few):
    """Parametrize a test by all of them, of which a few are representative."""
    marks = {name: () if name in few else pytest.mark.only_in_all_cells for name in troubles}
    return pytest.mark.parametrize(
        "one", [pytest.param(one, id=name, marks=marks[name]) for name, one in troubles.items()]
    )


# HOST[:PORT] is taken apart before it is looked up.
OTHERS = {name: one[MYSQL] for name, one in TROUBLES.items() if MYSQL in one and name != "no host name"}


@every(OTHERS, FEW)
def test_a_bad_source_takes_the_certainty_and_not_the_lag(home, replica, one):
    outcome = beside(home, *replica, one, "--source")
    assert outcome.status == UNKNOWN
    assert " lag=" in outcome.line


@every(OTHERS, FEW[:2])
def test_a_bad_reference_is_no_trouble_of_the_replica(home, replica, one):
    outcome = beside(home, *replica, one, "--reference", "-v")
    assert outcome.status == OK
    assert " lag=" in outcome.line
    assert "not compared with the reference: " in outcome.text


TELLS = b"node status\nnodes: 2\nnode.3.type: NDB\nnode.3.status: STARTED\n"
NOT_TOLD = "the management server {where} does not show the status of data nodes: it "
NOT_ASKED = "the management server {where} cannot be asked: "
NOT_IN_TIME = "the management server {where} has not answered within "
MANAGEMENT = {
    "no such host": bad(lambda: bad_servers.named("nosuch.invalid"), NOT_ASKED),
    "refused": bad(bad_servers.nobody, f"{NOT_ASKED}Connection refused"),
    "filtered": bad(bad_servers.filtered, NOT_IN_TIME),
    "silent": plays(silent, NOT_IN_TIME),
    "one byte every 2 s": plays(drips(TELLS), NOT_IN_TIME),
    "one byte every ms": plays(drips(b"n", every=0.001), NOT_IN_TIME),
    "closes at once": plays(hang_up, f"{NOT_TOLD}hangs up without an answer"),
    "resets": plays(reset, f"{NOT_TOLD}hangs up without an answer", f"{NOT_ASKED}Connection reset by peer"),
    "closes in its answer": plays(says(TELLS), f'{NOT_TOLD}says "node status'),
    "garbage": plays(says(NOISE), f"{NOT_TOLD}says "),
    "HTTP": plays(says(TO_HTTP), f'{NOT_TOLD}says "HTTP/1.1 400 Bad Request'),
    "a TLS alert": plays(says(TLS_ALERT), f"{NOT_TOLD}says "),
    "SSH": plays(says(SSH), f'{NOT_TOLD}says "SSH-2.0-OpenSSH'),
    "MySQL": plays(says(MARIADB[0]), f"{NOT_TOLD}says "),
    "an endless line": plays(repeats(b"x" * 65536), f'{NOT_TOLD}says "xxx'),
    "endless nodes": plays(says(TELLS, then=repeats(TELLS[12:] * 99)), f'{NOT_TOLD}says "node status'),
    "nodes of large numbers": plays(
        says(TELLS.replace(b".3.", b".99999.") + b"\n"), "is not believed: it has "
    ),
    "nodes of larger numbers": plays(
        says(TELLS.replace(b".3.", b".3" + b"9" * 5000 + b".") + b"\n"), NOT_TOLD
    ),
}


ANY = bad(bad_servers.nobody, "")


@pytest.fixture(scope="module")
def wounded(running_ndb, tmp_path_factory):
    """What names an SQL node to the plugin whose cluster lacks a data node, and the password."""
    running_ndb.heal()
    account = running_ndb.sql_node.account(*MONITOR)
    subject = Subject("ndb_nodes", NDB, ("-S", running_ndb.sql_node.socket, "-u", account.user))
    running_ndb.kill(DATA_NODES[1])
    end, home = time.monotonic() + 90, tmp_path_factory.mktemp("wounded")
    while "is missing" not in beside(home, subject, account.password, ANY, "--management").line:
        assert time.monotonic() < end
    yield subject, account.password
    running_ndb.heal()


@every(MANAGEMENT, ())  # a cluster takes 20 s to heal
def test_a_bad_management_server_hides_no_missing_node(home, wounded, one):
    outcome = beside(home, *wounded, one, "--management")
    assert outcome.status == CRITICAL
    assert "node 4 is missing" in outcome.line
