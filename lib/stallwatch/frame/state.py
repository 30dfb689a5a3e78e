"""Memory between runs: one small JSON file per check identity."""

from __future__ import annotations

import fcntl
import json
import math
import os
from contextlib import contextmanager, suppress
from stat import S_ISREG

from stallwatch.accounts import user_name
from stallwatch.deadline import Deadline
from stallwatch.findings import ProbeError
from stallwatch.frame import places
from stallwatch.line import Forms
from stallwatch.memory import Memory
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.hashing import hashlib
from stallwatch.units import say_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


LARGEST = 8 << 20  # bytes
_MOST = 40 << 20  # bytes of memory for what is in it; what is known of 60 000 files takes 28 MiB
_COSTS = {b",": 64, b":": 64, b"[": 88, b"{": 240}  # bytes of memory of what each of these begins, at most
_LONG = 40  # digits, from which a whole number is read as a float; 64 bits have 20
_OWN_PLACE = Forms("give this user a directory of its own with --state-dir", "name another --state-dir")
_SAFELY = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # O_NONBLOCK: a FIFO must not hold us up


class _UnusableError(Exception):
    """A sentence that names the directory or file that cannot be used, and why."""

    def __init__(self, what: str, advice: str = _OWN_PLACE) -> None:
        super().__init__(what)
        self.advice = advice


@contextmanager
def memory(
    identity: dict[str, Any],
    directory: str | None,
    deadline: Deadline,
    problems: list[ProbeError],
    *,
    unchanged: bool = True,
) -> Iterator[Memory]:
    """Give what the last run of this ``identity`` kept (empty: a first run) and keep what it has become.

    It is saved on a clean exit only. What cannot be read or saved is added to ``problems``, and the run
    goes on. Only one run at a time: another one waits until ``deadline`` and then raises ProbeError.
    The file's name begins with ``identity["name"]``. Without ``unchanged`` what has not changed is not saved.
    """
    try:
        store = _Store(identity, directory, deadline)
    except _UnusableError as error:
        problems.append(ProbeError(f"nothing is remembered between runs: {error}", error.advice))
        values = Memory()
        values.problem = str(error)
        yield values
        return
    try:
        if not store.locked:
            problems.append(ProbeError("another run of this check has not ended yet and holds its state"))
            raise problems[-1]
        try:
            values = Memory(store.read())
        except _UnusableError as error:
            problems.append(
                ProbeError(f"the memory of earlier runs is lost and this run counts as the first: {error}")
            )
            values = Memory()
            values.problem = str(error)
        values.path = store.path
        before = dict(values)
        yield values
        try:
            if unchanged or values != before:
                store.write(values)
        except _UnusableError as error:
            problems.append(ProbeError(f"this run cannot be remembered: {error}"))
            values.problem = str(error)
    finally:
        store.close()


def forget(identity: dict[str, Any], directory: str | None) -> None:
    """Remove what is kept of an ``identity``, if anything is."""
    with suppress(_UnusableError):
        store = _Store(identity, directory, Deadline(0))
        try:
            if store.locked:
                with suppress(OSError):
                    os.unlink(f"{store.stem}.json", dir_fd=store.folder)
        finally:
            store.close()


class _Store:
    """The files of one identity, all reached through the descriptor of a directory that was looked at."""

    def __init__(self, identity: dict[str, Any], directory: str | None, deadline: Deadline) -> None:
        canonical = json.dumps(identity, sort_keys=True)
        self.identity = json.loads(canonical)  # tuples have become lists, as in the file
        self.stem = f"{identity['name']}-{hashlib.sha256(canonical.encode()).hexdigest()[:16]}"
        self.place, self.folder = _open_folder(directory)
        self.path = f"{self.place}/{self.stem}.json"
        self.lock: int | None = None
        try:
            self.lock = self._open(f"{self.stem}.lock", os.O_RDWR | os.O_CREAT)
            self.locked = self._hold(self.lock, deadline)
        except OSError as error:
            self.close()
            raise _UnusableError(f"{self.place}/{self.stem}.lock: {error.strerror}") from error

    def _open(self, name: str, flags: int) -> int:
        return os.open(name, flags | _SAFELY, 0o600, dir_fd=self.folder)

    @staticmethod
    def _hold(lock: int, deadline: Deadline) -> bool:
        """Whether the lock could be had before the deadline; the kernel lets go of it when we end."""
        before, deadline.doing = deadline.doing, "waiting for another run, which holds the state"
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not deadline.left():
                    return False
                deadline.rest(0.05)
            else:
                deadline.doing = before
                return True

    def read(self) -> dict[str, Any]:
        """Read what was kept; empty if there is no file yet."""
        try:
            descriptor = self._open(f"{self.stem}.json", os.O_RDONLY)
            with open(descriptor, "rb") as file:
                _must_be_ours(descriptor, self.path)
                about = os.fstat(descriptor)
                size = min(about.st_size, LARGEST) if S_ISREG(about.st_mode) else LARGEST
                octets = file.read(size + 1)  # room for no more is made
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _UnusableError(f"{self.path}: {error.strerror}") from error
        if len(octets) > LARGEST:
            raise _UnusableError(f"{self.path} is larger than {say_size(LARGEST)}")
        if _memory(octets) > _MOST:
            raise _UnusableError(f"{self.path} would take more than {say_size(_MOST)} of memory")
        try:
            content = decoded(octets)
        except (ValueError, RecursionError) as error:
            raise _UnusableError(f"{self.path} is damaged") from error
        match content:
            case {"version": 1, "identity": self.identity, "values": dict(values)}:
                return values
        raise _UnusableError(f"{self.path} was written by another check or version")

    def write(self, values: dict[str, Any]) -> None:
        """Replace what was kept: whoever looks, at any moment, finds the old file or the new one.

        There is no fsync: on a dying or busy disk, when this run is needed most, it would wait without end,
        and no signal ends that. After a power failure XFS, for one, may have an empty file: it is reported as
        damaged, and the run begins anew, UNKNOWN. No other crash, not even a kill -9, can come to that.
        """
        content = {"version": 1, "identity": self.identity, "values": values}
        try:
            octets = json.dumps(content, allow_nan=False).encode()
        except ValueError as error:
            raise _UnusableError("there is a number in it that is none") from error
        if len(octets) > LARGEST:
            raise _UnusableError(f"it would need {say_size(len(octets))}, more than {say_size(LARGEST)}")
        if (size := _memory(octets)) > _MOST:
            raise _UnusableError(f"it would need {say_size(size)} of memory, more than {say_size(_MOST)}")
        new = f"{self.stem}.new"  # always the same name, so that killed runs do not pile up files
        try:
            self._remove(new)
            with open(self._open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(octets)
            os.replace(new, f"{self.stem}.json", src_dir_fd=self.folder, dst_dir_fd=self.folder)
        except OSError as error:
            with suppress(OSError):
                self._remove(new)
            raise _UnusableError(f"{self.path}: {error.strerror}") from error

    def _remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.folder)

    def close(self) -> None:
        """Let go of the lock and the directory."""
        for descriptor in (self.lock, self.folder):
            if descriptor is not None:
                with suppress(OSError):  # all that was to be written is: nothing is lost by it
                    os.close(descriptor)


