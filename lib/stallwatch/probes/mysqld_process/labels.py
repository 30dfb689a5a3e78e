"""What check_mysqld_process gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("cpu", "%", "processor time, of one processor"),
    Label("user", "%", "time of it in the program"),
    Label("system", "%", "time of it in the kernel"),
    Label("system_share", "%", "share of system time in its processor time"),
    Label("minor_faults", "", "minor page faults per second: pages that it touches first"),
    Label("major_faults", "", "major page faults per second: pages that it had to wait for"),
    Label("resident_memory", "B", "memory that it occupies"),
    Label("swapped_memory", "B", "memory of it that is swapped out"),
    Label("threads", "", "threads that it has"),
    Label("busiest_thread", "%", "processor time of its busiest thread"),
    Label("uptime", "s", "how long it has been up"),
    Label("open_descriptors", "", "descriptors that it has open: files, connections"),
    Label("descriptors", "%", "the same, of those that it may have"),
)
