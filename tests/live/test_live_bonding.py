"""check_bonding on real bonds, in a network namespace of their own."""

import shutil
import subprocess
import sys
import time

import plugin_command
import pytest
from plugin_command import PLUGINS, Said

SLOWEST = 60  # seconds until a change is seen; the driver looks every 100 ms


class Network:
    """A network namespace, which lasts as long as a process in it."""

    def __init__(self, home):
        self.home = home
        self.process = subprocess.Popen(
            ["unshare", "--net", "sleep", "600"], stderr=subprocess.PIPE, text=True
        )

    def begin(self):
        """Wait until it is there: the process is called sleep then. OSError: it cannot be made."""
        until = time.monotonic() + SLOWEST
        while self._program() != "sleep":
            if self.process.poll() is not None:
                raise OSError(self.process.stderr.read().strip())
            assert time.monotonic() < until
            time.sleep(0.05)

    def _program(self):
        with open(f"/proc/{self.process.pid}/comm") as file:
            return file.read().strip()

    def command(self, *command, **settings):
        inside = ["nsenter", "--target", str(self.process.pid), "--net", *map(str, command)]
        return subprocess.run(
            inside, capture_output=True, text=True, check=False, timeout=SLOWEST, **settings
        )

    def ip(self, *arguments):
        done = self.command("ip", *arguments)
        if done.returncode:
            raise OSError(done.stderr.strip() or done.stdout.strip())

    def said(self, *arguments):
        plugin = [
            sys.executable,
            PLUGINS / "check_bonding",
            "--timeout",
            "60s",
            "--state-dir",
            self.home / "state",
        ]
        return Said.of(self.command(*plugin, *arguments, env=plugin_command.environment(self.home)))

    def eventually(self, is_so, *arguments):
        """What the plugin says once it is so."""
        until = time.monotonic() + SLOWEST
        while not is_so(told := self.said(*arguments)):
            assert time.monotonic() < until, told.output
            time.sleep(0.2)
        return told

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture
def network(tmp_path):
    """A namespace with bond0 of two links, whose other ends are sw0 and sw1."""
    for program in ("unshare", "nsenter", "ip"):
        if not shutil.which(program):
            pytest.skip(f"no {program} here: install util-linux and iproute2")
    network = Network(tmp_path)
    try:
        network.begin()
        network.ip("link", "add", "bond0", "type", "bond", "mode", "active-backup", "miimon", "100")
        for number in range(2):
            link, end = f"eth{number}", f"sw{number}"
            network.ip("link", "add", link, "type", "veth", "peer", "name", end)
            network.ip("link", "set", end, "up")
            network.ip("link", "set", link, "master", "bond0")
        network.ip("link", "set", "bond0", "up")
    except OSError as error:
        network.end()
        pytest.skip(f"no bond can be made here, which takes root and the module bonding: {error}")
    yield network
    network.end()


def test_links_of_a_real_bond_fail_and_come_back(network):
    network.eventually(lambda told: told.status == 0, "--hold", "0", "--mode", "active-backup")
    network.ip("link", "set", "sw0", "down")
    told = network.eventually(lambda told: "eth0 is down" in told.output, "--hold", "1h")
    assert told.status == 1
    told = network.eventually(lambda told: told.number("bond0_link_failures") >= 1, "--hold", "1h")
    assert told.number("bond0_links_down") == 1
    network.ip("link", "set", "sw1", "down")
    told = network.eventually(lambda told: told.status == 2, "--hold", "1h")
    assert "bond0 is down" in told.text
    for end in ("sw0", "sw1"):
        network.ip("link", "set", end, "up")
    network.eventually(lambda told: told.number("bond0_links_down") == 0, "--hold", "1h")
    network.eventually(lambda told: told.status == 0, "--hold", "0")


def test_a_real_bond_in_another_mode_than_was_meant(network):
    told = network.said("--mode", "bond0=802.3ad", "--expect", "2")
    assert told.status == 2
    assert "1 bond is there, 2 are expected" in told.output or "bond0 is in mode" in told.text
    assert "bond0 is in mode active-backup, not 802.3ad" in told.output


def test_without_any_bond(network):
    network.ip("link", "delete", "bond0")
    told = network.said()
    assert told.status == 3
    assert "no bond is here" in told.text
