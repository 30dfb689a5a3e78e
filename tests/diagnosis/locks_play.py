"""One trial of locks: a case of one strength; what check_mysql_stalls printed meanwhile."""

import contextlib
import sys

from locks_case import CHECK, CRITICAL, GIVES_UP, WARNING
from locks_scene import Scene
from trial import Play

# isort: split
import plugin_command


class LocksPlay(Play):
    """Plays a case on the source of a pair, or on its replica, and writes down what happens."""

    def _scene(self, pair):
        return Scene(pair)

    def _asked(self, pair):
        return pair.source

    def _password(self):
        return self.scene.pair.monitor.password

    def _play(self):
        case, scene = self.case, self.scene
        for server in (scene.pair.source, scene.pair.replica):
            server.sql(f"SET GLOBAL innodb_lock_wait_timeout = {GIVES_UP}")
        with scene, scene.kept:
            story = case.story(scene, case.strengths[self.strength])
            try:
                next(story)
                self._look_on(self._told(story))
                self.recorder.add(truths=[], heads=scene.heads, may_end=scene.may_end)
            finally:
                story.close()

    def _told(self, story):
        """The rest of a story: what it has begun ends with it."""
        yield next(story)
        with contextlib.suppress(StopIteration):
            next(story)
        self.scene.release()
        yield

    def _commands(self):
        scene = self.scene
        words = [sys.executable, plugin_command.PLUGINS / CHECK, "-S", scene.server.socket,
                 "-u", scene.pair.monitor.user, "-w", WARNING, "-c", CRITICAL,
                 "--state-dir", self.home, "--output", "json", *scene.options]  # fmt: skip
        return {CHECK: words}
