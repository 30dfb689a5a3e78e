import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.shared import theil_sen


def test_points_on_a_line_have_its_slope():
    assert theil_sen([(0, 1.0), (1, 3.0), (5, 11.0)]) == 2


def test_two_points_are_enough():
    assert theil_sen([(10, 4.0), (20, -1.0)]) == -0.5


def test_the_middle_of_an_even_number_is_between_two():
    assert theil_sen([(0, 0.0), (1, 1.0), (2, 0.0), (3, 9.0)]) == 2  # 1, 0, 3, -1, 4, 9


def test_bad_points_do_not_bend_it():
    points = [(float(x), 3.0 * x) for x in range(10)]
    points[2] = (2.0, 1e6)
    points[7] = (7.0, -1e6)
    assert theil_sen(points) == 3


numbers = st.floats(-1000, 1000)


@given(numbers, numbers, st.lists(st.integers(0, 1000), min_size=2, max_size=12, unique=True))
def test_any_line_has_its_slope(start, steep, moments):
    points = [(float(at), start + steep * at) for at in moments]
    assert theil_sen(points) == pytest.approx(steep, abs=1e-6)
