"""Whoever takes the place of a stopped MySQL server is neither given the password nor believed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import software
from stallwatch.frame.options.mysql import PASSWORD

ROOT = Path(__file__).parents[2]
SECRET = "Tr0ub4dor"
NAMESPACES = ["unshare", "--mount", "--net"]
NOT_SENT = "was not sent"


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

    def ask(where, method, plugin, *options):
        command = [sys.executable, str(ROOT / "plugins" / f"check_{plugin}"), "-H", "localhost", "-u", "mon"]
        done = subprocess.run(
            [*NAMESPACES, sys.executable, str(ROOT / "tests" / "hostile" / "thief.py"), where, method,
             *certificate, *command, "--no-state", *options],
            env=os.environ | {PASSWORD: SECRET}, capture_output=True, check=False, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert SECRET.encode() not in bytes.fromhex(told["got"])
        assert told["errors"] == ""
        return told

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
