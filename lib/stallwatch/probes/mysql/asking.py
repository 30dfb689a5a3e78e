"""Asking a server for signals: what it denies or does not have is left out, and said once."""

from __future__ import annotations

from stallwatch.probes.mysql.statement import having
from stallwatch.sources.mysql import DeniedError, MysqlError, NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from stallwatch.probes.mysql.statement import Row, Statement
    from stallwatch.sources.mysql.privilege import Privilege
    from stallwatch.sources.mysql.server import Server

LONGEST = 2.0  # seconds that one signal may take


class Asking:
    """A server that is asked for signals, none of which is worth losing the others.

    After each statement, ``failed`` is why there is no answer; None: there is one, or it is switched off.
    """

    def __init__(self, server: Server, trace: Callable[[str], None]) -> None:
        self.server = server
        self.missing: dict[str, str] = {}  # a sentence for each GRANT that is missing
        self._trace = trace
        self._useless: dict[str, MysqlError] = {}
        self._switched_off: set[Privilege] = set()
        self.lost: MysqlError | None = None  # what ended the connection
        self.failed: MysqlError | None = None

    @property
    def is_connected(self) -> bool:
        """Whether anything more can be asked."""
        return self.lost is None

    def switch_off(self, needs: Privilege) -> None:
        """Ask nothing more that needs this: it would show nothing, and nobody misses it."""
        self._switched_off.add(needs)

    def rows(self, statement: Statement, *arguments: object, columns: Sequence[str] = ()) -> list[Row]:
        """Ask; nothing comes back of what is denied, not there, takes too long, or lacks ``columns``."""
        off = statement.needs in self._switched_off
        self.failed = None if off else self.lost or self._useless.get(statement.sql)
        if off or self.failed:
            return []
        try:
            return [*having(self.server.rows(statement.sql, *arguments, within=LONGEST), *columns)]
        except DeniedError as error:
            # Ours is one for a whole schema, the server's for each of its tables.
            grant, shows = (one.mysql, one.shows) if (one := statement.needs) else (error.grant, "part of it")
            self.missing.setdefault(grant, f"{shows} (needs {grant})")
            self._useless[statement.sql] = self.failed = error
        except (NoAnswerError, UnreachableError) as error:
            self.lost = self.failed = error  # this connection still waits for the answer
        except MysqlError as error:
            self._trace(f"left out: {error.what}")
            self._useless[statement.sql] = self.failed = error
        return []
