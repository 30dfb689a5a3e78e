"""What a server's own errors come to, and whose MySQL it is."""

import mysql_bytes
import pytest
from mysql_bytes import LET_IN, error, greeting, packet, replay, result
from stallwatch.deadline import Deadline
from stallwatch.sources import mysql, tcp
from stallwatch.sources.mysql.flavour import flavour
from stallwatch.sources.mysql.no_answer import missing_grant


@pytest.mark.parametrize(
    ("version", "comment", "name", "numbers", "text"),
    [
        ("5.7.44-log", "MySQL Community Server (GPL)", "MySQL", (5, 7, 44), "MySQL 5.7.44"),
        ("9.7.2-cluster", "MySQL Cluster Community Server - GPL", "MySQL", (9, 7, 2), "MySQL 9.7.2"),
        ("8.0.36-28", "Percona Server (GPL), Release 28", "Percona", (8, 0, 36), "Percona 8.0.36"),
        ("10.11.19-MariaDB-0+deb12u1-log", "Debian 12", "MariaDB", (10, 11, 19), "MariaDB 10.11.19"),
        ("5.5.5-10.5.8-MariaDB", "", "MariaDB", (10, 5, 8), "MariaDB 10.5.8"),
        ("11.8.2", "MariaDB Server", "MariaDB", (11, 8, 2), "MariaDB 11.8.2"),
        ("8.0.mysql_aurora.3.04.0", "Source distribution", "MySQL", (8, 0, 0), "MySQL 8.0"),
        ("", "", "MySQL", (0, 0, 0), "MySQL of an unknown version"),
    ],
)
def test_flavours(version, comment, name, numbers, text):
    assert flavour(version, comment) == (name, numbers, text)
    assert flavour(version, comment).mariadb == (name == "MariaDB")


@pytest.mark.parametrize(
    ("number", "said", "sql", "grant"),
    [
        (1227, "Access denied; you need (at least one of) the SUPER, SLAVE MONITOR privilege(s)",
         "SHOW ALL SLAVES STATUS", "SLAVE MONITOR"),
        (1227, "Access denied; you need (at least one of) the PROCESS privilege(s)",
         "SHOW ENGINE INNODB STATUS", "PROCESS"),
        (1227, "Access denied; you need (at least one of) the SUPER privilege(s)", "x", "SUPER"),
        (1227, "Kein Zugriff. Hierfür wird SUPER,REPLICATION CLIENT benötigt", "x",
         "REPLICATION CLIENT"),
        (1227, "you need (at least one of) the BACKUP_ADMIN privilege(s)", "x", "BACKUP_ADMIN"),
        (1227, "no", "x", ""),
        (1142, "SELECT command denied to user 'mon'@'127.0.0.1' for table 'threads'",
         "SELECT * FROM performance_schema.threads", "SELECT on performance_schema.threads"),
        (1142, "SELECT command denied to user 'mon'@'127.0.0.1' for table 'threads'",
         "SELECT 1 FROM a.b JOIN `performance_schema`.`threads`", "SELECT on performance_schema.threads"),
        (1142, "SELECT command denied to user 'mon'@'h' for table `performance_schema`.`threads`",
         "SELECT 1", "SELECT on performance_schema.threads"),
        (1142, "SELECT command denied to user 'mon'@'127.0.0.1' for table 'threads'",
         "SELECT 1", "SELECT on threads"),
        (1143, "SELECT command denied to user 'mon'@'h' for column 'ts' in table 'heartbeat'",
         "SELECT ts FROM percona.heartbeat", "SELECT on percona.heartbeat"),
        (1044, "Access denied for user 'mon'@'%' to database 'percona'", "x", "SELECT on percona.*"),
        (1044, "Access denied for user 'mon'@'%' to database 'my-db'", "x", "SELECT on `my-db`.*"),
        (1044, "Access denied for user 'mon'@'%' to database '2026'", "x", "SELECT on `2026`.*"),
        (1142, "SELECT command denied to user 'mon'@'h' for table `my-db`.`t`", "x", "SELECT on `my-db`.t"),
        (1370, "execute command denied to user 'mon'@'%' for routine 'sys.format_time'", "x",
         "EXECUTE on sys.format_time"),
        (1142, "denied", "x", ""),
    ],
)  # fmt: skip
def test_the_grant_that_is_missing(number, said, sql, grant):
    assert missing_grant(number, said, sql) == grant


def refused(number, text):
    """The error of a server that answers with this one."""
    with pytest.raises(mysql.MysqlError) as raised:
        replay([*LET_IN, packet(1, error(number, text))])
    assert raised.value.number in (number, 0)
    return raised.value


def test_a_denial_names_the_grant():
    found = refused(1227, b"you need (at least one of) the PROCESS privilege(s)")
    assert isinstance(found, mysql.DeniedError)
    assert found.grant == "PROCESS"
    sentence = "127.0.0.1:3306 denied SHOW ENGINE INNODB STATUS to the user mon, who needs PROCESS"
    assert (found.what, found.advice) == (sentence, "GRANT PROCESS ON *.* TO 'mon'@'%'")


