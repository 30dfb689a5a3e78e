"""What check_ndb_transactions declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.ndbinfo.declared import NDBINFO, PROCESS

DECLARED = Declared(
    labels=(
        Label(
            "inactive", "s", "longest time for which an open transaction has asked nothing of the data nodes"
        ),
        Label("lock_held", "s", "longest time for which a row that somebody waits for has been locked"),
        Label("lock_wait", "s", "longest time for which somebody has waited for a row"),
        Label("transactions"),
        Label("operations", "", "operations of all open transactions"),
        Label("largest", "", "operations of the largest transaction"),
    ),
    privileges=(NDBINFO, PROCESS),
    services=(
        Service(
            "NDB transactions",
            "ndb_transactions",
            "Who holds locks and does nothing, who waits for whom?",
            sets="ndb",
        ),
    ),
    panels=(
        Panel("Transactions and locks: the longest", ("inactive", "lock_held", "lock_wait")),
        Panel("Open transactions", ("transactions", "operations", "largest")),
    ),
    # Or "no open transactions": the SQL node has one now and then.
    healthy=Healthy("ndb", (), "open transaction"),
)
