"""A real Nagios that lets stallwatchd run its checks: plain words, a shell, reloads, kills, restarts."""

import signal
import time

import engine_user
import pytest
import warm_daemon
from nagios import Nagios
from server_process import ServerProcess
from test_nagios_runs import HOST, SERVICE
from warm_daemon import soon

LOG = warm_daemon.ROOT / "tests/recorded/ndb_log/E0_start_and_100s_quiet.ndb_4_out.log"
COMMAND = """
define command {{
    command_name  {name}
    command_line  {line}
}}
"""


class Site:
    """A Nagios with four services, stallwatchd, and the worker between them, all of them the user nagios."""

    def __init__(self, folder, installed):
        self.folder = folder
        binaries = installed / "lib/stallwatch/bin"
        python = {"python": binaries / "python3", "program": binaries / "stallwatchd", "plugins": binaries}
        (folder / "warm").mkdir()
        user = engine_user.becoming()
        self.warm = warm_daemon.Warm(folder / "warm", **python, **user)
        engine_user.copy(LOG, folder)
        plugin, log = self.warm.folder / "bin/check_ndb_log", folder / LOG.name
        words = f"{plugin} --whole --log {log}"
        lines = {
            "words": f"{words} --output 'text'",
            "shell": f"{words} --output $(echo text)",
            "bad": f"{words} --bogus",
            "foreign": "/bin/echo foreign",
        }
        objects = "".join(COMMAND.format(name=name, line=line) for name, line in lines.items())
        objects += HOST + "".join(SERVICE.format(name=name, command=name) for name in lines)
        self.nagios = Nagios(folder / "nagios", objects=objects)
        query_handler = self.nagios.path("rw", "nagios.qh")
        plugins = ("--nagios", str(query_handler), "--plugins", str(self.warm.folder / "bin"))
        self._front = [*self.warm.command, *plugins]
        self._user = user
        self._servers = []

    def start(self):
        """Start all three; who registers does so as soon as Nagios is there."""
        engine_user.give(self.folder)  # its log, too
        self.warm.start()
        self.start_front()
        self.nagios.start()
        self.registered_again(0)

    def start_front(self):
        """Start the worker."""
        self.front = ServerProcess(self._front, self.folder / "front", **self._user)
        self._servers.append(self.front)

    def stop(self):
        """End them."""
        self.nagios.stop()
        for one in self._servers:
            one.stop(grace=15)
        self.warm.stop()

    def run(self, *services):
        """Let Nagios check these, and give their outputs; and how many ran cold."""
        before = self.warm.noted.stat().st_size
        held = self.nagios.check_all([f"db1!{name}" for name in services])
        cold = self.warm.noted.stat().st_size - before
        return [(one.state, one.output) for one in held.values()], cold

    def registrations(self):
        """How often Nagios has registered the plugin: in between a check that it gives away is lost."""
        return self.nagios.path("nagios.log").read_text().count("bin/check_ndb_log\n")

    def registered_again(self, before):
        """Wait until the plugin is registered once more, and is run by stallwatchd."""
        soon(lambda: self.registrations() > before)
        soon(self.is_warm)

    def is_warm(self):
        """Whether stallwatchd runs what Nagios checks."""
        results, cold = self.run("words")
        assert results[0][1].startswith("NDB_LOG OK - "), results
        return not cold


@pytest.fixture
def site(open_path, installed):
    one = Site(open_path, installed)
    try:
        one.start()
        yield one
    finally:
        one.stop()


@pytest.mark.slow(
    "a Nagios that is reloaded, and whose worker is killed, four times each; then it is killed itself"
)
def test_a_nagios_with_stallwatchd(site):
    """Plain words are run warm; the rest as Nagios runs it; nothing is lost, whoever ends."""
    (words, shell, bad, foreign), cold = site.run("words", "shell", "bad", "foreign")
    assert words == shell
    assert bad[0] == 3
    assert "--bogus" in bad[1]
    assert foreign == (0, "foreign")
    assert cold == 1  # that with a shell
    nagios = site.nagios.process.family[0]
    for _ in range(4):
        before = site.registrations()
        nagios.send_signal(signal.SIGHUP)
        site.registered_again(before)
    for _ in range(4):
        for process in site.front.family:
            process.kill()
        site.front.stop()
        results, _ = site.run("words", "bad")
        assert results == [words, bad]
        before = site.registrations()
        site.start_front()
        site.registered_again(before)
    site.warm.stop()
    results, cold = site.run("words", "bad")
    assert (results, cold) == ([words, bad], 2)
    site.warm.start()
    soon(site.is_warm)
    assert nagios.is_running()
    nagios.kill()
    site.nagios.stop()
    for name in ("rw/nagios.cmd", "status.dat"):  # by which it shows that it is ready
        site.nagios.path(name).unlink()
    site.nagios.start()
    soon(site.is_warm)


@pytest.mark.only_in_all_cells
@pytest.mark.slow("a hundred disconnects")
def test_a_hundred_disconnects(site):
    """Nagios lives on, with as many descriptors as before."""
    nagios = site.nagios.process.family[0]
    counts = []
    for _ in range(100):
        for process in site.front.family:
            process.kill()
        site.front.stop()
        site.start_front()
        time.sleep(0.3)
        counts.append(nagios.num_fds())
    soon(site.is_warm)
    assert nagios.is_running()
    assert nagios.num_fds() <= min(counts[:10]) + 40
