"""Debian's MariaDB as a server of the tests."""

import software
from sql_server import AS_ROOT, SqlServer

OPTIONS = ("--no-defaults", "--innodb-log-file-size=16M", "--innodb-buffer-pool-size=32M")
SETTINGS = {"innodb_log_file_size": "16M", "log_slave_updates": "ON", "aria_pagecache_buffer_size": "8M"}
INITIAL = ("--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")


class Mariadb(SqlServer):
    """A MariaDB; performance_schema is off, as it is by default."""

    defaults = SETTINGS

    @staticmethod
    def program():
        """How it is called."""
        return [software.program("mariadbd", "mariadb-server"), "--no-defaults"]

    @classmethod
    def template(cls):
        """A folder of data as they are at first."""
        install = software.program("mariadb-install-db", "mariadb-server")

        def make(folder):
            software.run("a new MariaDB", install, *OPTIONS, *INITIAL, *AS_ROOT, f"--datadir={folder}")

        return software.kept(f"mariadb-data-{software.digest(__file__, cls.program()[0])}", make)

    # replication; every statement names the connection, "" is the default one

    def follow(self, channel, port, account, *, gtid=True, place=None, delay=0, **more):
        """Tell it where its source is: by GTID, or from a place (file, offset) in its binary log."""
        options = {
            "HOST": self.host, "PORT": port, "USER": account.user, "PASSWORD": account.password,
            "CONNECT_RETRY": 2, "DELAY": delay,
        } | more  # fmt: skip
        if place:
            options |= {"LOG_FILE": place[0], "LOG_POS": place[1]}
        settings = [f"MASTER_{name} = {value!r}" for name, value in options.items()]
        settings.append(f"MASTER_USE_GTID = {'slave_pos' if gtid else 'no'}")
        self.sql(f"CHANGE MASTER '{channel}' TO {', '.join(settings)}")

    def start_replication(self, channel="", thread=""):
        """Start the receiver ("IO_THREAD"), the applier ("SQL_THREAD"), or both."""
        self.sql(f"START SLAVE '{channel}' {thread}")

    def stop_replication(self, channel="", thread=""):
        """Stop them likewise."""
        self.sql(f"STOP SLAVE '{channel}' {thread}")

    def forget(self, channel):
        """Stop it and know nothing of it any more."""
        self.stop_replication(channel)
        self.sql(f"RESET SLAVE '{channel}' ALL")

    def keep_transactions_of(self, sources):
        """Forget all other transactions that it had, its own, too; nobody is followed meanwhile."""
        (row,) = self.sql("SELECT @@GLOBAL.gtid_slave_pos AS them")
        domains = {str(source.settings["gtid_domain_id"]) for source in sources}
        kept = [one for one in row["them"].split(",") if one.partition("-")[0] in domains]
        self.sql("RESET MASTER")
        self.sql("SET GLOBAL gtid_slave_pos = %s", ",".join(kept))

    def channels(self):
        """The rows of the replication status by channel, in MySQL's words: Source_Host, …."""
        rows = self.sql("SHOW ALL SLAVES STATUS")
        return {row["Connection_name"]: _renamed(row) for row in rows}

    def place(self):
        """Where its binary log ends: file and offset."""
        (row,) = self.sql("SHOW MASTER STATUS")
        return row["File"], row["Position"]


def _renamed(row):
    return {
        name.replace("Master_", "Source_").replace("Slave_", "Replica_"): value for name, value in row.items()
    }
