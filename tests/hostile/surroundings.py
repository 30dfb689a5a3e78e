"""What a plugin is run in: other variables, other descriptors and limits, other mounts, another user."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field

import pytest
from healthy import SAID
from installing import impossible
from runs import environment, finish, start
from subjects import NETWORK, OK, PLUGINS, Place

TIMEOUT = 30  # seconds: this machine may be busy
WITHIN = ("-t", f"{TIMEOUT}s")
NOBODY = 65534
NAMELESS = 54321  # a user without an entry in the password file
ALONE = 50_000 + os.getpid() % 4_000  # one whose processes are ours, not even of tests in another folder
# Python ignores these two, and what is ignored stays so in the program that it becomes (CPython 3.11).
_BECOME = """import ctypes, fcntl, os, resource, signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
{first}
os.execv(sys.argv[1], sys.argv[1:])
"""


@dataclass(frozen=True)
class Surroundings:
    """What is different.

    first      what the process does before it becomes the plugin: statements in Python
    mounts     what is mounted for it alone: commands of a shell
    after      what is done among these mounts when it has ended: commands as well
    variables  of its environment; None: it is not there
    user       the number of the user who it runs as; None: as we do
    """

    first: str = ""
    mounts: str = ""
    after: str = ""
    variables: dict[str, str | None] = field(default_factory=dict)
    user: int | None = None

    def command(self, plugin):
        """The command that runs that of the plugin here."""
        first = self.first
        if self.user is not None:
            first += f"\nos.setgroups([])\nos.setgid({self.user})\nos.setuid({self.user})"
        if first:
            plugin = [sys.executable, "-I", "-S", "-c", _BECOME.format(first=first), *plugin]
        if self.mounts:
            # Private, so that nothing of it is seen by others.
            script = f"mount --make-rprivate /\n{self.mounts}\n"
            script += f'"$@" || status=$?\n{self.after}\nexit $status' if self.after else 'exec "$@"'
            plugin = ["unshare", "--mount", "sh", "-ec", script, "sh", *plugin]
        return plugin

    def environment(self, home, place):
        """The environment, with the password for that place."""
        passwords = dict.fromkeys(("STALLWATCH_MYSQL_PASSWORD", "STALLWATCH_JMX_PASSWORD"), place.password)
        variables = environment(home, **passwords) | self.variables
        return {name: value for name, value in variables.items() if value is not None}

    def need(self):
        """Skip where these cannot be had."""
        if (self.mounts or self.user is not None) and os.geteuid() != 0:
            pytest.skip("other mounts and other users are root's alone")
        if (
            self.mounts
            and subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode
        ):
            impossible("this machine gives nobody mounts of his own")
        if self.user is not None and not _can_read(self.user):
            pytest.skip("this copy of the repository is not for other users to read")


def _can_read(user):
    """Whether another user can run our Python and read the plugins."""
    look = f"sys.exit(not os.access({str(PLUGINS / 'check_host')!r}, os.R_OK))"
    code = f"import os, sys\nos.setgroups([])\nos.setgid({user})\nos.setuid({user})\n{look}"
    asked = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    return asked.returncode == 0


def begin(subject, place, home, surroundings, *more, **settings):
    """Start a plugin in these surroundings: gives the process."""
    surroundings.need()
    settings = {"env": surroundings.environment(home, place)} | settings
    return start(surroundings.command(subject.command(place, *more)), home, **settings)


def run_in(subject, place, home, surroundings, *more, **settings):
    """Run a plugin in these surroundings: gives the Outcome."""
    began = time.monotonic()
    process = begin(subject, place, home, surroundings, *more, **settings)
    return finish(process, subject, home, began, place.password)


ORDINARY = Surroundings()


def is_as_ever(subject, healthy, home, surroundings):
    """Assert that a plugin says what it says in ordinary surroundings."""
    calm, place = healthy(subject)
    well = run_in(calm, place, home, surroundings, *WITHIN).holds(TIMEOUT, OK)
    assert SAID[subject.plugin] in well.line, well
    if subject.source in NETWORK:
        refused = run_in(subject, Place(), home, surroundings, *WITHIN).holds(TIMEOUT, subject.unreachable)
        assert " - 127.0.0.1:9 refused the connection" in refused.line, refused
