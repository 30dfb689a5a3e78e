# ruff: noqa: E501 - what is said is written as it is said
"""What check_jmx makes of beans, on a server that is not there."""

import re
import runpy
from datetime import UTC, datetime
from pathlib import Path

import pytest
from recorded_jvm import RecordedJvm
from stallwatch.sources import recording
from stallwatch.sources.jmx.errors import (
    UnreachableError,
    UnreadableError,
)
from stallwatch.sources.jmx.info import Attribute
from stallwatch.sources.jmx.object_name import ObjectName

PLUGIN = Path(__file__).parents[2] / "plugins" / "check_jmx"


class Server(RecordedJvm):
    """Has the beans that it is given, and a JVM's clock; ``asked`` has what was searched for."""

    def __init__(self):
        self.clock = {"StartTime": 1000, "Uptime": 60_000}
        self.beans_there = {"java.lang:type=Runtime": self.clock}
        super().__init__(self.beans_there)

    def domains(self):
        return sorted({name.partition(":")[0] for name in self.beans_there})

    def names(self, pattern="*:*"):
        self.asked.append(pattern)
        return sorted(
            name
            for name in self.beans_there
            if not name.count("=") or ObjectName.parse(pattern).matches(ObjectName.parse(name))
        )

    def describe(self, beans):
        for bean in beans:
            yield [
                Attribute(name, "long", readable=True, writable=False) for name in self.beans_there[bean.name]
            ]


@pytest.fixture
def server():
    return Server()


@pytest.fixture
def ask(server, clock, tmp_path, monkeypatch):
    """Run check_jmx on the server, ``seconds`` after the last run: its status and output."""
    plugin = runpy.run_path(str(PLUGIN))

    def ask(*arguments, seconds=60, where=("-H", "db1", "-P", "7199")):
        clock.later(seconds)
        server.clock["Uptime"] += round(seconds * 1000)
        return plugin["check"].run(plugin["findings"], [*where, "--state-dir", str(tmp_path), *arguments])

    with recording.use(server):
        yield ask


NORMAL = " - if that is normal, add --missing ok"


def perfdata(output):
    return dict(item.split("=") for item in output.split("\n")[0].partition(" | ")[2].split())


# What is remembered


def test_two_quantities_of_one_attribute_know_the_same_number(ask, server):
    both = ("-O", "shop:type=Till", "-A", "Ms", "--rate", "--unit", "ms", "-c", "0.5s", "-A", "Ms", "--delta")
    server.beans_there["shop:type=Till"] = {"Ms": 1000}
    ask(*both)
    server.beans_there["shop:type=Till"]["Ms"] = 121_000
    status, output = ask(*both)
    assert status == 2
    assert perfdata(output) == {"Till.Ms.rate": "2s;;0.5", "Till.Ms.delta": "120000"}


def test_a_slash_in_the_name_of_an_attribute_is_no_way_into_another(ask, server):
    both = ("-O", "shop:type=Till", "-A", "a/b", "--delta", "-A", "a", "-K", "b", "--delta")
    server.beans_there["shop:type=Till"] = {"a/b": 10, "a": {"b": 500}}
    ask(*both)
    server.beans_there["shop:type=Till"] = {"a/b": 11, "a": {"b": 507}}
    assert list(perfdata(ask(*both)[1]).values()) == ["1", "7"]


def test_each_command_has_a_memory_of_its_own(ask, server):
    careful, easy = (
        ("-O", "shop:type=Till", "-A", "Blocked", "--delta", "-w", limit) for limit in ("50", "500")
    )
    server.beans_there["shop:type=Till"] = {"Blocked": 100}
    ask(*careful)
    ask(*easy)
    server.beans_there["shop:type=Till"] = {"Blocked": 160}
    ask(*easy)
    server.beans_there["shop:type=Till"] = {"Blocked": 170}
    assert ask(*careful)[0] == 1


@pytest.mark.parametrize(
    "other",
    [
        ("-H", "db2", "-P", "7199"),
        ("-H", "db1", "-P", "7200"),
        ("-U", "service:jmx:rmi:///jndi/rmi://db1:7199/other"),
    ],
)
def test_each_agent_has_a_memory_of_its_own(ask, server, other):
    delta = ("-O", "shop:type=Till", "-A", "Blocked", "--delta")
    server.beans_there["shop:type=Till"] = {"Blocked": 100}
    ask(*delta)
    assert "this is the first look" in ask(*delta, where=other)[1]
    url = ("-U", "service:jmx:rmi:///jndi/rmi://db1:7199/jmxrmi")
    assert perfdata(ask(*delta, where=url)[1]) == {"Till.Blocked.delta": "0"}


def test_a_forced_check_neither_raises_an_alert_nor_hides_one(ask, server):
    rate = ("-O", "shop:type=Till", "-A", "Sold", "--rate", "-c", "50")
    sold = server.beans_there["shop:type=Till"] = {"Sold": 0}
    ask(*rate)
    sold["Sold"] = 600
    assert perfdata(ask(*rate)[1]) == {"Till.Sold.rate": "10;;50"}
    sold["Sold"] += 20
    status, output = ask(*rate, seconds=0.15)
    assert (status, perfdata(output)) == (0, {"Till.Sold.rate": "10.3076;;50"})
    sold["Sold"] = 600 + 60 * 60
    assert ask(*rate, seconds=59.85)[0] == 2
    assert ask(*rate, seconds=0.5)[0] == 2  # not hidden by nothing having been sold meanwhile


