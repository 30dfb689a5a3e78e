# ruff: noqa: E501 - what is said is written as it is said
"""Every line is judged once, whatever happens to the file and to the state between two runs."""

import contextlib
import gzip
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from ndb_log_service import HOUR, Log

KILLED = "Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'."


# Rotation. The first run has read one standstill, and two more came before the second.


@pytest.fixture
def half_read(check, log):
    """A log with one standstill that a run has read and one that none has."""
    log.stuck(2, 600, 1100, ago=300)
    assert check("--log", log).perfdata["lines"] == "4"
    log.stuck(2, 600, 1200, ago=200)
    return log


def all_read(said):
    """The second standstill and the third, each once."""
    assert said.perfdata["lines"] == "8"
    assert said.perfdata["stuck_episodes"] == "3"
    assert said.perfdata["stuck"] == "1.3s;1;9"
    assert "lost" not in said.output
    return True


@pytest.mark.usefixtures("new_interpreter")
def test_rotation_by_renaming(check, half_read):
    half_read.path.rename(f"{half_read}.1")
    half_read.stuck(2, 600, 1300, ago=100)
    assert all_read(check("--log", half_read))
    assert check("--log", half_read).perfdata["lines"] == "0"


@pytest.mark.usefixtures("new_interpreter")
def test_rotation_by_renaming_to_a_dated_name(check, half_read):
    half_read.path.rename(half_read.path.with_name("ndb_4_out.log-20261121"))
    half_read.stuck(2, 600, 1300, ago=100)
    assert all_read(check("--log", half_read))


@pytest.mark.usefixtures("new_interpreter")
def test_rotation_by_renaming_and_compressing(check, half_read):
    half_read.path.rename(f"{half_read}.1")
    half_read.stuck(2, 600, 1300, ago=100)
    with gzip.open(f"{half_read}.1.gz", "wb") as packed:
        packed.write(half_read.path.with_name("ndb_4_out.log.1").read_bytes())
    os.remove(f"{half_read}.1")
    assert all_read(check("--log", half_read))
    assert check("--log", half_read).perfdata["lines"] == "0"


def test_compression_after_the_rotated_file_was_read(check, half_read):
    half_read.path.rename(f"{half_read}.1")
    half_read.stuck(2, 600, 1300, ago=100)
    assert all_read(check("--log", half_read))
    with gzip.open(f"{half_read}.2.gz", "wb") as packed:
        packed.write(half_read.path.with_name("ndb_4_out.log.1").read_bytes())
    half_read.path.rename(f"{half_read}.1")
    half_read.say("Operations=0", 90)
    assert check("--log", half_read).perfdata["lines"] == "1"


def test_rotation_by_renaming_twice(check, half_read):
    half_read.path.rename(f"{half_read}.2")
    half_read.stuck(2, 600, 1300, ago=100)
    half_read.path.rename(f"{half_read}.1")
    half_read.add("")
    assert all_read(check("--log", half_read))


@pytest.mark.usefixtures("new_interpreter")
def test_the_writer_goes_on_in_the_renamed_file(check, half_read):
    """NDB keeps its out log open until it is restarted."""
    half_read.path.rename(f"{half_read}.1")
    Log(half_read.path.with_name("ndb_4_out.log.1")).stuck(2, 600, 1300, ago=100)
    said = check("--log", half_read)
    assert said.perfdata["lines"] == "8"
    assert said.status == 1
    assert f"[UNKNOWN] {half_read} does not exist" in said.output


def test_an_episode_that_rotation_splits_is_one(check, watched):
    watched.stuck(2, 400, 500, 600, ago=2.4)
    assert check("--log", watched).perfdata["stuck_episodes"] == "1"
    watched.path.rename(f"{watched}.1")
    watched.say("Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=3000", 0, "WARNING")
    said = check("--log", watched)
    assert said.perfdata["stuck_episodes"] == "1"
    assert said.perfdata["stuck"] == "3s;1;9"


@pytest.mark.usefixtures("new_interpreter")
def test_copytruncate_without_a_loss_says_that_there_may_be_one(check, log):
    log.stuck(2, 600, 1100, ago=300)
    assert check("--log", log).perfdata["lines"] == "4"
    shutil.copy2(log.path, f"{log}.1")
    os.truncate(log.path, 0)
    log.stuck(2, 600, 1300, ago=100)
    said = check("--log", log)
    assert said.perfdata["lines"] == "4"
    assert said.perfdata["stuck_episodes"] == "2"
    assert said.status == 1
    assert "[OK] ndb_4_out.log was truncated in place (its copy ndb_4_out.log.1 is read)" in said.output
    assert " may be lost" in said.output
    again = check("--log", log)
    assert again.perfdata["lines"] == "0"
    assert "may be lost" not in again.output


