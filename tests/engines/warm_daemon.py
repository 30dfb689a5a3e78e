"""A stallwatchd of the tests, and plugins that are run by it, behind the stub that is shipped."""

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import engine_user
import psutil
from server_process import ServerProcess

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"

PATIENCE = 60  # seconds for what comes soon
PROGRAM = ROOT / "contrib/stallwatchd"
# Who is not root would not see what its processes have open (trust.hide_memory), which tests look at.
SEEN = "from stallwatch.warm import daemon, trust\ntrust.hide_memory = int\ndaemon.main()  # stallwatchd"
STUB = (ROOT / "contrib/warm-stub").read_text()
INSTALLED, SOCKET = "/usr/lib/stallwatch/bin", "/run/stallwatch/stallwatchd.socket"  # in the stub


# As the shipped unit: no capability, nothing to gain, and nothing to write but a folder. Its filter of system
# calls and its limits are left out: only systemd can set them.
POWERLESS = ("setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all")
CONFINED = """
mount --bind "$1" "$1"
while read -r _ point _; do
    case $point in "$1" | /proc* | /sys* | /dev*) ;; *) mount -o remount,bind,ro "$point" || : ;; esac
done </proc/self/mounts
shift
exec "$@"
"""


class Outcome:
    """Exit status and output of a run, and whether stallwatchd ran it."""

    def __init__(self, done, *, warm):
        self.status, self.stdout, self.warm = done.returncode, done.stdout, warm

    @property
    def text(self):
        """What it printed."""
        return self.stdout.decode()


class Warm:
    """A stallwatchd in a folder, with stubs for all plugins. A stub that goes cold writes that down."""

    def __init__(
        self, folder, *, python=sys.executable, program=PROGRAM, plugins=PLUGINS, confined=False, **process
    ):
        self.folder = Path(folder)
        self.socket, self.noted = self.folder / "run" / "socket", self.folder / "cold"
        self.stubs, cold = self.folder / "warm", self.folder / "bin"
        for place in (self.socket.parent, self.stubs, cold):
            place.mkdir(parents=True, exist_ok=True)
        (self.stubs / "stub").write_text(STUB.replace(INSTALLED, str(cold)).replace(SOCKET, str(self.socket)))
        (self.stubs / "stub").chmod(0o755)
        for plugin in PLUGINS.glob("check_*"):
            (self.stubs / plugin.name).symlink_to("stub")
            script = f'#!/bin/sh\necho >>{self.noted}\nexec {python} {plugins / plugin.name} "$@"\n'
            (cold / plugin.name).write_text(script)
            (cold / plugin.name).chmod(0o755)
        self.noted.write_text("")
        run = ["-c", SEEN] if os.geteuid() and program == PROGRAM else [str(program)]
        self.command = [str(python), *run, "--socket", str(self.socket)]
        self._before = POWERLESS if confined else ()
        if confined:
            confine = ("unshare", "--mount", "sh", "-ec", CONFINED, "sh", str(self.folder.parent))
            self.command = [*confine, *POWERLESS, *self.command]
        self._more = process

    def start(self):
        """Start it, and wait until it answers."""
        if "user" in self._more:
            engine_user.give(self.folder)
        self.process = ServerProcess(self.command, self.folder / "log", **self._more)
        user = {name: value for name, value in self._more.items() if name != "env"}
        soon(lambda: self.run("check_host", "--version", **user).warm)
        self.noted.write_text("")
        return self

    def stop(self):
        """End it, and all that it started."""
        self.process.stop(grace=15)

    @property
    def supervisor(self):
        """Its first process that is Python: not there for a moment while a new version takes over."""
        found = []
        soon(lambda: found.extend(filter(_supervises, self.process.family)) or found)
        return found[0]

    @property
    def workers(self):
        """Its workers."""
        return self.supervisor.children()

    def environment(self, **more):
        """What a stub needs, and next to nothing else."""
        home = {"HOME": str(self.folder), "STATE_DIRECTORY": str(self.folder / "state")}
        return {"PATH": os.environ["PATH"], **home, **more}

    def begin(self, plugin, *words, environment=None, **more):
        """Begin a run behind the stub."""
        command = [str(self.stubs / plugin), *map(str, words)]
        environment = self.environment(**environment or {})
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, **more)

    def run(self, plugin, *words, environment=None, **more):
        """Run a plugin behind the stub. That it is run cold is known if nobody else is at the same time."""
        before = self.noted.stat().st_size
        with self.begin(plugin, *words, environment=environment, **more) as process:
            stdout, _ = process.communicate(timeout=PATIENCE)
        done = subprocess.CompletedProcess(process.args, process.returncode, stdout)
        return Outcome(done, warm=self.noted.stat().st_size == before)

    def cold(self, plugin, *words, environment=None, **more):
        """The same as an ordinary plugin."""
        command = [*self._before, sys.executable, str(PLUGINS / plugin), *map(str, words)]
        environment = self.environment(**environment or {})
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False, **more
        )
        return Outcome(done, warm=False)


def _supervises(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return "stallwatchd" in " ".join(process.cmdline())
    return False


@contextlib.contextmanager
def running(folder, **more):
    """Meanwhile a stallwatchd serves in that folder."""
    with serving(Warm(folder, **more)) as warm:
        yield warm


@contextlib.contextmanager
def serving(warm):
    """Meanwhile this one serves."""
    try:
        yield warm.start()
    finally:
        warm.stop()


def mostly(outcomes):
    """Whether nearly all were answered by a worker: on a busy machine one may have been run cold."""
    return sum(outcomes) > 0.9 * len(outcomes) - 1


def lives(pid):
    """Whether a process of that number runs."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def soon(condition):
    """Wait until it holds; fails if it does not."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it does not happen"
        time.sleep(0.02)
