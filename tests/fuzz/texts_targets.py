"""What people and servers write in words: ranges, sizes, names, URLs, statements, sets of transactions."""

import math
import re

from choices import Choices
from fuzzing import Target, WrongError
from stallwatch import units, withheld
from stallwatch.frame.options import mysql as mysql_options
from stallwatch.frame.options.sql import sql
from stallwatch.frame.options.values import port, regex
from stallwatch.line import clean, shorten
from stallwatch.probes.bonding.model import mode
from stallwatch.probes.jmx import scale, values
from stallwatch.probes.jmx.model import AbsentError
from stallwatch.probes.mysql import statements
from stallwatch.probes.mysql_backup import moments
from stallwatch.probes.mysql_query.read_only import refusal
from stallwatch.probes.mysql_status.selection import wanted
from stallwatch.probes.replication_lag import gtid, heartbeat_table
from stallwatch.sources.jmx.object_name import ObjectName, unquoted
from stallwatch.sources.jmx.target import from_url
from stallwatch.sources.mysql.flavour import flavour
from stallwatch.thresholds import Range
from stallwatch.units import NotUnderstoodError

MEMORY = ObjectName.parse("java.lang:type=Memory")

LONGEST = 1 << 16  # letters of an option; the kernel takes twice as many


def text(octets):
    """As Python makes text of an argument."""
    return octets.decode(errors="surrogateescape")


def option(octets):
    """As a person may write it."""
    return text(octets)[:LONGEST]


def a_range(octets):
    """A Nagios range in any unit: what is read is written so that it reads the same."""
    choices = Choices(octets)
    unit = choices.one(sorted(units.UNITS))
    one = Range(option(choices.rest()), unit)
    if Range(str(one), unit) != one:
        raise WrongError("a range reads back as another one")
    for value in (0, -1.5, 1e300):
        one.alerts(value)
    if one.plain_limit is not None:
        units.plain(one.plain_limit)


def a_number(octets):
    """Sizes, times, percentages, counts, ports, modes: all that options are read by."""
    choices = Choices(octets)
    read = choices.one(
        (units.number, units.count, units.size, units.duration, units.percent, port, mode, wanted)
    )
    value = read(option(choices.rest()))
    if isinstance(value, float | int):
        if not math.isfinite(value):
            raise WrongError("a number that is none")
        for say in (units.plain, units.say_duration, units.say_size, units.say_count, units.say_rate):
            say(value)


def a_limit_of_jmx(octets):
    """A range in the units of a JMX attribute."""
    choices = Choices(octets)
    unit = choices.one([*scale.UNITS])
    scale.say(scale.limit(option(choices.rest()), unit).start, "s")


def an_object_name(octets):
    """The name of an MBean: written again, it is the same; it matches itself."""
    name = ObjectName.parse(option(octets))
    if ObjectName.parse(str(name)) != name or ObjectName.parse(name.canonical).canonical != name.canonical:
        raise WrongError("a name that reads back as another one")
    [unquoted(value) for value in name.properties.values()]
    if not name.is_pattern and not name.matches(name):
        raise WrongError("a name that does not match itself")


def a_pattern(octets):
    """A pattern of names, and a name that it may match, parted by a NUL."""
    pattern, _, name = octets.partition(b"\0")
    ObjectName.parse(option(pattern)).matches(ObjectName.parse(option(name)))


def a_url(octets):
    """A JMX URL."""
    host, at, name = from_url(option(octets))
    if not (host and name and 0 < at < 65536):
        raise WrongError("a URL that leads nowhere")


def a_host(octets):
    """HOST[:PORT]."""
    host, at = mysql_options.host_and_port(option(octets))
    if not host or (at and not 0 < port(at) < 65536):
        raise WrongError("a host that is none")


def a_regex(octets):
    """A regular expression."""
    regex(option(octets))


def a_path(octets):
    """The way into a composite value."""
    steps = values.steps(option(octets))
    values.called("Usage", steps, MEMORY)
    values.follow({"used": [1, {"a.b": 2}], "": {}}, steps, "Usage", MEMORY)


def a_statement(octets):
    """Is it a read? It may be as long as the option takes."""
    return "refused" if refusal(sql(octets.decode(errors="replace"))) else "value"


def a_running_statement(octets):
    """What replication says of a statement that it runs."""
    told = octets.decode(errors="replace")
    statements.said(told)
    statements.changed_table(told, "shop")
    statements.defined_table(told, "shop")
    statements.defines(told)


def sets_of_gtids(octets):
    """Two sets of MySQL, parted by a NUL: their differences are what they are to be."""
    one, other = (gtid.parse(part.decode(errors="replace")) for part in octets.partition(b"\0")[::2])
    left = gtid.subtract(one, other)
    both = gtid.subtract(one, left)
    if gtid.count(left) + gtid.count(both) != gtid.count(one) or gtid.subtract(both, other):
        raise WrongError("a difference that is none")


