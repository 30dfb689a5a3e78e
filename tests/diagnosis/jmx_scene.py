"""What a case of JVMs is played on: an application with a pool of connections, and its database."""

import contextlib
import os
import signal

import places  # noqa: F401 - it says where the rest is

# isort: split
import pool_servers


class Scene:
    """A case makes trouble on it.

    application  with a pool of 4 connections to ``database``
    tomcat       instead of it, once a case has started that: with 2 threads, and an Executor with 3
    asked        whom the checks ask
    """

    def __init__(self, folder):
        self.folder = folder
        self.note = print
        self.kept = contextlib.ExitStack()

    def __enter__(self):
        self.database = self.kept.enter_context(pool_servers.Database(os.path.join(self.folder, "database")))
        place = os.path.join(self.folder, "application")
        self.application = self.kept.enter_context(pool_servers.Application(place, self.database.sql_port))
        self.asked = self.application
        return self

    def __exit__(self, *error):
        return self.kept.__exit__(*error)

    def start_tomcat(self):
        """Start it, and let the checks ask it."""
        tomcat = pool_servers.Tomcat(os.path.join(self.folder, "tomcat"), 0)
        self.asked = self.tomcat = self.kept.enter_context(tomcat)

    def kill_database(self):
        """End it at once."""
        os.kill(self.database.pid, signal.SIGKILL)

    def freeze_database(self):
        """Let it take no step any more; it ends with the scene."""
        os.kill(self.database.pid, signal.SIGSTOP)
