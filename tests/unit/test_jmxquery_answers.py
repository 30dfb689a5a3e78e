"""jmxquery's jar: what it is asked, what it answered on real JVMs (tests/recorded/jmxquery), what that means.

The recordings are made by tests/live/jmxquery_recording.py.
"""

import json
import math
import os
import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jmx_value import value_of
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx
from stallwatch.sources.jmx import jmxquery
from stallwatch.sources.jmx.info import Bean
from stallwatch.sources.jmx.jmxquery import java
from stallwatch.sources.jmx.jmxquery.java import SpoiledError, checked
from stallwatch.sources.jmx.jmxquery.lines import Line, Told, lines, queries, query, value
from stallwatch.sources.jmx.rmi import Reference
from stallwatch.sources.jmx.session import must_be_named

SLACK = 30  # seconds for a busy machine to start a program and to end it; what hangs takes a minute
RECORDED = Path(__file__).parents[1] / "recorded" / "jmxquery"
TARGET = jmx.Target("db1", 7199, user="monitorRole", password="s3cret'word")
UNREADABLE = jmx.UnreadableError


def ended(name):
    return java.Ended(**json.loads((RECORDED / f"{name}.json").read_text()))


def recorded(name):
    """The values of a recorded run, by bean and attribute."""
    told = Told()
    told.take(lines(ended(name).output))
    return {
        bean: {attribute: value(attribute, of) for attribute, of in found.items()}
        for bean, found in told.lines.items()
    }


class Runs:
    """Stands for Java: gives each run the next of these ends, and keeps what it was asked."""

    def __init__(self, *ends):
        self.ends = list(ends)
        self.asked = []

    def __call__(self, command, arguments, deadline):
        self.asked.append(arguments[-1].split(";"))
        return self.ends.pop(0)


@pytest.fixture(autouse=True)
def named(monkeypatch):
    """The server is where the user says: what happens if it is not is for the tests with real ones."""
    monkeypatch.setattr(jmxquery.Client, "_must_be_named", lambda _: None)


@pytest.fixture
def runs(monkeypatch):
    def prepare(*ends):
        prepared = Runs(*ends)
        monkeypatch.setattr(java, "run", prepared)
        return prepared

    return prepare


def answer(*told):
    """What the jar prints of (bean, attribute, key, kind, what it prints of the value)."""
    parts = []
    for bean, attribute, key, kind, text in told:
        name = bean.replace('"', '\\"')
        keyed = f', "attributeKey" : "{key}"' if key else ""
        place = f'"mBeanName" : "{name}", "attribute" : "{attribute}"{keyed}'
        parts.append(f'{{{place}, "attributeType" : "{kind}", "value" : {text}}}')
    return java.Ended(0, "[\n" + ", \n".join(parts) + "]\n", "")


def client():
    return jmxquery.Client(TARGET, Deadline(60), lambda _: None)


# what it is asked


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("java.lang:type=Memory", "java.lang:type=Memory"),
        ("a:type=X,name=a/b", "a:type=X,name=a?b"),
        ("a:name=a;b", "a:name=a?b"),
        ("with;all/that:k=v", "with?all?that:k=v"),
        ('a:k="x==y<z>,:\\"\\*"', "a:k=?x??y<z>?????*?"),
        ("a:k/ey=1,type=X", "a:type=X,*"),
        ("a:k/ey=1", "a:*"),
        ("a:type=X,*", "a:type=X,*"),
        ("*:*", "*:*"),
    ],
)
def test_what_would_be_misread_is_asked_with_wildcards(name, asked):
    assert query(jmx.ObjectName.parse(name)) == asked


def test_all_attributes_are_asked_for_where_the_name_of_one_would_be_misread():
    name = jmx.ObjectName.parse("a:k=v")
    assert queries(name, ["One", "Two"]) == {"One": "a:k=v/One", "Two": "a:k=v/Two"}
    assert queries(name, ["One", "a/b"]) == {"One": "a:k=v", "a/b": "a:k=v"}


def quoted(text):
    """As javax.management.ObjectName.quote() writes it."""
    return '"' + re.sub(r'["\\*?]', lambda found: "\\" + found[0], text).replace("\n", "\\n") + '"'


QUOTED = st.text('ab*?/;=,:<>\n"\\ é', min_size=1).map(quoted)


@given(st.dictionaries(st.sampled_from("abc"), QUOTED | st.text("ab/; <>\\", min_size=1), min_size=1))
def test_a_query_has_no_sign_that_the_jar_takes_for_its_own_and_still_fits(properties):
    name = jmx.ObjectName("do/ma;in", properties)
    asked = query(name)
    assert not set(asked) & set('/;"\\')
    assert "==" not in asked
    assert jmx.ObjectName.parse(asked).matches(name)


