from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stallwatch.probes.replication_lag.diagnosis import Criteria
from stallwatch.probes.replication_lag.history import Sample
from stallwatch.probes.replication_lag.lag import Lag
from stallwatch.probes.replication_lag.messages import breach, crossing, direction
from stallwatch.probes.replication_lag.trend import Trend, trend

START = 1_795_000_000.0
HOUR = 3600.0


def criteria(horizon=0.0, **limits):
    """How a lag is judged that is a WARNING and CRITICAL from these seconds on."""

    def seconds_until(level, name, value, slope):
        assert name == "lag"
        left = (limits[level] - value) / slope if level in limits else -1.0
        return left if left > 0 else None

    return Criteria(120.0, 7200.0, horizon, seconds_until)


LIMITS = criteria(warning=60.0, critical=600.0)
NONE = criteria()


def within(horizon):
    return criteria(horizon, warning=60.0, critical=600.0)


def samples(lags, every=60.0, *, at_least=False):
    return [Sample(START + every * number, lag, at_least) for number, lag in enumerate(lags)]


def lag(seconds, high=1e9):
    return Lag(seconds, high=high)


def test_eleven_hours_in_a_day_are_applied_at_half_of_real_time():
    found = trend(samples([11 * HOUR * number / 1440 for number in range(60)]))
    assert found.slope == pytest.approx(0.458, abs=0.001)
    assert found.samples == 15
    assert direction(found, lag(11 * HOUR)) == " and grows 0.46 s/s"


def test_after_the_backup_it_catches_up():
    lags = [10.75 * HOUR + 1.5 * 60 * left for left in range(20, -1, -1)]
    found = trend(samples(lags))
    assert found.slope == pytest.approx(-1.5)
    assert direction(found, lag(lags[-1])) == ", catching up, done in 7 h 10 min"


def test_the_next_threshold_is_told():
    found = Trend(0.46, 240.0, 5)
    assert crossing(found, lag(312), LIMITS) == "CRITICAL in 10 min"
    assert crossing(found, lag(14), LIMITS) == "WARNING in 1 min 40 s"
    assert crossing(found, lag(700), LIMITS) == ""
    assert crossing(found, lag(312), NONE) == ""


def test_an_applier_that_applies_nothing_stands_still():
    found = trend(samples([60.0 * number for number in range(6)]))
    assert direction(found, lag(300)) == " and grows 1 s/s"


def test_a_breach_is_predicted_within_the_horizon():
    found = Trend(0.5, 240.0, 5)
    assert breach(found, lag(300), within(600)) == "CRITICAL in 10 min"
    assert breach(found, lag(300), within(599)) == ""
    assert breach(found, lag(601), within(599)) == ""  # that is no prediction
    assert breach(Trend(-0.5, 240.0, 5), lag(300), within(600)) == ""
    assert breach(found, lag(300, high=None), within(600)) == ""
    assert breach(None, lag(300), within(600)) == ""


@pytest.mark.parametrize("lags", [[], [60.0], [60.0, 120.0], [0.0, 0.0, 0.0, 60.0, 120.0]])
def test_a_few_samples_are_no_trend(lags):
    assert trend(samples(lags)) is None


def test_runs_by_hand_between_two_checks_are_no_trend():
    usual = samples([0.0] * 10)
    by_hand = [Sample(usual[-1].at + number, float(number), at_least=False) for number in range(1, 6)]
    assert trend(usual + by_hand) is None


@pytest.mark.parametrize(("slope", "span"), [(0.019, 6000.0), (0.5, 4.0), (0.0, 600.0)])
def test_noise_is_not_told(slope, span):
    assert direction(Trend(slope, span, 5), lag(100)) == ""
    assert breach(Trend(slope, span, 5), lag(599.9), within(1e9)) == ""


def test_few_samples_have_to_differ_by_more():
    assert direction(trend(samples([0.0, 1.0, 3.0, 5.0])), lag(5.0)) == ""


def test_whole_seconds_are_no_trend():
    assert direction(trend(samples([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])), lag(1.0)) == ""


