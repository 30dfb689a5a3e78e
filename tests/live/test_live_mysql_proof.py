"""MariaDB 11.4 proves, with what it knows of the account's password, that its certificate is its own."""

import contextlib
import socket
import ssl
import subprocess
import threading

import pytest
import software
from mariadb_of_maven import MariadbOfMaven
from stallwatch.deadline import Deadline
from stallwatch.sources import mysql


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server that has no certificate but the one that it makes itself."""
    try:
        with MariadbOfMaven(tmp_path_factory.mktemp("mariadb")) as started:
            yield started
    except software.Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def mon(server):
    """An account with a password."""
    return server.account("mon")


def log_in(port, account, mode="VERIFY_IDENTITY", **tls):
    """Log in over TLS; what went wrong, None: nothing did."""
    target = mysql.Target("127.0.0.1", port, None, *account, mysql.Tls(mode, **tls))
    try:
        with mysql.connect(target, Deadline(20), known=None) as found:
            assert found.rows("SHOW STATUS LIKE 'Ssl_version'")[0]["Value"].startswith("TLS")
            return None
    except mysql.UnreachableError as error:
        return error


@pytest.mark.parametrize("mode", ["VERIFY_IDENTITY", "VERIFY_CA", "REQUIRED", "PREFERRED"])
def test_its_certificate_is_its_own(mode, server, mon):
    assert log_in(server.port, mon, mode) is None


def test_nothing_proves_it_to_an_account_without_a_password(server):
    server.sql("CREATE OR REPLACE USER open@'%'")
    assert "is not to be trusted: self-signed" in log_in(server.port, ("open", "")).what
    assert log_in(server.port, ("open", ""), "REQUIRED") is None


def test_a_wrong_password_is_one(server, mon):
    assert "denied access to the user mon" in log_in(server.port, (mon.user, "wrong")).what


def test_an_authority_that_was_named_is_asked(server, mon):
    error = log_in(server.port, mon, ca="/etc/ssl/certs/ca-certificates.crt")
    assert "is not to be trusted" in error.what


@pytest.fixture
def middle(server, tmp_path):
    """The port of somebody who stands between us and the server, with another certificate, and reads all."""
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    ours, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ours.load_cert_chain(cert, key)
    theirs.check_hostname, theirs.verify_mode = False, ssl.CERT_NONE

    def pass_on(one, other):
        with contextlib.suppress(OSError):
            while octets := one.recv(65536):
                other.sendall(octets)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def stand_between(client):
        with contextlib.suppress(OSError), socket.create_connection((server.host, server.port)) as link:
            client.sendall(link.recv(65536))  # the greeting
            link.sendall(client.recv(36))  # the wish for TLS
            with (
                ours.wrap_socket(client, server_side=True) as inside,
                theirs.wrap_socket(link) as outside,
            ):
                threading.Thread(target=pass_on, args=(outside, inside), daemon=True).start()
                pass_on(inside, outside)

    def serve():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=stand_between, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("mode", ["VERIFY_IDENTITY", "VERIFY_CA", "REQUIRED", "PREFERRED"])
def test_somebody_in_between_has_no_proof(mode, middle, mon):
    error = log_in(middle, mon, mode)
    assert "has not proven that its certificate belongs to the server" in error.what
