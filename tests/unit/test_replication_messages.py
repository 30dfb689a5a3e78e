"""The status line of a channel: lag, limit, where it goes, one cause, one next step; the rest is below."""

import pytest
from replication_snapshots import channel, snapshot, stopped
from stallwatch.findings import Fault, State
from stallwatch.probes.replication_lag.causes.case import Cause
from stallwatch.probes.replication_lag.diagnosis import Criteria, Diagnosis
from stallwatch.probes.replication_lag.lag.result import Lag
from stallwatch.probes.replication_lag.messages import channels
from stallwatch.probes.replication_lag.reconnects import Reconnects
from stallwatch.probes.replication_lag.trend import Trend
from stallwatch.render.text import written
from stallwatch.thresholds import Range
from stallwatch.verdict import Report, judge

LIMITS = {"warning": Range("60"), "critical": Range("600")}
LOCK = Cause(86, "row lock of connection 55 app@web1, idle for 3 min", "KILL 55 or let it commit", rule="R6")
DISK = Cause(65, "disk sda is 97 % busy", "run pidstat -d 1", rule="R13", more=("a request takes 40 ms",))
WEAK = Cause(50, "4 appliers wait for one another", "look for one large transaction", rule="R17")
FAILED = Cause(
    100, "the applier stopped with error 1062: Duplicate entry", "compare", rule="R1", is_down=True
)
GROWS, SHRINKS = Trend(1.0, 240.0, 5), Trend(-1.0, 240.0, 5)


def seconds_until(level, name, value, slope):
    assert name == "lag"
    return LIMITS[level].reached_in(value, slope)


def told(lag, of=None, *, horizon=0.0, everything=False, **changes):
    """What is printed of one channel: the status line without perfdata, and the lines below."""
    criteria = Criteria(120.0, 7200.0, horizon, seconds_until)
    diagnosis = Diagnosis(snapshot(of or channel()), lag, **changes)
    verdicts = judge(channels([diagnosis], criteria), {"lag": LIMITS})
    text = written(Report("replication_lag", verdicts, everything))
    first, *below = text.splitlines()
    return first.partition(" | ")[0].removeprefix("REPLICATION_LAG "), below


def known(seconds, **changes):
    return Lag(seconds, seconds, seconds, "commit time", **changes)


def test_one_cause_is_on_the_line_and_all_else_below():
    line, below = told(known(63.1), trend=GROWS, causes=(LOCK, DISK, WEAK))
    assert line == (
        "WARNING - replica of db1 lags 63 s (limit 60 s) and grows 1 s/s,"
        " row lock of connection 55 app@web1, idle for 3 min - KILL 55 or let it commit"
    )
    assert len(f"REPLICATION_LAG {line}") <= 160
    assert below == [
        "  also disk sda is 97 % busy - run pidstat -d 1",
        "  a request takes 40 ms",
        "  also 4 appliers wait for one another - look for one large transaction",
        "  CRITICAL in 8 min 57 s if it goes on so",
        "  how the lag is known: commit time",
    ]


FLAPS = Reconnects(5, 120.0, 9.0, certain=True)
CONNECTING = Cause(96, "the receiver cannot connect to the source: error 2003 (111)", "check db1", rule="R3")


def test_a_receiver_that_comes_and_goes_is_a_warning():
    line, below = told(known(0.2), reconnects=FLAPS)
    assert line == (
        "WARNING - replica of db1 lags 0.2 s, the receiver reconnected 5 times in 2 min"
        " - check the link and who ends connections on the source"
    )
    assert "a replica with the same server_id" in below[0]


def test_it_explains_the_moment_at_which_the_link_is_down():
    one = channel(receiver=stopped("Connecting"))
    line, below = told(known(1.0), one, reconnects=FLAPS, causes=(CONNECTING._replace(is_down=True),))
    assert "the receiver reconnected 5 times" in line
    assert any("also the receiver cannot connect" in text for text in below)


def test_what_holds_the_applier_up_comes_before_it():
    line, below = told(known(63.1), reconnects=FLAPS._replace(certain=False), causes=(LOCK,))
    assert "row lock" in line
    assert "  also the receiver probably reconnected 5 times in 2 min" in below


def test_filters_that_drop_all_are_on_the_line():
    line, _ = told(known(0.0), dropped=120.0)
    assert line == "OK - replica of db1 lags 0 s, its filters dropped all of the last 2 min"


def test_a_warning_that_comes_is_on_the_line_of_what_is_still_ok():
    line, below = told(known(33.2), trend=GROWS, causes=(LOCK,))
    assert line.startswith("OK - replica of db1 lags 33 s and grows 1 s/s, WARNING in 27 s, row lock of ")
    assert "KILL" not in line
    assert below == []


def test_what_will_be_critical_within_the_horizon_is_a_warning():
    assert told(known(33.2), trend=GROWS, horizon=600.0)[0] == (
        "WARNING - replica of db1 lags 33 s and grows 1 s/s, CRITICAL in 9 min 27 s, applier does not advance"
        " - see SHOW PROCESSLIST on the replica"
    )


def test_a_known_lag_is_not_hidden_behind_a_cause():
    failed = channel(applier=stopped()._replace(errno=1062), seconds_behind=None)
    line, _ = told(known(700.0), failed, causes=(FAILED, DISK))
    assert line == (
        "CRITICAL - replica of db1 lags 700 s (limit 600 s), the applier stopped with error 1062:"
        " Duplicate entry - compare"
    )


def test_what_is_not_known_says_why():
    failed = channel(applier=stopped()._replace(errno=1062), seconds_behind=None)
    line, _ = told(Lag(None), failed, causes=(FAILED,))
    assert line.startswith("CRITICAL - replica of db1, lag unknown, the applier stopped ")
    missing = Lag(None, remarks=("745 transactions missing, the next run knows for how long",))
    line, below = told(missing)
    assert line.startswith("UNKNOWN - replica of db1, lag unknown (745 transactions missing, ")
    assert below == []


