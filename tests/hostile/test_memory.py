"""Whatever a peer sends or a file holds, a plugin and its children take 64 MiB more than at rest at most.

Each source is put to what is worst for it, and beside it to something that is as large and healthy.
"""

import gzip
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import bad_servers
import floods
import pytest
from bad_servers import repeats, says
from floods import beans, info, jvm, mysql, names, number, rows
from load_checks import SLOW
from loopback import serving
from peaks import MOST, peak_of
from stallwatch.sources.jmx.jmxquery import java as java_runs
from subjects import CRITICAL, OK, RECORDED, UNKNOWN

sys.path.append(str(Path(__file__).parents[1] / "unit"))
import http_server
import java_stream as java
from java_stream import END, NULL, OBJECT_ARRAY, WRITES, array, described, instance, map_of, reference, utf
from mysql_bytes import error, greeting, packet, result, text

TIMEOUT = 30  # seconds; what fills the memory does so in one or two
WITHIN = ("-t", f"{TIMEOUT}s")


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory):
    """Gives, of a source, what a plugin takes that asks it for next to nothing; measured once."""
    known = {}

    def rest(source, measure):
        if source not in known:
            known[source] = measure(tmp_path_factory.mktemp("rest"))
            assert known[source].outcome.status in (OK, UNKNOWN), known[source]
        return known[source]

    return rest


def stays_within(peak, rest, status, *words):
    """Assert that it ends in time, in this state, with these words, and that it has not grown too large."""
    peak.outcome.holds(TIMEOUT, status)
    for word in words:
        assert word in peak.outcome.text, peak
    assert peak.beyond(rest) <= MOST, (peak.own, peak.children, rest.own, rest.children, peak.outcome)


# JMX

TOO_LARGE = "an answer that needs more than 20 MiB of memory"
VALUE_TOO_LARGE = "it needs more than 8 MiB of memory"
TOO_MANY = "shows more than a check keeps (36 MiB)"
OBJECTS = array(described(OBJECT_ARRAY), 500_000)  # handles 0 and 1


def lineage(*classes):
    """Classes, each with the next one as its superclass; all add something to their objects."""
    return b"".join(described(name, flags=WRITES, parent=b"") for name in classes) + NULL


MANY_LEVELS = [f"x.C{level}" for level in range(100)]
ATTRIBUTE_FLOODS = {
    "end marks of 100 classes": (
        OBJECTS + instance(lineage(*MANY_LEVELS), END * 100), instance(reference(2)) + END * 100
    ),
    "end marks of one class": (OBJECTS + instance(lineage("x.C"), END), instance(reference(2)) + END),
    "classes of 60 000 fields": (OBJECTS, b"\x76" + described("x.C", *["Ba"] * 60_000)),
    "classes": (OBJECTS, b"\x76" + described("")),
    "annotations": (b"\x76\x72" + utf("x.C") + bytes(8) + b"\2\0\0", NULL),
    "proxies": (OBJECTS, b"\x73\x7d\0\0\0\0\x78\x70"),
    "maps": (OBJECTS + map_of(), instance(reference(2), b"\x77\x08" + bytes(8) + END)),
    "lists": (OBJECTS, array(reference(0), 0)),
    "constants": (
        OBJECTS + b"\x7e" + described("x.E") + java.short_text("ab"),
        b"\x7e" + reference(2) + java.short_text("ab"),
    ),
    "texts": (OBJECTS, java.short_text("ab")),
    "a text of 6 MB with an elephant": (java.long_text(b"x" * 6_000_000 + b"\xed\xa0\xbd\xed\xb0\x98"),),
    "blocks": (map_of()[:-1], b"\x7a\0\x10\0\0" + bytes(1 << 20)),
    "nulls": (map_of()[:-1], NULL),
    "objects of many fields": (
        OBJECTS + instance(described("x.C", *(f"B{at:x}" for at in range(20_000))), bytes(20_000)),
        instance(reference(2)) + bytes(20_000),
    ),
}  # fmt: skip


def jmx(home, answers, *arguments):
    with serving(jvm(answers)) as (host, port):
        return peak_of(home, "jmx", "-H", host, "-P", port, "--rmi-port", port, *arguments, *WITHIN)


