"""What check_host gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("cpu", "%", "time that processors are busy, all together"),
    Label("user", "%", "time of it in programs"),
    Label("system", "%", "time of it in the kernel"),
    Label("iowait", "%", "time that processors are idle while somebody waits for a disk"),
    Label("steal", "%", "time that the hypervisor gives to others"),
    Label("busiest_processor", "%", "time that the busiest processor is busy"),
    Label("load", "", "load over 5 minutes, per processor"),
    Label("disk_busy", "%", "time that the busiest disk has something to do"),
    Label("disk_queue", "", "requests in the queue of that disk, on average"),
    Label("disk_await", "s", "time that a request of the slowest disk takes"),
    Label("memory_available", "%", "memory that can be had without swapping"),
    Label("swap_in", "B", "bytes per second read from swap"),
    Label("swap_out", "B", "bytes per second written to swap"),
    Label("network_errors", "", "packets per second with errors, of the worst interface"),
    Label("network_drops", "", "packets per second that are dropped, of the worst interface"),
    Label("{disk}_busy", "%", "time that this disk has something to do"),
    Label("{disk}_await", "s", "time that a request of this disk takes, its waiting included"),
    Label("{disk}_queue", "", "requests in its queue, on average"),
    Label("{disk}_reads", "", "reads per second"),
    Label("{disk}_writes", "", "writes per second"),
    Label("{disk}_read", "B", "bytes read per second"),
    Label("{disk}_written", "B", "bytes written per second"),
)
