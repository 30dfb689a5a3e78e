"""check_replication_lag on real servers in trouble that takes a minute to show: all of it at the same time.

Each story is lived through by a pair of its own, beside a writer, and what the plugin said is then looked at.
"""

import concurrent.futures
import re
import statistics
import time

import psutil
import pytest
from replication_check import Check
from replication_pair import KINDS
from replication_writer import Writer

CUT = 50  # seconds: before the receiver itself gives up, after 60
EVERY = 60  # seconds between runs, as an engine does it
LONG = 66  # seconds that a transaction is applied
HEAVY = "CHAR(128) AS (SHA2(REPEAT('x', 10000000), 512)) STORED"  # takes 0.1 s for each row
LITTLE = {"mariadb": "SLAVE MONITOR", "mysql": "REPLICATION CLIENT"}


def silent(pair, check):
    """One source behind a black hole, another one frozen, both still written to; as an engine sees it."""
    frozen = pair.add_channel("frozen")
    little = pair.account("little", LITTLE[pair.kind])
    with Writer(pair) as writer, Writer(pair, "frozen"):
        time.sleep(2)
        said = {"healthy": check(pair)}
        check(pair, account=little)
        began = time.monotonic()
        time.sleep(EVERY - CUT)
        pair.link.black_hole()
        frozen.source.suspend()
        time.sleep(EVERY - (time.monotonic() - began))
        runs = {"no history": ["--no-state"], "frozen": ["--no-state", "--channel", "frozen"]}
        with concurrent.futures.ThreadPoolExecutor() as threads:  # all before the receiver gives up
            jobs = {name: threads.submit(check, pair, *options) for name, options in runs.items()}
            jobs["blind"] = threads.submit(check, pair, "--no-state", account=little)
            said["full"] = check(pair)
            said["little"] = check(pair, account=little)  # which remembers the same
            said |= {name: job.result() for name, job in jobs.items()}
        said["truth"] = writer.true_lag()
        time.sleep(12)
        said["later"] = check(pair)
    return said


def long_update(pair, check):
    """An UPDATE that takes the source no time and the replica minutes: longer than anybody looks."""
    with pair.source.session() as sql:
        sql("CREATE TABLE lab.pace (seconds DOUBLE)")
        sql("INSERT INTO lab.pace VALUES (0)")
        sql("CREATE TABLE lab.long_one (id INT PRIMARY KEY, n INT)")
        sql("INSERT INTO lab.long_one VALUES " + ",".join(f"({number}, 0)" for number in range(5000)))
        pair.catch_up()
        with pair.replica.session() as there:
            there("SET sql_log_bin = 0")
            there("UPDATE lab.pace SET seconds = 0.1")
        sql("SET SESSION binlog_format = STATEMENT")
        with Writer(pair) as writer:
            check(pair)
            sql("UPDATE lab.long_one, lab.pace SET n = n + 1 + SLEEP(seconds)")
            return measured(pair, check, writer)


def alter(pair, check):
    """An ALTER that has much more to do on the replica, which gives way to all others meanwhile."""
    pair.source.sql("CREATE TABLE lab.altered (id INT PRIMARY KEY)")
    pair.catch_up()
    with pair.replica.session() as sql:
        sql("SET sql_log_bin = 0")
        sql("INSERT INTO lab.altered VALUES " + ",".join(f"({number})" for number in range(9000)))
    psutil.Process(pair.replica.pid).nice(15)
    with Writer(pair) as writer:
        check(pair)
        pair.source.sql(f"ALTER TABLE lab.altered ADD COLUMN heavy {HEAVY}")
        return measured(pair, check, writer)


def measured(pair, check, writer):
    """Several runs until a transaction has been applied for so long, six at least: a trend takes five."""
    found = []
    until = time.monotonic() + LONG
    while (left := until - time.monotonic()) > 0 or len(found) < 6:
        time.sleep(left if 0 < left < 10 else 10)
        found.append(check.measured(pair, writer))
    return found


STORIES = (silent, long_update, alter)


@pytest.fixture(scope="module")
def lived(tmp_path_factory, new_pair):
    """What came of a story for a kind of servers: lived(story, kind).

    The pairs of a kind start for the first of its tests: another worker may run those of the other kind.
    Each story has a pair of its own: all of them take more than a minute, and they take it together.
    """
    jobs = {}

    def live(story, kind, folder):
        with new_pair(folder, kind) as pair:
            return story(pair, Check(folder))

    with concurrent.futures.ThreadPoolExecutor() as threads:

        def came_of(story, kind):
            if (story, kind) not in jobs:
                for each in STORIES:
                    folder = tmp_path_factory.mktemp(f"{kind}-{each.__name__}"[:12])
                    jobs[each, kind] = threads.submit(live, each, kind, folder)
            return jobs[story, kind].result()

        yield came_of


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow("the receiver gives up after a minute, and the first test lives through all stories")
def test_a_black_hole_is_not_ok_before_the_receiver_gives_up(lived, kind):
    said = lived(silent, kind)
    assert said["healthy"].status == 0
    assert said["truth"] > CUT - 5
    for name in ("full", "no history"):
        assert said[name].status == 1, said[name].output
        assert re.search(r"no event or heartbeat for [45]\d s", said[name].text)
        assert "gives up after 1 min" in said[name].output
    assert said["later"].status in {1, 2}
    assert "see whether 127.0.0.1:" in said["full"].output


@pytest.mark.parametrize("kind", KINDS)
def test_nor_is_a_frozen_source(lived, kind):
    said = lived(silent, kind)["frozen"]
    assert said.status == 1, said.output
    assert ", no event or heartbeat for " in said.text


@pytest.mark.parametrize("kind", KINDS)
def test_without_history_and_privileges_it_says_that_it_cannot_tell(lived, kind):
    said = lived(silent, kind)
    assert "a dead link" in said["blind"].output
    assert "would not show" in said["blind"].output
    assert said["little"].status == 1 or "would not show" in said["little"].output


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("story", "statement"), [(long_update, "UPDATE lab.long_one"), (alter, "ALTER TABLE lab.alt")]
)
@pytest.mark.slow("a transaction counts as long after a minute")
def test_one_long_statement(lived, kind, story, statement):
    found = lived(story, kind)
    last = found[-1]
    assert last.truth > LONG - 5
    assert last.said.status == 1, last.said.output
    assert ", one transaction has run for 1 min" in last.said.text
    assert statement in last.said.output
    paces = [re.search(r"grows (1(\.1)?|0\.9\d?) s/s", one.said.text) for one in found[-3:]]
    assert any(paces), [one.said.text for one in found]  # looks that came late, on a busy machine, show none
    assert found[0].said.status == 0
    assert not [one for one in found if "wait for one another" in one.said.text]
    if kind == "mysql":
        assert statistics.mean(one.error for one in found) <= 1.5, found
