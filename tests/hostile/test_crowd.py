"""A hundred copies of a plugin at once, which share one state: as after an engine was held up."""

import json
import re
import threading

import pytest
from asked_servers import SqlAsked, wait_for
from healthy import CALM
from replication_pair import GRANTS
from runs import run
from sql_node import MONITOR
from stallwatch.sources.mysql import no_answer
from subjects import JMX, MYSQL, NDB, OK, SUBJECTS, UNKNOWN, WARNING, Place

COPIES, FEW = 100, 20
TIMEOUT = 30  # seconds: for two processors to start a hundred
LATE = 3.5  # seconds after it, in which the last has ended
FAIR = 10  # of so many copies at least one has its turn
HELD = "another run of this check has not ended yet and holds its state"
# It had the state at last; or the server had no processor to let it in, nor room in its queue.
NO_TIME = "no time was left to ask|no verdict within|as time was short|no connection within"
REPRESENTATIVE = ("mysql_status", "jmx_thread_pools", "host")
FULL = "has no connection left (Too many connections)"


@pytest.fixture
def place(subject, request):
    """Where its healthy server is, or this host."""
    if subject.source == MYSQL:
        pair = request.getfixturevalue("running_pair")("mariadb")
        pair.heal()
        yield SqlAsked(pair.replica, GRANTS["mariadb"], pair.heal).place()
        wait_for(lambda: pair.replica.others() == [])
    elif subject.source == NDB:
        node = request.getfixturevalue("ndb").sql_node
        yield SqlAsked(node, MONITOR[1:], None).place()
        wait_for(lambda: node.others() == [])
    elif subject.source == JMX:
        yield Place(port=request.getfixturevalue("jvm").port)
    else:
        yield Place()


def at_once(copies, one):
    """What comes of so many calls at once."""
    came = []
    threads = [threading.Thread(target=lambda: came.append(one())) for _ in range(copies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(came) == copies
    return came


def judged(outcome):
    """How one of them ended: "measured", "held" or "full"; anything else is an error."""
    outcome.holds(TIMEOUT, late=LATE)
    if outcome.status in (OK, WARNING) and " | " in outcome.line:
        return "measured"
    if HELD in outcome.line or re.search(NO_TIME, outcome.line):
        assert outcome.status == UNKNOWN or outcome.subject.plugin == "mysql_query", outcome
        return "held"
    assert FULL in outcome.line, outcome
    assert not outcome.subject.state, outcome  # else it waits for its state before it logs in
    assert outcome.status == outcome.subject.unreachable, outcome
    return "full"


def crowds():
    return [
        pytest.param(
            one, id=one.plugin, marks=() if one.plugin in REPRESENTATIVE else pytest.mark.only_in_all_cells
        )
        for one in SUBJECTS
    ]  # fmt: skip


@pytest.mark.parametrize("subject", crowds())
def test_many_copies_at_once(home, subject, place, request):
    copies = COPIES if request.config.getoption("all_cells") else FEW
    more = (*CALM.get(subject.plugin, ()), "-t", f"{TIMEOUT}s")
    ends = [judged(one) for one in at_once(copies, lambda: run(subject, place, home, *more))]
    assert ends.count("measured") >= copies / FAIR, ends
    alone = run(subject, place, home, *more).holds(TIMEOUT, OK, WARNING)
    assert not re.search("is damaged|is lost|remembered", alone.text), alone
    for file in (home / "state").glob("*"):
        assert file.suffix in (".json", ".lock"), file
        assert file.suffix == ".lock" or json.loads(file.read_bytes())["version"] == 1


def test_a_server_that_could_not_be_asked_any_more_is_not_said_to_be_silent():
    """Another run had the state until there was no time left."""
    asked = no_answer.Asked("SELECT 1", "db1:3306", "mon", "mon@%", waited=0.001)
    assert no_answer.reason(TimeoutError(), asked).what == "no time was left to ask db1:3306: SELECT 1"
    waited = no_answer.reason(TimeoutError(), asked._replace(waited=2.0))
    assert waited.what == "db1:3306 has not answered within 2 s: asked SELECT 1"