def test_a_boolean_has_a_change_and_a_share(ask, server):
    server.beans_there["shop:type=Till"] = {"Open": True, "All": 4}
    delta = ("-O", "shop:type=Till", "-A", "Open", "--delta", "-c", "0")
    ask(*delta)
    assert ask(*delta) == (0, "JMX OK - Till Open 0 in 1 min | Till.Open.delta=0;;0")
    assert (
        ask("-O", "shop:type=Till", "-A", "Open", "--of", "All")[1]
        == "JMX OK - Till Open 1, 25 % of All 4 | Till.Open.of_All=25%"
    )


def test_a_list_is_counted(ask, server):
    server.beans_there["shop:type=Till"] = {"Dead": [], "Alive": ["a", "b"], "Load": [3, 4]}
    till = ("-O", "shop:type=Till", "-w", "0", "-A")
    assert ask(*till, "Dead") == (0, "JMX OK - Till Dead 0 items | Till.Dead=0;0")
    assert ask(*till, "Alive") == (1, "JMX WARNING - Till Alive 2 items | Till.Alive=2;0")
    assert ask(*till, "Load", "-K", "1") == (1, "JMX WARNING - Till Load 1 4 | Till.Load.1=4;0")


def test_a_key_written_as_a_part_of_the_attribute_is_told_apart(ask, server):
    server.beans_there["shop:type=Till"] = {"Sold": {"today": 1}}
    for written in ("Sold.today", "Sold/today"):
        answer = ask("-O", "shop:type=Till", "-A", written)
        assert answer == (
            3,
            f"JMX UNKNOWN - shop:type=Till has no attribute {written} - write -A Sold -K today",
        )


# What it is called


def test_names_do_not_depend_on_what_is_there(ask, server):
    both = ("-O", "aaa:type=T", "-A", "V", "-O", "bbb:type=T", "-A", "V")
    server.beans_there.update({"aaa:type=T": {"V": 1}, "bbb:type=T": {"V": 2}})
    assert perfdata(ask(*both)[1]) == {"T.V": "1", "T.V_2": "2"}
    del server.beans_there["aaa:type=T"]
    assert perfdata(ask(*both)[1]) == {"T.V_2": "2"}


@pytest.mark.parametrize(
    "alike",
    [
        ("c:type=Pool,name=a-b", "c:type=Pool,name=a/b"),  # no label may have what differs
        ("c:type=Pool,name=a_b", "c:type=Pool,name=a-b"),
        ("c:type=Pool,name=x", "c:type=Pool,scope=x"),  # no name has the key
        ("c:type=Pool,name=b,scope=a.c", "c:type=Pool,name=c.b,scope=a"),
    ],
)
def test_a_bean_does_not_go_on_with_the_number_of_another_that_is_called_the_same(ask, server, alike):
    server.beans_there |= {name: {"Busy": number} for number, name in enumerate(alike)}
    every = ("-O", "c:type=Pool,*", "-A", "Busy")
    both = perfdata(ask(*every)[1])
    assert sorted(both.values()) == ["0", "1"]
    for gone in alike:
        numbers = server.beans_there.pop(gone)
        (alone,) = perfdata(ask(*every)[1]).items()
        assert alone in both.items()
        server.beans_there[gone] = numbers


@pytest.mark.parametrize(
    ("pattern", "bean", "label"),
    [
        ("c:type=Pool,name=*", "c:type=Pool,name=eu.west_1", "eu.west_1.Busy"),
        ("c:type=Pool,*", "c:type=Pool,name=west", "west.Busy"),
        ("c:type=Pool,scope=*,name=*", "c:type=Pool,scope=eu.west,name=x", "eu.west.x.Busy"),
        ("c:scope=a b,name=*", "c:scope=a b,name=x", "a_b.x.Busy"),  # the user named this one
        ("c:name=a b", "c:name=a b", "a_b.Busy"),
        ("c:type=Pool,name=*", "c:type=Pool,name=eu west", "eu_west.Busy_573668"),
        ("c:type=Pool,*", "c:type=Pool,scope=west", "west.Busy_69fdab"),
    ],
)
def test_a_bean_has_a_checksum_where_its_name_does_not_tell_it_from_others(ask, server, pattern, bean, label):
    server.beans_there[bean] = {"Busy": 1}
    assert perfdata(ask("-O", pattern, "-A", "Busy")[1]) == {label: "1"}


