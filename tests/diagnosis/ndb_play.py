"""One trial on an NDB Cluster: a case of one strength; what checks printed meanwhile."""

import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from ndb_case import CHECKS, LOG, MEMORY, NODES, PROCESS_3, PROCESS_4, REDO, TRANSACTIONS
from ndb_scene import Scene
from trial import Play

# isort: split
import plugin_command
from sql_node import MONITOR

RESTARTED = 10.0  # seconds for which check_ndb_nodes reports a start: the trial before may have ended so


class NdbPlay(Play):
    """Plays a case on a cluster, and writes down what happens."""

    def __init__(self, cluster, case, strength, path, no_network):
        self.cluster = cluster
        super().__init__(cluster, case, strength, path, no_network)

    def _scene(self, cluster):
        self.account = cluster.sql_node.account(*MONITOR)
        return Scene(cluster, self.paths)

    def _password(self):
        return self.account.password

    def _asked(self, cluster):
        return cluster.sql_node

    def _play(self):
        case, scene = self.case, self.scene
        story = case.story(scene, case.strengths[self.strength])
        with scene.kept:
            try:
                next(story)
                self._forget()
                self._look_on(story)
                nodes = case.expected.nodes if scene.nodes is None else scene.nodes
                errors = dict(Counter(scene.errors))
                self.recorder.add(truths=[], nodes=list(nodes), errors=errors)
                self._keep_logs()
            finally:
                story.close()

    def _keep_logs(self):
        """Keep the logs of the cluster beside what was printed."""
        place = self.home.with_suffix(".logs")
        place.mkdir(exist_ok=True)
        for log in Path(self.cluster.folder).glob("[134]/ndb_*_*.log"):
            shutil.copy(log, place)

    def _forget(self):
        """Have what was in the logs before acknowledged, and nobody told of starts before."""
        self._wait_until_up()
        command = [*map(str, self._commands()[LOG]), "--acknowledge"]
        subprocess.run(command, env=self._environment(), stdout=subprocess.DEVNULL, check=False, timeout=60)

    def _wait_until_up(self):
        """Wait until no data node has started just now."""
        youngest = "SELECT MIN(uptime) AS seconds FROM ndbinfo.nodes"
        while (self.cluster.sql_node.sql(youngest)[0]["seconds"] or 0) <= RESTARTED:
            time.sleep(0.5)

    def _commands(self):
        cluster = self.cluster
        asked = ("-S", cluster.sql_node.socket, "-u", self.account.user)
        management = ("--management", cluster.connectstring, "--restarted", f"{RESTARTED:g}s")
        logs = (*map(cluster.out_log, (3, 4)), cluster.cluster_log)
        words = {
            LOG: [word for log in logs for word in ("--log", log)],
            NODES: [*asked, *management],
            **dict.fromkeys((MEMORY, TRANSACTIONS), asked),
            REDO: [*asked, "--output", "json"],
            **{check: ("--data-dir", cluster.path(node), "--program", "ndbmtd")
               for check, node in ((PROCESS_3, 3), (PROCESS_4, 4))},
        }  # fmt: skip
        return {
            check: [sys.executable, plugin_command.PLUGINS / check.partition(" ")[0], *words[check],
                    "--state-dir", self.home / check.replace(" ", "-"), *self.scene.options.get(check, ())]
            for check in CHECKS
        }  # fmt: skip
