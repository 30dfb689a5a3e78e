"""What check_innodb_buffer_pool gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("miss_ratio", "%", "page requests since the last look that had to wait for the disk"),
    Label("pages_free", "", "free pages"),
    Label("dirty", "%", "pages that are changed and not yet written"),
    Label("pool_size", "B", "innodb_buffer_pool_size"),
    Label("wait_free", "", "waits for a free page since the last look"),
    Label("read_requests_per_s", "", "page requests per second"),
    Label("reads_per_s", "", "pages per second that were read from disk for them"),
    Label("pages_flushed_per_s", "", "pages per second that were written"),
    Label("innodb_status", "s", "time that SHOW ENGINE INNODB STATUS takes"),
)