def jmx_rest(at_rest):
    return at_rest("jmx", lambda home: jmx(home, {None: (number(),)}, "-O", "a:b=c", "-A", "V"))


@pytest.mark.parametrize("flood", ATTRIBUTE_FLOODS)
def test_a_value_of_a_jvm(home, at_rest, flood):
    peak = jmx(home, {None: ATTRIBUTE_FLOODS[flood]}, "-O", "a:b=c", "-A", "V")
    stays_within(peak, jmx_rest(at_rest), UNKNOWN, f"V of a:b=c cannot be read: {TOO_LARGE}")


def test_a_text_of_15_mb_of_a_jvm(home, at_rest):
    peak = jmx(home, {None: (java.long_text(b"x" * 15_000_000),)}, "-O", "a:b=c", "-A", "V")
    stays_within(peak, jmx_rest(at_rest), UNKNOWN, "a text of 15000000 bytes, more than a check reads")


def test_an_array_that_announces_more_than_there_can_be(home, at_rest):
    peak = jmx(home, {None: (array(described(OBJECT_ARRAY), java.MOST), NULL)}, "-O", "a:b=c", "-A", "V")
    stays_within(peak, jmx_rest(at_rest), UNKNOWN, f"an array of {java.MOST}, more than a check reads")


def of_beans(count, value, *attributes, **of_name):
    """A JVM with so many beans, each of which answers with this value."""
    return {
        None: value,
        floods.QUERY_NAMES: (names(count, **of_name),),
        floods.QUERY_MBEANS: (beans(count, **of_name),),
        floods.GET_MBEAN_INFO: (info(*attributes or ("V",)),),
    }


LONG_NAME = b"x:a=%d," + b",".join(b"b%x=" % at for at in range(600)).replace(b"%", b"%%")
JVM_FLOODS = {
    "names": (of_beans(24_000, (number(),)), TOO_LARGE),
    "names of many properties": (of_beans(2000, (number(),), name=LONG_NAME), TOO_MANY),
    "long texts": (of_beans(90, (java.long_text(b"a" * 3_000_000),)), TOO_MANY),
    "many maps": (
        of_beans(900, (array(described(OBJECT_ARRAY), 10_000, map_of()) + (
            instance(reference(2), b"\x77\x08" + bytes(8) + END) * 9999),)),
        TOO_MANY,
    ),
    "values that hold themselves": (
        of_beans(300, (array(described(OBJECT_ARRAY), 20_000, array(reference(0), 1, reference(2))) + (
            array(reference(0), 1, reference(1)) * 19_999),)),
        TOO_MANY,
    ),
    "a bomb for each of 5 beans": (of_beans(5, (OBJECTS, b"\x73\x7d\0\0\0\0\x78\x70")), TOO_LARGE),
    "attributes": (of_beans(2000, (number(),), *(f"{at:x}" for at in range(3000))), TOO_MANY),
}  # fmt: skip


@pytest.mark.parametrize("flood", JVM_FLOODS)
def test_all_beans_of_a_jvm(home, at_rest, flood):
    answers, words = JVM_FLOODS[flood]
    stays_within(jmx(home, answers, "-O", "x:*", "-A", "V"), jmx_rest(at_rest), UNKNOWN, words)


def test_a_list_of_long_texts(home, at_rest):
    answers, words = JVM_FLOODS["long texts"]
    peak = jmx(home, answers, "--list", "*:*", "--values", "--output", "json")
    assert peak.outcome.status == UNKNOWN
    assert words in peak.outcome.text
    assert peak.beyond(jmx_rest(at_rest)) <= MOST


def test_a_jvm_of_many_beans_is_healthy(home, at_rest):
    """5000 beans with names as those of Cassandra, of a class that tells nothing of others."""
    long = b"org.apache.cassandra.metrics:type=ColumnFamily,keyspace=system_traces,scope=sessions,name=Bean%d"
    answers = of_beans(5000, (number(),), name=long)
    peak = jmx(home, answers, "-O", "org.apache.cassandra.metrics:*", "-A", "V", "--aggregate", "sum")
    stays_within(peak, jmx_rest(at_rest), OK, "sum 210000, 5000 beans")


