"""What is to be watched: hosts, and the services of each."""

from __future__ import annotations

import os
import re
from itertools import count
from typing import NamedTuple

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stallwatch.declared import Options, Service

OPTION_FILE = "/etc/stallwatch/mysql.cnf"
PASSWORD_FILE = "/etc/stallwatch/jmx.password"  # noqa: S105 - a path
DOCS = "file:///usr/share/stallwatch/docs"  # of the Debian package: a sheet for each plugin
ONE_PROBLEM = "An unreachable server is one problem: services that ask it send no notifications meanwhile."

_NAMED = "Only {who} names this: uncomment it if it is yours. Its checks log in there, with the same account."

_ADDRESS = re.compile(r"[A-Za-z0-9:][A-Za-z0-9_.:%-]{0,254}")
_LONGEST = 100  # letters of a name


def sheets(environment: str) -> str:
    """Return the URL of the sheets that belong to this ``environment`` of Python; "": none, as after pip."""
    place = shared(environment, "stallwatch/docs")
    return f"file://{place}" if place else ""


def shared(environment: str, path: str) -> str:
    """Return the path below PREFIX/share that belongs to this ``environment`` of Python; "": there is none.

    ``make install`` and the deb put the environment into PREFIX/lib/stallwatch; pip writes no share.
    """
    place = os.path.join(os.path.dirname(os.path.dirname(environment)), "share", path)
    return place if os.path.exists(place) else ""


class Place(NamedTuple):
    """Where a server is for the engine, and how its services get there."""

    name: str
    address: str
    reach: Options


class Host(NamedTuple):
    """A host: what is asked of it from here, and what can only run on it."""

    name: str
    address: str
    about: str
    services: tuple[Service, ...] = ()
    inside: tuple[Service, ...] = ()
    reach: Options = ()  # how every service of it gets there
    local: bool = False  # it is this very host: what runs on it runs here
    named_by: str = ""  # what alone names its address or port: an answer of the server, not the user

    @property
    def every(self) -> tuple[Service, ...]:
        """All services, those that are asked for from here first."""
        return (*self.services, *self.inside)

    def runs(self, service: Service) -> bool:
        """Whether a service that can only run on it can be defined here."""
        return self.local and not service.guessed

    def follows(self, service: Service) -> bool:
        """Whether a service that is defined here has nothing of its own to report when nobody answers."""
        of_process = service.plugin == "mysqld_process" and self.runs(service)
        return not service.leads and (service in self.services or of_process)


class Parts(NamedTuple):
    """The services of a host, each with the name that it has in an engine."""

    asked: list[tuple[str, Service]]  # from here
    here: list[tuple[str, Service]]  # can only run on it, which is here
    inside: list[tuple[str, Service]]  # can only run on it, elsewhere
    leaders: list[str]
    followers: list[str]  # have nothing of their own to report when nobody answers


class Plan(NamedTuple):
    """All that was found, and what is to be said of it."""

    hosts: tuple[Host, ...]
    remarks: tuple[str, ...] = ()


def is_address(text: str) -> bool:
    """Whether it is a host's name or address: what a server sends may be anything."""
    return _ADDRESS.fullmatch(text) is not None


def name(text: str) -> str:
    """Make a name of any text that each engine takes for one."""
    plain = re.sub(r"[^A-Za-z0-9_.:@/ -]", "_", " ".join(text.split()))
    return plain[:_LONGEST].rstrip() or "_"


def apart(names: Iterable[str], form: Callable[[str], str] = str) -> list[str]:
    """Give each of these a name of its own, that an engine takes; ``form`` is how it writes one."""
    given: list[str] = []
    taken: set[str] = set()
    for one in map(name, names):
        ways = (form(f"{one} {number}" if number > 1 else one) for number in count(1))
        given.append(next(way for way in ways if way.lower() not in taken))
        taken.add(given[-1].lower())
    return given


def parts(host: Host, form: Callable[[str], str] = str) -> Parts:
    """Name the services of a host, as ``apart`` does, and sort them by where they run."""
    titles = apart((service.title for service in host.every), form)
    named = [*zip(titles, host.every, strict=True)]
    asked, own = named[: len(host.services)], named[len(host.services) :]
    return Parts(
        asked,
        [(title, one) for title, one in own if host.runs(one)],
        [(title, one) for title, one in own if not host.runs(one)],
        [title for title, one in named if one.leads],
        [title for title, one in named if host.follows(one)],
    )


def commented(definition: str, sign: str) -> str:
    """Put ``sign`` before each line of a definition, for a person to take away."""
    lines = definition.strip().splitlines()
    return "".join(f"{sign}{' ' * bool(line)}{line}\n" for line in lines) + "\n"


def named(definitions: str, who: str, sign: str) -> str:
    """Write what nobody but a server names as a comment, with who that is."""
    return f"\n{sign} {remark(_NAMED.format(who=who))}\n{commented(definitions, sign)}"


def by_key(options: Options) -> dict[str, list[str]]:
    """Give the values of each option: one that may be given several times has several."""
    values: dict[str, list[str]] = {}
    for key, value in options:
        values.setdefault(key, []).append(value)
    return values


def remark(text: str) -> str:
    """Make a text fit for a comment: one line, without what either engine takes for more than a letter."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(line.replace("\\", "/").replace("*/", "* /").split())
