"""One trial: a case of one strength on a pair; what checks printed meanwhile, and what was true."""

import functools
import os
import shutil
import sys
import time
from types import SimpleNamespace

import places
from polling import Polls
from record import ALONE, WITH_SOURCE, Recorder
from scene import TABLE, Scene
from truth import lag_within, true_lag
from witness import Witness

# isort: split
import plugin_command
from case import CRITICAL, WARNING
from mysql import Commands
from pairs import version
from peers import peers
from starter import PATH

PEERS = ("check_mysql_health", "pmp-check-mysql-replication-delay")
STEP = 1.0  # seconds between the true lags that are kept
PHASES = 3.0  # seconds by which strengths meet the rhythm of the check at another moment


@functools.cache
def known_peers():
    """The paths of those that can be had, and of which version they are."""
    told = SimpleNamespace(software={}, left_out=[])
    told.leave_out = lambda why: told.left_out.append(str(why))
    return peers(told, *PEERS), told


class Play:
    """Plays a case on a pair, and writes down what happens."""

    def __init__(self, pair, case, strength, path, paths=None):
        self.case = case
        self.strength = strength
        self.home = path.with_suffix("")
        self.paths = paths
        self.scene = self._scene(pair)
        head = {"case": case.name, "server": pair.kind, "strength": strength, "begun": time.time(),
                "version": self._version(pair)}  # fmt: skip
        self.recorder = Recorder(path, head)
        self.scene.note = self.recorder.event

    def _scene(self, pair):
        return Scene(pair, self.home)

    def _version(self, pair):
        return version(self._asked(pair))

    def _asked(self, pair):
        """Who is asked for its version."""
        return pair.replica

    def _password(self):
        return self.scene.account.password

    def play(self):
        """Play it through; what goes wrong is written down, and raised."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        with self.recorder:
            try:
                self._play()
            except BaseException as error:
                self.recorder.add(failed=f"{type(error).__name__}: {error}"[:500])
                raise
            finally:
                shutil.rmtree(self.home, ignore_errors=True)

    def _play(self):
        case, scene = self.case, self.scene
        story = case.story(scene, case.strengths[self.strength])
        with scene.kept:
            try:
                next(story)
                if scene.writer is None:
                    scene.load()
                with Witness(scene.watched, TABLE) as witness:
                    time.sleep(1)
                    self._look_on(story)
                    self._keep_truth(witness.seen)
            finally:
                story.close()

    def _look_on(self, story):
        case, place = self.case, list(self.case.strengths).index(self.strength)
        with Polls(self._commands(), self._environment(), self.recorder, case.every) as polls:
            polls.go_on(case.warm + PHASES * (place - len(case.strengths) // 2))
            self.recorder.event("injected")
            polls.go_on(case.lasts, meanwhile=lambda: next(story))
            self.recorder.event("taken back")
            polls.go_on(case.after, meanwhile=lambda: next(story, None))

    def _keep_truth(self, seen):
        committed = tuple(self.scene.writer.committed)
        truths = [
            lag_within(committed, seen, run.begun, run.ended) or (None, None) for run in self.recorder.runs
        ]
        begun, ended = self.recorder.runs[0].begun, time.time()
        moments = [begun + STEP * number for number in range(int((ended - begun) / STEP))]
        lags = [(at, sum(lag) / 2) for at in moments if (lag := true_lag(committed, seen, at))]
        self.recorder.add(
            delay=self.scene.delay,
            truths=[[None if one is None else round(one, 2) for one in truth] for truth in truths],
            lags=[[round(at, 1), round(lag, 2)] for at, lag in lags],
        )

    def _commands(self):
        scene = self.scene
        words = [sys.executable, plugin_command.PLUGINS / "check_replication_lag", "-S", scene.watched.socket,
                 "-u", scene.account.user, "-w", WARNING, "-c", CRITICAL, *scene.options]  # fmt: skip
        named = (scene.upstream, *scene.above)
        asked = [word for one in named for word in ("--source", f"127.0.0.1:{one.port}")]
        if scene.is_mysql:
            asked += ["--ssl-mode", "REQUIRED"]  # for a password that the server has not seen yet
        limits = ("-w", WARNING, "-c", CRITICAL)
        others = Commands(scene.pair, scene.watched, self.paths)
        pmp = ("-S", scene.watched.socket, "-l", scene.pair.monitor.user, "-p", scene.pair.monitor.password)
        return {
            ALONE: [*words, "--state-dir", self.home / "alone"],
            WITH_SOURCE: [*words, "--state-dir", self.home / "source", *asked],
            **{name.partition(" ")[0]: command for name, command in others.health(
                "slave-lag", "--warning", f"{WARNING:g}", "--critical", f"{CRITICAL:g}").items()},
            **others.known("pmp-check-mysql-replication-delay", *(f"{word:g}" if isinstance(word, float)
                           else word for word in limits), *pmp),
        }  # fmt: skip

    def _environment(self):
        return plugin_command.environment(self.home) | {
            "PATH": f"{os.path.dirname(sys.executable)}:{PATH}",
            "PYTHONPATH": str(places.ROOT / "lib"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "STALLWATCH_MYSQL_PASSWORD": self._password(),
        }