def test_with_a_label_of_the_users_own_the_words_in_it_tell_beans_apart(ask, server):
    every = ("-O", "c:type=Pool,*", "-A", "Busy", "--label", "{scope} busy")
    server.beans_there["c:type=Pool,scope=east,name=a"] = {"Busy": 1}
    server.beans_there["c:type=Pool,scope=eu west,name=a"] = {"Busy": 2}
    assert perfdata(ask(*every)[1]) == {"east_busy": "1", "eu_west_busy_1c32b4": "2"}
    server.beans_there["c:type=Pool,scope=east,name=b"] = {"Busy": 3}
    output = ask(*every)[1]
    assert perfdata(output) == {"eu_west_busy_1c32b4": "2"}
    assert "2 numbers would have the label east_busy: none of them is in the perfdata" in output


def test_beans_of_two_quantities_that_only_signs_tell_apart_have_labels_of_their_own(ask, server):
    both = ("-O", "c:name=a-b", "-A", "Busy", "-O", "c:name=a_b", "-A", "Busy")
    server.beans_there |= {"c:name=a-b": {"Busy": 1}, "c:name=a_b": {"Busy": 2}}
    assert perfdata(ask(*both)[1]) == {"a_b.Busy": "1", "a_b.Busy_2": "2"}
    del server.beans_there["c:name=a-b"]
    assert perfdata(ask(*both)[1]) == {"a_b.Busy_2": "2"}


def test_a_bean_that_cannot_be_read_for_once_does_not_change_the_label_of_another(ask, server):
    beans = {"c:type=Pool,name=a-b": {"Busy": 1}, "c:type=Pool,name=a/b": {"Busy": 2}}
    server.beans_there |= beans
    both = perfdata(ask("-O", "c:type=Pool,*", "-A", "Busy")[1])
    beans["c:type=Pool,name=a-b"]["Busy"] = UnreadableError("Busy of c:type=Pool,name=a-b hangs")
    (left,) = perfdata(ask("-O", "c:type=Pool,*", "-A", "Busy")[1]).items()
    assert left in both.items()
    assert left[1] == "2"


def test_a_rate_and_a_share_have_names_of_their_own(ask, server):
    server.beans_there["shop:type=Till"] = {"Sold": 5, "Max": 10}
    all_three = ("-O", "shop:type=Till", "-A", "Sold", "--rate", "-A", "Sold", "--of", "Max", "-A", "Sold")
    assert perfdata(ask(*all_three)[1]) == {"Till.Sold.of_Max": "50%", "Till.Sold": "5"}
    assert perfdata(ask(*all_three)[1]) == {
        "Till.Sold.rate": "0",
        "Till.Sold.of_Max": "50%",
        "Till.Sold": "5",
    }


def test_only_what_might_have_the_same_name_is_numbered(ask, server):
    for pool in ("a", "b"):
        for metric in ("Active", "Pending"):
            server.beans_there[f"c:type=Pools,scope={pool},name={metric}"] = {"Value": 1}
    said = ask(
        "-O", "c:type=Pools,scope=*,name=Active", "-A", "Value", "-O", "c:type=Pools,name=Pending,scope=*", "-A", "Value",
        "-O", "c:type=Pools,scope=b,name=Active", "-A", "Value", "-O", "c:type=Pools,scope=b,name=*", "-A", "Value", "--label", "{scope}.{name}",
    )[1]  # fmt: skip
    assert set(perfdata(said)) == {
        "a.Active.Value", "b.Active.Value", "a.Pending.Value", "b.Pending.Value", "b.Active.Value_2", "b.Active", "b.Pending",
    }  # fmt: skip


def test_limits_of_two_quantities_of_one_name_are_not_mixed_up(ask, server):
    server.beans_there["shop:type=Till"] = {"Sold": 5}
    status, output = ask("-O", "shop:type=Till", "-A", "Sold", "-w", "4", "-A", "Sold", "-c", "9")
    assert (status, perfdata(output)) == (1, {"Till.Sold": "5;4", "Till.Sold_2": "5;;9"})


def test_an_empty_value_is_called_by_its_key(ask, server):
    server.beans_there["shop:type=Till,name="] = {"Blocked": 999}
    assert ask("-O", "shop:*", "-A", "Blocked", "-c", "500") == (
        2,
        "JMX CRITICAL - Till name= Blocked 999 (limit 500) | Till.name_.Blocked_f1836b=999;;500",
    )


def test_a_name_against_the_rules_is_asked_for_as_it_came(ask, server):
    server.beans_there["shop:a=b,c"] = {"Blocked": 999}
    server.names = lambda _: ["shop:a=b,c"]
    assert ask("-O", "shop:*", "-A", "Blocked", "-c", "500")[0] == 2


# Several beans


def test_nothing_counted_is_missing_unless_a_limit_is_about_it(ask, server):
    server.beans_there["java.lang:type=GarbageCollector,name=Copy"] = {"CollectionTime": 3}
    count = ("-O", "java.lan:type=GarbageCollector,*", "-A", "CollectionTime", "--aggregate", "count")
    status, output = ask(*count, "-c", "5")
    assert status == 3
    assert output.startswith(
        "JMX UNKNOWN - no MBean at db1:7199 matches java.lan:type=GarbageCollector,* - did you mean the domain java.lang? | "
    )
    name = "GarbageCollector.CollectionTime.count"
    assert perfdata(output) == {name: "0;;5"}
    assert ask(*count, "-c", "1:")[0] == 2
    assert ask(*count, "--missing", "ok") == (
        0,
        f"JMX OK - GarbageCollector CollectionTime: 0 beans | {name}=0",
    )


