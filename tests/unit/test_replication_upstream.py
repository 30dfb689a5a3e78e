"""A chain of three: what is said of the last one, with and without what its source and the first one say."""

import json

import pytest
from fake_replica import UUID, FakeReplica
from replication_signals import MARIADB, MYSQL, case, looks
from replication_snapshots import (
    NOW,
    before,
    busy,
    channel,
    commits,
    mariadb,
    snapshot,
    source,
    stopped,
)
from stallwatch.probes.replication_lag.causes import explain
from stallwatch.probes.replication_lag.causes.source_behind import r35_upstream
from stallwatch.probes.replication_lag.lag import Lag, judge
from stallwatch.probes.replication_lag.model import Beat, Contact, Heartbeat, Upstream
from stallwatch.probes.replication_lag.named_sources import Above, Named
from stallwatch.probes.replication_lag.probe import Probe
from stallwatch.probes.replication_lag.source import Identity, is_above
from stallwatch.sources.mysql import MysqlError, NoAnswerError, UnreachableError
from test_replication_probe import PLUGIN, first_line
from test_replication_source import maria, mysql

TOP = "a1c6f8d6-e537-11f1-b3bb-02fc00000007"
FROM_THE_TOP = commits(queued=f"{TOP}:100")
HIDDEN = "a stopped upstream would not show"


def above(lag=None, of=None, flavour=MYSQL, **changes):
    """The middle one, called db1:3306, which is 85 s behind where its ``lag`` does not say more."""
    return Upstream(
        "db1:3306",
        flavour,
        snapshot(of or channel(source_host="top"), **changes),
        lag or Lag(85.0, 80.0, 90.0),
    )


def chained(upstream, **changes):
    return snapshot(source=source(upstream=upstream), **changes)


# The lag


def test_who_has_all_of_its_source_is_as_late_as_that():
    found = judge(chained(above()))
    assert (found.seconds, found.low, found.high, found.by) == (85, 80, 90, "lag of its source")
    assert (found.upstream, found.transport, found.apply) == (85, 0, 0)


def test_a_larger_lag_of_its_own_stays():
    late = mariadb(seconds_behind=200.0, applier=busy())
    assert judge(snapshot(late, source=source(missing=None, upstream=above()))).seconds == 200


def test_a_source_that_does_not_know_its_lag_leaves_it_unknown_here():
    found = judge(chained(above(Lag(None, 20.0, is_behind=True))))
    assert (found.seconds, found.low) == (None, 20)
    assert judge(chained(above(Lag(None)))).seconds == 0


def test_clocks_that_differ_above_the_source_are_no_lag_here():
    """The first server's clock is 60 s behind: all is 60 s older by it than it is."""

    def told(lag):
        known = snapshot(mariadb(seconds_behind=60.0, applier=busy()), source=source(upstream=above(lag)))
        return judge(known)

    proven, maybe = told(Lag(0.0, 0.0, 0.0, clock_offset=60.0)), told(Lag(0.0, 0.0, 60.0, doubtful=True))
    assert (proven.seconds, proven.doubtful) == (0, False)
    assert (maybe.seconds, maybe.doubtful) == (0, True)
    assert told(Lag(0.0, 0.0, 0.0)).seconds == 60


def test_what_the_source_is_delayed_by_on_purpose_is_no_lag():
    delayed = above(Lag(0.0, 0.0, 1.0, delayed=3600.0))
    late = FROM_THE_TOP._replace(queued_commit=NOW - 3601.1)
    found = judge(chained(delayed, commits=late))
    assert found.seconds == 0
    assert "its source is delayed by 1 h as configured" in found.remarks
    in_hand = snapshot(mariadb(seconds_behind=3603.0, applier=busy()), source=source(upstream=delayed))
    assert judge(in_hand).seconds == 3


def test_of_a_server_above_its_source_nothing_is_missing_or_all_since_what_came_last():
    assert judge(snapshot(source=source(distant=True), commits=FROM_THE_TOP)).seconds == 0
    last = FROM_THE_TOP._replace(queued_commit=NOW - 90, queued_sent=NOW - 90, queued_at=NOW - 90)
    lacks = source(distant=True, missing=9, not_received=9, sequence=109.0)
    found = judge(snapshot(source=lacks, commits=last))  # a heartbeat of the middle one came 25 s ago
    assert (found.seconds, found.high) == (90, 90)
    looked = before(60.0, source_history=((70.0, 99.0), (50.0, 104.0)))
    assert 50 <= judge(snapshot(source=lacks, commits=last, before=looked)).seconds <= 70


