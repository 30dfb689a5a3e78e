"""Which server a connection has reached, and which connection of that server it is."""

from __future__ import annotations

from stallwatch.sources.mysql import MysqlError, NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from stallwatch.sources.mysql.server import Server

# MariaDB has no server_uuid. When it was started tells apart two that were copied, with their names.
_MYSQL = (
    "SELECT CONNECTION_ID() AS connection, USER() AS user,"
    " CONCAT_WS(' ', @@server_uuid, @@hostname, @@port) AS server, 0 AS started"
)
_MARIADB = (
    "SELECT CONNECTION_ID() AS connection, USER() AS user,"
    " CONCAT_WS(' ', @@hostname, @@port, @@server_id, @@datadir) AS server, (SELECT UNIX_TIMESTAMP() -"
    " VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME') AS started"
)
_ABOUT = 2.0  # seconds: whole ones are compared


class Identity(NamedTuple):
    """A connection by its number, the user's name in it, and what is known of its server.

    ``started`` is when that was, in seconds of its clock; 0 where that is not needed.
    """

    connection: int
    user: str
    server: str
    started: float

    def is_at(self, other: Identity) -> bool:
        """Whether both are connections of the same server."""
        return self.server == other.server and abs(self.started - other.started) <= _ABOUT


def identity(server: Server, within: float) -> Identity | None:
    """Ask for it; None: the server, or what is before it, does not tell.

    Raises a MysqlError if the connection is of no more use.
    """
    try:
        rows = server.rows(_MARIADB if server.flavour.mariadb else _MYSQL, within=within)
    except (NoAnswerError, UnreachableError):
        raise
    except MysqlError:
        return None
    if len(rows) != 1:
        return None
    told = rows[0]
    connection, started, name = told.get("connection"), told.get("started"), told.get("server")
    if not isinstance(connection, int) or not isinstance(started, int | float) or not name:
        return None
    return Identity(connection, str(told.get("user")).rpartition("@")[0], str(name), started)
