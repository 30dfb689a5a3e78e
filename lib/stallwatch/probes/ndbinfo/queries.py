"""ndbinfo, one small statement at a time: a missing row is never taken for health."""

from __future__ import annotations

import re

from stallwatch import units, withheld
from stallwatch.deadline import LITTLE_TIME
from stallwatch.findings import ProbeError
from stallwatch.line import Forms
from stallwatch.probes.mysql.asking import meant
from stallwatch.sources.mysql import DeniedError, MysqlError, NoAnswerError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from stallwatch.deadline import Deadline
    from stallwatch.sources.mysql import Server, Value

    Row = dict[str, Value]

# Seconds until it is asked again. An SQL node that has given up a data node frozen for 5 s can lose them all
# for 2 s (9.7.2).
_AGAIN = 2.0
# HA_ERR_NO_CONNECTION: a data node ended while it was asked, or none is connected. NDB's own 4009 is the
# same: "Cluster Failure".
_LOST = r"\b(?:157|4009) '"
_GOT_ERROR = (1296, 1297)  # ER_GET_ERRMSG, ER_GET_TEMPORARY_ERRMSG: an error of NDB's own
# A frozen data node keeps ndbinfo silent for 5 s. An SQL node that was started without a cluster was once
# silent for good when it had one (9.7.2).
_FROZEN = 5.0
_SILENT = 'check for a frozen data node (ndb_mgm -e "all status")'
_SILENT_LONGER = f"{_SILENT}, otherwise restart that SQL node"
_NO_ENGINE = 1286  # ER_UNKNOWN_STORAGE_ENGINE
_DATA_NODES, _READY = "Ndb_number_of_data_nodes", "Ndb_number_of_ready_data_nodes"
# Numbers of parameters in ndbinfo.config_params: CFG_DB_... of mgmapi_config_parameters.h.
NO_OF_REPLICAS, ARBITRATION, DISK_PAGE_BUFFER_MEMORY = 101, 142, 160
_VALUES = "SELECT node_id, config_value FROM ndbinfo.config_values WHERE config_param = %s"


class ClusterDownError(ProbeError):
    """No data node is connected to the SQL node: nothing is known of any.

    That alone does not prove that the cluster is down. An SQL node loses all data nodes for some seconds
    while one of them is frozen (9.7.2).

    ``configured`` is how many there are to be; 0: the SQL node does not know.
    """

    def __init__(self, what: str, advice: str = "", configured: int = 0) -> None:
        super().__init__(what, advice)
        self.configured = configured


