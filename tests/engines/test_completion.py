"""Completion of the plugins' options, in real shells."""

from pathlib import Path

import pytest
from generators.plugins import plugins
from generators.programs import programs
from installing import installable
from shell import ALL, TAB, Shell

ROOT = Path(__file__).resolve().parents[2]
FILES = {"bash": "stallwatch.bash", "zsh": "_stallwatch"}


@pytest.fixture(params=FILES)
def shell(request):
    with installable():
        return Shell(request.param, ROOT / "contrib" / "completion", FILES[request.param])


def test_all_options_of_every_plugin_are_offered(shell, tmp_path):
    every = plugins()
    offered = shell.words(tmp_path, *(f"{plugin.program} --{ALL}" for plugin in every))
    for plugin, words in zip(every, offered, strict=True):
        assert sorted(words) == sorted(option.long for option in plugin.options), plugin.program


def test_the_choices_of_an_option_are_offered_and_nothing_else(shell, tmp_path):
    lines = ("check_jmx --output ", "check_jmx --unit ", "check_jmx -t ", "check_ndb_nodes --ssl-mode ")
    output, unit, timeout, mode = shell.words(tmp_path, *(f"{line}{ALL}" for line in lines))
    assert output == ["--output", "human", "json", "text"]
    assert sorted(unit) == sorted(["--unit", *"B KiB MiB GiB s ms us ns % share c".split()])  # noqa: SIM905
    assert timeout == ["-t"]
    assert mode == ["--ssl-mode", "DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"]


def test_a_value_is_completed_behind_an_equals_sign_too(shell, tmp_path):
    assert shell.words(tmp_path, f"check_jmx --output=js{TAB}") == [["--output=json"]]


def test_files_and_folders_are_completed_where_they_are_meant(shell, tmp_path):
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "file of mine").write_text("")
    file, folder, key = shell.words(
        tmp_path,
        f"check_mysql_query --defaults-file some/f{TAB}",
        f"check_ndb_nodes --state-dir so{TAB}",
        f"check_jmx -K so{TAB}",
    )
    assert file == ["--defaults-file", "some/file of mine"]
    assert folder in (["--state-dir", "some/"], ["--state-dir", "some"])  # zsh takes a last slash back
    assert key == ["-K", "so"]  # a key within an attribute is no path of files


def test_a_plugin_is_completed_by_its_path_too(shell, tmp_path):
    assert shell.words(tmp_path, f"./check_jmx --tls-{TAB}") == [["--tls-registry"]]


def test_a_program_offers_its_ways_and_the_options_of_each(shell, tmp_path):
    for program in programs():
        home = tmp_path / program.name
        home.mkdir()
        first, *offered = shell.words(
            home, f"{program.name} {ALL}", *(f"{program.name} {way.name} --{ALL}" for way in program.ways)
        )
        assert {way.name for way in program.ways} == {word for word in first if word != "--help"}
        for way, words in zip(program.ways, offered, strict=True):
            assert sorted(set(words) - {way.name}) == sorted(option.long for option in way.options)


def test_files_of_readings_are_completed(shell, tmp_path):
    (tmp_path / "before.json").write_text("")
    words = shell.words(tmp_path, f"stallwatch-experiment compare be{TAB}")
    assert words == [["compare", "before.json"]]
