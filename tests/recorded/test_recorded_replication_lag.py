"""Every second of the recorded runs, judged as by a check that looks every 10, 20 or 60 s.

``python test_recorded_replication_lag.py`` prints the table of errors.
"""

import pytest
from replication_replay import CAPTURES, errors, load, of_every_second, told

RUNS = [path.stem for path in sorted(CAPTURES.glob("*.tsv"))]
BLACK_HOLES = [name for name in RUNS if name.endswith("_blackhole")]
WITH_COMMIT_TIMES = [name for name in RUNS if name[:4] in {"my80", "my97"}]
INTERVALS = [10, 20, 60]


@pytest.mark.parametrize("every", INTERVALS)
@pytest.mark.parametrize("name", [name for name in WITH_COMMIT_TIMES if name not in BLACK_HOLES])
def test_with_commit_times_the_mean_error_is_small(name, every):
    """At most 1.0 s on average and 3.1 s at worst was measured; Seconds_Behind: 44 s and 56 s."""
    found = errors(of_every_second(load(name), every))
    assert found.unknown == 0
    assert found.ours <= 1.0
    assert found.worst <= 3.1


@pytest.mark.parametrize("every", INTERVALS)
@pytest.mark.parametrize("name", WITH_COMMIT_TIMES)
def test_the_bounds_hold_with_commit_times(name, every):
    for look in of_every_second(load(name), every):
        low, high = look.lag.low, look.lag.high
        assert low - 1.2 <= look.row.truth <= high + 1.2, look.row.at


@pytest.mark.parametrize("name", BLACK_HOLES)
@pytest.mark.parametrize("ago", [60, 55, 50, 40, 30])
def test_fifty_seconds_after_the_cut_no_lag_looks_well(name, ago):
    """The link of a busy source is cut; the last run was ``ago`` seconds before."""
    run = load(name)
    now = run.since("mode_blackhole") + 50
    *_, last = told(run, [now - ago, now])
    assert last.lag.silent
    assert last.lag.seconds >= 46
    assert last.lag.contact_age == pytest.approx(50, abs=2)
    assert last.lag.low <= last.row.truth


@pytest.mark.parametrize("name", BLACK_HOLES)
def test_frequent_runs_see_the_cut_as_well(name):
    run = load(name)
    cut = int(run.since("mode_blackhole"))
    *_, last = told(run, range(cut - 20, cut + 56, 5))
    assert last.lag.silent
    assert last.lag.seconds >= 50


@pytest.mark.parametrize("name", BLACK_HOLES)
@pytest.mark.parametrize("every", INTERVALS)
def test_a_healthy_link_is_never_silent(name, every):
    run = load(name)
    cut, mended = run.since("mode_blackhole"), run.since("mode_pass")
    for look in of_every_second(run, every):
        if look.lag.silent:
            assert cut + 46 <= look.row.at <= mended


@pytest.mark.parametrize("name", [name for name in RUNS if name not in BLACK_HOLES])
@pytest.mark.parametrize("every", INTERVALS)
def test_no_link_that_lives_is_silent(name, every):
    assert not any(look.lag.silent for look in of_every_second(load(name), every))


@pytest.mark.parametrize(
    "name", [name for name in BLACK_HOLES if not name.startswith("my8") and name[:4] != "my97"]
)
def test_where_nothing_tells_of_the_cut_it_says_so(name):
    """Without PROCESS, and without a run since the cut, that is."""
    run = load(name)
    now = run.since("mode_blackhole") + 50
    *_, last = told(run, [now - 60, now], process=False)
    assert not last.lag.silent
    assert "a dead link" in last.lag.cannot_tell
    assert "grant PROCESS" in last.lag.cannot_tell


@pytest.mark.parametrize("name", [name for name in BLACK_HOLES if name[:4] in {"my80", "my97"}])
def test_without_performance_schema_mysql_cannot_tell(name):
    run = load(name)
    now = run.since("mode_blackhole") + 50
    *_, last = told(run, [now - 60, now], schema=False)
    assert not last.lag.silent
    assert last.lag.high >= 49
    assert "a dead link" in last.lag.cannot_tell


@pytest.mark.parametrize("name", BLACK_HOLES)
def test_once_the_receiver_has_noticed_the_lag_is_the_time_since_contact(name):
    run = load(name)
    for look in of_every_second(run, 60):
        if look.row.cells["IO"] == "Connecting":
            assert look.row.seconds_behind is None
            assert look.error <= 2.5
            assert not look.lag.silent


def test_the_source_shows_mariadb_a_thin_link():
    """Seconds_Behind is 0 all the time; ours is off by what the source wrote unevenly between two looks."""
    looks = of_every_second(load("ma1011_slownet"), 10, source=True)
    late = [look for look in looks if look.row.truth >= 15 and look.row.seconds_behind == 0]
    assert len(late) > 10
    for look in late:
        assert look.lag.low - 1.2 <= look.row.truth <= look.lag.high + 1.2
        assert look.lag.by == "source's history"
        assert look.lag.transport == look.lag.seconds
        assert look.error <= 8
        assert "Seconds_Behind 0 is wrong: relay log empty" in look.lag.remarks


def test_without_the_source_a_single_look_gives_no_bound_on_mariadb():
    for look in of_every_second(load("ma1011_slownet"), 60):
        if look.row.seconds_behind == 0:
            assert look.lag.high is None
            assert look.lag.cannot_tell == ""


def test_a_long_statement_is_not_taken_for_lag():
    """Seconds_Behind rises from 0 to 33 in a second; the update took that long on the source."""
    found = errors(of_every_second(load("ma1011_update"), 10))
    assert found.ours <= 1.5
    assert found.seconds_behind > 6
    assert errors(of_every_second(load("ma1011_update"), 60, source=True)).ours <= 0.5


def test_a_zero_that_parallel_workers_leave_is_no_lag_of_none():
    looks = of_every_second(load("my57_slownet"), 10)
    assert any(look.row.seconds_behind == 0 and look.row.truth > 25 for look in looks)
    assert errors(looks).worst <= 1.5


ACCESS = {
    "ma1011": {"": {}, "no PROCESS": {"process": False}, "--source": {"source": True}},
    "my57": {"": {}, "no PROCESS": {"process": False}},
    "my80": {"": {}, "no P_S": {"schema": False}},
    "my97": {"": {}, "no P_S": {"schema": False}},
}


def table():
    """Mean and worst error in seconds, and looks without a figure: ours, and Seconds_Behind."""
    for name in RUNS:
        run = load(name)
        for what, access in ACCESS[run.server].items():
            for every in (10, 60):
                found = errors(of_every_second(run, every, **access))
                ours = f"{found.ours:5.1f} {found.worst:5.1f} {found.unknown:3}"
                theirs = f"{found.seconds_behind:5.1f} {found.seconds_behind_worst:5.1f}"
                yield f"{name:17} {what:11} {every:3} | {ours} | {theirs} {found.seconds_behind_unknown:3}"


if __name__ == "__main__":
    print("\n".join(table()))  # noqa: T201