# Without --source


def quiet(of=None, **changes):
    """Nothing has come for 60 s in which 120 transactions would be usual, but heartbeats have."""
    of = of or channel()
    contact = Contact(of.received, of.received_gtids, 17)
    last = before(10.0, of=of, contact=contact, transaction_gap=0.5)
    return judge(snapshot(of, **{"before": last} | changes))


SILENT = FROM_THE_TOP._replace(queued_commit=NOW - 60, queued_sent=NOW - 60, queued_at=NOW - 60)
OF_MARIADB = mariadb(received_gtids="1-1-100")


@pytest.mark.parametrize("known", [{"commits": SILENT}, {"of": OF_MARIADB, "idle": 60.0}])
def test_a_source_that_is_a_replica_may_hide_a_stopped_one_but_silence_is_no_lag(known):
    found = quiet(**known)
    assert any(HIDDEN in remark for remark in found.remarks)
    assert (found.seconds, found.silent) == (0, False)


def test_the_first_look_says_that_the_source_may_be_a_replica():
    said = "its source may be a replica itself, whose lag is not looked at: give --source"
    assert said in quiet(commits=FROM_THE_TOP, before=None).remarks
    assert said not in quiet(commits=FROM_THE_TOP).remarks
    assert said not in quiet(commits=FROM_THE_TOP, before=None, source=source()).remarks


@pytest.mark.parametrize(
    "known",
    [
        {"commits": SILENT._replace(queued=f"{UUID}:100")},  # written by the source itself
        {"of": mariadb(), "idle": 60.0},
        {"commits": FROM_THE_TOP},  # 1 s ago
        {"commits": SILENT, "before": before(transaction_gap=None)},  # nobody knows what is usual
        {"commits": SILENT, "source": source()},
        {"commits": SILENT, "heartbeat": Heartbeat(1.0, 7, "lab.heartbeat")},
    ],
)
def test_else_nothing_is_said_of_that(known):
    assert not any(HIDDEN in remark for remark in quiet(**known).remarks)


# The cause


def cause(upstream, **changes):
    known = chained(upstream, **changes)
    return r35_upstream(case(known=known, lag=judge(known), looks=looks()))


@pytest.mark.parametrize(
    ("of", "flavour", "what", "advice"),
    [
        (channel(applier=stopped()), MYSQL, "the applier of its source db1:3306 is stopped",
         "find out who stopped it, then START REPLICA SQL_THREAD on db1:3306"),
        (mariadb(applier=stopped()), MARIADB, "the applier of its source db1:3306 is stopped",
         "find out who stopped it, then START SLAVE SQL_THREAD on db1:3306"),
        (channel(applier=stopped(), receiver=stopped()), MYSQL,
         "receiver and applier of its source db1:3306 are stopped",
         "find out who stopped them, then START REPLICA on db1:3306"),
        (channel(applier=stopped()._replace(errno=1062)), MYSQL,
         "the applier of its source db1:3306 stopped with error 1062",
         "run check_replication_lag on db1:3306"),
        (channel(receiver=stopped(), name="x"), MYSQL, "the receiver of its source db1:3306 is stopped",
         "find out who stopped it, then START REPLICA IO_THREAD FOR CHANNEL 'x' on db1:3306"),
        (channel(receiver=stopped("Connecting"), source_host="top"), MYSQL,
         "the receiver of its source db1:3306 is connecting to top:3306", "check that top:3306 answers"),
        (channel(receiver=stopped("Connecting")._replace(errno=2003), source_host="top"), MYSQL,
         "the receiver of its source db1:3306 cannot connect to top:3306 (error 2003)", "look at top:3306"),
        (channel(receiver=stopped("Connecting")._replace(errno=1045), source_host="top"), MYSQL,
         "top:3306 refuses the receiver of its source db1:3306 (error 1045)",
         "run check_replication_lag on db1:3306"),
        (channel(), MYSQL, "the replication of its source db1:3306 is behind by 1 min 25 s",
         "run check_replication_lag on db1:3306"),
    ],
)  # fmt: skip
def test_the_source_says_why_it_is_behind(of, flavour, what, advice):
    found = cause(above(of=of, flavour=flavour))
    assert (found.what, found.advice) == (what, advice)


