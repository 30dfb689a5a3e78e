"""stallwatchd in trouble: no check is lost, none gets another one's answer, nothing is left behind."""

import contextlib
import json
import os
import re
import socket
import struct
import subprocess
import threading
import time
from datetime import datetime

import psutil
import pytest
import warm_daemon
from bad_servers import silent
from loopback import serving
from server_process import ServerProcess
from small_tmpfs import small_tmpfs
from stallwatch.warm import protocol, supervisor
from subjects import ROOT
from warm_daemon import lives, soon

HUNG = ("-H", "127.0.0.1", "-u", "monitor", "-p", "x", "--no-state", "--unreachable", "unknown")
NO_TIME = r"this check got no processor time for [\d.]+ s of 2 s"
QUICK = ("--whole", "--log", ROOT / "tests/recorded/ndb_log/E0_start_and_100s_quiet.ndb_4_out.log")


@pytest.fixture
def daemon(tmp_path):
    with warm_daemon.running(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def hung():
    """A port where nobody says a word."""
    with serving(silent) as (_, port):
        yield port


def waits(daemon, hung, seconds=8):
    """A check that waits so long for a server, and the worker that runs it."""
    before = {worker.pid for worker in daemon.workers if is_busy(worker)}
    process = daemon.begin("check_mysql_query", *HUNG, "-P", hung, "-t", f"{seconds}s")
    soon(lambda: {worker.pid for worker in daemon.workers if is_busy(worker)} - before)
    (pid,) = {worker.pid for worker in daemon.workers if is_busy(worker)} - before
    return process, psutil.Process(pid)


def is_busy(worker):
    """Whether it is connected with a server."""
    with contextlib.suppress(psutil.Error):
        return bool(worker.net_connections("tcp"))
    return False


def said(process):
    """Exit status and text."""
    with process:
        text, _ = process.communicate(timeout=warm_daemon.PATIENCE)
        return process.returncode, text.decode()


def quick(daemon):
    """Whether a check that is answered was answered by a worker."""
    outcome = daemon.run("check_ndb_log", *QUICK)
    assert outcome.status == 0
    assert outcome.text.startswith("NDB_LOG OK - ")
    return outcome.warm


def test_a_killed_worker(daemon, hung):
    """The stub runs the plugin itself; the others notice nothing."""
    process, worker = waits(daemon, hung, 2)
    worker.kill()
    status, text = said(process)
    assert (status, text.partition(":")[0]) == (3, "MYSQL_QUERY UNKNOWN - mysqld does not respond")
    assert daemon.noted.stat().st_size
    assert quick(daemon)


def test_a_killed_supervisor(daemon, hung):
    """The check under way comes to its end, later ones are run cold, nothing stays; another one can start."""
    process, _ = waits(daemon, hung, 3)
    workers, one = [each.pid for each in daemon.workers], daemon.supervisor
    one.kill()
    status, text = said(process)
    assert (status, text.partition(":")[0]) == (3, "MYSQL_QUERY UNKNOWN - mysqld does not respond")
    assert not daemon.noted.stat().st_size
    assert not quick(daemon)
    soon(lambda: not any(map(lives, workers)))
    daemon.stop()
    daemon.start()
    assert quick(daemon)


def test_a_polite_end_waits_for_checks(daemon, hung):
    process, _ = waits(daemon, hung, 3)
    workers, one = [each.pid for each in daemon.workers], daemon.supervisor
    one.terminate()
    status, text = said(process)
    assert (status, text.partition(":")[0]) == (3, "MYSQL_QUERY UNKNOWN - mysqld does not respond")
    assert not daemon.noted.stat().st_size
    soon(lambda: not any(map(lives, [one.pid, *workers])))


@pytest.mark.slow("two time-outs of a stub")
def test_a_suspended_supervisor_or_worker(daemon, hung):
    """A new check is run cold soon; one under way is UNKNOWN in time, by the supervisor or by the stub."""
    daemon.supervisor.suspend()
    assert not quick(daemon)
    daemon.supervisor.resume()
    process, worker = waits(daemon, hung, 2)
    worker.suspend()
    status, text = said(process)
    assert status == 3
    assert re.fullmatch(rf"MYSQL_QUERY UNKNOWN - {NO_TIME}\n", text)
    soon(lambda: not lives(worker.pid))
    process, worker = waits(daemon, hung, 2)
    worker.suspend()
    daemon.supervisor.suspend()
    status, text = said(process)
    assert status == 3
    assert text.startswith("MYSQL_QUERY UNKNOWN - stallwatchd has not answered")
    daemon.supervisor.resume()
    assert quick(daemon)


def test_a_caller_that_is_gone_ends_its_check(daemon, hung):
    process, worker = waits(daemon, hung, 60)
    process.kill()
    said(process)
    soon(lambda: not lives(worker.pid))
    assert quick(daemon)


def test_hung_servers_take_no_place_from_others(daemon, hung):
    """Sixteen checks wait; hundred others are answered meanwhile, none of them cold."""
    waiting = [daemon.begin("check_mysql_query", *HUNG, "-P", hung, "-t", "30s") for _ in range(16)]
    soon(lambda: sum(map(is_busy, daemon.workers)) == len(waiting))
    assert warm_daemon.mostly([quick(daemon) for _ in range(60)])
    assert all(process.poll() is None for process in waiting)
    for process in waiting:
        process.kill()
        said(process)
    soon(lambda: not any(map(is_busy, daemon.workers)))


def test_a_burst_waits_for_its_turn(daemon):
    """More checks at once than the processors can do: most wait for a worker, none is lost."""
    burst = [daemon.begin("check_ndb_log", *QUICK) for _ in range(150)]
    assert {said(process)[0] for process in burst} == {0}
    assert len(daemon.noted.read_text().splitlines()) < 0.5 * len(burst)


@pytest.mark.parametrize("answer", [protocol.answered(1, "X\n"), b""])
def test_a_check_that_has_to_wait_for_a_processor(tmp_path, answer):
    """The stub waits; if nobody answers in the end, it runs the plugin itself."""
    daemon = warm_daemon.Warm(tmp_path)

    def serve():
        connection, _ = listener.accept()
        with connection:
            connection.recv(protocol.LARGEST)
            connection.sendall(protocol.ALLOWED.pack(protocol.QUEUED) + answer)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(daemon.socket))
        listener.listen()
        server = threading.Thread(target=serve)
        server.start()
        outcome = daemon.run("check_host", "--version")
        server.join()
    assert outcome.warm == bool(answer)
    assert outcome.text == "X\n" if answer else outcome.text.startswith("check_host ")


