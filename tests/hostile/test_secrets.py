"""A password gets to the server and nowhere else, by whatever way it came, whatever goes wrong."""

import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import software
import ways_in
from bad_servers import nobody, says, silent
from cells import cells
from floods import jvm
from installing import installable
from leaks import files_below, found
from loopback import serving
from runs import environment, finish, start
from sleeping import sleeping
from slow_machine import in_time
from stallwatch import withheld
from stallwatch.deadline import Deadline
from stallwatch.memory import Memory
from stallwatch.sources import jmx, mysql
from stallwatch.sources.mysql import no_log_in, option_files
from stallwatch.sources.mysql.connection import Connection
from stallwatch.withheld import WITHHELD
from subjects import ALSO_ASKING, BESIDE, BY_NAME, CRITICAL, JMX, NETWORK, OK, RECORDED, UNKNOWN, Place
from ways_in import FOR_ALL, SECRETS, Told, by_argument, by_group, by_password_file, by_variable, quoted, ways

ASKING = [subject for subject in (*BY_NAME.values(), *ALSO_ASKING) if subject.source in (*NETWORK, BESIDE)]
OURS = ("STALLWATCH_JMX_PASSWORD", "STALLWATCH_MYSQL_PASSWORD")
SAYING = (("-vvv",), ("-vvv", "--output", "json"), ("-v", "--output", "human"), ())
# An internal error whose text has all that there is: as if we, or a library, had made a mistake.
BROKEN = """import runpy, sys
from stallwatch.sources.{family}.target import Target
def where(self):
    raise RuntimeError(f"{{tuple(self)!r}}, {{self.password}}")
Target.where = property(where)
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
# In the place of Java: it keeps what others may see of a child, and what it was told in private.
CHILD = """#!/bin/sh
for about in cmdline environ limits; do cat /proc/$$/$about >{seen}/$about; done
cat >{seen}/stdin
for word do case $word in @*) cat "${{word#@}}" >{told};; esac; done
echo no answer >&2
exit 1
"""
ZSTD = """#!/bin/sh
for about in cmdline environ; do cat /proc/$$/$about >{seen}/$about; done
exec {zstd} "$@"
"""


def spoken_back(secret, first="no"):
    """What a server says that repeats the password, or what is in between and has seen it."""
    message = f"{first}, {secret}, and not '{secret}'".encode()
    body = b"\xff\x51\x04#HY000" + message  # error 1105
    return says(len(body).to_bytes(3, "little") + b"\0" + body)


SILENT = "sends no greeting within|has not answered within"


class Error(NamedTuple):
    """A server that is told the secret, what is said of it (one or other), and how long it is waited for."""

    server: Callable[[str], Any]
    words: str
    timeout: float = 60  # seconds


ERRORS = {
    "refused": Error(lambda _: nobody(), "refused the connection"),
    "silent": Error(lambda _: serving(silent), SILENT, 2),
    "HTTP": Error(lambda _: serving(says(b"HTTP/1.1 400 Bad Request\r\n\r\n")), "speaks HTTP"),
    "no such host": Error(lambda _: nullcontext(("db.invalid", 3306)), "db.invalid cannot be looked up"),
    "spoken back": Error(lambda secret: serving(spoken_back(secret)), f"{WITHHELD}|not JMX"),
    # Of what a server says at the log-in the first 200 bytes are told.
    "cut short": Error(lambda secret: serving(spoken_back(secret, "no" * 94)), f"{WITHHELD}|not JMX"),
    "late": Error(lambda _: serving(silent), "no verdict within 1 ms", 0.001),
}


@pytest.fixture
def folder(tmp_path):
    """Gives a new home for each run."""
    number = count()

    def folder():
        made = tmp_path / str(next(number))
        (made / "tmp").mkdir(parents=True)
        return made

    return folder


def ask(subject, told, home, place, *more, by=(sys.executable,), **variables):
    """Run it, told so; its Python is called ``by``. Assert that the secret is nowhere; gives the Outcome."""
    given = environment(home, TMPDIR=str(home / "tmp"), **variables)
    given = {name: value for name, value in given.items() if name not in OURS} | told.variables
    _, *words = subject.command(place, *told.arguments, *more)
    began = time.monotonic()
    outcome = finish(start([*by, *words], home, env=given), subject, home, began)
    holds_secret(outcome, told)
    return outcome


def holds_secret(outcome, told):
    """Assert that what it said and what it left behind do not give away what it was told."""
    files = files_below(outcome.home, {Path(file) for file in told.files})
    shown = {"output": outcome.stdout, "errors": outcome.stderr, **files}
    assert not found([told.secret], shown), (found([told.secret], shown), outcome)
    assert not outcome.left, outcome
    assert outcome.stderr == b"", outcome


def pairs(request, subject, number):
    """Each way with each secret; in a representative run one way and one secret, another one each time."""
    each, names = ways(subject), [*SECRETS]
    if request.config.getoption("all_cells"):
        return [(way, name) for way in each for name in names]
    return [(each[number % len(each)], names[number % len(names)])]


@pytest.fixture(scope="module")
def sleeper(tmp_path_factory):
    """A file with the id of a process, of the program sleep."""
    with sleeping(tmp_path_factory.mktemp("sleeper")) as file:
        yield file


@cells({name: (number, error) for number, (name, error) in enumerate(ERRORS.items())}, subjects=ASKING)
def test_no_error_gives_it_away(request, folder, sleeper, subject, trouble):
    number, error = trouble
    late = error is ERRORS["late"]
    for turn, (way, name) in enumerate(pairs(request, subject, number)):
        saying = SAYING[(number + turn) % len(SAYING)]
        home = folder()
        told = way(subject, SECRETS[name], home)
        with error.server(told.secret) as (host, port):
            place = Place(host=host, port=port, pid_file=sleeper)

            def asked(seconds, told=told, home=home, place=place, saying=saying):
                return ask(subject, told, home, place, "-t", f"{1000 * seconds:g}ms", *saying)

            outcome = asked(error.timeout) if late else in_time(asked, error.timeout)
        assert any(word in outcome.text for word in error.words.split("|")), (name, outcome.text)
        assert outcome.status == (UNKNOWN if late else subject.unreachable), outcome


@cells({"an error of ours": 1, "the same with another secret": 2}, subjects=ASKING)
def test_no_traceback_gives_it_away(request, folder, sleeper, subject, trouble):
    for way, name in pairs(request, subject, trouble):
        home = folder()
        told = way(subject, SECRETS[name], home)
        broken = BROKEN.format(family="jmx" if subject.source == JMX else "mysql")
        place = Place(pid_file=sleeper)
        outcome = ask(subject, told, home, place, "-vvv", by=(sys.executable, "-c", broken))
        assert outcome.status == UNKNOWN, outcome.text
        assert "internal error, RuntimeError" in outcome.line, outcome.text
        assert "Traceback" in outcome.text, outcome.text
        assert f"RuntimeError: {WITHHELD}" in outcome.text, outcome.text


def outputs(folder, subject, server, pid_file, *passwords):
    """What is said with each of these as password, of a server that is told it; as if at the same port."""
    for number, password in enumerate(passwords):
        told = ways(subject)[number % len(FOR_ALL)](subject, password, folder())
        home = folder()
        given = environment(home, TMPDIR=str(home / "tmp"))
        given = {name: value for name, value in given.items() if name not in OURS} | told.variables
        with server(password) as (host, port):
            place = Place(host=host, port=port, pid_file=pid_file)
            _, *words = subject.command(place, *told.arguments, "-vvv", "-t", "60s")
            began = time.monotonic()
            outcome = finish(start([sys.executable, *words], home, env=given), subject, home, began)
        assert outcome.stderr == b"", outcome
        text = outcome.text.replace(f":{port}", ":PORT").replace(str(home), "HOME")
        yield re.sub(r" +", " ", re.sub(AGE, "N", text)) if subject.source == BESIDE else text  # columns, too


_NUMBER = r"\d+(\.\d+)?( ([mu]?s|min|h)\b)?"
AGE = f"{_NUMBER}( {_NUMBER})*"  # "59 s", "1 min 2 s", and other numbers


@cells({password: password for password in ways_in.ORDINARY}, subjects=ASKING)
def test_nobody_reads_an_ordinary_one_off_what_is_missing(folder, sleeper, subject, trouble):
    """It is in our own words, and is what a server says to whoever has it: both look as with another one."""
    for server in (lambda _: nobody(), lambda password: serving(spoken_back(password))):
        neutral, ours = outputs(folder, subject, server, sleeper, "Neutral9-Neutral", trouble)
        assert ours == neutral
    assert WITHHELD in ours or "not JMX" in ours


@cells({"bad usage": 0}, subjects=ASKING)
def test_bad_usage_does_not_repeat_it(folder, subject, trouble):
    for secret in SECRETS.values():
        told = Told(secret, ("--password", secret, "--no-such-option", secret, "--", secret))
        outcome = ask(subject, told, folder(), Place(), "-vvv")
        assert outcome.status == UNKNOWN
        assert "see check_" in outcome.line, outcome.text


# a server that lets us in, or does not


@pytest.fixture(scope="module")
def odd_accounts(running_server):
    """A server with an account for each secret, that may see all: gives it, and users by name."""
    server = running_server("mariadb")
    server.revive()
    users = {name: f"odd{number}" for number, name in enumerate(SECRETS)}
    for name, user in users.items():
        server.sql(f"CREATE OR REPLACE USER {user}@'%%' IDENTIFIED BY %s", SECRETS[name])
        server.sql(f"GRANT ALL ON *.* TO {user}@'%'")
    return server, users


def those(request, number):
    """All names of secrets; in a representative run one."""
    return [*SECRETS] if request.config.getoption("all_cells") else [[*SECRETS][number % len(SECRETS)]]


@pytest.mark.parametrize("way", ways(BY_NAME["mysql_query"]), ids=lambda way: way.__name__)
def test_it_opens_the_door_and_stays_unknown(request, folder, odd_accounts, way):
    server, users = odd_accounts
    subject = BY_NAME["mysql_query"]
    for name in those(request, ways(subject).index(way)):
        home = folder()
        told = way(subject, SECRETS[name], home)
        outcome = ask(subject, told, home, Place(port=server.port, user=users[name]), "-vvv", "-t", "60s")
        assert "logged in at" in outcome.text, (name, outcome.text)
        assert outcome.status != UNKNOWN, outcome.text


@pytest.mark.parametrize("subject", [one for one in ASKING if one.source != JMX], ids=lambda one: one.plugin)
def test_it_is_denied_by_a_real_server(request, folder, sleeper, odd_accounts, subject):
    server, users = odd_accounts
    number = ASKING.index(subject)
    for name in those(request, number):
        home = folder()
        way = ways(subject)[number % len(ways(subject))]
        told = way(subject, f"{SECRETS[name]} wrong", home)
        place = Place(port=server.port, user=users[name], pid_file=sleeper)
        outcome = ask(subject, told, home, place, "-vvv", "-t", "60s")
        assert f"denied access to the user {users[name]}" in outcome.line, outcome.text
        assert outcome.status == subject.unreachable


@pytest.mark.parametrize("password", ways_in.ORDINARY)
def test_an_ordinary_one_that_a_real_server_gives_is_withheld(folder, odd_accounts, password):
    server, _ = odd_accounts
    server.sql("CREATE OR REPLACE USER ordinary@'%%' IDENTIFIED BY %s", password)
    asked = ("-q", f"SELECT UNHEX('{password.encode().hex()}')", "--expect", "no word", "--count", "1")
    told = by_variable(BY_NAME["mysql_query"], password, folder())
    home = folder()
    given = {**environment(home, TMPDIR=str(home / "tmp")), **told.variables}
    subject, place = BY_NAME["mysql_query"], Place(port=server.port, user="ordinary")
    outcome = finish(start(subject.command(place, *asked, "-t", "60s"), home, env=given), subject, home, 0)
    assert f'MYSQL_QUERY CRITICAL - "{WITHHELD}" came, not "no word"' in outcome.line, outcome.text


def test_the_password_of_another_server_is_kept_as_well(folder, odd_accounts):
    server, users = odd_accounts
    for plugin, option in (("mysql_status", "--reference-group"), ("replication_lag", "--source-group")):
        home = folder()
        told = by_group(BY_NAME[plugin], SECRETS["signs"], home)
        (file,) = told.files
        other = SECRETS["markup"]
        with open(file, "a") as more:
            more.write(f"[other]\nhost=127.0.0.1\nport={server.port}\npassword={quoted(other)}\n")
        place = Place(port=server.port, user=users["signs"])
        outcome = ask(
            BY_NAME[plugin], told, home, place, option, "other", "-vvv", "-t", "60s", "--sample", "1s"
        )
        holds_secret(outcome, told._replace(secret=other))
        if plugin == "mysql_status":
            assert f"denied access to the user {users['signs']}" in outcome.text, outcome.text


BEAN = "target:type=Secret"
MATCHED = ("-O", BEAN, "-A", "Text", "--match", "nothing")
LISTED = ("--list", BEAN, "--values")


def login(jvm):
    """The plugin check_jmx, with no question yet, and where that server is."""
    subject = BY_NAME["jmx"]._replace(arguments=("-H", "{host}", "-P", "{port}", "-u", "{user}"))
    return subject, Place(host=jvm.host, port=jvm.port, user=jvm.user)


@pytest.mark.parametrize("way", FOR_ALL, ids=lambda way: way.__name__)
def test_a_bean_that_tells_our_own_password(folder, jvm_variant, way):
    jvm = jvm_variant("password")
    jvm.bean(BEAN, {"Text": f"it is {jvm.password}!"})
    subject, place = login(jvm)
    for more in ((*MATCHED, "-vvv"), (*MATCHED, "--output", "json"), LISTED, (*LISTED, "--output", "json")):
        home = folder()
        told = way(subject, jvm.password, home)
        outcome = ask(subject, told, home, place, *more, "-t", "60s")
        assert WITHHELD in outcome.text, (more, outcome.text)
        assert outcome.status == (OK if "--list" in more else CRITICAL), outcome.text


# children


@pytest.fixture
def seen(tmp_path):
    """Where a program that stands for a child writes what others may see of it."""
    (tmp_path / "seen").mkdir()
    return tmp_path / "seen"


def program(path, text):
    """Make it one that can be run."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", SECRETS)
