"""Whose MySQL a server is, and which version of it."""

from __future__ import annotations

import re

from stallwatch.startup import NamedTuple

_OLD_PREFIX = "5.5.5-"  # MariaDB before 11 puts it first, for replicas of MySQL that know no version 10


class Flavour(NamedTuple):
    """A server's kind and version."""

    name: str  # "MySQL", "Percona" or "MariaDB"
    version: tuple[int, int, int]
    text: str  # "MariaDB 10.11.19"

    @property
    def mariadb(self) -> bool:
        """Whether it is MariaDB, whose statements and privileges have names of their own."""
        return self.name == "MariaDB"

    def statement_limit(self, seconds: float) -> str:
        """Give the setting, for SET SESSION, by which the server itself ends a statement after this time.

        0 would be for ever. MySQL ends only a SELECT by it.
        """
        if self.mariadb:
            return f"max_statement_time = {seconds:.3f}"
        return f"max_execution_time = {1000 * seconds:.0f}"


def flavour(version: str, comment: str) -> Flavour:
    """Return it by ``@@version`` and ``@@version_comment``.

    MariaDB has its name in the version; Percona, whose versions are MySQL's, has it in the comment.
    """
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?", version.removeprefix(_OLD_PREFIX))
    major, minor, patch = (int(part or 0) for part in numbers.groups()) if numbers else (0, 0, 0)
    name = next(
        (one for one in ("MariaDB", "Percona") if one.lower() in f"{version} {comment}".lower()), "MySQL"
    )
    told = numbers[0] if numbers else "of an unknown version"
    return Flavour(name, (major, minor, patch), f"{name} {told}")
