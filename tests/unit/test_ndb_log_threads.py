"""Threads of a data node: who held up one that was stuck, and how long those that wait for a lock spin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.ndb_log.stuck import judge
from stallwatch.probes.ndb_log.threads import spins_per_contention

WRAP = 2**32


def test_growing_system_time_of_the_process_is_probably_a_busy_os_kernel():
    assert str(judge(0, 0.03, 0.3, own=False)) == "probably OS kernel busy (system 0.10 core, user 0)"


def test_growing_user_time_of_the_process_is_probably_a_busy_ndb_kernel():
    assert str(judge(0.82, 0.01, 2.3, own=False)) == "probably NDB kernel busy (user 0.36 core, system 0)"


def test_flat_times_of_the_process_mean_that_it_probably_did_not_run():
    assert str(judge(0.03, 0, 2.8, own=False)) == "probably process not running (no CPU time)"


def test_times_of_the_thread_itself_make_a_verdict_certain():
    assert str(judge(0.929476, 0.011863, 2.526, own=True)) == "NDB kernel busy (user 0.37 core, system 0)"


def test_a_thread_may_be_off_the_processor_while_its_process_is_busy():
    assert str(judge(0.000008, 0.000018, 3.008, own=True, busy=True)) == "process not running (no CPU time)"


def test_more_than_one_core_cannot_be_the_stuck_thread_alone():
    verdict = judge(1.8, 0.3, 1, own=False)
    assert str(verdict) == (
        "cause unclear (process busy: user 1.80, system 0.30 core, and no times of the thread itself)"
    )
    assert verdict.advice == "check ndbinfo.threadstat"


def test_a_busy_node_without_the_threads_own_times_leaves_the_cause_open():
    assert judge(0.36, 0, 1, own=False, busy=True).who == "cause unclear"


def test_a_busy_node_whose_process_stands_still_did_not_run():
    assert judge(0.01, 0, 1, own=False, busy=True).who == "probably process not running"


def test_a_mixture_of_user_and_system_time_leaves_the_cause_open():
    assert str(judge(0.2, 0.15, 1, own=True)) == "cause unclear (a mixture: user 0.20, system 0.15 core)"


def test_twice_as_much_system_as_user_time_is_enough():
    assert judge(0.1, 0.2, 1, own=True).who == "OS kernel busy"
    assert judge(0.1, 0.19, 1, own=True).who == "cause unclear"


def test_four_reports_are_enough_and_three_are_too_few():
    assert judge(0, 0.03, 0.3, own=False).who == "probably OS kernel busy"
    assert judge(0, 0.02, 0.2, own=False).who == "too short to judge"


def test_each_verdict_has_its_own_advice():
    assert "swapping, VM steal, CPU quota" in judge(0, 0, 1, own=True).advice
    assert "memory compaction" in judge(0, 1, 1, own=True).advice
    assert "its load in ndbinfo.threadstat" in judge(1, 0, 1, own=True).advice


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
