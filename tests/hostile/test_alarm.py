"""Plugins whose time has passed: what they still take of a processor, and how late they are."""

import contextlib
import subprocess
import sys
import time

import pytest
from alarm import run_to_the_alarm
from bad_servers import silent
from cells import cells
from loopback import serving
from runs import run
from subjects import BY_NAME, RECORDED, Place

MOST = 0.05  # seconds of our own processor time after the alarm
MOMENTS = {f"alarm after {number} ms": number for number in (3, 10, 20, 40, 80, 160, 320, 640)}


@cells(MOMENTS, one=True)
def test_little_is_done_after_the_alarm(home, healthy, subject, trouble, note):
    """Wherever it meets a plugin: many have told their verdict by then, and are right as well."""
    calm, place = healthy(subject)
    outcome, took = run_to_the_alarm(calm, place, home, "-t", f"{trouble}ms")
    outcome.holds(trouble / 1000)
    if took is not None:
        note("measured", ("processor time after the alarm, ms", 1000 * took))
        assert took < MOST, outcome


@pytest.fixture(scope="module")
def long_log(tmp_path_factory):
    """A place with a log of 100 MB, which nobody reads in the time that they have."""
    path = tmp_path_factory.mktemp("log") / "ndb_4_out.log"
    lines = b"".join(log.read_bytes() for log in sorted((RECORDED / "ndb_log").glob("*ndb_4_out.log")))
    with path.open("wb") as file:
        for _ in range(100_000_000 // len(lines)):
            file.write(lines)
    yield Place(log=str(path))
    path.unlink()


def test_little_is_done_after_the_alarm_of_who_computes(home, long_log, note):
    """Reading without a pause, where a signal is looked for only between two steps."""
    subject = BY_NAME["ndb_log"]
    for number in range(3):
        outcome, took = run_to_the_alarm(subject, long_log, home, "--whole", "-t", f"{100 + 20 * number}ms")
        outcome.holds(1.0)
        if took is not None:
            note("measured", ("processor time after the alarm, ms", 1000 * took))
            assert took < MOST, outcome


@contextlib.contextmanager
def loaded(processes):
    """That many processes that compute, each for itself to the scheduler, beside what else is going on."""
    command = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(processes)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
        for one in busy:
            one.wait()


RUNS, TIMEOUT = 3, 2


@pytest.mark.only_in_all_cells
@pytest.mark.slow("runs of 2 s, without other processes that compute and beside 40")
@pytest.mark.parametrize("load", [0, 40])
def test_how_late_a_plugin_is_on_a_busy_machine(home, load, long_log, note):
    """A figure for contrib/docs/reliability.md, and no promise: from its start by the engine to its end."""
    with serving(silent) as (host, port), loaded(load):
        for does, name, place, more in (
            ("waits", "mysql_status", Place(host, port), ()),
            ("computes", "ndb_log", long_log, ("--whole", "--hold", "1000000d")),
        ):
            subject = BY_NAME[name]
            for _ in range(RUNS):
                began = time.monotonic()
                outcome = run(subject, place, home, "-t", f"{TIMEOUT}s", *more)
                late = time.monotonic() - began - TIMEOUT
                assert (outcome.stderr, outcome.left) == (b"", ()), outcome
                if "no verdict" in outcome.text or does == "waits":
                    what = f"beside {load} processes that compute, a plugin that {does} (-t {TIMEOUT}s)"
                    note("measured", (f"{what}: latest end, seconds after its time", late))
