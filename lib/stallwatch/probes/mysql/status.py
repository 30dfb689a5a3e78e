"""What a server shows of itself by name: status variables, system variables, InnoDB's metrics."""

from __future__ import annotations

from stallwatch.probes.mysql.asking import PROCESS, Statement, meant, text
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stallwatch.probes.mysql.asking import Asking, Row

    Texts = dict[str, str]  # by the names that the server has for them


def global_status(asking: Asking, names: Sequence[str] = ()) -> Texts:
    """Ask for these status variables, by default for all, as far as this version has them."""
    return _variables(asking, "SHOW GLOBAL STATUS", names)


def variables(asking: Asking, names: Sequence[str] = ()) -> Texts:
    """Ask for these system variables, by default for all, as far as this version has them."""
    return _variables(asking, "SHOW GLOBAL VARIABLES", names)


def metrics(asking: Asking, names: Sequence[str]) -> Texts:
    """Ask for these of InnoDB's metrics, as far as they are enabled: disabled ones count nothing."""
    sql = f"SELECT * FROM information_schema.INNODB_METRICS WHERE NAME IN {_listed(names)}"  # noqa: S608
    rows = asking.rows(Statement(sql, PROCESS))
    return {text(row, "NAME"): text(row, "COUNT") for row in rows if _enabled(row)}


def numbers(texts: Mapping[str, str]) -> dict[str, float]:
    """Keep those of them that are numbers."""
    found = {}
    for name, value in texts.items():
        if (number := meant(value)) is not None:
            found[name] = number
    return found


def is_on(value: str) -> bool:
    """Whether a variable is on."""
    return value.upper() not in {"", "0", "OFF", "FALSE"}


def _variables(asking: Asking, sql: str, names: Sequence[str]) -> Texts:
    some = f" WHERE Variable_name IN {_listed(names)}" if names else ""
    rows = asking.rows(Statement(f"{sql}{some}"), columns=("Variable_name", "Value"))
    return {text(row, "Variable_name"): text(row, "Value") for row in rows}


def _listed(names: Iterable[str]) -> str:
    return f"({', '.join(map(repr, names))})"


def _enabled(row: Row) -> bool:
    """Whether a metric counts: MySQL has STATUS, MariaDB from 10.5 on ENABLED."""
    return text(row, "STATUS") == "enabled" or text(row, "ENABLED") == "1"
