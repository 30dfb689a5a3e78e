"""What servers, files and users call things is data: it changes no line, no terminal, no statement."""

import gzip
import json
import re
import shutil
import time

import pytest
from cells import cells
from hostile_texts import NUL, SPLICES, TEXTS
from replication_pair import GRANTS
from runs import environment, finish, run, start
from sql_server import Account
from subjects import ALSO_ASKING, BY_NAME, CRITICAL, JMX, NETWORK, OK, RECORDED, UNKNOWN, WARNING, Place

PATIENT = 60  # seconds: this machine may be busy
SAYING = ((), ("-v",), ("-vvv",), ("--output", "json", "-vvv"), ("--output", "human", "-vvv"))


@pytest.fixture
def some(request):
    """Gives all of a list; in a representative run one of it, another one for each number."""
    everything = request.config.getoption("all_cells")
    return lambda those, number: those if everything else [those[number % len(those)]]


def say(subject, place, home, *more, saying=SAYING, statuses=(), **variables):
    """Let it say it in each way; assert that each is well-formed. Gives what it says, one text for each."""
    texts = []
    for how in saying:
        began = time.monotonic()
        command = subject.command(place, *more, "-t", f"{PATIENT}s", *how)
        outcome = finish(start(command, home, env=environment(home, **variables)), subject, home, began)
        assert not [letter for letter in outcome.text if letter != "\n" and not letter.isprintable()], (
            outcome.text
        )
        if "json" in how:
            parsed = json.loads(outcome.text)
            assert parsed["state"] == ("OK", "WARNING", "CRITICAL", "UNKNOWN")[outcome.status]
            assert "|" not in "".join(one["what"] + one["why"] + one["advice"] for one in parsed["findings"])
        elif "human" not in how:
            outcome.holds(PATIENT, *statuses)
        assert outcome.status in (statuses or range(4)), outcome
        assert outcome.stderr == b"", outcome
        texts.append(outcome.text)
    return texts


def number_of(name):
    """Its place among the texts."""
    return [*TEXTS].index(name)


def without_what_cannot_be_printed(text):
    """A part of a text that is left when it is told."""
    return max(re.split(r"[^\w<>$(){}%!~ -]+", text), key=len).strip()[:20].strip()


# a JVM


def quoted(text):
    """The value of a key property of an ObjectName, as ObjectName.quote writes it."""
    return '"{}"'.format(re.sub(r'([\\"*?])', r"\\\1", text).replace("\n", "\\n"))


@pytest.fixture(scope="module")
def odd_beans(jvm):
    """A JVM with a bean for each text, whose name, attribute and value it is; and pools of Tomcat's."""
    for text in (*TEXTS.values(), NUL):
        attributes = {"Number": 7, "Text": text, f"{text[:1000]}.": text}
        jvm.bean(f"target:type=Odd names,name={quoted(text)}", attributes)
        pool = {
            "currentThreadsBusy": ("int", 200),
            "maxThreads": ("int", 200),
            "currentThreadCount": ("int", 200),
        }
        jvm.bean(f"Catalina:type=ThreadPool,name={quoted(text)}", pool)
    yield jvm
    jvm.tell("unregister", "target:type=Odd names,*")
    jvm.tell("unregister", "Catalina:*")


@pytest.fixture
def asking(odd_beans, home):
    """Let check_jmx, or another plugin, ask the JVM."""
    place = Place(host=odd_beans.host, port=odd_beans.port, user="anybody")

    def asking(plugin, *more, **settings):
        subject = BY_NAME[plugin]._replace(arguments=("-H", "{host}", "-P", "{port}"))
        return say(subject, place, home, *more, **settings)

    return asking


@pytest.mark.parametrize(
    ("number", "ask"),
    [(0, ("Number", "-w", "1")), (1, ("Text", "--match", "nothing"))],
    ids=["number", "text"],
)
def test_names_of_beans(asking, some, number, ask):
    names = ("-O", "target:type=Odd names,*", "-A", *ask)
    saying = (SAYING[0], *some(SAYING[1:3], number), *some(SAYING[3:], number))
    first, *_, last = asking("jmx", *names, saying=saying, statuses=(WARNING if "-w" in ask else CRITICAL,))
    assert f"(+{len(TEXTS)} more problems)" in first
    for name in ("pipe", "markup", "macros"):
        assert without_what_cannot_be_printed(TEXTS[name]) in last, name


