"""What stallwatchd and its fronts send each other, and how commands of Nagios are split."""

import asyncio
import ctypes
import errno
import os
import select
import shlex
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from clock import Clock
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.deadline import Deadline
from stallwatch.frame.exit import UNKNOWN
from stallwatch.warm import daemon, nagios, protocol, supervisor
from stallwatch.warm.hand import Hand
from stallwatch.warm.nagios import Front, read, words_of, written
from stallwatch.warm.slot import Pulse, Slot
from stallwatch.warm.supervisor import Supervisor
from stallwatch.warm.worker import OF_C, Worker

WORD = st.text(st.characters(exclude_characters="\0", codec="utf-8"))
NAMES = st.text(st.characters(exclude_characters="\0=", codec="utf-8"), min_size=1)


@given(WORD, WORD, st.lists(WORD), st.dictionaries(NAMES, WORD))
def test_a_request_arrives_as_it_was_sent(plugin, directory, arguments, environment):
    sent = protocol.packed(plugin, directory, arguments, environment)
    assert protocol.LENGTH.unpack_from(sent)[0] == len(sent) - protocol.LENGTH.size
    assert protocol.parsed(bytearray(sent), len(sent)) == (plugin, directory, arguments, environment)


@given(st.binary(max_size=200))
def test_nonsense_is_refused(octets):
    with pytest.raises(ValueError, match=r"invalid|request|unpack"):
        protocol.parsed(bytearray(octets), len(octets))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/bin/check_x", ["/bin/check_x"]),
        ("  /bin/check_x  -H db1\t-w 5: ", ["/bin/check_x", "-H", "db1", "-w", "5:"]),
        ("check_x -w '10 s' '' a'b'c", ["check_x", "-w", "10 s", "", "abc"]),
        ("check_x 'it''s'", ["check_x", "its"]),
        ("check_x -O 'java.lang:type=*,name=\"a;b\"'", ["check_x", "-O", 'java.lang:type=*,name="a;b"']),
        ("", None),
        ("NAME=value check_x", None),
        ('check_x "a"', None),
        ("check_x 'a", None),
        ("check_x a\\ b", None),
        ("check_x $HOME", None),
        ("check_x a; reboot", None),
        ("check_x a\nreboot", None),
        ("check_x *", None),
        ("check_x ~", None),
        ("check_x a >b", None),
        ("check_x ä", None),
        ("check_x {a,b}", None),
    ],
)
def test_plain_words_are_split_as_by_a_shell(command, words):
    assert words_of(command) == words


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1))
def test_what_is_split_is_what_a_shell_would_split(words):
    command = " ".join(map(shlex.quote, words))
    found = words_of(command)
    assert found is None or found == words


@pytest.mark.parametrize(
    "text", ["a b", "x=1", "~", "a#b", "#a", "!", "a%b", "-", "a:b", "[a]", "a,b", "a@b+c"]
)
def test_a_shell_agrees(text):
    if (found := words_of(f"echo {text}")) is not None:
        said = subprocess.run(["/bin/sh", "-c", f"printf '%s\\n' {text}"], capture_output=True, check=True)
        assert said.stdout.decode().splitlines() == found[1:]


def test_messages_of_nagios():
    sent = written([("job_id", "7"), ("outstd", b"a\0b\n")])
    assert sent == b"job_id=7\0outstd=ab\n\0\1\0\0\0"
    assert read(sent.removesuffix(nagios.MESSAGE_END)) == {"job_id": "7", "outstd": "ab\n"}


class QueryHandler:
    """Stands in for Nagios: takes one registration, gives one job, and keeps what is answered."""

    def __init__(self, command):
        self.command = command
        self.registered = b""
        self.answer = asyncio.get_running_loop().create_future()
        self.given = asyncio.Event()

    async def __call__(self, reader, writer):
        self.registered = await reader.readuntil(b"\0")
        job = {"job_id": "1", "type": "2", "command": self.command, "timeout": "60"}
        writer.write(b"OK\0" + written(job.items()))
        self.given.set()
        message = await reader.readuntil(nagios.MESSAGE_END)
        if not self.answer.done():
            self.answer.set_result(read(message.removesuffix(nagios.MESSAGE_END)))
        writer.close()


async def asked(folder, command, *, begun=None):
    """What the front answers to a job; with ``begun``, a file that the job makes, it is ended meanwhile."""
    handler = QueryHandler(command)
    path = str(folder / "qh")
    async with await asyncio.start_unix_server(handler, path):
        front = Front(path, str(folder / "nobody"), ["/bin/check_x"])
        serving = asyncio.ensure_future(front.serve())
        await handler.given.wait()
        if begun:
            while not begun.exists():  # noqa: ASYNC110 - another process makes it
                await asyncio.sleep(0.01)
            front._ending.set()
        answer = await asyncio.wait_for(handler.answer, 120)
        front._ending.set()
        await asyncio.wait_for(serving, 120)
    assert handler.registered == b"@wproc register name=stallwatchd check_x;plugin=/bin/check_x\0"
    return answer


