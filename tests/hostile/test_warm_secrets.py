"""Nothing of a check reaches the next one in the same worker: passwords above all."""

import contextlib
import itertools
import os
import re

import pytest
import warm_daemon
from bad_servers import silent
from leaks import files_below
from loopback import serving
from stallwatch.warm import supervisor

PASSWORD = "Sesame{:06d}Open"
ANY = re.compile(rb"Sesame(\d{6})Open")
SOURCES = ("argument", "environment", "file", "option file")


def refuses(connection, number, ended):
    """A server that lets nobody in."""
    error = b"\xff\x15\x04#28000denied"
    connection.sendall(bytes([len(error), 0, 0, 0]) + error)
    with contextlib.suppress(OSError):
        connection.recv(1000)


def words(source, password, folder):
    """Options and environment that hand over a password in that way."""
    file = folder / "password"
    if source == "argument":
        return ("-p", password), {}
    if source == "environment":
        return (), {"STALLWATCH_MYSQL_PASSWORD": password}
    file.write_text(password if source == "file" else f"[client]\npassword={password}\n")
    return (("--password-file" if source == "file" else "--defaults-file"), str(file)), {}


@pytest.mark.parametrize(
    "count",
    [
        300,
        pytest.param(10_000, marks=[pytest.mark.only_in_all_cells, pytest.mark.slow("10,000 checks")]),
    ],
)
def test_passwords_of_others(tmp_path, count):
    """Each check has a password of its own; no output, no file and no memory has another one's."""
    debug = {**os.environ, "PYTHONMALLOC": "debug"}  # what is freed is overwritten
    with warm_daemon.running(tmp_path, env=debug) as daemon, serving(refuses) as (host, port):
        numbers = set()
        for number, source in zip(range(count), itertools.cycle(SOURCES), strict=False):
            password = PASSWORD.format(number)
            given, environment = words(source, password, tmp_path)
            login = ("-H", host, "-P", port, "-u", "monitor", *given, "-vvv", "--output", "json")
            outcome = daemon.run("check_mysql_status", *login, environment=environment)
            assert outcome.warm
            assert outcome.status == 3
            numbers.update(ANY.findall(outcome.stdout))
        assert not numbers
        (tmp_path / "password").unlink()
        assert not [path for path, octets in files_below(tmp_path).items() if ANY.search(octets)]
        assert len(daemon.workers) == supervisor.LEAST
        kept = [remembered(worker.pid) for worker in daemon.workers]
        assert max(map(len, kept)) <= 2, kept  # the last command line, until the next one comes


def test_a_worker_that_is_started_while_checks_wait(tmp_path):
    """It has nothing of those checks but of its own."""
    debug = {**os.environ, "PYTHONMALLOC": "debug"}
    with warm_daemon.running(tmp_path, env=debug) as daemon, serving(silent) as (host, port):
        login = ("-H", host, "-P", port, "-u", "monitor", "--no-state", "-t", "30s")
        waiting = [
            daemon.begin(
                "check_mysql_query",
                *login,
                environment={"STALLWATCH_MYSQL_PASSWORD": PASSWORD.format(number)},
            )
            for number in range(8)
        ]
        warm_daemon.soon(lambda: len(daemon.workers) >= len(waiting))
        # For a moment after the fork, before it has forgotten them, it may have others, too.
        expected = {0} if os.geteuid() else {1}
        warm_daemon.soon(lambda: {len(remembered(worker.pid)) for worker in daemon.workers} == expected)
        for process in waiting:
            process.kill()
            process.communicate()


def remembered(pid):
    """The numbers of passwords that are in the memory of a process."""
    if os.geteuid():
        return set()
    found = set()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            start, end = (int(word, 16) for word in line.split()[0].split("-"))
            if " rw" in line and "[v" not in line:
                with contextlib.suppress(OSError, ValueError):
                    memory.seek(start)
                    found.update(ANY.findall(memory.read(end - start)))
    return found