CLOCK = """import time
true = time.time

def clock():
    with open({offset!r}) as file:
        return true() + float(file.read())

time.time = clock
"""


def test_a_clock_that_is_set(tmp_path, hung):
    """By a day, forward and back, also while a check waits: all are answered in their time."""
    offset = tmp_path / "offset"
    (tmp_path / "sitecustomize.py").write_text(CLOCK.format(offset=str(offset)))
    offset.write_text("0")
    with warm_daemon.running(tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}) as daemon:
        for hours in (24, -24, 0):
            process, _ = waits(daemon, hung, 2)
            (tmp_path / "new").write_text(str(3600 * hours))
            (tmp_path / "new").replace(offset)  # whoever reads it meanwhile finds one of both
            assert warm_daemon.mostly([quick(daemon) for _ in range(3)])
            text = daemon.run("check_ndb_log", *QUICK, "--output", "json").text
            seen = datetime.fromisoformat(json.loads(text)["time"]).timestamp()
            assert round((seen - time.time()) / 3600) == hours
            assert said(process)[0] == 3


@pytest.fixture
def full(tmp_path):
    """A folder on a file system without room."""
    with small_tmpfs(tmp_path / "full", "64k", 700) as folder:
        with contextlib.suppress(OSError), (folder / "filler").open("wb", buffering=0) as filler:
            while filler.write(bytes(4096)):
                pass
        yield folder


def test_a_full_disk(tmp_path, full):
    """What a plugin says about a state file that cannot be written, it says behind stallwatchd, too."""
    with warm_daemon.running(tmp_path) as daemon:
        for _ in range(2):
            words = ("check_ndb_log", *QUICK[1:], "--state-dir", full)
            behind, alone = daemon.run(*words), daemon.cold(*words)
            assert (behind.status, behind.text) == (alone.status, alone.text)
            assert "No space left on device" in behind.text
            assert behind.warm
        assert quick(daemon)


