"""A small file system in memory, for what is to find no room. Linux, as root."""

import contextlib
import subprocess

import pytest


@contextlib.contextmanager
def small_tmpfs(folder, size, mode):
    """Meanwhile a new folder is a file system of that size ("4m") and mode; skips where none can be."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode={mode}", "tmpfs", folder]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
