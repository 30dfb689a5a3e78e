"""Every module of tests is in one group, and the shares of workers are whole modules, the longest first."""

from collections import Counter
from pathlib import Path

import groups
import pytest

TESTS = Path(__file__).parents[1]
MODULES = sorted(str(path.relative_to(TESTS)) for path in TESTS.rglob("test_*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_in_one_group(module):
    assert sum(module.startswith(group.paths) for group in groups.GROUPS.values()) == 1


def test_the_docstring_s_example_is_true():
    of = "tests/live/test_live_replication_states.py::test_a_dead_port[mysql]"
    assert groups.unit_of(of) == "live/test_live_replication_states.py[mysql]"


def test_no_start_of_a_path_is_for_nothing():
    starts = [start for group in groups.GROUPS.values() for start in group.paths]
    assert [start for start in starts if not any(module.startswith(start) for module in MODULES)] == []


def test_a_module_that_is_in_no_group_is_named():
    with pytest.raises(LookupError, match=r"tests/elsewhere/test_x\.py is in no group: add it to"):
        groups.group_of("elsewhere/test_x.py")


def test_the_kinds_of_a_module_are_units_where_their_servers_are_apart():
    of = "tests/live/test_live_replication_lag.py::test_x"
    assert groups.unit_of(f"{of}[mysql]") == "live/test_live_replication_lag.py[mysql]"
    assert groups.unit_of(f"{of}[2-mariadb]") == "live/test_live_replication_lag.py[mariadb]"
    assert groups.unit_of(f"{of}[a mysql server]") == "live/test_live_replication_lag.py"
    assert groups.unit_of(of) == "live/test_live_replication_lag.py"
    assert groups.unit_of("tests/hostile/test_x.py::test_x[mysql]") == "hostile/test_x.py"


LIVE = ["live/test_live_ndb_a.py", "live/test_live_ndb_b.py", "live/test_live_ndb_c.py"]


def test_modules_share_a_worker_until_it_has_enough():
    tests = [f"tests/{module}::test_{number}" for module in LIVE for number in range(2)]
    enough = groups.GROUPS["ndb"].share
    seconds = {LIVE[0]: 100, LIVE[1]: enough - 101, LIVE[2]: 2}
    shared = groups.shares(tests, seconds)
    assert list(shared) == tests
    assert list(shared.values()) == [LIVE[0]] * 4 + [LIVE[2]] * 2


def test_the_longest_share_comes_first_and_an_unknown_module_is_long():
    tests = [f"tests/{module}::test_x" for module in LIVE]
    long = groups.GROUPS["ndb"].share
    shared = groups.shares(tests, {LIVE[0]: long - 10, LIVE[1]: long + 10})
    assert list(shared.values()) == [LIVE[1], LIVE[2], LIVE[0]]


def test_kinds_do_not_share():
    module = "live/test_live_replication_x.py"
    tests = [f"tests/{module}::test_x[{kind}]" for kind in ("mariadb", "mysql")] + [f"tests/{module}::test_y"]
    seconds = {f"{module}[mariadb]": 1, f"{module}[mysql]": 1, module: 1}
    assert len(Counter(groups.shares(tests, seconds).values())) == 3


def test_the_expected_time_is_that_of_the_busiest_worker():
    seconds = {"unit/test_a.py": 30, "unit/test_b.py": 20, "unit/test_c.py": 15, LIVE[0]: 100}
    assert groups.expected(seconds.keys() - {LIVE[0]}, seconds, 2) == 35
    assert groups.expected(seconds.keys(), seconds, 2) == 100


def test_a_module_that_was_not_measured_counts_as_the_average_of_its_group():
    seconds = {LIVE[0]: 100, LIVE[1]: 60, "unit/test_a.py": 5}
    assert groups.expected({*LIVE, "unit/test_a.py"}, seconds, 1) == 100 + 60 + 80 + 5
    assert groups.expected(LIVE[2:], {}, 1) == groups.GROUPS["ndb"].share
    kinds = {f"live/test_live_replication_x.py[{kind}]": 10 for kind in ("mariadb", "mysql")}
    assert groups.expected(["live/test_live_replication_x.py"], kinds, 1) == 20
