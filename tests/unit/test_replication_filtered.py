"""Filters that drop all that comes are told; those that drop a part, and a source that is idle, are not."""

import pytest
from replication_snapshots import channel
from stallwatch.probes.replication_lag import filtered
from stallwatch.probes.replication_lag.model import Position
from stallwatch.sources.mysql import DeniedError

UUID = "b0c6f8d6-e537-11f1-b3bb-02fc00000001"
DO_DB = ("Replicate_Do_DB = shop",)


class Server:
    """Counts statements."""

    def __init__(self):
        self.inserts, self.commits, self.asked = 5, 0, 0

    def rows(self, sql, within):
        self.asked += 1
        counted = {"Com_insert": self.inserts, "Com_commit": self.commits, "Com_select": self.asked}
        return [{"Variable_name": name, "Value": str(value)} for name, value in counted.items()]


def looks(*inserts, gtids=True, moves=True, filters=DO_DB):
    """For how long the last look finds that all was dropped; each saw so many rows inserted in all."""
    server, memory, found = Server(), {}, None
    for number, server.inserts in enumerate(inserts):
        server.commits += 10
        place = 10 * number if moves else 1
        one = channel(
            filters=filters,
            received_gtids=f"{UUID}:1-{place + 1}" if gtids else "",
            applied=Position("bin.000001", 500 + place),
        )
        found = filtered.dropped_for(memory, one, server, 100.0 + 60 * number)
    return found


@pytest.mark.parametrize("gtids", [True, False])
def test_all_that_came_was_dropped(gtids):
    assert looks(5, 5, 5, gtids=gtids) == 120.0


def test_one_look_may_lie_between_two_answers():
    assert looks(5, 5) is None
    assert looks(5, 5, 6, 6) is None


def test_what_is_let_through_in_part_is_not_told():
    assert looks(5, 6, 7, 9) is None


@pytest.mark.parametrize("gtids", [True, False])
def test_an_idle_source_is_not_told(gtids):
    assert looks(5, 5, 5, 5, moves=False, gtids=gtids) is None


def test_a_replica_without_filters_is_asked_nothing():
    assert looks(5, 5, 5, filters=()) is None


def test_what_cannot_be_asked_is_not_told():
    class Refuses:
        def rows(self, sql, within):
            raise DeniedError("db2 denied it", "")

    memory = {"changes": 5.0, "since": 1.0, "looks": 2}
    assert filtered.dropped_for(memory, channel(filters=DO_DB), Refuses(), 100.0) is None
