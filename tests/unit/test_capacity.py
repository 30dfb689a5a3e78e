"""What engines sustain: when a rate counts as sustained, how the highest is found, and what the page says."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from generators import capacity

pytestmark = pytest.mark.only_in_all_cells  # the benches and their page

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(Path(__file__).parents[1] / "bench")
    import capacity_search
    import capacity_trial
    from capacity_engines import INTERVAL, Result
    from capacity_trial import Trial, percentile

TRIAL = Trial(
    asked=100.0,
    done=99.0,
    after=0.2,
    late=0.4,
    slow=0.3,
    failed=0.0,
    busy=0.98,
    engine=1.5,
    check=16.04,
    server=2.0,
)
LATE = TRIAL._replace(late=1.2)


def at(rate):
    """A trial at another rate that is sustained."""
    return TRIAL._replace(asked=rate, done=0.99 * rate, busy=0.5)


@pytest.mark.parametrize(
    ("changed", "sustained"),
    [
        ({}, True),
        ({"done": 97.0}, True),
        ({"done": 96.9}, False),
        ({"done": 103.0}, True),
        ({"done": 103.1}, False),  # more than is due: made up for, or not yet in its place
        ({"late": 0.99}, True),
        ({"late": 1.0}, False),
        ({"failed": 0.001}, False),
    ],
)
def test_all_that_is_due_is_to_be_done_in_time_and_ok(changed, sustained):
    assert TRIAL._replace(**changed).sustained is sustained


@pytest.mark.parametrize(
    ("share", "numbers", "found"),
    [(0.95, range(1, 101), 95), (0.95, [3, 1, 2], 3), (0.5, [3, 1, 2], 2), (0.95, [], math.inf)],
)
def test_a_percentile_is_not_exceeded_by_that_share(share, numbers, found):
    assert percentile(numbers, share) == found


def searched(sustained):
    """Search where ``sustained`` says of a rung and how often it was tried whether it is: the rungs tried."""
    tried, order = {}, []
    while (rung := capacity_search.following(tried)) is not None:
        trials = tried.setdefault(rung, [])
        trials.append(TRIAL if sustained(rung, len(trials)) else LATE)
        order.append(rung)
    return capacity_search.highest(tried), order


@pytest.mark.parametrize("limit", range(-5, 6))
def test_the_highest_is_found_wherever_the_guess_is_and_tried_twice_as_is_the_next(limit):
    found, order = searched(lambda rung, _: rung <= limit)
    assert found == limit
    assert [order.count(rung) for rung in (limit, limit + 1)] == [2, 2]


def test_a_good_guess_takes_four_trials():
    assert searched(lambda rung, _: rung <= 0)[1] == [0, 1, 0, 1]


@pytest.mark.parametrize("unlucky", [-1, 0, 1, 2])
def test_one_trial_of_bad_luck_does_not_lower_what_is_found(unlucky):
    assert searched(lambda rung, before: rung <= 1 and (rung, before) != (unlucky, 0))[0] == 1


@pytest.mark.parametrize("lucky", [1, 2])
def test_one_trial_of_good_luck_does_not_raise_it(lucky):
    assert searched(lambda rung, before: rung <= 0 or (rung, before) == (lucky, 0))[0] == 0


def test_where_trials_disagree_for_long_a_lower_rate_is_found():
    found, order = searched(lambda rung, before: rung < 0 or (rung == 0 and before % 2 == 0))
    assert found == -1
    assert order.count(0) == capacity_search.UNDECIDED


def test_a_search_ends_where_nothing_is_sustained():
    found, order = searched(lambda *_: False)
    assert found is None
    assert len(order) == capacity_search.TRIALS


def test_a_trial_tells_of_a_rate_that_was_sustained_in_it():
    lucky, later = at(10.0), TRIAL
    assert capacity_search.told({0: [lucky, later, LATE], 1: [LATE]}) is later
    assert capacity_search.told({0: [LATE], -1: [LATE._replace(asked=9.0)]}).asked == 9.0


def test_it_is_sure_once_two_trials_more_agree_on_the_highest_and_on_the_next():
    ok, late = [TRIAL], [LATE]
    assert capacity_search.is_sure({0: 2 * ok, 1: 2 * late})
    assert capacity_search.is_sure({0: 2 * ok + late + ok, 1: 2 * late})
    assert not capacity_search.is_sure({0: ok, 1: 2 * late})
    assert not capacity_search.is_sure({0: 2 * ok, 1: late})
    assert not capacity_search.is_sure({0: 2 * ok, 2: 2 * late})
    assert not capacity_search.is_sure({0: 2 * late})


class Engine:
    """An engine that does so many checks a second in one window after the other."""

    settling = 0

    def __init__(self, *done):
        self.rates = list(done)
        self.process = SimpleNamespace(family=[])


@pytest.fixture
def trials(tmp_path, monkeypatch):
    """Trials with engines that do what a test says; gives what an engine of such rates comes to."""

    class Windows(capacity_trial.Trials):
        def _window(self, engine, due, hopeless):
            return TRIAL._replace(asked=due, done=engine.rates.pop(0))

    def run(*rates):
        class Running(Engine):
            def __init__(self, *_):
                super().__init__(*rates)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

        monkeypatch.setitem(capacity_trial.ENGINES, "some", Running)
        return Windows(tmp_path, ()).run("some", [], 100, 16)

    return run


def test_where_more_is_done_than_is_due_it_is_counted_again_later(trials):
    assert trials(110, 99).done == 99
    assert trials(99, 110).done == 99
    assert not trials(110, 110).sustained


def test_what_is_due_is_what_its_services_come_to(trials):
    assert trials(99.0).asked == 100
    assert capacity_trial.services(0.1) == 1
    assert capacity_trial.services(33.3) == 67


class Read(capacity_trial.Trials):
    """Trials that read these clocks, which stand some seconds apart."""

    def __init__(self, *clocks):
        super().__init__("", ())
        self.clocks = list(clocks)

    def _read(self, _):
        return self.clocks.pop(0)


class Told:
    """An engine whose services had these results."""

    def __init__(self, *results):
        self.last = lambda: [Result(*one, took=one[0] / 2) for one in results]


def clock(number, done):
    """A clock after so many intervals, with so many checks done: 2, 20 and 3 ms each, on 2 processors."""
    passed = number * INTERVAL
    return capacity_trial.Clock(
        done, 0.002 * done, 0.020 * done, 0.003 * done, busy=passed, all=2 * passed, time=passed
    )


def test_a_window_is_counted_between_its_first_and_its_last_look():
    due = 10 * INTERVAL
    clocks = [clock(number, 7 + due * number) for number in range(capacity_trial.INTERVALS + 1)]
    results = [(0.1, False), (0.3, False), (0.9, True)]
    found = Read(*clocks)._window(Told(*results), due=10, hopeless=0.85)
    assert (found.asked, found.done, found.busy) == (10, 10, 0.5)
    assert (found.after, found.late, found.slow, round(found.failed, 2)) == (0.3, 0.9, 0.45, 0.33)
    assert [round(of, 6) for of in (found.engine, found.check, found.server)] == [2, 20, 3]


def test_a_window_that_is_far_behind_is_not_looked_at_to_its_end():
    reading = Read(clock(0, 0), clock(1, 1), clock(2, 2), clock(3, 3))
    found = reading._window(Told(), due=10, hopeless=0.85)
    assert len(reading.clocks) == 1
    assert found.done == 1 / INTERVAL
    assert not found.sustained
    assert found.late == math.inf  # nothing came


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """What was measured, which a test may add to."""

    def tables(part="capacity", **rows):
        path = tmp_path / f"{part}.json"
        found = [{"title": title, "rows": of} for title, of in rows.items()]
        path.write_text(json.dumps({"machine": {"processors": 2}, "tables": found}))
        monkeypatch.setattr(capacity, "RESULTS", tmp_path)

    return tables


def row(name, trial=TRIAL, **more):
    return {"name": name, **trial.kept(), "sustained": trial.sustained, "sure": True, **more}


SKETCH = {"name": "check_jmx", "anew": 40.0, "loaded": 10.0, "empty": 1.3}


def test_a_command_has_what_each_engine_sustains_and_what_a_check_costs(measured):
    late = LATE._replace(asked=9.04)
    measured(
        Icinga=[row("check_jmx"), row("check_mysql", late)],
        Nagios=[row("check_jmx"), row("check_mysql")],
    )
    head, _, sustained, missed = capacity.part("sustained").splitlines()
    assert head == "| command | Icinga: a second | busy | ms each | Nagios: a second | busy | ms each |"
    cells = "100 | 98% | 1.5 + 16.0 + 2.0"
    assert sustained == f"| `check_jmx` | {cells} | {cells} |"
    assert missed.startswith("| `check_mysql` | not even 9.0 | 98% |")


def said(measured, **rows):
    measured(Icinga=[row("python3 -I -S, left at once", at(250.0)), *rows.values()], fork=[SKETCH])
    return " ".join(capacity.part("said").split())


def test_what_is_said_has_the_numbers(measured):
    text = said(measured, jmx=row("check_jmx"))
    assert "It takes 75% of `check_jmx`" in text
    assert "there are 250 with Icinga a second" in text
    # 19.54 ms, of which 16.04 x 3/4 are the start
    assert "processor time for 2.6 times the `check_jmx` with Icinga." in text
    # of 98 % of two processors, 99 x 19.54 ms
    assert "At most 1% of the processors' time was spent on something else" in text


def test_what_many_services_come_to_is_reckoned_as_an_example(measured):
    text = said(measured, jmx=row("check_jmx"), lag=row("check_replication_lag", at(50.0)))
    # 1000 / 60 x (1.5 + 16.04 + 2.0) ms / 2 processors
    assert (
        "**Icinga.** 1,000 services that are checked every minute are 17 checks a second. Where each is "
        "`check_replication_lag`, at 20 ms in all, that is 16% of these 2 processors; what is sustained is "
        "50 a second, 3,000 services a minute." in text
    )


def test_a_rate_that_too_few_trials_agree_on_is_no_more_than_about_right(measured):
    measured(Icinga=[row("check_jmx", sure=False)])
    assert capacity.part("sustained").splitlines()[2].startswith("| `check_jmx` | some 100 |")


def test_what_an_engine_could_not_be_tried_with_is_empty(measured):
    measured(Icinga=[row("check_mysql")], Nagios=[row("check_jmx")])
    [mysql, jmx] = capacity.part("sustained").splitlines()[2:]
    assert mysql == "| `check_mysql` | 100 | 98% | 1.5 + 16.0 + 2.0 |  |  |  |"
    assert jmx == "| `check_jmx` |  |  |  | 100 | 98% | 1.5 + 16.0 + 2.0 |"


def test_what_an_engine_does_that_is_asked_for_more_names_its_bound(measured):
    measured(beyond=[row("Icinga", at_once=bound) for bound in (16, 0)])
    rows = capacity.part("beyond").splitlines()[2:]
    assert rows == ["| Icinga | 16 | 100 | 99 | 98% |", "| Icinga | all that are due | 100 | 99 | 98% |"]


def test_a_check_that_needs_no_start_stands_beside_the_one_that_does(measured):
    measured(fork=[SKETCH])
    assert capacity.part("fork").splitlines()[2:] == ["| `check_jmx` | 40.0 | 10.0 | 1.3 |"]


def warm(measured):
    lag, easy = "check_replication_lag", {"slow": 0.0621}
    cold, fast = row(lag, at(48.0), **easy), row(f"{lag}, stallwatchd", at(270.0), memory=81.2, **easy)
    measured("warm", Icinga=[cold, fast], Nagios=[row(f"{lag}, stallwatchd", at(400.0), memory=79.0, **easy)])


def test_what_is_sustained_with_stallwatchd(measured):
    warm(measured)
    head, _, cold, fast, nagios = capacity.part("warm").splitlines()
    assert head.startswith("| engine | command | a second | busy | ms each |")
    assert cold == "| Icinga | `check_replication_lag` | 48 | 50% | 1.5 + 16.0 + 2.0 | 62 ms |  |"
    assert fast.startswith("| Icinga | `check_replication_lag`, stallwatchd | 270 | ")
    assert fast.endswith(" | 62 ms | 81 MiB |")
    assert nagios.startswith("| Nagios | `check_replication_lag`, stallwatchd | 400 | ")


def test_what_a_large_site_needs(measured):
    warm(measured)
    text = " ".join(capacity.part("site").split())
    assert text.startswith("20,000 services that are checked every minute are 333 checks a second.")
    assert "- Icinga without it: 9 endpoints like this machine" in text
    assert "- Icinga with stallwatchd: 2 endpoints like" in text
    assert text.endswith("- Nagios with stallwatchd: 2 pollers like this machine")
