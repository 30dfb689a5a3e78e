"""Record what check_mysql_stalls asks of a server on which one client blocks others, for tests/recorded.

.venv/bin/python tests/live/mysql_stalls_recording.py KIND [NAME ...], where KIND is one of KINDS

Without a name it records all scenarios, in 6 minutes.
"""

import os
import sys
import tempfile
import time

from lock_scenes import Scene
from mariadb import Mariadb
from mariadb_of_debian import Mariadb105, Mariadb118
from mariadb_of_maven import MariadbOfMaven
from mysql_of_maven import Mysql57, Mysql80
from mysql_recording import RECORDED, Recording
from mysql_server import Mysql
from stallwatch.sources import mysql

FOLDER = RECORDED / "mysql_stalls"
KINDS = {
    "mysql": Mysql, "mysql-5.7": Mysql57, "mysql-8.0": Mysql80,
    "mariadb": Mariadb, "mariadb-10.5": Mariadb105,
    "mariadb-11.4": MariadbOfMaven, "mariadb-11.8": Mariadb118,
}  # fmt: skip
METRIC = ("NAME", "COUNT", "STATUS", "ENABLED")
ALL = ("PROCESS", "SELECT ON performance_schema.*")


class LocksRecording(Recording):
    """Runs the plugin on a server, and notes what it answers."""

    def __init__(self, server, folder):
        super().__init__(folder)
        self.server = server
        self.grants = None

    def __call__(self, *options, grants=ALL):
        """One run more."""
        if grants != self.grants:  # once: while somebody has the global read lock nobody can
            self.account, self.grants = self.server.account("mon", *grants), grants
        self.run("check_mysql_stalls", ["-H", "db1", "-u", "mon", *options], self.account.password)

    def real(self, target):
        """The server."""
        return mysql.Target(socket=self.server.socket, user=target.user, password=target.password)

    def row(self, row):
        """A row without what nobody reads, and without names of this host."""
        if "AVG_COUNT" in row:  # a metric
            row = {name: value for name, value in row.items() if name in METRIC}
        return {name: self.value(value) for name, value in row.items()}

    def value(self, value):
        """One value."""
        if not isinstance(value, str):
            return value
        value = value.replace(self.server.folder, "/srv").replace(os.uname().nodename, "db1")
        return "app1" if value == "localhost" else value


def healthy(scene, recording):
    """Two looks at an idle server."""
    recording()
    time.sleep(16)
    recording()


def idle_transaction(scene, recording):
    """A client forgets to commit: others wait for its row, time out and try again, for more than a minute."""
    scene.idle()
    scene.writers(4, times=3)
    time.sleep(3)
    recording()
    time.sleep(12)
    recording()
    time.sleep(62)
    recording()


def chain(scene, recording):
    """Five in a row, of which only the first one could go on."""
    scene.chain(5)
    time.sleep(11)
    recording()


def table_definition(scene, recording):
    """An ALTER TABLE waits for a reader, and all others queue behind it."""
    scene.reader()
    scene.definition()
    scene.readers(3)
    time.sleep(12)
    recording()
    time.sleep(62)
    recording()


def few_grants(scene, recording):
    """The account has PROCESS alone."""
    scene.idle()
    scene.writers(2)
    time.sleep(12)
    recording(grants=("PROCESS",))


def read_lock(scene, recording):
    """FLUSH TABLES WITH READ LOCK, and nothing more: writers wait."""
    recording()
    scene.read_lock()
    scene.writers(2)
    time.sleep(12)
    recording()
    time.sleep(62)
    recording()


def no_acknowledgement(scene, recording):
    """A COMMIT waits for a semi-sync replica, and there is none. MariaDB has semi-sync without a plugin."""
    if not isinstance(scene.server, Mariadb):
        return
    scene.server.sql("SET GLOBAL rpl_semi_sync_master_timeout = 600000")
    scene.server.sql("SET GLOBAL rpl_semi_sync_master_enabled = ON")
    for row in (1, 2):
        scene.writers(1, row=row)
    time.sleep(12)
    recording()
    time.sleep(62)
    recording()
    scene.server.sql("SET GLOBAL rpl_semi_sync_master_enabled = OFF")


STORIES = {
    story.__name__.replace("_", "-"): story
    for story in (
        healthy,
        idle_transaction,
        chain,
        table_definition,
        read_lock,
        few_grants,
        no_acknowledgement,
    )
}


def main():
    """Record the stories of these names, or all."""
    kind, *names = sys.argv[1:]
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, KINDS[kind](f"{folder}/server") as server:
        for name in names or STORIES:
            state = os.path.join(folder, name)
            os.mkdir(state, 0o700)
            with Scene(server) as scene:
                recording = LocksRecording(server, state)
                STORIES[name](scene, recording)
            if not recording.runs:
                continue
            flavour, version, _ = recording.runs[0]["log_ins"][0]["flavour"]
            file = f"{flavour.lower()}-{version[0]}.{version[1]}-{name}.json"
            (FOLDER / file).write_text(recording.text())


if __name__ == "__main__":
    main()
