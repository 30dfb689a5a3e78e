"""What check_replication_lag says of a replica, from run to run."""

import contextlib
import runpy
import time
from pathlib import Path

import pytest
from clock import Clock, keep_time
from fake_replica import FLAVOURS, UUID, FakeReplica
from first_line import perfdata
from stallwatch.deadline import TimeUpError
from stallwatch.frame.options import mysql
from stallwatch.probes.replication_lag import gtid
from stallwatch.sources.mysql import MysqlError, NoAnswerError
from stallwatch.sources.mysql.errors import NotSentError

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_replication_lag"))


@pytest.fixture
def replica():
    return FakeReplica()


@pytest.fixture
def look(replica, tmp_path, monkeypatch):
    """Run the plugin at that replica, a minute after the last time."""
    monkeypatch.setattr(mysql, "connect", lambda *_: replica)
    clock = Clock(1_000_000.0)
    keep_time(monkeypatch, lambda: clock.now)

    def run(*arguments, after=60.0):
        clock.later(after)
        replica.later(after)
        status, text = PLUGIN["check"].run(PLUGIN["findings"], ["--state-dir", str(tmp_path), *arguments])
        return status, text

    return run


def first_line(text):
    return text.splitlines()[0].partition(" | ")[0]


def test_a_healthy_replica_is_ok_and_costs_few_statements(look, replica):
    replica.channel()
    status, text = look()
    assert status == 0
    assert first_line(text) == "REPLICATION_LAG OK - replica of db1 lags 0 s"
    assert len(replica.asked) == 5


def test_no_gtid_set_is_kept_after_the_run(look, replica):
    replica.channel()
    look()
    assert gtid.parse.cache_info().currsize == gtid.is_mariadb.cache_info().currsize == 0


@pytest.fixture
def gtids(replica, monkeypatch):
    """Let the replica have a UUID, and a function that sets how many transactions of its own it has."""
    own, answer = "c" + UUID[1:], replica._answer

    def with_uuid(sql):
        return [row | {"uuid": own} if "AS net_timeout" in sql else row for row in answer(sql)]

    monkeypatch.setattr(replica, "_answer", with_uuid)
    return lambda number: replica.channel(Executed_Gtid_Set=f"{UUID}:1-5,{own}:1-{number}")


def errant(text):
    """What the perfdata says of errant transactions."""
    return [item for item in text.splitlines()[0].split() if item.startswith("errant=")]


def test_errant_is_in_the_perfdata_of_each_run_that_has_compared(look, gtids):
    gtids(7)
    assert errant(look()[1]) == []
    assert errant(look()[1]) == ["errant=0;0"]
    assert "replica of db1: no errant GTIDs in the last 1 min" in look("-v")[1]
    assert errant(look("--role", "source")[1]) == errant(look("--no-state")[1]) == []


def test_errant_stays_0_where_the_source_replicates_from_here(look, replica, gtids, monkeypatch):
    answer = replica._answer
    replicas = [{"uuid": UUID}]
    monkeypatch.setattr(replica, "_answer", lambda sql: replicas if "replica_uuid" in sql else answer(sql))
    gtids(7)
    look()
    gtids(9)
    assert errant(look()[1]) == errant(look()[1]) == ["errant=0;0"]
    replicas[0]["uuid"] = "d" + UUID[1:]
    gtids(11)
    assert errant(look(after=3590.0)[1]) == ["errant=2;0"]


def test_each_channel_has_its_numbers(look, replica):
    replica.channel("east")
    replica.channel("west")
    _, text = look()
    perfdata = text.splitlines()[0].partition(" | ")[2].split()
    assert [item.partition("=")[0] for item in perfdata if "_lag=" in item] == [
        "east_lag", "east_transport_lag", "east_upstream_lag", "east_apply_lag",
        "west_lag", "west_transport_lag", "west_upstream_lag", "west_apply_lag",
    ]  # fmt: skip


def test_many_channels_have_their_lag_alone_in_the_perfdata(look, replica):
    for number in range(30):
        replica.channel(f"channel{number}")
    status, text = look()
    assert status == 0
    assert text.splitlines()[0].count("=") == 30
    assert len(text.splitlines()[0]) < 1023
    assert "channel29_lag=0s;60;600" in text


def test_the_worst_channel_comes_first(look, replica):
    replica.channel("east")
    replica.channel("west", Replica_SQL_Running="No", Last_SQL_Errno=1062, Last_SQL_Error="Duplicate entry")
    replica.applies("east", committed=700)
    status, text = look()
    assert status == 2
    assert "channel west lags 0 s, the applier stopped with error 1062: Duplicate entry" in first_line(text)
    step = "see SHOW PROCESSLIST on the replica"
    assert (
        f"\n[CRITICAL] channel east lags 700 s (limit 600 s) - {step}\n  how the lag is known: commit" in text
    )


