import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.ndb_log.threads import spins_per_contention

WRAP = 2**32


def test_the_articles_harmless_example_spins_27_6_times():
    assert spins_per_contention([6000, 489200], [6200, 494721]) == pytest.approx(27.605)


def test_the_articles_bad_example_spins_24529_times():
    assert spins_per_contention([145000, 3280892543], [150000, 3403539479]) == pytest.approx(24529.3872)


def test_a_first_report_says_nothing():
    assert spins_per_contention(None, [6000, 489200]) is None


def test_the_spins_may_wrap_alone():
    assert spins_per_contention([5000, WRAP - 1000], [10000, 4000]) == 1.0


def test_the_contentions_may_wrap_too():
    assert spins_per_contention([WRAP - 2000, 10], [3000, 50_010]) == 10.0


def test_counters_that_begin_anew_say_nothing():
    assert spins_per_contention([145000, 3280892543], [200, 9000]) is None


def test_the_first_contentions_printed_one_by_one_say_nothing():
    assert spins_per_contention([7, 30_000], [8, 90_000]) is None


@given(
    st.integers(0, WRAP - 1), st.integers(0, WRAP - 1), st.sampled_from([200, 5000]), st.integers(0, 400_000)
)
def test_wherever_the_counters_stand_the_difference_is_what_was_added(contentions, spins, more, each):
    after = [(contentions + more) % WRAP, (spins + more * each) % WRAP]
    assert spins_per_contention([contentions, spins], after) == each
