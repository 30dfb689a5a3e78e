"""Whoever takes the place of a stopped server is neither given the password nor believed."""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import software
from stallwatch.frame.options import jmx, mysql

ROOT = Path(__file__).parents[2]
SECRET = "Tr0ub4dor"
NAMESPACES = ["unshare", "--mount", "--net"]
LOG_IN = base64.b64encode(f"mon:{SECRET}".encode())  # as Jolokia gets it
NOT_SENT = "was not sent"
NOBODY, SYSTEM_ACCOUNT = 65534, 2  # "bin" everywhere


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """The thief's, which anybody can make."""
    folder = tmp_path_factory.mktemp("thief")
    folder.chmod(0o755)
    files = [str(folder / "cert.pem"), str(folder / "key.pem")]
    subprocess.run(
        [software.program("openssl", "openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes",
         "-days", "2", "-subj", "/CN=localhost", "-out", files[0], "-keyout", files[1]],
        check=True, capture_output=True,
    )  # fmt: skip
    return files


@pytest.fixture
def ask(certificate):
    """Run a plugin on this host while the thief is in that place. What came of it, and what he was told."""
    possible = os.geteuid() == 0 and shutil.which("unshare")
    if not possible or subprocess.run([*NAMESPACES, "true"], check=False).returncode:
        pytest.skip("no namespaces can be made here: unshare --mount --net needs root")

    def ask(where, method, plugin, *options, user=NOBODY):
        command = [sys.executable, str(ROOT / "plugins" / f"check_{plugin}"), "-H", "localhost", "-u", "mon"]
        done = subprocess.run(
            [*NAMESPACES, sys.executable, str(ROOT / "tests" / "hostile" / "thief.py"), where, str(user),
             method, *certificate, *command, "--no-state", *options],
            env=os.environ | {mysql.PASSWORD: SECRET, jmx.PASSWORD: SECRET},
            capture_output=True, check=False, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["errors"] == ""
        got = bytes.fromhex(told["got"])
        return told | {"stolen": SECRET.encode() in got or LOG_IN in got}

    return ask


@pytest.mark.parametrize("method", ["mysql_clear_password", "sha256_password", "caching_sha2_password"])
@pytest.mark.parametrize("plugin", ["mysql_query", "replication_lag"])
def test_a_socket_of_somebody_else(ask, method, plugin):
    told = ask("/mysqld", method, plugin)
    assert told["status"] == 3
    assert "of the user nobody listens at the socket /run/mysqld/mysqld.sock" in told["output"]
    assert told["got"] == ""


def test_a_socket_where_everybody_may_have_one(ask):
    told = ask("/tmp", "mysql_clear_password", "mysql_query")
    assert told["status"] == 2
    assert "the socket /run/mysqld/mysqld.sock cannot be used: No such file" in told["output"]
    assert told["got"] == ""


METHODS = [
    "mysql_clear_password", "dialog", "sha256_password", "caching_sha2_password", "mysql_native_password",
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_the_port_of_a_stopped_server(ask, method):
    told = ask("port", method, "mysql_query")
    assert told["status"] == 2
    assert "the socket /run/mysqld/mysqld.sock cannot be used: No such file" in told["output"]
    assert told["got"] == ""


@pytest.mark.parametrize("method", METHODS[:3])
def test_the_port_of_a_stopped_server_that_was_named(ask, method):
    told = ask("port", method, "mysql_query", "-P", "3306")
    assert told["status"] == 3
    assert f"({method}) over TLS whose certificate was not verified: it {NOT_SENT}" in told["output"]
    assert not told["stolen"]


NAMED = ("-P", "3306")
JOLOKIA = (*NAMED, "--via", "jolokia")
# Programs that ask for the readable password at a port of this host, and the options.
READABLE = [
    ("mysql_query", "caching_sha2_password", NAMED),
    ("mysql_query", "mysql_clear_password", (*NAMED, "--enable-cleartext-plugin")),
    ("jmx_thread_pools", "rmi", NAMED),
    ("jmx", "jolokia", (*JOLOKIA, "-O", "java.lang:type=Memory", "-A", "Verbose")),
]


@pytest.mark.parametrize(
    ("plugin", "method", "options"),
    [*READABLE, ("jmx_thread_pools", "rmi", (*NAMED, "--via", "jmxquery"))],
)
def test_a_port_of_this_host_where_a_user_listens_who_runs_no_server(ask, plugin, method, options):
    told = ask("port", method, plugin, *options)
    assert told["status"] == 3
    assert "the user nobody (no system account) listens at " in told["output"]
    assert f":3306: the password {NOT_SENT}" in told["output"]
    assert not told["stolen"]


@pytest.mark.parametrize(("plugin", "method", "options"), READABLE)
@pytest.mark.parametrize("user", [0, SYSTEM_ACCOUNT])
def test_a_port_of_this_host_where_a_system_account_runs_a_server(ask, plugin, method, options, user):
    assert ask("port", method, plugin, *options, user=user)["stolen"]


@pytest.mark.parametrize("method", ["rmi", "jolokia"])
def test_a_jvm_of_another_user_if_that_is_allowed(ask, method):
    options = NAMED if method == "rmi" else JOLOKIA
    assert ask("port", method, "jmx_thread_pools", *options, "--allow-cleartext")["stolen"]


# Starts a program as a user, then another one.
BESIDE = """
setpriv --reuid "$1" --clear-groups "$2" 600 &
until [ "$(cat /proc/$!/comm)" = mariadbd ]; do :; done
shift 2
exec "$@"
"""


@pytest.mark.parametrize(
    ("user", "status", "what"),
    [
        (NOBODY, 2, "runs on this host, mariadbd 2 belongs to the user nobody (no system account)"),
        (SYSTEM_ACCOUNT, 0, "mariadbd 2 up "),
    ],
)
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root, to be another user")
def test_a_process_that_is_only_called_a_server(strangers_home, tmp_path, user, status, what):
    (strangers_home / "mariadbd").symlink_to(shutil.which("sleep"))
    done = subprocess.run(
        ["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c", BESIDE, "sh", str(user),
         strangers_home / "mariadbd", sys.executable, ROOT / "plugins" / "check_mysqld_process",
         "--state-dir", tmp_path / "state"],
        capture_output=True, check=False, text=True,
    )  # fmt: skip
    assert what in done.stdout
    assert done.returncode == status