def positions(octets):
    """Two positions of MariaDB, parted by a NUL."""
    one, other = (part.decode(errors="replace") for part in octets.partition(b"\0")[::2])
    here, there = gtid.position(one), gtid.position(other)
    if gtid.ahead(here, here) or gtid.ahead(here, there) < 0:
        raise WrongError("a difference that is none")


def transactions_since(octets):
    """Any two texts that a server tells as sets of either kind."""
    one, other = (part.decode(errors="replace") for part in octets.partition(b"\0")[::2])
    came = gtid.since(one, other)
    if came is not None and came < 0:
        raise WrongError("fewer transactions than before")


def a_heartbeat_table(octets):
    """The name of a table that goes into a statement: no more than its name may come of it."""
    quoted = heartbeat_table.table(option(octets)).quoted
    if not re.fullmatch(r"`(?:[^`]|``)+`\.`(?:[^`]|``)+`", quoted):
        raise WrongError("a table that is more than a table")


def a_version(octets):
    """What a server says that it is."""
    version, _, comment = octets.decode(errors="replace").partition("\0")
    flavour(version, comment)


def a_moment(octets):
    """Times in names of files and in their text."""
    told = octets.decode(errors="replace")
    moments.in_name(told)
    moments.in_text(told)
    moments.not_after(told, 1.7e9)


def a_line(octets):
    """Anything at all in a line of output."""
    said = clean(text(octets))
    if "|" in said or "\n" in said or not said.isprintable():
        raise WrongError("a line that is not clean")
    for room in (0, 3, 40, 1023):
        if len(shorten(said, room).encode()) > max(room, 3):
            raise WrongError("a line that is too long")


def a_quoted_text(octets):
    """What a server says, to a run that was told a password and to one that was told a word."""
    told = text(octets)
    for password in ("S3cret-Passw0rd", "secret"):
        withheld.begin(["-p", password])
        withheld.keep(password)
        quoted = withheld.message(told), withheld.data(told)
        if password in quoted[0] and (password != "secret" or f"'{password}'" in quoted[0]):
            raise WrongError("a message with the password")
        if re.search(rf"(?<!\w){password}(?!\w)", quoted[1]):
            raise WrongError("a value with the password")
    withheld.begin(())


UUID = "b0c6f8d6-e537-11f1-b3bb-02fc00000001"
RANGES = ("10", "10:", "~:10", "10:20", "@10:20", "512M", "1.5GiB:", "90%", "@5e-6:", "2h", "500ms", "-50:50")
STATEMENTS = (
    "SELECT 1",
    "SELECT a, 'b''c' FROM `d`.e WHERE f = \"g\" -- h\n AND i /* j */ = 0x1F",
    "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT * FROM t",
    "EXPLAIN FORMAT=JSON SELECT * FROM a",
    "SHOW GLOBAL STATUS LIKE 'x%';",
    "(SELECT 1) UNION (SELECT 2)",
    "SELECT /*!50000 1 */",
    "SELECT a FROM b FOR UPDATE",
    "SELECT a INTO @b",
    "SELECT SLEEP(1)",
    "UPDATE `a`.`b` SET c = 1",
    "INSERT INTO a (b) VALUES (1)",
    "ALTER TABLE shop.orders ADD c INT",
    "DELETE FROM a USING a JOIN b",
    "CREATE INDEX i ON orders (a)",
    "OPTIMIZE TABLE a",
    "LOAD DATA INFILE 'x'",
    "REPLACE INTO a SELECT * FROM b",
    "DROP TABLE IF EXISTS a, b",
    "CALL p(1)",
    "TRUNCATE a",
)
GTIDS = (
    f"{UUID}:1-5",
    f"{UUID}:1-5:7:tag:1-3,\n{UUID[:-1]}2:1\0{UUID}:3-4:6-9",
    f"{UUID}:1-5\0",
    "0-101-745,1-102-9",
    "0-101-745\0000-101-700,1-2-3",
    "\0",
)
NAMES = (
    "java.lang:type=Memory",
    'a.b:type="x,\\"y\\*",name=z',
    "*:type=GarbageCollector,name=*,*",
    "d:*",
    "a?:b=c*d",
    "org.apache.cassandra.metrics:type=ThreadPools,path=request,scope=MutationStage,name=PendingTasks",
    "java.lang:type=*,*\0java.lang:type=Memory,name=x",
    '*:a="*x*"\0b:a="yxz"',
)


def of(*texts):
    """Seeds that are texts; the first two octets choose where something is to be chosen."""
    return lambda: [one.encode(errors="surrogateescape") for one in texts]


def chosen(many, *texts):
    """Seeds of each text with each choice."""
    return lambda: [number.to_bytes(2, "big") + one.encode() for number in range(many) for one in texts]