def test_a_lag_that_begins_is_told_although_long_was_none():
    found = trend(samples([0.0] * 20 + [30.0, 60.0, 90.0, 120.0]))
    assert found.slope == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("lags", "slope"),
    [
        ([0.0] * 20 + [60.0], None),
        ([0.0] * 20 + [60.0, 120.0], None),
        ([0.0] * 20 + [60.0, 120.0, 180.0], 1.0),
        ([10.0] * 20 + [60.0, 120.0], 1.0),
        ([10.0] * 20 + [60.0, 120.0, 180.0], 1.0),
        ([300.0] * 9 + [360.0, 420.0, 480.0, 540.0], 1.0),
        ([60.0 * number for number in range(9)] + [420.0, 360.0, 300.0], -1.0),
    ],
)
def test_an_applier_that_stops_is_not_averaged_with_the_time_before(lags, slope):
    found = trend(samples(lags))
    assert (found and found.slope) == (slope and pytest.approx(slope, abs=0.15))


def test_of_an_applier_that_has_stopped_the_pace_is_told_within_three_looks():
    """Seen on MySQL 9.7.4, looks every 6 s: "applies at 0.28 of real time" beside a row lock."""
    lags = [0.0, 0.0, 0.0, 0.0, 5.2, 11.3, 17.3, 23.3, 29.2]
    told = [trend(samples(lags[:count], every=6.1)) for count in range(7, 10)]
    assert [one and round(one.slope, 1) for one in told] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("lags", "slope"),
    [
        ([240.0, 300.0, 0.0, 45.0, 75.0], None),  # it was "catching up, done in 1 min 25 s"
        ([240.0, 300.0, 0.0, 45.0, 75.0, 105.0], 0.5),
        ([0.0] * 8 + [7.0, 67.0, 127.0], 1.0),  # it was 0.21 s/s
        ([300.0] * 5 + [0.5] * 2 + [30.0, 60.0, 90.0], 0.5),
    ],
)
def test_what_was_before_the_lag_was_last_0_is_another_episode(lags, slope):
    found = trend(samples(lags))
    assert (found and found.slope) == (slope and pytest.approx(slope, abs=0.05))


@pytest.mark.parametrize("over", [(200.0,), (200.0, 100.0)])
def test_a_lag_that_is_caught_up_with_is_not_said_to_grow(over):
    found = trend(samples([60.0, 120.0, 180.0, 240.0, 300.0, *over]))
    assert direction(found, lag(over[-1])) == ("" if found is None else ", catching up, done in 1 min")


def test_a_lag_that_grows_again_is_not_said_to_be_caught_up_with():
    assert trend(samples([500.0, 400.0, 300.0, 200.0, 100.0, 160.0])) is None


@pytest.mark.parametrize("looks", range(2, 8))
def test_a_lag_that_grew_and_stands_still_is_not_said_to_grow(looks):
    for grown in (10, 20, 40):
        lags = [60.0 * number for number in range(1, grown)]
        found = trend(samples([*lags, *[lags[-1]] * looks]))
        assert direction(found, lag(lags[-1])) == ""


def test_looks_at_a_retry_interval_are_enough():
    usual = samples([0.0] * 20)
    retried = [Sample(usual[-1].at + 15.0 * number, 15.0 * number, at_least=False) for number in range(1, 4)]
    assert trend(usual + retried).slope == pytest.approx(1.0)


def test_a_lag_that_only_jitters_has_no_trend():
    jitter = [50.0, 56.0, 47.0, 52.0, 57.0, 45.0, 53.0, 49.0, 58.0, 51.0, 46.0, 55.0]
    told = [direction(trend(samples(jitter[:count], 10.0)), lag(50.0)) for count in range(3, 13)]
    assert told == [""] * 10


def episodes(random, every):
    """A lag that grows, is caught up with, and grows again, as a function of time; when that is over."""
    grows, again, drain = random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.3, 6)
    begins, lasts, rests = (random.uniform(*many) * every for many in ((1, 5), (4, 25), (0, 4)))
    caught_up = begins + lasts + grows * lasts / drain

    def at(moment):
        if moment < begins + lasts:
            return max(0.0, grows * (moment - begins))
        if moment < caught_up + rests:
            return max(0.0, grows * lasts - drain * (moment - begins - lasts))
        return again * (moment - caught_up - rests)

    return at, caught_up + rests + 10 * every


