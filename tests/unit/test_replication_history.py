"""What one look at a replica keeps for the next ones."""

import json

import pytest
from fake_replica import healthy_row
from stallwatch.probes.replication_lag import history
from stallwatch.probes.replication_lag.history import Sample
from stallwatch.probes.replication_lag.lag import Lag
from stallwatch.probes.replication_lag.model import ChannelSnapshot, Contact, Position, Source
from stallwatch.probes.replication_lag.queries import Facts, channel

ROW = healthy_row("east", Source_UUID="u-1", Retrieved_Gtid_Set="", Slave_received_heartbeats=3)
EAST = channel(ROW)
FACTS = Facts(now=0.0, server_id=7, uptime=1000.0, net_timeout=60.0)


class Looks:
    """Looks at a channel, each with what the file kept of those before."""

    def __init__(self):
        self.kept = {}

    def at(self, now, one=EAST, lag=0.0, facts=None, sequence=None, transport=None):
        uptime = 1000.0 + now
        memory = history.Memory(self.kept, facts or FACTS._replace(uptime=uptime), now)
        of = memory.channel(one)
        before, samples = of.before, of.samples
        asked = None if sequence is None else Source("db1:3306", 0.0, 0, 0, 0, sequence, sequence)
        snapshot = ChannelSnapshot(one, now=now, net_timeout=60.0, source=asked)
        of.keep(snapshot, Lag(lag, low=lag or 0.0, high=lag, transport=transport))
        self.kept = json.loads(json.dumps(self.kept))
        return before, samples


@pytest.fixture
def look():
    return Looks()


def test_the_first_look_knows_nothing(look):
    assert look.at(100) == (None, [])


def test_the_second_look_knows_the_first(look):
    look.at(100, lag=5.0, sequence=1000)
    before, samples = look.at(160)
    assert before.seconds_ago == 60
    assert before.lag == 5.0
    assert before.contact == Contact(Position("bin.000001", 500), "", 3)
    assert before.unchanged_for == 0
    assert before.source_history == ((60, 1000),)
    assert (before.high, before.seconds_behind, before.applied) == (5.0, 0.0, Position("bin.000001", 500))
    assert samples == [Sample(0, 5.0, at_least=False)]


def test_it_knows_whether_the_stream_was_late(look):
    assert not look.at(100)[0]
    look.at(160, transport=3.0)
    assert look.at(220)[0].came_late
    assert not look.at(280)[0].came_late


def test_how_long_nothing_came_adds_up_over_the_looks(look):
    for now in (100, 160, 220):
        look.at(now)
    before, _ = look.at(280)
    assert (before.seconds_ago, before.unchanged_for) == (60, 120)
    look.at(340, channel({**ROW, "Slave_received_heartbeats": 4}))
    before, _ = look.at(400)
    assert (before.seconds_ago, before.unchanged_for) == (60, 0)


def test_a_lag_that_was_not_known_is_no_sample_and_not_the_last_lag(look):
    look.at(100, lag=5.0)
    look.at(160, lag=None)
    before, samples = look.at(220)
    assert before.lag is None
    assert samples == [Sample(0, 5.0, at_least=False)]


@pytest.mark.parametrize(
    "second",
    [
        {"facts": FACTS._replace(server_id=8, uptime=5000.0)},  # another server at that address
        {"one": EAST._replace(source_uuid="u-2")},
        {"one": EAST._replace(source_host="db2")},
        {"one": EAST._replace(name="west")},
    ],
)
def test_what_is_another_story_begins_anew(look, second):
    look.at(100, lag=5.0)
    assert look.at(**{"now": 160, **second}) == (None, [])


@pytest.mark.parametrize("uptime", [3.0, 1130.0])
def test_a_restarted_replica_has_a_new_trend_but_its_source_has_not(look, uptime):
    look.at(100, lag=5.0, sequence=1000)
    before, samples = look.at(3100, facts=FACTS._replace(uptime=uptime))
    assert samples == []
    assert before.seconds_ago == 3000
    assert before.source_history == ((3000, 1000),)
    assert before.contact.heartbeats is None  # they are counted from 0 again


@pytest.mark.parametrize("step", [3600, -3600])
def test_a_clock_of_ours_that_is_set_changes_no_age(look, step):
    look.at(10_000, lag=5.0)
    before, samples = look.at(10_060 + step, facts=FACTS._replace(uptime=11_060.0))
    assert before.seconds_ago == 60
    assert len(samples) == 1


def test_nor_does_a_clock_of_the_replica(look):
    look.at(10_000)
    before, _ = look.at(10_060, facts=FACTS._replace(uptime=14_660.0))
    assert before.seconds_ago == 60


@pytest.mark.parametrize(
    "damage",
    [
        {"channels": []},
        {"channels": {"east": 5}},
        {"channels": {"east": {"last": [1]}}},
        {"clock": "x"},
        {"clock": -500.0},
        {"at": None},
        {"uptime": []},
    ],
)
def test_damage_is_told_and_ends_with_the_run(look, damage):
    look.at(100)
    look.kept |= damage
    memory = history.Memory(look.kept, FACTS._replace(uptime=1160.0), 160.0)
    (problem,) = memory.problems
    assert "the memory of earlier runs is damaged" in problem.what
    assert memory.channel(EAST).before is None
    assert history.Memory(look.kept, FACTS._replace(uptime=1220.0), 220.0).problems == []


def test_samples_do_not_grow_without_end(look):
    for now in range(0, 60 * 100, 60):
        look.at(now, lag=float(now), sequence=now)
    before, samples = look.at(6000)
    assert len(samples) == history.SAMPLES
    assert samples[-1].at == 5940
    assert len(before.source_history) == 100


def test_a_state_is_timed_from_the_first_look_in_a_row_that_found_it(look):
    def since(now, *, holds=True):
        memory = history.Memory(look.kept, FACTS._replace(uptime=1000.0 + now), now)
        return memory.channel(EAST).since("connecting", holds=holds)

    assert [since(100), since(160), since(220)] == [0, 60, 120]
    assert since(280, holds=False) == 0
    assert [since(340), since(400)] == [0, 60]


def test_a_channel_that_is_no_more_is_forgotten(look):
    look.at(100)
    memory = history.Memory(look.kept, FACTS._replace(uptime=1160.0), 160)
    memory.keep_only(["west"])
    assert memory.channel(EAST).before is None


def test_retries_count_from_where_the_applier_stands(look):
    def retried(now, times, position):
        one = EAST._replace(retries=times, applied=Position("bin.000001", position))
        before, _ = look.at(now, one)
        return ChannelSnapshot(one, now=now, net_timeout=60.0, before=before).retries

    assert [retried(100, 4, 500), retried(110, 4, 500)] == [0, 0]
    assert [retried(160, 5, 500), retried(210, 6, 500)] == [1, 2]
    assert retried(220, 7, 900) == 0  # nobody knows of which transaction it was
    assert retried(230, 8, 900) == 1
    assert retried(240, 0, 900) == 0  # the applier was started anew
