"""How check_mysql_query is called: options that are understood, and those that are not."""

import functools
import os

import pytest


@pytest.fixture
def check(call):
    return functools.partial(call, "check_mysql_query")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["-q", "DELETE FROM t"],
            "the query is refused: DELETE is not known as a read; --allow-writes lets it",
        ),
        (["-q", "SELECT 1 INTO OUTFILE '/tmp/x'"], "the query is refused: it writes INTO something"),
        (["-q", "SELECT 1; SELECT 2"], "the query is refused: it is more than one statement"),
        (["-q", "/*!50000 DELETE FROM t */"], "the query is refused: it has an executable comment"),
        (["-q", "SELECT sys_exec('x')"], "the query is refused: sys_exec() is not known to only read: name"),
        (
            ["-q", "SELECT /*+ MAX_EXECUTION_TIME(4001) */ 1"],
            "the query is refused: its hint MAX_EXECUTION_TIME may lift the server's time limit; --allow",
        ),
        (["-q", ""], "argument -q/--query: there is no statement"),
        (["-q", b"SELECT '\xff'"], "argument -q/--query: the statement is not UTF-8"),
        (["-f", "/nowhere/x.sql"], "--query-file /nowhere/x.sql: No such file or directory"),
        (["-f", "/"], "--query-file /: Is a directory"),
        (["-q", "SELECT 1", "-f", "/dev/null"], "--query and --query-file: which of them?"),
        (["-f", "/dev/null"], "--query-file /dev/null: it is no regular file"),
        (["-f", ""], "--query-file is empty: see"),
        (["--count", "0"], '"0" is not a whole number from 1'),
        (["--count", "1001"], '"1001" is more than 1000'),
        (["--spread", "5s"], "--spread is to be half of --timeout at most"),
        (["--spread", "soon"], '"soon" is not a time'),
        (["-w", "5x"], 'range "5x"'),
        (["-S", "/x", "-H", "db1"], "-S names a server on this host already"),
        (["--unreachable", "ok"], "argument --unreachable: invalid choice"),
    ],
)
def test_bad_usage_is_a_sentence_and_unknown(call, arguments, sentence):
    arguments = [one.decode(errors="surrogateescape") if isinstance(one, bytes) else one for one in arguments]
    status, text = call("check_mysql_query", *arguments)
    assert status == 3
    assert text.startswith("MYSQL_QUERY UNKNOWN - ")
    assert sentence in text
    assert text.count("\n") == 1
    assert ("--help" in text) == ("--query-file /" not in text)  # the help says nothing about a file


def test_a_hint_may_name_half_of_the_timeout(check):
    hint = ("-H", "127.0.0.1", "-P", "1", "-q", "SELECT /*+ MAX_EXECUTION_TIME(4001) */ 1", "-t", "9s")
    assert "refused the connection" in check(*hint)[1]


def test_a_short_timeout_alone_is_no_mistake(check):
    status, text = check("-H", "127.0.0.1", "-P", "1", "-t", "1s")
    assert (status, "refused the connection" in text) == (2, True)


def test_a_query_and_a_file_are_one_too_many(check, tmp_path):
    file = tmp_path / "typical.sql"
    file.write_text("SELECT 1")
    assert "--query and --query-file: which of them?" in check("-q", "SELECT 2", "-f", file)[1]


def test_a_query_file_may_begin_with_a_mark_and_is_judged_like_a_query(check, tmp_path):
    file = tmp_path / "typical.sql"
    where = ("-H", "127.0.0.1", "-P", "1", "-f", file)
    file.write_bytes(b"\xef\xbb\xbfSELECT 1;\n")
    assert "refused the connection" in check(*where)[1]
    file.write_text("DELETE FROM t")
    assert "DELETE is not known as a read" in check(*where)[1]
    file.write_bytes(b"SELECT '\xff'")
    assert "typical.sql is not UTF-8" in check(*where)[1]
    file.write_bytes(b" " * (1 << 16) + b"SELECT 1")
    assert "typical.sql: it is larger than 64 KiB" in check(*where)[1]
    file.write_bytes(b"")
    assert "typical.sql: there is no statement" in check(*where)[1]


@pytest.mark.usefixtures("new_interpreter")
def test_a_named_pipe_that_nobody_writes_into_is_refused_at_once(check, tmp_path):
    os.mkfifo(tmp_path / "q")
    status, text = check("-f", tmp_path / "q", "-t", "20s")
    assert status == 3
    assert "q: it is no regular file" in text


def test_help_fits_80_columns_and_names_every_option(check):
    status, text = check("--help")
    assert status == 3
    assert max(map(len, text.splitlines())) <= 80
    for option in ("--query", "--query-file", "--database", "--count", "--spread", "--reconnect", "--expect",
                   "--allow-writes", "--max-warning", "--connection-critical", "--rows-warning"):  # fmt: skip
        assert option in text


@pytest.mark.usefixtures("new_interpreter")
def test_a_port_where_nobody_listens_is_critical_and_may_be_unknown(check):
    status, text = check("-H", "127.0.0.1", "-P", "1")
    assert status == 2
    assert "127.0.0.1:1 refused the connection" in text
    assert check("-H", "127.0.0.1", "-P", "1", "--unreachable", "unknown")[0] == 3