class Ndbinfo:
    """The ndbinfo of one SQL node. ``where`` names it."""

    def __init__(self, server: Server, deadline: Deadline) -> None:
        self.where = server.where
        self.version = server.flavour.version  # of its MySQL
        self.deadline = deadline
        self._server = server

    def rows(self, sql: str, *arguments: object) -> list[Row]:
        """Give the rows of a statement, which may be none; raises a ProbeError.

        A data node that ends meanwhile fails the statement once (measured: one in 300): it is asked again.
        """
        try:
            return self._rows(sql, arguments)
        except MysqlError as error:
            if not _is_lost(error):
                raise
        return self._rows_again(sql, arguments)

    def _rows_again(self, sql: str, arguments: tuple[object, ...]) -> list[Row]:
        self.configured()  # which is an answer of its own if none is left
        self._pause()
        try:
            return self._rows(sql, arguments)
        except MysqlError as error:
            if _is_lost(error):
                self.configured()
            raise

    def some(self, sql: str, *arguments: object) -> list[Row]:
        """Give the rows of a statement that has some on every cluster that is up; raises why it has none.

        It is asked again if nothing shows why: a data node that ends may take the rows of others with it.
        """
        if rows := self.rows(sql, *arguments):
            return rows
        self.believe_nothing(sql)
        if rows := self._rows_again(sql, arguments):
            return rows
        raise self._reason_for_nothing(sql, self._notes())

    def rows_in(self, sql: str, values: Collection[object]) -> list[Row]:
        """Give the rows of a statement with ``IN (%s)``, for any number of values; raises a ProbeError."""
        if not values:
            return []
        places = ", ".join(["%s"] * len(values))
        return self.rows(sql.replace("IN (%s)", f"IN ({places})"), *values)

    def believe_nothing(self, sql: str) -> None:
        """Raise why the last statement gave nothing of a table, unless that may well be empty."""
        if notes := self._notes():
            raise self._reason_for_nothing(sql, notes)

    def configured(self) -> int:
        """Count the configured data nodes, as mysqld knows by itself, whatever they answer.

        Raises ClusterDownError if none of them is ready, a moment later neither; a ProbeError if this
        server is no SQL node.
        """
        try:
            return self._configured()
        except ClusterDownError:
            self._pause()
            return self._configured()

    def _pause(self) -> None:
        self.deadline.doing = f"waiting for the data nodes of {self.where}"
        self.deadline.rest(min(_AGAIN, self.deadline.left() / 4))

    def _configured(self) -> int:
        answer = self._server.rows("SHOW GLOBAL STATUS LIKE 'Ndb_number_of_%'")
        numbers = {str(row["Variable_name"]): str(row["Value"]) for row in answer}
        count = numbers.get(_DATA_NODES, "")
        if units.whole(count, 9) is None:
            raise ProbeError(
                f"{self.where} is no SQL node of an NDB Cluster: it knows of no data nodes",
                "ask a mysqld that runs with --ndbcluster, see SHOW ENGINES",
            )
        if int(count) == 0:  # it does not know yet: 9.7.2, whether a management server answers it or not
            raise ClusterDownError(
                f"{self.where} has reached no data node since it was started",
                "start ndb_mgmd unless ndb_mgm -e show answers, then check ndb_connectstring",
            )
        if numbers.get(_READY) == "0":
            raise ClusterDownError(
                f"none of {count} data nodes is connected to {self.where}",
                "run ndb_mgm -e show (no answer: start ndb_mgmd), then see each ndb_N_out.log",
                int(count),
            )
        return int(count)

    def _rows(self, sql: str, arguments: tuple[object, ...]) -> list[Row]:
        try:
            return self._server.rows(sql, *arguments)
        except DeniedError as error:
            if "ndbinfo" not in error.grant:
                raise
            advice = f"GRANT SELECT ON ndbinfo.* TO {error.account}"
            what = error.what.partition(", who needs ")[0]  # the advice grants more than this one table
            raise DeniedError(what, advice, error.number, "SELECT on ndbinfo.*", error.account) from None
        except NoAnswerError as error:
            if "ndbinfo." in sql and error.waited >= LITTLE_TIME:
                error.advice = error.advice or (_SILENT_LONGER if error.waited > _FROZEN else _SILENT)
            raise
        except MysqlError as error:
            if error.number != _NO_ENGINE:
                raise
            raise ProbeError(error.what, "start that mysqld with --ndbinfo=ON") from None

    def _notes(self) -> str:
        """Give what the server has noted of the last statement."""
        return "; ".join(str(row["Message"]) for row in self._server.rows("SHOW WARNINGS"))

    def _reason_for_nothing(self, sql: str, notes: str) -> ProbeError:
        """Return why a table is empty: ndbinfo shows it in a note (offline, data nodes not upgraded yet)."""
        table = next(iter(re.findall(r"\bndbinfo\.(\w+)", sql)), "ndbinfo")
        said = withheld.message(notes, sql)
        nothing = f"{self.where} has no rows in ndbinfo.{table}"
        if "ndbinfo_offline" not in notes:
            return ProbeError(f"{nothing}: {said}" if notes else f"{nothing}, and no data node answers it")
        online = "SET GLOBAL ndbinfo_offline = 0"
        advice = Forms(f"{online}, unless the server is being upgraded", f"{online} unless it is upgraded")
        error = ProbeError(f"{nothing}, ndbinfo is offline", advice)
        error.more = (f"the server: {said}",)
        return error


def _is_lost(error: MysqlError) -> bool:
    return error.number in _GOT_ERROR and bool(re.search(_LOST, error.said or error.what))


def configured(ndbinfo: Ndbinfo, parameter: int) -> dict[int, str]:
    """Ask what each node that answers has a parameter set to; the table is of 7.5.0 and later."""
    return {whole(row, "node_id"): str(row["config_value"]) for row in ndbinfo.rows(_VALUES, parameter)}


def number(row: Row, column: str) -> float:
    """Give a number; raises a ProbeError where there is none, as from a server that is damaged or no NDB."""
    value = row[column]
    if isinstance(value, int | float) and meant(value) is not None:
        return value
    raise ProbeError(
        f"ndbinfo: {column} is {value!r}, which is no number: {row}", "check that server's ndbinfo"
    )


def whole(row: Row, column: str) -> int:
    """Give a whole number; raises likewise."""
    return int(number(row, column))


def not_seen(what: str, denied: DeniedError) -> str:
    """Return what an account does not see, and what it takes."""
    return f"{what} is not seen: {denied.advice or denied.what}"


def address_of(uri: str) -> str:
    """Take ``db1:3306`` from ``mysql://db1:3306/?server-id=51``, as ndbinfo.processes has it."""
    return uri.partition("://")[2].partition("/")[0]
