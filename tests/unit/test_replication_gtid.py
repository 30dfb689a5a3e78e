
import pytest
from counted import growth
from hypothesis import given
from hypothesis import strategies as st
from replication_snapshots import channel, mariadb
from stallwatch.probes.replication_lag import gtid
from stallwatch.probes.replication_lag.gtid import GtidError

ONE = "b0c6f8d6-e537-11f1-b3bb-02fc00000001"
TWO = "b0d11c9f-e537-11f1-9cb5-02fc00000002"


def test_a_set_is_read_with_its_tags():
    text = f"{ONE}:1-5:7:nightly:1-3,\n{TWO.upper()}:9"
    assert gtid.parse(text) == {ONE: [(1, 5), (7, 7)], f"{ONE}:nightly": [(1, 3)], TWO: [(9, 9)]}
    assert gtid.count(gtid.parse(text)) == 10
    assert gtid.parse("") == {}


def test_intervals_come_in_any_order_and_are_joined():
    assert gtid.parse(f"{ONE}:7-9:1-3,{ONE}:4-5:8-20") == {ONE: [(1, 5), (7, 20)]}


def test_a_transaction_with_a_tag_is_another_one():
    tagged, plain = gtid.parse(f"{ONE}:nightly:1-5"), gtid.parse(f"{ONE}:1-5")
    assert gtid.subtract(tagged, plain) == tagged
    assert gtid.count(gtid.parse(f"{ONE}:1-5:nightly:1-5")) == 10


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        f"{ONE}:5-1",
        f"{ONE}:0",
        f"{ONE}:-3",
        f"{ONE}:1-2-3",
        f"{ONE}:1:{'t' * 33}",
        f"{ONE}:" + "9" * 20,
        f"{ONE}:١",  # noqa: RUF001 - a digit, but none of MySQL's
        ":1-5",
        "0-101-745",
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(text):
    with pytest.raises(GtidError, match="makes no sense"):
        gtid.parse(text)


def test_long_nonsense_makes_no_long_sentence():
    with pytest.raises(GtidError) as caught:
        gtid.parse("x" * 16_000_000)
    assert len(caught.value.what) < 200


SETS = st.dictionaries(st.sampled_from([ONE, TWO, f"{ONE}:tag"]), st.sets(st.integers(1, 60), min_size=1))


def written(transactions):
    """A set of transactions as MySQL might write it."""
    return ",".join(f"{key}:" + ":".join(str(one) for one in sorted(of)) for key, of in transactions.items())


def members(gtids):
    return {
        (key, one)
        for key, intervals in gtids.items()
        for first, last in intervals
        for one in range(first, last + 1)
    }


@given(SETS, SETS)
def test_sets_are_subtracted_and_read_together_as_sets(one, other):
    left, right = gtid.parse(written(one)), gtid.parse(written(other))
    assert members(gtid.subtract(left, right)) == members(left) - members(right)
    assert members(gtid.parse(f"{written(one)},{written(other)}")) == members(left) | members(right)
    assert gtid.count(left) == len(members(left))


def test_sets_of_twice_as_many_intervals_take_twice_the_work():
    def work(count):
        gtid.parse.cache_clear()
        even = f"{ONE}:" + ":".join(str(number) for number in range(2, 2 * count + 2, 2))
        odd = f"{ONE}:" + ":".join(str(number) for number in range(1, 2 * count + 1, 2))
        gaps, others = gtid.parse(even), gtid.parse(odd)
        assert gtid.count(gtid.subtract(gaps, others)) == count
        assert gtid.count(gtid.subtract(gtid.parse(f"{even},{odd}"), gaps)) == count
        assert gtid.subtract(gtid.parse(f"{ONE}:1-{2 * count}"), gaps) == others

    assert growth(work, 1000) < 2.5


def test_positions_of_mariadb():
    assert gtid.position("0-101-745, 1-102-9") == {0: (101, 745), 1: (102, 9)}
    assert gtid.position("") == {}
    assert gtid.position("0-101-7,0-102-11,0-103-3") == {0: (102, 11)}
    for text in ("0-101", f"{ONE}:1-5", "0-101-x", "0-101--7"):
        with pytest.raises(GtidError):
            gtid.position(text)


