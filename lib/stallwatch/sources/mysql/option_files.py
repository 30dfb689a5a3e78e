"""MySQL's option files, read as its own programs read them (mysys/my_default.cc of MySQL 9.7).

The last value of an option wins, in the order of the file, whatever the order of the groups asked for.
"""

from __future__ import annotations

import os
import stat
from itertools import islice

from stallwatch.sources import given_file
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import UnusableFileError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_DEEPEST = 10  # includes within includes, as MySQL has it
_LARGEST = 512 << 10  # bytes of a file with all that it includes: an entry takes 50 times as much memory
_MOST = 1000  # files
_BOM = b"\xef\xbb\xbf"  # MySQL itself takes it for an option outside of any group
_SHORTEST = 4  # letters of an abbreviated name, as "pass"
_ESCAPED = {
    b"n": b"\n",
    b"t": b"\t",
    b"r": b"\r",
    b"b": b"\b",
    b"s": b" ",
    b'"': b'"',
    b"'": b"'",
    b"\\": b"\\",
}


class Entry(NamedTuple):
    """A line of a group; the line that begins the group has no name, an option without a value has none."""

    group: str
    name: str = ""
    value: str | None = None
    file: str = ""  # where it stands

    def __repr__(self) -> str:
        return f"Entry({self.group!r}, {self.name!r})"  # never with the value, which may be a password


def read(path: str) -> list[Entry]:
    """Read the file and those that it includes; raises UnusableFileError with a sentence for its owner."""
    return [*_entries(path, 0, _Room(path))]


def options(entries: Iterable[Entry], groups: Iterable[str], known: Iterable[str]) -> dict[str, str | None]:
    """Give the options of these groups that are ``known``, by those names; others are not our business.

    ``-`` and ``_`` are alike, ``loose-`` may stand before a name, and a name may be cut short to four
    letters or more where that leaves no doubt.
    """
    wanted, names = set(groups), [*known]
    found: dict[str, str | None] = {}
    for group, written, value, _ in entries:
        if group in wanted and (name := _name(written, names)):
            found[name] = value
    return found


def files(entries: Iterable[Entry]) -> dict[str, bool]:
    """Return the files in which they stand, and of each whether a password does, of whatever group."""
    found: dict[str, bool] = {}
    for entry in entries:
        secret = _name(entry.name, ["password"]) == "password"
        found[entry.file] = secret or found.get(entry.file, False)
    return found


def _name(written: str, known: list[str]) -> str:
    name = written.replace("_", "-").removeprefix("loose-")
    if name in known:
        return name
    longer = [one for one in known if one.startswith(name)]
    return longer[0] if len(name) >= _SHORTEST and len(longer) == 1 else ""


class _Room:
    """How much an option file and all that it includes may hold."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._octets, self._files = 0, 0

    def take(self, path: str, octets: bytes) -> None:
        """Take in a file."""
        self._octets += len(octets)
        self._files += 1
        if len(octets) > _LARGEST:
            raise UnusableFileError(f"{path} is too large for an option file")
        if self._octets > _LARGEST or self._files > _MOST:
            raise UnusableFileError(f"{self._path} includes too much for an option file, {path} for one")


def _entries(path: str, depth: int, room: _Room) -> Iterator[Entry]:
    group = None
    content = _content(path)
    room.take(path, content)
    for number, line in enumerate(content.removeprefix(_BOM).split(b"\n"), 1):
        stripped = line.strip()
        where = f"{path}, line {number}"
        if not stripped or stripped[:1] in b"#;":
            continue
        if stripped[:1] == b"!":
            yield from _included(stripped[1:].strip(), depth + 1, where, room)
        elif stripped[:1] == b"[":
            name, end, _ = stripped[1:].partition(b"]")
            if not end:
                raise UnusableFileError(f'{where}: the name of the group does not end with "]"')
            group = _text(name.rstrip())
            yield Entry(group, file=path)
        elif group is None:
            raise UnusableFileError(f"{where}: an option outside of any group: write [client] before it")
        else:
            yield _option(group, stripped)._replace(file=path)


def _content(path: str) -> bytes:
    try:
        octets, mode = given_file.content(path, _LARGEST + 1)
    except OSError as error:
        raise UnusableFileError(given_file.unreadable(f"{path} cannot be read", path, error)) from None
    if stat.S_ISREG(mode) and mode & stat.S_IWOTH:
        raise UnusableFileError(f"{path} can be written by everybody, so MySQL would ignore it: chmod o-w")
    return octets


def _included(directive: bytes, depth: int, where: str, room: _Room) -> Iterator[Entry]:
    """Read what is included; a missing file is none, as for MySQL, and so is what is not to be understood."""
    word, _, argument = directive.partition(b" " if b" " in directive else b"\t")
    path = os.fsdecode(argument.strip())
    if word not in (b"include", b"includedir") or not path or "\0" in path:
        return
    if depth >= _DEEPEST:
        raise UnusableFileError(
            f"{where}: {_DEEPEST} files include one another: check whether one includes itself"
        )
    for file in [path] if word == b"include" else _configurations(path, where):
        if os.path.exists(file):
            yield from _entries(file, depth, room)


def _configurations(directory: str, where: str) -> list[str]:
    try:
        with os.scandir(os.fsencode(directory)) as entries:
            names = [*islice((entry.name for entry in entries if entry.name.endswith(b".cnf")), _MOST + 1)]
    except OSError as error:
        said = f"{where}: {directory} cannot be read"
        raise UnusableFileError(given_file.unreadable(said, directory, error)) from None
    if len(names) > _MOST:
        raise UnusableFileError(f"{where}: {directory} has more than {_MOST} option files")
    return [os.path.join(directory, os.fsdecode(name)) for name in sorted(names)]


def _option(group: str, line: bytes) -> Entry:
    name, equals, value = _without_comment(line).partition(b"=")
    if not equals:
        return Entry(group, _text(name.strip()))
    value = value.strip()
    if len(value) > 1 and value[:1] in b"\"'" and value[:1] == value[-1:]:
        value = value[1:-1]
    return Entry(group, _text(name.strip()), _text(_unescaped(value)))


def _without_comment(line: bytes) -> bytes:
    """Cut it at the first ``#`` that is not within quotes."""
    quote, escaped = b"", False
    for at in range(len(line)):
        letter = line[at : at + 1]
        if letter in b"\"'" and not escaped:
            quote = letter if not quote else b"" if quote == letter else quote
        if letter == b"#" and not quote:
            return line[:at]
        escaped = bool(quote) and letter == b"\\" and not escaped
    return line


def _unescaped(value: bytes) -> bytes:
    r"""Replace ``\s`` and the like; a backslash before any other letter, or at the end, is one."""
    parts, at = [], 0
    while (slash := value.find(b"\\", at)) >= 0 and slash + 1 < len(value):
        letter = value[slash + 1 : slash + 2]
        parts += [value[at:slash], _ESCAPED.get(letter, b"\\" + letter)]
        at = slash + 2
    return b"".join([*parts, value[at:]])


def _text(octets: bytes) -> str:
    """Make text of it that can be turned back into the same bytes: a password may be in any encoding."""
    return octets.decode(errors="surrogateescape")
