"""Whatever a server sends, or does not send, one sentence says so, in time and with little memory."""

import json
import re
import socket
import struct
import subprocess
import sys
import time

import mysql_bytes
import mysql_without_end
import pytest
from hypothesis import given
from hypothesis import strategies as st
from levels import representative
from mysql_bytes import (
    LET_IN,
    OK,
    TLS,
    ask,
    error,
    greeting,
    packet,
    replay,
    result,
    served,
    turns,
)
from mysql_without_end import ENDLESS, LARGEST, SECONDS
from stallwatch.findings import State
from stallwatch.sources import mysql
from stallwatch.sources.mysql import no_log_in

MEGABYTES = 200
MUTATIONS = representative(1000, every=4000)
GREETINGS = 350  # bytes: what a server says before the answer, and the answer's first
HANGS = r"mysqld does not respond: it may hang \(db1 {} within 2 s\)$"
RECORDED = ("mariadb", "mysql", "denied")


def complaint(play, tls="PREFERRED", seconds=60):
    """What is said of a server that plays this."""
    with served(play) as port, pytest.raises(mysql.MysqlError) as raised:
        ask(port, seconds, tls)
    assert "geheim" not in str(raised.value)
    return raised.value.what.replace(f"127.0.0.1:{port}", "db1")


def assert_overdue(play, sentence):
    """This is said when the time is up, unless the machine stood still before it came to that, each time."""
    said = [complaint(play, seconds=SECONDS)]
    while not re.match(sentence, said[-1]):
        assert len(said) < 3, said
        said.append(complaint(play, seconds=SECONDS))


def after(octets, then=lambda _: None):
    """Say something and go on with ``then``."""

    def play(connection):
        connection.sendall(octets)
        then(connection)

    return play


def silence(connection):
    while connection.recv(65536):
        pass


# recorded conversations, as they were and damaged


@pytest.mark.parametrize("name", RECORDED[:2])
def test_an_undamaged_conversation_gives_rows(name):
    (row,) = replay(mysql_bytes.load(name))
    assert row["Type"] == "InnoDB"
    assert "INNODB MONITOR OUTPUT" in row["Status"]


def test_an_undamaged_refusal_is_one():
    with pytest.raises(mysql.DeniedError) as raised:
        replay(mysql_bytes.load("denied"))
    assert raised.value.grant == "PROCESS"


@pytest.mark.parametrize("name", RECORDED)
def test_a_server_that_closes_after_any_byte(name):
    whole = b"".join(mysql_bytes.load(name))
    beginning, end = range(min(GREETINGS, len(whole))), range(GREETINGS, len(whole))
    for length in (*beginning, *end[:: representative(64, every=1)], len(whole) - 1):
        with pytest.raises(mysql.UnreachableError, match="closed the connection"):
            replay([whole[:length]])


def test_damaged_conversations_end_in_time_with_rows_or_an_error_of_ours():
    command = [sys.executable, mysql_bytes.__file__, str(MUTATIONS)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(run.stdout)
    assert told["failures"] == []
    assert told["peak_MiB"] < MEGABYTES
    assert told["came_to"].keys() >= {"rows", "UnreachableError", "DeniedError"}
    assert sum(told["came_to"].values()) == MUTATIONS


@given(st.binary(max_size=200), st.integers(0, len(LET_IN)))
def test_any_bytes_at_any_turn(octets, turn):
    with pytest.raises(mysql.MysqlError):
        replay([*LET_IN[:turn], octets])


# servers that take their time


def test_a_silent_server():
    assert_overdue(silence, HANGS.format("sends no greeting"))


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (b"", HANGS.format("sends no greeting")),
        (greeting(), HANGS.format("does not finish the log-in")),
        (LET_IN[0] + LET_IN[1], r"db1 has not answered within [\d.]+ m?s: asked SELECT @@version, @@"),
    ],
    ids=["greeting", "log-in", "statement"],
)
def test_a_server_that_says_a_byte_a_second(said, sentence):
    def drip(connection):
        for octet in LET_IN[0] * 2:
            connection.sendall(bytes([octet]))
            time.sleep(1)

    assert_overdue(after(said, drip), sentence)


