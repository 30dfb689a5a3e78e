"""contrib/mysql/grants.sql, run as an administrator would."""

import contextlib
import re
import subprocess
from pathlib import Path

import pymysql
import pytest
from load_checks import SLOW
from plugin_command import Said, run
from sql_server import Account

GRANTS = Path(__file__).parents[2] / "contrib" / "mysql" / "grants.sql"
RECOMMENDED = "ALTER USER 'mon'@'monitoring.example' REQUIRE SSL;"
MON = Account("by_file", "change me")


@contextlib.contextmanager
def made(server, text, *hosts):
    """Meanwhile there is the account of that SQL, once for each of those hosts."""
    with server.session() as sql:
        sql("SET sql_log_bin = 0")
        try:
            for host in hosts:
                own = text.replace("monitoring.example", host).replace("'mon'", f"'{MON.user}'")
                for statement in re.sub(r"^--.*\n", "", own, flags=re.MULTILINE).split(";\n"):
                    if statement.strip():
                        sql(statement)
            yield sql
        finally:
            for host in hosts:
                sql(f"DROP USER IF EXISTS '{MON.user}'@'{host}'")


def shown(rows):
    """The values of all rows, as one text."""
    return " ".join(str(value) for row in rows for value in row.values())


def query(server, home, *options, over=None):
    """What check_mysql_query says as that account, over TCP or over the socket."""
    where = ("-S", over) if over else ("-H", server.host, "-P", server.port)
    as_whom = ("-u", MON.user, *SLOW)
    password = {"STALLWATCH_MYSQL_PASSWORD": MON.password}
    return Said.of(run(home, "check_mysql_query", *where, *as_whom, *options, variables=password))


def test_one_file_makes_the_account_on_either_family(pair):
    with made(pair.replica, GRANTS.read_text(), "localhost") as sql:
        granted = shown(sql("SHOW GRANTS FOR 'by_file'@'localhost'"))
        account = shown(sql("SHOW CREATE USER 'by_file'@'localhost'"))
    expected = {"mariadb": ("SLAVE MONITOR", "BINLOG MONITOR"), "mysql": ("REPLICATION CLIENT",)}[pair.kind]
    for privilege in ("PROCESS", "performance_schema", *expected):
        assert privilege in granted
    assert "WITH MAX_USER_CONNECTIONS 30" in account
    assert "REQUIRE SSL" not in account


def test_the_file_as_shipped_needs_no_tls(server, tmp_path):
    with made(server, GRANTS.read_text(), "localhost", server.host):
        assert query(server, tmp_path).status == 0
        assert query(server, tmp_path, over=server.socket).status == 0


def test_an_account_whose_sessions_are_all_in_use_leaves_the_others_to_the_rest(server, tmp_path):
    with made(server, GRANTS.read_text(), "localhost", server.host), contextlib.ExitStack() as sessions:
        for _ in range(30):
            sessions.enter_context(server.session(MON))
        with pytest.raises(pymysql.OperationalError, match="max_user_connections"):
            sessions.enter_context(server.session(MON))
        said = query(server, tmp_path, over=server.socket)
        assert "has no connection left for the user by_file" in said.text
        assert query(server, tmp_path).status == 0  # each address has a limit of its own
        assert server.sql("SELECT 1 AS one") == [{"one": 1}]


@pytest.mark.own_server("it has TLS, which the MariaDB of the other tests has not")
@pytest.mark.parametrize("kind", ["mariadb", "mysql"])
def test_the_recommended_line_refuses_whoever_comes_without_tls(own_server, kind, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-days", "2", "-subj", "/CN=test", "-keyout", key, "-out", cert,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    server = own_server(kind, ssl_ca=cert, ssl_cert=cert, ssl_key=key)
    text, taken = re.subn(f"^-- (?={re.escape(RECOMMENDED)}$)", "", GRANTS.read_text(), flags=re.MULTILINE)
    assert taken == 1
    with made(server, text, "localhost", server.host) as sql:
        account = shown(sql(f"SHOW CREATE USER 'by_file'@'{server.host}'"))
        assert "REQUIRE SSL WITH MAX_USER_CONNECTIONS 30" in account
        assert query(server, tmp_path).status == 0
        bare = query(server, tmp_path, "--ssl-mode=DISABLED")
        assert "denied access to the user by_file" in bare.text
        assert "an account with REQUIRE SSL takes TLS" in bare.output
        over_socket = query(server, tmp_path, over=server.socket)
        assert "denied access to the user by_file" in over_socket.text
        assert "REQUIRE SSL refuses sockets" in over_socket.output