def test_a_lag_has_its_cause(look, replica):
    replica.applies(committed=312)
    status, text = look()
    assert status == 1
    assert "REPLICATION_LAG WARNING - replica of db1 lags 312 s (limit 60 s)" in first_line(text)
    assert "lag=312s;60;600" in text


@pytest.mark.parametrize(
    ("state", "status"), [(None, 3), ("ok", 0), ("warning", 1), ("critical", 2), ("unknown", 3)]
)
def test_what_is_no_replica_is_what_the_user_says(look, state, status):
    said, text = look(*(["--not-replica", state] if state else []))
    assert said == status
    assert "db2:3306 (MySQL 9.7.2) is not a replica" in text


def test_channels_can_be_chosen_and_left_out(look, replica):
    for name in ("east", "west", "dev"):
        replica.channel(name)
    replica.channel("dev", Replica_IO_Running="No")
    assert look("--ignore-channel", "dev")[0] == 0
    assert look("--channel", "east", "--channel", "we.*")[0] == 0
    status, text = look("--channel", "d.*")
    assert status == 2
    assert "channel dev lags 1 s, the receiver is stopped - " in text
    assert "cause: the receiver is stopped, without an error" in text
    status, text = look("--channel", "north")
    assert status == 3
    assert 'its channels are "east", "west", "dev"' in text


def test_the_default_channel_has_an_empty_name(look, replica):
    replica.channel()
    replica.channel("east", Replica_IO_Running="No")
    assert look("--channel", "")[0] == 0
    assert look("--ignore-channel", "")[0] == 2


def test_a_receiver_that_connects_is_critical_after_its_grace(look, replica):
    replica.channel(Replica_IO_Running="Connecting", Last_IO_Errno=2003, Last_IO_Error="cannot connect")
    states = [look()[0] for _ in range(4)]
    assert states == [1, 1, 1, 2]
    replica.channel(Replica_IO_Running="Yes", Last_IO_Errno=0)
    assert look()[0] == 0
    replica.channel(Replica_IO_Running="Connecting")
    assert look()[0] == 1


def test_of_a_source_that_was_never_reached_no_lag_is_known(look, replica):
    replica.channel(
        Replica_IO_Running="Connecting", Source_Server_Id=0, Source_UUID="", Retrieved_Gtid_Set=""
    )
    replica.receivers[""] |= {"queued": "", "queued_at": 0, "queued_commit": 0, "queued_sent": 0}
    status, text = look()
    assert status == 1
    assert "lag=" not in text
    assert ", lag unknown (no evidence yet), the receiver " in first_line(text)


def test_the_grace_can_be_set(look, replica):
    replica.channel(Replica_IO_Running="Connecting")
    assert [look("--connecting-grace", "0")[0] for _ in range(2)] == [1, 2]


def test_a_source_that_is_not_heard_of_is_a_warning_although_both_threads_run(look, replica):
    replica.channel()
    look()
    replica.receivers[""]["contact"] = 80.0
    status, text = look(after=80.0)
    assert status == 1
    assert "lags up to 80 s (limit 60 s), no event or heartbeat for 80 s - see whether db1" in first_line(
        text
    )
    assert "\n  a heartbeat is due every 30 s, " in text


def test_commit_times_that_are_denied_cost_accuracy_not_the_lag(look, replica):
    replica.channel()
    replica.denied = {"performance_schema": "SELECT ON performance_schema.*"}
    status, text = look()
    assert status == 0
    assert "without commit times" in text
    assert "how the lag is known: Seconds_Behind" in look("-v")[1]


def test_whatever_fails_beside_the_status_does_not_cost_the_lag(look, replica):
    replica.channel(Seconds_Behind_Source=7)
    broken = MysqlError("db2:3306 says: wrong structure (error 1682)", number=1682)
    replica.failing = {"performance_schema": broken, "PROCESSLIST": NoAnswerError("too slow", number=3024)}
    status, text = look()
    assert status == 0
    assert "lag=7s" in text
    assert "without commit times" in text
    assert "wrong structure" in text


def test_a_heartbeat_table_that_is_locked_does_not_cost_the_lag(look, replica):
    replica.applies(committed=700)
    replica.failing = {"`percona`": NoAnswerError("waited 1 s for a lock (error 1205)", number=1205)}
    status, text = look("--heartbeat", "percona.heartbeat")
    assert status == 2
    assert "lags 700 s (limit 600 s)" in text
    assert "waited 1 s for a lock" in text