def test_a_server_that_shakes_hands_by_half():
    def half(connection):
        connection.recv(65536)
        connection.sendall(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03" + bytes(20))
        silence(connection)

    assert_overdue(after(greeting(capabilities=TLS), half), HANGS.format("does not finish the log-in"))


def until_the_end(connection):
    """Hear whatever comes until the other side hangs up: who closes before that resets the connection."""
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(65536):
        pass


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize("end", [until_the_end, reset])
def test_a_server_that_hangs_up_in_the_handshake(end):
    def hang_up(connection):
        connection.recv(65536)
        end(connection)

    sentence = "no TLS connection with db1: it closed the connection in the handshake"
    assert complaint(after(greeting(capabilities=TLS), hang_up)) == sentence


def test_a_server_that_says_tls_and_speaks_something_else():
    def speak(connection):
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9)
        until_the_end(connection)

    assert "no TLS connection with db1: wrong version number" in complaint(
        after(greeting(capabilities=TLS), speak)
    ).replace("record layer failure", "wrong version number")


# servers of something else


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "db1 speaks HTTP, not MySQL's classic protocol"),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", "db1 speaks SSH, not MySQL's classic protocol"),
        (b"220 mail ESMTP Postfix\r\n", "db1 speaks FTP or SMTP, not MySQL's classic protocol"),
        (b"\x05\0\0\0\x0b\x08\x05\x1a\0", "db1 speaks MySQL's X protocol, not MySQL's classic protocol"),
        (packet(0, b"\x09" + b"3.20\0" + bytes(20)), "db1 does not speak MySQL's protocol"),
        (packet(7, b"\x0a"), "db1 does not speak MySQL's protocol"),
        (packet(0, b""), "db1 does not speak MySQL's protocol"),
        (b"", "db1 closed the connection without a word"),
        (b"\x20\0\0\0\x0a5.5", "db1 closed the connection in the middle of its greeting"),
    ],
)
def test_a_server_that_speaks_something_else(said, sentence):
    assert complaint(turns([said])) == sentence


# servers that refuse


@pytest.mark.parametrize(
    ("octets", "sentence"),
    [
        (error(1040, b"Too many connections", b""), "db1 has no connection left (Too many connections)"),
        (error(1040, b"Too many connections"), "db1 has no connection left (Too many connections)"),
        (error(3032, b"The server is in offline mode"), "db1 is in offline mode and refuses all clients"),
        (error(1129, b"Host 'x' is blocked", b""), "db1 has blocked this host after too many connect errors"),
        (error(1130, b"Host 'x' is not allowed", b""), "db1 allows no log-in from this host"),
    ],
)
def test_a_server_that_does_not_even_greet(octets, sentence):
    assert complaint(turns([packet(0, octets)])) == sentence


@pytest.mark.parametrize(("number", "state"), [(3032, State.CRITICAL), (1040, State.WARNING)])
def test_offline_mode_is_critical_whatever_a_server_is_that_cannot_be_asked(number, state):
    assert no_log_in.refusal(number, "db1", "mon").fault(State.WARNING).state is state


@pytest.mark.parametrize(
    ("octets", "sentence"),
    [
        (
            error(1045, b"Access denied for user 'mon'@'10.0.0.5' (using password: YES)"),
            "db1 denied access to the user mon from 10.0.0.5",
        ),
        (error(1698, b"Access denied for user 'mon'@'h'"), "db1 denied access to the user mon from h"),
        (error(1044, b"Access denied for user"), "db1 denied access to the user mon"),
        (error(1203, b"..."), "db1 has no connection left for the user mon"),
        (error(1226, b"..."), "db1 has no connection left for the user mon"),
        (error(1862, b"..."), "db1 wants the user mon to change the password"),
        (error(3118, b"..."), "db1 has locked the account of the user mon"),
        (error(4151, b"..."), "db1 has locked the account of the user mon"),
        (error(3159, b"..."), "db1 allows no log-in without TLS (require_secure_transport)"),
        (
            error(1524, b"Plugin 'x' is not loaded"),
            "db1 refused the log-in: Plugin 'x' is not loaded (error 1524)",
        ),
        (error(45000, b"No."), "db1 refused the log-in: No (error 45000)"),
        (error(1049, b"geheim"), "db1 refused the log-in: (withheld: it contains the password) (error 1049)"),
    ],
)
def test_a_server_that_does_not_let_us_in(octets, sentence):
    assert complaint(turns([greeting(), packet(2, octets)])) == sentence