def test_names_of_attributes_and_their_texts(asking):
    for name in TEXTS:
        text = TEXTS[name][:1000]
        bean, attribute = f"target:type=Odd names,name={quoted(text)}", f"{text}."
        status, says = CRITICAL, "does not match nothing"
        if name == "long":  # its bean has a name that is longer than an argument can be
            status, says = UNKNOWN, "there is no MBean "
        asked = ("-O", bean, "-A", attribute, "--match", "nothing")
        (told,) = asking("jmx", *asked, saying=(("-vvv",),), statuses=(status,))
        assert says in told, told[:300]
        asked = ("-O", "target:type=Numbers", "-A", attribute)
        (told,) = asking("jmx", *asked, saying=(("-vvv",),), statuses=(UNKNOWN,))
        assert "target:type=Numbers has no attribute " in told, told[:300]


def test_a_list_of_them(asking, odd_beans, home):
    subject = BY_NAME["jmx"]._replace(arguments=("-H", "{host}", "-P", "{port}"))
    place = Place(host=odd_beans.host, port=odd_beans.port)
    for more in ((), ("--values",), ("--values", "-v"), ("--values", "--output", "json")):
        outcome = run(subject, place, home, "--list", "target:type=Odd names,*", *more, "-t", "60s")
        assert outcome.status == OK, outcome.text[:300]
        odd = [letter for letter in outcome.text if letter != "\n" and not letter.isprintable()]
        assert not odd, set(odd)
        if "json" in more:
            told = [json.loads(line) for line in outcome.text.split("\n") if line]
            values = {attribute["value"] for bean in told for attribute in bean["attributes"]}
            assert {*TEXTS.values(), NUL, 7} == values


def test_names_of_pools(asking, some):
    saying = (SAYING[0], *some(SAYING[1:], 1))
    texts = asking("jmx_thread_pools", saying=saying, statuses=(WARNING, CRITICAL))
    assert f"(+{len(TEXTS)} more problems)" in texts[0]


# MySQL


@pytest.fixture(scope="module")
def odd_server(running_server):
    """A server with an account that may all, a table that is to stay, and names of each kind."""
    server = running_server("mariadb")
    server.revive()
    with server.session() as sql:
        sql("CREATE OR REPLACE USER odd@'%' IDENTIFIED BY ''")
        sql("GRANT ALL ON *.* TO odd@'%'")
        sql("CREATE DATABASE IF NOT EXISTS lab")
        sql("CREATE OR REPLACE TABLE lab.kept (id INT PRIMARY KEY)")
        for name in names_in_mysql():
            sql(f"CREATE OR REPLACE TABLE lab.{identifier(name)} (id INT PRIMARY KEY)")
            sql(f"CREATE OR REPLACE USER {literal(name)}@'%'")
    yield server
    with server.session() as sql:
        sql("DROP DATABASE lab")
        sql("DROP USER odd@'%'")
        for name in names_in_mysql():
            sql(f"DROP USER {literal(name)}@'%'")


def names_in_mysql():
    """Those of the texts that can be the name of a table: 64 characters of the BMP, no blank at the end."""
    cut = {text[:60].strip() for text in (*TEXTS.values(), *SPLICES)}
    return sorted("".join(letter for letter in text if ord(letter) < 0xFFFF) for text in cut)


def identifier(name):
    return "`{}`".format(name.replace("`", "``"))


def literal(text):
    """A text of SQL, however odd."""
    return (
        f"CONVERT(X'{text.encode().hex()}' USING utf8mb4)"
        if len(text) > 128
        else "'{}'".format(text.replace("\\", "\\\\").replace("'", "''"))
    )


@pytest.fixture
def of_mysql(odd_server, home):
    """Let a plugin ask that server."""
    place = Place(port=odd_server.port, user="odd")
    subjects = BY_NAME | {one.plugin: one for one in ALSO_ASKING}

    def of_mysql(plugin, *more, **settings):
        return say(subjects[plugin], place, home, *more, STALLWATCH_MYSQL_PASSWORD="", **settings)

    return of_mysql


