"""check_mysql_stalls on real servers whose clients wait at their COMMIT: no lock is waited for."""

import contextlib
import re
import threading
import time

import plugin_command
import pymysql
import pytest
from plugin_command import Said
from small_tmpfs import small_tmpfs

SOON = ("-w", "1", "-c", "2")  # seconds, instead of 10 and 60
PATIENCE = 30


@pytest.fixture
def until(tmp_path):
    """Runs it again and again until it returns that status; what it says then."""

    def run(server, account, status):
        words = ("check_mysql_stalls", "-S", server.socket, "-u", account.user, "-t", "30s", *SOON)
        password = {"STALLWATCH_MYSQL_PASSWORD": account.password}
        end = time.monotonic() + PATIENCE
        while True:
            state = ("--state-dir", tmp_path / "state")
            said = Said.of(plugin_command.run(tmp_path, *words, *state, variables=password))
            if said.status == status:
                return said
            assert time.monotonic() < end, said.output
            time.sleep(0.5)

    return run


@contextlib.contextmanager
def writers(server, *statements):
    """Meanwhile clients run these statements, each begun when the one before it waits."""

    def write(statement):
        with contextlib.suppress(pymysql.Error), server.session() as sql:
            sql(statement)

    clients = [threading.Thread(target=write, args=(one,)) for one in statements]
    for one in clients:
        one.start()
        time.sleep(0.3)
    try:
        yield
    finally:
        with contextlib.suppress(OSError, pymysql.Error):  # it may have been stopped
            server.disconnect_others()
        for one in clients:
            one.join()


def filled(server):
    server.sql("CREATE DATABASE IF NOT EXISTS shop")
    server.sql("CREATE TABLE shop.goods (id INT PRIMARY KEY AUTO_INCREMENT, said LONGBLOB) ENGINE=InnoDB")
    server.sql("INSERT INTO shop.goods (said) VALUES ('first')")
    return server.account("mon", "PROCESS", "SELECT ON performance_schema.*")


UPDATE, OTHER = "UPDATE shop.goods SET said = 'x' WHERE id = 1", "INSERT INTO shop.goods (said) VALUES ('y')"


@pytest.mark.parametrize("point", ["AFTER_SYNC", "AFTER_COMMIT"])
def test_no_replica_acknowledges(running_server, until, point):
    """With AFTER_SYNC the COMMIT keeps its row locks meanwhile: still no client is to be ended."""
    server = running_server("mariadb")
    server.revive()
    account = filled(server)
    server.sql(f"SET GLOBAL rpl_semi_sync_master_wait_point = {point}")
    server.sql("SET GLOBAL rpl_semi_sync_master_timeout = 600000")
    server.sql("SET GLOBAL rpl_semi_sync_master_enabled = ON")
    try:
        with writers(server, UPDATE, UPDATE, OTHER):
            said = until(server, account, 2)
            server.sql("SET GLOBAL rpl_semi_sync_master_enabled = OFF")
        assert re.search("wait(s)? at COMMIT for ", said.text)
        assert "0 of 1 semi-sync replica connected - start one" in said.text
        assert not re.search(r"KILL \d", said.output)
        assert until(server, account, 0).number("stalled") == 0
    finally:
        server.sql("SET GLOBAL rpl_semi_sync_master_enabled = OFF")
        server.sql("SET GLOBAL rpl_semi_sync_master_wait_point = DEFAULT")
        server.sql("SET GLOBAL rpl_semi_sync_master_timeout = DEFAULT")
        server.sql("DROP DATABASE shop")


@pytest.mark.own_server("its binary log is on a disk that is full")
@pytest.mark.parametrize(
    ("kind", "words"),
    [("mariadb", "wait(s)? for space on a disk for "), ("mysql", "wait(s)? at COMMIT for ")],
)
def test_the_disk_of_the_binary_log_is_full(own_server, until, tmp_path, kind, words):
    with small_tmpfs(tmp_path / "disk", "3m", 777) as disk:
        server = own_server(kind, log_bin=disk / "binlog")
        account = filled(server)
        with open(disk / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 14))
        with writers(server, "UPDATE shop.goods SET said = REPEAT('x', 200000)", OTHER, UPDATE):
            try:
                said = until(server, account, 2)
            finally:
                server.stop()  # a server looks again after a minute only
        assert re.search(words, said.text)
        assert " is full - free space there" in said.text
        assert not re.search(r"KILL \d", said.output)
