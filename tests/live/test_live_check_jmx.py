# ruff: noqa: E501 - what is said is written as it is said
"""check_jmx on a real JVM and a real Cassandra."""

import json
import os
import subprocess
import sys
import time

import check_jmx_command
import old_cassandra
import pytest
from loopback import wait_until
from plugin_command import Said, environment
from stallwatch.labels import own

SLACK = 30  # seconds for a busy machine to start a program and to end it
HEAP = ("-O", "java.lang:type=Memory", "-A", "HeapMemoryUsage")
POOLS = ("-O", "java.lang:type=MemoryPool,*", "-A", "Usage", "-K", "used")
NUMBERS = ("-O", "target:type=Numbers", "-A")
TROUBLE = ("-O", "target:type=Trouble", "-A")
COUNTER = ("-O", "target:type=Counter", "-A", "Value")
BLOCKED = "org.apache.cassandra.metrics:type=ThreadPools,path=internal,scope=MemtableFlushWriter,name=CurrentlyBlockedTasks"
ARTICLE = (
    "check_jmx!$HOSTADDRESS$!{port}!-O org.apache.cassandra.internal:type=FlushWriter -A CurrentlyBlockedTask"
)
PEAK = """
import os, resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""


@pytest.fixture
def ask(tmp_path):
    """Run check_jmx on a server and give what it said."""
    return lambda server, *arguments: Said.of(check_jmx_command.run(tmp_path, server, *arguments))


# What is read


def test_a_key_of_a_composite_value_and_its_share(ask, jvm):
    said = ask(jvm, *HEAP, "-K", "used", "--of", "max", "--unit", "B", "-w", "80%", "-c", "90%")
    assert said.status == 0
    assert said.text.startswith("JMX OK - Memory HeapMemoryUsage used ")
    assert " % of max 123.8 MiB" in said.text
    assert said.perfdata["Memory.HeapMemoryUsage.used.of_max"].endswith("%;80;90")


def test_the_url_and_the_other_transport_say_the_same(ask, jvm, tmp_path):
    quantity = ("-O", "java.lang:type=Memory", "-A", "HeapMemoryUsage", "-K", "max")
    first = ask(jvm, *quantity)
    assert (first.status, first.perfdata) == (0, {"Memory.HeapMemoryUsage.max": "129761280"})
    assert ask(jvm, *quantity, "--via", "jmxquery") == first


def test_each_quantity_has_thresholds_of_its_own(ask, jvm):
    said = ask(
        jvm, *NUMBERS, "Int", "-w", "41", "-A", "Double", "-c", "0.05:0.2", "-A", "BoxedInteger", "-c", "0:"
    )
    assert said.status == 2
    assert said.text == "JMX CRITICAL - Numbers BoxedInteger -1 (minimum 0) (+1 more problem)"
    assert said.more == ["[WARNING] Numbers Int 42 (limit 41)"]
    assert said.perfdata == {"Numbers.Int": "42;41", "Numbers.Double": "0.1", "Numbers.BoxedInteger": "-1"}


def test_rows_of_tables_items_of_lists_and_keys_with_slashes(ask, jvm):
    mixed = ("-O", "target:type=Mixed", "-A")
    said = ask(
        jvm, *mixed, "Points", "-K", "2/y", "-A", "Sizes", "-K", "with | pipe", "-A", "Matrix", "-K", "1/0",
        "-A", "Path", "-K", "1/x",
    )  # fmt: skip
    assert said.status == 0
    assert list(said.perfdata.values()) == ["20", "2", "3", "1"]


def test_an_odd_name_can_be_asked_for(ask, jvm):
    said = ask(jvm, "-O", 'target:type=Odd,name="a=b,c:d"', "-A", "semi;colon", "-A", "Größe")
    assert (said.status, said.perfdata) == (0, {"a_b_c_d.semi_colon": "3", "a_b_c_d.Gr__e": "5"})


def test_a_name_with_nothing_or_quotes_in_it_is_not_left_out(ask, changeable_jvm):
    for name in ("name=", 'na"me=q'):
        changeable_jvm.bean(f"shop:type=Till,{name}", {"Blocked": 999})
    changeable_jvm.bean("shop:type=Till", {"Blocked": 1})
    said = ask(changeable_jvm, "-O", "shop:*", "-A", "Blocked", "-c", "500")
    assert (said.status, list(said.perfdata.values())) == (2, ["1;;500", "999;;500", "999;;500"])
    assert ask(changeable_jvm, "-O", "shop:type=Till,name=", "-A", "Blocked", "-c", "500").status == 2
    assert ask(changeable_jvm, "--list", "shop:*").output.endswith(
        "\n3 MBeans with 3 attributes; domains: 1\n"
    )


def test_booleans_text_that_is_a_number_and_times_in_base_units(ask, changeable_jvm):
    changeable_jvm.bean("shop:type=Cart", {"Open": True, "Items": "12", "Wait": 1500})
    said = ask(
        changeable_jvm, "-O", "shop:type=Cart", "-A", "Open", "-c", "1:", "-A", "Items",
        "-A", "Wait", "--unit", "ms", "-w", "1000", "-c", "2s", "-v",
    )  # fmt: skip
    assert said.text == "JMX WARNING - Cart Wait 1.5 s (limit 1 s)"
    assert said.more == ["[OK] Cart Open true", "[OK] Cart Items 12"]
    assert said.perfdata == {"Cart.Open": "1", "Cart.Items": "12", "Cart.Wait": "1.5s;1;2"}


def test_text_is_matched(ask, jvm):
    vm = ("-O", "java.lang:type=Runtime", "-A", "VmName", "--match")
    assert ask(jvm, *vm, "^OpenJDK").status == 0
    said = ask(jvm, *vm, "Zing")
    assert (said.status, said.perfdata) == (2, {})
    assert said.text.startswith('JMX CRITICAL - Runtime VmName is "OpenJDK')
    assert said.text.endswith('", does not match Zing')


# Several beans


def test_a_bean_is_called_the_same_by_its_name_and_by_a_pattern_in_which_it_has_siblings(ask, jvm):
    all_of_them = ask(jvm, *POOLS)
    one = ask(jvm, "-O", "java.lang:type=MemoryPool,name=Tenured Gen", "-A", "Usage", "-K", "used")
    assert all_of_them.status == 0
    assert all_of_them.text.startswith("JMX OK - MemoryPool Usage used: ")
    assert all_of_them.text.endswith(" beans")
    tenured = own("Tenured_Gen.Usage.used", "java.lang:name=Tenured Gen,type=MemoryPool")
    assert {"Metaspace.Usage.used", tenured} <= set(all_of_them.perfdata)
    assert list(one.perfdata) == ["Tenured_Gen.Usage.used"]


def test_a_label_is_made_of_key_properties(ask, jvm):
    said = ask(jvm, *POOLS, "--label", "{name}", "-w", "0:", "-v")
    tenured = own("Tenured_Gen", "java.lang:name=Tenured Gen,type=MemoryPool")
    assert {"Metaspace", tenured} <= set(said.perfdata)
    assert any(line.startswith("[OK] Tenured Gen ") for line in said.more)


def test_one_number_of_all(ask, changeable_jvm):
    for name, value in (("a", 5), ("b", -1), ("c", 11)):
        changeable_jvm.bean(f"shop:type=Till,name={name}", {"Queue": value, "Size": 20})
    changeable_jvm.bean("shop:type=Till,name=d", {"Other": 7})
    tills = ("-O", "shop:type=Till,*", "-A", "Queue", "--aggregate")
    assert ask(changeable_jvm, *tills, "sum").text == "JMX OK - Till Queue: sum 15, 3 beans"
    assert ask(changeable_jvm, *tills, "avg").perfdata == {"Till.Queue.avg": "5"}
    assert (
        ask(changeable_jvm, *tills, "max", "-w", "10").text
        == "JMX WARNING - Till Queue: max 11 (c) (limit 10), 3 beans"
    )
    assert ask(changeable_jvm, *tills, "min").text == "JMX OK - Till Queue: min -1 (b), 3 beans"
    assert ask(changeable_jvm, *tills, "count", "-c", "4:").status == 2
    said = ask(changeable_jvm, *tills, "sum", "--of", "Size")  # -1 is no part
    assert (said.status, said.perfdata) == (3, {"Till.Queue.of_Size.sum": "40%"})
    said = ask(changeable_jvm, *tills, "max", "--of", "Size", "--label", "fullest", "--missing", "ok")
    assert said.text == "JMX OK - fullest: max 11, 55 % of Size 20 (c), 2 beans"
    none = ("-O", "shop:type=None,*", "-A", "Queue", "--aggregate", "count")
    assert ask(changeable_jvm, *none).status == 3
    assert ask(changeable_jvm, *none, "--missing", "ok").status == 0


def test_a_whole_in_another_bean_named_alike(ask, changeable_jvm):
    for name, limit in (("a", 4), ("b", 50)):
        changeable_jvm.bean(f"shop:type=Used,name={name}", {"Value": 2})
        changeable_jvm.bean(f"shop:type=Limit,name={name}", {"Value": limit})
    said = ask(
        changeable_jvm,
        "-O",
        "shop:type=Used,name=*",
        "-A",
        "Value",
        "--of",
        "shop:type=Limit,name={name}/Value",
    )
    assert said.perfdata == {"a.Value.of_Value": "50%", "b.Value.of_Value": "4%"}


def test_what_has_no_limit_is_no_share(ask, jvm):
    said = ask(jvm, *POOLS, "--of", "max")
    assert said.status == 0
    assert said.text.endswith(" beans, 1 without a limit")
    assert len(said.perfdata) > 3
    assert "Metaspace.Usage.used.of_max" not in said.perfdata
    metaspace = ("-O", "java.lang:type=MemoryPool,name=Metaspace", "-A", "Usage", "-K", "used", "--of", "max")
    said = ask(jvm, *metaspace)
    assert (said.status, said.text) == (
        3,
        "JMX UNKNOWN - Metaspace Usage used has no limit: max is -1 - if that is normal, add --missing ok",
    )
    assert ask(jvm, *metaspace, "--missing", "ok").status == 0


# What is not there


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-O", "java.lang:type=Memry", "-A", "X"), "there is no MBean java.lang:type=Memry at {where}: did you mean java.lang:type=Memory?"),
        (("-O", "java.lan:type=Memory", "-A", "X"), "there is no MBean java.lan:type=Memory at {where}: did you mean the domain java.lang?"),
        (("-O", "java.lang:type=MemoryPool", "-A", "X"), "there is no MBean java.lang:type=MemoryPool at {where}: names of its kind are longer: java.lang:type=MemoryPool,* would fit"),
        (("-O", "java.lang:type=Threading", "-A", "threadcount"), "java.lang:type=Threading has no attribute threadcount: did you mean ThreadCount?"),
        (("-O", "java.lang:type=Thr*", "-A", "threadcnt"), "no MBean at {where} that matches java.lang:type=Thr* has an attribute threadcnt: did you mean ThreadCount?"),
        ((*HEAP, "-K", "usd"), "HeapMemoryUsage of java.lang:type=Memory has no key usd: did you mean used?"),
        ((*HEAP, "-K", "x"), "HeapMemoryUsage of java.lang:type=Memory has no key x: it has committed, init, max and used"),
        (HEAP, "HeapMemoryUsage of java.lang:type=Memory has 4 parts: choose one with -K: committed, init, max or used"),
        ((*NUMBERS, "NaN"), "NaN of target:type=Numbers is NaN, which is not a number: if that is normal, add --missing ok"),
        ((*NUMBERS, "NegativeInfinity"), "NegativeInfinity of target:type=Numbers is -Infinity, which is not a number: if that is normal, add --missing ok"),
        ((*NUMBERS, "NullInteger"), "NullInteger of target:type=Numbers is null: if that is normal, add --missing ok"),
        ((*NUMBERS, "Char"), 'Char of target:type=Numbers is "c": judge text with --match REGEX'),
        (("-O", "target:type=Mixed", "-A", "Names", "-K", "2"), "Names of target:type=Mixed is a list and has no item 2: its items are 0 to 1"),
        ((*TROUBLE, "ThrowsChecked"), "ThrowsChecked of target:type=Trouble cannot be read: Foreign$Trouble: checked trouble"),
        ((*TROUBLE, "NotSerializable"), "NotSerializable of target:type=Trouble cannot be read: its value cannot be sent, NotSerializableException: target.Foreign$Opaque"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_unknown_and_says_what_there_is(ask, jvm, arguments, sentence):
    said = ask(jvm, *arguments)
    where = f"{jvm.host}:{jvm.port}"
    assert (said.status, said.sentence) == (3, sentence.format(where=where))
    assert said.perfdata == {}


@pytest.mark.parametrize(("state", "status"), [("ok", 0), ("warning", 1), ("critical", 2), ("unknown", 3)])
def test_the_user_says_what_it_means_that_something_is_missing(ask, jvm, state, status):
    for missing in (
        ("-O", "a:b=c", "-A", "X"),
        (*NUMBERS, "NullInteger"),
        (*NUMBERS, "Nix"),
        (*HEAP, "-K", "x"),
    ):
        assert ask(jvm, *missing, "--missing", state).status == status


def test_a_getter_that_throws_is_never_ok_and_leaves_the_others_their_say(ask, jvm):
    said = ask(jvm, *TROUBLE, "Good", "-A", "ThrowsRuntime", "-A", "StackOverflow", "--missing", "ok")
    assert (said.status, said.perfdata) == (3, {"Trouble.Good": "1"})


def test_an_attribute_that_never_comes_ends_in_time_and_costs_nothing_but_itself(ask, jvm_that_hangs):
    begun = time.monotonic()
    never = ("-O", "target:type=Never", "-A", "Value")
    said = ask(jvm_that_hangs, *never, "-A", "One", "-t", "4s", "--unreachable", "critical")
    assert time.monotonic() - begun < 4 + 0.5 + SLACK
    assert (said.status, said.perfdata) == (3, {"Never.One": "1"})
    assert "Value of target:type=Never cannot be read: no answer within " in said.text


# Between two runs


def test_what_it_changed_by(ask, changeable_jvm):
    changeable_jvm.set("target:type=Counter", Value=1000)
    delta = (*COUNTER, "--delta", "-w", "50")
    first = ask(changeable_jvm, *delta)
    assert (first.status, first.perfdata) == (0, {})
    assert (
        first.text
        == "JMX OK - Counter Value: this is the first look, so its change is known from the next run on"
    )
    changeable_jvm.set("target:type=Counter", Value=1060)
    time.sleep(1)
    said = ask(changeable_jvm, *delta)
    assert (said.status, said.perfdata) == (1, {"Counter.Value.delta": "60;50"})
    assert said.text.startswith("JMX WARNING - Counter Value +60 in ")
    changeable_jvm.set("target:type=Counter", Value=1040)
    time.sleep(1)
    assert ask(changeable_jvm, *delta).perfdata == {"Counter.Value.delta": "40;50"}  # the same look again


def test_how_much_it_grew_for_each_of_another(ask, changeable_jvm):
    per = (*COUNTER, "--unit", "ms", "--per", "Other", "--delta")
    of = (*COUNTER, "--of", "Other", "--rate")
    changeable_jvm.set("target:type=Counter", Value=1000, Other=50)
    assert (ask(changeable_jvm, *per).status, ask(changeable_jvm, *of).status) == (0, 0)
    changeable_jvm.set("target:type=Counter", Value=1030, Other=150)
    time.sleep(1)
    assert ask(changeable_jvm, *per).perfdata == {"Counter.Value.per_Other.delta": "0.0003s"}
    assert ask(changeable_jvm, *of).perfdata == {"Counter.Value.of_Other.rate": "30%"}


def test_how_long_ago_a_date_and_a_number_of_milliseconds_are(ask, jvm):
    said = ask(
        jvm, "-O", "java.lang:type=Runtime", "-A", "StartTime", "--age", "-A", "Uptime", "--unit", "ms"
    )
    age, uptime = (
        float(said.perfdata[name].rstrip("s")) for name in ("Runtime.StartTime.age", "Runtime.Uptime")
    )
    assert abs(age - uptime) < 1
    said = ask(jvm, "-O", "target:type=Times", "-A", "Date", "--age", "-w", "1h")
    assert (said.status, said.text.endswith(" ago (limit 1 h)")) == (1, True)


def test_what_it_grew_by_per_second_on_the_clock_of_the_jvm(ask, changeable_jvm):
    rate = (*COUNTER, "--rate", "--unit", "B")
    changeable_jvm.set("target:type=Counter", Value=0)
    begun = time.monotonic()
    ask(changeable_jvm, *rate)
    time.sleep(1)
    changeable_jvm.set("target:type=Counter", Value=5_000_000)
    said = ask(changeable_jvm, *rate)
    spent = time.monotonic() - begun
    per_second = float(said.perfdata["Counter.Value.rate"].removesuffix("B"))
    assert 5_000_000 / spent < per_second < 5_000_000
    assert said.text.endswith("/s")


def test_a_counter_that_went_back_and_a_new_jvm_begin_anew(ask, changeable_jvm):
    rate = (*COUNTER, "--rate", "-c", "0")
    changeable_jvm.set("target:type=Counter", Value=500)
    ask(changeable_jvm, *rate)
    changeable_jvm.set("target:type=Counter", Value=20)
    time.sleep(1)
    said = ask(changeable_jvm, *rate)
    assert (said.status, said.perfdata) == (0, {})
    assert (
        said.text
        == "JMX OK - Counter Value: it was reset, from 500 to 20, so its rate is known from the next run on"
    )
    changeable_jvm.stop()
    changeable_jvm.start()
    changeable_jvm.set("target:type=Counter", Value=900)
    said = ask(changeable_jvm, *rate)
    assert (
        said.text
        == "JMX OK - Counter Value: the JVM has restarted since the last look, so its rate is known from the next run on"
    )
    time.sleep(1)
    assert (said.status, ask(changeable_jvm, *rate).perfdata) == (0, {"Counter.Value.rate": "0;;0"})


def test_a_bean_that_is_new_has_no_rate_yet(ask, changeable_jvm):
    changeable_jvm.bean("shop:type=Till,name=a", {"Sold": 5})
    rate = ("-O", "shop:type=Till,*", "-A", "Sold", "--delta", "--unit", "c")
    ask(changeable_jvm, *rate)
    changeable_jvm.bean("shop:type=Till,name=b", {"Sold": 7})
    time.sleep(1)
    said = ask(changeable_jvm, *rate)
    assert (said.status, said.perfdata) == (0, {"a.Sold.delta": "0"})
    assert said.more == [
        "[OK] b Sold: it was not there at the last look, so its change is known from the next run on"
    ]


# The command of the article of 2012, through Nagios


def test_the_articles_misspelling_is_answered_with_the_name_that_exists(tmp_path, changeable_jvm):
    old_cassandra.show(changeable_jvm, CurrentlyBlockedTasks=3)
    said = check_jmx_command.nagios(
        tmp_path, ARTICLE.format(port=changeable_jvm.port), HOSTADDRESS=changeable_jvm.host
    )
    assert (said.status, said.sentence) == (
        3,
        "org.apache.cassandra.internal:type=FlushWriter has no attribute CurrentlyBlockedTask: did you mean CurrentlyBlockedTasks?",
    )
    said = check_jmx_command.nagios(
        tmp_path, ARTICLE.format(port=changeable_jvm.port) + "s -c 2", HOSTADDRESS=changeable_jvm.host
    )
    assert (said.status, said.text) == (2, "JMX CRITICAL - FlushWriter CurrentlyBlockedTasks 3 (limit 2)")
    assert said.perfdata == {"FlushWriter.CurrentlyBlockedTasks": "3;;2"}


def test_a_cassandra_of_today_has_it_elsewhere(tmp_path, cassandra):
    command = ARTICLE.format(port=cassandra.port)
    said = check_jmx_command.nagios(tmp_path, command, HOSTADDRESS=cassandra.host)
    assert said.status == 3
    assert said.sentence.endswith(
        f": did you mean CurrentlyBlockedTasks? This Cassandra has it as -O {BLOCKED} -A Count"
    )
    said = check_jmx_command.nagios(tmp_path, command + "s -w 10 -c 50", HOSTADDRESS=cassandra.host)
    assert (said.status, said.perfdata) == (0, {"FlushWriter.CurrentlyBlockedTasks": "0;10;50"})
    assert (
        said.text
        == f"JMX OK - FlushWriter CurrentlyBlockedTasks 0 (read as Count of {BLOCKED}, which took its place)"
    )


def test_all_old_numbers_of_a_pool_are_found(ask, cassandra):
    quantities = [word for task in old_cassandra.TASKS for word in ("-A", task)]
    said = ask(cassandra, "-O", "org.apache.cassandra.internal:type=MemtablePostFlusher", *quantities)
    assert said.status == 0
    assert set(said.perfdata) == {f"MemtablePostFlusher.{task}" for task in old_cassandra.TASKS}
    assert int(said.perfdata["MemtablePostFlusher.CompletedTasks"]) > 0


# Lists


def test_a_list_has_every_domain_bean_and_attribute(tmp_path, jvm):
    run = check_jmx_command.run(tmp_path, jvm, "--list")
    assert (run.returncode, run.stderr) == (0, "")
    lines = run.stdout.splitlines()
    assert {"[java.lang]", "[target]", "[odd domain/with;all-that.]"} <= set(lines)
    assert "java.lang:type=MemoryPool,name=Metaspace" in lines
    assert "  HeapMemoryUsage                 CompositeData  r" in lines
    assert "  Verbose                         boolean        rw" in lines
    beans = sum(":" in line for line in lines[:-1] if not line.startswith((" ", "[")))
    assert lines[-1].startswith(f"{beans} MBeans with ")


@pytest.mark.parametrize("wanted", ["java.lang:type=Mem*", "TYPE=mem", "lang*type=memory"])
def test_a_list_may_be_narrowed(tmp_path, jvm, wanted):
    run = check_jmx_command.run(tmp_path, jvm, "--list", wanted)
    assert run.returncode == 0
    assert "java.lang:type=Memory\n" in run.stdout
    assert "Threading" not in run.stdout


def test_a_list_of_nothing_says_what_there_is(ask, jvm):
    said = ask(jvm, "--list", "cassandra")
    assert said.status == 3
    assert " has cassandra in its name: its domains are JMImplementation, " in said.sentence
    said = ask(jvm, "--list", "java.lan:*")
    assert (said.status, said.sentence) == (
        3,
        f"no MBean at {jvm.host}:{jvm.port} matches java.lan:*: did you mean the domain java.lang?",
    )


def test_values_are_listed_and_failures_say_why(tmp_path, jvm):
    run = check_jmx_command.run(tmp_path, jvm, "--list", "target:*", "--values", "--output", "json")
    beans = {bean["bean"]: bean for bean in map(json.loads, run.stdout.split("\n")[:-1])}
    assert run.returncode == 0
    trouble = {one["name"]: one for one in beans["target:type=Trouble"]["attributes"]}
    assert trouble["Good"] == {
        "name": "Good",
        "type": "int",
        "access": "r",
        "description": "the attribute Good",
        "value": 1,
    }
    assert "checked trouble" in trouble["ThrowsChecked"]["error"]
    assert trouble["WriteOnly"]["access"] == "w"
    assert "value" not in trouble["WriteOnly"]
    numbers = {
        one["name"]: one["value"] for one in beans["target:type=Numbers"]["attributes"] if "value" in one
    }
    assert (numbers["MaxLong"], numbers["NaN"], numbers["NullInteger"]) == (2**63 - 1, "NaN", None)


def test_a_list_shows_no_secret(tmp_path, changeable_jvm):
    changeable_jvm.bean(
        "shop:type=Pool", {"Password": "hunter2", "Settings": "url=x trustStorePassword=hunter2 y"}
    )
    run = check_jmx_command.run(tmp_path, changeable_jvm, "--list", "shop:*", "--values")
    assert "hunter2" not in run.stdout
    assert '"url=x trustStorePassword=*** y"' in run.stdout


def test_names_and_types_are_never_taken_for_the_password(tmp_path, jvm):
    words = ("--list", "java.lang:type=Memory", "--values", "--output", "json", "-u", "x", "-p", "e")
    (line,) = check_jmx_command.run(tmp_path, jvm, *words).stdout.splitlines()
    bean = json.loads(line)
    assert bean["bean"] == "java.lang:type=Memory"
    assert {"Verbose": "boolean"}.items() <= {one["name"]: one["type"] for one in bean["attributes"]}.items()


def test_who_stops_reading_a_list_ends_it_quietly(tmp_path, changeable_jvm):
    changeable_jvm.tell("many", 3000)  # more than a pipe holds
    with (tmp_path / "first").open("wb") as output:
        head = subprocess.Popen(["head", "-1"], stdin=subprocess.PIPE, stdout=output)
        run = check_jmx_command.run(
            tmp_path, changeable_jvm, "--list", "--values", "-t", "20s", stdout=head.stdin
        )
        head.stdin.close()
        assert head.wait(timeout=60) == 0
    assert (run.returncode, run.stderr) == (3, "")
    assert (tmp_path / "first").read_text() == "[JMImplementation]\n"
    assert changeable_jvm.left_by_clients() == {"threads": 0, "connections": 0, "unacknowledged": 0}


def test_a_slow_reader_gets_the_whole_list_and_keeps_no_log_in(tmp_path, changeable_jvm):
    changeable_jvm.tell("many", 3000)
    run = subprocess.Popen(
        check_jmx_command.command(changeable_jvm, "--list", "-t", "6s"),
        stdout=subprocess.PIPE, text=True, env=environment(tmp_path),
    )  # fmt: skip
    time.sleep(7)
    nothing = {"threads": 0, "connections": 0, "unacknowledged": 0}
    wait_until(
        lambda: changeable_jvm.left_by_clients() == nothing, 60, changeable_jvm.process, changeable_jvm.log
    )
    text = run.communicate(timeout=60)[0]
    assert (run.returncode, text.count("\ntarget:type=Many,")) == (0, 3000)
    assert text.splitlines()[-1].split()[1:3] == ["MBeans", "with"]


def test_progress_is_shown_at_a_terminal_and_wiped_away(tmp_path, jvm):
    ours, theirs = os.openpty()
    run = check_jmx_command.run(tmp_path, jvm, "--list", stderr=theirs)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert run.returncode == 0
    assert f"asking {jvm.host}:{jvm.port} for its MBeans" in shown
    assert f"listed 0 of {run.stdout.splitlines()[-1].split()[0]} MBeans" in shown
    assert shown.endswith("\r\x1b[K")


def test_all_that_a_cassandra_shows_is_listed_in_little_memory(tmp_path, cassandra):
    command = check_jmx_command.command(cassandra, "--list", "--values", "--output", "json")
    with (tmp_path / "list").open("wb") as output:
        # From a small process: a child's peak counts what it was forked from.
        spoken = subprocess.run(
            [sys.executable, "-c", PEAK, *command],
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert spoken.returncode == 0
    with (tmp_path / "list").open(newline="\n") as lines:
        beans = [json.loads(line) for line in lines]
    assert len(beans) > 11_000
    assert sum(len(bean["attributes"]) for bean in beans) > 60_000
    assert int(spoken.stderr) < 60 * 1024