def connected(daemon):
    """A connection of a client that means no good."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(str(daemon.socket))
    client.settimeout(warm_daemon.PATIENCE)
    return client


WHOLE = protocol.packed("check_host", "/", ["--version"], {})
BROKEN = {
    "half": WHOLE[:20],
    "nothing": b"",
    "one byte": WHOLE[:1],
    "endless": b"\0\1\0\0" + b"x" * 100_000,
    "too long": struct.pack("!I", 1 << 30) + b"x" * 1000,
    "of no length": struct.pack("!I", 0),
    "another language": b"GET / HTTP/1.1\r\nHost: db1\r\n\r\n",
    "another version": WHOLE.replace(b"stallwatch 1", b"stallwatch 9"),
    "no plugin of ours": WHOLE.replace(b"check_host", b"check_disk"),
    "a path": WHOLE.replace(b"check_host", b"../../bin/"),
    "a count of nonsense": WHOLE.replace(b"\x001\0", b"\0-\0"),
    "more arguments than there are": WHOLE.replace(b"\x001\0", b"\x009\0"),
    "two at once": WHOLE + WHOLE,
    "a folder that is not there": protocol.packed("check_host", "/nowhere", ["--version"], {}),
}


@pytest.mark.parametrize("octets", BROKEN.values(), ids=BROKEN)
def test_broken_requests(tmp_path_factory, shared_daemon, octets):
    """They are hung up on, soon; nobody else is held up meanwhile."""
    with connected(shared_daemon) as client:
        client.sendall(octets)
        began = time.monotonic()
        assert quick(shared_daemon)
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1000) == b""
        assert time.monotonic() - began < supervisor.HALF + 20


def test_arguments_without_number(shared_daemon):
    """They are refused by the worker: no deadline runs while they are read."""
    outcome = shared_daemon.run("check_host", *["-v"] * 40_000)
    assert outcome.warm
    assert outcome.text.startswith("HOST UNKNOWN - 40000 arguments are too many: give 2000 at most")


@pytest.fixture(scope="module")
def shared_daemon(tmp_path_factory):
    with warm_daemon.running(tmp_path_factory.mktemp("warm")) as running:
        yield running


def test_a_caller_that_does_not_read(shared_daemon):
    """An answer that does not fit into a socket keeps a worker for a second."""
    clients = [connected(shared_daemon) for _ in range(4)]
    for client in clients:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        client.sendall(protocol.packed("check_mysql_status", "/", ["--help"], {}))
    assert warm_daemon.mostly([quick(shared_daemon) for _ in range(20)])
    for client in clients:
        client.close()


@pytest.mark.slow("ten thousand connections")
def test_ten_thousand_connections(shared_daemon):
    """Each sends half a request, and stays; checks are answered meanwhile, and memory does not grow."""
    opened = []

    def flood():
        with contextlib.ExitStack() as all_of_them:
            clients = []
            while len(opened) < 10_000:
                clients.append(all_of_them.enter_context(connected(shared_daemon)))
                with contextlib.suppress(OSError):
                    clients[-1].send(WHOLE[: len(opened) % len(WHOLE)])
                opened.append(None)
                if len(clients) > 300:
                    clients.pop(0).close()

    before = shared_daemon.supervisor.memory_info().rss
    threads = [threading.Thread(target=flood) for _ in range(3)]
    for thread in threads:
        thread.start()
    outcomes = []
    while any(thread.is_alive() for thread in threads):
        outcomes.append(quick(shared_daemon))
    assert outcomes
    assert warm_daemon.mostly(outcomes)
    assert shared_daemon.supervisor.memory_info().rss < before + (32 << 20)
    soon(lambda: shared_daemon.supervisor.num_fds() < 40)


STRANGER = {"user": 65534, "group": 65534, "extra_groups": []}
ASKS = """import socket, sys
client = socket.socket(socket.AF_UNIX)
client.settimeout(30)
client.connect(sys.argv[1])
try:
    client.sendall(bytes.fromhex(sys.argv[2]))
    print(client.recv(1000))
except ConnectionError:
    print(b"")
