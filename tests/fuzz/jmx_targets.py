"""What JMX servers send, and the jar of jmxquery prints."""

import contextlib
import json
import struct
from unittest import mock

import jmx_bytes
from choices import ODD_JSON, Choices, changed_json, seeds
from fuzzing import Target, WrongError
from java_stream import (
    OBJECT_ARRAY,
    WRITES,
    array,
    big_decimal,
    copies,
    described,
    instance,
    map_in_map_of,
    map_of,
    maps,
    pairs,
    reference,
    short_text,
)
from plugin_runs import RECORDED, clock, said
from recorded_jvm import RecordedJvm
from stallwatch.deadline import Deadline
from stallwatch.frame.options import jmx as jmx_options
from stallwatch.sources import jmx, recording
from stallwatch.sources.jmx import jmxquery
from stallwatch.sources.jmx.info import Bean, attributes_of
from stallwatch.sources.jmx.jmxquery import java
from stallwatch.sources.jmx.jmxquery.java import SpoiledError, checked
from stallwatch.sources.jmx.jmxquery.lines import Told, lines, value
from stallwatch.sources.jmx.jolokia.client import Client as HttpClient
from stallwatch.sources.jmx.jolokia.http import Agent
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.sources.jmx.rmi import FAILURES
from stallwatch.sources.jmx.rmi import reference as referred
from stallwatch.sources.jmx.serialization import MAGIC, Reader
from stallwatch.sources.jmx.values import plain
from stallwatch.sources.jmx.wire import LostError

TARGET = jmx.Target("db1", 7199, user="me", password="secret")
CONVERSATIONS = sorted(jmx_bytes.ASKED)
TOKENS = tuple(jmx_bytes.TELLING)
JVMS = sorted((RECORDED / "jmx_thread_pools").glob("*.json"))
HEADER = 17  # bytes before the content of an answer: a block with its kind and its id
OUTPUTS = sorted((RECORDED / "jmxquery").glob("*.json"))


class Octets:
    """Where the reader takes its bytes from."""

    def __init__(self, octets):
        self.octets = octets

    def take(self, count):
        """As the wire's."""
        if count > len(self.octets):
            raise LostError
        taken, self.octets = self.octets[:count], self.octets[count:]
        return taken


def a_value(octets):
    """A serialized value, read and made into one that we can tell."""
    json.dumps(plain(Reader(Octets(MAGIC + octets)).content()), default=str)


def a_stub(octets):
    """The reference that a registry or a log-in gives."""
    found = referred(Reader(Octets(MAGIC + octets)).content())
    if not (isinstance(found.host, str) and isinstance(found.port, int)):
        raise WrongError("a reference that is none")


def a_description(octets):
    """What attributes a bean has."""
    for one in attributes_of(Reader(Octets(MAGIC + octets)).content()):
        json.dumps(one)


def a_conversation(octets):
    """A log-in, a question and its answer; the first byte chooses the question."""
    ask = jmx_bytes.ASKED[CONVERSATIONS[octets[0] % len(CONVERSATIONS) if octets else 0]]
    streams, octets = [], octets[1:]
    while len(octets) > 4:
        length = min(struct.unpack(">I", octets[:4])[0], len(octets))
        streams.append(octets[4 : 4 + length])
        octets = octets[4 + length :]
    with clock():
        json.dumps(jmx_bytes.replay(ask, streams), default=str)


def what_java_prints(octets):
    """The output of the jar, and its errors after a NUL."""
    output, _, errors = octets.decode(errors="replace").partition("\0")
    told = Told()
    told.take(lines(checked(java.Ended(0 if not errors else 1, output, errors), TARGET)))
    for name, attributes in told.lines.items():
        for attribute, given in attributes.items():
            json.dumps(value(f"{attribute} of {name}", given), default=str)


def a_question_to_java(octets):
    """A client whose runs of Java print one such output after the other."""
    outputs = octets.split(b"\1")
    ended = iter([java.Ended(0, one.decode(errors="replace"), "") for one in outputs[1:]])

    def run(*_):
        return next(ended, java.Ended(0, "[\n]\n", ""))

    name = outputs[0].decode(errors="replace")
    ObjectName.parse(name)
    named = mock.patch.object(jmxquery.Client, "_must_be_named")
    with mock.patch.object(java, "run", run), named:
        client = jmxquery.Client(TARGET, Deadline(10), lambda _: None)
        json.dumps(list(client.read([(name, ["Value", "Heap Usage"])])), default=str)
        client.beans(name)


