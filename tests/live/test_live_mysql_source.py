"""Logging in at real servers, asking them, and what they say when they do not want to."""

import contextlib
import re
import subprocess
import time

import loopback
import pytest
import software
from mariadb import Mariadb
from mysql_server import Mysql
from stallwatch.deadline import Deadline
from stallwatch.sources import mysql

SLACK = 30
KINDS = {"mariadb": Mariadb, "mysql": Mysql}


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return str(cert), str(key)


@pytest.fixture(scope="module")
def started(tmp_path_factory, certificate):
    """Gives the server of that kind, one for this module: with TLS, which no other test needs."""
    cert, key = certificate
    running = {}
    with contextlib.ExitStack() as each:

        def server(kind):
            if kind not in running:
                tls = {"ssl_ca": cert, "ssl_cert": cert, "ssl_key": key}
                try:
                    running[kind] = each.enter_context(KINDS[kind](tmp_path_factory.mktemp(kind), **tls))
                except software.Missing as missing:
                    pytest.skip(str(missing))
            return running[kind]

        yield server


@pytest.fixture(params=KINDS)
def server(request, started):
    """A server of either kind, with TLS."""
    return started(request.param)


@pytest.fixture
def target(server):
    """Where it is, for an account: target(account, socket=…, tls=…)."""

    def at(account, **more):
        return mysql.Target(server.host, server.port, **account._asdict() | more)

    return at


@pytest.fixture
def mon(server):
    """An account that may look at processes."""
    return server.account("mon", "PROCESS")


def connect(target, seconds=10):
    return mysql.connect(target, Deadline(seconds), known=None)


def refusal(target, seconds=10):
    """Why one cannot log in, in the sentence and in advice."""
    begun = time.perf_counter()
    with pytest.raises(mysql.UnreachableError) as raised:
        connect(target, seconds)
    assert time.perf_counter() - begun < seconds + SLACK
    assert "secret" not in f"{raised.value.what} {raised.value.advice}"
    return raised.value


def wait_for(condition):
    """Until it holds."""
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


def about_tls(server):
    """The cipher of a connection, "" without TLS."""
    return server.rows("SHOW SESSION STATUS LIKE 'Ssl_cipher'")[0]["Value"]


# logging in


def test_over_tcp_it_is_tls_where_the_server_has_it(server, target, mon):
    traced = []
    with mysql.connect(target(mon), Deadline(10), None, traced.append) as found:
        assert about_tls(found)
        assert found.where == f"127.0.0.1:{server.port}"
        assert found.local
        name = "MariaDB" if isinstance(server, Mariadb) else "MySQL"
        assert found.flavour.name == name
        assert found.flavour.version > (9, 0, 0)
        assert found.flavour.mariadb == (name == "MariaDB")
    assert f"logged in at {found.where} in TLS as mon@%: {found.flavour.text}, in " in "\n".join(traced)


def test_over_the_socket_it_is_never_tls(server, target, mon):
    for mode in ("PREFERRED", "VERIFY_IDENTITY"):
        with connect(target(mon, socket=server.socket, tls=mysql.Tls(mode))) as found:
            assert about_tls(found) == ""
            assert found.local
            assert found.where == server.socket


def test_modes_of_tls(target, mon, certificate):
    with connect(target(mon)):  # from now on MySQL knows the password
        pass
    with connect(target(mon, tls=mysql.Tls("DISABLED"))) as found:
        assert about_tls(found) == ""
    for mode in ("REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY"):
        with connect(target(mon, tls=mysql.Tls(mode, ca=certificate[0]))) as found:
            assert about_tls(found)


def test_a_certificate_that_is_not_to_be_trusted(server, target, mon, certificate):
    found = refusal(target(mon, tls=mysql.Tls("VERIFY_CA")))
    where = f"127.0.0.1:{server.port}"
    assert found.what.startswith(f"the certificate of {where} is not to be trusted: self")
    assert found.advice == "give the certificate of its authority with --ssl-ca"
    other = target(mon, tls=mysql.Tls("VERIFY_IDENTITY", ca=certificate[0]))._replace(host="localhost")
    found = refusal(other)
    assert "Hostname mismatch" in found.what
    assert found.advice == "give the host as its certificate names it, or --ssl-mode VERIFY_CA"