def test_a_job_is_run_where_stallwatchd_is_not(tmp_path):
    answer = asyncio.run(asked(tmp_path, "echo $((1 + 1)) | cat; exit 2"))
    assert (answer["job_id"], answer["wait_status"], answer["outstd"]) == ("1", "512", "2\n")
    assert (answer["exited_ok"], "error_code" in answer) == ("1", False)


def test_a_job_under_way_at_the_end_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(nagios, "_LAST", 0.1)
    (tmp_path / "check_slow").write_text("#!/bin/sh\n: >$1\nsleep 60\n")
    (tmp_path / "check_slow").chmod(0o755)
    begun = tmp_path / "begun"
    answer = asyncio.run(asked(tmp_path, f"{tmp_path}/check_slow {begun}", begun=begun))
    assert answer["wait_status"] == str(UNKNOWN << 8)
    assert answer["outstd"] == "SLOW UNKNOWN - stallwatchd was stopped before the verdict\n"


def test_a_job_that_takes_too_long(tmp_path, monkeypatch):
    async def late(self, command):
        raise TimeoutError

    monkeypatch.setattr(Front, "_run", late)
    answer = asyncio.run(asked(tmp_path, "check_x"))
    assert (answer["error_code"], answer["exited_ok"]) == ("62", "0")


@pytest.mark.parametrize(
    ("short", "busy"),
    [([True] * 3, True), ([True, False, True], True), ([True, False, False], False), ([], False)],
)
def test_whether_the_processors_are_busy(short, busy):
    """With two processors: two short checks that run. Of the others, some wait for servers."""
    with socket.socket() as listener:
        one = Supervisor(listener, {})
        one._processors = 2
        for number, is_short in enumerate(short):
            one._busy[number] = SimpleNamespace(is_short=lambda is_short=is_short: is_short)
        assert one._processors_are_busy() is busy
        for each in (one._events, one._wakes, one._wakened):
            each.close()


@pytest.mark.parametrize(
    ("workers", "running", "ages", "busy"),
    [
        (8, 3, [0.1, 0.1], True),
        (8, 2, [0.1, 0.1], False),  # a processor is idle: the server that they wait for is elsewhere
        (8, 9, [0.1, 5.0], False),  # servers do not answer, whatever else runs on this host
        (7, 9, [0.1, 0.1], False),
    ],
)
def test_many_workers_wait_for_a_server_of_this_host(monkeypatch, clock, workers, running, ages, busy):
    """With two processors. ``running`` counts the supervisor, too; ``ages`` are those of the checks."""
    monkeypatch.setattr(supervisor, "_running", lambda: running)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with socket.socket() as listener:
        one = Supervisor(listener, {})
        one._processors, one._hands = 2, dict.fromkeys(range(workers))
        one._busy = {
            number: SimpleNamespace(is_short=lambda: False, since=clock.now - age)
            for number, age in enumerate(ages)
        }
        assert one._processors_are_busy() is busy
        for each in (one._events, one._wakes, one._wakened):
            each.close()


@pytest.mark.parametrize(("workers", "waited", "forks"), [(7, 0.1, 1), (7, 0.0, 0), (8, 0.1, 0), (8, 0.3, 1)])
def test_where_there_are_many_workers_another_one_is_forked_later(monkeypatch, clock, workers, waited, forks):
    """With two processors. A request has ``waited`` so many seconds; all workers wait for servers."""
    forked = []
    monkeypatch.setattr(Supervisor, "_fork", lambda _: forked.append(1))
    monkeypatch.setattr(Supervisor, "_hand_over", lambda _: None)
    with socket.socket() as listener:
        one = Supervisor(listener, {})
        one._processors, one._hands = 2, dict.fromkeys(range(workers))
        one._waiting.append(SimpleNamespace(since=clock.now - waited))
        one._grow()
        assert len(forked) == forks
        for each in (one._events, one._wakes, one._wakened):
            each.close()


def test_a_process_that_runs_is_counted():
    """This one runs."""
    assert supervisor._running() >= 1


def test_what_runs_is_not_known_without_a_free_descriptor(monkeypatch):
    def none_is_free(*_, **__):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("builtins.open", none_is_free)
    assert supervisor._running() == 0


def test_an_abstract_socket_has_no_file(tmp_path):
    """It cannot be removed. systemd listens at one if it is told so."""
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as other:
        abstract.bind(f"\0stallwatch-{os.getpid()}")
        assert daemon._file(abstract.getsockname()) is None
        other.bind(str(tmp_path / "socket"))
        before = daemon._file(other.getsockname())
        os.utime(tmp_path / "socket")
        assert before
        assert daemon._file(other.getsockname()) == before


