"""What check_host declares: labels, services, panels, and when all is well."""

from stallwatch.declared import NDB_DATA_DIR, NDB_GUESS, Declared, Healthy, Label, Panel, Service

HOST = Service(
    "Host", "host", "Are processors or a disk at their limit?", nrpe="stallwatch_host", sets="host",
    notes="Processors or a disk at their limit, swapping, steal? CRITICAL after three looks in a row",
)  # fmt: skip
NDB_HOST = Service(
    "NDB host", "host", f"Are processors or the disk of a data node at their limit? {NDB_GUESS}",
    (("data-dir", NDB_DATA_DIR),), nrpe="stallwatch_ndb_disks", guessed=True,
)  # fmt: skip

DECLARED = Declared(
    labels=(
        Label("cpu"),
        Label("user", "%", "time of it in programs"),
        Label("system", "%", "time of it in the kernel"),
        Label("iowait"),
        Label("steal"),
        Label("busiest_processor", "%", "time that the busiest processor is busy"),
        Label("load"),
        Label("disk_busy", "%", "time that the busiest disk has something to do"),
        Label("disk_queue", "", "requests in the queue of that disk, on average"),
        Label("disk_await", "s", "time that a request of the slowest disk takes"),
        Label("memory_available"),
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
    ),
    privileges=(),
    services=(HOST, NDB_HOST),
    panels=(
        Panel("Processors", ("cpu", "user", "system", "iowait", "steal", "busiest_processor")),
        Panel("Load per processor", ("load",)),
        Panel("Memory available", ("memory_available",)),
        Panel("Disks: busy", ("disk_busy", "{disk}_busy")),
        Panel("Disks: time of a request", ("disk_await", "{disk}_await")),
        Panel("Disks: read and written", ("{disk}_read", "{disk}_written")),
        Panel("Swapped", ("swap_in", "swap_out")),
        Panel("Network", ("network_errors", "network_drops")),
    ),
    healthy=Healthy(
        "here",
        tuple(
            f"--{name}=~:"
            for name in (
                "warning", "load-warning", "steal-warning", "steal-critical", "disk-busy-warning",
                "disk-busy-critical", "disk-await-warning", "disk-await-critical", "memory-available-warning",
                "memory-available-critical", "swap-in-warning", "swap-in-critical", "network-errors-warning",
                "network-drops-warning",
            )
        ),
        "load ",
    ),
)  # fmt: skip