def test_a_source_that_hears_nothing_says_so():
    found = cause(above(Lag(50.0, 20.0, 50.0, silent=True, contact_age=50.0)))
    assert found.what == "the receiver of its source db1:3306 has heard nothing for 50 s"


def test_in_a_longer_chain_the_one_that_holds_up_is_named():
    far = above(of=channel(applier=stopped()))._replace(where="db0:3306")
    found = cause(above(source=source(upstream=far)))
    assert found.what == "the applier of db0:3306 is stopped"


@pytest.mark.parametrize(
    "upstream",
    [
        None,
        above(Lag(0.0, 0.0, 1.0)),  # idle
        above(Lag(0.0, 0.0, 1.0, delayed=3600.0)),  # on purpose
        above(Lag(3.0, 0.0, 4.0)),
    ],
)
def test_a_source_that_is_not_behind_is_no_cause(upstream):
    assert cause(upstream) is None


def test_a_lag_that_is_mostly_its_own_has_causes_of_its_own():
    known = snapshot(source=source(upstream=above()))
    own = Lag(300.0, 300.0, 300.0)
    assert r35_upstream(case(known=known, lag=own)) is None


def test_a_lag_of_the_source_that_may_be_nothing_but_clocks_is_as_doubtful_here_and_no_cause():
    doubtful = above(Lag(85.0, 0.0, 120.0, doubtful=True))
    found = judge(chained(doubtful))
    assert (found.seconds, found.low, found.high, found.doubtful) == (85, 0, 120, True)
    assert cause(doubtful) is None
    own = judge(snapshot(mariadb(seconds_behind=200.0, applier=busy()), source=source(upstream=doubtful)))
    assert (own.seconds, own.doubtful) == (200, False)


def distant(contact_age):
    lacks = source(where="top:3306", distant=True, missing=160, not_received=160)
    lag = Lag(60.0, 50.0, 70.0, "source's history", contact_age=contact_age)
    return explain(case(known=snapshot(source=lacks), lag=lag, looks=looks()))[0].what


def test_what_has_not_come_through_the_source_is_upstream_for_sure_after_a_heartbeat_of_that():
    says = "upstream, 160 transactions of top:3306 have not come through db1:3306"
    assert distant(contact_age=5.0) == says
    assert distant(contact_age=55.0) == distant(contact_age=None) == f"probably {says}"


def test_commit_times_show_a_source_that_was_late_itself():
    lag = Lag(40.0, 40.0, 40.0, "commit time", 0.1, 1.0, 38.9)
    found = r35_upstream(case(known=snapshot(commits=FROM_THE_TOP), lag=lag))
    assert found.what == "probably upstream, db1:3306 was 39 s late itself"
    assert r35_upstream(case(known=snapshot(commits=commits()), lag=lag)) is None


def beating(age, server=7, **changes):
    known = snapshot(heartbeat=Heartbeat(age, server, "lab.heartbeat"), **{"commits": SILENT} | changes)
    found = r35_upstream(case(known=known, lag=judge(known), looks=looks()))
    return found and found.what


def test_a_heartbeat_of_the_first_one_that_is_old_is_probably_upstream():
    assert beating(60.0) == "probably upstream, nothing newer came from db1:3306 and all is applied"
    early = SILENT._replace(last_heartbeat=NOW - 60, queued_at=NOW - 20)
    same = before(10.0, heartbeat=Beat(7, ""))  # else the clocks may differ by as much
    assert beating(20.0, commits=early, before=same) == (
        "probably upstream or the link, nothing newer came from db1:3306 and all is applied"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"age": 1.0},
        {"age": 60.0, "server": 101},  # the source's own
        {"age": 60.0, "backlog": 3},
        {"age": 60.0, "commits": FROM_THE_TOP},  # younger work has come: its writer is dead
    ],
)
def test_a_heartbeat_that_is_young_or_waits_or_is_outlived_is_not(changes):
    assert beating(**changes) is None


# Who is asked


def test_who_is_above_is_known_by_what_it_wrote():
    only = [channel()]
    of = channel(received_gtids=f"{TOP}:1-5", applied_gtids=f"{TOP}:1-5,{UUID}:1-5")
    assert is_above(Identity(7, TOP), mysql(""), of, only)
    assert is_above(Identity(7, UUID), mysql(""), of, only)
    assert not is_above(Identity(7, UUID), mysql(""), of, [*only, channel(name="east")])
    assert not is_above(Identity(7, "d" + TOP[1:]), mysql(""), of, only)
    leaf = maria(102, "0-101-9", "0-101-9", state="0-7-5,0-101-9")
    assert is_above(Identity(7, ""), leaf, mariadb(received_gtids="0-101-9"), only)
    assert not is_above(Identity(8, ""), leaf, mariadb(received_gtids="0-101-9"), only)