def what_an_agent_of_jolokia_answers(octets):
    """A client whose agent gives one such answer after the other, and whatever is next asks for."""
    answers = iter([GREETING, *octets.split(b"\1")])
    with mock.patch.object(Agent, "post", side_effect=lambda *_, **__: next(answers, b"[{}]")):
        client = HttpClient(TARGET._replace(via="jolokia"), Deadline(10), lambda _: None)
        json.dumps(list(client.read([("a:b=c", ["Value", "Heap Usage"])])), default=str)
        asked = (client.domains, client.names, client.beans, client.deadlocked_threads)
        for ask in (*asked, lambda: _described(client)):
            with contextlib.suppress(jmx.JmxError):
                json.dumps(ask(), default=str)


def _described(client):
    return list(client.describe([Bean("a:b=c", "")]))


def thread_pools_of_a_jvm(octets):
    """All that pools say, each value another one, the names, too."""
    choices = Choices(octets)
    recorded = json.loads(choices.one(JVMS).read_text())
    server, memory = RecordedJvm(_beans(changed_json(recorded["beans"], choices))), {}
    with clock(), recording.use(server):
        said("check_jmx_thread_pools", ["-P", "7199", "-t", "10m"], memory)
        return said("check_jmx_thread_pools", ["-P", "7199", "-t", "10m"], memory)


def _beans(changed):
    """What the client gives is a dictionary by names, whatever the server sends."""
    told = changed if isinstance(changed, dict) else {}
    return {name: of for name, of in told.items() if isinstance(of, dict) and _is_name(name)}


def _is_name(text):
    try:
        return not ObjectName.parse(text).is_pattern
    except ValueError:
        return False


ATTRIBUTES = (
    ("--unit", "ms", "-w", "10"),
    ("--rate",),
    ("-w", "5", "-c", "80%"),
    ("--match", "a+"),
    (),
    ("--of", "Other", "-w", "80%"),
)


def attributes_of_a_jvm(octets):
    """Values of any kind of the attributes that check_jmx is asked for, and those they are held against."""
    choices = Choices(octets)
    options = choices.one(ATTRIBUTES)
    keyed = ("-K", "used") if choices.below(2) else ()
    aggregate = choices.one(((), ("--aggregate", "sum"), ("--aggregate", "max")))
    bean = {"Value": {"used": choices.one(ODD_JSON), "max": 7}, "Other": choices.one(ODD_JSON)}
    beans = {
        "a:type=b,name=1": bean,
        "a:type=b,name=2": {"Value": choices.one(ODD_JSON), "Other": 3},
        "java.lang:type=Runtime": {"StartTime": choices.one(ODD_JSON), "Uptime": choices.one(ODD_JSON)},
    }
    memory = {}
    arguments = [
        "-P",
        "7199",
        "-t",
        "10m",
        "-O",
        "a:type=b,name=*",
        "-A",
        "Value",
        *keyed,
        *options,
        *aggregate,
    ]
    with clock() as now:
        for _ in range(2):
            changed = changed_json(beans, choices, most=2)
            server = RecordedJvm(_beans(changed))
            with recording.use(server):
                came_to = said("check_jmx", arguments, memory)
            now.sleep(60)
        return came_to


def _streams():
    """The contents of recorded answers, each from the magic number on."""
    found = []
    for name in CONVERSATIONS:
        for stream in jmx_bytes.load(name):
            parts = stream.split(MAGIC)[1:]
            found += [part[HEADER if part[:2] == b"\x77\x0f" else 0 :][:6000] for part in parts]
    return found


def values():
    """Values as servers sent them, and some that none would send."""
    made = (
        array(described(OBJECT_ARRAY), 2, short_text("a"), reference(2)),
        pairs(10),
        maps(10),
        copies(5),
        big_decimal(4),
        map_of(short_text("a"), short_text("b")),
        map_in_map_of("'\"", 10),
        instance(described("x.C", "Ix", flags=WRITES), b"\0\0\0\1\x78"),
    )
    return [*made, *_streams()]