def test_java_is_told_in_private(folder, seen, tmp_path, name):
    java = program(tmp_path / "bin" / "java", CHILD.format(seen=seen, told=seen / "told"))
    for way in FOR_ALL:
        home = folder()
        told = way(BY_NAME["jmx"], SECRETS[name], home)
        # MySQL's password is no business of Java's either.
        others = dict.fromkeys(OURS, SECRETS[name])
        told = told._replace(variables=others | told.variables if way is by_variable else told.variables)
        with serving(jvm({})) as (host, port):
            place = Place(host=host, port=port)
            outcome = ask(BY_NAME["jmx"], told, home, place, "--via", "jmxquery", "--java", java)
        assert "Java did not get an answer: no answer" in outcome.line, outcome.text
        private = seen / "told"
        escaped = SECRETS[name].replace("\\", "\\\\").replace('"', '\\"')
        assert f'"-p"\n"{escaped}"\n' in private.read_text()
        private.unlink()
        assert not found([SECRETS[name]], files_below(seen))
        assert b"@/proc/self/fd/" in (seen / "cmdline").read_bytes()
        assert (seen / "environ").read_bytes()


def test_no_program_that_is_run_is_told(folder, jvm_variant):
    """As the kernel is told it: arguments and environment of all programs, of java's helpers, too."""
    with installable():
        strace = software.program("strace", "strace")
        if subprocess.run([strace, "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
            raise software.Missing("no process can be traced here")
    jvm, home = jvm_variant("password"), folder()
    subject, place = login(jvm)
    told = by_password_file(subject, jvm.password, home)
    log = home.parent / "execve"
    tracing = (strace, "-fv", "-s", "1000000", "-e", "trace=execve,execveat", "-o", str(log), sys.executable)
    asked = ("-O", "java.lang:type=Threading", "-A", "ThreadCount", "--via", "jmxquery", "-t", "60s")
    outcome = ask(subject, told, home, place, *asked, by=tracing)
    assert outcome.status == OK, outcome.text
    calls = log.read_text()
    assert "@/proc/self/fd/" in calls
    assert "LC_ALL=C.UTF-8" in calls  # the environment is there, too
    assert not found([jvm.password], {"execve": calls.encode()})


def test_a_program_that_decompresses_is_not_told(folder, seen, tmp_path):
    with installable():
        zstd = software.program("zstd", "zstd")
    where = program(tmp_path / "bin" / "zstd", ZSTD.format(seen=seen, zstd=zstd)).parent
    dump = RECORDED / "mysql_backup" / "mariadb-dump" / "all.sql"
    backup = tmp_path / "all.sql.zst"
    backup.write_bytes(subprocess.run([zstd, "-qc", dump], stdout=subprocess.PIPE, check=True).stdout)
    subject = BY_NAME["mysql_backup"]
    home = folder()
    told = by_variable(subject, SECRETS["long"], home)
    path = f"{where}:{os.environ['PATH']}"
    outcome = ask(subject, told, home, Place(backup=str(backup)), "--verify", "full", PATH=path)
    assert outcome.status == OK, outcome.text
    assert (seen / "environ").exists()
    assert not found([SECRETS["long"]], files_below(seen))


# what a crash leaves


@pytest.mark.parametrize("plugin", ["mysql_query", "jmx"])
def test_a_crash_leaves_no_picture_of_the_memory(folder, plugin):
    subject, home = BY_NAME[plugin], folder()
    told = by_variable(subject, SECRETS["long"], home)
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    if not most:
        pytest.skip("no process may leave a picture of its memory here: ulimit -Hc")
    heard = threading.Event()

    def play(connection, *_):
        heard.set()
        silent(connection)

    with serving(play) as (host, port):
        process = start(
            subject.command(Place(host=host, port=port), "-t", "60s"), home,
            env=environment(home) | told.variables,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)),
        )  # fmt: skip
        try:
            assert heard.wait(60)
            limits = Path(f"/proc/{process.pid}/limits").read_text()
        finally:
            process.send_signal(signal.SIGABRT)
            _, status = os.waitpid(process.pid, 0)
            process.returncode = status
            process.communicate()
    assert re.search(r"^Max core file size +1 +1 ", limits, re.MULTILINE), limits
    assert os.WTERMSIG(status) == signal.SIGABRT
    assert not os.WCOREDUMP(status)
    assert not list(home.rglob("core*"))