def test_a_long_text_of_a_jvm_is_healthy(home, at_rest):
    answers = {None: (java.long_text(b"x" * 4_000_000),)}
    peak = jmx(home, answers, "-O", "a:b=c", "-A", "V", "--match", "^x+$")
    stays_within(peak, jmx_rest(at_rest), OK)


def jolokia(home, value, *arguments, end=b"}]"):
    """Ask an agent that answers each question but the first with these bytes as its value, then ``end``."""
    greeting = b'{"agent":"2.1.1","protocol":"8.0","config":{"maxCollectionSize":"0"}}'

    def reply(request, _):
        questions = json.loads(request.partition(b"\r\n\r\n")[2])
        is_greeting = questions[0]["type"] == "version"
        octets = b'[{"status":200,"value":' + (greeting + b"}]" if is_greeting else value + end)
        return http_server.answer(octets)

    with http_server.serving(reply) as asked:
        where = "http://{}:{}/jolokia".format(*asked.place)
        return peak_of(home, "jmx", "-U", where, *arguments, *WITHIN)


def jolokia_rest(at_rest):
    return at_rest("jolokia", lambda home: jolokia(home, b"42", "-O", "a:b=c", "-A", "V"))


LARGE = 8_000_000  # bytes: a little less than is read
JSON_FLOODS = {
    "lists": b"[" + b"[]," * (LARGE // 3) + b"1]",
    "maps": b"[" + b"{}," * (LARGE // 3) + b"1]",
    "nested": b"[" * (LARGE // 2) + b"]" * (LARGE // 2),
    "numbers": b"[" + b"1," * (LARGE // 2) + b"1]",
    "texts": b"[" + b'"ab",' * (LARGE // 5) + b"1]",
    "keys": b"{" + b",".join(b'"%d":1' % at for at in range(LARGE // 11)) + b"}",
    "a text of wide characters": '"{}𝄞"'.format("x" * LARGE).encode(),
    "more than is read": b'"' + b"x" * (9 << 20) + b'"',
    "digits": b"1" * LARGE,
}


@pytest.mark.parametrize("flood", JSON_FLOODS)
def test_a_value_of_an_agent_of_jolokia(home, at_rest, flood):
    peak = jolokia(home, JSON_FLOODS[flood], "-O", "a:b=c", "-A", "V")
    says = "V of a:b=c is Infinity" if flood == "digits" else "V of a:b=c cannot be read: "
    stays_within(peak, jolokia_rest(at_rest), UNKNOWN, says)


def test_a_long_text_of_an_agent_of_jolokia_is_healthy(home, at_rest):
    peak = jolokia(home, b'"' + b"x" * 4_000_000 + b'"', "-O", "a:b=c", "-A", "V", "--match", "^x+$")
    stays_within(peak, jolokia_rest(at_rest), OK)


TOO_LITTLE = "Java has too little memory for what "
MOST_OF_JAVA = 24.0  # MiB: of its heap
QUICK = ("-O", "java.lang:type=Runtime", "-A", "StartTime")


def through_java(jvm, home, *arguments):
    where = ("-H", "127.0.0.1", "-P", jvm.port)
    return peak_of(home, "jmx", *where, "--via", "jmxquery", *arguments, *WITHIN)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("-O", "target:type=Many,*", "-A", "Number", "--aggregate", "sum"), OK, " 500 beans"),
        (("-O", "target:type=Big", "-A", "Text", "--match", "x"), UNKNOWN, TOO_LITTLE),
        (("-O", "target:type=Big", "-A", "Array"), UNKNOWN, TOO_LITTLE),
        (("--list", "target:type=Big", "--values"), UNKNOWN, TOO_LITTLE),
    ],
    ids=["500 beans", "a text of 20 MB", "an array of 20 MB", "all attributes"],
)
def test_java_is_limited(changeable_jvm, home, arguments, status, words):
    """A plugin at rest runs Java, too."""
    changeable_jvm.tell("many", 500)
    changeable_jvm.tell("register", "big")
    rest = through_java(changeable_jvm, home, *QUICK)
    stays_within(through_java(changeable_jvm, home, *arguments), rest, status, words)


LONG = ",".join(f"b{key:x}=" for key in range(500))


@pytest.mark.parametrize("more", ["", f",{LONG}"], ids=["short names", "long names"])
def test_what_java_writes_is_limited(changeable_jvm, home, more):
    """It writes as much as it may, in the lines that take us the most memory."""
    rest_of_line = '", "attribute" : "V", "attributeType" : "Integer", "value" : 7}'
    lines = [f'{{"mBeanName" : "x:a={at:x}{more}{rest_of_line}' for at in range(15_000)]
    count = java_runs.MOST_OUTPUT // len(lines[-1] + ", \n")
    (home / "answer").write_text("[\n" + ", \n".join(lines[: count - 1]) + "]\n")
    program = home / "java"
    program.write_text(f"#!/bin/sh\nexec cat {home}/answer\n")
    program.chmod(0o755)
    rest = through_java(changeable_jvm, home, *QUICK)
    arguments = ("-O", "x:*", "-A", "V", "--aggregate", "sum", "--java", program)
    peak = through_java(changeable_jvm, home, *arguments)
    peak.outcome.holds(TIMEOUT, OK)
    assert f"{count - 1} beans" in peak.outcome.text
    assert peak.own - rest.own <= MOST - MOST_OF_JAVA


# MySQL

TOO_MUCH = "answers too much to be read"
MYSQL_FLOODS = {
    "rows of one short text": rows([b"a"], b"ab"),
    "rows of 250 short texts": rows([b"a"] * 250, *[b"ab"] * 250),
    "rows of 250 NULL": rows([b"a"] * 250, *[None] * 250),
    "rows of 100 kB": rows([b"a"], b"a" * 100_000),
    "a wide letter in each 1.9 MB": rows([b"a"], b"a" * 1_900_000 + "🐘".encode()),
    "a row of 8 MB": rows([b"a"], b"a" * 8_000_000),
    "an error of 4 MB": (packet(1, error(1064, b"x" * 4_000_000)),),
    "columns": (
        packet(1, b"\xfc\xff\x0f"),
        b"".join(
            packet((2 + at) % 256, text(b"def") + text(b"") * 3 + text(b"a" * 1800) + text(b"") + b"\x0c"
                   + struct.pack("<HIBHB", 45, 99, 253, 0, 0) + b"\0\0")
            for at in range(256)
        ),
    ),
}  # fmt: skip


def ask(home, play, plugin, *arguments):
    """An SQL node that cannot be understood is CRITICAL for check_ndb_nodes, unless it is told otherwise."""
    unknown = ("--unreachable", "unknown") if plugin == "ndb_nodes" else ()
    with serving(play) as (host, port):
        return peak_of(home, plugin, "-H", host, "-P", port, "-u", "monitor", *unknown, *arguments, *WITHIN)


def ask_rest(at_rest, plugin):
    answers = {"": (result(b"1", rows=[(b"1",)]),)}
    patient = SLOW if plugin == "mysql_query" else ()
    return at_rest(plugin, lambda home: ask(home, mysql(answers), plugin, *patient))


@pytest.mark.parametrize("plugin", ["mysql_status", "mysql_query", "ndb_nodes"])
@pytest.mark.parametrize("flood", MYSQL_FLOODS)
def test_an_answer_of_a_mysql(home, at_rest, flood, plugin):
    peak = ask(home, mysql({"": MYSQL_FLOODS[flood]}), plugin)
    status = CRITICAL if plugin == "mysql_query" else UNKNOWN
    stays_within(peak, ask_rest(at_rest, plugin), status, TOO_MUCH)


def variables(count):
    """The answer to SHOW GLOBAL STATUS with so many variables."""
    told = [(b"Uptime", b"9000"), *((b"Com_v%d" % at, b"7") for at in range(count))]
    return (result(b"Variable_name", b"Value", rows=told),)


def test_a_mysql_of_too_many_status_variables(home, at_rest):
    peak = ask(home, mysql({"": variables(60_000)}), "mysql_status")
    stays_within(
        peak, ask_rest(at_rest, "mysql_status"), UNKNOWN, "shows 60001 status variables, more than a check"
    )


def test_a_mysql_of_many_status_variables_is_healthy(home, at_rest):
    peak = ask(home, mysql({"": variables(1500)}), "mysql_status")
    stays_within(peak, ask_rest(at_rest, "mysql_status"), OK, "connected")


LOG_IN_FLOODS = {
    "greetings": {"greeting": (b"", greeting() * 100)},
    "a log-in of 2 MB": {
        "let_in": (
            packet(2, b"\xfemysql_native_password\0" + b"x" * 1_900_000),
            packet(4, b"\1" + b"x" * 1_900_000),
        )
    },
    "a log-in of 8 MB": {"let_in": (packet(2, b"\xfemysql_native_password\0" + b"x" * 8_000_000),)},
    "a refusal of 2 MB": {"let_in": (packet(2, error(1045, b"x" * 1_900_000, b"#28000")),)},
}


@pytest.mark.parametrize("flood", LOG_IN_FLOODS)
def test_a_log_in_at_a_mysql(home, at_rest, flood):
    peak = ask(home, mysql({}, **LOG_IN_FLOODS[flood]), "mysql_status")
    stays_within(peak, ask_rest(at_rest, "mysql_status"), UNKNOWN)


PROCESS = (
    b"1",
    b"shop",
    b"10.0.0.7:40000",
    b"shop",
    b"Query",
    b"0",
    b"executing",
    b"SELECT * FROM orders WHERE id = 1",
)


def test_100_000_rows_of_a_process_list_are_healthy(home, at_rest):
    many = rows([b"a"] * 8, *PROCESS, count=100_096)
    answers = {"SHOW FULL": many, "": (packet(1, b"\0\0\0\2\0\0\0"),)}
    query = ("-q", "SHOW FULL PROCESSLIST", "--count", "1", *SLOW)
    peak = ask(home, mysql(answers), "mysql_query", *query)
    stays_within(peak, ask_rest(at_rest, "mysql_query"), OK, "rows=100096")


def test_1_mb_of_innodb_status_is_healthy(home, at_rest):
    answers = {
        "SHOW ENGINE": (result(b"Status", rows=[(b"x" * 1_000_000,)]),),
        "": (packet(1, b"\0\0\0\2\0\0\0"),),
    }
    query = ("-q", "SHOW ENGINE INNODB STATUS", "--count", "1", *SLOW)
    peak = ask(home, mysql(answers), "mysql_query", *query)
    stays_within(peak, ask_rest(at_rest, "mysql_query"), OK, "rows=1")


# A management server

_ASKS = """import os, sys
from stallwatch.deadline import Deadline
from stallwatch.findings import ProbeError
from stallwatch.sources.ndb_mgm import data_nodes
try:
    sys.stdout.write(str(data_nodes("127.0.0.1", int(sys.argv[1]), Deadline(10))))
except ProbeError as error:
    sys.stdout.write(error.what)
sys.stdout.flush()
os._exit(0)
"""
STARTED = b"".join(
    b"node.%d.type: NDB\nnode.%d.status: STARTED\nnode.%d.startphase: 100\n" % ((node,) * 3)
    for node in range(1, 145)
)
MANAGEMENT = {
    "lines": (repeats(b"node.4.type: NDB\n" * 4000), "does not show the status of data nodes"),
    "one line": (repeats(b"x" * 65536), "does not show the status of data nodes"),
    "144 data nodes": (
        says(b"node status\nnodes: 144\n" + STARTED + b"\n"),
        "144: NodeStatus(status='STARTED'",
    ),
}


@pytest.mark.parametrize("flood", MANAGEMENT)
def test_a_management_server(home, at_rest, flood):
    script = home / "asks.py"
    script.write_text(_ASKS)

    def asked(where, play):
        with serving(play) as (_, port):
            return peak_of(where, script, port)

    play, words = MANAGEMENT[flood]
    peak = asked(home, play)
    assert words in peak.outcome.stdout.decode(), peak
    assert peak.beyond(at_rest("ndb_mgm", lambda where: asked(where, bad_servers.hang_up))) <= MOST


# Logs

HEAD = b"2026-11-23 12:50:00 [ndbd] INFO     -- Start phase 101 completed\n"


@pytest.fixture
def folder(tmp_path_factory):
    """A folder that is not the plugin's home, whose files are all read."""
    made = tmp_path_factory.mktemp("files")
    yield made
    shutil.rmtree(made)


def one_line(log):
    log.write_bytes(HEAD)
    os.truncate(log, 1 << 30)


def short_lines(log):
    log.write_bytes(HEAD + b"a\n" * (20 << 20))


def long_lines(log):
    log.write_bytes((HEAD[:-1] + b"x" * 900_000 + b"\n") * 40)


def packed_bombs(log):
    log.write_bytes(HEAD)
    bomb = gzip.compress(HEAD + bytes(50 << 20), 1)
    for at in range(1, 100):
        log.with_name(f"{log.name}.{at}.gz").write_bytes(bomb)


def many_rotated(log):
    log.write_bytes(HEAD)
    for at in range(30_000):
        log.with_name(f"{log.name}.202611{at // 1440 + 1:02}-{at // 60 % 24:02}{at % 60:02}").touch()


LOGS = {
    "a line of 1 GiB": (one_line, (OK, UNKNOWN)),
    "20 million lines": (short_lines, (OK,)),
    "lines of 900 kB": (long_lines, (OK,)),
    "gzipped bombs": (packed_bombs, (OK,)),
    "30 000 rotated files": (many_rotated, (OK,)),
}


@pytest.mark.parametrize("flood", LOGS)
def test_a_log(home, at_rest, folder, flood):
    make, states = LOGS[flood]
    log = folder / "ndb_4_out.log"
    make(log)
    quiet = RECORDED / "ndb_log" / "E0_start_and_100s_quiet.ndb_4_out.log"
    rest = at_rest("ndb_log", lambda where: peak_of(where, "ndb_log", "--log", quiet, *WITHIN))
    for _ in range(2):  # the second run finds what the first one knew again
        peak = peak_of(home, "ndb_log", "--log", log, *WITHIN)
        assert peak.outcome.status in states, peak
        stays_within(peak, rest, peak.outcome.status, "NDB_LOG")


# Backups

WHOLE = b"-- MySQL dump 10.13\n\nCREATE TABLE `a` (id int);\n%s\n-- Dump completed on 2026-11-20 10:00:00\n"
NEWER = ("-w", "20000d", "-c", "20000d")


def compressed(*options):
    def pack(octets):
        if not shutil.which("zstd"):
            pytest.skip("there is no program zstd: apt install zstd")
        return subprocess.run(
            ["zstd", "-q", *options, "-c"], input=octets, capture_output=True, check=True
        ).stdout

    return pack


def inserts():
    return WHOLE % (b"INSERT INTO a VALUES (1);\n" * 2_000_000)


def tables():
    return WHOLE % b"".join(b"CREATE TABLE `t%x` (id int);\n" % at for at in range(120_000))


def zeros():
    return bytes(200 << 20)


def gzipped(octets):
    return gzip.compress(octets, 1)


def mydumper(folder, metadata, tables):
    (folder / "metadata").write_bytes(b"# Started dump at: 2026-11-23 10:00:00\n" + metadata + FINISHED)
    for at in range(tables):
        (folder / f"shop.{'t' * 100}{at}-schema.sql").touch()


FINISHED = b"# Finished dump at: 2026-11-23 10:01:00\n"


def packed(name, pack, content):
    """Makes the file; its content is there only while a test needs it: all workers load this module."""
    return lambda folder: (folder / name).write_bytes(pack(content()))


BACKUPS = {
    "52 MB in zstd -3": (packed("all.sql.zst", compressed("-3"), inserts), OK, "100 % verified"),
    "a window of 32 MiB": (packed("all.sql.zst", compressed("--long=25"), inserts), OK, "100 % verified"),
    "a window of 2 GiB": (
        packed("all.sql.zst", compressed("--long=31"), inserts), UNKNOWN,
        "all.sql.zst cannot be verified: compressed by zstd --long: it needs 2048 MiB of memory to be read",
    ),
    "52 MB in gzip": (packed("all.sql.gz", gzipped, inserts), OK, "100 % verified"),
    "a gzip of one line of zeros": (
        packed("all.sql.gz", gzipped, zeros), CRITICAL, "zeros"
    ),
    "120 000 tables in a gzip": (
        packed("all.sql.gz", gzipped, tables), UNKNOWN,
        "make more than 50000 tables, more than a check notes",
    ),
    "metadata of 20 MB": (
        lambda folder: mydumper(folder, b"[`a`.`b`]\nrows = 1\n" * 1_000_000, 1), UNKNOWN,
        "metadata is larger than 4 MiB, more than a check reads of it",
    ),
    "metadata of 200 000 tables": (
        lambda folder: mydumper(folder, b"".join(b"[`a`.`%x`]\n" % at for at in range(200_000)), 1), UNKNOWN,
        "more files than a check lists",
    ),
    "60 000 files": (lambda folder: mydumper(folder, b"", 60_000), UNKNOWN, "more files than a check lists"),
}  # fmt: skip


@pytest.mark.parametrize("flood", BACKUPS)
def test_a_backup(home, at_rest, folder, flood):
    make, status, words = BACKUPS[flood]
    make(folder)

    def verified(where, place):
        return peak_of(where, "mysql_backup", "-d", place, "--verify", "full", *NEWER, *WITHIN)

    rest = at_rest(
        "mysql_backup", lambda where: verified(where, RECORDED / "mysql_backup" / "mariadb-dump" / "all.sql")
    )
    stays_within(verified(home, folder), rest, status, words)


# Option files

USER = "[client]\nuser=me\n"
BRANCHES = "[client]\n" + "!include {}.cnf\n" * 9 + "ab\n" * 1000
OPTION_FILES = {
    "many options": ({"my.cnf": "[client]\n" + "ab\n" * 160_000}, "refused the connection"),
    "a large file": ({"my.cnf": "[client]\n" + "ab\n" * 300_000}, "my.cnf is too large for an option file"),
    "one line": ({"my.cnf": "[client]\nuser=" + "#'" * 200_000}, "refused the connection"),
    "a tree": (
        {f"{at or 'my'}.cnf": BRANCHES.replace("{}", str(at + 1)) for at in range(9)},
        "my.cnf includes too much for an option file",
    ),
    "a directory of 2000": (
        {"my.cnf": "[client]\n!includedir .\n", **{f"{at}.cnf": USER for at in range(2000)}},
        "has more than 1000 option files",
    ),
    "a directory of 100": (
        {"my.cnf": "[client]\n!includedir conf.d\n", **{f"conf.d/{at}.cnf": USER for at in range(100)}},
        "refused the connection",
    ),
}  # fmt: skip


@pytest.mark.parametrize("flood", OPTION_FILES)
def test_an_option_file(home, at_rest, folder, flood):
    files, words = OPTION_FILES[flood]
    (folder / "conf.d").mkdir()
    for name, content in files.items():
        (folder / name).write_text(
            content.replace("!include ", f"!include {folder}/").replace("dir ", f"dir {folder}/")
        )
    place = ("-H", "127.0.0.1", "-P", "9")
    rest = at_rest("option file", lambda where: peak_of(where, "mysql_status", *place, *WITHIN))
    peak = peak_of(home, "mysql_status", "--defaults-file", folder / "my.cnf", *place, *WITHIN)
    stays_within(peak, rest, UNKNOWN, words)


# State files


@pytest.mark.parametrize(
    ("values", "lost"),
    [
        ("[" + "{}," * 1_000_000 + "{}]", "would take more than 40 MiB of memory"),
        ("[" * 4_000_000, "would take more than 40 MiB of memory"),
        ('"' + "🐘" * 1_900_000 + '"', "would take more than 40 MiB of memory"),
        (" " * (9 << 20), "is larger than 8 MiB"),
        ("{" + ",".join(f'"{at:x}.0":{{}}' for at in range(50_000)) + "}", ""),
    ],
    ids=["objects", "lists", "wide text", "9 MiB", "50 000 healthy ones"],
)
def test_a_state_file(home, at_rest, values, lost):
    log = RECORDED / "ndb_log" / "E0_start_and_100s_quiet.ndb_4_out.log"
    first = peak_of(home, "ndb_log", "--log", log, *WITHIN)
    (state,) = (home / "state").glob("*.json")
    written = state.read_text()
    state.write_text(written.replace('"values": {', f'"values": {{"more": {values}, '))
    peak = peak_of(home, "ndb_log", "--log", log, *WITHIN)
    stays_within(peak, first, UNKNOWN if lost else OK, *[f"{state} {lost}"] * bool(lost))