def test_files_for_tls_that_cannot_be_used(target, mon, tmp_path, certificate):
    empty, none = tmp_path / "empty", str(tmp_path / "none")
    empty.write_text("")
    assert (
        refusal(target(mon, tls=mysql.Tls("VERIFY_CA", ca=none))).what
        == f"--ssl-ca {none}: No such file or directory"
    )
    assert (
        "no certificate in PEM form" in refusal(target(mon, tls=mysql.Tls("VERIFY_CA", ca=str(empty)))).what
    )
    assert "no certificate in PEM form" in refusal(target(mon, tls=mysql.Tls(cert=certificate[0]))).what


def test_an_account_that_takes_tls_or_a_certificate(server, target, certificate):
    account = server.account("careful")
    cert, key = certificate
    server.sql("ALTER USER careful REQUIRE SSL")
    with connect(target(account)):
        pass
    found = refusal(target(account, tls=mysql.Tls("DISABLED")))
    assert "denied access to the user careful from 127.0.0.1" in found.what
    assert "REQUIRE SSL takes TLS" in found.advice
    server.sql("ALTER USER careful REQUIRE X509")
    assert "denied access" in refusal(target(account)).what
    with connect(target(account, tls=mysql.Tls("REQUIRED", cert=cert, key=key))):
        pass


@pytest.mark.own_server("it has no TLS, and ends")
def test_a_server_without_tls_and_then_no_server(tmp_path, started):
    started("mariadb")  # it can be installed
    with Mariadb(tmp_path / "plain") as plain:
        account = plain.account("mon")
        target = mysql.Target(plain.host, plain.port, **account._asdict())
        with connect(target) as found:
            assert about_tls(found) == ""
        found = refusal(target._replace(tls=mysql.Tls("REQUIRED")))
        assert found.what == f"127.0.0.1:{plain.port} has no TLS: nothing was sent"
    wait_for(lambda: not loopback.listens(plain.port))
    assert refusal(target).what == f"127.0.0.1:{plain.port} refused the connection"


def test_a_wrong_password_no_password_an_unknown_user(server, target, mon):
    where = f"127.0.0.1:{server.port}"
    for more in ({}, {"tls": mysql.Tls("DISABLED")}, {"socket": server.socket}):
        found = refusal(target(mon, password="wrong secret", **more))
        place = more.get("socket") or where
        if found.number:
            host = "localhost" if more.get("socket") else "127.0.0.1"
            assert found.what == f"{place} denied access to the user mon from {host}"
            assert found.number == 1045
        else:
            assert "without TLS (caching_sha2_password): the password is wrong, or" in found.what
    found = refusal(target(mon, password=None))
    assert found.what == f"{where} denied access to the user mon from 127.0.0.1 without a password"
    found = refusal(target(mon, user="nobody"))
    asked_for = "asks for the readable password of the user nobody (sha256_password)"  # MySQL's decoy
    assert "denied access to the user nobody" in found.what or asked_for in found.what
    assert asked_for not in found.what or found.advice.startswith("check that there is such a user")


def test_a_password_that_mysql_does_not_know_yet(started):
    server = started("mysql")
    account = server.account("forgotten")
    server.sql("FLUSH PRIVILEGES")
    target = mysql.Target(server.host, server.port, **account._asdict(), tls=mysql.Tls("DISABLED"))
    try:
        import cryptography  # noqa: F401
    except ImportError:
        found = refusal(target)
        assert "takes Python's cryptography" in found.what
        assert "EXTRAS=rsa" in found.advice
    else:
        with connect(target):
            pass


def test_odd_names_and_passwords(server, target):
    for password in ("p\u00e4ss \u2713", "it's \"#\\", "x" * 80):
        account = server.account("m\u00f6n")._replace(password=password)
        server.sql("ALTER USER 'm\u00f6n'@'%%' IDENTIFIED BY %s", password)
        with connect(target(account)) as found:
            assert found.rows("SELECT CURRENT_USER() AS u") == [{"u": "m\u00f6n@%"}]


def test_an_account_that_is_locked_or_has_to_change_its_password(server, target):
    account = server.account("locked")
    server.sql("ALTER USER locked ACCOUNT LOCK")
    assert refusal(target(account)).what.endswith(" has locked the account of the user locked")
    server.sql("ALTER USER locked ACCOUNT UNLOCK PASSWORD EXPIRE")
    assert refusal(target(account)).what.endswith(" wants the user locked to change the password")