def test_domains_are_compared_one_by_one():
    """1134 - 389 = 745 was what a thin link had still to bring (measured on MariaDB 10.11)."""
    source, replica = gtid.position("0-101-1134,1-102-9"), gtid.position("0-101-389,1-102-12")
    assert gtid.ahead(source, replica) == 745
    assert gtid.ahead(gtid.position("5-101-3"), replica) == 3
    assert gtid.ahead(gtid.within(gtid.position("5-101-3,0-101-390"), replica), replica) == 1


def test_a_backlog_is_what_was_received_and_not_applied():
    assert gtid.backlog(channel()) == 0
    assert gtid.backlog(channel(received_gtids=f"{ONE}:50-112:nightly:1-2")) == 14
    assert gtid.backlog(mariadb(received_gtids="0-101-112")) == 12
    assert gtid.backlog(mariadb(received_gtids="0-101-100", applied_gtids="")) == 100


def test_what_the_replica_has_written_itself_does_not_tell_how_far_it_has_applied():
    own = mariadb(received_gtids="0-101-17", applied_gtids="0-102-18")
    assert gtid.backlog(own, server_id=102) is None
    ring = mariadb(received_gtids="0-102-18", applied_gtids="0-102-17")  # its own came back
    assert gtid.backlog(ring, server_id=102) == 1
    assert gtid.backlog(mariadb(received_gtids="0-101-17", applied_gtids="0-103-16"), server_id=102) == 1


def test_the_other_channels_of_a_server_are_no_backlog():
    assert gtid.backlog(mariadb(received_gtids="1-201-7", applied_gtids="0-101-100,1-201-5")) == 2


def test_a_domain_that_two_sources_write_tells_of_no_backlog():
    here = "0-3-900"
    one = mariadb(received_gtids="0-101-500", applied_gtids=here)
    two = mariadb(name="east", received_gtids="0-3-905", applied_gtids=here)
    assert gtid.backlog(one, [one, two]) is None
    assert gtid.backlog(one, [one]) == 0
    ring = two._replace(received_gtids="0-101-450")  # the same transactions by another way
    assert gtid.backlog(one._replace(applied_gtids="0-101-490"), [one, ring]) == 10


def test_what_many_channels_tell_is_read_once(monkeypatch):
    applied = ",".join(f"{number}-{number}-7" for number in range(64))
    several = [
        mariadb(name=f"from {number}", received_gtids=f"{number}-{number}-9,{applied}", applied_gtids=applied)
        for number in range(64)
    ]
    read, plain = [], gtid.written
    monkeypatch.setattr(gtid, "written", lambda text: read.append(text) or plain(text))
    assert [gtid.backlog(one, several) for one in several] == [2] * 64
    assert sorted(read) == sorted([applied, *(one.received_gtids for one in several)])


def test_what_a_server_has_written_of_each_other():
    assert gtid.written("0-101-600,0-100-505, 1-100-4") == {(0, 101): 600, (0, 100): 505, (1, 100): 4}
    assert gtid.written("") == {}
    with pytest.raises(GtidError):
        gtid.written("0-101")


def test_without_gtids_a_backlog_is_not_known():
    assert gtid.backlog(channel(received_gtids="")) is None
    assert gtid.backlog(channel(received_gtids="nonsense")) is None


def test_how_many_have_come_since():
    assert gtid.since(f"{ONE}:1-130", f"{ONE}:1-100") == 30
    assert gtid.since("0-101-130,1-102-99", "0-101-100") == 30
    assert gtid.since("", "0-101-100") is None
    assert gtid.since("0-101-130", f"{ONE}:1-100") is None


def test_a_channel_that_used_gtids_once_still_shows_that_a_domain_is_not_of_one_source():
    old = mariadb(received_gtids="", stale_gtids="0-101-700", applied_gtids="0-101-900")
    other = mariadb(name="b", received_gtids="0-102-500", applied_gtids="0-101-900")
    assert gtid.backlog(other, (old, other), 9) is None