def decoded(octets: bytes) -> Any:
    """Read JSON whose numbers can all be reckoned with; ValueError or RecursionError: it is damaged.

    A whole number of 400 digits would end any comparison with a float in an OverflowError.
    """
    return json.loads(octets, parse_int=_whole, parse_float=_finite, parse_constant=_finite)


def _whole(text: str) -> int | float:
    return int(text) if len(text) < _LONG else _finite(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _memory(octets: bytes) -> int:
    """Return how much memory the values in a text of JSON take, at most; our own is ASCII."""
    letters = 2 if octets.isascii() else 6
    return letters * len(octets) + sum(octets.count(sign) * size for sign, size in _COSTS.items())


def _open_folder(directory: str | None) -> tuple[str, int]:
    """Open the first place that is there or can be made: its path and a descriptor."""
    chosen = places.candidates(directory)
    refused = []
    for place in chosen:
        try:
            _make(place)
        except OSError as error:
            refused.append(error)
            continue
        return place, _opened(place)
    if os.path.dirname(chosen[0]) != places.SHARED_PLACE:
        raise _UnusableError(f"{chosen[0]} cannot be made: {refused[0].strerror}")
    raise _no_place(chosen, refused)


def _make(place: str) -> None:
    """Make it for us alone; root makes the place of all users so that each can reach what is theirs in it."""
    if os.path.dirname(place) == places.SHARED_PLACE:
        with suppress(FileExistsError, FileNotFoundError):
            os.mkdir(places.SHARED_PLACE)
            os.chmod(places.SHARED_PLACE, 0o755)  # noqa: S103 - whatever umask we have
    os.makedirs(place, 0o700, exist_ok=True)


def _no_place(tried: list[str], refused: list[OSError]) -> _UnusableError:
    """Return what is wrong with the place that is meant, then with the home, and what root can do."""
    user = user_name(os.geteuid())
    told = [f"{place} cannot be made: {error.strerror}" for place, error in zip(tried, refused, strict=True)]
    cure = f"install -d -o {user} -m 700 {tried[0]}"
    if closed := _closed(tried[0]):
        told[0], cure = f"{closed} is closed to {user}", f"chmod 755 {closed}"
    return _UnusableError(", and ".join(told), f"run as root: {cure}, or give --state-dir")


def _closed(place: str) -> str:
    """Find the directory on the way to a place into which we are not let; "": there is none."""
    above = os.path.dirname(place)
    while above != "/":
        try:
            os.stat(f"{above}/.")
        except PermissionError:  # into it, or above it
            if os.path.isdir(above):
                return above
        except OSError:
            pass
        above = os.path.dirname(above)
    return ""


def _opened(place: str) -> int:
    try:
        folder = os.open(place.rstrip("/") or "/", os.O_RDONLY | os.O_DIRECTORY | _SAFELY)
    except OSError as error:
        if os.path.islink(place.rstrip("/")):
            raise _UnusableError(f"{place} is a symbolic link") from error
        raise _UnusableError(f"{place}: {error.strerror}") from error
    try:
        _must_be_ours(folder, place)
    except _UnusableError:
        os.close(folder)
        raise
    return folder


def _must_be_ours(descriptor: int, path: str) -> None:
    try:
        about = os.fstat(descriptor)
    except OSError as error:
        raise _UnusableError(f"{path}: {error.strerror}") from error
    if about.st_uid != os.geteuid():
        raise _UnusableError(f"{path} belongs to {user_name(about.st_uid)}, not to {user_name(os.geteuid())}")
    if about.st_mode & 0o022:
        raise _UnusableError(f"{path} can be written by others than {user_name(os.geteuid())}")
