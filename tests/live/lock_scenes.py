"""Clients that block each other, each in a way of its own, on one server with the table shop.orders."""

import contextlib
import threading
import time

import pymysql
from loopback import wait_until

_CACHED = 0.15  # seconds: INNODB_TRX is as old as the last look that was less than 0.1 s ago


class Client:
    """A session whose statements may wait: each of those runs in a thread."""

    def __init__(self, server, account):
        self._server = server
        self._session = server.session(account, seconds=600)
        self.sql = self._session.__enter__()
        self._thread = None
        (row,) = self.sql("SELECT CONNECTION_ID() AS id")
        self.id = row["id"]

    def go(self, *statements):
        """Begin with a statement that waits for long; after error 1205 the next one, or the same again."""
        self.begin(*statements)
        # Those that come later queue behind it.
        wait_until(self.waits, 30, self._server.process, self._server.log)

    def begin(self, *statements):
        """The same, but do not wait until it waits."""
        self._thread = threading.Thread(target=self._run, args=(statements,), daemon=True)
        self._thread.start()

    def waits(self):
        """Whether its statement waits for a lock, or is over."""
        time.sleep(_CACHED)
        of_it = f"WHERE id = {self.id} AND (state LIKE 'Waiting%' OR state = 'User lock')"
        (row,) = self._server.sql(
            f"SELECT (SELECT COUNT(*) FROM information_schema.processlist {of_it}) + (SELECT COUNT(*)"
            f" FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = {self.id}"
            " AND trx_state = 'LOCK WAIT') AS waits"
        )
        return row["waits"] or not self._thread.is_alive()

    def _run(self, statements):
        for statement in statements:
            try:
                self.sql(statement)
                break
            except pymysql.OperationalError as error:
                if error.args[0] != 1205:  # it was killed
                    break
            except (pymysql.Error, OSError, ValueError):
                break

    def finish(self):
        """Wait until what it has begun is over."""
        self._thread.join()

    def end(self):
        """Log out, also in the middle of a statement."""
        if self._thread:
            self._thread.join(10)
        with contextlib.suppress(pymysql.Error, OSError, ValueError):
            self._session.__exit__(None, None, None)


class Scene:
    """A server with the database shop, and clients of two accounts. Leave it to end all that they do."""

    def __init__(self, server):
        self.server = server
        self.clients = []

    def __enter__(self):
        sql = self.server.sql
        sql("CREATE DATABASE IF NOT EXISTS shop")
        sql("DROP TABLE IF EXISTS shop.orders")
        sql("CREATE TABLE shop.orders (id INT PRIMARY KEY, state INT, KEY (state)) ENGINE=InnoDB")
        sql("INSERT INTO shop.orders VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)")
        self.report = self.server.account("report", "ALL")
        self.app = self.server.account("app", "ALL")
        return self

    def __exit__(self, *_):
        self.server.disconnect_others()
        for one in self.clients:
            one.end()
        for row in self.server.sql("XA RECOVER"):
            self.server.sql("XA ROLLBACK %s", row["data"])

    def client(self, account=None):
        """One more, by default of the account that only reads reports."""
        self.clients.append(Client(self.server, account or self.report))
        return self.clients[-1]

    # the heads

    def idle(self):
        """A transaction that has changed a row, and does nothing more."""
        head = self.client()
        head.sql("BEGIN")
        head.sql("UPDATE shop.orders SET state = 7 WHERE id = 1")
        return head

    def prepared(self):
        """An XA transaction that has changed a row and is prepared; its connection stays."""
        head = self.client()
        head.sql("XA START 'x1'")
        head.sql("UPDATE shop.orders SET state = 7 WHERE id = 1")
        head.sql("XA END 'x1'")
        head.sql("XA PREPARE 'x1'")
        return head

    def reader(self):
        """A transaction that has read the table, and does nothing more."""
        head = self.client()
        head.sql("BEGIN")
        head.sql("SELECT COUNT(*) FROM shop.orders")
        return head

    def read_lock(self):
        """Who keeps all others from writing, and does nothing more."""
        head = self.client()
        head.sql("FLUSH TABLES WITH READ LOCK")
        return head

    # those that wait

    def writers(self, number, *, times=1, row=1):
        """Clients that change the same row; each tries so often."""
        for _ in range(number):
            self.client(self.app).go(*[f"UPDATE shop.orders SET state = 8 WHERE id = {row}"] * times)

    def chain(self, length):
        """Clients of which each has a row that the next one waits for; the first one is the head."""
        links = [self.client(self.app) for _ in range(length)]
        for row, one in enumerate(links, start=1):
            one.sql("BEGIN")
            one.sql(f"UPDATE shop.orders SET state = 7 WHERE id = {row}")
        for row, one in enumerate(links[1:], start=1):
            one.go(f"UPDATE shop.orders SET state = 9 WHERE id = {row}")
        return links

    def deadlock(self):
        """Two clients that change two rows in different order: the server ends one of them."""
        one, other = self.client(self.app), self.client()
        for client, row in ((one, 1), (other, 2)):
            client.sql("BEGIN")
            client.sql(f"UPDATE shop.orders SET state = 9 WHERE id = {row}")
        one.go("UPDATE shop.orders SET state = 9 WHERE id = 2")
        other.go("UPDATE shop.orders SET state = 9 WHERE id = 1")

    def definition(self):
        """An ALTER TABLE that waits for a metadata lock."""
        alters = self.client(self.app)
        alters.go("ALTER TABLE shop.orders ADD note INT")
        return alters

    def readers(self, number):
        """Clients that read the table by its key."""
        for _ in range(number):
            self.client(self.app).go("SELECT state FROM shop.orders WHERE id = 3")
