"""What an account needs to read ndbinfo, and what is not seen without: grants.sql is made from it.

Tried out on MySQL NDB Cluster 9.7.2: the views of ndbinfo run with the rights of whoever asks, so the
tables behind them (ndb$...) have to be readable, too.
"""

from __future__ import annotations

from stallwatch.sources.mysql.privilege import Privilege
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.sources.mysql import DeniedError

NDBINFO = Privilege("SELECT ON ndbinfo.*", "", "all that data nodes tell, without which all is unknown")
PROCESS = Privilege(
    "PROCESS", "", "how full tablespaces are, which connection holds a lock (both in information_schema)"
)

ON_SQL_NODE = (NDBINFO, PROCESS)


def not_seen(what: str, denied: DeniedError) -> str:
    """Say what an account does not see, and what it takes."""
    return f"{what} is not seen: {denied.advice or denied.what}"