@pytest.mark.parametrize(
    ("pattern", "told"),
    [("name=*", "12, 2 beans"), ("name=*Cycles", "900, 1 bean"), ("name=ZGC Major*", "5, 1 bean")],
)
def test_a_sum_over_collectors_leaves_concurrent_work_out_unless_only_that_is_asked_for(
    ask, server, pattern, told
):
    for name, spent in ("ZGC Major Cycles", 900), ("ZGC Major Pauses", 5), ("ZGC Minor Pauses", 7):
        server.beans_there[f"java.lang:type=GarbageCollector,name={name}"] = {"CollectionTime": spent}
    asked = ("-O", f"java.lang:type=GarbageCollector,{pattern}", "-A", "CollectionTime", "--aggregate", "sum")
    assert f": sum {told}" in ask(*asked)[1].partition(" | ")[0]


def test_an_aggregate_says_which_beans_it_leaves_out(ask, server):
    one, other = server.beans_there["s:type=T,name=a"], server.beans_there["s:type=T,name=b"] = (
        {"N": 100},
        {"N": 100},
    )
    grown = ("-O", "s:type=T,*", "-A", "N", "--delta", "--unit", "c", "--aggregate", "sum")
    ask(*grown)
    one["N"], other["N"] = 60, 120
    assert ask(*grown)[1].split("\n") == [
        "JMX OK - T N: sum +20 in 1 min, 1 of 2 beans | T.N.delta.sum=20",
        "[OK] a N: it was reset, from 100 to 60, so its change is known from the next run on",
    ]
    one["Max"], other["Max"] = -1, 240
    assert ask("-O", "s:type=T,*", "-A", "N", "--of", "Max", "--aggregate", "sum")[1].startswith(
        "JMX OK - T N: sum 120, 50 % of Max 240, 1 of 2 beans, 1 without a limit | "
    )


# The share of two changes


def requests(server, ms, count, errors=0):
    server.beans_there["s:type=Requests"] = {"Ms": ms, "Count": count, "Errors": errors}


TIME_PER_REQUEST = (
    "-O",
    "s:type=Requests",
    "-A",
    "Ms",
    "--unit",
    "ms",
    "--per",
    "Count",
    "--delta",
    "-w",
    "20",
)
ERROR_RATE = ("-O", "s:type=Requests", "-A", "Errors", "--of", "Count", "--rate", "-w", "5%")


def test_the_time_of_a_request_since_the_last_run(ask, server):
    requests(server, 1_000_000, 100_000)
    first = "JMX OK - Requests Ms: this is the first look, so its change is known from the next run on"
    assert ask(*TIME_PER_REQUEST) == (0, first)
    requests(server, 1_003_000, 100_100)
    assert ask(*TIME_PER_REQUEST) == (
        1,
        "JMX WARNING - Requests Ms 30 ms per Count in 1 min (limit 20 ms) | Requests.Ms.per_Count.delta=0.03s;0.02",
    )


def test_the_share_of_errors_since_the_last_run(ask, server):
    requests(server, 0, 1000, 900)
    ask(*ERROR_RATE)
    requests(server, 0, 1200, 903)
    assert (
        ask(*ERROR_RATE)[1]
        == "JMX OK - Requests Errors 3, 1.5 % of Count 200 | Requests.Errors.of_Count.rate=1.5%;5"
    )
    requests(server, 0, 1210, 904)
    assert ask(*ERROR_RATE)[1].startswith("JMX WARNING - Requests Errors 1, 10 % of Count 10 (limit 5 %) | ")


def test_without_a_request_since_the_last_run_there_is_no_share(ask, server):
    requests(server, 0, 1000, 900)
    ask(*ERROR_RATE)
    assert ask(*ERROR_RATE) == (0, "JMX OK - Requests Errors: Count has not changed in 1 min")


@pytest.mark.parametrize("after", [(0, 10, 950), (0, 2000, 1)])
def test_a_counter_that_begins_anew_is_no_share(ask, server, after):
    requests(server, 0, 1000, 900)
    ask(*ERROR_RATE)
    requests(server, *after)
    status, output = ask(*ERROR_RATE)
    assert (status, "it was reset" in output) == (0, True)


def test_so_much_for_each_since_the_start(ask, server):
    requests(server, 3000, 100)
    quantity = TIME_PER_REQUEST[:-3]
    assert ask(*quantity) == (0, "JMX OK - Requests Ms 30 ms per Count | Requests.Ms.per_Count=0.03s")
    requests(server, 0, 0)
    assert ask(*quantity)[0] == 3


# How long ago

LAST = ("-O", "s:type=Backup", "-A", "Last", "--age", "-w", "1h", "-c", "1d")


