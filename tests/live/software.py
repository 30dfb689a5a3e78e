"""Software for the tests' servers: programs of Debian's packages, and what is got once and kept."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INSTALL = os.path.join(REPOSITORY, "contrib", "debian-install")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "stallwatch")
SYSTEM = "/usr/sbin"  # where daemons are, which is not in everybody's PATH


class Missing(Exception):  # noqa: N818
    """The software is not here. The text says how to get it."""


def program(name, package, home=None):
    """A program from a folder that the user names, from PATH, or from Debian's package. Raises Missing."""
    if not found(name, home):
        _install(package)
    path = found(name, home)
    if not path:
        raise Missing(f"no {name} in PATH although {package} is installed")
    return path


def found(name, home=None):
    """The path of a program in a folder that the user names, or in PATH; None where it is not."""
    path = os.pathsep.join(filter(None, (home and os.path.join(home, "bin"), os.environ.get("PATH"), SYSTEM)))
    return shutil.which(name, path=path)


def file(path, package):
    """A file of Debian's package. Raises Missing."""
    if not os.path.exists(path):
        _install(package)
    if not os.path.exists(path):
        raise Missing(f"no {path} although {package} is installed")
    return path


def _install(package):
    os.makedirs(CACHE, exist_ok=True)
    with alone("debian"):
        run(f"Debian's package {package}", INSTALL, package)


def kept(name, make):
    """The folder of that name in the cache. If it is not there, make(folder) fills it, once and whole."""
    place = os.path.join(CACHE, name)
    if is_kept(name):
        return place
    try:
        os.makedirs(CACHE, exist_ok=True)
        with alone(name):
            if not os.path.isdir(place):
                _fill(place, make)
    except OSError as error:
        raise Missing(f"cannot write into {CACHE}: {error}; set XDG_CACHE_HOME") from error
    return place


def is_kept(name):
    """Whether there is a folder of that name in the cache."""
    return os.path.isdir(os.path.join(CACHE, name))


def _fill(place, make):
    beside = tempfile.mkdtemp(prefix="making-", dir=CACHE)
    try:
        make(beside)
        os.rename(beside, place)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


@contextlib.contextmanager
def alone(name, folder=CACHE):
    """Hold the lock of that name in the folder: one process has it at a time."""
    with open(os.path.join(folder, f"{name}.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(what, *command):
    """Run a command that gets what; the end of what it says is in the Missing if it cannot."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", check=False,
        )  # fmt: skip
    except OSError as error:
        raise Missing(f"cannot get {what}: {error}") from error
    if done.returncode:
        said = re.sub(r"\s+", " ", done.stdout).strip()[-400:]
        raise Missing(f"cannot get {what}: {said}")


def digest(*files):
    """Changes when one of the files does."""
    digest = hashlib.sha256()
    for name in files:
        with open(name, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]