# objects


def test_nothing_that_holds_it_shows_it(tmp_path):
    secret = SECRETS["signs"]
    withheld.keep(secret)
    path = tmp_path / "my.cnf"
    path.write_text(f"[client]\npassword={quoted(secret)}\n")
    entries = option_files.read(str(path))
    target = mysql.Target(password=secret)
    objects = (
        target,
        jmx.Target("h", 1, user="u", password=secret),
        entries,
        connection := Connection(target, Deadline(1.0), lambda **_: nullcontext(Memory())),
        no_log_in.reason(OSError(secret), connection, target, 1.0).args,
    )
    assert entries[1].value == secret
    for one in objects:
        assert not found([secret], {"repr": repr(one).encode(), "str": str(one).encode()}), one


# files that others can read


MODES = {
    0o600: "", 0o640: "", 0o400: "",
    0o604: "everybody can read {}, with a secret in it: chmod o-r {}",
    0o644: "everybody can read {}, with a secret in it: chmod o-r {}",
    0o660: "its group can change {}, with a secret in it: chmod g-w {}",
    0o664: "everybody can read and its group can change {}, with a secret in it: chmod o-r,g-w {}",
}  # fmt: skip


@cells({f"mode {mode:o}": mode for mode in MODES}, subjects=ASKING)
def test_a_file_that_others_can_read_is_told_of_with_v(request, folder, subject, trouble):
    by_file = [way for way in ways(subject) if way not in (by_variable, by_argument)]
    chosen = by_file if request.config.getoption("all_cells") else [by_file[trouble % len(by_file)]]
    for way in chosen:
        home = folder()
        told = way(subject, SECRETS["signs"], home)
        file = told.files[-1]
        Path(file).chmod(trouble)
        quiet, more = (ask(subject, told, home, Place(), *words) for words in ((), ("-v",)))
        lines = [line for line in more.text.splitlines() if "chmod" in line]
        assert lines == [f"[NOTE] {MODES[trouble].replace('{}', file)}"] * bool(MODES[trouble]), more.text
        assert "chmod" not in quiet.text
        assert quiet.status == more.status