@pytest.mark.parametrize("last", [-1800, -7200, -90_000])
@pytest.mark.parametrize("kind", ["ms", "date", "seconds"])
def test_how_long_ago_it_was_by_the_clock_of_the_jvm(ask, server, last, kind):
    server.clock["StartTime"] = 1_700_000_000_000
    seconds = 60 + (server.clock["StartTime"] + server.clock["Uptime"]) / 1000 + last
    date = datetime.fromtimestamp(seconds, UTC).isoformat()
    value = {"ms": round(seconds * 1000), "date": date, "seconds": seconds}[kind]
    server.beans_there["s:type=Backup"] = {"Last": value}
    more = ("--unit", "s") if kind == "seconds" else ()
    status, output = ask(*LAST, *more)
    said = {-1800: "OK - Backup Last 30 min ago", -7200: "WARNING - Backup Last 2 h ago (limit 1 h)"}
    expected = said.get(last, "CRITICAL - Backup Last 1 d 1 h ago (limit 1 d)")
    assert (status, output) == (
        ["OK", "WARNING", "CRITICAL"].index(expected.partition(" ")[0]),
        f"JMX {expected} | Backup.Last.age={-last}s;3600;86400",
    )


def test_a_date_a_little_in_the_future_was_just_now_as_clocks_differ(ask, server):
    server.clock["StartTime"] = 1_700_000_000_000
    now = 60_000 + server.clock["StartTime"] + server.clock["Uptime"]
    server.beans_there["s:type=Backup"] = {"Last": now + 59_000}
    assert ask(*LAST) == (0, "JMX OK - Backup Last 0 s ago | Backup.Last.age=0s;3600;86400")
    server.beans_there["s:type=Backup"] = {"Last": now + 60_000 + 7_200_000}
    assert ask(*LAST[:-2])[1].startswith("JMX WARNING - Backup Last 2 h in the future (minimum 0 s) | ")
    assert ask(*LAST[:5], "-w", "~:-1h")[0] == 0  # what ends then


@pytest.mark.parametrize("never", [0, -1, None, 2**63 - 1])
def test_what_never_was_is_missing(ask, server, never):
    server.beans_there["s:type=Backup"] = {"Last": never}
    assert [ask(*LAST, "--missing", state)[0] for state in ("unknown", "critical", "ok")] == [3, 2, 0]


@pytest.mark.parametrize("odd", ["yesterday", True, [1]])
def test_what_is_no_moment_is_said(ask, server, odd):
    server.beans_there["s:type=Backup"] = {"Last": odd}
    assert ask(*LAST)[0] == 3


# Texts that must not be, and how many are right


def test_a_text_that_must_not_be(ask, server):
    server.beans_there["s:type=T"] = {"Mode": "DEGRADED"}
    quantity = ("-O", "s:type=T", "-A", "Mode", "--no-match")
    assert ask(*quantity, "DEGRADED|DOWN") == (
        2,
        'JMX CRITICAL - T Mode is "DEGRADED", matches DEGRADED/DOWN',
    )
    assert ask(*quantity, "DOWN") == (0, 'JMX OK - T Mode is "DEGRADED"')
    assert ask(*quantity, "DEGRADED", "--mismatch", "warning")[0] == 1


def test_how_many_beans_have_the_right_text(ask, server):
    states = {"a": "STARTED", "b": "STOPPED", "c": "STARTED"}
    server.beans_there.update({f"s:type=T,name={name}": {"State": state} for name, state in states.items()})
    count = ("-O", "s:type=T,*", "-A", "State", "--aggregate", "count")
    assert ask(*count, "--match", "STARTED", "-c", "3:") == (
        2,
        "JMX CRITICAL - T State: 2 of 3 beans match STARTED (minimum 3) | T.State.match.count=2",
    )
    assert ask(*count, "--no-match", "STARTED", "-w", "0")[1] == (
        "JMX WARNING - T State: 1 of 3 beans without STARTED | T.State.no_match.count=1;0"
    )
    assert ask(*count, "--match", "FAILED", "-w", "0")[1].startswith(
        "JMX OK - T State: 0 of 3 beans match FAILED | "
    )


# The worst first


def test_the_worst_of_several_beans_is_said_first_and_nothing_of_all_of_them(ask, server):
    numbers = {"a": 8, "b": 12, "c": 4, "d": 30}
    server.beans_there.update({f"s:type=T,name={name}": {"N": number} for name, number in numbers.items()})
    status, output = ask("-O", "s:type=T,*", "-A", "N", "-w", "5", "-c", "20")
    assert (status, output.splitlines()) == (
        2,
        [
            "JMX CRITICAL - d N 30 (limit 20) (+2 more problems) | a.N=8;5;20 b.N=12;5;20 c.N=4;5;20 d.N=30;5;20",
            "[WARNING] b N 12 (limit 5)",
            "[WARNING] a N 8 (limit 5)",
        ],
    )
    assert ask("-O", "s:type=T,*", "-A", "N", "-w", "6:")[1].startswith("JMX WARNING - c N 4 (minimum 6) | ")
    assert ask("-O", "s:type=T,*", "-A", "N", "-w", "50")[1].startswith(
        "JMX OK - T N: 4 (c) to 30 (d), 4 beans"
    )


def test_a_warning_beyond_the_critical_range_is_refused(ask):
    said = ask("-O", "s:type=T", "-A", "N", "-w", "80", "-c", "60")
    assert said[0] == 3
    assert said[1].startswith(
        "JMX UNKNOWN - --warning 80 is beyond --critical 60: no value would be a warning"
    )


