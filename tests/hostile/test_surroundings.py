"""Plugins where the engine, the shell or the machine give them less than they are used to, or odd things.

What does not concern a verdict does not change it: all is well, and who refuses is told to refuse.
"""

import subprocess
import sys

import pytest
import software
from cells import cells
from installing import installable
from subjects import OK, UNKNOWN, Place
from surroundings import NAMELESS, NOBODY, ORDINARY, TIMEOUT, WITHIN, Surroundings, is_as_ever, run_in

# Variables


def variables(**given):
    return Surroundings(variables=given)


LOCALES = {
    "C": variables(LC_ALL="C"),
    "POSIX": variables(LC_ALL="POSIX"),
    "unset": variables(LC_ALL=None),
    "empty": variables(LC_ALL=""),
    "of no kind": variables(LC_ALL="xx_XX.nonsense", LANG="\udcff"),
    "C that is not coerced": variables(LC_ALL=None, LANG="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0"),
}


@cells({f"locale {name}": surroundings for name, surroundings in LOCALES.items()}, one=True)
def test_locale(home, healthy, subject, trouble):
    is_as_ever(subject, healthy, home, trouble)


@pytest.fixture(scope="session")
def latin_1(tmp_path_factory):
    """The variables of a locale whose letters are no UTF-8."""
    folder = tmp_path_factory.mktemp("locales")
    with installable():
        software.file("/usr/share/i18n/locales/de_DE", "locales")
        software.run(
            "a locale", "localedef", "--no-archive", "-i", "de_DE", "-f", "ISO-8859-1", f"{folder}/de_DE"
        )
    given = {"LOCPATH": str(folder), "LC_ALL": "de_DE"}
    look = [sys.executable, "-c", "import locale; print(locale.getencoding())"]
    assert subprocess.run(look, env=given, capture_output=True, check=True).stdout == b"ISO-8859-1\n"
    return given


@cells({"locale Latin-1": {}, "locale Latin-1, and Python obeys": {"PYTHONUTF8": "0"}}, one=True)
def test_latin_1(home, healthy, subject, trouble, latin_1):
    is_as_ever(subject, healthy, home, Surroundings(variables=latin_1 | trouble))


