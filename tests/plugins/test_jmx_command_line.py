# ruff: noqa: E501 - what is said is written as it is said
"""The command line of check_jmx, without a server."""

import re
import socket
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "check_jmx"


@pytest.fixture
def said(tmp_path, run_plugin):
    """Run the plugin: its status and its output."""

    def run(*arguments):
        env = {"HOME": str(tmp_path), "LC_ALL": "C"}
        process = run_plugin(PLUGIN, *arguments, "--state-dir", tmp_path / "state", env=env)
        assert process.stderr == ""
        return process.returncode, process.stdout.rstrip("\n")

    return run


@pytest.fixture
def silent():
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def test_help_fits_80_columns_and_ends_with_examples(said):
    status, text = said("--help")
    assert status == 3
    assert max(map(len, text.splitlines())) <= 80
    examples = text.partition("\nexamples:\n")[2]
    commands = re.sub(r"\n {6}", " ", examples).splitlines()
    assert len(commands) > 3
    assert all(command.startswith("  check_jmx -H db1 -P 7199 ") for command in commands)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "what is to be read? Give -O OBJECT -A ATTRIBUTE; --list shows all"),
        (("-O", "a:b=c", "-A", "X"), "which JVM? Give its host with -H and JMX port with -P, or its URL with -U"),
        (("-O", "a:b=c", "-A", "X", "--unit", "parsec"), "argument --unit: invalid choice: 'parsec' (choose from 'B', 'KiB', 'MiB', 'GiB', 's', 'ms', 'us', 'ns', '%', 'share', 'c')"),
        (("-O", "a:b=c", "-A", "X", "-w", "@5:1"), 'argument -w/--warning: range "@5:1" starts after it ends: write the smaller number first'),
        (("-O", "a:b=c", "-A", "X", "-c", "9x"), 'argument -c/--critical: range "9x": "9x" is not a plain number (per cent need --of, sizes and times --unit)'),
        (("-P", "1", "-O", "a:b=c", "-A", "X", "--rate", "--no-state"), "--rate needs the state that --no-state leaves alone"),
        (("-P", "1", "-O", "a:b=c", "-A", "X", "--values"), "--values belongs to --list: give that, too"),
        (("-P", "1", "--list", "-A", "X"), "--list takes a pattern of its own: leave out what belongs to -O and -A"),
        (("-P", "1", "--list", "a:b"), '--list: "b" in "a:b" is not key=value: values with , = : " are to be quoted'),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_unknown(said, arguments, sentence):
    assert said(*arguments) == (3, f"JMX UNKNOWN - {sentence}: see check_jmx --help")


@pytest.mark.usefixtures("new_interpreter")
@pytest.mark.parametrize("what", [("--list",), ("-O", "java.lang:type=Memory", "-A", "Verbose")])
def test_a_server_that_is_not_there_means_what_the_user_says(said, silent, what):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    for state, status in (("unknown", 3), ("critical", 2)):
        code, text = said("-H", "127.0.0.1", "-P", port, "--unreachable", state, *what)
        assert code == status
        assert text.startswith(f"JMX {state.upper()} - 127.0.0.1:{port} refused the connection")


def test_a_silent_server_ends_in_time_whatever_stands_first(said, silent):
    for arguments in (("--list", "-t", "1s"), ("-t", "1s", "--list"), ("-O", "a:b=c", "-A", "X", "-t", "1s")):
        code, text = said("-H", "127.0.0.1", "-P", silent, *arguments)
        assert code == 3
        assert "within 1 s" in text or "no processor time" in text  # on a busy machine