def test_a_server_that_stops_answering_leaves_what_is_known_already(look, replica):
    replica.applies(committed=700)
    replica.failing = {"`percona`": NoAnswerError("db2:3306 does not answer any more")}
    status, text = look("--heartbeat", "percona.heartbeat")
    assert status == 2
    assert "lags 700 s (limit 600 s)" in text
    assert "db2:3306 does not answer any more" in text


def test_commit_times_that_do_not_come_in_time_do_not_hide_the_lag(look, replica):
    replica.channel(Seconds_Behind_Source=7)
    late = NoAnswerError("db2:3306 has not answered within 200 ms: asked SELECT")
    replica.failing = {"performance_schema": late}
    status, text = look("--heartbeat", "percona.heartbeat", "--source", "db1")
    assert status == 0
    assert first_line(text) == "REPLICATION_LAG OK - replica of db1 lags 7 s"
    assert "[OK] without commit times the lag is what Seconds_Behind makes of it, db2:3306 has not" in text
    assert not any("percona" in one for one in replica.asked)  # that connection is of no more use


def test_a_source_for_which_no_time_was_left_does_not_hide_the_lag(look, replica, monkeypatch):
    replica.applies(committed=7)

    @contextlib.contextmanager
    def besides(*_):
        raise NoAnswerError("no time was left to ask db1:3306", "raise --timeout")
        yield

    monkeypatch.setattr(mysql, "connect_besides", besides)
    status, text = look("--source", "db1")
    assert status == 0
    assert first_line(text) == "REPLICATION_LAG OK - replica of db1 lags 7 s"
    assert "[OK] the source was not asked: no time was left to ask db1:3306" in text


def test_a_full_disk_makes_the_status_hang_and_is_told(look, replica):
    replica.channel()
    replica.failing = {"SHOW REPLICA STATUS": NoAnswerError("db2:3306 has not answered within 3 s")}
    status, text = look()
    assert status == 3
    assert "has not answered within 3 s" in text
    replica.processes = [{"command": "Slave_IO", "time": 9, "state": "Waiting for someone to free space"}]
    status, text = look()
    assert status == 2
    assert "replication waits for disk space on db2:3306, and the replication status with it" in text


def test_a_stranger_in_the_place_of_the_replica_is_told(look, replica, monkeypatch):
    def again():
        raise NotSentError("db2:3306 shows another certificate: the password was not sent")

    monkeypatch.setattr(replica, "again", again)
    replica.channel(Replica_IO_Running="Connecting")
    assert "[UNKNOWN] db2:3306 shows another certificate: the password was not sent" in look()[1]


def test_an_account_with_one_connection_costs_no_memory_and_no_verdict(look, replica):
    replica.channel(Replica_IO_Running="Connecting")
    replica.lets_in_again = False
    assert [look("--unreachable", "critical")[0] for _ in range(4)] == [1, 1, 1, 2]
    replica.channel(Replica_IO_Running="Yes")
    status, text = look("-v", "--unreachable", "critical")
    assert status == 0
    assert "SHOW ENGINE INNODB STATUS was not asked: db2:3306 has no connection left" in text


def test_a_status_that_is_denied_is_unknown(look, replica):
    replica.channel()
    replica.denied = {"SHOW REPLICA STATUS": "REPLICATION CLIENT"}
    status, text = look()
    assert status == 3
    assert "GRANT REPLICATION CLIENT" in text


def test_a_fork_that_knows_only_the_old_statement_is_asked_that(look, replica):
    replica.channel()
    replica.unknown = ("SHOW REPLICA STATUS",)
    assert look()[0] == 0


def test_a_lag_that_grows_is_seen_coming(look, replica):
    replica.applies(committed=100)
    for lag in (100, 130, 160, 190, 220):
        replica.applies(committed=lag)
        status, text = look("-w", "1000", "-c", "2000")
    assert status == 0
    assert first_line(text).endswith("lags 220 s and grows 0.5 s/s, WARNING in 26 min")
    replica.applies(committed=250)
    status, text = look("-w", "1000", "-c", "2000", "--horizon", "1h")
    assert status == 1
    assert "CRITICAL in 58 min" in first_line(text)


def test_the_pace_of_the_article_reads_as_it_was(look, replica):
    for hour in range(25):  # a backup of 24 h left the replica 11 h behind
        replica.applies(committed=hour * 11 / 24 * 3600)
        _, text = look("-w", "1d", "-c", "2d", after=3600.0)
    assert "lags 11 h and grows 0.46 s/s" in first_line(text)
    assert "\n  0.54 s of changes are applied in 1 s" in look("-w", "1d", "-c", "2d", "-v")[1]


