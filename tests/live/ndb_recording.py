"""Record what the plugins that read ndbinfo ask and get, for tests/recorded/ndbinfo.

.venv/bin/python tests/live/ndb_recording.py [NAME ...]
"""

import argparse
import contextlib
import os
import tempfile
import time
from unittest import mock

from mysql_recording import RECORDED, Recording
from ndb_cluster import NdbCluster
from ndb_stories import STORIES
from sql_node import MONITOR
from stallwatch.findings import ProbeError
from stallwatch.sources import mysql, ndb_mgm
from stallwatch.sources.ndb_mgm import data_nodes as ask_management

SERVERS = RECORDED / "ndbinfo"
HOST = "127.0.0.1"
PORT = {"Ndb_config_from_port": "1186"}  # the management server's usual one


class NdbRecording(Recording):
    """Runs plugins on the SQL node of a cluster, or on another server, and notes what it answers.

    ``servers`` has more than "sql1", the cluster's own, by the names that they have in the recording.
    """

    def __init__(self, cluster, folder):
        super().__init__(folder)
        self.cluster = cluster
        self.servers = {"sql1": cluster.sql_node}
        self.account = cluster.sql_node.account(*MONITOR)

    def __call__(self, plugin, *options, of="sql1", account=None):
        """One run more; gives the exit status and what it said."""
        account = account or self.account
        print(f"--- {plugin} {' '.join(options)}")  # noqa: T201
        with mock.patch.object(ndb_mgm, "data_nodes", self.data_nodes):
            return self.run(plugin, ["-H", of, "-u", account.user, *options], account.password)

    def data_nodes(self, _host, port, patience):
        """As the management server's, noted; the SQL node's host, which has a name here, is its host, too."""
        answer, begun = {}, time.monotonic()
        try:
            nodes = ask_management(HOST, port, patience)
        except ProbeError as error:
            what = error.what.replace(f"{HOST}:{port}", "sql1:1186")
            answer["error"] = [what, error.advice]
            raise
        else:
            answer["nodes"] = nodes
            return nodes
        finally:
            self.runs[-1].setdefault("management", []).append(self.spent(begun) | answer)

    def real(self, target):
        """A server by its name here."""
        socket = self.servers[target.host].socket
        return mysql.Target(socket=socket, user=target.user, password=target.password)

    def row(self, row):
        """A row that names no host: every node runs on this one, and there is told apart by its number."""
        if row.get("Variable_name") in PORT:
            return row | {"Value": PORT[row["Variable_name"]]}
        return {name: self.value(value) for name, value in row.items()}

    def value(self, value):
        """One value likewise."""
        if not isinstance(value, str):
            return value
        for this, instead in ((f"{HOST}:{self.cluster.port}", "ndb1:1186"), (HOST, "ndb1")):
            value = value.replace(this, instead)
        value = value.replace(self.cluster.folder, "/srv")
        return "ndb1" if value == os.uname().nodename else value


def record(name, cluster, folder):
    """Let the cluster live through a story; write what was asked and answered."""
    state = os.path.join(folder, name)
    os.mkdir(state, 0o700)
    recording = NdbRecording(cluster, state)
    STORIES[name].happens(cluster, recording)
    (SERVERS / f"{name}.json").write_text(recording.text())


def main():
    """Record the stories of these names, or all, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    about = f"the scenarios (default: all): {', '.join(STORIES)}"
    parser.add_argument("name", nargs="*", choices=[[], *STORIES], metavar="NAME", help=about)
    names = parser.parse_args().name or STORIES
    for settings in dict.fromkeys(STORIES[name].settings for name in names):
        with contextlib.ExitStack() as running:
            folder = running.enter_context(tempfile.TemporaryDirectory(prefix="recording-"))
            own = os.path.join(folder, "ndb")
            cluster = running.enter_context(NdbCluster(own, sql=True, **dict(settings)))
            for name in names:
                if STORIES[name].settings == settings:
                    record(name, cluster, folder)


if __name__ == "__main__":
    main()
