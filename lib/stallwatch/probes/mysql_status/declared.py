"""What check_mysql_status declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service

DECLARED = Declared(
    labels=(  # the names are those of the server
        Label(
            "{variable}",
            "",
            "a status variable: per second where it is a counter, else as it is, in B where it counts bytes",
        ),
        Label("{variable}_per_{variable}", "", "a ratio of two of them, with -w or -c A/B=RANGE"),
        Label("differences", "", "numbers that differ from those of --reference by three times or more"),
    ),
    privileges=(),
    services=(
        Service(
            "MySQL status",
            "mysql_status",
            "What is at its limit?",
            sets="mysql",
            notes="What is at its limit? CRITICAL after three looks in a row",
        ),
    ),
    panels=(
        Panel("Queries per second", ("Queries",)),
        Panel("Clients", ("Threads_connected", "Threads_running")),
    ),
    # Bytes_sent shows tests whether rates are sane; a server of all tests opens tables.
    healthy=Healthy("mysql", ("--include", "Bytes_sent", "--exclude", "Opened_.*"), "connected, "),
)
