"""Every option of every plugin, joined with values that look like something else to argparse."""

from contextlib import suppress

import pytest
from choices import ODD_TEXTS
from command_targets import PLUGINS
from plugin_runs import plugin
from stallwatch.frame.usage import Said, UsageError

VALUES = ("--", "-", "---", "--x", "-1", "--output", "=", "", *(one for one in ODD_TEXTS if len(one) < 50))


@pytest.mark.parametrize("name", PLUGINS)
def test_any_value_is_taken_or_refused(name):
    check = plugin(name)["check"]
    flags = [(flag, action) for action in check.options for flag in action.option_strings]
    for flag, action in flags:
        for value in VALUES:
            joined = f"{flag}={value}" if flag.startswith("--") else f"{flag}{value}"
            with suppress(UsageError, Said):
                assert getattr(check.parser.parse([joined]), action.dest) != [], joined


def test_two_hyphens_are_a_password():
    options = plugin("check_mysql_query")["check"].parser.parse(["-H--", "--password=--"])
    assert (options.hostname, options.password) == ("--", "--")


@pytest.mark.parametrize("option", ["--unreachable", "--output"])
def test_two_hyphens_are_no_choice(option):
    of = plugin("check_mysql_query")
    status, text = of["check"].run(of["findings"], ["-H", "db1", f"{option}=--"])
    assert status == 3
    assert text.startswith(f"MYSQL_QUERY UNKNOWN - argument {option}: invalid choice: '--'"), text


def test_two_hyphens_alone_are_no_value():
    parser = plugin("check_mysql_query")["check"].parser
    with pytest.raises(UsageError, match="argument 1 belongs to no option"):
        parser.parse(["--", "db1"])
    with pytest.raises(UsageError, match="expected one argument"):
        parser.parse(["-H", "--"])
