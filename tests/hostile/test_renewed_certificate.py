"""Whoever answers with another certificate than at the first use gets no password, whichever plugin asks."""

import json
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from runs import environment
from sleeping import sleeping
from subjects import ALSO_ASKING, BY_NAME, MYSQL, NDB, OK, SECRET, SUBJECTS, UNKNOWN, WARNING, Place

sys.path.append(str(Path(__file__).parents[1] / "unit"))
import asking_server
import mysql_bytes
from asking_server import CACHING, FULL, Asking, listening, readable

CHANGED = "shows another certificate than at its first use: the password was not sent"
ASKING = [*ALSO_ASKING, *(one for one in SUBJECTS if one.source in (MYSQL, NDB))]


def ask(subject, home, place, *more):
    """What it reports, as text, and its exit status."""
    command = subject.command(place, *more, "-v", "--output", "json")
    env = environment(home, STALLWATCH_MYSQL_PASSWORD=place.password)
    done = subprocess.run(command, env=env, capture_output=True, check=False, timeout=60)
    assert done.stderr == b""
    return done.returncode, json.dumps(json.loads(done.stdout), ensure_ascii=False)


@pytest.fixture
def renewed(tmp_path, home):
    """The port of a server that has shown one certificate, and shows another one now; what it is told."""
    first = asking_server.certificate(tmp_path, "first")
    asking = Asking(method=CACHING, answers=(FULL, mysql_bytes.OK), tls=first)
    with listening(asking) as port:
        ask(BY_NAME["mysql_query"], home, Place(port=port))
        assert readable(asking.got, SECRET.encode())
        asking.got = b""
        asking.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        asking.tls.load_cert_chain(*asking_server.certificate(tmp_path, "second"))
        yield port, asking


@pytest.mark.parametrize("subject", ASKING, ids=lambda one: one.plugin)
def test_a_server(renewed, home, tmp_path, subject):
    port, asking = renewed
    with sleeping(tmp_path) as sleeper:
        status, said = ask(subject, home, Place(port=port, pid_file=sleeper))
    assert CHANGED in said
    assert status == UNKNOWN
    assert not readable(asking.got, SECRET.encode())


BESIDES = {
    "mysql_status": ("--reference", "--sample", "1"),
    "replication_lag": ("--source",),
}


@pytest.mark.parametrize("plugin", BESIDES)
def test_a_server_that_is_asked_besides(renewed, home, running_pair, plugin):
    port, asking = renewed
    pair = running_pair("mariadb")
    account = pair.account("monitor")
    place = Place(port=pair.replica.port, password=account.password)
    option, *more = BESIDES[plugin]
    status, said = ask(BY_NAME[plugin], home, place, option, f"127.0.0.1:{port}", *more)
    assert CHANGED in said
    assert status in {OK, WARNING, UNKNOWN}, said  # of the server itself, which other tests use, too
    assert not readable(asking.got, account.password.encode())
