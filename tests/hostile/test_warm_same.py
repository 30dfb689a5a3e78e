"""What a plugin prints and returns behind stallwatchd is what it prints and returns by itself.

As root, stallwatchd is confined as by the shipped unit.
"""

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import warm_daemon
from levels import representative
from loopback import serving
from subjects import BY_NAME, NETWORK, RECORDED, SECRET, SUBJECTS

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from asking_server import Asking, certificate

# What two runs of the same plugin may tell differently: durations, and quantities that change meanwhile.
NUMBER = re.compile(r"-?\d[\d.,]*( (?:ms|us|µs|s|min|h|d|KiB|MiB|GiB|TiB|B|%)\b)*")
NOW = re.compile(r"\b1\d{9}(\.\d+)?")  # in state files
APART = 1.1  # seconds between looks that make an interval
ANY = re.compile(r"N(?:[ \u2013]N)*")
BUSY = ("host", "mysqld_process", "bonding")  # what they see is never the same twice
WORDS = [("--help",), ("-V",), ("--bogus",), ("--timeout=never", "--output=json")]
STYLES = ((), ("-v",), ("--output", "json"), ("--output", "human", "-v"))
LOGS = sorted(path for path in (RECORDED / "ndb_log").glob("*.log") if path.stat().st_size < 1 << 16)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = (
        tmp_path_factory.getbasetemp()
    )  # where all tests have theirs: a check writes what --state-dir names
    with warm_daemon.running(folder / "warm", confined=not os.geteuid()) as running:
        yield running


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can confine it")
def test_it_is_confined(daemon):
    """It can write in its folder alone, and has no capability."""
    outcome = daemon.run("check_ndb_log", "--log", LOGS[0], "--state-dir", "/var/lib/stallwatch-elsewhere")
    assert outcome.warm
    assert "Read-only file system" in outcome.text
    for worker in daemon.workers:
        status = Path("/proc", str(worker.pid), "status").read_text()
        assert re.search(r"^CapEff:\s+0+$", status, re.MULTILINE)
        assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)


def undated(text):
    """Without the time of the run, which JSON has."""
    return re.sub(r'"time": "[^"]+"', "", text)


def told(text):
    found = ANY.sub("N", NUMBER.sub("N", text))
    return found.replace("N/s fill it in N", "N/s written")  # as it grows or not from look to look


def runs(daemon, plugin, *words, **more):
    """Outcomes behind stallwatchd, of which those on a busy machine may be cold."""
    for _ in range(10):
        yield daemon.run(plugin, *words, **more)


def both(daemon, plugin, *words, **more):
    """Outcomes of the plugin behind stallwatchd and by itself."""
    behind = next(run for run in runs(daemon, plugin, *words, **more) if run.warm)
    return behind, daemon.cold(plugin, *words, **more)


def same(daemon, plugin, *words, **more):
    """Assert that they are the same, byte by byte."""
    behind, alone = both(daemon, plugin, *words, **more)
    assert (behind.status, undated(behind.text)) == (alone.status, undated(alone.text))
    return behind


def in_turns(several, number):
    """Those of several plugins that a case of this number runs: without all cells every other one."""
    return [*several][number % representative(2, 1) :: representative(2, 1)]


@pytest.mark.parametrize("words", WORDS)
def test_what_needs_no_server(daemon, words):
    for name in in_turns(BY_NAME, WORDS.index(words)):
        same(daemon, f"check_{name}", *words)


@pytest.mark.parametrize("style", STYLES, ids=" ".join)
def test_a_dead_port(daemon, style):
    password = {f"STALLWATCH_{family}_PASSWORD": SECRET for family in ("MYSQL", "JMX")}
    for subject in in_turns(SUBJECTS, STYLES.index(style)):
        if subject.source in NETWORK:
            words = [word.format(host="127.0.0.1", port=9, user="monitor") for word in subject.arguments]
            behind, alone = both(daemon, f"check_{subject.plugin}", *words, *style, environment=password)
            assert (behind.status, told(behind.text)) == (alone.status, told(alone.text))
            assert SECRET not in behind.text


def of_logs():
    """Some of the logs, or all."""
    for number, log in enumerate(LOGS):
        marks = [pytest.mark.only_in_all_cells] if number % 12 else []
        yield pytest.param(log, marks=marks, id=log.stem)


@pytest.mark.parametrize("log", [*of_logs()])
def test_logs_and_the_state_that_is_kept(daemon, log, tmp_path):
    """Runs with states of their own print the same, again and again, and leave the same files."""
    folders = [tmp_path / "behind", tmp_path / "alone"]
    for style in STYLES:
        words = ("--log", log, "-t", "1m", *style, "--state-dir")
        behind = daemon.run("check_ndb_log", *words, folders[0])
        alone = daemon.cold("check_ndb_log", *words, folders[1])
        assert behind.status == alone.status
        assert undated(behind.text) == undated(alone.text.replace("/alone", "/behind"))
    behind, alone = ({path.name: path.read_text() for path in folder.iterdir()} for folder in folders)
    assert {name: NOW.sub("now", text) for name, text in behind.items()} == {
        name: NOW.sub("now", text) for name, text in alone.items()
    }


