"""What check_ndb_nodes declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.ndbinfo.declared import NDBINFO

DECLARED = Declared(
    labels=(
        Label("nodes_started", "", "data nodes that are up"),
        Label("nodes_missing"),
        Label("nodes_starting"),
        Label("groups_without_redundancy", "", "node groups with one member left"),
        Label("groups_lost", "", "node groups without a member"),
        Label("api_nodes_missing"),
        Label("generations"),
        Label("thread_use"),
        Label("overloads", "", "overloads of links between data nodes per minute, of the worst node"),
        Label("reconnects", "", "links between data nodes that reconnected since the last run"),
        Label("major_faults", "", "major page faults per minute, of the worst node"),
        Label("certificate", "s", "time until the first TLS certificate expires, where data nodes have any"),
        Label("uptime", "s", "how long the youngest data node is up"),
    ),
    privileges=(NDBINFO,),
    services=(
        Service(
            "NDB nodes",
            "ndb_nodes",
            "Are all data nodes up? CRITICAL, too, if this SQL node does not answer.",
            (("unreachable", "critical"),),
        ),
    ),
    panels=(
        Panel(
            "Data nodes",
            (
                "nodes_started",
                "nodes_missing",
                "nodes_starting",
                "groups_without_redundancy",
                "groups_lost",
                "api_nodes_missing",
            ),
        ),
        Panel("The busiest thread", ("thread_use",)),
        Panel("Links and page faults", ("overloads", "reconnects", "major_faults")),
    ),
    healthy=Healthy(
        "ndb",
        ("--restarted", "0s", "--generations-warning=~:"),
        "2 data nodes",
        unreachable=2,
    ),
)