@pytest.mark.parametrize(
    ("plugin", "how"),
    [
        (b"mysql_clear_password", "the readable password of the user mon (mysql_clear_password) without TLS"),
        (b"dialog", "the readable password of the user mon (dialog) without TLS"),
        (b"mysql_old_password", "the password as a hash that is as good as readable (mysql_old_password)"),
    ],
)
def test_no_password_in_clear_for_whoever_asks(plugin, how):
    heard = []

    def switch(connection):
        heard.append(connection.recv(65536))
        connection.sendall(packet(2, b"\xfe" + plugin + b"\0" + b"\4Password: "))
        heard.append(connection.recv(65536))

    assert complaint(after(greeting(), switch)) == f"db1 asks for {how}: it was not sent"
    assert b"geheim" not in b"".join(heard)


def test_a_way_to_log_in_that_nobody_knows():
    switch = packet(2, b"\xfe" + b"auth_gssapi_client\0" + b"principal")
    sentence = "db1 wants the user mon to log in by auth_gssapi_client, which cannot be done here"
    assert complaint(turns([greeting(), switch])) == sentence


@pytest.mark.parametrize("mode", ["REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"])
def test_nothing_is_sent_to_a_server_without_the_tls_that_is_wanted(mode):
    heard = []
    play = after(greeting(), lambda connection: heard.append(connection.recv(65536)))
    assert complaint(play, mode) == "db1 has no TLS: nothing was sent"
    assert heard == [b""]


def test_a_server_that_does_not_say_who_it_is():
    for who in (result(b"a"), result(b"a", rows=[(b"1",)]), packet(1, OK)):
        said = complaint(turns([*LET_IN[:2], who, LET_IN[3]]))
        assert said.startswith("db1 does not name its version")


# answers that are none, or too much


def test_a_server_that_asks_for_our_files():
    said = complaint(turns([*LET_IN, packet(1, b"\xfb/etc/passwd")]))
    assert said == "db1 breaks MySQL's protocol: asked SHOW ENGINE INNODB STATUS"


def test_a_text_that_is_no_utf8_is_shown_as_far_as_it_is():
    (row,) = replay([*LET_IN, result(b"Status", rows=[(b"ab\xffc",)])])
    assert row == {"Status": "ab\ufffdc"}


def test_a_row_with_too_few_values():
    octets = result(b"a", b"b", rows=[(b"1", b"2"), (b"1",)])
    with pytest.raises(mysql.UnreachableError, match="breaks MySQL's protocol"):
        replay([*LET_IN, octets])


def test_a_wrong_number_of_a_packet():
    with pytest.raises(mysql.UnreachableError, match="breaks MySQL's protocol"):
        replay([*LET_IN, packet(9, OK)])


def test_a_packet_that_is_announced_and_does_not_come():
    lying = struct.pack("<I", LARGEST)[:3] + b"\1"
    said = complaint(turns([*LET_IN, lying + b"\xff" * 100]))
    assert said == "db1 answers too much to be read: asked SHOW ENGINE INNODB STATUS"
    shorter = struct.pack("<I", 1_000_000)[:3] + b"\1"
    said = complaint(
        after(b"", lambda connection: (turns([*LET_IN, shorter])(connection), silence(connection)))
    )
    assert said == "db1 closed the connection: asked SHOW ENGINE INNODB STATUS"


TOO_MUCH = "db1 answers too much to be read: asked SHOW ENGINE INNODB STATUS"
CAME_TO = dict.fromkeys(ENDLESS, TOO_MUCH) | {
    "error texts of 2 MB": "db1 does not know the statement SHOW ENGINE INNODB STATUS",
    "rows": "db1 ",  # or there is no time left
    "rows of NULL": "db1 ",
    "results after results": "[]",  # nobody asks for the others
    "greetings": "db1 closed the connection while we logged in",  # PyMySQL takes a packet 0 for that
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_server_that_never_ends(name):
    """In a process of its own, whose memory is looked at."""
    command = [sys.executable, mysql_without_end.__file__, name]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    told = json.loads(run.stdout)
    assert told["peak_MiB"] < MEGABYTES
    assert told["what"].startswith(CAME_TO[name])
