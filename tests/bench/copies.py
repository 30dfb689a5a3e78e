"""Copies of the plugins, each with an interpreter: of this tree, made by make install, in the Debian package.

That of the tree is run by an environment without setuptools, whose .pth file costs each run, and which
nothing installed has.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from measured import ROOT, Ours

# isort: split
from making import make_install

PACKAGES = ("pymysql", "nagiosplugin", "psutil")


class Copy(NamedTuple):
    """An interpreter, and the plugins that it is to run."""

    python: Path
    plugins: Path

    def command(self, user, plugin, *words):
        """What to run for a user to run one."""
        becoming = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        return Ours([*becoming, self.python, "-I", self.plugins / plugin, *words])


def environment(folder):
    """The copy in a private environment."""
    return Copy(folder / "bin/python3", folder / "bin")


def tree(folder, of=ROOT):
    """An environment that has a tree's own package, and the others of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    [packages] = folder.glob("lib/python3*/site-packages")
    for name in PACKAGES:
        (packages / name).symlink_to(os.path.dirname(find_spec(name).origin))
    (packages / "stallwatch").symlink_to(of / "lib" / "stallwatch")
    return Copy(folder / "bin/python3", of / "plugins")


def installed(folder):
    """By make install: the environment."""
    done = make_install(f"PREFIX={folder}", f"PLUGINDIR={folder}/plugins")
    if done.returncode:
        sys.exit(done.stderr)
    return Path(folder, "lib/stallwatch")


def unpacked(folder):
    """In the Debian package: the environment, whose interpreter is this machine's."""
    subprocess.run([ROOT / "contrib/debian/build-deb", folder], check=True, stdout=subprocess.DEVNULL)
    [package] = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
    home = folder / "usr/lib/stallwatch"
    interpreter = folder / "usr/bin" / os.path.basename(os.readlink(home / "bin/python3"))
    interpreter.parent.mkdir()
    interpreter.symlink_to(f"/usr/bin/{interpreter.name}")
    return home