def test_many_beans_have_no_perfdata_of_their_own(ask, server):
    server.beans_there.update({f"s:type=T,name={number}": {"N": number} for number in range(101)})
    status, output = ask("-O", "s:type=T,*", "-A", "N", "-c", "99")
    assert (status, output) == (
        2,
        "JMX CRITICAL - 100 N 100 (limit 99)\n[OK] 101 numbers are too many for the perfdata: --aggregate makes one of them",
    )


@pytest.mark.parametrize(
    ("used", "most", "status", "text"),
    [
        (0, 0, 0, "OK - a Used 0, 0 % of Max 0 | a.Used.of_Max=0%;80"),
        (9, 0, 3, f"UNKNOWN - a Used can be no share: Max is 0{NORMAL}"),
        (9, -1, 3, f"UNKNOWN - a Used has no limit: Max is -1{NORMAL}"),
        (9, 2**63 - 1, 3, f"UNKNOWN - a Used has no limit: Max is 9223372036854775807{NORMAL}"),
    ],
)
def test_nothing_is_a_limit(ask, server, used, most, status, text):
    server.beans_there["s:type=T,name=a"] = {"Used": used, "Max": most}
    assert ask("-O", "s:type=T,name=a", "-A", "Used", "--of", "Max", "-w", "80") == (status, f"JMX {text}")


@pytest.mark.parametrize("options", [("--rate",), ("--delta", "--unit", "c"), ("--rate", "--of", "All")])
@pytest.mark.parametrize("all_of_it", [1, 100])
def test_what_is_not_counted_has_not_stood_still(ask, server, options, all_of_it):
    """Servers write -1 for a count that is switched off."""
    asked = ("-O", "s:type=T,name=a", "-A", "Done", *options, "-c", "1:")
    for turn in (1, 2):
        server.beans_there["s:type=T,name=a"] = {"Done": -1, "All": all_of_it * turn}
        assert ask(*asked) == (3, f"JMX UNKNOWN - Done of s:type=T,name=a is -1, which is no count{NORMAL}")


def test_the_whole_of_a_share_that_is_not_counted_is_missing(ask, server):
    server.beans_there["s:type=T,name=a"] = {"Done": 5, "All": -1}
    status, output = ask("-O", "s:type=T,name=a", "-A", "Done", "--rate", "--of", "All")
    assert (status, output) == (3, f"JMX UNKNOWN - All of s:type=T,name=a is -1, which is no count{NORMAL}")


@pytest.mark.parametrize(
    ("options", "numbers", "line"),
    [
        (("--of", "Max"), {"Max": 100, "Used": -1}, "a Used can be no share: it is -1"),
        (("--per", "Max"), {"Max": 0, "Used": 5}, "a Used cannot be divided: Max is 0"),
        (("--per", "Max"), {"Max": -1, "Used": 5}, "a Used cannot be divided: Max is -1"),
    ],
)
def test_what_can_be_no_part_is_missing(ask, server, options, numbers, line):
    server.beans_there["s:type=T,name=a"] = numbers
    asked = ("-O", "s:type=T,name=a", "-A", "Used", *options, "-w", "80")
    assert ask(*asked) == (3, f"JMX UNKNOWN - {line}{NORMAL}")


def test_a_number_below_0_is_shown_with_the_minimum_that_it_breaks(ask, server):
    server.beans_there["s:type=T,name=a"] = {"Used": -1}
    asked = ("-O", "s:type=T,name=a", "-A", "Used", "-w", "80")
    assert ask(*asked) == (1, "JMX WARNING - a Used -1 (minimum 0) | a.Used=-1;80")


def test_a_share_of_nothing_is_not_passed_over_in_a_pattern(ask, server):
    server.beans_there["s:type=T,name=a"] = {"Used": 10, "Max": 100}
    server.beans_there["s:type=T,name=b"] = {"Used": 90, "Max": 0}
    status, output = ask("-O", "s:type=T,*", "-A", "Used", "--of", "Max", "-w", "80")
    assert (status, output.partition(" | ")[0]) == (
        3,
        f"JMX UNKNOWN - b Used can be no share: Max is 0{NORMAL}",
    )


KEYS = ("-O", "a:type=T,*", "-A", "X", "-K", "key")