MUCH = {f"VARIABLE_{number}": "x" * 1000 for number in range(1000)}
ODD = {
    "a huge environment": MUCH,
    "a variable of 100 KB": {"LARGE": "x" * 100_000},
    "variables that are no text": {"\udcff\udcfe": "\udcff\x01", "LS_COLORS": "\x1b[31m"},
    "no PATH": {"PATH": None},
    "a PATH of nothing": {"PATH": "\udcff:/nonexistent::"},
    "HOME is nowhere": {"HOME": "/nonexistent"},
    "HOME is empty": {"HOME": ""},
    "HOME is a file": {"HOME": "/etc/passwd"},
    "HOME is no text": {"HOME": "/\udcff"},
    "TMPDIR is nowhere": {"TMPDIR": "/nonexistent"},
    "TERM and COLUMNS are odd": {"TERM": "\udcff", "COLUMNS": "-1", "LINES": "x"},
    "TZ is empty": {"TZ": ""},
    "TZ is nonsense": {"TZ": "Nonsense/Nowhere"},
    "TZ is far away": {"TZ": "XXX-167:59:59YYY-166,J1/-167,J365/167"},
    "TZ is a file that is none": {"TZ": ":/etc/passwd"},
    "TZ is no text": {"TZ": "\udcff"},
    "a proxy": {"http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "socks5://127.0.0.1:9"},
    "OpenSSL is told odd things": {"OPENSSL_CONF": "/nonexistent", "SSL_CERT_FILE": "/dev/null"},
    "MySQL is told odd things": {"MYSQL_HOST": "x", "MYSQL_TCP_PORT": "x", "MYSQL_PWD": "x"},
}


@cells({name: variables(**given) for name, given in ODD.items()}, one=True)
def test_odd_variables(home, healthy, subject, trouble):
    is_as_ever(subject, healthy, home, trouble)


def reads_local_time(_trouble, subject):
    """Whether it reads times of files and logs, or shows them."""
    return subject.plugin in ("ndb_log", "mysql_backup")


TIME_ZONES = {name: variables(**given) for name, given in ODD.items() if "TZ" in given}


@cells(TIME_ZONES, reads_local_time)
def test_odd_time_zones(home, healthy, subject, trouble):
    is_as_ever(subject, healthy, home, trouble)


OF_PYTHON = {  # but for those with which Python itself does not start, or prints before we are there
    "ASYNCIODEBUG": "1", "BREAKPOINT": "os.abort", "DEBUG": "0", "DEVMODE": "1", "DONTWRITEBYTECODE": "1",
    "FAULTHANDLER": "1", "HASHSEED": "4294967295", "INSPECT": "1",
    "INTMAXSTRDIGITS": "640", "IOENCODING": "utf-16:strict", "LEGACYWINDOWSSTDIO": "1",
    "MALLOC": "debug", "NODEBUGRANGES": "1", "NOUSERSITE": "", "OPTIMIZE": "2",
    "PATH": "/nonexistent:/etc/passwd:\udcff", "PYCACHEPREFIX": "/nonexistent", "SAFEPATH": "1",
    "STARTUP": "/dev/full", "TRACEMALLOC": "20", "UNBUFFERED": "1", "USERBASE": "/dev/full", "UTF8": "1",
    "WARNDEFAULTENCODING": "1", "WARNINGS": "error",
}  # fmt: skip


SLOW = ("MALLOC", "PYCACHEPREFIX", "TRACEMALLOC", "DEVMODE")  # together they take minutes to start
AT_ONCE = {f"PYTHON{name}": value for name, value in OF_PYTHON.items() if name not in SLOW}


@cells({"all variables of Python": variables(**AT_ONCE)}, one=True)
def test_all_variables_of_python_at_once(home, healthy, subject, trouble):
    is_as_ever(subject, healthy, home, trouble)


@pytest.mark.only_in_all_cells
@cells(
    {f"PYTHON{name} {value!r}": variables(**{f"PYTHON{name}": value}) for name, value in OF_PYTHON.items()}
)
def test_variables_of_python(home, healthy, subject, trouble):
    is_as_ever(subject, healthy, home, trouble)


# Descriptors

FULL = "os.set_blocking(w, False)\ntry:\n    while os.write(w, b'x' * 4096): pass\nexcept OSError: pass\n"
PIPE = "r, w = os.pipe()\nos.set_inheritable(r, True)\n"
BESIDE = {
    "no input": "os.close(0)",
    "input from a terminal": "m, s = os.openpty()\nos.dup2(s, 0)\nos.set_inheritable(m, True)",
    "endless input": "os.dup2(os.open('/dev/zero', os.O_RDONLY), 0)",
    "input from nobody": f"{PIPE}os.set_inheritable(w, True)\nos.dup2(r, 0)",
    "no error output": "os.close(2)",
    "no input, no error output": "os.close(0)\nos.close(2)",
    "a full disk for errors": "os.dup2(os.open('/dev/full', os.O_WRONLY), 2)",
    "errors that nobody reads": f"{PIPE}{FULL}os.set_blocking(w, True)\nos.dup2(w, 2)",
    "100 open files": "for _ in range(100): os.set_inheritable(os.open('/dev/zero', os.O_RDONLY), True)",
}


@cells({name: Surroundings(first) for name, first in BESIDE.items()}, one=True)
def test_other_descriptors(home, healthy, subject, trouble):
    is_as_ever(subject, healthy, home, trouble)


GONE = "r, w = os.pipe()\nos.close(r)\nos.dup2(w, 1)\n"
SILENT = {
    "no output": "os.close(1)",
    "no input, no output": "os.close(0)\nos.close(1)",
    "nothing at all": "os.close(0)\nos.close(1)\nos.close(2)",
    "output to a full disk": "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)",
    "output that is only for reading": "os.dup2(os.open('/dev/zero', os.O_RDONLY), 1)",
    "output to who has gone": GONE,
    "output to who has gone, SIGPIPE ignored": f"{GONE}signal.signal(signal.SIGPIPE, signal.SIG_IGN)",
    "output to who has gone, SIGPIPE blocked": (
        f"{GONE}signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])"
    ),
    "output to a terminal that has hung up": (
        "ours, theirs = os.openpty()\nos.dup2(theirs, 1)\nos.close(ours)\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    ),
    "output to a pipe that is full and does not wait": f"{PIPE}{FULL}os.dup2(w, 1)",
    "output to a file that must not grow": (
        "os.dup2(os.open('output', os.O_WRONLY | os.O_CREAT), 1)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    ),
    "output and errors to a full disk": "for n in (1, 2): os.dup2(os.open('/dev/full', os.O_WRONLY), n)",
}


@cells({name: Surroundings(first) for name, first in SILENT.items()}, one=True)
def test_output_that_cannot_be_written(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)
    run_in(calm, place, home, trouble, *WITHIN).is_silent(TIMEOUT)
    run_in(subject, Place(), home, trouble, "--no-such-option").is_silent(TIMEOUT)
    run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)


NOBODY_READS = Surroundings(f"{PIPE}{FULL}os.set_blocking(w, True)\nos.dup2(w, 1)")


@cells({"output to a full pipe that nobody reads": NOBODY_READS}, one=True)
def test_output_that_nobody_reads(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    run_in(calm, place, home, trouble, "-t", "2s").is_silent(2)
    run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)


# Arguments

NOT_UNDERSTOOD = {
    "an option that is no text": ("--\udcff\x01=\udcfe", "unknown option --?"),
    "a time that is no text": ("-t\udcff\x07|\n", 'argument -t/--timeout: "? / " is not a time'),
    "a long option": (f"--{'x' * 100_000}", "unknown option --xxx"),
    "a long time": (f"-t{'9' * 100_000}", 'argument -t/--timeout: "999'),
    "an escape sequence": ("--\x1b]8;;http://x\x07y", "unknown option --"),
}


@cells(NOT_UNDERSTOOD, one=True)
def test_odd_arguments(home, subject, trouble):
    argument, told = trouble
    outcome = run_in(subject, Place(), home, ORDINARY, argument).holds(TIMEOUT, UNKNOWN)
    assert f"{subject.name} UNKNOWN - {told}" in outcome.line, outcome


# The place, the user, the machine

PLACES = {
    "a working directory that has gone": "os.mkdir('gone')\nos.chdir('gone')\nos.rmdir('../gone')",
    "a working directory of processes": "os.chdir('/proc/self/task')",
    "umask 0": "os.umask(0)",
    "umask 0777": "os.umask(0o777)",
    "the lowest priority": "os.nice(19)",
    "a session without a terminal": "os.setpgid(0, 0) if os.getpgrp() != os.getpid() else None",
    "no core dumps": "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))",
}


def keeps(trouble, subject):
    """Whether there is something that a umask may lay open."""
    return subject.state or "umask" not in trouble.first


@cells({name: Surroundings(first) for name, first in PLACES.items()}, keeps, one=True)
def test_odd_places(home, healthy, subject, trouble):
    is_as_ever(subject.remembering(), healthy, home, trouble)
    is_private(home / "state", subject)


def is_private(folder, subject):
    """Assert that what a plugin has kept is for nobody else."""
    modes = {
        oct(path.stat().st_mode & 0o777) for path in (*folder.parent.glob(folder.name), *folder.glob("*"))
    }
    assert modes == ({"0o700", "0o600"} if subject.state else set())


USERS = {
    "nobody": Surroundings(user=NOBODY),
    "a user without a name": Surroundings(user=NAMELESS),
    "a user without a name and HOME": Surroundings(user=NAMELESS, variables={"HOME": None}),
    "nobody with umask 0": Surroundings("os.umask(0)", user=NOBODY),
    "nobody with umask 0777": Surroundings("os.umask(0o777)", user=NOBODY),
    "nobody in a directory of root": Surroundings(
        "os.makedirs('own', 0o700, exist_ok=True)\nos.chdir('own')", user=NOBODY
    ),
}


@cells(USERS, keeps, one=True)
def test_other_users(strangers_home, healthy, subject, trouble):
    for _ in range(2):
        is_as_ever(subject.remembering(), healthy, strangers_home, trouble)
    is_private(strangers_home / "state", subject)


# Without CAP_SYS_ADMIN in the first user namespace /dev may hold no devices: bound, they work.
DEVICES = """mount --bind /dev/null "$HOME/null"
mount -t tmpfs none /dev
touch /dev/null
mount --bind "$HOME/null" /dev/null
"""


@cells({"no device but /dev/null": Surroundings(mounts=DEVICES)}, one=True)
def test_odd_machines(home, healthy, subject, trouble):
    (home / "null").touch()
    is_as_ever(subject, healthy, home, trouble)


@cells({"no device at all": Surroundings(mounts="mount -t tmpfs none /dev")}, one=True)
def test_no_device_at_all(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    outcome = run_in(calm, place, home, trouble, *WITHIN).holds(TIMEOUT, UNKNOWN)
    told = "standard output cannot be led to /dev/null: No such file or directory"
    assert outcome.line == f"{subject.name} UNKNOWN - {told}", outcome
