"""Which events of logs are one incident, and which of them is the cause."""

from hypothesis import given
from hypothesis import strategies as st
from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.probes.ndb_log.events import Event, Kind, one_each
from stallwatch.probes.ndb_log.incidents import incidents

NOW = 1_790_000_000.0


def event(kind, node=4, ago=10.0, seconds=0.0, speaker=None, what="x", *, over=False):
    """Something that ended ``ago`` seconds ago."""
    finding = Reading("stuck", seconds, "s", what, "why", "advice", line=Line())
    return Event(kind, node, finding, NOW - ago - seconds, NOW - ago, over, seconds, speaker, cause=what)


def grouped(*events):
    """The kinds of each incident, its cause first."""
    return [[one.kind for one in incident.events] for incident in incidents(events)]


def test_what_a_node_says_of_itself_is_the_cause_of_what_others_say():
    stuck = event(Kind.STUCK, seconds=8)
    silent = event(Kind.SILENT, ago=8, seconds=3, speaker=1)
    assert grouped(silent, stuck) == [[Kind.STUCK, Kind.SILENT]]


def test_a_process_that_stood_still_is_the_cause_before_its_threads():
    assert grouped(event(Kind.LATE, seconds=5), event(Kind.STOOD_STILL, seconds=5)) == [
        [Kind.STOOD_STILL, Kind.LATE]
    ]


def test_another_node_is_another_incident():
    assert grouped(event(Kind.STUCK, node=3, seconds=5), event(Kind.SILENT, node=4, speaker=5)) == [
        [Kind.STUCK],
        [Kind.SILENT],
    ]


def test_a_node_whose_number_is_not_known_is_not_every_node():
    assert len(grouped(event(Kind.STUCK, node=None, seconds=9), event(Kind.ENDED, node=4))) == 2


def test_a_symptom_does_not_begin_before_its_cause():
    assert len(grouped(event(Kind.STUCK, ago=10, seconds=2), event(Kind.SILENT, ago=30))) == 2


def test_a_symptom_does_not_outlast_its_cause_by_more_than_a_minute():
    assert len(grouped(event(Kind.STUCK, ago=100, seconds=9), event(Kind.SILENT, ago=30))) == 2


def test_a_lag_that_is_far_longer_has_another_cause():
    stuck = event(Kind.STUCK, seconds=2)
    assert len(grouped(stuck, event(Kind.COMMIT, node=None, ago=9, seconds=40))) == 2
    assert len(grouped(event(Kind.STUCK, seconds=39), event(Kind.COMMIT, node=None, ago=9, seconds=40))) == 1


def test_a_disk_that_lags_on_any_node_delays_the_global_checkpoint():
    assert grouped(event(Kind.SAVE, node=3, seconds=20), event(Kind.REDO, node=4, ago=5, seconds=60)) == [
        [Kind.REDO, Kind.SAVE]
    ]


def test_a_node_that_lost_arbitration_ended_of_it():
    assert grouped(event(Kind.PARTED, ago=10), event(Kind.ENDED, ago=9.5)) == [[Kind.ENDED, Kind.PARTED]]


def test_nodes_that_ended_at_once_are_two_problems_unless_one_died_of_the_other():
    first, second = event(Kind.ENDED, node=3, ago=10), event(Kind.ENDED, node=4, ago=9)
    assert len(grouped(first, second)) == 2
    assert len(grouped(first, second._replace(speaker=3))) == 1


def test_two_standstills_with_a_minute_between_them_are_one_that_came_again():
    again = [event(Kind.STOOD_STILL, ago=ago, seconds=2, what=f"{ago}") for ago in (200, 150, 100, 50)]
    (incident,) = incidents(again)
    fault = incident.fault(lambda _: State.WARNING, NOW)
    assert fault.line.then == ", 4 times in 2 min 32 s"
    assert fault.line.more == ()


def test_the_worst_of_its_events_is_the_state_of_an_incident():
    (incident,) = incidents([event(Kind.STUCK, seconds=8, what="a"), event(Kind.LATE, seconds=8, what="b")])
    states = {Kind.STUCK: State.WARNING, Kind.LATE: State.CRITICAL}
    fault = incident.fault(lambda one: states[one.kind], NOW)
    assert (fault.state, fault.what, fault.line.more) == (State.CRITICAL, "a", ("b, why",))


def test_a_node_that_is_back_makes_an_incident_a_warning():
    ended = event(Kind.ENDED, ago=5, over=True)._replace(finding=Fault(State.WARNING, "ended", "error 6050"))
    (incident,) = incidents([event(Kind.STUCK, seconds=18, what="stuck"), ended])
    fault = incident.fault(lambda one: State.WARNING if one.over else State.CRITICAL, NOW)
    assert (fault.state, fault.what, fault.why) == (State.WARNING, "ended", "stuck")


def test_one_each_of_the_moments_that_are_close_together():
    assert one_each([10.0, 0.0, 1.5, 3.0, 10.1]) == [0.0, 3.0, 10.0]


def test_a_chain_of_moments_a_second_apart_is_not_one_instant():
    assert len(one_each([float(second) for second in range(60)])) == 20


events = st.builds(
    event,
    st.sampled_from(Kind),
    node=st.sampled_from([None, 3, 4]),
    ago=st.floats(0, 300),
    seconds=st.floats(0, 60),
    speaker=st.sampled_from([None, 1, 3, 4]),
    what=st.sampled_from("abc"),
    over=st.booleans(),
)


@given(st.lists(events, max_size=20))
def test_each_event_is_in_one_incident_whose_cause_is_of_the_strongest_kind(several):
    found = incidents(several)
    told = [one for incident in found for one in incident.events]
    assert sorted(told, key=repr) == sorted(several, key=repr)
    for incident in found:
        assert all(incident.cause.kind <= one.kind for one in incident.events)
        assert incident.fault(lambda _: State.WARNING, NOW).what
