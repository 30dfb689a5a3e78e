"""What check_innodb_buffer_pool declares: labels, privileges, services, panels, and when all is well."""

from stallwatch.declared import Declared, Healthy, Label, Panel, Service
from stallwatch.probes.mysql.asking import PROCESS

DECLARED = Declared(
    labels=(
        Label("miss_ratio", "%", "page requests since the last look that had to wait for the disk"),
        Label("pages_free", "", "free pages"),
        Label("dirty", "%", "pages that are changed and not yet written"),
        Label("pool_size", "B", "innodb_buffer_pool_size"),
        Label("wait_free", "", "waits for a free page since the last look"),
        Label("read_requests_per_s", "", "page requests per second"),
        Label("reads_per_s", "", "pages per second that were read from disk for them"),
        Label("pages_flushed_per_s", "", "pages per second that were written"),
        Label("innodb_status"),
    ),
    privileges=(PROCESS,),
    services=(
        Service(
            "InnoDB buffer pool",
            "innodb_buffer_pool",
            "What has to be read from the disk, who waits for a page?",
            sets="mysql",
            notes="Does anybody wait for a free page? What does the pool miss?",
        ),
    ),
    panels=(
        Panel("Buffer pool: miss ratio and dirty pages", ("miss_ratio", "dirty")),
        Panel("Buffer pool: pages", ("read_requests_per_s", "reads_per_s", "pages_flushed_per_s")),
    ),
    healthy=Healthy("mysql", ("--warning=~:", "--critical=~:"), " of 32 MiB free"),
)