def conversations():
    """The recordings."""
    return [
        bytes([number]) + (jmx_bytes.RECORDED / f"{name}.bin").read_bytes()
        for number, name in enumerate(CONVERSATIONS)
    ]


def outputs():
    """What the jar printed, and its errors."""
    told = [json.loads(path.read_text()) for path in OUTPUTS]
    return [
        f"{one['output']}\0{one['errors']}".encode() if one.get("errors") else one["output"].encode()
        for one in told
    ]


def questions():
    """A name and what the jar printed."""
    return [b"java.lang:type=Memory\1" + one for one in outputs()] + [b"*:*\1" + one for one in outputs()]


def answers_of_jolokia():
    """What agents answer (2.1.1), one answer after the other."""
    return [b"\1".join(json.dumps([{"status": 200, "value": one}] * 2).encode() for one in TOLD)] + [
        json.dumps([one, one]).encode() for one in (*map(_told, TOLD), *REFUSED)
    ]


def _told(value):
    return {"status": 200, "value": value}


def chosen():
    """Octets that choose."""
    return seeds(100, 40)


OURS = (*FAILURES, jmx.JmxError, LostError)
GREETING = b'[{"status":200,"value":{"protocol":"8.0","config":{"maxCollectionSize":"3"}}}]'
TOLD = (
    42, None, "2024-02-29T12:34:56Z", [1, 2], {"used": 5, "max": -1}, {"objectName": "a:b=c"},
    {"bigint": "7"}, {"a": {"x": {"host": "a", "disk": "x"}}}, {"indexNames": ["a"], "values": [{"a": 1}]},
    {"epochSecond": 1709210096, "nano": 5}, {"mostSignificantBits": 1, "leastSignificantBits": -1},
    {"Value": {"rw": False, "type": "[J", "desc": "d"}}, {"a": {"b=c": {"class": "x.C", "attr": "1"}}},
    ["a:b=c"],
)  # fmt: skip
REFUSED = (
    {"status": 404, "error_type": "javax.management.InstanceNotFoundException", "error": "a:b=c"},
    {"status": 403, "error_type": "java.lang.Exception", "error": "java.lang.Exception : not allowed"},
)
JSON = (
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b":",
    b",",
    b"null",
    b"1e999",
    b"-1",
    b"\\u00",
    b'"status":200',
    b'"value":',
    b"\1",
)
REPORTS = frozenset({"OK", "UNKNOWN"})
JAR = (
    b'{"mBeanName" : "',
    b'", "attribute" : "',
    b'", "attributeType" : "',
    b', "value" : ',
    b"}, \n",
    b"}]\n",
    b"[\n",
    b"Null",
    b"Integer",
)
TARGETS = {
    "jmx_value": Target(
        a_value, values, OURS, TOKENS, 1000, frozenset({"value", "LostError", "ProtocolError"})
    ),
    "jmx_stub": Target(a_stub, values, OURS, TOKENS, 400, frozenset({"value", "ProtocolError"})),
    "jmx_description": Target(
        a_description, values, OURS, TOKENS, 400, frozenset({"value", "ProtocolError"})
    ),
    "jmx_conversation": Target(
        a_conversation, conversations, (jmx.JmxError,), TOKENS, 250, frozenset({"value", "UnreachableError"})
    ),
    "jmxquery_output": Target(
        what_java_prints,
        outputs,
        (ValueError, SpoiledError, jmx.JmxError),
        JAR,
        1000,
        frozenset({"value", "ValueError", "UnreachableError"}),
    ),
    "jmxquery_client": Target(
        a_question_to_java,
        questions,
        (jmx.JmxError, jmx_options.NotUnderstoodError),
        JAR,
        700,
        frozenset({"value", "UnreachableError"}),
    ),
    "jolokia": Target(
        what_an_agent_of_jolokia_answers,
        answers_of_jolokia,
        (jmx.JmxError,),
        JSON,
        400,
        frozenset({"value", "UnreachableError"}),
    ),
    "jmx_thread_pools": Target(thread_pools_of_a_jvm, chosen, (), (), 100, REPORTS),
    "jmx": Target(attributes_of_a_jvm, chosen, (), (), 200, frozenset({"UNKNOWN", "OK"})),
}
