"""Jolokia's agents tell the same of a real JVM as RMI does, but for known reasons."""

import json
import math
import re
import subprocess
import sys

import plugin_command
import pytest
from installing import obtained
from jmx_value import compared, value_of
from jolokia import AGENTS, JolokiaJvm
from plugin_command import ROOT, Said, environment
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx
from stallwatch.sources.jmx.target import from_http_url

SHEET = ROOT / "contrib" / "docs" / "check_jmx.md"
LOGIN = ("monitor", "Tr0ub4dor&3")
HANGING = ("target:type=Slow", "target:type=Never")
# Numbers change while we look, and because we do: threads, memory, calls.
MOVING = ("java.lang:", "java.nio:", "target:type=Counter", "jolokia:", "jmx4perl:")
# What the agents write in their own way: what toString() gives, all getters, less than a second.
IN_THEIR_OWN_WAY = {
    "Foreign": None, "Times": None, "Trouble": None,
    "Numbers": {
        "HugeBigInteger", "BigDecimal", "TinyBigDecimal", "HugeBigDecimal", "LongAdder", "DoubleAdder"},
    "Texts": {"Control", "HalfEmoji", "StringBuilder", "Uri", "Locale"},
    "Collections": {"NCopies", "OddKeys"},
    "Arrays": {"Chars"},
}  # fmt: skip


def run(home, *words):
    return Said.of(plugin_command.run(home, *words))


def over_http(jvm, deadline=60, **more):
    host, port, path, https = from_http_url(jvm.agent_url)
    tls = jmx.Tls(wanted=https, ca_file=jvm.agent_ca_file)
    return jmx.connect(jmx.Target(host, port, path, via="jolokia", tls=tls, **more), Deadline(deadline))


def over_rmi(jvm):
    return jmx.connect(jmx.Target(jvm.host, jvm.port), Deadline(60))


@pytest.fixture(scope="module", params=AGENTS)
def jvm(request, tmp_path_factory):
    """A JVM with an agent of each version."""
    with obtained(JolokiaJvm, tmp_path_factory.mktemp("jolokia"), version=request.param) as started:
        yield started


@pytest.fixture(scope="module")
def read(jvm):
    """What was read of every attribute: over RMI, over HTTP, and over RMI again."""
    with over_rmi(jvm) as rmi, over_http(jvm) as http:
        return compared(rmi, http, *HANGING)


def comparable(value):
    """A value as it is compared: not finite is null; sets, and names of beans, come in any order."""
    if isinstance(value, jmx.JmxError):
        return value.what
    if isinstance(value, dict):
        return {key: comparable(one) for key, one in value.items()}
    if isinstance(value, list):
        return sorted(json.dumps(comparable(one), sort_keys=True) for one in value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, str) and re.fullmatch(r"[\w.]+:\w+=[^,]+,\w+=[^,]+", value):
        return sorted(re.split("[:,]", value))
    return value


def in_its_own_way(name, attribute):
    kind = name.removeprefix("target:type=")
    return kind in IN_THEIR_OWN_WAY and attribute in (IN_THEIR_OWN_WAY[kind] or {attribute})


def test_every_value_is_the_same_or_differs_for_a_known_reason(read):
    unexplained, equal = [], 0
    for name, attribute, *values in read:
        before, told, after = map(comparable, values)
        if told in (before, after):
            equal += 1
        elif before == after and not name.startswith(MOVING) and not in_its_own_way(name, attribute):
            unexplained.append((name, attribute, *values))
    assert not unexplained
    assert equal > 400


def test_dates_have_their_milliseconds(read):
    told = {(name, attribute): told for name, attribute, _, told, _ in read}
    assert told["target:type=Times", "Date"] == "2024-02-29T12:34:56.789Z"
    assert told["target:type=Times", "EarlyDate"] == "1969-12-31T23:59:59.999Z"


def test_both_list_the_same_beans_classes_and_attributes(jvm):
    with over_rmi(jvm) as rmi, over_http(jvm) as http:
        assert http.domains() == rmi.domains()
        for pattern in (
            "*:*",
            "target:type=Odd,*",
            "*:type=Mem*",
            "odd*:*",
            "odd domain/with;all-that.:*",
            "no:*",
        ):
            assert http.names(pattern) == rmi.names(pattern)
            assert http.beans(pattern) == rmi.beans(pattern)
        beans = [bean for bean in rmi.beans() if bean.name != "target:type=Trouble"]  # with one to be written
        ours = [sorted(attributes) for attributes in rmi.describe(beans)]
        assert list(http.describe(beans)) == ours


