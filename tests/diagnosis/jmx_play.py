"""One trial on JVMs: a case of one strength; what checks printed meanwhile."""

import sys

from jmx_case import COLLECTING, POOLS
from trial import Play

# isort: split
import plugin_command

COLLECTED = (  # as ``discover jmx`` prints it
    "-O java.lang:type=GarbageCollector,name=* -A CollectionTime"
    " --unit ms --rate --aggregate sum -w 100 -c 300"
)


class JmxPlay(Play):
    """Plays a case on JVMs of its own, and writes down what happens. ``place``: its kind and its scene."""

    def _scene(self, place):
        return place.scene

    def _password(self):
        return ""

    def _version(self, place):
        """Java's."""
        return place.scene.application.jcmd("VM.version").split("JDK ")[-1].strip()

    def _play(self):
        case, scene = self.case, self.scene
        story = case.story(scene, case.strengths[self.strength])
        try:
            next(story)
            self._look_on(story)
            self.recorder.add(truths=[])
        finally:
            story.close()

    def _commands(self):
        port = self.scene.asked.port
        words = {
            POOLS: ["--deadlocks", "--output", "json"],
            COLLECTING: COLLECTED.split(),
        }
        return {
            check: [sys.executable, plugin_command.PLUGINS / check.partition(" ")[0], "-H", "127.0.0.1",
                    "-P", port, "--state-dir", self.home / check.replace(" ", "-"), *options]
            for check, options in words.items()
        }  # fmt: skip
