"""No password for a server that nobody knows, whatever method it asks for."""

import contextlib
import fcntl
import os
import socket
from contextlib import nullcontext

import asking_server
import pytest
from asking_server import (
    CACHING,
    CLEAR,
    DENIED,
    DIALOG,
    FAST,
    FULL,
    KEY,
    MARIADB,
    MYSQL,
    NATIVE,
    OLD_MARIADB,
    READABLE,
    SHA256,
    Asking,
    listening,
    proof,
    readable,
)  # fmt: skip
from mysql_bytes import OK
from stallwatch.deadline import Deadline
from stallwatch.findings import State
from stallwatch.frame.state import memory
from stallwatch.memory import Memory
from stallwatch.sources import mysql
from stallwatch.sources.mysql.sockets import is_silent

PASSWORD = b"geheim"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """The server's."""
    return asking_server.certificate(tmp_path_factory.mktemp("server"), "db1")


@pytest.fixture(scope="module")
def other_certificate(tmp_path_factory):
    """Somebody else's."""
    return asking_server.certificate(tmp_path_factory.mktemp("other"), "db1")


@pytest.fixture
def known(tmp_path):
    """What is remembered of servers, in a folder of this test."""

    def known(account, *, wait):
        deadline = Deadline(8 if wait else 0)
        identity = {**account, "name": "mysql_server"}
        return memory(identity, str(tmp_path / "state"), deadline, [], unchanged=False)

    return known


def log_in(asking, known=None, mode="PREFERRED", where=None, **more):
    """Log in there. What went wrong, None: nothing did; ``where``: what is remembered is of that server."""
    ca = more.pop("ca", None)
    with listening(asking) as port:
        target = mysql.Target(
            "127.0.0.1", port, user="mon", password=PASSWORD.decode(), tls=mysql.Tls(mode, ca=ca), **more
        )
        place = {"target": where} if where else {}

        def there(account, *, wait):
            return known(account | place, wait=wait)

        try:
            with mysql.connect(target, Deadline(8), known=known and there):
                return None
        except mysql.UnreachableError as error:
            return error


# a method that sends the password readable


@pytest.mark.parametrize("mode", ["PREFERRED", "REQUIRED"])
@pytest.mark.parametrize("method", READABLE)
def test_not_over_tls_that_was_not_verified(method, mode, certificate):
    for greeted in {NATIVE, method}:
        asking = Asking(method=greeted, then=method, tls=certificate)
        error = log_in(asking, mode=mode)
        assert not readable(asking.got, PASSWORD), (greeted, asking.got)
        assert f"readable password of the user mon ({method.decode()}) over TLS whose cert" in error.what
        assert error.what.endswith(": it was not sent")
        assert "--ssl-mode VERIFY_CA --ssl-ca FILE" in error.advice
        assert "--enable-cleartext-plugin" in error.advice


@pytest.mark.parametrize("method", [CLEAR, DIALOG])
def test_not_without_tls(method):
    asking = Asking(then=method)
    error = log_in(asking)
    assert not readable(asking.got, PASSWORD)
    assert f"password of the user mon ({method.decode()}) without TLS: it was not sent" in error.what


def test_sha256_password_that_a_server_greets_with_is_no_password_for_it(certificate):
    asking = Asking(method=SHA256, answers=(DENIED,), tls=certificate)
    assert "denied access" in log_in(asking).what
    assert not readable(asking.got, PASSWORD)


def test_an_account_of_another_method_on_a_server_with_sha256_password(certificate):
    assert log_in(Asking(method=SHA256, then=NATIVE, tls=certificate)) is None


@pytest.mark.parametrize("method", [CLEAR, SHA256])
def test_over_tls_that_was_verified(method, certificate):
    asking = Asking(then=method, tls=certificate)
    assert log_in(asking, mode="VERIFY_IDENTITY", ca=certificate.cert) is None
    assert readable(asking.got, PASSWORD)


@pytest.mark.parametrize("tls", [True, False])
def test_where_the_user_allows_it(tls, certificate):
    asking = Asking(then=CLEAR, tls=certificate if tls else None)
    assert log_in(asking, cleartext=True) is None
    assert readable(asking.got, PASSWORD)


# caching_sha2_password


