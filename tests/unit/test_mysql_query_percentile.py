"""Percentiles by nearest rank."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.mysql_query.probe import percentile

VALUES = st.lists(st.floats(0, 1e6), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("number", "p50", "p95"),
    [(1, 1, 1), (2, 1, 2), (3, 2, 3), (10, 5, 10), (19, 10, 19), (20, 10, 19), (21, 11, 20), (40, 20, 38)],
)  # fmt: skip
def test_it_is_the_nearest_rank(number, p50, p95):
    values = range(number, 0, -1)
    assert percentile(values, 50) == p50
    assert percentile(values, 95) == p95


def test_one_slow_run_of_20_is_not_in_the_p95():
    assert percentile([0.001] * 19 + [30.0], 95) == 0.001
    assert percentile([0.001] * 18 + [30.0], 95) == 30.0


@given(VALUES, st.integers(1, 100))
def test_it_is_measured_and_so_many_do_not_exceed_it(values, share):
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) * 100 >= share * len(values)
    assert sum(value < found for value in values) * 100 < share * len(values)