@pytest.mark.parametrize(
    ("options", "status", "first"),
    [
        ((), 3, "UNKNOWN - X of a:type=T,name=2 has no key key - it has other (+1 more problem) | 1.X.key=5"),
        (("--missing", "ok"), 0, "OK - 1 X key 5 | 1.X.key=5"),
        (("--missing", "warning", "-c", "4"), 2, "CRITICAL - 1 X key 5 (limit 4) (+2 more problems) | 1.X.key=5;;4"),
        (("--missing", "critical"), 2, "CRITICAL - X of a:type=T,name=2 has no key key - it has other (+1 more problem) | 1.X.key=5"),
        (("--missing", "ok", "--aggregate", "sum"), 0, "OK - T X key: sum 5, 1 bean | T.X.key.sum=5"),
        (("--aggregate", "sum"), 3, "UNKNOWN - X of a:type=T,name=2 has no key key - it has other (+1 more problem) | T.X.key.sum=5"),
        (("--missing", "ok", "--aggregate", "count"), 0, "OK - T X key: 1 bean | T.X.key.count=1"),
    ],
)  # fmt: skip
def test_a_key_that_some_beans_of_a_pattern_lack_is_as_missing_says(ask, server, options, status, first):
    server.beans_there |= {
        "a:type=T,name=1": {"X": {"key": 5}},
        "a:type=T,name=2": {"X": {"other": 1}},
        "a:type=T,name=3": {"X": None},
        "a:type=T,name=4": {"Y": 1},  # which was not meant
    }
    said, output = ask(*KEYS, *options)
    assert (said, output.split("\n")[0]) == (status, f"JMX {first}")
    hint = "" if "--missing" in options else NORMAL
    below = [line.partition("] ")[2] or line for line in output.split("\n")[1:]]
    assert f"X of a:type=T,name=3 is null and has no key key{hint}" in below
    assert ("  if that is normal, add --missing ok" in below) == bool(hint)


def test_a_date_is_to_be_judged_as_one(ask, server):
    server.beans_there["a:type=T"] = {"Last": "2026-11-28T05:47:38.776Z", "Text": "2026-11-28"}
    line = 'JMX UNKNOWN - Last of a:type=T is "2026-11-28T05:47:38.776Z" - judge a date with --age'
    assert ask("-O", "a:type=T", "-A", "Last") == (3, line)
    assert ask("-O", "a:type=T", "-A", "Text")[1].endswith(" - judge text with --match REGEX")


def test_an_application_that_is_gone_leads_to_its_deployment(ask):
    status, output = ask("-O", "com.example.gone:type=Orders", "-A", "Open")
    assert status == 3
    assert output.split("\n")[0] == (
        "JMX UNKNOWN - there is no MBean com.example.gone:type=Orders at db1:7199 - check that the application "
        "is deployed and started (--list WORD shows what is there)"
    )


def test_a_misspelled_key_is_not_called_normal(ask, server):
    server.beans_there["a:type=T,name=1"] = {"X": {"keys": 1}}
    assert ask(*KEYS) == (3, "JMX UNKNOWN - X of a:type=T,name=1 has no key key - did you mean keys?")


@pytest.mark.parametrize(
    ("options", "first", "below"),
    [
        (("-A", "Parts"), "Parts of shop:type=Till has 40 parts - choose one with -K: part number 0, part number 1, part number 2",
         "choose one with -K: part number 0, part number 1, "),
        (("-A", "Parts", "-K", "x"), "Parts of shop:type=Till has no key x - it has part number 0, ", "it has part number 0, "),
        (("-A", "x"), "shop:type=Till has no attribute x - there are Attribute number 0, ", "there are Attribute number 0, "),
    ],
)  # fmt: skip
def test_names_that_do_not_fit_into_a_text_message_are_below(ask, server, options, first, below):
    attributes = {f"Attribute number {number}": 1 for number in range(40)}
    server.beans_there["shop:type=Till"] = {
        "Parts": {f"part number {number}": 1 for number in range(40)},
        **attributes,
    }
    status, output = ask("-O", "shop:type=Till", *options)
    line, rest = output.split("\n")
    assert (status, line.startswith(f"JMX UNKNOWN - {first}")) == (3, True), line
    assert re.search(r"number \d+ and \d+ more$", line)
    assert len(line) <= 160
    assert rest.startswith(f"  next step: {below}")
    assert "number 39" in rest


@pytest.mark.parametrize("end", ["", ",*"])
def test_a_long_object_name_that_is_not_there_is_below_in_full(ask, server, end):
    asked = f"com.example.of.a.department:type=Till,name={'long' * 30}{end}"
    server.beans_there["com.example.of.a.department:type=Till,name=a"] = {"N": 1}
    for number in (1, 2):
        status, output = ask(*("-O", asked, "-A", "N") * number)
        assert status == 3
        line, *below = output.split("\n")
        assert "com.example.of.a.department:type=Till..." in line
        assert len(line) <= 160
        assert any(asked in one for one in below)
        assert any("there are com.example.of.a.department:type=Till,name=a" in one for one in (line, *below))


def test_a_growth_of_seconds_is_told_per_second(ask, server):
    took = ("-O", "shop:type=Till", "-A", "Ms", "--rate", "--unit", "ms", "-w", "500ms")
    server.beans_there["shop:type=Till"] = {"Ms": 0}
    ask(*took)
    server.beans_there["shop:type=Till"] = {"Ms": 90_000}
    assert ask(*took) == (1, "JMX WARNING - Till Ms 1.5 s per second (limit 500 ms) | Till.Ms.rate=1.5s;0.5")


def test_a_name_in_a_sentence_begins_with_its_type_as_in_lists(ask, server):
    server.beans_there["a:name=1,type=T"] = {"X": {"other": 1}}
    assert " - X of a:type=T,name=1 has no key key - " in ask(*KEYS)[1]


