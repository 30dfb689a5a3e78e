"""Files that an option names and that are pipes: empty ones are refused soon, those with data are read."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from stallwatch.findings import State
from stallwatch.sources import given_file, jmx, mysql
from stallwatch.sources.jmx import tls as jmx_tls
from stallwatch.sources.mysql.target import VERIFY_CA
from stallwatch.sources.mysql.tls import Context

PLUGINS = Path(__file__).parents[2] / "plugins"
NOBODY = ("-H", "127.0.0.1", "-P", "9")
REFUSED = "127.0.0.1:9 refused the connection"
NAMED = {
    "check_mysql_query --password-file": ("check_mysql_query", *NOBODY, "--password-file"),
    "check_mysql_status --defaults-file": ("check_mysql_status", *NOBODY, "--defaults-file"),
    "check_mysql_query --query-file": ("check_mysql_query", *NOBODY, "--query-file"),
    "check_jmx --password-file": ("check_jmx_thread_pools", *NOBODY, "-u", "m", "--password-file"),
    "check_mysqld_process --pid-file": ("check_mysqld_process", "--pid-file"),
    "check_mysql_backup --directory": ("check_mysql_backup", "--directory"),
    "check_ndb_log --log": ("check_ndb_log", "--log"),
}  # fmt: skip


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


@pytest.fixture
def check(tmp_path):
    """Run a plugin by a shell: gives its status and its output."""

    def check(words):
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "STATE_DIRECTORY": str(tmp_path / "state")}
        name, *arguments = words
        line = " ".join([sys.executable, str(PLUGINS / name), *map(str, arguments), "-t60"])
        command = ["bash", "-c", line]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=120)
        assert done.stderr == ""
        return done.returncode, done.stdout

    return check


@pytest.mark.parametrize("words", NAMED.values(), ids=NAMED)
def test_a_pipe_into_which_nobody_writes_is_refused_soon(check, fifo, words):
    status, text = check([*words, fifo])
    assert status == 3
    assert str(fifo) in text
    assert "internal error" not in text
    assert "no verdict within" not in text


EMPTY = (
    *NAMED.values(),
    ("check_host", "--data-dir"),
    ("check_ndb_redo_buffer", *NOBODY, "--log"),
    ("check_ndb_redo_buffer", *NOBODY, "--data-dir"),
)


@pytest.mark.parametrize("words", EMPTY, ids=" ".join)
def test_an_empty_name_is_said_to_be_empty(check, words):
    name = words[0].removeprefix("check_").upper()
    told = f"{name} UNKNOWN - {words[-1]} is empty: see {words[0]} --help\n"
    assert check([*words, "''"]) == (3, told)


def test_the_sentence_says_what_it_is_and_how_long_somebody_waited(check, fifo):
    _, text = check(["check_mysql_query", *NOBODY, "--defaults-file", fifo])
    why = "it is a FIFO, not a regular file, and no writer has completed it within 1 s"
    assert f"{fifo} cannot be read: {why}" in text


def test_the_user_s_own_option_file_and_what_one_includes_are_no_exception(check, tmp_path):
    os.mkfifo(tmp_path / ".my.cnf")
    assert "it is a FIFO" in check(["check_mysql_query", *NOBODY])[1]
    (tmp_path / "my.cnf").write_text(f"!include {tmp_path}/.my.cnf\n")
    assert "it is a FIFO" in check(["check_mysql_query", *NOBODY, "--defaults-file", tmp_path / "my.cnf"])[1]


@pytest.mark.parametrize("slow", ["", "sleep 0.3; "])
def test_what_a_command_writes_is_read(check, slow):
    words = ["check_mysql_query", *NOBODY, "--password-file"]
    assert REFUSED in check([*words, f"<({slow}echo secret)"])[1]
    assert REFUSED in check([*words, "/dev/stdin", f"< <({slow}echo secret)"])[1]
    assert REFUSED in check([*words[:-1], "--defaults-file", f"<({slow}printf '[client]\\nuser=m\\n')"])[1]
    assert "its first line is empty" in check([*words, "/dev/null"])[1]


def written(path, *parts, ended=None):
    """A thread that opens a FIFO, and writes with pauses into it; with ``ended`` it is open until then."""

    def write():
        with open(path, "wb", buffering=0) as file:
            for part in parts:
                time.sleep(0.2)
                file.write(part)
            assert not ended or ended.wait(120)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.fixture
def patient(monkeypatch):
    """Whoever writes may be kept from running."""
    monkeypatch.setattr(given_file, "PATIENCE", 120)
    monkeypatch.setattr(given_file, "_LONGER", 120)


@pytest.mark.usefixtures("patient")
def test_all_parts_are_read_to_the_end(fifo):
    thread = written(fifo, b"[client]\n", b"user=m\n")
    assert given_file.content(str(fifo), 100)[0] == b"[client]\nuser=m\n"
    thread.join()


@pytest.mark.usefixtures("patient")
def test_a_line_is_enough_of_a_password(fifo):
    ended = threading.Event()
    thread = written(fifo, b"sec", b"ret\r\nmore", ended=ended)
    assert given_file.first_line(str(fifo), 100) == b"secret"
    ended.set()
    thread.join()


def test_who_has_it_open_and_says_nothing_is_waited_for_a_little_longer(fifo, monkeypatch):
    monkeypatch.setattr(given_file, "PATIENCE", 0.2)
    monkeypatch.setattr(given_file, "_LONGER", 0.6)
    descriptor = os.open(fifo, os.O_RDWR)
    begun = time.monotonic()
    with pytest.raises(OSError, match="it is a FIFO"):
        given_file.content(str(fifo), 100)
    assert time.monotonic() - begun > 0.5
    os.close(descriptor)


CERTIFICATES = {
    "--ssl-ca": (mysql.UnreachableError, lambda path: Context(mysql.Tls(VERIFY_CA, ca=path), verify=True)),
    "--ssl-cert": (mysql.UnreachableError, lambda path: Context(mysql.Tls(cert=path), verify=False)),
    "--ca-file": (jmx.UnreachableError, lambda path: jmx_tls.context(jmx.Tls(ca_file=path))),
    "--client-cert": (
        jmx.UnreachableError,
        lambda path: jmx_tls.context(jmx.Tls(insecure=True, client_cert=path)),
    ),
}


@pytest.mark.parametrize("option", CERTIFICATES)
def test_a_file_without_a_certificate_is_unknown_whatever_a_server_is_that_cannot_be_asked(tmp_path, option):
    unreachable, load = CERTIFICATES[option]
    path = tmp_path / "empty"
    empty = "no certificate in PEM form"
    if option in ("--client-cert", "--ssl-cert"):
        empty += ", or no key for it that can be used without a password"
    for why in ("No such file or directory", empty):
        with pytest.raises(unreachable, match=f"^{option} {path}: {why}$") as error:
            load(str(path))
        assert error.value.state is State.UNKNOWN
        makes_one = option == "--ca-file" and why == empty
        advice = "make one with keytool -exportcert -rfc" if makes_one else "the server was not asked"
        assert error.value.advice.startswith(advice)
        path.touch()


@pytest.mark.parametrize("option", CERTIFICATES)
def test_certificates_are_no_exception(fifo, option):
    unreachable, load = CERTIFICATES[option]
    with pytest.raises(unreachable) as error:
        load(str(fifo))
    assert f"{fifo}: it is a FIFO" in error.value.what


def test_a_fifo_is_open_as_long_as_a_library_reads_it(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = os.open(fifo, os.O_RDWR)
    os.write(writer, b"a certificate")
    before = os.listdir("/proc/self/fd")
    with given_file.having_data(str(fifo), None):
        assert len(os.listdir("/proc/self/fd")) == len(before) + 1
    assert os.listdir("/proc/self/fd") == before
    os.close(writer)