def test_what_c_reads_of_the_environment_is_the_callers():
    """One caller after the other, and of no other variable a copy."""
    known = ctypes.CDLL(None).getenv
    known.restype = ctypes.c_char_p
    one = Worker(None, None, {})
    before, kept = os.environ, {name: os.environ[name] for name in OF_C if name in os.environ}
    values = {name: f"of {name}" for name in OF_C} | {"TZ": "Asia/Kolkata", "STALLWATCH_WORD": "x"}
    try:
        for given in (values, {}, values):
            one._move(protocol.Request("check_host", "/", [], given))
            found = {name: value.decode() for name in values if (value := known(name.encode())) is not None}
            assert found == {name: value for name, value in given.items() if name in OF_C}
            assert (time.tzname[0] == "IST") is bool(given)
    finally:
        one._move(protocol.Request("check_host", os.getcwd(), [], kept))
        os.environ = before  # noqa: B003 - what it was before


@pytest.mark.usefixtures("whose_time")
def test_a_worker_that_is_stopped_when_a_check_begins_shows_that():
    """Before its second thread has looked, which sleeps for as long as there is no check."""
    one = Worker(SimpleNamespace(send=lambda _: None), Slot(), {})
    with pytest.MonkeyPatch.context() as patch:
        clock = Clock()
        patch.setattr(time, "monotonic", lambda: clock.now)
        patch.setattr(time, "process_time", lambda: 0.0)
        deadline = Deadline(2)
        one._begin(deadline, None)
        clock.later(1.5)
        assert deadline.overdue() == "this check got no processor time for 1.5 s of 2 s"


NO_VERDICT = b"DEMO UNKNOWN - no verdict within 2 s\n"
STOPPED = b"DEMO UNKNOWN - this check got no processor time for 1.5 s of 2 s\n"


@pytest.mark.parametrize(
    ("pulse", "told"),
    [
        (Pulse(at=102.3, awoke=0.0, computed=0.5, shown=0.0, enough=0.5), NO_VERDICT),
        (Pulse(at=100.85, awoke=0.0, computed=0.5, shown=0.0, enough=0.5), STOPPED),  # and not back yet
        (Pulse(at=100.85, awoke=0.0, computed=-1.0, shown=0.0, enough=0.5), NO_VERDICT),
        (Pulse(at=102.3, awoke=101.5, computed=0.5, shown=1.45, enough=0.5), STOPPED),
        (Pulse(at=102.3, awoke=102.3, computed=0.5, shown=1.5, enough=0.5), b""),  # it reports by itself
        (Pulse(at=103.3, awoke=103.3, computed=0.5, shown=1.5, enough=0.5), b""),
    ],
)
def test_a_check_that_its_worker_does_not_end_is_ended_and_says_whose_time_it_was(monkeypatch, pulse, told):
    """The end was 0.4 s ago; a worker that went on only then has as long from there, up to 1 s."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    killed = []
    with ours, theirs:
        hand = Hand(0, None, Slot())
        hand.take(SimpleNamespace(connection=ours, plugin="check_demo"))
        hand.slot.begin(102.0, 2.0)
        hand.slot.beat(pulse)
        monkeypatch.setattr(hand, "end", killed.append)
        monkeypatch.setattr(hand, "_seen", lambda: (b"S", 0.5))
        hand.look(102.4)
        theirs.settimeout(0)
        assert bool(killed) is bool(told)
        if told:
            assert theirs.recv(1000)[protocol.ANSWER.size :] == told
        hand.look(103.1)
        assert killed


def until(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end


def seen_first(hand):
    """Whether it is at a short check; it may have had its quarter of a second while we had no processor."""
    hand._spent = None
    return hand.is_short()


@pytest.mark.parametrize("works", [True, False])
def test_whether_a_worker_is_at_a_short_check(works):
    """One that waits is not; one that computes is, until it has had a quarter of a second for it."""
    program = "while True: pass" if works else "input()"
    hand = Hand(0, None, None)
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as process:
        hand.process = process.pid
        try:
            if works:
                until(lambda: seen_first(hand))
            until(lambda: not hand.is_short())
        finally:
            process.kill()
    assert not hand.is_short()  # it is gone


def test_what_a_fork_still_has_gives_no_events(tmp_path):
    """A worker that was just forked has not closed it yet; its number may be another one's by then."""
    with socket.socket(socket.AF_UNIX) as listener:
        one = Supervisor(listener, {})
        ours, theirs = socket.socketpair()
        one._events.register(ours, select.EPOLLIN | select.EPOLLRDHUP)
        copy = os.dup(ours.fileno())
        one._close(ours)
        theirs.close()
        assert one._events.poll(0) == []
        os.close(copy)
        for each in (one._events, one._wakes, one._wakened):
            each.close()