def test_a_thread_that_does_not_run_for_an_unknown_reason_is_told():
    line, _ = told(known(3.0), channel(applier=stopped()))
    assert line == "CRITICAL - replica of db1 lags 3 s, the applier is not running (No)"


@pytest.mark.parametrize(
    ("lag", "said"),
    [
        (Lag(63.0, 0.0, 63.0, "commit time"), "lags up to 63 s (limit 60 s)"),
        (Lag(63.0, 63.0, None, "last contact"), "lags at least 63 s (limit 60 s)"),
        (Lag(63.0, 0.0, None, "last known"), "lags about 63 s (limit 60 s)"),
        (Lag(None, 63.0), "lags at least 63 s"),
        (known(1037.0), "lags 17 min (limit 600 s)"),
        (known(0.0, delayed=20.0), "lags 0 s, delayed by 1 h as configured"),
    ],
)
def test_a_bound_is_told_as_one_and_a_delay_apart(lag, said):
    line = told(lag, channel(delay=3600.0))[0].removesuffix(" - see SHOW PROCESSLIST on the replica")
    assert line.partition(" replica of db1 ")[2] == said


def test_a_silent_source_is_told_with_its_heartbeats():
    line, below = told(Lag(51.0, 0.0, 51.0, "last contact", contact_age=51.0, silent=True), causes=(DISK,))
    assert line == (
        "WARNING - replica of db1 lags up to 51 s, no event or heartbeat for 51 s"
        " - see whether db1:3306 and the link to it are up"
    )
    assert "  also disk sda is 97 % busy - run pidstat -d 1" in below
    assert any("the receiver itself gives up after " in one for one in below)


def test_where_it_may_be_the_clocks_the_line_says_how_far_it_lags_otherwise():
    remark = "the clocks probably differ"
    line, below = told(Lag(0.0, 0.0, 120.2, "commit time", doubtful=True, remarks=(remark,)))
    assert line == "OK - replica of db1 lags 0 s, up to 120 s unless the clocks differ"
    assert f"[OK] replica of db1: {remark}" in below


def test_what_catches_up_is_not_blamed_on_weak_causes():
    line, below = told(known(90.0), trend=SHRINKS, causes=(WEAK,))
    assert line == "WARNING - replica of db1 lags 90 s (limit 60 s), catching up, done in 1 min 30 s"
    assert below[0] == "  also 4 appliers wait for one another - look for one large transaction"
    assert "row lock" in told(known(90.0), trend=SHRINKS, causes=(LOCK,))[0]


def test_a_remark_is_below_and_told_in_each_state():
    remark = "Seconds_Behind 0 is wrong: relay log empty"
    assert told(known(3.0, remarks=(remark,)))[1] == [f"[OK] replica of db1: {remark}"]
    blind = Lag(0.0, cannot_tell="a slow link would not show")
    assert told(blind)[1] == ["[OK] replica of db1: a slow link would not show"]


def test_what_the_servers_say_has_no_semicolon_before_the_perfdata():
    wrong = Cause(100, "the applier stopped: a; b", "see a; then b", is_down=True)
    line, _ = told(known(3.0), channel(applier=stopped()), causes=(wrong,))
    assert line.endswith(", the applier stopped: a, b - see a, then b")


def test_one_incident_is_one_problem():
    criteria = Criteria(120.0, 7200.0, 0.0, seconds_until)
    down = Diagnosis(snapshot(channel(applier=stopped())), known(700.0), causes=(FAILED,))
    found = [one for one in channels([down], criteria) if isinstance(one, Fault) or one.name == "lag"]
    assert [(one.name, one.state) for one in found] == [("lag", State.CRITICAL)]


def test_a_heartbeat_writer_that_has_stopped_is_on_the_line_where_no_other_cause_is():
    dead = known(0.0, writer_stopped=74.0, remarks=("heartbeat writer stopped 1 min 14 s ago",))
    line, below = told(dead)
    assert line == "OK - replica of db1 lags 0 s, heartbeat writer stopped 1 min 14 s ago"
    assert "  next step: start pt-heartbeat on the source" in told(dead, everything=True)[1]
    assert not any("next step" in one for one in told(dead)[1])
    assert not any("heartbeat writer" in one for one in below)
    line, below = told(dead._replace(seconds=63.1))
    assert line.endswith("heartbeat writer stopped 1 min 14 s ago - start pt-heartbeat on the source")
    line, below = told(dead._replace(seconds=63.1), causes=(LOCK,))
    assert "heartbeat writer" not in line
    assert any("heartbeat writer" in one for one in below)


FILTERS = ("Replicate_Do_DB = shop", "Replicate_Ignore_Table = shop.log")


def test_replication_filters_are_told_with_v_and_never_alarm():
    filtered = channel(filters=FILTERS)
    criteria = Criteria(120.0, 7200.0, 0.0, seconds_until)
    found = list(channels([Diagnosis(snapshot(filtered), known(0.0))], criteria))
    remark = f"replica of db1: replication filters are set, {', '.join(FILTERS)}"
    assert Fault(State.OK, remark) in found
    line, below = told(known(0.0), filtered)
    assert line == told(known(0.0))[0]
    assert line.startswith("OK")
    assert f"[OK] {remark}" in below


def test_a_channel_without_filters_has_no_remark():
    criteria = Criteria(120.0, 7200.0, 0.0, seconds_until)
    found = channels([Diagnosis(snapshot(channel()), known(0.0))], criteria)
    assert not any("filters" in one.what for one in found)