def full(certificate):
    """A server that wants all of the password."""
    return Asking(method=CACHING, answers=(FULL, OK), tls=certificate)


def fast(certificate):
    """One that knows it still."""
    return Asking(method=CACHING, answers=(FAST, OK), tls=certificate)


def native(certificate):
    """One whose account has another method."""
    return Asking(tls=certificate)


@pytest.mark.parametrize("first", [full, fast, native])
def test_another_certificate_gets_no_password(first, certificate, other_certificate, known, tmp_path):
    assert log_in(first(certificate), known, where="db1") is None
    again = full(certificate)
    assert log_in(again, known, where="db1") is None
    assert readable(again.got, PASSWORD)

    stranger = full(other_certificate)
    error = log_in(stranger, known, where="db1")
    assert not readable(stranger.got, PASSWORD)
    assert "shows another certificate than at its first use: the password was not sent" in error.what
    (file,) = (tmp_path / "state").glob("mysql_server-*.json")
    assert f"remove {file}" in error.advice
    assert "--ssl-mode VERIFY_CA" in error.advice

    assert log_in(full(other_certificate), known, where="db2") is None  # a server of its own
    file.unlink()
    assert log_in(full(other_certificate), known, where="db1") is None


def test_another_certificate_is_no_matter_where_no_password_goes(certificate, other_certificate, known):
    assert log_in(full(certificate), known, where="db1") is None
    assert log_in(fast(other_certificate), known, where="db1") is None
    assert log_in(full(certificate), known, where="db1") is None  # the first one holds


def test_each_user_has_a_first_use(certificate, other_certificate, known):
    assert log_in(full(certificate), known, where="db1") is None
    assert "another certificate" in log_in(full(other_certificate), known, where="db1").what

    def of_another(account, *, wait):
        return known(account | {"user": "another"}, wait=wait)

    assert log_in(full(other_certificate), of_another, where="db1") is None


def test_a_certificate_that_was_verified_is_not_remembered(certificate, known, tmp_path):
    assert log_in(full(certificate), known, mode="VERIFY_CA", ca=certificate.cert) is None
    assert not (tmp_path / "state").exists()


def test_where_nothing_can_be_remembered(certificate, tmp_path):
    place = tmp_path / "file"
    place.touch()

    def known(account, *, wait):
        return memory(account | {"name": "mysql_server"}, str(place), Deadline(8 if wait else 0), [])

    asking = full(certificate)
    error = log_in(asking, known)
    assert not readable(asking.got, PASSWORD)
    assert f"is not known ({place} cannot be made: File exists): it was not sent" in error.what
    assert error.advice.startswith("remove that file if it is damaged, or name another --state-dir, or ")
    assert log_in(fast(certificate), known) is None  # that takes no password


