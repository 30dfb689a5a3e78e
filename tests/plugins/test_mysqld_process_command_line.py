"""How check_mysqld_process is called: options that are understood, and those that are not."""

import functools
import subprocess
import time

import pytest


@pytest.fixture
def run_it(call):
    return functools.partial(call, "check_mysqld_process")


@pytest.fixture
def pid_file(tmp_path):
    """The pid file of a process that is called sleep."""
    with subprocess.Popen(["sleep", "60"]) as process:
        (tmp_path / "pid").write_text(f"{process.pid}\n")
        yield str(tmp_path / "pid")
        process.kill()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--pid-file", "/a", "--listens", "1"], "--pid-file and --listens name a process each"),
        (["--pid-file", "/a", "--data-dir", "/"], "--pid-file and --data-dir name a process each"),
        (["--pid-file", ""], "--pid-file is empty"),
        (["--data-dir", ""], "--data-dir is empty"),
        (["--program", ""], "--program is empty"),
        (["--program", "/usr/sbin/mariadbd"], "is a path: give the name alone, mariadbd"),
        (["--listens", "mysql"], '"mysql" is not a port'),
        (["--listens", "0"], '"0" is not a port'),
        (["--sample", "0"], "--sample takes 1 s at least"),
        (["--sample", "7s"], "2 s less than --timeout"),
        (["--no-state"], "--no-state leaves no last run to compare with: add --sample 5s"),
        (["-S", "/s", "-H", "db1"], "-S names a server on this host already"),
        (["--password-file", "/nowhere"], "--password-file /nowhere: No such file or directory"),
        (["-w", "fast"], '"fast" is not a percentage'),
    ],
)
def test_bad_usage_is_a_sentence_and_unknown(run_it, arguments, sentence):
    status, text = run_it(*arguments)
    assert status == 3
    assert text.startswith("MYSQLD_PROCESS UNKNOWN - ")
    assert sentence in text
    assert text.count("\n") == 1


def test_help_fits_80_columns_and_says_when_the_server_is_asked(run_it):
    status, text = run_it("--help")
    assert status == 3
    assert max(map(len, text.splitlines())) <= 80
    assert "ask the server, too, for read_buffer_size and names of threads" in " ".join(text.split())


def test_a_process_that_is_not_there_is_critical(run_it, tmp_path):
    status, text = run_it("--pid-file", str(tmp_path / "mysqld.pid"))
    assert status == 2
    assert text.startswith(f"MYSQLD_PROCESS CRITICAL - {tmp_path}/mysqld.pid is not there")


def test_a_program_that_does_not_run_is_critical(run_it):
    status, text = run_it("--program", "no-such-program")
    assert status == 2
    assert text.startswith("MYSQLD_PROCESS CRITICAL - no no-such-program runs on this host")


def test_a_process_in_one_run(run_it, pid_file):
    status, text = run_it(
        "--pid-file", pid_file, "--program", "sleep", "--no-state", "--sample", "1s", "-t", "60s"
    )
    assert status == 0, text
    assert text.startswith("MYSQLD_PROCESS OK - sleep ")
    labels = {item.partition("=")[0] for item in text.partition(" | ")[2].split()}
    assert {"cpu", "user", "system", "minor_faults", "resident_memory", "busiest_thread"} <= labels


@pytest.mark.usefixtures("new_interpreter")
def test_a_process_from_run_to_run(run_it, pid_file):
    arguments = ("--pid-file", pid_file, "--program", "sleep")
    assert "[OK] no rates yet: no earlier look to compare with" in run_it(*arguments)[1]
    time.sleep(1.5)
    status, text = run_it(*arguments)
    assert status == 0, text
    assert " cpu=0%" in text


def test_a_stale_pid_file_is_critical(run_it, pid_file):
    status, text = run_it("--pid-file", pid_file)
    assert status == 2
    assert "is sleep, not mysqld, mariadbd, ndbmtd or ndbd" in text


def test_a_server_where_nobody_listens_costs_nothing_of_the_process(run_it, pid_file):
    arguments = ("--pid-file", pid_file, "--program", "sleep", "-H", "127.0.0.1", "-P", "1")
    status, text = run_it(*arguments, "-v")
    assert status == 3
    assert "127.0.0.1:1 refused the connection" in text.splitlines()[0]
    assert "[OK] sleep " in text
    assert run_it(*arguments, "--unreachable", "critical")[0] == 2
