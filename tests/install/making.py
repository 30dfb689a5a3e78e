"""``make``, as an administrator runs it in this tree."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def make(target, *places, **environment):
    """Run it; its output and errors are text."""
    return subprocess.run(
        ["make", "-s", target, *places], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


def make_install(*places, **environment):
    """Install into those places."""
    return make("install", *places, **environment)
