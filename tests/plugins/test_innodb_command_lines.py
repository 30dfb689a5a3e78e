"""How check_innodb_redo_log and check_innodb_buffer_pool are called: what is understood, and what is not."""

import pytest

PLUGINS = ("check_innodb_redo_log", "check_innodb_buffer_pool")


@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--no-state"], "--no-state leaves no last run to compare with: add --sample 5s"),
        (["--sample", "7s"], " s less than --timeout"),
        (["-w", "much"], '"much" is not a percentage'),
        (["-S", "/nowhere", "-H", "db1"], "-S names a server on this host already"),
    ],
)
def test_bad_usage_is_a_sentence_and_unknown(call, plugin, arguments, sentence):
    status, text = call(plugin, *arguments)
    assert status == 3
    assert text.startswith(f"{plugin.removeprefix('check_').upper()} UNKNOWN - ")
    assert sentence in text
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    ("plugin", "option", "limit"),
    [
        ("check_innodb_redo_log", "--redo-time-warning", "1h"),
        ("check_innodb_buffer_pool", "--pages-free-critical", "9"),
    ],
)
def test_what_is_worse_when_it_is_lower_is_not_limited_from_above(call, plugin, option, limit):
    assert f'lower is worse here: write "{limit}:"' in call(plugin, option, limit)[1]


@pytest.mark.parametrize("plugin", PLUGINS)
def test_help_fits_80_columns(call, plugin):
    status, text = call(plugin, "--help")
    assert status == 3
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.usefixtures("new_interpreter")
@pytest.mark.parametrize("plugin", PLUGINS)
def test_a_port_where_nobody_listens_is_unknown_and_may_be_critical(call, plugin):
    status, text = call(plugin, "-H", "127.0.0.1", "-P", "1")
    assert status == 3
    assert "127.0.0.1:1 refused the connection" in text
    assert call(plugin, "-H", "127.0.0.1", "-P", "1", "--unreachable", "critical")[0] == 2
