"""What growth is, and whether a limit of it is kept."""

from pathlib import Path

import pytest
from generators.growth import SUBJECTS
from generators.growth_power import power

pytestmark = pytest.mark.only_in_all_cells  # the benches and their page

BENCH = Path(__file__).parents[1] / "bench"
DECADES = [1, 10, 100, 1000]
NODES = [2, 6, 12, 24, 48, 96, 144]
START = 0.036  # seconds, much more than what is looked at costs


@pytest.fixture(scope="module")
def limits(bench_modules):
    return bench_modules("growth_limits")


@pytest.fixture
def growing(bench_modules):
    """A part that keeps nothing."""
    return bench_modules("measured").Bench("growth_ndb")


@pytest.mark.parametrize("sizes", [DECADES, NODES])
@pytest.mark.parametrize("true", [0.5, 1, 1.3, 2])
@pytest.mark.parametrize("more", [0.5, 2, 100])
def test_the_power_is_that_of_what_is_above_the_start(sizes, true, more):
    costs = [START * (1 + more * (size / max(sizes)) ** true) for size in sizes]
    assert power(sizes, costs) == pytest.approx(true)


def test_a_start_that_costs_more_hides_no_quadratic_growth():
    assert power(NODES, [START + 5e-6 * nodes**2 for nodes in NODES]) == pytest.approx(2)


@pytest.mark.parametrize("costs", [(36, 36, 36, 36), (36, 37, 36, 38), (40, 38, 37, 30)])
def test_noise_and_what_gets_cheaper_do_not_grow(costs):
    assert power(DECADES, costs) == 0


def measured(bench_modules, costs, memory=None):
    """Runs of one check: costs by size, a number for each round."""
    cost = bench_modules("starter").Cost
    memory = memory or {size: [12.0] * len(each) for size, each in costs.items()}
    return {
        size: [cost(0, one, 1.0, most) for one, most in zip(each, memory[size], strict=True)]
        for size, each in costs.items()
    }


def grown(true, rounds=(1.0, 1.02, 0.99, 1.01)):
    """Costs that grow by this power, on a machine that is not always as fast."""
    return {size: [one * (START + 5e-4 * size**true) for one in rounds] for size in NODES}


def test_what_is_linear_is_within_the_limit_and_the_dearest_is_named(bench_modules, limits, growing):
    limits.linear(
        growing, {"one": measured(bench_modules, grown(0.5)), "other": measured(bench_modules, grown(1))}
    )
    assert growing.budgets == [
        {
            "what": "2 to 144 data nodes: processor time at twice the size, above the start; "
            "the worst is other",
            "found": 2.0,
            "limit": 2.15,
            "unit": "times",
            "kept": True,
        }
    ]


def test_one_check_of_several_that_is_steeper_breaks_the_limit(bench_modules, limits, growing):
    limits.linear(
        growing, {"one": measured(bench_modules, grown(1)), "other": measured(bench_modules, grown(1.3))}
    )
    [budget] = growing.budgets
    assert (budget["kept"], budget["found"]) == (False, pytest.approx(2**1.3, abs=0.001))


def test_rounds_that_were_disturbed_break_no_limit_and_most_of_them_do(bench_modules, limits, growing):
    five = (1.0, 1.02, 0.99, 1.01, 0.98)
    linear, steep = grown(1, five), grown(2, five)
    for disturbed in (1, 2, 3):
        costs = {size: [*steep[size][:disturbed], *linear[size][disturbed:]] for size in NODES}
        limits.linear(growing, {"check": measured(bench_modules, costs)})
    assert [budget["kept"] for budget in growing.budgets] == [True, True, False]


def test_one_round_is_judged_too(bench_modules, limits, growing):
    limits.linear(growing, {"check": measured(bench_modules, grown(2, rounds=(1.0,)))})
    assert not growing.budgets[0]["kept"]


def test_what_should_be_flat_may_not_grow(bench_modules, limits, growing):
    costs = {2: [1.0, 1.0, 9.0], 144: [1.2, 1.2, 1.2]}
    memory = {2: [10.0] * 3, 144: [20.0] * 3}
    found = {"check": measured(bench_modules, costs, memory)}
    limits.flat(growing, found)
    limits.flat(growing, found, "memory")
    assert [(budget["found"], budget["kept"]) for budget in growing.budgets] == [(1.2, True), (2.0, False)]
    assert growing.budgets[1]["what"] == (
        "2 to 144 data nodes: memory at one size, of that at another; the worst is check"
    )


def test_each_subject_has_its_part():
    assert {path.stem for path in BENCH.glob("growth_*.py")} == {
        "growth_limits",
        *(f"growth_{subject}" for subject in SUBJECTS),
    }


def test_a_log_that_the_disk_has_no_room_for_is_left_out(bench_modules, tmp_path, monkeypatch):
    log = bench_modules("growth_log")
    part = bench_modules("measured").Bench("growth_log")
    part.folder = tmp_path
    monkeypatch.setattr(log.shutil, "disk_usage", lambda _: type("Disk", (), {"free": 5_000_000_000}))
    assert log.sizes(part) == [1, 10, 100, 1000]
    assert part.left_out == ["a log of 10000 MB: 4000 MB are free for logs"]


@pytest.mark.parametrize("megabytes", [5, -1000])
def test_a_disk_with_room_for_one_log_or_none_ends_without_figures(bench_modules, monkeypatch, megabytes):
    log = bench_modules("growth_log")
    free = (log.SPARE + megabytes) * log.MEGABYTE
    monkeypatch.setattr(log.shutil, "disk_usage", lambda _: type("Disk", (), {"free": free}))
    with pytest.raises(
        SystemExit, match=f"nothing could be measured: logs of 2 sizes or more: {megabytes} MB"
    ):
        log.main()


def test_a_log_is_rotated_from_where_it_was_read_to_each_time(bench_modules, tmp_path):
    log = bench_modules("growth_log").Log(tmp_path, 1)
    log.state.mkdir()
    (log.state / "cursor").write_text("read")
    log.keep()
    for _ in range(2):
        log.rotate()
        assert (log.state / "cursor").read_text() == "read"
        assert log.path.read_bytes() == log.new
        assert log.rotated.stat().st_size == log.size + len(log.new)
        (log.state / "cursor").write_text("read on")
