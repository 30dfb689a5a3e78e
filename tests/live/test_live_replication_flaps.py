"""What only several looks show: a receiver that comes and goes, and filters that drop all that comes."""

import time

import pytest
from replication_check import Check
from replication_writer import Writer

ALL = {
    "mysql": "CHANGE REPLICATION FILTER REPLICATE_DO_DB = ({})",
    "mariadb": "SET GLOBAL replicate_do_db = '{}'",
}
PART = {
    "mysql": "CHANGE REPLICATION FILTER REPLICATE_IGNORE_TABLE = ({})",
    "mariadb": "SET GLOBAL replicate_ignore_table = '{}'",
}


@pytest.fixture
def check(tmp_path):
    return Check(tmp_path)


def break_link(pair):
    """Break it for a moment, and wait until the receiver is back, which has read something then."""
    pair.link.refuse()
    until = time.monotonic() + 60
    while pair.replica.channels()[""]["Replica_IO_Running"] == "Yes":
        assert time.monotonic() < until
        time.sleep(0.05)
    pair.link.pass_all()
    pair.catch_up()


def test_a_link_that_flaps(pair, check):
    assert check(pair).status == 0
    break_link(pair)
    assert check(pair).status == 0  # as after a restart of the source
    break_link(pair)
    break_link(pair)
    said = check(pair)
    assert said.status == 1
    probably = "" if pair.kind == "mysql" else "probably "
    assert f", the receiver {probably}reconnected 3 times in " in said.text
    assert "with the same server_id" in said.output


def test_logs_that_are_flushed_are_no_flapping_link(pair, check):
    for _ in range(5):
        assert check(pair).status == 0
        pair.replica.sql("FLUSH LOGS")
        pair.catch_up()


def test_filters_that_drop_all(pair, check):
    with Writer(pair):
        _filter(pair, ALL[pair.kind].format("shop"))
        try:
            said = _three_looks(pair, check)
        finally:
            _filter(pair, ALL[pair.kind].format(""))
    assert said.status == 0
    assert " lags 0 s, its filters dropped all of the last " in said.text
    assert "Replicate_Do_DB = shop" in said.output


def test_filters_that_drop_a_part(pair, check):
    with Writer(pair):
        _filter(pair, PART[pair.kind].format("lab.left_out"))
        try:
            said = _three_looks(pair, check)
        finally:
            _filter(pair, PART[pair.kind].format(""))
    assert said.status == 0
    assert "dropped" not in said.text
    assert "Replicate_Ignore_Table = lab.left_out" in said.output


def _filter(pair, statement):
    pair.replica.stop_replication()
    pair.replica.sql(statement)
    pair.replica.start_replication()


def _three_looks(pair, check):
    """What the third one says; something comes between them."""
    for _ in range(3):
        said = check(pair)
        time.sleep(1.5)
    return said
