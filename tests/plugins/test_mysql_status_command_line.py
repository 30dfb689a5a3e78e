"""How check_mysql_status is called: options that are understood, and those that are not."""

import functools

import pytest


@pytest.fixture
def run_it(call):
    return functools.partial(call, "check_mysql_status")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--warning", "100"], '"100" names no variable: write NAME=RANGE, as Threads_running=50'),
        (["-c", "Threads_running"], '"Threads_running" names no variable'),
        (["--critical", "A/B/C=5"], '"B/C" is no name of a status variable'),
        (["--warning", "Threads_running=x"], '"x" is not a plain number'),
        (["--set", "cows"], "invalid choice: 'cows'"),
        (["--exclude", "threads_.*", "-w", "Threads_running=5"], "--exclude leaves out Threads_running"),
        (["--include", "("], '"(" is not a regular expression'),
        (["--confirm", "0"], '"0" is not a whole number from 1 to 999999999'),
        (["--counter", "Cows", "--gauge", "cows"], "Cows is either a --counter or a --gauge"),
        (["--reference", "db2", "--reference-group", "two"], "name one server: give one of them"),
        (["--reference", "db2:x"], '"db2:x" is not HOST, HOST:PORT or [IPV6]:PORT'),
        (["--reference-group", "two"], "the group [two] is in no file: give it with --defaults-file"),
        (["--sample", "0"], "--sample takes 1 s at least"),
        (["--sample", "7s"], "2 s less than --timeout"),
        (["--no-state"], "--no-state leaves no last run to compare with: add --sample 5s"),
        (["--warnin", "Uptime=5"], "unknown option --warnin"),
        (["--warning", "Uptime=5", "-w", "uptime=6"], "there are two warning ranges of Uptime: give one"),
    ],
)
def test_bad_usage_is_a_sentence_and_unknown(run_it, arguments, sentence):
    status, text = run_it(*arguments)
    assert status == 3
    assert text.startswith("MYSQL_STATUS UNKNOWN - ")
    assert sentence in text
    assert text.count("\n") == 1


def test_help_fits_80_columns_and_names_all_sets(run_it):
    status, text = run_it("--help")
    assert status == 3
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert "handlers, tables, connections, threads, innodb, temporary or replication" in words


def test_the_sets_of_the_plugin_are_those_of_the_probe(run_it):
    from stallwatch.probes.mysql_status.sets import SETS

    for name in SETS:
        assert "invalid choice" not in run_it("--set", name, "-H", "127.0.0.1", "-P", "1")[1]


@pytest.mark.usefixtures("new_interpreter")
def test_a_port_where_nobody_listens_is_unknown_and_may_be_critical(run_it):
    status, text = run_it("-H", "127.0.0.1", "-P", "1")
    assert status == 3
    assert "127.0.0.1:1 refused the connection" in text
    assert run_it("-H", "127.0.0.1", "-P", "1", "--unreachable", "critical")[0] == 2
