"""Plugins that are sent signals, or whose parent has ignored or blocked them."""

import json
import signal
import socket
import time
from contextlib import suppress

from cells import cells
from healthy import SAID
from runs import finish
from subjects import NETWORK, OK, UNKNOWN, Place
from surroundings import ORDINARY, TIMEOUT, WITHIN, Surroundings, begin, run_in

SIGNALS = (
    "TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "CHLD", "PIPE", "XFSZ", "TSTP", "WINCH", "VTALRM",
    "PROF", "IO",
)  # fmt: skip
ALL = "[number for number in signal.valid_signals() if number not in (signal.SIGKILL, signal.SIGSTOP)]"


def ignored(names):
    return Surroundings(f"for name in {names}: signal.signal(getattr(signal, 'SIG' + name), signal.SIG_IGN)")


def blocked(numbers):
    return Surroundings(f"signal.pthread_sigmask(signal.SIG_BLOCK, {numbers})")


INHERITED = {
    "all ignored": ignored(SIGNALS),
    "all blocked": blocked(ALL),
    "SIGCHLD ignored": ignored(["CHLD"]),
    "SIGALRM blocked": blocked("[signal.SIGALRM]"),
}


@cells(INHERITED, one=True)
def test_inherited(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    well = run_in(calm, place, home, trouble, *WITHIN).holds(TIMEOUT, OK)
    assert SAID[subject.plugin] in well.line, well


def waiting(listener):
    """Wait until somebody has come to a server that is silent."""
    listener.settimeout(60)
    return listener.accept()[0]


@cells({"all signals blocked": blocked(ALL)}, lambda _trouble, subject: subject.source in NETWORK, one=True)
def test_blocked_signals_and_a_silent_server(home, subject, trouble):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = Place(port=listener.getsockname()[1])
        outcome = run_in(subject, place, home, trouble, "-t", "2s")
        outcome.holds(2, subject.unreachable)
    assert f"127.0.0.1:{place.port}" in outcome.line, outcome


TOLD = {"TERM": "terminated", "HUP": "terminated", "INT": "interrupted"}


@cells({f"SIG{name}": name for name in TOLD}, lambda _trouble, subject: subject.source in NETWORK, one=True)
def test_a_signal_while_a_server_is_silent(home, subject, trouble):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        place = Place(port=listener.getsockname()[1])
        began = time.monotonic()
        process = begin(subject, place, home, ORDINARY, "-t", "300s")
        with waiting(listener):
            process.send_signal(getattr(signal, f"SIG{trouble}"))
            outcome = finish(process, subject, home, began, place.password).holds(TIMEOUT, UNKNOWN)
    assert outcome.line == f"{subject.name} UNKNOWN - {TOLD[trouble]} before the verdict", outcome


MOMENTS = {f"SIGTERM after {20 * number} ms": 0.02 * number for number in range(20)}


@cells(MOMENTS, one=True)
def test_terminated_at_any_moment(home, healthy, subject, trouble):
    """Before we are there, Python ends by the signal, and says nothing."""
    calm, place = healthy(subject)
    run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)
    began = time.monotonic()
    process = begin(calm, place, home, ORDINARY, *WITHIN)
    time.sleep(trouble)  # a moment of no meaning: any outcome of these is right at any
    with suppress(ProcessLookupError):
        process.terminate()
    outcome = finish(process, calm, home, began, place.password)
    if outcome.status == -signal.SIGTERM:
        assert (outcome.stdout, outcome.stderr, outcome.left) == (b"", b"", ()), outcome
    elif outcome.holds(TIMEOUT, OK, UNKNOWN).status == UNKNOWN:
        assert outcome.line == f"{subject.name} UNKNOWN - terminated before the verdict", outcome
    for file in (home / "state").glob("*.json"):
        assert json.loads(file.read_bytes())["version"] == 1
    after = run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)
    assert SAID[subject.plugin] in after.line, after
