from stallwatch.probes.ndb_log.watchdog import judge


def test_growing_system_time_of_the_process_is_probably_a_busy_os_kernel():
    assert str(judge(0, 0.03, 0.3, own=False)) == "probably OS kernel busy (system time 0.10 core, user 0)"


def test_growing_user_time_of_the_process_is_probably_a_busy_ndb_kernel():
    assert (
        str(judge(0.82, 0.01, 2.3, own=False)) == "probably NDB kernel busy (user time 0.36 core, system 0)"
    )


def test_flat_times_of_the_process_mean_that_it_probably_did_not_run():
    assert str(judge(0.03, 0, 2.8, own=False)) == "probably process not running (user and system time flat)"


def test_times_of_the_thread_itself_make_a_verdict_certain():
    assert (
        str(judge(0.929476, 0.011863, 2.526, own=True)) == "NDB kernel busy (user time 0.37 core, system 0)"
    )


def test_a_thread_may_be_off_the_processor_while_its_process_is_busy():
    assert (
        str(judge(0.000008, 0.000018, 3.008, own=True, busy=True))
        == "process not running (user and system time flat)"
    )


def test_more_than_one_core_cannot_be_the_stuck_thread_alone():
    verdict = judge(1.8, 0.3, 1, own=False)
    assert str(verdict) == (
        "cannot tell (process busy: user 1.80, system 0.30 core, and no times of the thread itself)"
    )
    assert verdict.advice == "look at ndbinfo.threadstat"


def test_a_busy_node_without_the_threads_own_times_leaves_the_cause_open():
    assert judge(0.36, 0, 1, own=False, busy=True).who == "cannot tell"


def test_a_busy_node_whose_process_stands_still_did_not_run():
    assert judge(0.01, 0, 1, own=False, busy=True).who == "probably process not running"


def test_a_mixture_of_user_and_system_time_leaves_the_cause_open():
    assert str(judge(0.2, 0.15, 1, own=True)) == "cannot tell (a mixture: user 0.20, system 0.15 core)"


def test_twice_as_much_system_as_user_time_is_enough():
    assert judge(0.1, 0.2, 1, own=True).who == "OS kernel busy"
    assert judge(0.1, 0.19, 1, own=True).who == "cannot tell"


def test_four_reports_are_enough_and_three_are_too_few():
    assert judge(0, 0.03, 0.3, own=False).who == "probably OS kernel busy"
    assert judge(0, 0.02, 0.2, own=False).who == "too short to tell"


def test_each_verdict_has_its_own_advice():
    assert "swapping, VM steal, CPU quota" in judge(0, 0, 1, own=True).advice
    assert "RealtimeScheduler=1, LockExecThreadToCPU" in judge(0, 1, 1, own=True).advice
    assert "which thread" in judge(1, 0, 1, own=True).advice
