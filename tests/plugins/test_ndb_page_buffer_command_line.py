"""How check_ndb_page_buffer is called: options that are understood, and those that are not."""

import functools

import pytest


@pytest.fixture
def run_it(call):
    return functools.partial(call, "check_ndb_page_buffer")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-w", "99.5"], 'lower is worse here: write "99.5:"'),
        (["-c", "95%"], 'lower is worse here: write "95%:"'),
        (["--confirm", "0"], '"0" is not a whole number from 1 to 999999999'),
        (["--min-requests", "-1"], '"-1" is not a whole number from 1 to 999999999'),
        (["--cold", "long"], '"long" is not a time'),
        (["--sample", "0"], "--sample takes 1 s at least"),
        (["--sample", "7s"], "2 s less than --timeout"),
        (["--no-state"], "--no-state leaves no last run to compare with: add --sample 5s"),
    ],
)
def test_bad_usage_is_a_sentence_and_unknown(run_it, arguments, sentence):
    status, text = run_it(*arguments)
    assert status == 3
    assert text.startswith("NDB_PAGE_BUFFER UNKNOWN - ")
    assert sentence in text
    assert text.count("\n") == 1


def test_help_fits_80_columns_and_says_what_one_sample_is_worth(run_it):
    status, text = run_it("--help")
    assert status == 3
    assert max(map(len, text.splitlines())) <= 80
    assert "with --sample, CRITICAL only if this is 1" in " ".join(text.split())


@pytest.mark.usefixtures("new_interpreter")
def test_a_port_where_nobody_listens_is_unknown_and_may_be_critical(run_it):
    status, text = run_it("-H", "127.0.0.1", "-P", "1")
    assert status == 3
    assert "127.0.0.1:1 refused the connection" in text
    assert run_it("-H", "127.0.0.1", "-P", "1", "--unreachable", "critical")[0] == 2
