"""Record what MySQL and MariaDB send, for tests/recorded/mysql_bytes. By hand:

.venv/bin/python tests/live/mysql_bytes_recording.py
"""

import contextlib
import socket
import sys
import tempfile
from pathlib import Path

import pymysql
from mariadb import Mariadb
from mysql_server import Mysql
from stallwatch.deadline import Deadline
from stallwatch.sources import mysql

sys.path.append(str(Path(__file__).parents[1] / "unit"))

import mysql_bytes

KINDS = {"mariadb": (Mariadb, "PROCESS"), "mysql": (Mysql, "PROCESS"), "denied": (Mariadb,)}


def relayed(port, heard):
    """Talk to the server at this port, and keep what it says, turn by turn."""

    def play(connection):
        with socket.create_connection(("127.0.0.1", port)) as server:
            while octets := server.recv(1 << 20):
                heard.append(octets)
                while heard[-1][-1:] and _goes_on(server):
                    heard[-1] += server.recv(1 << 20)
                connection.sendall(heard[-1])
                if not (asked := connection.recv(1 << 20)):
                    return
                server.sendall(asked)

    return play


def _goes_on(server):
    """Whether there is more within a moment: an answer may come in several pieces."""
    server.settimeout(0.3)
    try:
        return bool(server.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        return False
    finally:
        server.settimeout(None)


def record(name, server, account):
    """Log in twice: the second time MySQL knows the password, and asks for no TLS."""
    with pymysql.connect(unix_socket=server.socket, **account._asdict()):
        heard = []
    with mysql_bytes.served(relayed(server.port, heard)) as port:
        target = mysql.Target("127.0.0.1", port, **account._asdict(), tls=mysql.Tls("DISABLED"))
        connecting = contextlib.suppress(mysql.DeniedError)
        with connecting, mysql.connect(target, Deadline(30), known=None) as client:
            client.rows(mysql_bytes.STATEMENT)
    mysql_bytes.save(name, heard)


def main():
    """Record all of them."""
    for name, (kind, *grants) in KINDS.items():
        with tempfile.TemporaryDirectory() as folder, kind(Path(folder) / name) as server:
            record(name, server, server.account("mon", *grants))


if __name__ == "__main__":
    main()
