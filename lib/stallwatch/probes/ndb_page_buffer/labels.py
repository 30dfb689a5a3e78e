"""What check_ndb_page_buffer gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("hit_ratio", "%", "page requests since the last look that did not wait, of the worst node"),
    Label("node{node}_hit_ratio", "%", "the same of this node; in a cluster of up to 4"),
    Label("cumulative_hit_ratio", "%", "page requests since its start that did not wait, of the worst node"),
    Label("node{node}_cumulative_hit_ratio", "%", "the same of this node; in a cluster of up to 4"),
    Label("requests_per_s", "", "page requests per second, of all nodes"),
    Label("pages_read_per_s", "", "pages per second read from disk, of all nodes"),
    Label("log_waits_per_s", "", "waits per second for the undo log, of all nodes"),
    Label("data_nodes", "", "data nodes that told of their page buffer"),
)
