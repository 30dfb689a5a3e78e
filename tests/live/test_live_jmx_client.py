"""The JMX client against real JVMs: every way of logging in, every kind of value, every version of Java."""

import math

import java_software
import pytest
from jmx_value import value_of
from jvm import VARIANTS, Jvm
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx
from stallwatch.sources.jmx.info import Attribute, Bean
from troubled_link import TroubledLink

THREADING, THREADS = "java.lang:type=Threading", "ThreadCount"


def target(jvm, **more):
    """A JVM as one asks for it who knows all about it."""
    given = {"user": jvm.user, "password": jvm.password} if jvm.password else {}
    if jvm.tls:
        given["tls"] = jmx.Tls(
            wanted=True, ca_file=jvm.ca_file, client_cert=jvm.client_cert, client_key=jvm.client_key
        )
    return jmx.Target(jvm.host, jvm.port, **{**given, **more})


@pytest.fixture
def server(jvm):
    """A log-in at the plain JVM."""
    with jmx.connect(target(jvm), Deadline(20)) as server:
        yield server


REACHABLE = [name for name in VARIANTS if not name.startswith(("wrong-certificate", "expired"))]


@pytest.mark.parametrize("variant", REACHABLE)
def test_every_way_of_logging_in(variant, jvm_variant):
    jvm = jvm_variant(variant)
    told = []
    with jmx.connect(target(jvm), Deadline(20), told.append) as server:
        assert value_of(server, THREADING, THREADS) > 5
    (sentence,) = told
    assert (" in TLS, in " in sentence) == jvm.tls
    if jvm.rmi_port:
        assert f":{jvm.rmi_port}" in sentence


@pytest.mark.own_server("each is another Java")
@pytest.mark.parametrize("version", sorted(java_software.JRES))
def test_every_version_of_java(version, tmp_path):
    with (
        Jvm(tmp_path, java=java_software.java(version), password=True, tls=True) as jvm,
        jmx.connect(target(jvm), Deadline(20)) as server,
    ):
        assert value_of(server, "java.lang:type=Runtime", "SpecVersion") == str(version)
        assert value_of(server, "target:type=Collections", "MapOf") == {"one": 1, "two": 2}
        unread = [
            (bean, name, value)
            for bean in server.names("java*:*")
            for name, value in read_all(server, bean).items()
            if isinstance(value, jmx.JmxError) and "UnsupportedOperationException" not in value.what
        ]
        assert not unread


def read_all(server, bean):
    """All readable attributes of a bean."""
    (attributes,) = server.describe([Bean(bean, "")])
    (values,) = server.read([(bean, [one.name for one in attributes if one.readable])])
    return values