def test_backups(daemon):
    for folder in (RECORDED / "mysql_backup").iterdir():
        if folder.is_dir():
            behind, alone = both(daemon, "check_mysql_backup", "-d", folder, "--verify", "full")
            assert (behind.status, told(behind.text)) == (alone.status, told(alone.text))


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda one: one.plugin)
def test_a_healthy_server_and_one_that_refuses(daemon, subject, healthy, tmp_path):
    calm, place = healthy(subject)
    if subject.plugin == "bonding":
        pytest.skip("this kernel may have no bonds, and a plugin behind stallwatchd cannot be told of others")
    words = calm.command(place)[2:]
    states = [("--state-dir", str(tmp_path / one)) if subject.state else () for one in ("behind", "alone")]
    warm_ones = []
    for password in (place.password, "wrong"):
        given = {f"STALLWATCH_{family}_PASSWORD": password for family in ("MYSQL", "JMX")}
        for style in ((), ("-v",)):
            time.sleep(APART if style and subject.state else 0)  # or only one of them might have an interval
            behind, alone = (
                run(f"check_{subject.plugin}", *words, *style, *own, environment=given)
                for run, own in ((daemon.run, states[0]), (daemon.cold, states[1]))
            )
            warm_ones.append(behind.warm)
            assert behind.status == alone.status, (behind.text, alone.text)
            if subject.plugin not in BUSY:
                assert labels(behind.text) == labels(alone.text)
                assert told(first(behind.text)) == told(first(alone.text))
    again = (one.warm for one in runs(daemon, f"check_{subject.plugin}", *words, environment=given))
    assert any(warm_ones) or any(again)


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        ("check_mysql_query", ("-H", "127.0.0.1", "-P", "{port}", "--ssl-mode", "VERIFY_IDENTITY")),
        ("check_jmx", ("-U", "https://127.0.0.1:{port}/jolokia", "-O", "a:b=c", "-A", "d")),
    ],
    ids=["mysql", "jmx"],
)
def test_authorities_of_the_caller(daemon, plugin, words, tmp_path):
    """Whose certificates are trusted is up to SSL_CERT_FILE and SSL_CERT_DIR, which OpenSSL reads itself."""
    made = certificate(tmp_path, "authority")
    name = subprocess.check_output(["openssl", "x509", "-hash", "-noout", "-in", made.cert], text=True)
    (tmp_path / f"{name.strip()}.0").symlink_to(made.cert)
    of_mysql = Asking(tls=made)

    def play(connection, *_):
        with contextlib.suppress(OSError):
            if plugin == "check_jmx":
                of_mysql.tls.wrap_socket(connection, server_side=True).close()
            else:
                of_mysql(connection)

    trusting = [{"SSL_CERT_FILE": made.cert}, {"SSL_CERT_DIR": str(tmp_path)}]
    with serving(play) as (_, port):
        words = [word.format(port=port) for word in words]
        for environment in ({}, *trusting, {}):
            behind, alone = both(daemon, plugin, *words, "--no-state", environment=environment)
            assert (behind.status, told(behind.text)) == (alone.status, told(alone.text))
            assert ("not to be trusted" in behind.text) is (not environment), behind.text


def first(text):
    """The first line, without perfdata."""
    return text.partition("\n")[0].partition(" | ")[0]


def labels(text):
    """The labels of the perfdata."""
    found = re.findall(r"(?:^| )(\w[\w.]*)=", text.partition("\n")[0].partition(" | ")[2])
    return [one for one in found if one != "redo_time"]  # only where something was written


def test_surroundings_of_the_caller(daemon, tmp_path):
    """The directory, a variable and the zone are those of each caller, one after the other."""
    log = RECORDED / "ndb_log/E0_start_and_100s_quiet.ndb_4_out.log"
    (tmp_path / "node.log").write_text(log.read_text())
    words = ("--whole", "--log", "node.log")
    there = same(daemon, "check_ndb_log", *words, cwd=tmp_path)
    elsewhere = same(daemon, "check_ndb_log", *words, cwd="/")
    assert there.status == 0
    assert elsewhere.status == 3
    for zone in ("Asia/Kolkata", "UTC", "America/Lima"):
        same(daemon, "check_ndb_log", "-v", *words, cwd=tmp_path, environment={"TZ": zone})
    for folder in ("a", "b"):
        place = tmp_path / folder
        daemon.run("check_ndb_log", "--log", log, environment={"STATE_DIRECTORY": str(place)})
        assert list(place.iterdir())
