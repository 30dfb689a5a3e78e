"""What check_ndb_nodes gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("nodes_started", "", "data nodes that are up"),
    Label("nodes_missing", "", "data nodes that are missing"),
    Label("nodes_starting", "", "data nodes that are starting"),
    Label("groups_without_redundancy", "", "node groups with one member left"),
    Label("groups_lost", "", "node groups without a member"),
    Label(
        "generations", "s", "time for which data nodes run with different generations of the configuration"
    ),
    Label("thread_use", "%", "time that the busiest thread works, over up to 400 s"),
    Label("overloads", "", "overloads of links between data nodes per minute, of the worst node"),
    Label("reconnects", "", "links between data nodes connected anew since the last run"),
    Label("major_faults", "", "major page faults per minute, of the worst node"),
    Label("certificate", "s", "time until the first TLS certificate expires, where data nodes have any"),
    Label("uptime", "s", "how long the youngest data node is up"),
)