REFUSED = frozenset({"value", "NotUnderstoodError"})
TOKENS = (b"e", b"E", b"@", b"~", b":", b"%", b"GiB", b"ms", b"us", b"d", b"inf", b"_")
TARGETS = {
    "range": Target(a_range, chosen(len(units.UNITS), *RANGES), (NotUnderstoodError,), TOKENS, 700, REFUSED),
    "number": Target(
        a_number,
        chosen(8, *RANGES, "3306", "0", "802.3ad", "Threads_running=50", "a/b=100:"),
        (NotUnderstoodError,),
        TOKENS,
        700,
        REFUSED,
    ),
    "jmx_limit": Target(
        a_limit_of_jmx, chosen(len(scale.UNITS), *RANGES), (NotUnderstoodError,), TOKENS, 500, REFUSED
    ),
    "object_name": Target(
        an_object_name,
        of(*NAMES),
        (NotUnderstoodError,),
        (b'="', b'\\"', b"\\*", b",*", b"*", b"?"),
        500,
        REFUSED,
    ),
    "object_pattern": Target(
        a_pattern,
        of(*NAMES),
        (NotUnderstoodError,),
        (b'="', b'\\"', b"\\*", b",*", b"*", b"?", b"\0", b"*a*"),
        500,
        REFUSED,
    ),
    "jmx_url": Target(
        a_url,
        of(
            "service:jmx:rmi:///jndi/rmi://db1:7199/jmxrmi",
            "service:jmx:rmi://[::1]:1/jndi/rmi://[fe80::1%eth0]/a",
        ),
        (NotUnderstoodError,),
        (b"://", b"/jndi/rmi://", b"[::1]", b";"),
        500,
        REFUSED,
    ),
    "host_and_port": Target(
        a_host,
        of("db1", "db1:3306", "[::1]:3306", "192.0.2.1:65535"),
        (NotUnderstoodError,),
        (b"[", b"]:"),
        500,
        REFUSED,
    ),
    "regex": Target(
        a_regex,
        of("a.*b", "(a|b)+", r"\d{1,3}", "[^x]", "(?P<n>a)(?P=n)"),
        (NotUnderstoodError,),
        (b"(?", b"{1,9999999999}", b"(?i)", b"[[:"),
        500,
        REFUSED,
    ),
    "value_path": Target(
        a_path,
        of("used", "used/1", "used/1/a.b", "used/x/", ""),
        (AbsentError,),
        (b"/", b"\\/", b"\\"),
        500,
        frozenset({"value", "AbsentError"}),
    ),
    "statement": Target(
        a_statement,
        of(*STATEMENTS),
        (NotUnderstoodError,),
        (b"--", b"/*", b"*/", b"'", b"\\'", b"(", b")", b"WITH ", b" AS (", b"EXPLAIN "),
        500,
        frozenset({"value", "refused"}),
    ),
    "running_statement": Target(
        a_running_statement,
        of(*STATEMENTS),
        (),
        (b"--", b"/*", b"*/", b"'", b"`.`", b"UPDATE ", b"INSERT ", b" JOIN "),
        500,
    ),
    "gtid_sets": Target(
        sets_of_gtids,
        of(*GTIDS),
        (gtid.GtidError,),
        (UUID.encode(), b":1-3", b":tag", b",", b"\0"),
        700,
        frozenset({"value", "GtidError"}),
    ),
    "gtid_positions": Target(
        positions,
        of(*GTIDS),
        (gtid.GtidError,),
        (b"0-1-", b",", b"\0"),
        500,
        frozenset({"value", "GtidError"}),
    ),
    "gtid_since": Target(
        transactions_since, of(*GTIDS), (), (UUID.encode(), b"0-1-", b":1-3", b":tag", b",", b"\0"), 500
    ),
    "heartbeat_table": Target(
        a_heartbeat_table,
        of("percona.heartbeat", "`a.b`.`c``d`"),
        (NotUnderstoodError,),
        (b"`", b"``", b".", b"`.`"),
        500,
        REFUSED,
    ),
    "server_version": Target(
        a_version,
        of(
            "8.0.46\0MySQL Community",
            "10.11.19-MariaDB\0Debian 12",
            "5.5.5-10.4.8-MariaDB",
            "8.0.36-28\0Percona",
        ),
        (),
        (b"-MariaDB", b"5.5.5-"),
        500,
    ),
    "backup_time": Target(
        a_moment,
        of(
            "shop-20261120.sql.gz",
            "2026-11-20_03-00-01",
            "-- Dump completed on 2026-11-20  3:00:01",
            "export-20261120-030001",
        ),
        (),
        (b"2026", b"-11-20", b"T"),
        500,
    ),
    "output_line": Target(a_line, of("a | b\nc", "secsecretret", "\x1b[31m\u202e"), (), (b"|",), 500),
    "quoted_text": Target(
        a_quoted_text,
        of(
            "no 'secret' and S3cret-Passw0rd",
            "IDENTIFIED BY 'secret' --password=secret -psecret",
            "jdbc:mysql://x:secret@db1/shop",
            "Error 'Duplicate entry 'secret' for key 'a.b''",
        ),
        (),
        (b"secret", b"S3cret-Passw0rd", b"'", b"password=", b"://", b"IDENTIFIED BY ", b"\\"),
        700,
    ),
}