# what it answers


def test_numbers():
    numbers = recorded("numbers")["target:type=Numbers"]
    assert math.isnan(numbers.pop("NaN"))
    assert math.isnan(numbers.pop("FloatNaN"))
    assert numbers["Infinity"] == math.inf
    assert (numbers["MinLong"], numbers["MaxLong"]) == (-(2**63), 2**63 - 1)
    assert (numbers["Byte"], numbers["BoxedShort"], numbers["Float"]) == (-128, -1, 0.1)
    assert (numbers["True"], numbers["False"], numbers["Char"]) == (True, False, "c")
    assert (numbers["BigInteger"], numbers["BigDecimal"], numbers["LongAdder"]) == (2**70, -12345.6789, 8)
    unreadable = {name for name, found in numbers.items() if isinstance(found, UNREADABLE)}
    assert unreadable == {"NullInteger"}
    assert numbers["HugeBigInteger"] == math.inf  # 2 to the power of 100 000


def test_texts_are_what_they_are_and_not_what_json_would_make_of_them():
    texts = recorded("texts")["target:type=Texts"]
    assert texts["Backslash"] == "C:\\temp\\new"
    assert texts["Quotes"] == 'it\'s "quoted"'
    assert texts["Newline"] == "one\ntwo\r\nthree\ttabbed"
    assert texts["Nul"] == "before\0after"
    assert (texts["Empty"], texts["Number"], texts["Pipe"]) == ("", " 12.5 ", "a | b;1;2")
    assert (texts["Unicode"], texts["Emoji"]) == ("Zürich 東京", "🐘 elephant")
    assert (texts["ObjectName"], texts["File"]) == ("target:type=Texts", "/var/lib/data")
    assert isinstance(texts["Enum"], UNREADABLE)  # its text may be another than its name


def test_odd_names_come_as_the_server_writes_them():
    found = recorded("odd_names")
    assert len(found) == 14
    for name, values in found.items():
        assert values["Value"] == 1
        assert jmx.ObjectName.parse(name).canonical == name
    assert any('quote \\" backslash \\\\ newline \\n end' in name for name in found)
    assert recorded("odd_attributes")["target:name=no type"]["semi;colon"] == 3


def test_what_is_null_or_failed_or_printed_in_vain_is_no_value():
    trouble = recorded("trouble")["target:type=Trouble"]
    assert (trouble.pop("Good"), trouble.pop("LastGood")) == (1, "still here")
    assert all(isinstance(found, UNREADABLE) for found in trouble.values())
    assert "does not show which" in trouble["ThrowsRuntime"].what
    (ints,) = recorded("arrays")["target:type=Arrays"].values()
    assert "jmxquery does not show what is in a value of the class int[]" in ints.what
    assert all(isinstance(found, UNREADABLE) for found in recorded("tables")["target:type=Tables"].values())


def test_a_composite_value_is_put_together_from_its_keys():
    usage = recorded("memory")["java.lang:type=Memory"]["HeapMemoryUsage"]
    assert usage.keys() == {"committed", "init", "max", "used"}
    assert 0 < usage["used"] <= usage["committed"]


def test_a_member_that_is_not_told_does_not_take_the_others_with_it():
    told = [Line("a:b=c", "A", "sizes", "long[]", '"[J@1"'), Line("a:b=c", "A", "count", "Integer", "5")]
    assert value("A", told) == {"sizes": "<long[], not shown by jmxquery>", "count": 5}


def test_two_different_answers_are_none():
    once, again = (Line("a:b=c", "A", None, "Integer", text) for text in "12")
    assert isinstance(value("A", [once, again]), UNREADABLE)
    assert isinstance(value("A", [once, Line("a:b=c", "A", "key", "Integer", "2")]), UNREADABLE)
    told = Told()
    told.take([once, once])
    assert told.lines["a:b=c"]["A"] == [once]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(text):
    assume(', \n{"mBeanName" : ' not in text)  # that could not be told from the next line
    (line,) = lines(answer(("a:b=c", "Text", None, "String", f'"{text}"')).output)
    assert line.value() == text


@given(st.text('[]{}",: \nvalueattributemBeanName0') | st.text())
def test_any_output_is_lines_or_refused(output):
    try:
        found = list(lines(output))
    except ValueError:
        return
    assert all(isinstance(value("A", [line]), UNREADABLE | str | int | float | bool | dict) for line in found)