def test_a_memory_that_cannot_be_written_or_is_damaged(certificate, known, tmp_path, monkeypatch):

    assert log_in(fast(certificate), known, where="db1") is None
    (file,) = (tmp_path / "state").glob("mysql_server-*.json")
    file.write_text("{")
    asking = full(certificate)
    assert f"is not known ({file} is damaged): it was not sent" in log_in(asking, known, where="db1").what
    assert not readable(asking.got, PASSWORD)
    file.unlink()

    def replace(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("stallwatch.frame.state.os.replace", replace)
    assert "No space left on device): it was not sent" in log_in(asking, known, where="db1").what
    assert not readable(asking.got, PASSWORD)


def test_a_memory_that_another_run_holds(certificate, known, tmp_path, monkeypatch):
    assert log_in(fast(certificate), known, where="db1") is None
    (lock,) = (tmp_path / "state").glob("mysql_server-*.lock")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with monkeypatch.context() as patch:
            patch.setattr("time.sleep", lambda _: pytest.fail("it waits"))
            assert log_in(fast(certificate), known, where="db1") is None  # nothing is sent: nobody waits
        asking = full(certificate)

        def at_once(account, *, wait):
            return known(account, wait=False)

        assert "another run of this check" in log_in(asking, at_once, where="db1").what
        assert not readable(asking.got, PASSWORD)


def test_nothing_is_to_be_remembered(certificate, other_certificate):
    for one in (certificate, other_certificate):  # --no-state
        assert log_in(full(one), lambda _, wait: nullcontext(Memory()), where="db1") is None


def test_a_key_that_nothing_came_of_is_not_remembered(known, tmp_path):
    asking = Asking(method=CACHING, answers=(FULL, b"\1junk", DENIED))
    assert log_in(asking, known, where="db1") is not None
    assert not [*(tmp_path / "state").glob("mysql_server-*.json")]


def test_another_public_key_gets_no_password(known, monkeypatch, tmp_path):
    from stallwatch.startup import pymysql as protocol

    monkeypatch.setattr(protocol._auth, "sha2_rsa_encrypt", lambda *_: b"encrypted")
    shown = b"\1" + KEY
    asking = Asking(method=CACHING, answers=(FULL, shown, OK))
    assert log_in(asking, known, where="db1") is None
    assert asking.got.endswith(b"\2encrypted")
    stranger = Asking(method=CACHING, answers=(FULL, shown.replace(b"AAAA", b"BBBB"), OK))
    error = log_in(stranger, known, where="db1")
    assert stranger.got.endswith(b"\2")
    assert "shows another public key than at its first use" in error.what

    other = asking_server.certificate(tmp_path, "other")
    in_tls = full(other)
    assert "uses TLS, which it did not use at its first use" in log_in(in_tls, known, where="db1").what
    assert not readable(in_tls.got, PASSWORD)
    assert log_in(fast(other), known, where="db2") is None
    without = Asking(method=CACHING, answers=(FULL, shown, OK))
    assert "does not use TLS, which it used at its first use" in log_in(without, known, where="db2").what
    error = log_in(without, known, mode="DISABLED", where="db2")
    assert "may not use TLS (--ssl-mode DISABLED), which it used at its first use" in error.what
    assert error.advice.startswith("use TLS, or, if the server no longer has it, remove ")
    denied = Asking(method=CACHING, answers=(FULL, DENIED))
    error = log_in(denied, mode="DISABLED", server_key=KEY)
    assert error.advice.startswith("check the password and --server-public-key-path, ")
    assert not without.got.endswith(b"encrypted")

    named = Asking(method=CACHING, answers=(FULL, OK))
    assert log_in(named, known, where="db1", server_key=KEY) is None
    assert named.got.endswith(b"encrypted")
    assert not named.got.endswith(b"\2encrypted")  # it was not asked for
    more = Asking(then=SHA256, answers=(shown.replace(b"AAAA", b"BBBB"), OK))
    assert "another public key than --server-public-key-path" in log_in(more, server_key=KEY).what
    assert more.got.count(b"encrypted") == 1


def test_a_file_that_is_none_is_no_trouble_of_the_server(certificate):
    error = log_in(fast(certificate), mode="VERIFY_CA", ca="/nowhere/ca.pem")
    assert error.state is State.UNKNOWN
    assert error.what.startswith("--ssl-ca /nowhere/ca.pem: No such file")


# MariaDB's proof

OTHER = b"\1" * 32


@pytest.mark.parametrize("mode", ["VERIFY_CA", "VERIFY_IDENTITY"])
@pytest.mark.parametrize("then", [None, NATIVE])
def test_a_mariadb_that_proves_its_certificate(mode, then, certificate):
    seed = asking_server.NONCE if then else asking_server.SEED
    asking = Asking(
        MARIADB, method=CACHING if then else NATIVE, then=then, tls=certificate,
        answers=(proof(PASSWORD, certificate.digest, seed),),
    )  # fmt: skip
    assert log_in(asking, mode=mode) is None


NOT_PROVEN = "has not proven that its certificate belongs to the server"


@pytest.mark.parametrize(
    "last", [OK, proof(PASSWORD, OTHER), proof(b"guessed", OTHER), OK + b"A\1" + b"0" * 63 + b"x"]
)
def test_one_that_does_not(last, certificate):
    assert NOT_PROVEN in log_in(Asking(MARIADB, tls=certificate, answers=(last,)), mode="VERIFY_CA").what


def test_a_wrong_proof_is_always_wrong(certificate):
    asking = Asking(MARIADB, tls=certificate, answers=(proof(PASSWORD, OTHER),))
    assert NOT_PROVEN in log_in(asking).what
    assert log_in(Asking(MARIADB, tls=certificate, answers=(proof(PASSWORD, certificate.digest),))) is None


@pytest.mark.parametrize("version", [MYSQL, OLD_MARIADB])
def test_no_other_server_can_prove_it(version, certificate):
    asking = Asking(version, tls=certificate, answers=(proof(PASSWORD, certificate.digest),))
    assert "is not to be trusted: self-signed certificate" in log_in(asking, mode="VERIFY_CA").what
    assert asking.got == b""


def test_an_authority_that_was_named_is_asked(certificate, other_certificate):
    asking = Asking(MARIADB, tls=certificate, answers=(proof(PASSWORD, certificate.digest),))
    error = log_in(asking, mode="VERIFY_CA", ca=other_certificate.cert)
    assert "is not to be trusted" in error.what


@pytest.mark.parametrize("cleartext", [False, True])
@pytest.mark.parametrize("greeted", [True, False])
@pytest.mark.parametrize("method", [*READABLE, CACHING])
def test_a_proof_that_is_still_to_come_lets_no_password_out(method, greeted, cleartext, certificate, known):
    asking = Asking(
        MARIADB, method=method if greeted else NATIVE, then=None if greeted else method, tls=certificate,
        answers=(FULL, OK),
    )  # fmt: skip
    error = log_in(asking, known, mode="VERIFY_IDENTITY", cleartext=cleartext)
    assert not readable(asking.got, PASSWORD)
    assert error is not None
    if not greeted:
        assert f"is self-signed, and the method {method.decode()} cannot prove it here" in error.what


# sockets that were found

NOBODY = 65534


@contextlib.contextmanager
def local(asking, path, uid=None):
    """A process of that user that listens at a socket, whose folder is root's."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        os.chmod(path, 0o777)
        ready, listens = os.pipe()
        if not (pid := os.fork()):
            try:
                if uid is not None:
                    os.setresuid(uid, uid, uid)
                listener.listen()
                os.write(listens, b"!")
                while True:
                    peer, _ = listener.accept()
                    with contextlib.suppress(OSError):
                        asking(peer)
            finally:
                os._exit(0)
        os.read(ready, 1)
        try:
            yield pid
        finally:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            os.close(ready)
            os.close(listens)


def log_in_locally(path, **more):
    """Log in at a socket. What went wrong, None: nothing did."""
    target = mysql.Target(socket=str(path), user="mon", password=PASSWORD.decode(), **more)
    try:
        with mysql.connect(target, Deadline(8), known=None):
            return None
    except mysql.UnreachableError as error:
        return error


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_socket_that_was_found_and_is_somebody_elses(tmp_path):
    path = tmp_path / "mysqld.sock"
    with local(Asking(then=CLEAR), path, NOBODY) as pid:
        error = log_in_locally(path, found=True)
        assert error.what.startswith(f"process {pid} (")
        assert f"of the user nobody listens at the socket {path}, none of root, mysql" in error.what
        assert "-S" in error.advice
        assert log_in_locally(path) is None  # named by the user


def test_a_socket_that_was_found_where_everybody_may_have_one(tmp_path):
    path = tmp_path / "mysqld.sock"
    tmp_path.chmod(0o1777)
    with local(Asking(then=CLEAR), path):
        assert "was not used: everybody can write to its folder" in log_in_locally(path, found=True).what
        assert log_in_locally(path) is None


def test_a_socket_that_was_found_and_is_ours(tmp_path):
    path = tmp_path / "mysqld.sock"
    with local(Asking(then=CLEAR), path):
        assert log_in_locally(path, found=True) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_a_socket_that_was_found_and_is_of_the_owner_of_its_folder(tmp_path):
    path = tmp_path / "mysqld.sock"
    os.chown(tmp_path, NOBODY, -1)
    with local(Asking(then=CLEAR), path, NOBODY):
        assert log_in_locally(path, found=True) is None


def test_a_look_at_a_server_ends_where_no_time_is_left():
    class Peer:
        def __init__(self):
            self.waits = None
            self.deadline = Deadline(0)

        def settimeout(self, seconds):
            self.waits = seconds

        def recv(self, *_):
            if self.waits:
                raise TimeoutError
            raise BlockingIOError

    assert is_silent(Peer())