@pytest.mark.parametrize(
    ("number", "text", "kind", "sentence"),
    [
        (1064, b"You have an error", mysql.UnknownStatementError, " does not know the statement SHOW ENGINE"),
        (
            1146,
            b"Table 'a.b' doesn't exist",
            mysql.MissingTableError,
            " reports: Table 'a.b' doesn't exist: asked SHOW",
        ),
        (1109, b"Unknown table 'B'", mysql.MissingTableError, " reports: Unknown table 'B': asked SHOW"),
        (
            1054,
            b"Unknown column 'c'",
            mysql.MysqlError,
            " reports: Unknown column 'c' (error 1054): asked SHOW",
        ),
        (
            1205,
            b"Lock wait timeout exceeded",
            mysql.NoAnswerError,
            ": Lock wait timeout exceeded: asked SHOW",
        ),
        (3024, b"execution time exceeded", mysql.NoAnswerError, ": execution time exceeded: asked SHOW"),
        (1969, b"execution was interrupted", mysql.NoAnswerError, ": execution was interrupted: asked SHOW"),
        (1820, b"You must reset", mysql.UnreachableError, " wants the user mon to change the password"),
        (1927, b"Connection was killed", mysql.UnreachableError, " closed the connection: asked SHOW"),
        (1053, b"Server shutdown in progress", mysql.UnreachableError, " closed the connection: asked SHOW"),
        (1142, b"no", mysql.DeniedError, " reports: no: asked SHOW"),
    ],
)
def test_other_answers(number, text, kind, sentence):
    found = refused(number, text)
    assert type(found) is kind
    assert sentence in found.what


def test_long_errors_and_long_statements_are_cut():
    assert len(refused(1054, b"x" * 100_000).what) < 400
    with (
        mysql_bytes.served(mysql_bytes.turns([*LET_IN, packet(1, error(1064, b"x"))])) as port,
        mysql.connect(mysql.Target("127.0.0.1", port), Deadline(60), known=None) as server,
        pytest.raises(mysql.UnknownStatementError) as raised,
    ):
        server.rows(f"SELECT  '{'x' * 1000}'\n, 1")
    assert raised.value.what.endswith("SELECT '" + "x" * 69 + "...")


def test_what_refuses_the_session_makes_the_server_unreachable():
    with pytest.raises(mysql.UnreachableError, match="Unknown system variable"):
        replay([*LET_IN[:3], packet(1, error(1193, b"Unknown system variable 'lock_wait_timeout'"))])
    with pytest.raises(mysql.UnreachableError, match="wants the user mon to change the password"):
        replay([*LET_IN[:2], packet(1, error(1820, b"You must reset your password"))])


@pytest.mark.parametrize("missing", ["cryptography", "pynacl"])
def test_ways_to_log_in_that_take_another_module(missing, monkeypatch):
    def fail(*_):
        raise RuntimeError(f"'{missing}' package is required for ... auth methods")

    monkeypatch.setattr("stallwatch.sources.mysql.connection.Connection._process_auth", fail)
    with pytest.raises(mysql.UnreachableError, match="takes Python's"):
        replay([greeting(), packet(2, b"\xfeclient_ed25519\0" + b"x" * 32)])


def test_values():
    (row,) = replay([*LET_IN, result(b"Type", b"Name", rows=[(None, b"it's")])])
    assert row == {"Type": None, "Name": "it's"}



def test_a_connection_that_has_ended_says_so():
    deadline = Deadline(60)
    with mysql_bytes.served(mysql_bytes.turns(LET_IN)) as port:
        with mysql.connect(mysql.Target("127.0.0.1", port), deadline, known=None) as server:
            for _ in range(2):
                with pytest.raises(mysql.UnreachableError, match="closed the connection: asked SELECT 1"):
                    server.rows("SELECT 1")
        assert deadline.doing == ""


def test_each_address_of_a_host_gets_its_share_of_the_time(monkeypatch):
    found = [
        (tcp.socket.AF_INET, tcp.socket.SOCK_STREAM, 6, "", (host, 9)) for host in ("127.0.0.2", "127.0.0.1")
    ]
    monkeypatch.setattr(tcp.socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(mysql.UnreachableError, match="db1:9 refused the connection"):
        mysql.connect(mysql.Target("db1", 9), Deadline(60), known=None)


def test_a_host_without_a_name():
    for host in ("a..b", "x" * 300, "\u00fc" * 70):
        with pytest.raises(mysql.UnreachableError, match="cannot be looked up"):
            mysql.connect(mysql.Target(host), Deadline(60), known=None)


def test_a_name_server_that_is_silent_is_no_firewall(monkeypatch):
    def silent(*_):
        raise TimeoutError

    monkeypatch.setattr(tcp, "_in_a_thread", silent)
    with pytest.raises(mysql.UnreachableError, match="the host db1 cannot be looked up: no name server has"):
        mysql.connect(mysql.Target("db1"), Deadline(60), known=None)


def test_a_socket_that_is_not_there(tmp_path):
    for path in (str(tmp_path / "none"), str(tmp_path / ("x" * 200))):
        with pytest.raises(mysql.UnreachableError, match=f"the socket {path} cannot be used: "):
            mysql.connect(mysql.Target(socket=path), Deadline(60), known=None)


def test_a_target_does_not_show_its_password():
    assert repr(mysql.Target("db1", password="geheim")) == "Target(db1:3306)"
    assert repr(mysql.Target("::1")) == "Target([::1]:3306)"