@pytest.mark.parametrize("cut", [1, 2, 3, 60, 200])
def test_output_that_was_cut_off_is_refused(cut):
    with pytest.raises(ValueError, match="of something else"):
        list(lines(ended("memory").output[:-cut]))


# what goes wrong


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("refused", "db1:7199 refused the connection"),
        ("unknown_host", "there is no host nosuch.invalid"),
        ("no_password", "db1:7199 requires a user and a password"),
        ("wrong_password", "db1:7199 denied access to the user monitorRole"),
        ("not_bound", "the registry at db1:7199 does not have jmxrmi"),
        ("rmi_port", "db1:7199 speaks RMI, but has no registry"),
        ("elsewhere", "db1:7199 names 203.0.113.7 as its address, which refused the connection"),
        ("untrusted", "the certificate of db1:7199 is not trusted by Java"),
        ("tls_registry", "db1:7199 does not speak JMX over RMI, or wants TLS for the look-up"),
        ("client_certificate", "db1:7199 closed the connection without an answer"),
        ("stripped_java", "this Java has no module jdk.naming.rmi, which finds JMX servers"),
        ("bad_java_option", "Java did not get an answer: Unrecognized option: -no-such-option"),
        ("bad_query", "Java did not get an answer: Unterminated key property part"),
    ],
)
def test_failures(name, sentence):
    with pytest.raises(jmx.UnreachableError) as failure:
        checked(ended(name), TARGET)
    assert failure.value.what == sentence
    assert "at java." not in failure.value.advice


def test_cassandra_wraps_a_denied_access():
    errors = (
        'Exception in thread "main" java.lang.RuntimeException: javax.security.auth.login.LoginException\n'
        "Caused by: java.lang.SecurityException: Authentication failed! Invalid username or password\n"
    )
    with pytest.raises(jmx.UnreachableError, match="denied access"):
        checked(java.Ended(1, "", errors), TARGET)


