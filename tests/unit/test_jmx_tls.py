"""TLS that does not come about, however the other side ends it."""

import socket

import pytest
from mysql_bytes import served
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx

OURS = jmx.Tls(wanted=True, registry=True, insecure=True)


def hang_up(connection):
    connection.recv(65536)
    connection.shutdown(socket.SHUT_WR)
    connection.recv(65536)


def reset(connection):
    connection.recv(1)  # who closes with words unheard resets the connection


@pytest.mark.parametrize("play", [hang_up, reset])
def test_who_hangs_up_in_the_handshake_does_not_speak_tls(play):
    with served(play) as port, pytest.raises(jmx.UnreachableError) as raised:
        jmx.connect(jmx.Target("127.0.0.1", port, tls=OURS), Deadline(60))
    assert raised.value.what == f"127.0.0.1:{port} does not speak TLS"
    assert "check that this is the right port" in raised.value.advice