"""
LISTENS = """import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(5)
listener.settimeout(30)
print("ready", flush=True)
print(listener.accept()[0].recv(1000))
"""


def stranger(script, *words):
    """A process of another user."""
    if os.geteuid():
        pytest.skip("only root can be somebody else")
    command = ["/usr/bin/python3", "-I", "-c", script, *map(str, words)]
    return subprocess.Popen(command, cwd="/", stdout=subprocess.PIPE, text=True, **STRANGER)


def test_strangers(open_path):
    """Another user does not get to the socket; if it has been opened for all, there is no answer."""
    with warm_daemon.running(open_path) as daemon:
        assert daemon.socket.stat().st_mode & 0o777 == 0o600
        daemon.socket.parent.chmod(0o755)
        daemon.socket.chmod(0o666)
        with stranger(ASKS, daemon.socket, WHOLE.hex()) as process:
            assert process.communicate(timeout=warm_daemon.PATIENCE)[0] == "b''\n"
        assert quick(daemon)


def test_a_stub_does_not_speak_to_a_stranger(open_path):
    """Who listens at the socket's path, and is neither we nor root, gets nothing."""
    daemon = warm_daemon.Warm(open_path)
    daemon.socket.parent.chmod(0o777)
    with stranger(LISTENS, daemon.socket) as process:
        assert process.stdout.readline() == "ready\n"
        assert not quick(daemon)
        assert process.communicate(timeout=warm_daemon.PATIENCE)[0] == "b''\n"


def test_a_new_version_takes_over(tmp_path):
    """It is installed in the place of the one that runs: checks go on, and are run by the new one soon."""
    library = tmp_path / "lib"
    library.mkdir()
    (library / "stallwatch").symlink_to(ROOT / "lib/stallwatch")
    with warm_daemon.running(tmp_path) as daemon:
        process = daemon.supervisor
        started = [worker.pid for worker in daemon.workers]
        touched = ROOT / "lib/stallwatch/__init__.py"
        was = touched.stat()
        try:
            os.utime(touched, (was.st_atime, was.st_mtime + 1))
            outcomes = []
            while any(map(lives, started)):
                outcomes.append(quick(daemon))
            assert warm_daemon.mostly(outcomes)
        finally:
            os.utime(touched, ns=(was.st_atime_ns, was.st_mtime_ns))
        soon(lambda: len(daemon.workers) >= 2)
        assert daemon.supervisor.pid == process.pid
        assert quick(daemon)


def test_a_socket_in_a_folder_of_all(tmp_path):
    """Nobody may put a socket of his own there."""
    tmp_path.chmod(0o777)
    daemon = warm_daemon.Warm(tmp_path)
    daemon.socket.parent.chmod(0o777)
    log = tmp_path / "log"
    daemon.process = ServerProcess(daemon.command, log)
    assert daemon.process.wait(warm_daemon.PATIENCE)
    daemon.stop()
    assert log.read_text().endswith(f"{daemon.socket.parent} can be written by other users\n")


def test_a_file_in_the_place_of_the_socket(tmp_path):
    """It stays as it is."""
    daemon = warm_daemon.Warm(tmp_path)
    daemon.socket.write_text("precious")
    log = tmp_path / "log"
    daemon.process = ServerProcess(daemon.command, log)
    assert daemon.process.wait(warm_daemon.PATIENCE)
    daemon.stop()
    assert log.read_text().endswith(": there is a file that is not a socket\n")
    assert daemon.socket.read_text() == "precious"


def test_a_socket_that_is_removed(daemon, hung):
    """It ends, as nobody could ask any more; the check under way is answered."""
    process, _ = waits(daemon, hung, 3)
    daemon.socket.unlink()
    assert said(process)[0] == 3
    assert daemon.process.wait(warm_daemon.PATIENCE)
    assert f"{daemon.socket} was removed: start it again\n" in (daemon.folder / "log").read_text()
    assert daemon.noted.stat().st_size == 0


def test_two_at_one_socket(daemon, tmp_path):
    other = ServerProcess(daemon.command, tmp_path / "other")
    assert other.wait(warm_daemon.PATIENCE)
    other.stop()
    assert (tmp_path / "other").read_text().endswith("another stallwatchd serves there\n")
    assert quick(daemon)


def test_an_environment_that_is_too_large_is_run_cold(shared_daemon):
    outcome = shared_daemon.run("check_host", "--version", environment=dict.fromkeys("ab", "x" * 100_000))
    assert (outcome.status, outcome.warm) == (3, False)
