"""Checks that one would use instead, as Debian has them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "live"))

import software


def peers(wanted):
    """Those that can be had, by name: their paths. ``wanted`` has the packages of each, its own first."""
    os.environ["PATH"] += ":/usr/lib/nagios/plugins"
    paths = {}
    for name, packages in wanted.items():
        try:
            paths[name] = _found(name, *packages)
        except software.Missing as missing:
            print(f"left out: {missing}")
    packages = sorted({package for name in paths for package in wanted[name]})
    if packages:
        shown = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Package} ${Version}, ", *packages],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        print(f"beside {shown.rstrip(', ')}")
    return paths


def _found(name, *packages):
    """The path of a peer; raises Missing."""
    if not shutil.which("dpkg"):
        raise software.Missing(f"{name} is measured as Debian has it")
    if subprocess.run(["dpkg", "--status", *packages], capture_output=True, check=False).returncode:
        software.run(name, software.INSTALL, *packages)
    return software.program(name, packages[0])