def test_a_lag_that_shrinks_says_when_it_is_over(look, replica):
    for lag in (900, 810, 720, 630, 540):
        replica.applies(committed=lag)
        _, text = look()
    assert "catching up, done in 6 min" in first_line(text)


def test_what_is_remembered_belongs_to_what_was_asked_for(look, replica, tmp_path):
    replica.channel("east")
    look()
    look("--channel", "east")
    assert len(list(tmp_path.glob("replication_lag-*.json"))) == 2


def test_labels_stay_whoever_is_worse(look, replica):
    for name, committed in (("a b", 1), ("a_b", 9)):
        replica.applies(name, committed=committed)
    _, text = look()
    replica.applies("a b", committed=20)
    _, later = look()
    assert perfdata(text)["a_b_806c5c_lag"] == "1s;60;600"
    assert perfdata(later)["a_b_806c5c_lag"] == "20s;60;600"
    assert perfdata(text)["a_b_lag"] == perfdata(later)["a_b_lag"] == "9s;60;600"


def test_a_label_never_goes_over_to_another_channel(look, replica):
    channels = ["", "apply", "eu west", "eu-west", "eu_west", "eu_west_apply"]

    def labels():
        return set(perfdata(look("--no-state")[1]))

    alone = []
    for name in channels:
        replica.channels.clear()
        replica.channel(name)
        alone.append({one for one in labels() if not one.startswith("innodb_")})
    assert alone[0] >= {"lag", "apply_lag"}
    assert alone[4] >= {"eu_west_lag", "eu_west_apply_lag"}
    assert len(set.union(*alone)) == sum(map(len, alone))
    for name in channels:
        replica.channel(name)
    lags = {label for one in alone for label in one if label.endswith("_lag") or label == "lag"}
    shown = labels()
    assert len(shown & lags) == len(channels)
    assert shown <= set.union(*alone, {"innodb_status"})


def test_the_recovery_of_a_group_that_is_over_is_no_alert(look, replica):
    replica.channel("east")
    replica.channel("group_replication_recovery", Replica_IO_Running="No", Replica_SQL_Running="No")
    assert look()[0] == 0
    replica.channel("group_replication_recovery", Last_SQL_Errno=1062)
    assert look()[0] == 2


def test_a_channel_may_be_called_anything(look, replica):
    replica.channel("a|b\nc'd=e")
    status, text = look()
    assert status == 0
    assert text.count("|") == 1
    assert "a_b_c_d_e_10c55f_lag=0s;60;600" in text.splitlines()[0]


@pytest.mark.parametrize(
    "lie",
    [
        {"Seconds_Behind_Source": "many"},
        {"Seconds_Behind_Source": float("nan")},
        {"Seconds_Behind_Source": -5},
        {"Read_Source_Log_Pos": "1e400"},
        {"Retrieved_Gtid_Set": "not a set", "Executed_Gtid_Set": "x" * 100_000},
        {"SQL_Delay": "inf"},
        {"SQL_Remaining_Delay": "soon"},
        {"Source_Port": None, "Source_Host": None},
        {"Replica_IO_Running": None},
        {"Last_SQL_Error": "\x00\x1b[31m|" * 10_000, "Last_SQL_Errno": 1, "Replica_SQL_Running": "No"},
    ],
)
def test_a_lying_server_is_never_a_crash(look, replica, lie):
    replica.channel(**lie)
    for arguments in ((), ("-v",)):
        status, text = look(*arguments)
        assert status in {0, 1, 2, 3}
        assert "internal error" not in text
        assert "nan" not in text
        assert "\x1b" not in text


@pytest.mark.parametrize("moment", ["queued_at", "queued_commit", "last_heartbeat", "queueing_commit"])
@pytest.mark.parametrize("value", [1e18, -1e18, float("inf"), "yesterday"])
def test_moments_that_make_no_sense_are_never_a_crash(look, replica, moment, value):
    replica.channel()
    replica.receivers[""][moment] = value
    status, text = look()
    assert "internal error" not in text
    assert status in {0, 1, 2, 3}