def test_a_key_that_all_beans_of_a_pattern_lack_is_as_missing_says(ask, server):
    server.beans_there |= {f"a:type=T,name={number}": {"X": {"other": 1}} for number in (1, 2)}
    for state, status in ("ok", 0), ("warning", 1), ("critical", 2), ("unknown", 3):
        assert ask(*KEYS, "--missing", state)[0] == status
        assert ask(*KEYS, "--missing", state, "--aggregate", "max")[0] == status
    assert ask(*KEYS, "--missing", "ok", "--aggregate", "count", "-c", "1:")[1].startswith(
        "JMX CRITICAL - T X key: 0 beans (minimum 1) | T.X.key.count=0\n"
    )


def test_a_place_that_no_bean_can_fill_is_never_missing(ask, server):
    server.beans_there.update(
        {"s:type=T,name=a": {"N": 1}, "s:type=T,name=b": {"N": 1}, "s:type=T": {"N": 1}, "s:type=U": {"M": 1}}
    )
    pattern = ("-O", "s:*", "-A", "N", "--missing", "ok", "--label")
    assert ask(*pattern, "{nope}") == (
        3,
        "JMX UNKNOWN - no MBean that matches s:* has a key property nope for --label {nope}",
    )
    status, output = ask(*pattern, "{name}")
    assert (status, perfdata(output)) == (3, {"a": "1", "b": "1"})
    assert "s:type=T has no key property name for {name}" in output
    assert "s:type=U" not in output


def test_a_whole_whose_name_makes_no_sense_leaves_the_others_their_say(ask, server):
    server.beans_there.update({'s:name="a,b"': {"N": 1}, "s:name=a": {"N": 1}, "limit:type=xa": {"Max": 4}})
    status, output = ask("-O", "s:name=*", "-A", "N", "--of", "limit:type=x{name}/Max")
    assert (status, list(perfdata(output).values())) == (3, ["25%"])
    assert 'limit:type=x{name} makes no object name for s:name="a,b": ' in output


# Text


def test_a_mismatch_may_be_a_warning(ask, server):
    server.beans_there["s:type=T"] = {"Mode": "JOINING"}
    mode = ("-O", "s:type=T", "-A", "Mode", "--match", "NORMAL")
    assert ask(*mode)[0] == 2
    assert ask(*mode, "--mismatch", "warning") == (
        1,
        'JMX WARNING - T Mode is "JOINING", does not match NORMAL',
    )


# Hints


def test_a_hint_never_costs_the_verdict(ask, server):
    server.beans_there["s:type=T"] = {"N": 9}

    def refused(_):
        raise UnreachableError("this user may not")

    server.names = refused
    status, output = ask(
        "-O", "s:type=Tt", "-A", "N", "-O", "s:type=T", "-A", "N", "-c", "5", "--unreachable", "critical"
    )
    assert status == 2
    assert output.startswith(
        "JMX CRITICAL - T N 9 (limit 5) (+1 more problem) | T.N=9;;5\n[UNKNOWN] there is no MBean s:type=Tt at db1:7199"
    )


def test_hints_come_after_all_has_been_remembered(ask, server, tmp_path):
    server.beans_there["s:type=Till"] = {"N": 9}
    kept = []
    server.names = lambda _: kept.extend(tmp_path.glob("*.json")) or ["s:type=Till"]
    output = ask("-O", "s:type=Til", "-A", "N", "-O", "s:type=Till", "-A", "N", "--delta")[1]
    assert "did you mean s:type=Till?" in output
    assert len(kept) == 1


def test_nobody_looks_for_a_hint_that_is_not_told_or_has_no_time(ask, server, clock):
    missing = ("-O", "s:type=Tt", "-A", "N")
    assert ask(*missing, "--missing", "ok") == (0, "JMX OK - there is no MBean s:type=Tt at db1:7199")
    assert server.asked == []

    def slow(pattern):
        server.asked.append(pattern)
        clock.later(4.1)
        return ["s:type=T"]

    server.names = slow
    assert ask(*missing, "-O", "s:type=Uu", "-A", "N")[1].split("\n") == [
        "JMX UNKNOWN - there is no MBean s:type=Tt at db1:7199 (+1 more problem)",
        "[UNKNOWN] there is no MBean s:type=Uu at db1:7199",
    ]
    assert server.asked == ["s:*"]


def test_what_is_missing_is_known_even_if_the_connection_is_lost_later(ask, server):
    read = server.read

    def lost(wanted):
        for name, attributes in wanted:
            if "Limit" in attributes:
                raise UnreachableError("db1:7199 closed the connection")
            yield from read([(name, attributes)])

    server.beans_there["s:type=T"] = {"C": {"used": 1}}
    server.read = lost
    status, output = ask(
        "-O", "s:type=Uu", "-A", "N", "--missing", "critical", "-O", "s:type=T", "-A", "C", "-K", "used", "--of", "Limit"
    )  # fmt: skip
    assert (status, output.split("\n")) == (2, [
        "JMX CRITICAL - there is no MBean s:type=Uu at db1:7199 (+1 more problem)",
        "[UNKNOWN] db1:7199 closed the connection",
    ])  # fmt: skip
