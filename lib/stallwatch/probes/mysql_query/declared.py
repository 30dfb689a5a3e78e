"""What check_mysql_query declares: labels, its service, a panel, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service, Times

_ANY_TIME = tuple(
    f"--{name}=~:"
    for name in (
        "warning", "critical", "max-warning", "max-critical", "connection-warning", "connection-critical",
    )
)  # fmt: skip

ANSWERS = Service(
    "MySQL", "mysql_query", "Does it answer, and how fast? CRITICAL if it does not.", leads=True
)

DECLARED = Declared(
    labels=(
        Label("p95", "s", "time within which 95 % of the runs were answered"),
        Label("p50", "s", "time within which half of the runs were answered"),
        Label("max", "s", "time of the slowest run"),
        Label("connection", "s", "time to connect and log in, TLS included"),
        Label("rows", "", "rows of the answer, the fewest of all runs"),
    ),
    privileges=(),
    services=(ANSWERS,),
    panels=(Panel("Time of a query", ("p50", "p95", "max", "connection")),),
    healthy=Healthy(
        "mysql",
        ("--count", "2", "--spread", "0s", *_ANY_TIME),
        "of 2 runs",
        unreachable=2,
        keeps_state=False,
    ),
    times=Times(retry=15),  # it remembers nothing
)