@pytest.mark.parametrize("step", [-86400, 86400, 365 * 86400])
def test_our_clock_being_set_makes_no_lag(look, replica, monkeypatch, step):
    replica.flavour = FLAVOURS["MariaDB"]
    replica.uptime = 100  # seconds: less than the clock is set by
    passes = time.time
    at_most = []
    for beats, set_by in enumerate((0, step, 0)):
        replica.channel(Slave_received_heartbeats=3 + 2 * beats)
        monkeypatch.setattr(time, "time", lambda by=set_by: passes() + by)
        status, text = look("-v")
        assert status == 0, text
        assert "REPLICATION_LAG OK - replica of db1 lags 0 s" in text
        at_most.append(text.splitlines()[-1].split()[5])
    assert at_most == ["-", "30", "30"]  # one of two heartbeats came a period after the last look


def test_a_search_for_causes_that_is_cut_short_hides_nothing_that_was_found_before(
    look, replica, monkeypatch
):
    def late(*_):
        raise TimeUpError("no verdict within 10 s")

    monkeypatch.setattr("stallwatch.probes.replication_lag.signals.collect.gather", late)
    replica.read_only = 1
    replica.channel()
    status, text = look("-v", "--role", "source")
    assert status == 2
    assert "no client can write to this source, read_only is ON" in first_line(text)
    assert "[OK] the search for causes was cut short" in text


@pytest.mark.parametrize(
    ("role", "read_only", "channels", "status"),
    [
        ("replica", 0, [], 1),  # which clients can write to
        ("replica", 1, [], 3),
        ("source", 0, [], 0),
        ("source", 1, [], 2),
        ("source", 0, [""], 3),
    ],
)
def test_only_a_source_needs_no_channel(look, replica, role, read_only, channels, status):
    replica.read_only = read_only
    for name in channels:
        replica.channel(name)
    said, text = look("--role", role, "--ignore-channel", "")
    assert (said, role == "source" or "is not a replica" in text) == (status, True)


def test_the_primary_of_a_group_may_have_the_channel_by_which_it_once_joined(look, replica):
    replica.read_only = 0
    replica.channel("group_replication_recovery", Replica_IO_Running="No", Replica_SQL_Running="No")
    assert look("--role", "source")[0] == 0


STATUS = "SHOW REPLICA STATUS"


def comes_late(replica, seconds, said):
    """Let transactions seem to come so late: one is in hand, and Seconds_Behind says so much."""
    replica.channel(Exec_Source_Log_Pos=400, Seconds_Behind_Source=said)
    replica.receivers[""]["transport"] = seconds


def test_clocks_that_differ_are_known_after_a_few_further_looks_and_kept(look, replica):
    comes_late(replica, 120.0, said=0)
    status, text = look()
    assert (status, first_line(text)) == (0, "REPLICATION_LAG OK - replica of db1 lags 0 s")
    assert "clock_offset=120s" in text
    asked = replica.asked.count(STATUS)
    assert asked == 1 + 3
    assert "its clock is 120 s ahead of the source's" in look("-v")[1]
    assert replica.asked.count(STATUS) == asked + 1


def test_a_late_stream_is_known_after_as_many(look, replica):
    comes_late(replica, 120.0, said=0)
    replica.channel(Exec_Source_Log_Pos=500)  # between two transactions
    answered = replica.rows
    replica.rows = lambda sql, *more, **within: (
        (comes_late(replica, 120.0, said=119) if STATUS in replica.asked else None)
        or answered(sql, *more, **within)
    )
    status, text = look()
    assert status == 1
    assert "lags 120 s" in first_line(text)
    assert "clock_offset" not in text


def test_where_nothing_decides_nothing_alarms(look, replica):
    replica.channel()
    replica.receivers[""]["transport"] = 700.0
    for _ in range(2):
        status, text = look()
        assert status == 0
        assert first_line(text).endswith("lags 0 s, up to 701 s unless the clocks differ")
    assert "compare them with --source" in text


def test_further_looks_that_fail_leave_what_is_known(look, replica):
    replica.channel()
    replica.receivers[""]["transport"] = 700.0
    answered = replica.rows

    def once(sql, *more, **within):
        if sql == STATUS and STATUS in replica.asked:
            raise MysqlError("db2:3306 says: no", number=1)
        return answered(sql, *more, **within)

    replica.rows = once
    status, text = look()
    assert status == 0
    assert text.count("clocks that differ may look like lag") == 1


def test_a_clock_of_the_replica_that_is_set_makes_no_lag(look, replica):
    replica.channel()
    look()
    replica.now += 60
    replica.receivers[""]["transport"] += 60
    replica.channel(Seconds_Behind_Source=60)
    status, text = look(after=300.0)
    assert status == 0
    assert "clock_offset=60" in text
    assert "Seconds_Behind 60 is wrong: clocks differ by 60 s" in text
