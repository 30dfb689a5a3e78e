"""How check_replication_lag is called: options that are understood, and those that are not."""

import functools
import os

import pytest


@pytest.fixture
def check(call):
    return functools.partial(call, "check_replication_lag")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--channel", "["], 'argument --channel: "[" is not a regular expression'),
        (["--heartbeat", "beat"], '"beat" is not a table such as percona.heartbeat'),
        (["--connecting-grace", "soon"], '"soon" is not a time'),
        (["--not-replica", "fine"], "--not-replica"),
        (["--source", "a b"], '"a b" is not HOST'),
        (["--source-group", "primary"], "[primary]"),
        (["-S", "/x", "-H", "db1"], "-S names a server on this host already"),
        (["--ssl-mode", "SOME"], '"SOME" is no --ssl-mode'),
        (["-w", "5x"], 'range "5x"'),
        (["--hostnam", "db1"], "unknown option --hostnam"),
    ],
)
def test_bad_usage_is_a_sentence_and_unknown(check, arguments, sentence):
    status, text = check(*arguments)
    assert status == 3
    assert text.startswith("REPLICATION_LAG UNKNOWN - ")
    assert sentence in text
    assert text.count("\n") == 1


def test_help_fits_80_columns_and_names_every_option(check):
    status, text = check("--help")
    assert status == 3
    assert max(map(len, text.splitlines())) <= 80
    for option in ("--channel", "--not-replica", "--heartbeat", "--source", "--reference", "--horizon", "-w"):
        assert option in text


@pytest.mark.usefixtures("new_interpreter")
def test_a_port_where_nobody_listens_is_unknown_and_may_be_critical(check):
    status, text = check("-H", "127.0.0.1", "-P", "1")
    assert status == 3
    assert "127.0.0.1:1 refused the connection" in text
    assert check("-H", "127.0.0.1", "-P", "1", "--unreachable", "critical")[0] == 2


def test_the_password_of_an_option_file_is_never_shown(check, tmp_path):
    file = tmp_path / "my.cnf"
    file.write_text("[client]\nuser=mon\npassword='very secret'\nhost=127.0.0.1\nport=1\n")
    os.chmod(file, 0o600)
    status, text = check("--defaults-file", file, "-vvv")
    assert status == 3
    assert "secret" not in text
