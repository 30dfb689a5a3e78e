"""Several looks at a MariaDB's channel: when they are worth it, and what they show."""

import pytest
from replication_snapshots import before, mariadb, snapshot, source, told_of
from stallwatch.probes.replication_lag import messages, queries, stream
from stallwatch.probes.replication_lag.diagnosis import Criteria, diagnose
from stallwatch.probes.replication_lag.history import History
from stallwatch.probes.replication_lag.model import Stream, Thread

WORKS = Thread("Yes", "Commit", 0, "")


def part_has_come(**more):
    """A channel of which a transaction is on its way."""
    one = mariadb(applied_gtids="1-1-10", received_gtids="1-1-10", **more)
    return one._replace(received=one.applied._replace(offset=one.applied.offset + 300))


def later(one, number):
    """The same, so many transactions later."""
    moved = [at._replace(offset=at.offset + 1000 * number) for at in (one.received, one.applied)]
    gtids = f"1-1-{10 + number}"
    return one._replace(received=moved[0], applied=moved[1], applied_gtids=gtids, received_gtids=gtids)


@pytest.fixture
def looks(monkeypatch):
    """Lets a server answer with these channels, and after each commit with those; gives what is awaited."""

    def answer(plain, after):
        awaited = []

        def channels_after(_, gtid):
            awaited.append(gtid)
            return [next(after)]

        now = iter(range(10_000))
        monkeypatch.setattr(queries, "channels", lambda _: [next(plain)])
        monkeypatch.setattr(stream, "_channels_after", channels_after)
        monkeypatch.setattr(stream.time, "sleep", lambda _: None)
        monkeypatch.setattr(stream.time, "monotonic", lambda: next(now) / 10)
        return awaited

    return answer


def test_the_line_says_what_may_be_late_though_nothing_is_known_of_it():
    full = snapshot(mariadb(), idle=0.0, stream=Stream(is_full=True), before=before(10, of=mariadb()))
    criteria = Criteria(120.0, 0.0, 0.0, lambda *_: None)
    found = next(messages.channels([diagnose(full, History({}, 0.0))], criteria))
    assert (found.value, found.what) == (0, "replica of db1 lags 0 s")
    assert found.why.startswith("transactions come without a pause, up to 10 s late")


def test_a_transaction_on_its_way_is_worth_looks():
    assert stream.is_worth_it(snapshot(part_has_come()))


@pytest.mark.parametrize(
    "calm",
    [
        snapshot(mariadb()),
        snapshot(part_has_come(seconds_behind=3.0)),
        snapshot(part_has_come(applier=WORKS)),
        snapshot(part_has_come(receiver=Thread("Connecting", "", 0, ""))),
        snapshot(part_has_come(delay=30.0)),
        snapshot(part_has_come(source_uuid="b0c6f8d6-e537-11f1-b3bb-02fc00000001")),
        snapshot(part_has_come(), source=source()),
        snapshot(part_has_come(newest_received=told_of(1)), idle=0.0),
    ],
)
def test_all_else_is_not(calm):
    assert not stream.is_worth_it(calm)


def test_an_old_newest_event_is_worth_looks():
    """MariaDB 11.8.9: what is received is applied at each look, at 20 kB/s of 45, too."""
    assert stream.is_worth_it(snapshot(mariadb(newest_received=told_of(30)), idle=0.0))


def newest(idle=0.2, **then):
    one = mariadb(received_gtids="1-1-10", applied_gtids="1-1-10", newest_received=told_of(30))
    return snapshot(one, idle=idle, before=before(10, of=one, **then))


def test_a_late_transaction_in_hand_proves_that_the_newest_event_came_late(looks):
    one = newest()
    looks(iter(()), (later(one.channel, number)._replace(seconds_behind=29.0) for number in range(1, 90)))
    seen = stream.watch(None, one)
    assert (seen.is_full, seen.late) == (True, 29.0)


def test_the_newest_event_alone_proves_nothing(looks):
    one = newest()
    looks(iter(()), (later(one.channel, number) for number in range(1, 90)))
    assert not stream.watch(None, one).is_full


@pytest.mark.parametrize(("idle", "late"), [(0.2, True), (60.0, False)])
def test_a_stream_that_was_late_still_is_while_events_come(looks, idle, late):
    one = newest(idle, came_late=True, lag=30.0)
    looks(iter(()), (later(one.channel, number) for number in range(1, 90)))
    seen = stream.watch(None, one)
    assert (seen.is_full, seen.came_late) == (late, late)


def test_a_stream_that_was_late_is_worth_looks():
    assert stream.is_worth_it(snapshot(mariadb(), before=before(of=mariadb(), came_late=True)))


def test_a_transaction_that_just_passes_is_no_stream(looks):
    one = part_has_come()
    awaited = looks(iter([later(one, 1), *[mariadb()] * 20]), iter(()))
    assert stream.watch(None, snapshot(one)) == Stream(is_full=False)
    assert awaited == []


def test_what_stands_still_is_no_stream_unless_it_was_late(looks):
    one = part_has_come()
    looks(iter([one] * 20), iter(()))
    assert not stream.watch(None, snapshot(one)).is_full
    looks(iter([one] * 20), iter([one] * 100))
    still = before(of=mariadb(), came_late=True)
    assert stream.watch(None, snapshot(one, before=still)).is_full


def test_two_transactions_that_are_late_are_enough(looks):
    one = part_has_come()
    in_hand = (later(one, number)._replace(seconds_behind=20.0 * (number % 2)) for number in range(2, 100))
    awaited = looks(iter([later(one, 1)] * 20), in_hand)
    assert stream.watch(None, snapshot(one)) == Stream(is_full=True, in_hand=(20.0, 20.0))
    assert awaited == ["1-1-12", "1-1-13", "1-1-14", "1-1-15"]


def test_where_none_is_seen_in_hand_time_is_up(looks):
    one = part_has_come()
    awaited = looks(iter([later(one, 1)] * 20), (later(one, number) for number in range(2, 100)))
    assert stream.watch(None, snapshot(one)) == Stream(is_full=True)
    assert 10 <= len(awaited) <= 20  # 2 s


def test_the_domain_in_which_some_have_come_is_awaited(looks):
    one = part_has_come()._replace(received_gtids="1-1-10,2-7-5", applied_gtids="1-1-10,2-7-5,9-9-9")
    then = before(of=mariadb(), came_late=True)
    then = then._replace(contact=then.contact._replace(received_gtids="1-1-10,2-7-3"))
    awaited = looks(iter([one] * 20), iter([one] * 100))
    stream.watch(None, snapshot(one, before=then))
    assert set(awaited) == {"2-7-6"}


def test_a_channel_that_is_gone_is_no_stream(looks):
    one = part_has_come()
    looks(iter([later(one, 1)] * 20), iter([later(one, 1)._replace(name="another")]))
    assert stream.watch(None, snapshot(one)) == Stream(is_full=True)