def test_too_many_connections(server, target, mon):
    server.sql("ALTER USER mon WITH MAX_USER_CONNECTIONS 1")
    with connect(target(mon)):
        assert refusal(target(mon)).what.endswith(" has no connection left for the user mon")
    server.sql("ALTER USER mon WITH MAX_USER_CONNECTIONS 0")
    server.sql("SET GLOBAL max_connections = 10")
    try:
        with contextlib.ExitStack() as held:
            for _ in range(10):
                held.enter_context(connect(target(mon)))
            found = refusal(target(mon))
            assert found.what.endswith(" has no connection left (Too many connections)")
            assert found.number == 1040
    finally:
        server.sql("SET GLOBAL max_connections = 60")


def test_a_server_that_takes_nobody_without_tls(server, target, mon):
    with connect(target(mon)):
        pass
    server.sql("SET GLOBAL require_secure_transport = ON")
    try:
        found = refusal(target(mon, tls=mysql.Tls("DISABLED")))
        if isinstance(server, Mysql):
            assert found.what.endswith(" allows no log-in without TLS (require_secure_transport)")
        else:  # it says no more than of a wrong password
            assert "REQUIRE SSL takes TLS" in found.advice
        with connect(target(mon)):
            pass
    finally:
        server.sql("SET GLOBAL require_secure_transport = OFF")


# asking


def test_values(target, mon):
    with connect(target(mon)) as found:
        (row,) = found.rows(
            "SELECT 1 AS i, -1.5 AS d, 1e3 AS f, 'm\u00f6\u2713\U0001f600' AS t, NULL AS n, "
            "x'41ff' AS b, CAST('2026-01-02 03:04:05.678' AS DATETIME(3)) AS m, "
            "18446744073709551615 AS u, %s AS a, '%%' AS p",
            "it's",
        )
    expected = {
        "i": 1, "d": -1.5, "f": 1000.0, "t": "m\u00f6\u2713\U0001f600", "n": None, "b": "A\ufffd",
        "m": "2026-01-02 03:04:05.678", "u": 18446744073709551615, "a": "it's", "p": "%",
    }  # fmt: skip
    assert row == expected
    assert {name: type(value) for name, value in row.items()} == {
        name: type(value) for name, value in expected.items()
    }


ODD = ["", "it's", "\\' OR 1=1 -- ", "\0\n\r\x1a\"'\\", "p\u00e4\u2713 100 %"]


@pytest.mark.parametrize("mode", ["", "NO_BACKSLASH_ESCAPES"])
def test_arguments_of_a_statement(target, mon, mode):
    with connect(target(mon)) as found:
        found.rows("SET SESSION sql_mode = %s", mode)
        for text in ODD:
            assert found.rows("SELECT %s AS a, %s AS b, '%%' AS c", text, -7) == [
                {"a": text, "b": -7, "c": "%"}
            ]


def test_what_is_longer_than_a_record_of_tls(target, mon):
    long = "x" * 1_000_000
    with connect(target(mon, tls=mysql.Tls("REQUIRED"))) as found:
        assert found.rows(f"SELECT '{long}' AS a, 1 AS b") == [{"a": long, "b": 1}]
        assert found.rows("SELECT 2 AS b") == [{"b": 2}]


def test_the_session(target, mon, server):
    with connect(target(mon), 10) as found:
        (row,) = found.rows(
            "SELECT @@session.time_zone AS zone, @@autocommit AS autocommit, @@lock_wait_timeout AS locks, "
            "@@character_set_client AS charset, @@global.sql_mode = @@session.sql_mode AS same_mode"
        )
        assert row.pop("locks") == 1
        assert row == {"zone": "+00:00", "autocommit": 1, "charset": "utf8mb4", "same_mode": 1}
        variable = "max_statement_time" if found.flavour.mariadb else "max_execution_time / 1000"
        ((seconds,),) = (row.values() for row in found.rows(f"SELECT @@{variable}"))
        assert 5 < seconds < 10
        if not found.flavour.mariadb:
            told = server.sql(
                "SELECT ATTR_VALUE FROM performance_schema.session_connect_attrs "
                "WHERE ATTR_NAME = 'program_name' AND PROCESSLIST_ID != CONNECTION_ID()"
            )
            assert {"ATTR_VALUE": "stallwatch"} in told