@pytest.mark.parametrize(("every", "jitter"), [(10.0, 0.3), (60.0, 0.3), (60.0, 3.0)])
def test_a_trend_that_is_told_is_right(every, jitter):
    """Of 200 lags of two episodes. What turned after the last look but one is not to be known."""
    random, told, wrong, could = Random(7), 0, 0, 0
    for _ in range(200):
        at, end = episodes(random, every)
        seen = []
        for number in range(int(end / every)):
            moment = every * (number + random.uniform(-0.05, 0.05))
            true, before = at(moment) - at(moment - 0.01), at(moment) - at(moment - every)
            seen.append(
                Sample(START + moment, max(0.0, at(moment) + random.gauss(0, jitter)), at_least=False)
            )
            found = trend(seen)
            could += true != 0 and at(moment) > 3
            if found and found.is_clear and seen[-1].lag >= 1:
                told += 1
                wrong += found.slope * true < 0 and found.slope * before < 0
    assert told > 0.8 * could
    assert wrong < 0.003 * told


def test_noise_does_not_bend_a_line():
    noisy = [100.0, 160.0, 140.0, 220.0, 190.0, 260.0]
    assert 0.3 < trend(samples(noisy)).slope < 0.7


def test_a_bad_sample_bends_nothing():
    found = trend(samples([60.0, 90.0, 0.0, 150.0, 180.0, 210.0]))
    assert found.slope == pytest.approx(0.5)


def test_a_lower_bound_is_no_sample():
    assert trend(samples([10.0, 20.0, 30.0, 40.0, 50.0, 60.0], at_least=True)) is None
    mixed = samples([0.0] * 5, at_least=True) + samples([10.0] * 9)[5:]
    assert trend(mixed).samples == 4


def test_a_lag_that_jumps_faster_than_time_begins_anew():
    assert trend(samples([0.0] * 10 + [86_400.0] * 2)) is None
    assert trend(samples([0.0] * 10 + [86_400.0] * 3)).slope == 0


def test_a_clock_that_went_back_begins_anew():
    early = samples([0.0] * 10)
    late = [Sample(at - 3600, seconds, known) for at, seconds, known in samples([50.0] * 2)]
    assert trend(early + late) is None


def test_no_lag_falls_behind():
    """A replica with a delay: what it was behind while that was set up is over."""
    found = trend(samples([0.0, 5.0, 10.0, 15.0, 20.0, 0.0], every=5.0))
    assert found is None or found.slope <= 0
    for over in (0.3, 6.0):  # after a black hole, on MySQL 9.7.4
        found = trend(samples([12.0, 24.0, 36.0, 48.0, over], every=12.0))
        assert direction(found, lag(over)) == ""
    assert direction(Trend(1.0, 240.0, 5), lag(0.0)) == ""
    assert breach(Trend(1.0, 240.0, 5), lag(0.0), within(1e9)) == ""


def test_nothing_to_catch_up_is_not_told():
    assert direction(Trend(-1.0, 240.0, 5), lag(0.0)) == ""
    assert direction(None, lag(5.0)) == ""
    assert direction(Trend(1.0, 240.0, 5), lag(None)) == ""


@given(
    slope=st.floats(-3, 1),
    start=st.floats(3, 1e6),
    every=st.floats(1, 3600),
    count=st.integers(5, 60),
    bad=st.integers(0, 4),
)
@example(slope=1e-16, start=3.0, every=1.0, count=9, bad=0)
def test_a_straight_line_is_found_whatever_one_sample_says(slope, start, every, count, bad):
    lags = [start + (3 * 3600 * 60 if slope < 0 else 0) + slope * every * number for number in range(count)]
    lags[-1 - bad] -= 1.0
    found = trend(samples(lags, every))
    assert found is not None
    assert found.slope == pytest.approx(slope, abs=1.1 / every)
    assert found.samples <= 15


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.booleans()), max_size=60))
def test_no_samples_break_it(raw):
    found = trend([Sample(*one) for one in raw])
    direction(found, lag(100.0))
    crossing(found, lag(100.0), LIMITS)
    breach(found, lag(100.0), within(1e6))


def test_an_end_is_told_in_whole_seconds():
    assert direction(Trend(-1.0, 240.0, 5), lag(0.26)) == ", catching up, done in 1 s"
    assert crossing(Trend(1.0, 240.0, 5), lag(33.17), LIMITS) == "WARNING in 27 s"
