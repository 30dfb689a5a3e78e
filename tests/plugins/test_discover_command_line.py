"""contrib/stallwatch-discover as a person runs it, where no server answers."""

import runpy
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stallwatch.frame.options import mysql

USUAL = "/etc/stallwatch/mysql.cnf"
DISCOVER = Path(__file__).parents[2] / "contrib" / "stallwatch-discover"


def run(*arguments):
    done = subprocess.run(
        [sys.executable, DISCOVER, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "usage: stallwatch-discover mysql|jmx"),
        (("oracle",), "usage: stallwatch-discover mysql|jmx"),
        (("jmx", "-H", "127.0.0.1", "-P", "1"), "127.0.0.1:1 refused the connection"),
        (("mysql", "-H", "127.0.0.1", "-P", "1"), "127.0.0.1:1 refused the connection"),
        (("mysql", "-H", "a;b"), '"a;b" is not a name or an address of a host'),
        (("mysql", "--address", "$(x)"), '"$(x)" is not a name or an address of a host'),
        (("jmx", "-H", "db1", "-P", "1", "--unreachable", "ok"), "unknown option --unreachable"),
        (("jmx", "-U", "service:jmx:rmi:///jndi/rmi://db1:1/x", "--format", "nagios"), "no -U"),
    ],
)
def test_what_cannot_be_done_is_said_on_standard_error(arguments, why):
    status, output, errors = run(*arguments)
    assert (status, output) == (3, "")
    assert why in errors


def test_what_was_asked_for_goes_to_standard_output():
    status, output, errors = run("jmx", "--help")
    assert (status, errors) == (0, "")
    assert "--format {icinga2,nagios}" in output
    assert "--unreachable" not in output
    status, output, errors = run("--help")
    assert (status, errors) == (0, "")
    assert "usage: stallwatch-discover mysql|jmx" in output
    status, output, errors = run("mysql", "--version")
    assert (status, errors) == (0, "")
    assert output.startswith("stallwatch-discover mysql (stallwatch ")
    status, output, errors = run("--version")
    assert (status, errors) == (0, "")
    assert output.startswith("stallwatch-discover (stallwatch ")


def test_a_server_that_never_answers_is_given_up_in_time():
    ways = ("mysql", "jmx")
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor() as at_once:
        port = str(silent.getsockname()[1])
        runs = at_once.map(lambda way: run(way, "-H", "127.0.0.1", "-P", port, "-t", "4s"), ways)
        for way, (status, output, errors) in zip(ways, runs, strict=True):
            assert (status, output) == (3, "")
            assert errors.startswith(f"DISCOVER {way.upper()} UNKNOWN - ")
            assert all(line.startswith("  ") for line in errors.splitlines()[1:])  # the whole next step
            assert f"127.0.0.1:{port}" in errors


@pytest.mark.parametrize(
    ("arguments", "reach"),
    [
        (("-H", "db1"), {"defaults-file": USUAL}),
        (("-H", "db1", "-P", "3306"), {"port": "3306", "defaults-file": USUAL}),
        (("-H", "db1", "-u", "root", "-p", "x"), {"defaults-file": USUAL}),
        (("-H", "db1", "-u", "mon", "--password-file", "FILE"),
         {"username": "mon", "password-file": "FILE", "defaults-file": USUAL}),
        (("--defaults-file", "FILE"), {"port": "3307", "defaults-file": "FILE"}),
        (("--defaults-file", "FILE", "-u", "mon"),
         {"port": "3307", "username": "mon", "defaults-file": "FILE"}),
        (("-S", "/run/db.sock", "--ssl-mode", "disabled"),
         {"hostname": "localhost", "socket": "/run/db.sock", "ssl-mode": "DISABLED", "defaults-file": USUAL}),
    ],
)  # fmt: skip
def test_services_get_there_as_we_did(arguments, reach, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "db1.cnf"
    file.write_text("[client]\nhost = db1\nport = 3307\n")
    there = {"FILE": str(file)}
    program = runpy.run_path(str(DISCOVER))
    made = program["tool"]("mysql", "", mysql)
    options = made.parser.parse([there.get(one, one) for one in arguments])
    found = dict(program["reach_of_mysql"](made, options, mysql.target(made, options)))
    assert found == {key: there.get(value, value) for key, value in reach.items()}
