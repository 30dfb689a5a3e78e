"""check_ndb_page_buffer on a real cluster whose DiskPageBufferMemory is too small, and then is not."""

import time

import ndb_load
import plugin_command
import pytest
from plugin_command import Said
from sql_node import MONITOR

OPTIONS = ("--min-requests", "100", "-t", "20s")  # a busy machine reads slowly
APART = 16  # seconds between two runs that count


@pytest.fixture
def check(tmp_path):
    """Run the plugin with an account that may do nothing but read ndbinfo."""

    def run(node, *options):
        account = node.account(*MONITOR)
        words = ("-S", node.socket, "-u", account.user, "--state-dir", tmp_path / "state", *OPTIONS, *options)
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        done = plugin_command.run(tmp_path, "check_ndb_page_buffer", *words, variables=password)
        said = Said.of(done)
        assert "=-" not in said.output  # no counter of a restarted node gives a negative number
        return said

    return run


def until(check, reached, *arguments, seconds=180):
    """Run it every other second until what it says is what is waited for; all that it said."""
    end, told = time.monotonic() + seconds, [check(*arguments)]
    while not reached(told[-1]):
        assert time.monotonic() < end, told[-1].output
        time.sleep(2)
        told.append(check(*arguments))
    return told


@pytest.mark.own_server("to undo what it changes would take another rolling restart")
@pytest.mark.slow("looks that count are 16 s apart, and both data nodes restart")
def test_a_small_buffer_is_critical_and_a_larger_one_helps(own_ndb, check):
    cluster = own_ndb(DiskPageBufferMemory="4M")
    node = cluster.sql_node
    idle(node, check)
    ndb_load.disk_table(node)
    with ndb_load.random_reads(node, readers=2):
        too_small(node, check)
    for missing in cluster.changing(DiskPageBufferMemory="64M"):
        with ndb_load.random_reads(node, readers=2):
            while_one_is_missing(node, check, missing)
    with ndb_load.random_reads(node, readers=2):
        large_enough(node, check)


def idle(node, check):
    """No traffic at all is no trouble, with an account that has SELECT on ndbinfo.* and nothing else."""
    said = check(node)
    assert said.status == 0, said.output
    assert said.text.startswith("NDB_PAGE_BUFFER OK - first look at nodes 3 and 4")
    time.sleep(2)
    said = check(node)
    assert said.status == 0, said.output
    assert "no page requests on nodes 3 and 4" in said.text


def too_small(node, check):
    """The ratio of the interval is low, which is critical once it is confirmed; not while it may be cold."""
    hot = ("--cold", "0", "--confirm", "2")
    told = []
    for wait in (3, APART - 3, APART):
        told.append(check(node, *hot))
        time.sleep(wait)
    told.append(check(node, *hot))
    assert [said.status for said in told] == [0, 1, 1, 2], [said.text for said in told]
    assert "(too soon again to count)" in told[1].output
    assert "(1 of 2 intervals)" in told[2].output
    assert "(2 intervals in a row)" in told[3].output
    assert "pages/s read from disk - enlarge DiskPageBufferMemory, now 4 MiB" in told[3].text
    for label in ("hit_ratio", "node3_hit_ratio", "node4_hit_ratio"):
        assert told[3].number(label) < 95
    assert told[3].number("pages_read_per_s") > 0
    cold = until(check, lambda said: said.status == 1, node, "--confirm", "1")
    assert "its buffer is cold" in cold[-1].text
    assert check(node, "--cold", "0", "--sample", "2s").status == 1
    assert check(node, "--cold", "0", "--sample", "2s", "--confirm", "1").status == 2


def while_one_is_missing(node, check, missing):
    """The other one is judged."""
    other = 7 - missing
    node.wait_for([other])
    told = until(check, lambda said: f"node{other}_hit_ratio" in said.perfdata, node, "--cold", "0")
    assert f"[OK] node {missing} does not answer: judged without it" in told[-1].more
    assert f"node{missing}_hit_ratio" not in told[-1].perfdata


def large_enough(node, check):
    """Once all pages have been read, they stay: that is told at once, whatever was before the restart."""
    begun = check(node, "-v")
    assert begun.status in (0, 1), begun.output

    def is_warm(said):
        return "hit_ratio" in said.perfdata and said.number("hit_ratio") >= 99.5

    told = until(check, is_warm, node, "--cold", "0")
    assert told[-1].status == 0, told[-1].output
    assert all(said.status != 3 for said in told)
    table = [line.split() for line in begun.more if line.startswith("node ")]
    assert [row[-1] for row in table[-2:]] == ["67108864"] * 2
