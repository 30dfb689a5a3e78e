"""What a receiver or an applier that does not run means for the state of its channel."""

import pytest
from fake_replica import healthy_row
from stallwatch.findings import State
from stallwatch.probes.replication_lag.diagnosis import Criteria, Diagnosis, diagnose
from stallwatch.probes.replication_lag.history import History
from stallwatch.probes.replication_lag.lag import Lag
from stallwatch.probes.replication_lag.model import ChannelSnapshot, Thread
from stallwatch.probes.replication_lag.queries import channel

CRITERIA = Criteria(120.0, 7200.0, horizon=0.0, seconds_until=lambda *_: None)


def of(receiver="Yes", applier="Yes", errno=0):
    row = healthy_row(Replica_IO_Running=receiver, Replica_SQL_Running=applier, Last_SQL_Errno=errno)
    return channel(row)


def judged(one, connecting=0.0, stopped=0.0, *, backup=None):
    known = ChannelSnapshot(one, now=0.0, net_timeout=60.0)
    return Diagnosis(known, Lag(0.0), connecting, stopped, backup=backup).state(CRITERIA)


@pytest.mark.parametrize(
    ("one", "state"),
    [
        (of(), State.OK),
        (of(applier="No"), State.CRITICAL),
        (of(applier="No", errno=1062), State.CRITICAL),
        (of(receiver="No"), State.CRITICAL),
        (of(receiver="Connecting"), State.WARNING),
        (of(receiver="Preparing"), State.WARNING),  # MariaDB
        (of(receiver="Something new"), State.CRITICAL),
        (of(receiver=""), State.CRITICAL),
    ],
)
def test_a_thread_that_does_not_run_is_critical_one_that_connects_may_heal(one, state):
    assert judged(one) is state


def test_connecting_for_longer_than_the_grace_is_critical():
    connecting = of(receiver="Connecting")
    assert judged(connecting, connecting=120) is State.WARNING
    assert judged(connecting, connecting=121) is State.CRITICAL


def test_a_running_backup_excuses_a_stopped_applier_for_its_grace():
    stopped = of(applier="No")
    assert judged(stopped, stopped=7200, backup=60.0) is State.WARNING
    assert judged(stopped, stopped=7201, backup=60.0) is State.CRITICAL
    assert judged(stopped, backup=7201.0) is State.CRITICAL  # without a memory its own age counts


def test_a_running_backup_excuses_no_error_and_no_stopped_receiver():
    assert judged(of(applier="No", errno=1062), backup=60.0) is State.CRITICAL
    assert judged(of(receiver="No"), backup=60.0) is State.CRITICAL


@pytest.mark.parametrize("number", [1045, 1129, 1130, 1862, 2059, 3118, 4151])
def test_a_source_that_refuses_us_is_critical_at_the_second_look(number):
    """A source that was down before, and refuses us now, may still do so for a moment only."""
    kept = {}
    looks = ((0, 2003, "WARNING"), (60, number, "WARNING"), (65, number, "CRITICAL"))
    for at, errno, state in looks:
        row = healthy_row(Replica_IO_Running="Connecting", Last_IO_Errno=errno)
        known = ChannelSnapshot(channel(row), now=at, net_timeout=60.0)
        assert diagnose(known, History(kept, at)).state(CRITERIA) is State[state]


def test_an_excused_applier_does_not_hide_a_receiver_that_has_been_connecting_for_too_long():
    both = of(receiver="Connecting", applier="No")
    assert judged(both, connecting=121, stopped=121, backup=60.0) is State.CRITICAL


def test_a_thread_keeps_the_words_of_its_server():
    error = "error connecting to master"
    healthy = healthy_row(Replica_IO_Running="Connecting", Replica_IO_State="Connecting to master")
    row = {name.replace("Replica", "Slave").replace("Source", "Master"): of for name, of in healthy.items()}
    row |= {"Last_IO_Errno": 2003, "Last_IO_Error": error}
    assert channel(row).receiver == Thread("Connecting", "Connecting to master", 2003, error)
