"""A long log: the work is in proportion to its length, and a run stops by itself when its time is up."""

import runpy
from pathlib import Path

import pytest
from counted import growth
from stallwatch.sources.logs.logfile import LogFile

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_ndb_log"))
STUCK = "2026-10-20T23:06:41.711002Z [ndbd] WARNING  -- Ndb kernel thread 2 is stuck in: Yielding to OS"
QUIET = "2026-10-20T23:06:41.711002Z [ndbd] INFO     -- Operations=0\n"


@pytest.fixture
def look(tmp_path):
    """Run the plugin on a log with this text: its exit status and output."""

    def look(text, *options):
        log = tmp_path / "ndb_4_out.log"
        log.write_text(text)
        state = ("--state-dir", str(tmp_path / "state"))
        return PLUGIN["check"].run(PLUGIN["findings"], ["--log", str(log), *state, *options])

    return look


def test_twice_as_many_standstills_are_judged_with_twice_the_work(look):
    """A machine that swaps for a day leaves such a log."""

    def work(count):
        status, text = look(f"{STUCK} elapsed=100\n" * count, "--no-state", "-t", "10m")
        assert (status, f" lines={count} " in text) == (0, True)

    assert growth(work, 100) < 2.5


def test_a_run_that_reads_slowly_stops_in_time_and_the_next_goes_on(look, monkeypatch, clock):
    read = LogFile.text

    def slowly(file, start, length):
        clock.later(length / 2**20)
        return read(file, start, length)

    monkeypatch.setattr(LogFile, "text", slowly)
    begun, lines = clock.now, 12 * 2**20 // len(QUIET)
    status, text = look(QUIET * lines)
    assert status == 3
    assert "no verdict" not in text
    assert clock.now - begun < 8
    assert f" lines={lines} " not in text
    while status == 3:
        status, text = look(QUIET * lines)
    assert status == 0
