"""The programs that a plugin starts end with it: when its time is up, and when somebody ends it."""

import contextlib
import os
import re
import signal
import subprocess
import time

import psutil
import pytest
import software
from asked_servers import wait_for
from floods import jvm
from installing import installable
from loopback import serving
from runs import environment, finish, start
from slow_machine import MORE
from subjects import BY_NAME, RECORDED, UNKNOWN, Place

PATIENT = 90  # seconds of a timeout that is not to come
SHORT = 3  # seconds of one in which the program may have begun
# In the place of Java, or of zstd: it says which process it is.
SLEEPS = """#!/bin/sh
echo $$ >{begun}
exec sleep 60
"""
ENDING = 10  # seconds that the kernel may take to end it


class Asking:
    """A plugin whose program never comes to an end; ``late`` is found in what it says when that is late."""

    def __init__(self, plugin, program, place, *more, late):
        self.late = late
        self._subject = BY_NAME[plugin]
        self._words = self._subject.command(place, *more)
        self._folder = program.parent
        self._begun = program.parent / "begun"
        program.write_text(SLEEPS.format(begun=self._begun))
        program.chmod(0o755)

    def begin(self, home, timeout):
        """Start the plugin: gives its process, and what gives its Outcome at the end."""
        env = environment(home, PATH=f"{self._folder}:{os.environ['PATH']}")
        began = time.monotonic()
        process = start([*self._words, "-t", str(timeout)], home, env=env)
        return process, lambda: finish(process, self._subject, home, began).holds(timeout, UNKNOWN)

    def has_begun(self):
        """Whether the program runs, or has run."""
        return self._begun.exists() and self._begun.read_text().endswith("\n")

    def has_ended(self):
        """Whether it does not run any more, in whatever session."""
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(int(self._begun.read_text())).status() == psutil.STATUS_ZOMBIE
        return True


def java(folder, place):
    late = "has not answered Java within|no verdict within"  # whoever is quicker
    return Asking("jmx", folder / "java", place, "--via", "jmxquery", "--java", folder / "java", late=late)


def zstd(folder, _):
    with installable():
        program = software.program("zstd", "zstd")
    dump = RECORDED / "mysql_backup" / "mariadb-dump" / "all.sql"
    packed = subprocess.run([program, "-qc", dump], stdout=subprocess.PIPE, check=True).stdout
    backup = folder / "all.sql.zst"
    backup.write_bytes(packed)
    place = Place(backup=str(backup))
    return Asking("mysql_backup", folder / "zstd", place, "--verify", "full", late="no verdict within")


@pytest.fixture(params=[java, zstd], ids=lambda one: one.__name__)
def asking(request, tmp_path):
    """A plugin that starts one of them; there is a JVM that says where Java would log in."""
    (tmp_path / "bin").mkdir()
    with serving(jvm({})) as (host, port):
        yield request.param(tmp_path / "bin", Place(host=host, port=port))


def test_a_program_ends_when_the_time_is_up(home, asking):
    for times in MORE:
        _, outcome_of = asking.begin(home, SHORT * times)
        outcome = outcome_of()
        if asking.has_begun():
            break
    assert re.search(asking.late, outcome.line), outcome
    wait_for(asking.has_ended, ENDING)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda one: one.name)
def test_a_program_ends_with_a_plugin_that_is_told_to(home, asking, number):
    process, outcome_of = asking.begin(home, PATIENT)
    wait_for(asking.has_begun)
    process.send_signal(number)
    assert "before the verdict" in outcome_of().line
    wait_for(asking.has_ended, ENDING)