def test_what_is_missing_is_told_apart(jvm):
    wanted = [("target:type=None", ["One"]), ("target:type=Numbers", ["None", "Int"]), (HANGING[0], [])]
    with over_http(jvm) as server:
        no_bean, no_attribute, nothing = server.read(wanted)
        (undescribed,) = server.describe([jmx.info.Bean("target:type=None", "")])
    assert isinstance(no_bean, jmx.NoSuchBeanError)
    assert isinstance(undescribed, jmx.NoSuchBeanError)
    assert isinstance(no_attribute["None"], jmx.NoSuchAttributeError)
    assert no_attribute["Int"] == 42
    assert nothing == {}


def test_deadlocked_threads_are_found(jvm):
    with over_http(jvm) as server:
        assert server.deadlocked_threads() == []
    jvm.tell("deadlock")
    try:
        with over_http(jvm) as server, over_rmi(jvm) as rmi:
            assert sorted(server.deadlocked_threads()) == sorted(rmi.deadlocked_threads())
            assert len(server.deadlocked_threads()) == 2
    finally:
        jvm.tell("reset")


# the plugins


THREADS = r"(?<=threads=)\d+|\d+(?= (?:threads?|daemons)\b)|(?<=peak )\d+"  # one more comes with a client
POOL = "org.apache.cassandra.metrics:type=ThreadPools,path=internal,scope={},name={}"
COMMANDS = (
    ("jmx", "-O", "target:type=Numbers", "-A", "Int", "-w", "40"),
    ("jmx", "-O", "target:type=Mixed", "-A", "Sizes", "-K", "large", "--unit", "B"),
    ("jmx", "-O", "target:type=Tables", "-A", "TwoIndexes", "-K", "a,sda/used"),
    ("jmx", "-O", "target:type=Numbers", "-A", "NaN", "--missing", "warning"),
    ("jmx", "-O", "target:type=Composites", "-A", "Nested", "-K", "inner/used", "--of", "count"),
    ("jmx", "-O", "target:type=Texts", "-A", "Ascii", "--match", "x", "-A", "ObjectName", "--match", "Texts"),
    ("jmx", "-O", "target:type=Standard,name=*", "-A", "Name", "--match", "."),
    ("jmx", "-O", "target:type=Standard,name=*", "-A", "Name", "--match", "1", "--aggregate", "count"),
    ("jmx", "-O", "target:type=Numberz", "-A", "Int"),
    ("jmx", "-O", "target:type=Numbers", "-A", "Ints"),
    ("jmx", "--list", "target:type=Odd,*", "--values"),
    ("jmx", "--list", "target:type=Mixed", "--values", "--output", "json"),
    ("jmx_thread_pools", "-v"),
    ("jmx_thread_pools", "--pool", "Gossip.*", "--deadlocks"),
)


def test_the_plugins_say_the_same(jvm, tmp_path):
    for number, name in (("3", "ActiveTasks"), ("0", "CurrentlyBlockedTasks"), ("7", "PendingTasks")):
        jvm.bean(POOL.format("GossipStage", name), {"Value": int(number), "Count": int(number)})
    try:
        for plugin, *words in COMMANDS:
            ways = (("-H", jvm.host, "-P", jvm.port), ("-U", jvm.agent_url))
            rmi, http = (
                plugin_command.run(tmp_path / str(way[0]), f"check_{plugin}", *way, *words) for way in ways
            )
            where = f"{jvm.host}:{jvm.port}", f"{jvm.host}:{jvm.agent_port}"
            assert http.returncode == rmi.returncode, (words, rmi, http)
            ours, theirs = (re.sub(THREADS, "", one.stdout) for one in (rmi, http))
            if "--values" in words:  # the agent does not say in which order a bean has its attributes
                ours, theirs = (sorted(re.findall(r"\w+", one)) for one in (ours, theirs))
                assert theirs == ours
            elif "NaN" in words:
                assert theirs == ours.replace("is NaN, which is not a number", "is null")
            else:
                assert theirs.replace(where[1], where[0]) == ours
    finally:
        jvm.tell("reset")


