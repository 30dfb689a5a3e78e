"""Warnings that no rule knows are counted, and the newest is shown; those that are no problem are not."""

from pathlib import Path

import pytest

RECORDED = Path(__file__).parents[1] / "recorded" / "ndb_log"
STRANGE = "Ran out of ink in page 7"


def test_a_healthy_log_has_none(check, log):
    log.starts(ago=60)
    said = check("--log", log)
    assert (said.status, said.perfdata["unknown_warnings"], said.details) == (0, "0", [])
    assert "no rule knows" not in said.text


@pytest.mark.parametrize("level", ["WARNING", "ERROR", "CRITICAL", "ALERT"])
def test_a_warning_that_no_rule_knows_is_counted_and_shown(check, log, level):
    log.starts(ago=60)
    log.say("Another one", ago=50, level=level)
    log.say(f"{STRANGE} - Repeated 2 times", ago=40, level=level)
    said = check("--log", log)
    assert (said.status, said.perfdata["unknown_warnings"]) == (0, "3")
    assert said.text.endswith("no thread stuck, 3 warnings that no rule knows")
    shown = f"[OK] 3 warnings that no rule knows, the newest at HH:MM:SS: node 4: {STRANGE}"
    assert said.details == [shown]


def test_it_is_counted_as_long_as_other_news(check, log):
    log.starts(ago=4000)
    assert check("--log", log).perfdata["unknown_warnings"] == "0"
    log.say(STRANGE, ago=3700, level="WARNING")
    log.say(STRANGE, ago=3000, level="WARNING")
    assert check("--log", log).perfdata["unknown_warnings"] == "1"
    assert check("--log", log).perfdata["unknown_warnings"] == "1"
    assert check("--log", log, "--acknowledge").status == 0
    assert check("--log", log).perfdata["unknown_warnings"] == "0"


def test_the_newest_of_several_logs_is_shown(check, log, cluster):
    log.say(STRANGE, ago=40, level="WARNING")
    cluster.say("Node 3: Something else", ago=20, level="WARNING", source="MgmtSrvr")
    said = check("--log", log, "--log", cluster)
    assert said.perfdata["unknown_warnings"] == "2"
    assert said.details[-1].endswith("node 3: Something else")


@pytest.mark.parametrize(
    ("text", "level"),
    [
        (STRANGE, "INFO"),
        ("Node 52 Disconnected", "ALERT"),
        ("Arbitration won - positive reply from node 1", "ALERT"),
        ("Node 3 late heartbeat 300ms", "WARNING"),  # a rule knows it, and wants three
    ],
)
def test_what_is_no_warning_or_no_problem_is_not_counted(check, log, text, level):
    log.starts(ago=60)
    log.say(text, ago=40, level=level)
    assert check("--log", log).perfdata["unknown_warnings"] == "0"


@pytest.mark.parametrize(
    "log", sorted(path.name for path in RECORDED.glob("*.log") if "error" not in path.name)
)
def test_no_recorded_log_has_one(check, log):
    assert check("--whole", "--log", RECORDED / log).perfdata["unknown_warnings"] == "0"
