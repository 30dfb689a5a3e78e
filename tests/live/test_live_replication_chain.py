"""A chain of three real servers: the last one is asked, and those above it that --source names."""

import time
from types import SimpleNamespace

import pytest
from replication_check import Check
from replication_pair import GRANTS, REPLICATION
from replication_writer import Writer

LATE = 12  # seconds that the middle one is stopped


@pytest.fixture
def leaf(pair, tmp_path, new_server):
    """The last server of a chain behind the pair; it is asked as the replica of a pair is."""
    with new_server(tmp_path / "leaf", pair.kind, server_id=200) as server:
        pair.replica.account(REPLICATION.user, "REPLICATION SLAVE")
        server.follow("", pair.replica.port, REPLICATION)
        server.start_replication()
        account = server.account(pair.monitor.user, *GRANTS[pair.kind])
        yield SimpleNamespace(kind=pair.kind, replica=server, monitor=account)


def of(server):
    return ["--source", f"127.0.0.1:{server.port}", "--ssl-mode", "PREFERRED"]


@pytest.mark.slow("the last one of three servers falls behind")
def test_the_middle_one_of_a_chain_is_stopped(pair, leaf, tmp_path):
    asked = {
        "middle": of(pair.replica), "top": of(pair.source), "both": [*of(pair.source), *of(pair.replica)],
        "alone": [],
    }  # fmt: skip
    checks = {name: Check(tmp_path / name) for name in asked}

    def look():
        return {name: checks[name](leaf, *words) for name, words in asked.items()}

    with Writer(pair, every=0.2):
        time.sleep(3)
        for name, said in look().items():
            assert said.status == 0, (name, said.output)
            assert said.number("lag") < 1, (name, said.output)
        time.sleep(2)
        look()
        pair.replica.stop_replication("", "SQL_THREAD")
        stopped = time.monotonic()
        time.sleep(LATE)
        found, late = {}, {}
        for name, words in asked.items():  # one after the other: each finds it later than those before
            begun = time.monotonic() - stopped
            found[name] = checks[name](leaf, *words, "-w", "5")
            late[name] = pytest.approx((begun + time.monotonic() - stopped) / 2, abs=5)
    middle = f"127.0.0.1:{pair.replica.port}"
    for name in ("middle", "both"):
        assert found[name].status == 1
        assert found[name].number("lag") == late[name], found[name].output
        assert f"the applier of its source {middle} is stopped - find out who stopped it" in found[name].text
        assert f"SQL_THREAD on {middle}" in found[name].output
    assert found["top"].number("lag") == late["top"], found["top"].output
    assert "upstream, " in found["top"].text
    assert f"have not come through {middle}" in found["top"].output
    assert found["alone"].status == 0
    assert "a stopped upstream would not show" in found["alone"].output


def test_what_an_account_may_not_ask_of_the_middle_one_is_said_once(pair, leaf, tmp_path):
    pair.replica.account("little")
    little = leaf.replica.account("little", *GRANTS[pair.kind])
    said = Check(tmp_path)(leaf, *of(pair.replica), account=little)
    assert said.status == 0
    assert said.output.count("is itself a replica cannot be seen, needs ") == 1