class Member(FakeReplica):
    """A server of a chain, which says who it is and what it has."""

    def __init__(self, where, uuid, executed):
        super().__init__(where=where)
        self.uuid, self.executed = uuid, executed

    def _answer(self, sql):
        answers = {
            "@@server_uuid AS uuid": [{"id": 1, "uuid": self.uuid}],
            "gtid_executed": [{"executed": self.executed}],
            "SELECT UNIX_TIMESTAMP(NOW(6)) AS now": [{"now": self.now}],
        }
        plain = (rows for part, rows in answers.items() if part in sql and "net_timeout" not in sql)
        return next(plain, None) or super()._answer(sql)


@pytest.fixture
def chain(tmp_path, monkeypatch):
    """Three servers, top, db1 and leaf, and a function that runs the plugin on the last one."""
    had = f"{TOP}:1-5,{UUID}:1-5"
    servers = {
        "top:3306": Member("top:3306", TOP, had),
        "db1:3306": Member("db1:3306", UUID, had),
        "leaf:3306": Member("leaf:3306", "c" + UUID[1:], had),
    }
    servers["db1:3306"].channel(
        Source_Host="top", Source_UUID=TOP, Retrieved_Gtid_Set=f"{TOP}:1-5", Executed_Gtid_Set=had
    )
    servers["leaf:3306"].channel(Executed_Gtid_Set=had)
    monkeypatch.setattr("stallwatch.sources.mysql.connect", lambda target, *_: servers[target.where])
    monkeypatch.setattr("time.sleep", lambda _: None)

    def run(*sources, role=None):
        words = [word for one in sources for word in ("--source", one)]
        words += ["--role", role] if role else []
        words = ["-H", "leaf", "--state-dir", str(tmp_path), "-w", "15", *words]
        return PLUGIN["check"].run(PLUGIN["findings"], words)

    run.servers = servers
    return run


def behind(chain):
    """Let the applier of the middle one be stopped, with a transaction of 85 s ago waiting."""
    middle = chain.servers["db1:3306"]
    down = {"Replica_SQL_Running": "No", "Seconds_Behind_Source": None}
    middle.channel(**down, Retrieved_Gtid_Set=f"{TOP}:1-6")
    middle.receivers[""] |= {"queued": f"{TOP}:6", "transport": 84.0}
    chain.servers["leaf:3306"].receivers[""] |= {"queued": f"{TOP}:5", "contact": 90.0}
    chain.servers["top:3306"].executed = f"{TOP}:1-6"


def test_the_middle_one_is_asked_and_blamed(chain):
    behind(chain)
    status, text = chain("db1")
    assert status == 1
    assert first_line(text).startswith("REPLICATION_LAG WARNING - replica of db1 lags 85 s (limit 15 s)")
    assert "the applier of its source db1:3306 is stopped - find out who stopped it" in first_line(text)


@pytest.mark.parametrize("named", [("db1", "top"), ("top", "db1")])
def test_each_named_server_is_asked_of_the_one_below(chain, named):
    behind(chain)
    status, text = chain(*named)
    assert status == 1
    assert "no channel replicates" not in text
    assert "the applier of its source db1:3306 is stopped" in text


def test_what_the_source_does_not_have_is_one_problem_with_read_only(chain):
    leaf = chain.servers["leaf:3306"]
    leaf.read_only = 0
    assert "clients can write to this replica" in first_line(chain("db1", role="replica")[1])
    leaf.executed += f",{leaf.uuid}:1-2"
    status, text = chain("db1", role="replica")
    assert status == 1
    assert first_line(text).endswith(
        ": 2 transactions here are not on db1:3306, read_only is OFF - find who "
        "writes here, then SET GLOBAL read_only = ON"
    )
    assert " errant=2;0" in text
    assert "clients can write" not in text


def test_the_first_one_alone_is_compared_by_gtids(chain):
    status, text = chain("top")
    assert (status, "missing=0" in text, "errant=" in text) == (0, True, False)
    behind(chain)
    status, text = chain("top")
    assert "upstream, 1 transaction of top:3306 has not come through db1:3306" in text