NAN = math.nan
VALUES = {
    "Numbers": {
        "Byte": -128, "MaxLong": 2**63 - 1, "Float": 0.1, "Double": 0.1, "NaN": NAN, "Infinity": math.inf,
        "True": True, "Char": "c", "BoxedCharacter": "é", "NullInteger": None, "BigInteger": 2**70,
        "BigDecimal": -12345.6789, "AtomicBoolean": True, "LongAdder": 8,
    },
    "Texts": {
        "Newline": "one\ntwo\r\nthree\ttabbed", "Nul": "before\0after", "Emoji": "🐘 elephant",
        "HalfEmoji": "half \ufffd", "Null": None, "Enum": "SECONDS", "Class": "java.lang.String",
        "ObjectName": "target:type=Texts", "Uuid": "00112233-4455-6677-8899-aabbccddeeff",
    },
    "Times": {
        "Date": "2024-02-29T12:34:56.789Z", "EarlyDate": "1969-12-31T23:59:59.999Z", "Duration": 90.5,
        "NegativeDuration": -1.5, "FullHour": "07:00:00", "Year": "2024", "Period": "P1Y2M3D",
        "ZonedDateTime": "2024-02-29T12:34:56.789+01:00[Europe/Zurich]",
    },
    "Arrays": {
        "Longs": [[1, 2], [], None, [2**40]], "Bytes": [0, 127, -128], "Chars": "aé東", "Null": None,
        "Mixed": [1, "two", 3.5, None, [4], [5]], "Enums": ["DAYS", "HOURS"], "Booleans": [True, False],
    },
    "Collections": {
        **{name: ["one", "two", "three"] for name in (
            "ArrayList", "LinkedList", "Vector", "CopyOnWriteArrayList", "AsList", "ListOf", "ArrayDeque",
            "UnmodifiableList", "SynchronizedList", "ConcurrentLinkedQueue", "LinkedBlockingQueue",
            "LinkedHashSet")},
        **{name: {"one": 1, "two": 2} for name in (
            "HashMap", "LinkedHashMap", "TreeMap", "Hashtable", "ConcurrentHashMap", "ConcurrentSkipListMap",
            "IdentityHashMap", "MapOf", "UnmodifiableMap", "SynchronizedMap")},
        "EmptyList": [], "OldEmptyList": [], "SingletonList": ["one"],
        "EmptyMap": {}, "SingletonMap": {"one": 1},
        "ReverseTreeSet": ["two", "three", "one"], "EnumMap": {"DAYS": 1, "HOURS": 24},
        "Properties": {"one": "1", "two": "2"}, "Nested": {"list": [{"deep": [1, 2]}]},
    },
    "Tables": {
        "TwoIndexes": {
            "a,sda": {"disk": "sda", "host": "a", "used": 1},
            "b,sdb": {"disk": "sdb", "host": "b", "used": 2},
        },
        "MapLike": {"one": 1.0, "not a number": NAN}, "Empty": {}, "Null": None,
    },
    "Mixed": {
        "Sizes": {"large": 2**40, "small": 1, "with | pipe": 2}, "Matrix": [[1, 2], [3, 4], []],
        "Point": {"label": "3/4", "x": 3, "y": 4}, "NoPoint": None,
    },
    "Composites": {
        "Plain": {"disk": "sda", "host": "a", "used": 1},
        "OddKeys": {"0": 5, "Größe": 4, "a/b": 1, "semi;colon": 3, "with blank": 2},
    },
    "Foreign": {
        "Loop": {"itself": "<cycle>", "name": "loop"},
        "Machine": {
            "count": 42, "label": "inherited", "grade": "A", "load": 0.5, "running": True, "bytes": [1, -1],
            "colour": "GREEN", "nothing": None, "part": {"count": 42, "label": "inherited"}, "sizes": [1, 2],
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", VALUES)
def test_every_kind_of_value(kind, server):
    expected = VALUES[kind]
    (values,) = server.read([(f"target:type={kind}", list(expected))])
    assert list(values) == list(expected)
    assert {name: repr(value) for name, value in values.items()} == {
        name: repr(in_order_of(values[name], value)) for name, value in expected.items()
    }


def in_order_of(found, expected):
    """The expected dict in the order of the one found: a Java HashMap has none of its own."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        return {key: in_order_of(found[key], expected[key]) for key in found}
    return expected


def test_attributes_that_cannot_be_read_say_why_and_leave_the_others_alone(server):
    attributes = [
        "Good", "ThrowsRuntime", "ThrowsWithCause", "StackOverflow", "NotSerializable", "Externalizable",
        "OwnFormat", "OwnFormatOfObjects", "NoSuch", "LastGood",
    ]  # fmt: skip
    (values,) = server.read([("target:type=Trouble", attributes)])
    assert (values["Good"], values["LastGood"]) == (1, "still here")
    said = {name: error.what for name, error in values.items() if isinstance(error, jmx.JmxError)}
    assert said == {
        "ThrowsRuntime": "ThrowsRuntime of target:type=Trouble cannot be read: "
        "IllegalStateException: not now | later\nsecond line",
        "ThrowsWithCause": "ThrowsWithCause of target:type=Trouble cannot be read: IOException: inner",
        "StackOverflow": "StackOverflow of target:type=Trouble cannot be read: StackOverflowError",
        "NotSerializable": "NotSerializable of target:type=Trouble cannot be read: its value cannot be sent, "
        "NotSerializableException: target.Foreign$Opaque",
        "Externalizable": "Externalizable of target:type=Trouble cannot be read: "
        "only Java can decode the class target.Foreign$Sealed",
        "OwnFormat": "OwnFormat of target:type=Trouble cannot be read: "
        "only Java can decode the class target.Foreign$Terse (own writeObject)",
        "OwnFormatOfObjects": "OwnFormatOfObjects of target:type=Trouble cannot be read: "
        "only Java can decode the class target.Foreign$Laconic (own writeObject)",
        "NoSuch": "target:type=Trouble has no attribute NoSuch",
    }
    assert isinstance(values["NoSuch"], jmx.NoSuchAttributeError)


def test_one_attribute_alone_says_the_same(server):
    with pytest.raises(jmx.UnreadableError, match="IllegalStateException: not now"):
        value_of(server, "target:type=Trouble", "ThrowsRuntime")
    with pytest.raises(jmx.NoSuchAttributeError, match="target:type=Trouble has no attribute NoSuch"):
        value_of(server, "target:type=Trouble", "NoSuch")
    with pytest.raises(jmx.NoSuchBeanError, match="there is no MBean target:type=None at "):
        value_of(server, "target:type=None", "Value")
    assert value_of(server, "target:type=Trouble", "Good") == 1


def test_answers_come_in_the_order_asked_whatever_spoils_the_connection(server):
    wanted = [
        ("target:type=Trouble", ["NotSerializable", "Good"]),
        ("target:type=None", ["Value", "Other"]),
        ("target:type=Numbers", ["Int"]),
        ("target:type=Trouble", ["Externalizable"]),
        ("target:type=Texts", []),
        ("target:type=Numbers", ["Int", "Int", "Long"]),
    ] * 30
    answers = [shown(answer) for answer in server.read(wanted)]
    assert (
        answers
        == [
            {"NotSerializable": "UnreadableError", "Good": 1},
            "NoSuchBeanError",
            {"Int": 42},
            {"Externalizable": "UnreadableError"},
            {},
            {"Int": 42, "Long": "NoSuchAttributeError"},
        ]
        * 30
    )


def shown(answer):
    """Errors by their kind."""
    if isinstance(answer, dict):
        return {name: shown(value) for name, value in answer.items()}
    return type(answer).__name__ if isinstance(answer, jmx.JmxError) else answer


def test_what_is_too_large_or_too_deep_is_refused_and_the_rest_still_read(jvm, server):
    jvm.tell("register", "big")
    try:
        (values,) = server.read([("target:type=Big", ["Text", "Array", "Deep", "Bomb", "Small"])])
    finally:
        jvm.tell("unregister", "target:type=Big")
    assert [shown(value) for value in values.values()][:4] == ["UnreadableError"] * 4
    assert "a text of 20000000 bytes, more than a check reads" in values["Text"].what
    assert "nested deeper than 120" in values["Deep"].what
    assert "it needs more than 8 MiB of memory" in values["Bomb"].what
    assert not isinstance(values["Small"], jmx.JmxError)


def test_a_connection_that_broke_is_made_anew(server):
    assert value_of(server, "target:type=Numbers", "Int") == 42
    for link in server._session._links.values():
        link._wire._socket.shutdown(2)
    assert value_of(server, "target:type=Numbers", "Int") == 42


def test_a_question_that_always_breaks_the_connection_is_asked_twice_and_no_more(jvm_variant):
    jvm = jvm_variant("own-rmi-port")
    with (
        TroubledLink(jvm.host, jvm.rmi_port, word=b"Double") as link,
        jmx.connect(target(jvm, rmi_port=link.port), Deadline(20)) as server,
    ):
        assert value_of(server, "target:type=Numbers", "Int") == 42
        with pytest.raises(jmx.UnreachableError) as error:
            value_of(server, "target:type=Numbers", "Double")
    asked = "closed the connection when asked for Double of target:type=Numbers"
    assert error.value.what == f"127.0.0.1:{link.port} {asked}"


def test_many_large_questions_do_not_block_both_sides(jvm):
    names = [f"target:type={number:04d}{'x' * 50_000}" for number in range(600)]
    with jmx.connect(target(jvm), Deadline(300)) as server:
        answers = list(server.read((name, ["Value"]) for name in names))
    assert [type(answer) for answer in answers] == [jmx.NoSuchBeanError] * 600
    assert all(name in answer.what for name, answer in zip(names, answers, strict=True))


def test_any_certificate_will_do_where_that_is_asked_for(jvm_variant):
    for variant in ("tls", "wrong-certificate-name", "expired-certificate"):
        jvm = jvm_variant(variant)
        with jmx.connect(target(jvm, tls=jmx.Tls(wanted=True, insecure=True)), Deadline(20)) as server:
            assert value_of(server, THREADING, THREADS) > 5
        with pytest.raises(jmx.UnreachableError, match="is not to be trusted"):
            jmx.connect(target(jvm, tls=jmx.Tls(wanted=True)), Deadline(20))


@pytest.mark.own_server("an attribute that never returns leaves a connection, and this counts them")
@pytest.mark.slow("a JVM of its own starts")
def test_an_attribute_that_never_returns_ends_in_time_and_is_logged_out_from(tmp_path):
    with Jvm(tmp_path, groups=["never"]) as jvm:
        with jmx.connect(target(jvm), Deadline(5)) as server, pytest.raises(jmx.UnreadableError) as error:
            value_of(server, "target:type=Never", "Value")
        assert error.value.what.startswith("Value of target:type=Never cannot be read: no answer within ")
        # The server's own thread stays in the getter and holds the object; its time-out thread is gone.
        assert jvm.left_by_clients() == {"threads": 0, "connections": 1, "unacknowledged": 0}


@pytest.mark.slow("200 log-ins")
def test_nothing_is_left_on_the_server_after_200_log_ins(changeable_jvm):
    for _ in range(200):
        with jmx.connect(target(changeable_jvm), Deadline(20)) as server:
            assert value_of(server, "target:type=Numbers", "Int") == 42
    assert changeable_jvm.left_by_clients() == {"threads": 0, "connections": 0, "unacknowledged": 0}


@pytest.mark.own_server("attributes that never return leave connections")
@pytest.mark.slow("a JVM of its own starts")
def test_an_attribute_that_never_returns_costs_nothing_but_itself(tmp_path):
    never, good = "target:type=Never", ("target:type=Trouble", ["Good"])
    with Jvm(tmp_path, groups=["never", "trouble"]) as jvm:
        with jmx.connect(target(jvm), Deadline(8)) as server:
            same_bean, other = server.read([(never, ["Value", "One"]), good])
        assert (same_bean["One"], other) == (1, {"Good": 1})
        assert isinstance(same_bean["Value"], jmx.UnreadableError)
        with jmx.connect(target(jvm), Deadline(8)) as server:
            before, hanging, after = server.read([good, (never, ["Value"]), good])
        assert (before, after) == ({"Good": 1}, {"Good": 1})
        assert "no answer within" in hanging["Value"].what


def test_an_attribute_that_takes_its_time_is_waited_for_though_others_are(server):
    slow, good = ("target:type=Slow", ["TwoSeconds", "HalfASecond"]), ("target:type=Trouble", ["Good"])
    assert list(server.read([slow, good])) == [{"TwoSeconds": 2, "HalfASecond": 1}, {"Good": 1}]


def test_domains_names_and_classes(server):
    assert {"java.lang", "target", "JMImplementation"} <= set(server.domains())
    assert server.names("java.lang:type=Memory") == ["java.lang:type=Memory"]
    assert server.names("none:*") == []
    (bean,) = server.beans("target:type=Standard,name=1")
    assert bean == Bean("target:type=Standard,name=1", "target.Standard")


@pytest.mark.parametrize(
    "pattern",
    [
        "*:*", "java.lang:*", "java.lang:type=Memory*,*", "*:type=Odd,*", "*:type=?dd,name=a*",
        "t*t:name=a?b,type=*", "*:alpha=2,*", "*:*,zeta=*",
        r'*:name="star \* mark*",*', r'target:name="*\?*",type=Odd', 'target:name="a*",*',
        "target:name=back*,type=Odd", "target:name=*ü*,type=Odd", "target:name=* *,type=Odd",
    ],
)  # fmt: skip
def test_patterns_match_here_as_they_do_in_java(pattern, server):
    ours = jmx.ObjectName.parse(pattern)
    everything = server.names()
    assert server.names(pattern) == [name for name in everything if ours.matches(jmx.ObjectName.parse(name))]


def test_attributes_as_mbeaninfo_tells_them(server):
    (attributes,) = server.describe([Bean("target:type=Standard,name=1", "target.Standard")])
    assert [(one.name, one.type, one.readable, one.writable) for one in attributes] == [
        ("Number", "int", True, False),
        ("Threshold", "long", True, True),
        ("Text", "java.lang.String", True, False),
        ("Even", "boolean", True, False),
    ]


def test_arrays_and_descriptions(server):
    (attributes,) = server.describe([Bean("target:type=Arrays", "")])
    types = {one.name: one.type for one in attributes}
    assert (types["Longs"], types["Strings"], types["Bytes"]) == ("long[][]", "java.lang.String[]", "byte[]")
    assert all(isinstance(one, Attribute) for one in attributes)


def test_info_is_asked_once_a_class_only_where_the_class_says_so(jvm, server):
    jvm.tell("many", 500)
    beans = server.beans("target:*")
    described = dict(zip([bean.name for bean in beans], server.describe(beans), strict=True))
    assert len(beans) > 500
    # All beans of class target.Standard share one list; those of class target.Table have each their own.
    assert len({id(described[bean.name]) for bean in beans if bean.class_name == "target.Standard"}) == 1
    tables = [described[bean.name] for bean in beans if bean.class_name == "target.Table"]
    assert len({id(attributes) for attributes in tables}) == len(tables) > 10
    alone = {bean.name: next(iter(server.describe([bean]))) for bean in beans[:40]}
    assert all(described[name] == attributes for name, attributes in alone.items())


def test_beans_of_one_class_that_show_different_interfaces(changeable_jvm):
    changeable_jvm.tell("register", "wrapped")
    with jmx.connect(target(changeable_jvm), Deadline(20)) as server:
        beans = server.beans("target:type=Wrapped,*")
        assert len({bean.class_name for bean in beans}) == 1
        described = [[one.name for one in attributes] for attributes in server.describe(beans)]
        assert described == [["One"], ["Two"]]


def test_questions_asked_in_the_middle_of_an_answer_use_the_same_connection(changeable_jvm):
    changeable_jvm.tell("many", 500)
    with jmx.connect(target(changeable_jvm), Deadline(20)) as server:
        link = server._session.link()
        wanted = [(bean.name, ["Number", "Text"]) for bean in server.beans("target:type=Standard,*")]
        for (name, _), values in zip(wanted, server.read(wanted), strict=True):
            number = value_of(server, name, "Number")
            assert values == {"Number": number, "Text": f"bean number {number}"}
        assert server._session.link() is link


def test_logging_out_twice_does_no_harm(jvm):
    server = jmx.connect(target(jvm), Deadline(20))
    server.close()
    server.close()


def test_what_is_left_in_the_middle_of_an_answer_is_logged_out_from(changeable_jvm):
    changeable_jvm.tell("many", 500)
    with jmx.connect(target(changeable_jvm), Deadline(20)) as server:
        wanted = [(bean.name, ["Number", "Text"]) for bean in server.beans("target:type=Standard,*")]
        assert next(iter(server.read(wanted)))["Text"].startswith("bean number")
    assert changeable_jvm.left_by_clients() == {"threads": 0, "connections": 0, "unacknowledged": 0}


def test_a_bean_that_has_gone_meanwhile_is_an_error_of_its_own(server):
    gone = Bean("target:type=Standard,name=99999", "target.Standard")
    gone, there = server.describe([gone, *server.beans("target:type=Standard,name=1")])
    assert isinstance(gone, jmx.NoSuchBeanError)
    assert [one.name for one in there] == ["Number", "Threshold", "Text", "Even"]


def test_deadlocked_threads(jvm, server):
    assert server.deadlocked_threads() == []
    jvm.tell("deadlock")
    try:
        assert len(server.deadlocked_threads()) == 2
    finally:
        jvm.tell("release")
    assert server.deadlocked_threads() == []


def test_a_read_only_role_may_not_look_for_deadlocks(jvm_variant):
    with jmx.connect(target(jvm_variant("password")), Deadline(20)) as server:
        with pytest.raises(jmx.UnreadableError, match="this user may not, SecurityException: Access denied"):
            server.deadlocked_threads()
        assert value_of(server, THREADING, THREADS) > 5