def test_whose_memory_is_too_small():
    ours = ("Terminating due to java.lang.OutOfMemoryError: Java heap space\n", "", 3)
    uncaught = ("", 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n', 1)
    for output, errors, status in (ours, uncaught):
        with pytest.raises(jmx.UnreachableError, match="Java has too little memory for what") as failure:
            checked(java.Ended(status, output, errors), TARGET)
        assert '--java "java -Xmx512m"' in failure.value.advice
    theirs = "in server thread; nested exception is: \n\tjava.lang.OutOfMemoryError: Java heap space"
    with pytest.raises(jmx.UnreachableError, match=r"db1:\d+ is out of memory \(Java heap space\)"):
        checked(java.Ended(1, f'{{"connection-error":"{theirs}"}}', ""), TARGET)


def test_what_java_says_before_it_begins_is_not_the_reason():
    errors = "Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nError: Could not reserve enough space\n"
    with pytest.raises(jmx.UnreachableError, match="get an answer: Error: Could not reserve"):
        checked(java.Ended(1, "", errors), TARGET)


def test_a_null_within_a_composite_spoils_a_run():
    with pytest.raises(SpoiledError):
        checked(ended("null_within"), TARGET)


def test_other_output_than_the_jars_is_no_answer(runs):
    runs(java.Ended(0, "hello\n", ""))
    with pytest.raises(jmx.UnreachableError, match="is not jmxquery's"):
        client().names()


# the client


INT = ("a:b=c", "One", None, "Integer", "1")
NOTHING = java.Ended(0, "[\n]\n", "")


def test_many_attributes_cost_one_run(runs):
    told = runs(answer(INT, ("a:b=d", "Two", None, "Double", "NaN")))
    one, two = client().read([("a:b=c", ["One"]), ("a:b=d", ["Two"])])
    assert one == {"One": 1}
    assert math.isnan(two["Two"])
    assert told.asked == [["a:b=c/One", "a:b=d/Two"]]


def test_nothing_is_answered_about_a_missing_bean_and_a_missing_attribute(runs):
    told = runs(NOTHING, answer(INT))
    missing, none = client().read([("a:b=c", ["Nothing"]), ("a:b=x", ["One"])])
    assert isinstance(missing["Nothing"], jmx.NoSuchAttributeError)
    assert isinstance(none, jmx.NoSuchBeanError)
    assert told.asked[1] == ["a:b=c", "a:b=x"]


def test_the_order_of_key_properties_does_not_matter(runs):
    runs(answer(("a:y=2,x=1", "One", None, "Integer", "1")))
    assert value_of(client(), "a:x=1,y=2", "One") == 1


def test_another_bean_that_fits_the_wildcards_is_not_the_one(runs):
    runs(answer(("a:b=x;y", "One", None, "Integer", "5"), ("a:b=x/y", "One", None, "Integer", "1")))
    assert value_of(client(), "a:b=x/y", "One") == 1
    runs(*[answer(("a:b=x;y", "One", None, "Integer", "5"))] * 2)
    with pytest.raises(jmx.NoSuchBeanError):
        value_of(client(), "a:b=x/y", "One")


def test_names_are_those_of_the_pattern(runs):
    runs(answer(("a:b=x;y", "One", None, "Integer", "5"), ("a:b=x/y", "One", None, "Integer", "1")))
    assert client().names("a:b=x/*") == ["a:b=x/y"]


def test_java_does_not_wait_longer_than_we_do(monkeypatch):
    given = []

    def run(command, arguments, deadline):
        given.extend(arguments)
        return answer(INT)

    monkeypatch.setattr(java, "run", run)
    value_of(client(), "a:b=c", "One")
    assert "-Dsun.rmi.transport.tcp.responseTimeout=60000" in given
    assert "-Dsun.rmi.transport.tcp.handshakeTimeout=60000" in given


def test_names_that_were_asked_for_ahead_are_not_asked_again(runs):
    told = runs(answer(INT, ("d:b=y", "Two", None, "Integer", "1")))
    ahead = client()
    ahead.names_ahead([("a:*", ["One", "Two"]), ("*:b=?", ["One"])])
    assert told.asked == [["a:*/One", "a:*/Two", "*:b=?/One"]]
    assert ahead.domains() == ["a", "d"]
    assert ahead.names("a:*") == ["a:b=c"]


def test_a_query_that_spoils_names_asked_for_ahead_hides_no_others(runs):
    runs(ended("null_within"), ended("null_within"), answer(INT))
    ahead = client()
    ahead.names_ahead([("x:*", ["Bad"]), ("a:*", ["One"])])
    assert ahead.names() == ["a:b=c"]


def test_what_spoils_a_run_is_found_in_halves(runs):
    spoiled = ended("null_within")
    told = runs(spoiled, answer(INT), spoiled, spoiled, NOTHING, answer(INT))
    one, bad, three = client().read([("a:b=c", ["One"]), ("a:b=d", ["Bad"]), ("a:b=c", ["Three"])])
    assert one == {"One": 1}
    assert "a composite value with a null in it" in bad["Bad"].what
    assert isinstance(three["Three"], jmx.NoSuchAttributeError)
    first, *halves = told.asked[:4]
    assert first == ["a:b=c/One", "a:b=d/Bad", "a:b=c/Three"]
    assert halves == [["a:b=c/One"], ["a:b=d/Bad", "a:b=c/Three"], ["a:b=d/Bad"]]


def test_a_listing_that_is_spoiled_says_so(runs):
    runs(ended("null_within"))
    with pytest.raises(UNREADABLE, match=r"the MBeans \*:\* cannot be listed: jmxquery fails"):
        client().domains()


def test_attributes_have_the_classes_of_their_values_as_types(runs):
    runs(answer(INT, ("a:b=c", "Use", "max", "Long", "1"), ("a:b=c", "Use", "min", "Long", "1")))
    attributes, none = client().describe([Bean("a:b=c", ""), Bean("a:b=x", "")])
    assert [(one.name, one.type, one.readable, one.writable) for one in attributes] == [
        ("One", "Integer", True, None),
        ("Use", "CompositeData", True, None),
    ]
    assert isinstance(none, jmx.NoSuchBeanError)


def test_operations_are_refused():
    with pytest.raises(UNREADABLE, match="cannot be invoked by jmxquery"):
        client().deadlocked_threads()


@pytest.mark.parametrize("wish", [{"tls": jmx.Tls(wanted=True)}, {"rmi_port": 7200}], ids=str)
def test_what_java_does_not_do_as_wished_is_refused(wish):
    with pytest.raises(jmx.UnreachableError, match="--via jmxquery"):
        jmxquery.Client(jmx.Target("db1", 7199, **wish), Deadline(60), print)


def test_a_host_to_log_in_at_that_java_will_not_take_is_named():
    target = jmx.Target("127.0.0.1", 7199, rmi_host="127.0.0.2", via="jmxquery")
    with pytest.raises(jmx.UnreachableError) as refused:
        must_be_named(Reference("127.0.0.3", 7200, b"", tls=False), target, Deadline(60))
    assert refused.value.what == (
        "127.0.0.1:7199 sends the log-in to 127.0.0.3:7200, not to --rmi-host 127.0.0.2, "
        "and --via jmxquery logs in there"
    )
    assert refused.value.advice == "use --via rmi, or --rmi-host 127.0.0.3 if that is right"


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(jmxquery, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError) as missing:
        client()
    assert missing.value.name == "jmxquery"


# the run of Java, with a program of ours in its place


@pytest.fixture
def program(tmp_path):
    """A command that runs this Python code; ``given`` are the arguments as Java would read them."""

    def write(code):
        path = tmp_path / "java.py"
        given = "given = [line[1:-1] for line in open(sys.argv[-1][1:]).read().splitlines()]"
        path.write_text(f"import os, sys, time\n{given}\n{code}\n")
        return f"'{sys.executable}' -I '{path}' -Xoption"

    return write


def test_arguments_are_in_no_argument_vector(program):
    before = os.listdir("/proc/self/fd")
    code = "print(open('/proc/self/cmdline').read().split('\\0'), given)"
    told = java.run(program(code), ["-p", 'a "quoted\\ pässword\n'], Deadline(60))
    vector, given = told.output.split("] [")
    assert "-Xoption" in vector
    assert "ssword" not in vector
    assert os.listdir("/proc/self/fd") == before
    assert r'a \\"quoted\\\\ pässword\\n' in given


def test_a_flood_of_errors_does_not_stop_it(program):
    flood = "sys.stderr.write('at java.lang\\n' * 200000); print('answer'); sys.exit(1)"
    told = java.run(program(flood), [], Deadline(60))
    assert (told.status, told.output, len(told.errors)) == (1, "answer\n", java.MOST_ERRORS)


def test_too_much_output_is_not_kept(program, monkeypatch):
    monkeypatch.setattr(java, "MOST_OUTPUT", 1_000_000)
    deadline = Deadline(60)
    with pytest.raises(jmx.UnreachableError, match="wrote more than 0 MiB"):
        java.run(program("while True: print('x' * 100000)"), [], deadline)
    assert not deadline.children


def test_a_java_of_the_users_own_size_may_take_and_write_more(program):
    code = "print('x' * 2_000_000, given)"
    with pytest.raises(jmx.UnreachableError, match="wrote more than 1 MiB"):
        java.run(program(code), [], Deadline(60))
    told = java.run(program(code) + " -Xmx512m", [], Deadline(60))
    assert "-Xmx24m" not in told.output
    assert "-XX:+UseSerialGC" in told.output
    other = java.run(program("print(given)") + " -XX:+UseG1GC", [], Deadline(60)).output
    assert "-Xmx24m" in other
    assert "SerialGC" not in other


TALK = "while True:\n print('x', flush=True)\n time.sleep(0.01)"


@pytest.mark.parametrize("code", ["time.sleep(60)", "os.close(1); os.close(2); time.sleep(60)", TALK])
def test_an_overdue_one_is_killed(program, code):
    deadline = Deadline(1)
    with pytest.raises(java.OverdueError):
        java.run(program(code), [], deadline)
    assert not deadline.left()
    assert not deadline.children


def test_what_an_overdue_script_has_started_is_killed_too(program, tmp_path):
    note = tmp_path / "child"
    code = f"child = os.fork()\nif child: open({str(note)!r}, 'w').write(str(child))\ntime.sleep(60)"
    for seconds in (1, 4, 16):  # a busy machine may not have started it by then
        with pytest.raises(java.OverdueError):
            java.run(program(code), [], Deadline(seconds))
        if note.exists() and note.read_text():
            break
    child = Path("/proc", note.read_text(), "stat")
    end = time.monotonic() + 120
    while child.exists() and child.read_text().rpartition(") ")[2][0] != "Z":
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_java_that_this_user_may_not_run_need_not_be_installed():
    with pytest.raises(jmx.UnreachableError) as refused:
        java.run("/etc", [], Deadline(60))
    assert refused.value.advice == "let this user run it, or name another one with --java"


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("/nowhere/java", "/nowhere/java cannot be run: No such file or directory"),
        ("/etc", "/etc cannot be run: Permission denied"),
        ("", "--java names no command"),
        ("'java", "--java is no command: No closing quotation"),
    ],
)
def test_a_command_that_is_none(command, sentence):
    with pytest.raises(jmx.UnreachableError) as failure:
        java.run(command, [], Deadline(60))
    assert failure.value.what == sentence


def test_java_8_takes_the_file_of_arguments_for_a_class(program):
    code = "sys.exit('Error: Could not find or load main class ' + sys.argv[-1].replace('/', '.'))"
    with pytest.raises(jmx.UnreachableError, match="Java before 9 cannot be given a password in private"):
        java.run(program(code), [], Deadline(60))
