"""``make``, as an administrator or another user runs it in this tree or in another one."""

import os
import subprocess
from pathlib import Path

OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")  # it says where it is, where another make runs it
ROOT = Path(__file__).resolve().parents[2]


def make(target, *places, tree=ROOT, becoming=(), **environment):
    """Run it; its output and errors are text. ``becoming`` are settings of subprocess.run(): as whom."""
    own = {name: value for name, value in os.environ.items() if name not in OF_MAKE}
    return subprocess.run(
        ["make", target, *places], cwd=tree, capture_output=True, text=True, check=False,
        env={**own, **environment}, **dict(becoming),
    )  # fmt: skip


def make_install(*places, **environment):
    """Install into those places."""
    return make("install", *places, **environment)
