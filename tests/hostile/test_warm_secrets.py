"""Nothing of a check reaches the next one in the same worker: passwords above all."""

import contextlib
import itertools
import os
import re
import subprocess

import engine_user
import pytest
import warm_daemon
from bad_servers import silent
from leaks import files_below
from loopback import serving
from stallwatch.warm import supervisor

FEW = 10  # passwords of earlier checks that may be in memory that was freed and is not used again yet
PASSWORD = "Sesame{:06d}Open"
ANY = re.compile(rb"Sesame(\d{6})Open")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can read the memory of stallwatchd")
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


@needs_root
@pytest.mark.parametrize(
    "count",
    [
        300,
        pytest.param(10_000, marks=[pytest.mark.only_in_all_cells, pytest.mark.slow("10,000 checks")]),
    ],
)
def test_passwords_of_others(tmp_path, count):
    """Each check has a password of its own; no output and no file has another one's, and hardly any memory.

    It runs as it does for users: what Python frees is not overwritten at once.
    """
    with warm_daemon.running(tmp_path) as daemon, serving(refuses) as (host, port):
        numbers, behind = set(), []
        for number, source in zip(range(count), itertools.cycle(SOURCES), strict=False):
            password = PASSWORD.format(number)
            given, environment = words(source, password, tmp_path)
            login = ("-H", host, "-P", port, "-u", "monitor", *given, "-vvv", "--output", "json")
            outcome = daemon.run("check_mysql_status", *login, environment=environment)
            behind.append(outcome.warm)
            assert outcome.status == 3
            numbers.update(ANY.findall(outcome.stdout))
        assert warm_daemon.mostly(behind)
        assert not numbers
        (tmp_path / "password").unlink()
        assert not [path for path, octets in files_below(tmp_path).items() if ANY.search(octets)]
        assert len(daemon.workers) == supervisor.LEAST
        assert not remembered(daemon.supervisor.pid)
        kept = [remembered(worker.pid) for worker in daemon.workers]
        assert max(map(len, kept)) <= FEW, kept


@needs_root
def test_a_worker_that_is_started_while_checks_wait(tmp_path):
    """It has nothing of those checks but of its own, and the supervisor of none."""
    with warm_daemon.running(tmp_path) as daemon, serving(silent) as (host, port):
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
        warm_daemon.soon(lambda: {len(remembered(worker.pid)) for worker in daemon.workers} == {1})
        assert not remembered(daemon.supervisor.pid)
        for process in waiting:
            process.kill()
            process.communicate()


@needs_root
def test_nobody_else_reads_the_memory(tmp_path):
    """Not another process of the same user either: the kernel lets root alone."""
    user = engine_user.becoming()
    with warm_daemon.running(tmp_path, **user) as daemon:
        for process in (daemon.supervisor, *daemon.workers):
            for file in ("mem", "maps", "environ"):
                command = ["head", "-c", "1", f"/proc/{process.pid}/{file}"]
                done = subprocess.run(command, capture_output=True, check=False, **user)
                denied = b"Permission denied" in done.stderr
                assert denied or not warm_daemon.lives(process.pid), (process, file)


def remembered(pid):
    """The numbers of passwords that are in the memory of a process, which root alone can read."""
    found = set()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            start, end = (int(word, 16) for word in line.split()[0].split("-"))
            if " rw" in line and "[v" not in line:
                with contextlib.suppress(OSError, ValueError):
                    memory.seek(start)
                    found.update(ANY.findall(memory.read(end - start)))
    return found