@pytest.mark.usefixtures("new_interpreter")
def test_copytruncate_with_new_lines_in_the_copy(check, half_read):
    shutil.copy2(half_read.path, f"{half_read}.1")
    os.truncate(half_read.path, 0)
    half_read.stuck(2, 600, 1300, ago=100)
    said = check("--log", half_read)
    assert said.perfdata["lines"] == "8"
    assert said.perfdata["stuck_episodes"] == "3"
    assert "(its copy ndb_4_out.log.1 is read)" in said.output


@pytest.mark.usefixtures("new_interpreter")
def test_copytruncate_with_a_compressed_copy(check, half_read):
    with gzip.open(f"{half_read}-20261121.gz", "wb") as packed:
        packed.write(half_read.path.read_bytes())
    os.truncate(half_read.path, 0)
    half_read.stuck(2, 600, 1300, ago=100)
    said = check("--log", half_read)
    assert said.perfdata["lines"] == "8"
    assert said.perfdata["stuck_episodes"] == "3"


@pytest.mark.usefixtures("new_interpreter")
def test_a_log_that_was_deleted_and_recreated(check, half_read):
    half_read.path.unlink()
    half_read.stuck(2, 600, 1300, ago=100)
    said = check("--log", half_read)
    assert said.perfdata["lines"] == "4"
    assert "may be lost" in said.output
    assert said.status == 1


def test_a_log_that_is_gone_is_unknown_and_keeps_its_alerts(check, half_read):
    assert check("--log", half_read).status == 1
    half_read.path.unlink()
    said = check("--log", half_read)
    assert said.text.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck up to 1.2 s, 2 stalls ")
    assert f"[UNKNOWN] {half_read} does not exist" in said.output


def test_an_incomplete_last_line_waits_for_its_rest(check, watched):
    watched.add("2026-11-20T23:09:09.000001Z [ndbd] ALERT    -- Forced node shut")
    assert check("--log", watched).perfdata["lines"] == "0"
    watched.add("down completed. Caused by error 6050: 'WatchDog terminate'.\n")
    said = check("--log", watched)
    assert said.status == 2
    assert said.perfdata["lines"] == "1"


# How much a run reads


def test_a_run_that_may_not_read_everything_says_so_and_goes_on(check, watched):
    watched.say("Operations=0 " + "x" * 1000, 60)
    watched.say("Operations=0 " + "x" * 1000, 60)
    watched.stuck(2, 600, 1200)
    behind = check("--log", watched, "--max-bytes", "1500")
    assert behind.status == 3
    assert behind.text == (
        "NDB_LOG UNKNOWN - ndb_4_out.log: 393 B are still to be read - the next run goes on, --whole reads all again,"
        " a longer --timeout reads more"
    )
    assert behind.perfdata["lines"] == "2"
    second = check("--log", watched, "--max-bytes", "1500")
    assert second.status == 1
    assert second.perfdata["lines"] == "4"


def test_lines_without_a_time_stay_history_until_the_first_run_has_caught_up(check, log):
    log.say("Operations=0 " + "x" * 1000, 2 * HOUR)
    log.say("Operations=0", 2 * HOUR)
    log.add("Ndb kernel thread 4 is stuck in: Job Handling elapsed=12000\n")
    assert check("--log", log, "--max-bytes", "900").status == 3
    assert check("--log", log, "--max-bytes", "900").status == 0
    log.add("Ndb kernel thread 4 is stuck in: Job Handling elapsed=12000\n")
    assert check("--log", log, "--max-bytes", "900").status == 2


def test_a_first_run_that_is_behind_does_not_lose_the_shutdown_at_the_end(check, log):
    log.add("x" * 1000 + "\n")
    log.say("Operations=0 " + "x" * 1000, 2 * HOUR)
    log.say(KILLED, 60, "ALERT")
    assert check("--log", log, "--max-bytes", "900").status == 3
    assert check("--log", log, "--max-bytes", "900").status == 3
    assert check("--log", log, "--max-bytes", "900").status == 2


# Several runs, one state


def test_two_runs_at_once_judge_each_line_once(check, log):
    log.say("Operations=0", 100)
    assert check("--log", log).status == 0
    log.add(b"2026-10-20T23:06:41.711002Z [ndbd] INFO     -- Operations=0\n" * 300_000)
    runs = [check.start("--log", log, "--timeout", "60s") for _ in range(3)]
    outputs = [run.communicate()[0] for run in runs]
    counts = sorted(output.partition("lines=")[2].partition(" ")[0] for output in outputs)
    assert counts == ["0", "0", "300000"]


def reads(run, log):
    """Whether a run has the log open."""
    with contextlib.suppress(OSError):  # it has just ended, or closed one
        return any(os.path.samefile(one, log.path) for one in Path(f"/proc/{run.pid}/fd").iterdir())
    return False