@pytest.mark.parametrize("name", [*TEXTS, "NUL", "no UTF-8"])
def test_texts_of_an_answer(of_mysql, name):
    octets = {**TEXTS, "NUL": NUL}.get(name, "").encode() or b"a\xff\xfe\x80|\n\xc3"
    answer = f"SELECT CONCAT('', X'{octets.hex()}')"
    if name == "long":
        answer = "SELECT REPEAT('long', 250000)"
    texts = of_mysql(
        "mysql_query",
        "-q",
        answer,
        "--expect",
        "nothing",
        "--count",
        "1",
        statuses=(CRITICAL,),
        saying=(("-v",), ("--output", "json")),
    )
    assert "came, not" in texts[0]


def test_texts_of_errors(of_mysql):
    for text in TEXTS.values():
        name = identifier(text[:60].strip().replace("\U000e0041", "") + "x")
        asked = ("-q", f"SELECT 1 FROM lab.{name}")
        (told,) = of_mysql("mysql_query", *asked, saying=(("-vvv",),), statuses=(CRITICAL,))
        assert "doesn't exist: asked SELECT 1 FROM lab." in told, told[:300]


def test_names_of_tables_that_a_backup_lacks(odd_server, home):
    folder = home / "backup"
    shutil.copytree(RECORDED / "mysql_backup" / "mydumper-0.10-mariadb", folder)
    metadata = folder / "metadata"
    metadata.write_text(
        re.sub(r"\b20\d\d-", "2035-", metadata.read_text())
    )  # so it is younger than the tables
    subject = next(one for one in ALSO_ASKING if one.plugin == "mysql_backup")
    place = Place(port=odd_server.port, user="odd", backup=str(folder))
    texts = say(subject, place, home, STALLWATCH_MYSQL_PASSWORD="", statuses=(WARNING, CRITICAL))
    assert "lab." in texts[2], texts[2]


def test_names_of_channels(of_mysql, some, odd_server):
    account = odd_server.account("repl", "REPLICATION SLAVE")
    channels = [name[:40] for name in names_in_mysql()]
    try:
        for port, channel in enumerate(channels, 9):
            source = f"MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = '{account.user}'"
            odd_server.sql(f"CHANGE MASTER {literal(channel)} TO {source}")
        texts = of_mysql("replication_lag", statuses=(CRITICAL,))
        assert f"(+{len(channels) - 1} more problem" in texts[0]
        for channel in (one for number in range(4) for one in some(channels[number::4], number)):
            texts = of_mysql(
                "replication_lag", "--channel", re.escape(channel), saying=((),), statuses=(CRITICAL,)
            )
            assert "more problem" not in texts[0]
    finally:
        for channel in odd_server.channels():
            odd_server.sql(f"RESET SLAVE {literal(channel)} ALL")


def test_names_of_channels_of_mysql(running_server, some, home):
    server = running_server("mysql")
    server.revive()
    account = server.account("odd", *GRANTS["mysql"])
    channels = [name[:40] for name in names_in_mysql() if "\n" not in name][::3]  # which MySQL refuses (9.7)
    try:
        for port, channel in enumerate(channels, 9):
            source = f"SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'nobody'"
            server.sql(f"CHANGE REPLICATION SOURCE TO {source} FOR CHANNEL {literal(channel)}")
        place = Place(port=server.port, user=account.user)
        saying = (SAYING[0], *some(SAYING[1:], 2))
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        texts = say(BY_NAME["replication_lag"], place, home, saying=saying, statuses=(CRITICAL,), **password)
        assert f"(+{len(channels) - 1} more problem" in texts[0]
    finally:
        for channel in server.channels():
            server.sql(f"RESET REPLICA ALL FOR CHANNEL {literal(channel)}")


