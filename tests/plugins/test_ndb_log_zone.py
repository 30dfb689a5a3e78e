"""A log without zones in its times, written in another zone than that of this host."""

import time

import pytest
from ndb_log_service import HOUR, MINUTE

FREEZE = "Watchdog: Warning overslept 10000 ms, expected 100 ms."


def local(log, text, late, ago=5.0, level="WARNING"):
    """Append a line ``ago`` seconds old, as a node writes it whose zone is ``late`` seconds behind."""
    log.now = time.time()
    log.say_legacy(text, ago + late, level)


@pytest.mark.parametrize("late", [5 * HOUR, -5.75 * HOUR, 9.5 * HOUR, 0])
def test_new_lines_of_another_zone_count(check, log, late):
    local(log, "Start phase 101 completed", late, level="INFO")
    for checkpoint in (51, 52):
        assert check("--log", log).status == 0
        local(log, f"Local checkpoint {checkpoint} started.", late, level="INFO")
    assert check("--log", log).status == 0
    local(log, FREEZE, late)
    said = check("--log", log, "-v")
    assert said.status in {1, 2}
    assert "stood still 10 s" in said.text
    assert (", corrected" in said.output) == bool(late)


def test_the_zone_is_told_with_v_only(check, log):
    local(log, "Start phase 101 completed", 5 * HOUR, level="INFO")
    check("--log", log)
    for checkpoint in (50, 51):
        assert ", corrected" not in check("--log", log, "-v").output
        local(log, f"Local checkpoint {checkpoint} started.", 5 * HOUR, level="INFO")
    assert ", corrected" not in check("--log", log).output
    told = "[OK] times of ndb_4_out.log are 5 h behind this host's, corrected"
    assert told in check("--log", log, "-v").details


def test_the_zone_is_remembered_and_forgotten(check, log):
    local(log, "Start phase 101 completed", 5 * HOUR, level="INFO")
    check("--log", log)
    for checkpoint in (50, 51):
        local(log, f"Local checkpoint {checkpoint} started.", 5 * HOUR, level="INFO")
        check("--log", log)
    local(log, FREEZE, 5 * HOUR)
    assert "stood still 10 s" in check("--log", log).text
    local(log, "Local checkpoint 52 started.", 0, level="INFO")  # the node has restarted in this zone
    assert ", corrected" not in check("--log", log, "-v").output


@pytest.mark.parametrize(("late", "far"), [(5 * HOUR, "5 h behind"), (-9.5 * HOUR, "9 h 30 min ahead of")])
def test_a_first_run_tells_of_a_zone_by_the_date_of_the_file(check, log, late, far):
    local(log, FREEZE, late)
    said = check("--log", log)
    told = f"[OK] times of ndb_4_out.log are probably {far} this host's, they are corrected when new lines"
    assert any(line.startswith(told) for line in said.details)


@pytest.mark.parametrize("late", [0, 20 * MINUTE, 5 * HOUR + 7 * MINUTE])
def test_a_first_run_tells_of_no_zone_where_the_log_ended_then(check, log, late):
    local(log, FREEZE, late)
    assert "this host's" not in check("--log", log, "-v").output


def test_a_first_run_tells_of_no_zone_where_the_times_have_one(check, log):
    log.say(FREEZE, 5 * HOUR)
    assert "this host's" not in check("--log", log, "-v").output


def test_an_age_that_no_zone_explains_is_a_warning(check, log):
    local(log, "Start phase 101 completed", 0, level="INFO")
    check("--log", log)
    local(log, "Local checkpoint 51 started.", 5 * HOUR + 7 * MINUTE, level="INFO")
    said = check("--log", log)
    assert said.status == 1
    assert "new lines of ndb_4_out.log are 5 h 7 min old, the zone or clock of the node differs" in said.text


@pytest.mark.parametrize("late", [20 * MINUTE, 15 * MINUTE])
def test_a_log_that_is_copied_here_late_is_not_corrected(check, log, late):
    local(log, "Start phase 101 completed", late, level="INFO")
    check("--log", log)
    local(log, FREEZE, late)
    said = check("--log", log, "-v")
    assert "stood still 10 s" in said.text
    assert ", corrected" not in said.output


def test_times_with_a_zone_are_right(check, log):
    log.say("Start phase 101 completed", 5 * HOUR)
    check("--log", log)
    log.say("Local checkpoint 51 started.", 5 * HOUR)
    said = check("--log", log, "-v")
    assert said.status == 0
    assert ", corrected" not in said.output


def test_a_log_that_is_copied_here_once_an_hour_is_not_corrected(check, log):
    local(log, "Start phase 101 completed", HOUR, level="INFO")
    check("--log", log)
    for copy in range(3):  # each brings the lines of an hour
        for ago in (HOUR, 40 * MINUTE, 20 * MINUTE, 0):
            local(log, f"Local checkpoint {51 + copy} started.", ago, level="INFO")
        assert ", corrected" not in check("--log", log, "-v").output


def test_one_copy_of_one_old_line_is_no_zone(check, log):
    local(log, "Start phase 101 completed", HOUR, level="INFO")
    check("--log", log)
    local(log, "Local checkpoint 51 started.", HOUR, level="INFO")
    assert ", corrected" not in check("--log", log, "-v").output
    local(log, "Local checkpoint 52 started.", 0, level="INFO")
    check("--log", log)
    local(log, "Local checkpoint 53 started.", HOUR, level="INFO")
    assert ", corrected" not in check("--log", log, "-v").output
