"""What check_ndb_page_buffer declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.ndbinfo.declared import NDBINFO

PAGE_BUFFER = Service(
    "NDB page buffer",
    "ndb_page_buffer",
    "Is DiskPageBufferMemory large enough for the tables on disk?",
    sets="ndb",
    notes="Is DiskPageBufferMemory large enough? CRITICAL after three looks in a row",
)

DECLARED = Declared(
    labels=(
        Label("hit_ratio", "%", "page requests since the last look that did not wait, of the worst node"),
        Label("node{node}_hit_ratio", "%", "the same of this node; in a cluster of up to 4"),
        Label(
            "cumulative_hit_ratio", "%", "page requests since its start that did not wait, of the worst node"
        ),
        Label("node{node}_cumulative_hit_ratio", "%", "the same of this node; in a cluster of up to 4"),
        Label("requests_per_s", "", "page requests per second, of all nodes"),
        Label("pages_read_per_s", "", "pages per second read from disk, of all nodes"),
        Label("log_waits_per_s", "", "waits per second for the undo log, of all nodes"),
        Label("data_nodes", "", "data nodes that showed their page buffer"),
    ),
    privileges=(NDBINFO,),
    services=(PAGE_BUFFER,),
    panels=(
        Panel("Page buffer: hit ratio", ("hit_ratio", "node{node}_hit_ratio")),
        Panel("Page requests", ("requests_per_s", "pages_read_per_s", "log_waits_per_s")),
    ),
    healthy=Healthy("ndb", ("--min-requests", "999999999"), " data_nodes=2"),
)