def test_who_holds_the_lock_that_a_replica_waits_for(running_pair, home):
    pair = running_pair("mariadb")
    monitor = pair.account()
    name = "x\x1b[31m|\ny\u202e\x1b]52;c;aGk=\x07"
    table = f"lab.{identifier(TEXTS['pipe'])}"
    with pair.replica.session() as sql:
        sql("SET sql_log_bin = 0")
        sql(f"CREATE OR REPLACE USER {literal(name)}@'%'")
        sql(f"GRANT ALL ON lab.* TO {literal(name)}@'%'")
    pair.source.sql(f"CREATE OR REPLACE TABLE {table} (id INT PRIMARY KEY, v INT)")
    pair.source.sql(f"INSERT INTO {table} VALUES (1, 1)")
    pair.catch_up()
    password = {"STALLWATCH_MYSQL_PASSWORD": monitor.password}
    place = Place(port=pair.replica.port, user=monitor.user)
    try:
        with pair.replica.session(Account(name, "")) as sql:
            sql("BEGIN")
            sql(f"SELECT v FROM {table} WHERE id = 1 FOR UPDATE /* a\n| b=1 \x1b[2J */")
            (holder,) = sql("SELECT CONNECTION_ID() AS id /* a\n| b=1 \x1b[2J */")
            told = f"row lock of connection {holder['id']} x [31m/ y ]52,c,aGk= @"
            pair.source.sql(f"UPDATE {table} SET v = 2 /* a\n| b=1 \x1b[2J */")
            until = time.monotonic() + 90
            text = ""
            while told not in text:
                assert time.monotonic() < until, text
                (text,) = say(
                    BY_NAME["replication_lag"], place, home, "-w", "1s", "-c", "1h", saying=((),), **password
                )
            sql("ROLLBACK")
    finally:
        pair.heal()
        pair.source.sql(f"DROP TABLE {table}")
        pair.catch_up()
        with pair.replica.session() as sql:
            sql("SET sql_log_bin = 0")
            sql(f"DROP USER {literal(name)}@'%'")


# SQL is never built from names


@pytest.fixture
def logged(odd_server):
    """Gives all statements that clients of the server sent from the start of the test on."""
    (before,) = odd_server.sql("SELECT @@GLOBAL.sql_mode AS modes, @@GLOBAL.log_output AS output")
    try:
        with odd_server.session() as sql:
            sql("SET GLOBAL log_output = 'TABLE'")
            sql("TRUNCATE mysql.general_log")
            sql("SET GLOBAL general_log = ON")
            # Else nothing is looked at.
            sql("CHANGE MASTER 'plain' TO MASTER_HOST = '127.0.0.1', MASTER_PORT = 9")
        yield lambda: [
            row["argument"]
            for row in odd_server.sql(
                "SELECT CONVERT(argument USING utf8mb4) AS argument FROM mysql.general_log "
                "WHERE command_type IN ('Query', 'Prepare', 'Execute') AND user_host LIKE 'odd%'"
            )
        ]
    finally:
        with odd_server.session() as sql:
            sql("SET GLOBAL general_log = OFF")
            sql(f"SET GLOBAL log_output = '{before['output']}'")
            sql(f"SET GLOBAL sql_mode = '{before['modes']}'")
        for channel in odd_server.channels():
            odd_server.sql(f"RESET SLAVE {literal(channel)} ALL")


