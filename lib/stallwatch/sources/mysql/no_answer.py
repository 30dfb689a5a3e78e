"""Why a statement has no answer, in a sentence."""

from __future__ import annotations

import re

from stallwatch.line import Forms, shorten
from stallwatch.sources.mysql.connection import TooMuchError
from stallwatch.sources.mysql.errors import (
    DeniedError,
    MissingTableError,
    MysqlError,
    NoAnswerError,
    NoTimeError,
    UnknownStatementError,
    UnreachableError,
)
from stallwatch.sources.mysql.facts import Facts
from stallwatch.sources.mysql.literals import identifier
from stallwatch.sources.mysql.no_log_in import refusal
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration
from stallwatch.withheld import WITHHELD

if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.sources.mysql.process_here import Why

_LONGEST = 80  # bytes of a statement
_NO_TIME = 0.05  # seconds: of a server that was given no more it is not said that it does not answer
_BETWEEN = "check that it is a MySQL server, and what is in between"
_TOO_MUCH = "check that it is a MySQL server, then ask for less: a check takes 8 MiB at once"

# Error numbers of MySQL 9.7 and MariaDB 10.11.
_ENDED = (1053, 1077, 1079, 1927, 4031)  # shutting down, killed, idle for too long
_LATE = (1205, 1969, 3024)  # the server's own time-outs, of locks and of statements
_UNKNOWN = 1064
_NO_TABLE = (1049, 1109, 1146)  # MySQL reports the database first
_DATABASE, _TABLE, _COLUMN, _PRIVILEGE, _ROUTINE = 1044, 1142, 1143, 1227, 1370
_DENIED = (_DATABASE, _TABLE, _COLUMN, _PRIVILEGE, _ROUTINE)


class Asked(NamedTuple):
    """A statement without an answer: of whom, by whom (``mon``, account ``mon@%``), and for how long."""

    sql: str
    where: str
    user: str
    account: str
    waited: float
    why: Callable[[], Why | None] = lambda: None  # what keeps the server from answering

    @property
    def shortly(self) -> str:
        """The statement for a sentence."""
        return shorten(" ".join(self.sql.split()), _LONGEST)

    def sentence(self, what: str, *shorter: str) -> Forms:
        """Write what came back, and which statement was asked: short forms leave that out first."""
        return Forms(f"{what}: asked {self.shortly}", what, *shorter)


def reason(failure: Exception, asked: Asked) -> MysqlError:
    """Return why."""
    facts = Facts(failure)
    if isinstance(failure, TooMuchError):
        return UnreachableError(asked.sentence(f"{asked.where} answers too much to be read"), _TOO_MUCH)
    if facts.late or facts.number in _LATE:
        late = _late(asked, facts)
        late.waited = asked.waited
        return late
    if facts.lost or facts.number in _ENDED:
        return UnreachableError(
            asked.sentence(f"{asked.where} closed the connection"),
            "check whether it restarted, or the connection was killed", facts.number,
        )  # fmt: skip
    if not facts.by_server:
        return UnreachableError(asked.sentence(f"{asked.where} breaks MySQL's protocol"), _BETWEEN)
    return _refused(asked, facts)


def _late(asked: Asked, facts: Facts) -> NoAnswerError:
    what = f"{asked.where} has not answered within {say_duration(round(asked.waited, 1))}"
    if facts.number in _LATE:
        return NoAnswerError(asked.sentence(f"{what}: {facts.quoted(asked.sql)}", what), "", facts.number)
    if asked.waited < _NO_TIME:  # another run had the state until now, or the machine is busy
        return NoTimeError(f"no time was left to ask {asked.where}: {asked.shortly}", "raise --timeout")
    if why := asked.why():
        return NoAnswerError(Forms(f"{why.what} ({what})", why.what), why.advice)
    return NoAnswerError(asked.sentence(what))


def _refused(asked: Asked, facts: Facts) -> MysqlError:
    number, quoted = facts.number, facts.quoted(asked.sql, asked.account)
    if number in _DENIED:
        return _denied(asked, number, facts.said, quoted)
    if number == _UNKNOWN:
        _, _, near = quoted.partition(" to use ")  # "near 'SELEC 1' at line 1", where messages are in English
        near = WITHHELD if quoted == WITHHELD else near
        what = f"{asked.where} does not know the statement {asked.shortly}"
        return UnknownStatementError(f"{what}: {near}" if near else what, "", number)
    if number in _NO_TABLE:
        return MissingTableError(asked.sentence(f"{asked.where} reports: {quoted}"), "", number)
    if found := refusal(number, asked.where, asked.user):
        return found
    what = f"{asked.where} reports: {quoted} (error {number})"
    return MysqlError(asked.sentence(what), "", number, facts.said)


def _denied(asked: Asked, number: int, said: str, quoted: str) -> DeniedError:
    grant = missing_grant(number, said, asked.sql)
    user, _, host = asked.account.rpartition("@")
    account = f"'{user}'@'{host}'"
    if not grant:
        return DeniedError(asked.sentence(f"{asked.where} reports: {quoted}"), "", number)
    if not user:  # what is granted to it, all who log in by any name have
        return DeniedError(
            f"{asked.where} denied {asked.shortly} to the anonymous account {account}, as which it let us in",
            f"create an account for {asked.user}: contrib/mysql/grants.sql", number,
        )  # fmt: skip
    privilege, _, on = grant.partition(" on ")
    denied = Forms(
        f"{asked.where} denied {asked.shortly} to the user {asked.user}, who needs {grant}",
        f"{asked.where} denied {asked.shortly} to the user {asked.user}",
        f"{asked.where} denied a query to the user {asked.user}",
    )
    return DeniedError(
        denied,
        f"GRANT {privilege} ON {on or '*.*'} TO {account}", number, grant, account,
    )  # fmt: skip


def missing_grant(number: int, said: str, sql: str) -> str:
    """Return the privilege that is missing: ``PROCESS``, ``SELECT on sys.metrics``; "" if that is not said.

    1227 names privileges in capitals, whatever the language (lc_messages), SUPER before better ones. 1142
    and 1143 name the table, MySQL 9.7 without its database, MariaDB 10.11 with it.
    """
    if number == _PRIVILEGE:
        named = re.findall(r"\b[A-Z][A-Z_]{3,}(?: [A-Z_]{2,})*", said)
        return next((one for one in named if one != "SUPER"), *named[:1]) if named else ""
    quoted = re.findall(r"(?:`([^`]*)`\.)?[`']([^`']+)[`']", said)
    if not quoted:
        return ""
    database, name = quoted[-1]
    if number == _DATABASE:
        return f"SELECT on {_quoted(name)}.*"
    if number == _ROUTINE:
        return f"EXECUTE on {'.'.join(map(_quoted, name.split('.')))}"
    if not database and (found := re.search(rf"\b(\w+)`?\.`?{re.escape(name)}\b", sql, re.IGNORECASE)):
        database = found[1]
    return f"SELECT on {'.'.join(_quoted(part) for part in (database, name) if part)}"


def _quoted(name: str) -> str:
    """Write a name as a statement takes it."""
    plain = re.fullmatch(r"\w+", name, re.ASCII) and not name.isdigit()
    return name if plain else identifier(name)
