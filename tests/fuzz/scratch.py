"""A folder for what targets write, one for each process: empty whenever it is asked for."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def _folder():
    folder = tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def empty(name):
    """Give an empty folder of that name."""
    folder = _folder() / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def file(name, octets):
    """Give the path of a file with these octets."""
    path = _folder() / name
    path.write_bytes(octets)
    return str(path)
