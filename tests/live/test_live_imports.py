"""A plugin loads what it needs for what it does, module by module: each costs every check its time.

The lists hold for CPython 3.11 to 3.13. What is ours or of others is loaded as listed. Of Python itself
it may be less, as one version needs what another does not, and only public modules count: what private ones
they are made of, and what parts of a package, is up to the version. NEVER names private ones too.
"""

import os
import subprocess
import sys

import pytest
from load_checks import OK, UNKNOWN, WARNING, Asked, of_java, of_sql
from loaded_modules import NOTING, differences, listed, may_load, noted, write
from loopback import free_port
from plugin_command import PLUGINS, environment
from replication_stories import lag
from replication_writer import Writer

ANEW = "STALLWATCH_RECORD=1 .venv/bin/python -m pytest tests/live/test_live_imports.py"
ALL = sorted(path.name for path in PLUGINS.glob("check_*"))
SAID_AT_ONCE = {"version": "--version", "help": "--help", "usage_error": "--no-such-option"}
ON_SQL = (
    "check_replication_lag", "check_mysql_status", "check_mysql_query", "check_innodb_redo_log",
    "check_innodb_buffer_pool",
)  # fmt: skip
# What is large, and none of these runs has a use for; whatever the lists say. _hashlib and _ssl load OpenSSL.
NEVER = {
    "_datetime", "_decimal", "_hashlib", "_ssl", "configparser", "cryptography", "dataclasses", "datetime",
    "decimal", "gettext", "inspect", "jmxquery", "locale", "logging", "psutil", "socket", "ssl", "subprocess",
    "tempfile", "traceback", "typing",
}  # fmt: skip
PSUTIL = {"_datetime", "datetime", "locale", "psutil", "socket", "subprocess"}  # with what it loads itself


@pytest.fixture
def notes(tmp_path):
    """Where a run notes what it loads."""
    return tmp_path / "notes"


def holds(case, loaded, needed=frozenset()):
    """Whether that is what the list of a case says; where STALLWATCH_RECORD is set, the list is made so."""
    never = NEVER - needed
    large = [f"{plugin} loads {name}" for plugin, names in loaded.items() for name in sorted(names & never)]
    assert not large, "\n".join(large)
    loaded = {plugin: listed(names) for plugin, names in loaded.items()}
    if "STALLWATCH_RECORD" in os.environ:
        write(case, loaded)
    found = [*differences(case, loaded)]
    assert not found, "\n".join([*found, f"If that is meant, write the lists anew: {ANEW}"])


def ordinary(asked, home, notes, check):
    """What a run loads that is not the first of its kind, and finds that all is well."""
    asked.run(home, check)
    said = asked.run(home, check, through=(NOTING, notes))
    assert (said.status, said.errors) == (OK, ""), said
    return noted(notes)


@pytest.mark.parametrize("case", SAID_AT_ONCE)
def test_what_is_said_at_once(case, tmp_path, notes):
    loaded = {}
    for plugin in ALL:
        command = [sys.executable, "-c", NOTING, notes, PLUGINS / plugin, SAID_AT_ONCE[case]]
        done = subprocess.run(
            command, env=environment(tmp_path), capture_output=True, check=False, timeout=60
        )
        assert (done.returncode, done.stderr) == (UNKNOWN, b""), done.stdout
        loaded[plugin] = noted(notes)
    holds(case, loaded)


@pytest.mark.parametrize("check", ["check_jmx", "check_mysql_query", "check_replication_lag"])
def test_a_refused_connection(check, tmp_path, notes):
    said = Asked("127.0.0.1", free_port("127.0.0.1")).run(tmp_path, check, through=(NOTING, notes))
    assert "refused the connection" in said.output
    holds(f"refused_{check.removeprefix('check_')}", {check: noted(notes)})


@pytest.mark.parametrize("check", ON_SQL)
def test_a_healthy_mariadb(check, running_pair, tmp_path, notes):
    pair = running_pair("mariadb")
    pair.heal()
    asked = of_sql("mariadb", pair.replica)
    holds(f"ok_{check.removeprefix('check_')}", {check: ordinary(asked, tmp_path, notes, check)})


@pytest.mark.slow("a replica has to lag 9 s")
def test_a_lagging_replica(running_pair, tmp_path, notes):
    """Its causes are searched for, also on the host: psutil reads how busy the disk is."""
    check = "check_replication_lag"
    pair = running_pair("mariadb")
    pair.heal()
    asked = of_sql("mariadb", pair.replica)
    asked.run(tmp_path, check)
    with Writer(pair) as writer, pair.replica.session() as sql:
        sql("FLUSH TABLES WITH READ LOCK")
        lag(pair, writer, 9)
        said = asked.run(tmp_path, check, "-w", "5", through=(NOTING, notes))
    assert (said.status, said.errors) == (WARNING, ""), said
    loaded = {name for name in noted(notes) if not name.startswith("psutil._")}  # which differ by version
    holds("lags_replication_lag", {check: loaded}, needed=PSUTIL)


def test_a_healthy_jvm(jvm, tmp_path, notes):
    holds("ok_jmx", {"check_jmx": ordinary(of_java(jvm), tmp_path, notes, "check_jmx")})


def test_a_private_module_of_openssl_is_seen(tmp_path, notes):
    program = tmp_path / "program"
    program.write_text("import _hashlib, _ssl\n")
    subprocess.run([sys.executable, "-c", NOTING, notes, program], check=True, timeout=60)
    with pytest.raises(AssertionError, match=r"check_jmx loads _hashlib\n.*check_jmx loads _ssl\n"):
        holds("version", {"check_jmx": noted(notes)})


def test_what_is_new_or_gone_is_named():
    without = {*may_load("version", "check_jmx")} - {"stallwatch.frame.check"}
    assert [*differences("version", {"check_jmx": without | {"stallwatch.news", "csv"}})] == [
        "check_jmx loads what is not in version.txt: csv, stallwatch.news",
        "check_jmx does not load what is in version.txt: stallwatch.frame.check",
    ]
