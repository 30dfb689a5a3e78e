"""check_host and check_bonding as an engine runs them."""

import json
import os

import pytest

PLUGINS = ["check_host", "check_bonding"]


@pytest.mark.usefixtures("new_interpreter")
@pytest.mark.parametrize("name", PLUGINS)
def test_help_fits_a_terminal(call, name):
    status, text = call(name, "--help")
    assert status == 3
    assert max(map(len, text.splitlines())) <= 80
    assert "examples:" in text


@pytest.mark.parametrize("name", PLUGINS)
@pytest.mark.parametrize("arguments", [["--nonsense"], ["-w", "5:1"], ["-t", "0"], ["surplus"]])
def test_bad_usage_is_one_line(call, name, arguments):
    status, text = call(name, *arguments)
    assert status == 3
    assert text.count("\n") <= 1
    assert f"see {name} --help" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sample", "0.5s"], "--sample takes 1 s at least"),
        (["--sample", "7s"], "2 s less than --timeout"),
        (["--no-state"], "add --sample 5s"),
        (["--disk", "("], "is not a regular expression"),
        (["--confirm", "0"], "is not a whole number from 1"),
        (["-w", "10G"], "is not a percentage"),
        (["--swap-in-warning", "10%"], "is not a size in bytes"),
        (["--memory-available-critical", "5"], 'write "5:"'),
    ],
)
def test_what_check_host_refuses(call, arguments, words):
    status, text = call("check_host", *arguments)
    assert status == 3
    assert words in text


@pytest.mark.parametrize(
    ("directory", "words"),
    [
        ("/nowhere/at/all", "--data-dir /nowhere/at/all: No such file or directory"),
        ("/proc", "/proc is on proc (proc), which is on no block device that is seen here"),
    ],
)
def test_a_directory_without_a_disk_is_told_beside_the_rest(call, directory, words):
    status, text = call("check_host", "--data-dir", directory)
    assert status in {1, 2, 3}  # what is wrong with this host outranks it
    assert words in text
    assert "memory_available=" in text


@pytest.mark.usefixtures("new_interpreter")
def test_a_first_run_then_a_second_one(call):
    status, first = call("check_host")
    assert status in {0, 1}
    assert "no earlier look to compare with" in first
    status, second = call("check_host")
    assert status in {0, 1}
    assert ("processors " in second) or ("less than a second ago" in second)


def test_the_state_may_be_kept_elsewhere(call, tmp_path):
    call("check_host", "--state-dir", tmp_path / "here")
    call("check_bonding", "--expect", "1", "--state-dir", tmp_path / "here")
    kept = {path.name.partition("-")[0] for path in (tmp_path / "here").glob("*.json")}
    assert "host" in kept


@pytest.mark.parametrize("name", PLUGINS)
@pytest.mark.parametrize("output", ["text", "json", "human"])
def test_every_output(call, name, output):
    status, text = call(name, "--output", output)
    no_bonds = name == "check_bonding" and not os.path.exists("/proc/net/bonding")
    assert status == 3 if no_bonds else status in {0, 1, 2}
    assert text
    if output == "json":
        assert json.loads(text)["name"] == name.removeprefix("check_")


@pytest.mark.skipif(os.path.exists("/proc/net/bonding"), reason="the driver for bonds is loaded here")
def test_without_the_bonding_driver(call):
    status, text = call("check_bonding")
    assert status == 3
    assert "/proc/net/bonding is missing, so the module bonding is not loaded" in text
    status, text = call("check_bonding", "--expect", "2", "--mode", "bond1=802.3ad")
    assert status == 2
    assert "bond1 is not there" in text