# log-in and TLS


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A JVM whose agent speaks https and wants a password."""
    with obtained(JolokiaJvm, tmp_path_factory.mktemp("locked"), agent_tls=True, login=LOGIN) as started:
        yield started


@pytest.fixture
def ask(tmp_path):
    """Run check_jmx on an agent with these words; with a password it is never shown."""

    def ask(jvm, *words, password=None, url=None):
        file = tmp_path / "password"
        file.write_text(f"{password}\n")
        login = ("-u", LOGIN[0], "--password-file", file) if password else ()
        asked = ("-O", "target:type=Numbers", "-A", "Int", "-vvv")
        said = run(tmp_path, "check_jmx", "-U", url or jvm.agent_url, *login, *asked, *words)
        assert not password or password not in said.output
        return said

    return ask


def test_the_right_password_over_verified_tls(locked, ask):
    said = ask(locked, "--ca-file", locked.agent_ca_file, password=LOGIN[1])
    assert (said.status, said.output.split(" | ")[0]) == (0, "JMX OK - Numbers Int 42")


@pytest.mark.parametrize(
    ("password", "told"),
    [("Wr0ngPassw0rd", "denied access to the user monitor"), (None, "requires a user and a password")],
)
def test_a_wrong_password_and_none(locked, ask, password, told):
    said = ask(locked, "--ca-file", locked.agent_ca_file, password=password)
    assert said.status == 3
    assert told in said.output


def test_a_certificate_of_nobody_that_is_trusted(locked, ask):
    said = ask(locked, password=LOGIN[1])
    assert said.status == 3
    assert "is not to be trusted" in said.output
    assert ask(locked, "--insecure", password=LOGIN[1]).status == 0


def test_http_where_https_is_spoken_and_the_other_way_round(jvm, locked, ask):
    said = ask(locked, url=locked.agent_url.replace("https", "http"))
    assert said.status == 3
    assert f"speaks TLS - use -U {locked.agent_url}" in said.output
    said = ask(jvm, url=jvm.agent_url.replace("http", "https"))
    assert said.status == 3
    assert f"speaks HTTP without TLS - use -U {jvm.agent_url}" in said.output


def test_the_jmx_port_is_no_port_of_jolokia_nor_the_other_way_round(jvm, ask, tmp_path):
    said = ask(jvm, url=f"http://{jvm.host}:{jvm.port}/jolokia")
    assert said.status == 3
    assert "never the JMX port" in said.output
    found = run(tmp_path, "check_jmx", "-H", jvm.host, "-P", jvm.agent_port, "-O", "a:b=c", "-A", "D")
    assert f"speaks HTTP, not JMX over RMI - if Jolokia is there, use -U {jvm.agent_url}" in found.output
    said = ask(jvm, url=f"http://{jvm.host}:{jvm.agent_port}/elsewhere")
    assert said.status == 3
    assert "has no /elsewhere/: " in said.output


# policies and limits


def deadlocks(jvm, folder):
    """What check_jmx_thread_pools says of threads that wait for each other."""
    asked = ("-U", jvm.agent_url, "--deadlocks", "--threads-warning", "1000")
    return run(folder, "check_jmx_thread_pools", *asked)


def policy_of_sheet():
    return re.search(r"<restrict>.*</restrict>", SHEET.read_text(), re.DOTALL)[0]


@pytest.mark.parametrize("version", AGENTS)
def test_the_policy_of_the_sheet_is_enough_and_no_more(tmp_path, version):
    with obtained(JolokiaJvm, tmp_path / "jvm", version=version, policy=policy_of_sheet()) as jvm:
        with over_http(jvm) as server:
            assert value_of(server, "target:type=Numbers", "Int") == 42
            assert server.names("target:type=Mixed") == ["target:type=Mixed"]
            assert server.beans("target:type=Mixed")
            assert server.deadlocked_threads() == []
        said = deadlocks(jvm, tmp_path)
        assert said.status == 0, said


def test_what_a_policy_forbids_is_told(tmp_path):
    policy = "<restrict><commands><command>read</command></commands></restrict>"
    with obtained(JolokiaJvm, tmp_path / "jvm", policy=policy) as jvm:
        with over_http(jvm) as server:
            assert value_of(server, "target:type=Numbers", "Int") == 42
            with pytest.raises(jmx.UnreadableError, match="does not allow the command search"):
                server.names("target:*")
        said = deadlocks(jvm, tmp_path)
        assert said.status == 3, said


@pytest.mark.parametrize("version", AGENTS)
def test_a_bean_that_a_policy_denies_is_told_with_the_way_out(tmp_path, version):
    denied = "<mbean><name>java.lang:type=Memory</name><attribute>*</attribute></mbean>"
    policy = f"<restrict><deny>{denied}</deny></restrict>"
    with obtained(JolokiaJvm, tmp_path / "jvm", version=version, policy=policy) as jvm:
        with over_http(jvm) as server:
            (found,) = server.read([("java.lang:type=Memory", ["HeapMemoryUsage"])])
            assert value_of(server, "target:type=Numbers", "Int") == 42
        assert isinstance(found["HeapMemoryUsage"], jmx.ForbiddenError)
        assert found["HeapMemoryUsage"].what == (
            "Jolokia's policy forbids HeapMemoryUsage of java.lang:type=Memory"
        )


def test_who_may_not_ask_is_told(tmp_path):
    policy = "<restrict><remote><host>203.0.113.7</host></remote></restrict>"
    with obtained(JolokiaJvm, tmp_path / "jvm", policy=policy) as jvm:
        with pytest.raises(jmx.UnreachableError, match="refuses access: ") as failure, over_http(jvm):
            pass
        assert "jolokia-access.xml" in failure.value.advice


@pytest.mark.parametrize("version", AGENTS)
def test_a_list_of_which_only_a_part_is_sent_is_not_counted(tmp_path, version):
    with (
        obtained(JolokiaJvm, tmp_path / "jvm", version=version, more={"maxCollectionSize": 10}) as jvm,
        over_http(jvm) as server,
    ):
        (table,) = server.read([("java.lang:type=Runtime", ["SystemProperties"])])
        assert len(table["SystemProperties"]) > 12  # of a table all is sent
        (threads,) = server.read([("java.lang:type=Threading", ["ThreadCount", "AllThreadIds"])])
        assert threads["ThreadCount"] >= 10
        limit = r"10 items at most \(maxCollectionSize\)"
        assert re.search(limit, threads["AllThreadIds"].what)
        for ask in (server.names, server.beans):
            with pytest.raises(jmx.UnreadableError, match=limit):
                ask("target:*")
        assert server.names("java.lang:type=Runtime")


# what hangs


def test_an_attribute_that_hangs_costs_itself_where_the_agent_has_threads(tmp_path):
    more = {"executor": "fixed", "threadNr": 5}
    with (
        obtained(JolokiaJvm, tmp_path / "jvm", groups=("values", "never"), more=more) as jvm,
        over_http(jvm, deadline=20) as server,
    ):
        wanted = [("target:type=Numbers", ["Int", "Long"]), ("target:type=Never", ["Value"])]
        good, bad = server.read(wanted)
    assert good["Int"] == 42
    assert "cannot be read: no answer within" in bad["Value"].what


def test_one_that_has_no_other_thread_ends_the_run_in_time(tmp_path):
    with obtained(JolokiaJvm, tmp_path / "jvm", groups=("never",)) as jvm:
        asked = ("-U", jvm.agent_url, "-O", "target:type=Never", "-A", "Value", "-t", "3")
        done = plugin_command.run(tmp_path, "check_jmx", *asked)
        said = Said.of(done)
        assert said.status == 3
        # It may have had to wait for the first answer, too.
        why = r"has not answered within [123](\.\d)? s: asked for Value of target:type=Never - check whether"
        assert re.search(why, said.output)
        assert done.seconds < 3 + 0.5 + 5


# discovery


@pytest.mark.parametrize("engine", ["icinga2", "nagios"])
def test_what_is_found_is_asked_over_http(jvm, tmp_path, engine):
    command = [sys.executable, ROOT / "contrib" / "stallwatch-discover", "jmx", "-U", jvm.agent_url]
    command += ["--name", "app1", "--format", engine]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "jolokia" in done.stdout
    assert str(jvm.agent_port) in done.stdout
