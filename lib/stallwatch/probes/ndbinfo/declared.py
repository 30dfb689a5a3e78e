"""What an account needs to read ndbinfo: grants.sql is made from it.

Tried out on MySQL NDB Cluster 9.7.2: the views of ndbinfo run with the rights of whoever asks, so the
tables behind them (ndb$...) have to be readable, too.
"""

from __future__ import annotations

from stallwatch.sources.mysql.privilege import Privilege

NDBINFO = Privilege("SELECT ON ndbinfo.*", "", "all that data nodes report, without which all is unknown")
PROCESS = Privilege(
    "PROCESS", "", "how full tablespaces are, which connection holds a lock (both in information_schema)"
)
