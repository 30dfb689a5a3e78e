"""CHANGELOG, CONTRIBUTING and SECURITY against what there is: files, tests, privileges, what is installed."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "contrib" / "docs"
LARGEST = {"CHANGELOG.md": 6_000, "CONTRIBUTING.md": 12_000, "SECURITY.md": 4_000}  # bytes: read in full
CONTRIBUTING, SECURITY = ((ROOT / f"{name}.md").read_text() for name in ("CONTRIBUTING", "SECURITY"))
ARCHITECTURE, RELIABILITY = ((DOCS / f"{name}.md").read_text() for name in ("architecture", "reliability"))
PLACES = (ROOT, ROOT / "lib" / "stallwatch", ROOT / "lib" / "stallwatch" / "probes", ROOT / "tests" / "live")
PLACES += (ROOT / "lib" / "stallwatch" / "probes" / "replication_lag",)
EXAMPLE = re.compile(r"NAME|\*|^\.\./|^/|^~")  # what stands for many, or is not in the repository
CHANGES_NOTHING = {
    "REPLICATION CLIENT", "SLAVE MONITOR", "BINLOG MONITOR", "PROCESS", "SELECT", "SHOW VIEW",
}  # fmt: skip


def paths(text):
    """All that stands between backticks and looks like a file or folder of ours."""
    sentences = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    told = re.findall(r"`([\w.~*/-]+/[\w.*/-]*)`", sentences)
    return sorted({path for path in told if not EXAMPLE.search(path)})


@pytest.mark.parametrize("name", LARGEST)
def test_a_page_that_is_read_in_full_is_short(name):
    assert len((ROOT / name).read_bytes()) <= LARGEST[name]


@pytest.mark.parametrize("path", paths(CONTRIBUTING + SECURITY + ARCHITECTURE + RELIABILITY))
def test_every_path_leads_somewhere(path):
    assert any((place / path).exists() for place in PLACES), path


def test_modules_that_are_named_alone_are_somewhere():
    known = {path.name for folder in ("lib", "tests", "contrib") for path in (ROOT / folder).rglob("*.py")}
    assert set(re.findall(r"`(\w+\.py)`", CONTRIBUTING)) <= known


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_\w+)`", RELIABILITY + CONTRIBUTING))))
def test_every_test_that_is_named_is_there(name):
    files = [*(ROOT / "tests").rglob("test_*.py")]
    is_module = any(path.stem == name for path in files)
    assert is_module or any(f"def {name}(" in path.read_text() for path in files)


def test_no_privilege_of_the_account_changes_anything():
    grants = (ROOT / "contrib" / "mysql" / "grants.sql").read_text()
    granted = re.findall(r"GRANT ([A-Z ,]+) ON ", grants)
    assert granted
    assert {privilege for one in granted for privilege in one.split(", ")} <= CHANGES_NOTHING
    assert "WITH GRANT OPTION" not in grants


RECORDING = sorted((ROOT / "tests" / "live").glob("*_recording.py"))
RECORDING = [path for path in RECORDING if path.name != "mysql_recording.py"]  # which two of them use


@pytest.mark.parametrize("path", RECORDING, ids=lambda path: path.stem)
def test_each_script_that_records_shows_how_it_is_called_and_loads_so(path):
    script = f"tests/live/{path.name}"
    assert f".venv/bin/python {script}" in ast.get_docstring(ast.parse(path.read_text()))
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    load = f"import runpy, sys; sys.path[0] = 'tests/live'; runpy.run_path({script!r})"
    subprocess.run([sys.executable, "-c", load], cwd=ROOT, env=own, check=True)


def test_no_page_has_a_time_that_the_run_prints():
    commands = r"^.*make (?:unit|test|durations)\b(?!-).*$"
    lines = re.findall(commands, (ROOT / "README.md").read_text() + CONTRIBUTING, re.MULTILINE)
    assert lines
    assert [line for line in lines if "minute" in line] == []


def test_no_time_is_left_to_be_filled_in():
    assert not re.search(r"\bTIME-[A-Z]", (ROOT / "README.md").read_text() + CONTRIBUTING)


def test_no_address_is_made_up():
    assert not re.search(r"\w@\w|https?://", SECURITY)


def test_pages_that_the_readme_links_to_are_installed_beside_it():
    linked = re.findall(r"\]\((\w+\.md)\)", (ROOT / "README.md").read_text())
    script = (ROOT / "contrib" / "install-share").read_text()
    put = re.search(r"^put .*doc/stallwatch.*", script, re.MULTILINE)[0]
    packed = (ROOT / "MANIFEST.in").read_text()
    assert {"CONTRIBUTING.md", "SECURITY.md"} <= set(linked)
    for name in linked:
        assert f"../{name}" in put
        assert name in packed
