"""A lane: a process with a pair of servers, or a cluster, on which it plays trials one after the other.

It reads a line of JSON for each from its standard input ({"part", "case", "strength", "path"}), and writes
one when that is over. When its standard input ends, or it is killed, its servers end with it.
"""

import contextlib
import itertools
import json
import os
import shutil
import sys
import traceback
from pathlib import Path
from types import SimpleNamespace

import own_network
import parts
import places  # noqa: F401 - it says where the rest is
from jmx_play import JmxPlay
from jmx_scene import Scene as JmxScene
from locks_play import LocksPlay
from ndb_play import NdbPlay
from trial import Play, known_peers

# isort: split
from ndb_cluster import NdbCluster
from replication_pair import Pair

REPLICA = {"table_open_cache": 4000}
HEALS = 60  # seconds that a pair, or cluster, may take to heal: then another one is started


class Lane:
    """Keeps a pair, or a cluster, as long as trials leave it usable."""

    def __init__(self, kind, folder):
        self.kind = kind
        self.folder = folder
        self.numbers = itertools.count()
        self.pair = None
        self.is_ndb = kind == "ndb"
        if self.is_ndb:
            self.no_network = own_network.enter()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._drop()

    def play(self, case, strength, path):
        """Play a trial on a pair that is well: why it failed, or an empty text."""
        try:
            if case.part == "jmx":
                self._play_on_jvms(case, strength, path)
                return ""
            self._play(self._pair(case), case, strength, path)
            if case.fresh:
                self._drop()
        except Exception as error:  # noqa: BLE001 - the next trial has another pair
            traceback.print_exc()
            self._drop()
            return f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(":")  # without a server's log
        return ""

    def _play_on_jvms(self, case, strength, path):
        """Play a trial on JVMs of its own: they start in a few seconds."""
        with JmxScene(os.path.join(self.folder, str(next(self.numbers)))) as scene:
            JmxPlay(SimpleNamespace(kind="jmx", scene=scene), case, strength, path).play()

    def _play(self, pair, case, strength, path):
        if self.is_ndb:
            NdbPlay(pair, case, strength, path, self.no_network).play()
        elif case.part == "locks":
            LocksPlay(pair, case, strength, path).play()
        else:
            Play(pair, case, strength, path, known_peers()[0]).play()

    def _pair(self, case):
        """Give one that is well: heal that of the trial before, or start another one."""
        if case.fresh:
            self._drop()
        elif self.pair:
            self._heal()
        if self.pair is None:
            self.place = os.path.join(self.folder, str(next(self.numbers)))
            if self.is_ndb:
                pair = NdbCluster(self.place, sql=True, apart=not self.no_network, **case.settings)
            else:
                pair = Pair(self.place, self.kind, replica=REPLICA)
            self.pair = pair.__enter__()
        return self.pair

    def _heal(self):
        try:
            self.pair.heal(HEALS)
        except Exception:  # noqa: BLE001 - it is of no use any more
            traceback.print_exc()
            self._drop()

    def _drop(self):
        pair, self.pair = self.pair, None
        if pair:
            with contextlib.suppress(Exception):
                pair.__exit__(None, None, None)
            shutil.rmtree(self.place, ignore_errors=True)


def main(kind, folder):
    """Play what is asked for."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else is said there
    with Lane(kind, folder) as lane:
        for line in sys.stdin:
            asked = json.loads(line)
            case = parts.cases(asked["part"])[asked["case"]]
            failed = lane.play(case, asked["strength"], Path(asked["path"]))
            answers.write(json.dumps({"failed": failed}) + "\n")
            answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