MODES = ("", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT")
ASKED = (  # where a user can name something that is asked for
    ("replication_lag", "--channel"),
    ("replication_lag", "--heartbeat"),
    ("mysql_backup", "--ignore-table"),
    ("mysql_status", "--include"),
)


@pytest.mark.parametrize("modes", MODES)
def test_no_name_is_a_part_of_a_statement(request, of_mysql, odd_server, logged, modes):
    everything = request.config.getoption("all_cells")
    odd_server.sql(f"SET GLOBAL sql_mode = '{modes}'")
    for turn, (plugin, option) in enumerate(ASKED):
        for splice in SPLICES if everything else SPLICES[(turn + MODES.index(modes)) % 5 :][:2]:
            named = f"lab.{identifier(splice.strip())}" if option == "--heartbeat" else splice
            named = re.escape(splice) if option in ("--ignore-table", "--include") else named
            more = ("--sample", "1s") if plugin == "mysql_status" else ()
            of_mysql(plugin, option, named, *more, saying=((),))
    statements = logged()
    assert len(statements) > 50
    assert any("DROP TABLE" in one for one in statements), statements[
        -20:
    ]  # of a heartbeat table that is called so
    for one in statements:
        assert "DROP TABLE" not in bare(one, modes), one
        assert "SLEEP" not in bare(one, modes), one
        assert not one.lstrip("(").startswith(("DROP", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER")), one
    assert odd_server.sql("SELECT COUNT(*) AS n FROM lab.kept") == [{"n": 0}]


def bare(statement, modes):
    """A statement without its texts and quoted names, as a server of those modes reads it."""
    escaped = "" if "NO_BACKSLASH_ESCAPES" in modes else r"\\.|"
    text = rf"'(?:{escaped}''|[^'])*'|\"(?:{escaped}\"\"|[^\"])*\"|`(?:``|[^`])*`"
    return re.sub(text, "?", statement, flags=re.DOTALL)


# files


@pytest.mark.parametrize("name", TEXTS)
def test_lines_of_a_log(home, some, name):
    text = TEXTS[name].encode()
    lines = (RECORDED / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log").read_bytes().split(b"\n")
    for number in range(0, len(lines), 7):
        lines[number] = lines[number][:60] + text + lines[number][60:] + b"\xff\xfe\0" + text
    lines += [b"2026-01-01 00:00:00 [ndbd] ERROR    -- " + text, b"Forced node shutdown completed. " + text]
    log = home / (TEXTS[name][:60].replace("/", "") + "_4_out.log")
    log.write_bytes(b"\n".join(lines))
    place, saying = Place(log=str(log)), some(SAYING, number_of(name))
    for text in say(
        BY_NAME["ndb_log"], place, home, "--whole", "--no-state", saying=saying, statuses=(CRITICAL,)
    ):
        assert "node shut down" in text
        assert "was stuck" in text or "more problem" in text


@pytest.mark.parametrize("name", TEXTS)
def test_names_of_backups_and_of_what_is_in_them(home, some, name):
    folder = home / "backups" / TEXTS[name][:60].replace("/", "")
    shutil.copytree(RECORDED / "mysql_backup" / "mydumper-0.10-mariadb", folder)
    for number, file in enumerate(sorted(folder.glob("*.sql"))[::2]):
        odd = TEXTS[name][:40].replace("/", "").encode()
        file.rename(folder / f"{file.name.partition('.')[0]}.{number}{odd.decode()}.sql")
        (folder / "metadata").write_bytes((folder / "metadata").read_bytes() + b"\nLog: " + odd + b"\xff")
    (folder / f"shop.{odd.decode()}.sql.gz").write_bytes(gzip.compress(b"INSERT;" * 99)[:-9])
    place, saying = Place(backup=str(folder.parent)), some(SAYING, number_of(name))
    more = ("--verify", "full")
    for text in say(BY_NAME["mysql_backup"], place, home, *more, saying=saying, statuses=(CRITICAL,)):
        assert ".sql.gz: the compressed data end too early" in text, text
        assert "(mydumper) in " in text, text


@pytest.mark.parametrize("name", TEXTS)
def test_names_of_bonds(home, some, name):
    odd = TEXTS[name][:40].replace("/", "")
    bonds = home / "bonds"
    shutil.copytree(RECORDED / "bonding" / "6.1-active-backup-one-down", bonds)
    for bond in list(bonds.iterdir()):
        text = bond.read_bytes().replace(b"eth1", odd.encode() + b"\xff")
        (bonds / f"{odd}x").write_bytes(text)
    command = BY_NAME["bonding"].command(Place())
    command[3] = str(bonds)
    subject, saying = _Command(BY_NAME["bonding"], command), some(SAYING, number_of(name))
    for text in say(subject, Place(), home, saying=saying, statuses=(WARNING,)):
        assert "1 of 2 links of " in text
        assert "eth0 is down" in text


class _Command:
    """A Subject that is called like that."""

    def __init__(self, subject, command):
        self.name, self.plugin, self._command = subject.name, subject.plugin, command

    def command(self, _, *more):
        return [*self._command, *more]


# what users give

OPTIONS = {
    "host": ("-H", "{}"), "user": ("-u", "{}"), "group": ("--defaults-group", "{}"),
    "file": ("--password-file", "{}"), "unknown": ("--{}",), "stray": ("{}",), "timeout": ("-t", "{}"),
}  # fmt: skip
SERVER = {"host": "cannot be looked up: ", "user": "refused the connection - "}
SAYS = {**SERVER, "file": "--password-file "}  # other bad usage says where to look


def has(option, subject):
    """Whether that plugin has such an option."""
    asks = subject.source in NETWORK or option[0] in ("unknown", "stray", "timeout")
    return asks and not (option[0] == "group" and subject.source == JMX)


@cells({option: (option, number) for number, option in enumerate(OPTIONS)}, has)
def test_what_users_give(home, some, subject, trouble):
    option, number = trouble
    for text in some([TEXTS[name] for name in TEXTS if name != "long"], number):
        words = (word.format(text) for word in OPTIONS[option])
        outcome = run(subject, Place(), home, "-t", f"{PATIENT}s", *words)
        outcome.holds(PATIENT, subject.unreachable if option in SERVER else UNKNOWN)
        assert SAYS.get(option, f": see check_{subject.plugin} --help") in outcome.line, outcome
        assert all(letter.isprintable() for letter in outcome.line), outcome.line