@pytest.mark.parametrize("named", [("db1",), ("db1", "top")])
def test_a_chain_that_is_well_is_ok(chain, named):
    status, text = chain(*named)
    assert first_line(text) == "REPLICATION_LAG OK - replica of db1 lags 0 s"
    assert status == 0


def test_only_named_servers_are_logged_in_to(chain):
    behind(chain)
    del chain.servers["top:3306"]
    assert chain("db1")[0] == 1


def test_a_source_that_may_not_be_asked_for_its_replication_is_said_so_once(chain):
    chain.servers["db1:3306"].denied = {"REPLICA STATUS": "REPLICATION CLIENT"}
    status, text = chain("db1", "top")
    assert status == 0
    assert text.count("whether db1:3306 is itself a replica cannot be seen, needs REPLICATION CLIENT") == 1


def test_a_source_whose_replication_status_fails_hides_no_other_one_that_is_named(chain):
    chain.servers["db1:3306"].failing = {"REPLICA STATUS": MysqlError("db1:3306 failed")}
    status, text = chain("db1", "top")
    assert (status, "no channel replicates" in text) == (3, False)
    assert text.count("the replication of db1:3306 was not seen: db1:3306 failed") == 1
    chain.servers["db1:3306"].failing = {"REPLICA STATUS": NoAnswerError("db1:3306 does not answer")}
    status, text = chain("db1", "top")
    assert (status, "no channel replicates" in text) == (0, False)
    assert "[OK] the replication of db1:3306 was not seen: db1:3306 does not answer" in text


def test_a_source_whose_disk_is_full_is_not_asked_what_would_hang_there_for_good():
    source = FakeReplica("MariaDB", "db1:3306")
    source.processes = [{"command": "Slave_IO", "time": 9, "state": "Waiting for someone to free space"}]
    other = Named(FakeReplica("MariaDB", "top:3306"), Identity(7, ""))
    found = Above(Named(source, Identity(1, "")), [other], FakeReplica("MariaDB"), ())
    assert found.look({}) is None
    assert [one.what for one in found.asides] == ["replication of db1:3306 waits for disk space"]
    assert found.asked == {other}
    assert not any("SLAVES STATUS" in sql for sql in source.asked)


def test_a_reference_whose_disk_is_full_is_not_asked_either():
    full = FakeReplica("MariaDB", "db3:3306")
    full.processes = [{"command": "Slave_IO", "time": 9, "state": "Waiting for someone to free space"}]
    found = Probe._compared(None, None, lambda: full)
    assert found.what == "not compared with the reference: replication of db3:3306 waits for disk space"
    assert not any("SLAVES STATUS" in sql for sql in full.asked)


def test_servers_that_replicate_from_each_other_are_no_chain(chain):
    leaf, middle = chain.servers["leaf:3306"], chain.servers["db1:3306"]
    middle.channel(Source_UUID=leaf.uuid, Replica_SQL_Running="No", Seconds_Behind_Source=None)
    status, text = chain("db1")
    assert (status, "stopped" in text) == (0, False)


def test_a_server_of_no_chain_is_refused(chain):
    chain.servers["other:3306"] = Member("other:3306", "f" + TOP[1:], "")
    status, text = chain("db1", "other")
    assert (status, "other:3306 is server 1, from which no channel replicates" in text) == (3, True)


def test_a_source_that_cannot_be_reached_is_named_as_the_source(chain, monkeypatch):
    def connect(target, *_):
        if target.where == "leaf:3306":
            return chain.servers[target.where]
        raise UnreachableError("nosuch: no such host")

    monkeypatch.setattr("stallwatch.sources.mysql.connect", connect)
    status, text = chain("nosuch")
    assert (status, "the source was not asked: nosuch: no such host" in text) == (3, True)


def test_what_is_kept_of_the_source_may_be_damaged(chain, tmp_path):
    chain("db1")
    (kept,) = tmp_path.glob("*.json")
    state = json.loads(kept.read_text())
    assert '"upstream"' in kept.read_text()
    for damage in ([], {"db1:3306": 7}, {"db1:3306": {"format": 1, "server_id": 7, "channels": [1]}}):
        _damage(state, damage)
        kept.write_text(json.dumps(state))
        assert "lag=0s" in chain("db1")[1]


def _damage(kept, damage):
    for name, value in kept.items():
        if name == "upstream":
            kept[name] = damage
        elif isinstance(value, dict):
            _damage(value, damage)
