"""The user that engines and plugins run as, and what that user may read."""

import contextlib
import grp
import os
import pwd
import shutil
import tempfile
from pathlib import Path

import software
from installing import installable

NAME = "nagios"  # whom the engines' packages make


def becoming():
    """Settings of a subprocess that let it run as that user; as ourselves where we may not choose."""
    if os.geteuid():
        return {}
    user = _account()
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def surroundings(folder):
    """Settings of an engine's process: next to nothing; plugins keep their state in its folder."""
    places = {"HOME": str(folder / "home"), "STATE_DIRECTORY": str(folder / "state")}
    return {"cwd": folder, "env": {"PATH": "/usr/local/bin:/usr/bin:/bin", **places}, **becoming()}


def name():
    """Who it runs as."""
    return pwd.getpwuid(os.geteuid()).pw_name if os.geteuid() else NAME


def group():
    """Its group."""
    return grp.getgrgid(os.getegid() if os.geteuid() else _account().pw_gid).gr_name


def _account():
    """The user's entry; who is not there yet comes with the smaller one of the engines."""
    with contextlib.suppress(KeyError):
        return pwd.getpwnam(NAME)
    with installable():
        software.program("icinga2", "icinga2-bin")
    return pwd.getpwnam(NAME)


@contextlib.contextmanager
def open_folder():
    """A new folder that everybody can read."""
    with tempfile.TemporaryDirectory(prefix="stallwatch-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def give(folder):
    """Make a folder and all that is in it that user's, who can get there."""
    reachable(folder)
    if not os.geteuid():
        user = _account()
        for path in (Path(folder), *Path(folder).rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)


def reachable(folder):
    """Let everybody pass to a folder of the tests and read it: pytest's are private."""
    temporary = Path(tempfile.gettempdir())
    for place in (Path(folder), *Path(folder).parents):
        if temporary in place.parents and place.stat().st_mode & 0o055 != 0o055:
            place.chmod(place.stat().st_mode | 0o055)


def copy(source, folder):
    """Put a copy of a file or folder into that folder: the original may be where that user cannot get."""
    source, target = Path(source), Path(folder) / Path(source).name
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return target