def test_a_killed_run_is_made_up_for(check, log):
    log.say("Operations=0", 100)
    assert check("--log", log).status == 0
    for _ in range(9):
        log.add(b"2026-10-20T23:06:41.711002Z [ndbd] INFO     -- Operations=0\n" * 2_000_000)
        log.stuck(2, 600, 1200)
        run = check.start("--log", log, "--timeout", "60s")
        while run.poll() is None and not reads(run, log):
            time.sleep(0.005)
        run.send_signal(signal.SIGKILL)  # it would go on for a while, but we may be kept from running
        if run.communicate()[0] == "":
            break
        for file in (log.path, *check.states()):  # begin anew
            file.unlink()
        log.say("Operations=0", 100)
        assert check("--log", log).status == 0
    said = check("--log", log, "--timeout", "60s")
    assert said.perfdata["lines"] == "2000004"
    assert said.perfdata["stuck_episodes"] == "1"


@pytest.mark.usefixtures("new_interpreter")
def test_a_state_that_is_damaged(check, watched):
    (state,) = check.states()
    state.write_text("{")
    watched.stuck(2, 600, 12000)
    said = check("--log", watched)
    assert said.status == 2
    assert (
        f"[UNKNOWN] the memory of earlier runs is lost and this run counts as the first: {state} is damaged"
        in said.output
    )
    assert "UNKNOWN" not in check("--log", watched).output


@pytest.mark.parametrize(
    "damage",
    [
        {"positions": 7},
        {"positions": {"generations": [{"name": 1}], "newest": 0, "looked": 0}},
        {"positions": {"generations": 3, "newest": "x", "looked": None}},
        {"watchdog": {"stuck": [{"thread": 2}]}},
        {"watchdog": []},
        {"shutdown": {"down": [{"node": 4, "unknown": 1}]}},
        {"incidents": {"alerts": [{"key": "x"}]}},
        {"redo": {"full": {"1": 3}}},
        {"redo": {"lags": [[1]]}},
        {"contention": {"counters": {"jbalock": 3}}},
        {"node": {"id": "four", "roles": 3}},
        {"oversleeps": {"held": [{}]}},
        {"backups": {"last": 3}},
    ],
    ids=str,
)
def test_a_state_of_another_version_is_one_clear_sentence(check, watched, damage):
    (state,) = check.states()
    content = json.loads(state.read_text())
    content["values"][str(watched)] |= damage
    state.write_text(json.dumps(content))
    watched.stuck(2, 600, 1200)
    said = check("--log", watched, "--backup-age", "1h")
    assert "internal error" not in said.output
    assert check("--log", watched).status in {0, 1}


def test_a_state_directory_that_cannot_be_written(check, log, stranger, tmp_path):
    log.stuck(2, 600, 1200)
    (tmp_path / "state").mkdir()
    (tmp_path / "state").chmod(0o500)
    said = check("--log", log, **stranger)
    assert said.status == 1
    assert said.text.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 1.2 s")
    assert said.text.endswith(" (+1 more problem)")
    sentence = said.details[-1]
    assert sentence.startswith("[UNKNOWN] nothing is remembered between runs: ")


def test_a_state_directory_that_cannot_be_made_is_unknown_when_all_else_is_well(
    check, log, stranger, tmp_path
):
    log.say("Operations=0")
    tmp_path.chmod(0o555)
    said = check("--log", log, **stranger)
    tmp_path.chmod(0o755)
    assert said.status == 3
    assert said.text == (
        f"NDB_LOG UNKNOWN - nothing is remembered between runs: {tmp_path}/state cannot be made:"
        " Permission denied - name another --state-dir"
    )
    assert said.perfdata["lines"] == "1"


@pytest.mark.usefixtures("new_interpreter")
def test_a_state_for_each_set_of_logs(check, log, peer):
    log.stuck(2, 600, 1200)
    peer.say("Operations=0")
    assert check("--log", log).perfdata["lines"] == "4"
    assert check("--log", log, "--log", peer).perfdata["lines"] == "5"
    assert check("--log", peer, "--log", log).perfdata["lines"] == "0"
    assert check("--log", log).perfdata["lines"] == "0"
    assert len(check.states()) == 2


@pytest.mark.usefixtures("new_interpreter")
def test_no_state_leaves_nothing_and_is_a_first_run_each_time(check, log, tmp_path):
    log.stuck(2, 600, 12000, ago=2 * HOUR)
    log.stuck(2, 600, 1200, ago=60)
    first = check("--log", log, "--no-state")
    second = check("--log", log, "--no-state")
    assert first.status == second.status == 1
    assert first.perfdata["stuck"] == second.perfdata["stuck"] == "1.2s;1;9"
    assert sorted(os.listdir(tmp_path)) == ["ndb_4_out.log"]


def test_no_state_does_not_touch_the_state_that_is_there(check, watched):
    watched.stuck(2, 600, 1200)
    assert check("--log", watched, "--no-state").perfdata["lines"] == "5"
    assert check("--log", watched).perfdata["lines"] == "4"


@pytest.mark.usefixtures("new_interpreter")
def test_whole_keeps_no_state(check, log, tmp_path):
    log.stuck(2, 600, 1200, ago=30 * 24 * HOUR)
    assert check("--log", log, "--whole").status == 1
    assert check("--log", log, "--whole").status == 1
    assert sorted(os.listdir(tmp_path)) == ["ndb_4_out.log"]
