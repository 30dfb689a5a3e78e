"""The page on other monitoring systems: plugins understand its commands, its script works."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from generators.plugins import plugins

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "contrib" / "docs" / "other-monitoring.md").read_text()
LOG = ROOT / "tests" / "recorded" / "ndb_log" / "R3_redo_throttled_abort.ndb_4_out.log"
SAMPLE = re.compile(
    r'(\w+)\{service="(\w+)",target="((?:[^"\\]|\\.)*)"(?:,label="([\w.]+)",unit="(\w*|%)")?\} ([\d.]+)'
)


def test_the_commands_of_the_page_are_understood_by_their_plugins():
    known = {plugin.program: plugin for plugin in plugins()}
    found = re.findall(r"/usr/lib/stallwatch/bin/(check_\w+) ([^\"\n]+)", PAGE)
    assert len(found) >= 5
    for name, options in found:
        known[name].parser.parse(shlex.split(options))


def textfile(directory, *command):
    script = next(text for text in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    (directory / "script").write_text(script)
    return subprocess.run(
        ["sh", directory / "script", "log4", *command],
        env={**os.environ, "TEXTFILES": str(directory)},
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )


@pytest.mark.skipif(not shutil.which("jq"), reason="needs jq")
def test_the_script_writes_state_and_numbers_for_node_exporter(tmp_path):
    log = tmp_path / 'a "quoted" name.ndb_4_out.log'
    shutil.copy(LOG, log)
    plugin = ROOT / "plugins" / "check_ndb_log"
    ran = textfile(tmp_path, sys.executable, plugin, "--whole", "--log", log, "--no-state")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    lines = (tmp_path / "stallwatch-log4.prom").read_text().splitlines()
    samples = [SAMPLE.fullmatch(line) for line in lines]
    assert all(samples), lines
    assert {sample[2] for sample in samples} == {"log4"}
    assert {sample[3] for sample in samples} == {str(log).replace('"', r"\"")}
    assert [sample[6] for sample in samples if sample[1] == "stallwatch_state"] == ["2"]
    values = {sample[4]: (sample[5], sample[6]) for sample in samples if sample[1] == "stallwatch_value"}
    assert len(values) == len(lines) - 1
    assert values["redo_lag"] == ("s", "5")


@pytest.mark.skipif(not shutil.which("jq"), reason="needs jq")
@pytest.mark.parametrize(
    "command",
    [
        ["/usr/lib/stallwatch/bin/check_that_is_missing"],
        ["sh", "-c", "kill -9 $$"],
        ["sh", "-c", """printf '{"state": "OK", "findings": ['; kill -9 $$"""],
        ["echo", "no module"],
        ["true"],
    ],
)
@pytest.mark.parametrize("old", ['stallwatch_state{service="log4",target="db1"} 0\n', None])
def test_a_check_that_cannot_run_is_unknown_for_node_exporter(tmp_path, command, old):
    """An empty file with a new date would alert nobody."""
    file = tmp_path / "stallwatch-log4.prom"
    if old:
        file.write_text(old)
    textfile(tmp_path, *command)
    assert file.read_text() == 'stallwatch_state{service="log4",target=""} 3\n'
    assert not file.with_suffix(".prom.new").exists()


@pytest.mark.skipif(not shutil.which("jq"), reason="needs jq")
def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    """So its age shows that the script does not work any more."""
    old, new = tmp_path / "stallwatch-log4.prom", tmp_path / "stallwatch-log4.prom.new"
    old.write_text("old")
    new.symlink_to("/dev/full")
    ran = textfile(tmp_path, "true")
    assert ran.returncode != 0
    assert old.read_text() == "old"
    assert not new.is_symlink()


def test_the_rules_of_the_page_alert_on_what_the_script_writes():
    assert re.search(r"expr: stallwatch_state == 3$", PAGE, re.MULTILINE)
    assert re.search(r"expr: time\(\) - node_textfile_mtime_seconds\{", PAGE)
