"""The mysqld of MySQL NDB Cluster as a plain MySQL server of the tests."""

import os

import ndb_software
import software
from sql_server import AS_ROOT, SqlServer

SETTINGS = {
    "gtid_mode": "ON", "enforce_gtid_consistency": "ON", "innodb_redo_log_capacity": "32M",
    "performance_schema": "ON", "table_definition_cache": 400, "key_buffer_size": "1M",
}  # fmt: skip


class Mysql(SqlServer):
    """A MySQL 9.7 with GTIDs."""

    defaults = SETTINGS

    @staticmethod
    def program():
        """How it is called."""
        home = ndb_software.home()
        return [os.path.join(home, "bin", "mysqld"), "--no-defaults", f"--basedir={home}"]

    @classmethod
    def template(cls):
        """A folder of data as they are at first, without the server's own UUID."""
        program = cls.program()

        def make(folder):
            data = os.path.join(folder, "data")
            options = ("--initialize-insecure", "--innodb-redo-log-capacity=32M", *AS_ROOT)
            software.run("a new MySQL", *program, *options, f"--datadir={data}")
            os.remove(os.path.join(data, "auto.cnf"))

        return os.path.join(
            software.kept(f"mysql-data-{software.digest(__file__, program[0])}", make), "data"
        )

    # replication; every statement names the channel, "" is the default one

    def follow(self, channel, port, account, *, gtid=True, place=None, delay=0, **more):
        """Tell it where its source is: by GTID, or from a place (file, offset) in its binary log."""
        options = {
            "HOST": self.host, "PORT": port, "USER": account.user, "PASSWORD": account.password,
            "CONNECT_RETRY": 2, "RETRY_COUNT": 86400, "DELAY": delay, "AUTO_POSITION": int(gtid),
        } | more  # fmt: skip
        if place:
            options |= {"LOG_FILE": place[0], "LOG_POS": place[1]}
        settings = [f"SOURCE_{name} = {value!r}" for name, value in options.items()]
        settings.append("GET_SOURCE_PUBLIC_KEY = 1")  # for a password without TLS
        self.sql(f"CHANGE REPLICATION SOURCE TO {', '.join(settings)} FOR CHANNEL '{channel}'")

    def start_replication(self, channel="", thread=""):
        """Start the receiver ("IO_THREAD"), the applier ("SQL_THREAD"), or both."""
        self.sql(f"START REPLICA {thread} FOR CHANNEL '{channel}'")

    def stop_replication(self, channel="", thread=""):
        """Stop them likewise."""
        self.sql(f"STOP REPLICA {thread} FOR CHANNEL '{channel}'")

    def forget(self, channel):
        """Stop it and know nothing of it any more."""
        self.stop_replication(channel)
        self.sql(f"RESET REPLICA ALL FOR CHANNEL '{channel}'")

    def has_own_transactions(self):
        """Whether it has written some of its own into its log: FLUSH and XA PREPARE are such, too."""
        (row,) = self.sql("SELECT LOCATE(@@server_uuid, @@GLOBAL.gtid_executed) AS at")
        return row["at"] > 0

    def keep_transactions_of(self, sources):
        """Forget all other transactions that it had, its own, too; nobody is followed meanwhile."""
        theirs = ",".join(
            source.sql("SELECT @@GLOBAL.gtid_executed AS them")[0]["them"] for source in sources
        )
        ours = "@@GLOBAL.gtid_executed"
        (kept,) = self.sql(f"SELECT GTID_SUBTRACT({ours}, GTID_SUBTRACT({ours}, %s)) AS them", theirs)
        self.sql("RESET BINARY LOGS AND GTIDS")
        self.sql("SET GLOBAL gtid_purged = %s", kept["them"])

    def channels(self):
        """The rows of the replication status by channel."""
        return {row["Channel_Name"]: row for row in self.sql("SHOW REPLICA STATUS")}

    def place(self):
        """Where its binary log ends: file and offset."""
        (row,) = self.sql("SHOW BINARY LOG STATUS")
        return row["File"], row["Position"]