def test_what_a_server_does_not_answer(server, target):
    with connect(target(server.account("poor"))) as found:
        with pytest.raises(mysql.DeniedError) as raised:
            found.rows("SHOW ENGINE INNODB STATUS")
        assert (raised.value.number, raised.value.grant) == (1227, "PROCESS")
        assert raised.value.advice == "GRANT PROCESS ON *.* TO 'poor'@'%'"
        status = "SHOW ALL SLAVES STATUS" if found.flavour.mariadb else "SHOW REPLICA STATUS"
        with pytest.raises(mysql.DeniedError) as raised:
            found.rows(status)
        assert raised.value.grant == ("SLAVE MONITOR" if found.flavour.mariadb else "REPLICATION CLIENT")
        for table in ("performance_schema.threads", "mysql.user", "nix.da"):
            with pytest.raises(mysql.DeniedError) as raised:
                found.rows(f"SELECT * FROM {table}")
            assert (raised.value.number, raised.value.grant) == (1142, f"SELECT on {table}")
        with pytest.raises(mysql.UnknownStatementError):
            found.rows("SHOW NOTHING")
        with pytest.raises(mysql.MysqlError) as raised:
            found.rows("SELECT nothing")
        assert raised.value.number == 1054
        assert found.rows("SELECT 1 AS a") == [{"a": 1}]  # after all that


def test_a_table_that_is_missing(server, target):
    with connect(target(server.account("rich", "ALL"))) as found:
        for table in ("nix.da", "information_schema.nothing"):
            with pytest.raises(mysql.MissingTableError):
                found.rows(f"SELECT * FROM {table}")


def test_grants_that_are_advised_help(server, target):
    account = server.account("poor")
    for statement in ("SHOW ENGINE INNODB STATUS", "SELECT * FROM mysql.general_log"):
        with connect(target(account)) as found, pytest.raises(mysql.DeniedError) as raised:
            found.rows(statement)
        server.sql(raised.value.advice)
        with connect(target(account)) as found:
            found.rows(statement)


# time


def test_a_statement_that_takes_too_long(target, mon):
    with connect(target(mon)) as found:
        begun = time.perf_counter()
        with pytest.raises(
            mysql.NoAnswerError, match=r"has not answered within 1(\.\d)? s: asked SELECT SLEEP"
        ):
            found.rows("SELECT SLEEP(8)", within=1)
        assert time.perf_counter() - begun < 1 + SLACK
        with pytest.raises(mysql.UnreachableError, match="closed the connection: asked SELECT 1"):
            found.rows("SELECT 1")
        with found.again() as another:
            assert another.rows("SELECT 1 AS a", within=5) == [{"a": 1}]
            assert another.rows("SELECT 1 AS a") == [{"a": 1}]


def test_a_lock_that_takes_too_long_is_ended_by_the_server(server, target, mon):
    server.sql("CREATE DATABASE IF NOT EXISTS lab")
    server.sql("CREATE TABLE IF NOT EXISTS lab.held (i INT)")
    server.sql("GRANT SELECT ON lab.* TO mon")
    with server.session() as sql, connect(target(mon), 3) as found:
        sql("LOCK TABLES lab.held WRITE")
        with pytest.raises(mysql.NoAnswerError) as raised:
            found.rows("SELECT * FROM lab.held")
        assert raised.value.number in (1205, 0)


def test_a_server_that_is_stopped(server, target, mon):
    with connect(target(mon), 4) as found:
        server.suspend()
        try:
            with pytest.raises(mysql.NoAnswerError):
                found.rows("SELECT 1", within=1)
            for way in (target(mon), target(mon, socket=server.socket)):
                said = refusal(way, 2)
                why = r"(sends no greeting within 2 s|has not answered)"
                assert re.search(rf"state T \(\S+ {why}\)$", said.what)
        finally:
            server.resume()


def test_a_connection_that_is_killed(server, target, mon):
    with connect(target(mon)) as found:
        ((number,),) = (row.values() for row in found.rows("SELECT CONNECTION_ID()"))
        server.sql(f"KILL {number}")
        with pytest.raises(mysql.UnreachableError, match="closed the connection: asked SELECT 1"):
            found.rows("SELECT 1")


def test_nothing_is_left_behind(server, target, mon):
    for _ in range(5):
        with connect(target(mon)) as found, found.again():
            pass
    wait_for(lambda: server.others() == [])


def test_the_server_does_not_note_that_we_broke_off(server, target, mon):
    def aborted():
        return [row["Value"] for row in server.sql("SHOW GLOBAL STATUS LIKE 'Aborted%'")]

    wait_for(lambda: server.others() == [])  # those that other tests broke off
    before = aborted()
    with connect(target(mon)) as found, found.again():
        pass
    assert aborted() == before
