"""What check_mysql_stalls declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.mysql.asking import PERFORMANCE_SCHEMA, PROCESS

DECLARED = Declared(
    labels=(
        Label("stalled", "s", "longest time that clients have waited for one connection, or at their COMMIT"),
        Label("user_lock", "s", "the same by a lock of GET_LOCK() alone"),
        Label("waiting", "", "connections that wait for a lock"),
        Label("longest_wait", "s", "longest time for which one connection has waited for a lock"),
        Label("connections", "%", "connections in use, of max_connections"),
        Label("transaction", "s", "age of the oldest open transaction of a client that blocks no other"),
        Label("timeouts", "", "row lock waits that ended with error 1205 since the last look"),
        Label("deadlocks", "", "deadlocks since the last look"),
        Label("history_list", "", "transactions whose changes are still to be purged (history list)"),
        Label("row_lock_waits_per_s", "", "waits for row locks per second since the last look"),
    ),
    privileges=(PROCESS, PERFORMANCE_SCHEMA),
    services=(
        Service(
            "MySQL stalls",
            "mysql_stalls",
            "Whose statement or COMMIT does not end, and who or what keeps it waiting?",
            sets="mysql",
            notes="Do clients wait without an end? Waits that end by themselves do not alert",
        ),
    ),
    panels=(
        Panel(
            "The longest stall, wait for a lock and transaction",
            ("stalled", "user_lock", "longest_wait", "transaction"),
        ),
        Panel("Connections that wait for a lock", ("waiting", "row_lock_waits_per_s")),
        Panel("Connections in use, per cent", ("connections",)),
        Panel("Lock wait timeouts and deadlocks", ("timeouts", "deadlocks")),
        Panel("History list", ("history_list",)),
    ),
    # Tests of others leave transactions open for a moment.
    healthy=Healthy("mysql", ("--timeouts-warning", "~:"), "stalled"),
)
