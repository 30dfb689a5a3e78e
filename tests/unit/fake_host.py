"""A folder like /proc of a host, whose counters go on as a test says."""

from pathlib import Path

TICKS = 100  # per second, on every Linux that we know
CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
DISK = (
    "reads", "reads_merged", "sectors_read", "read_ms",
    "writes", "writes_merged", "sectors_written", "write_ms",
    "in_flight", "busy_ms", "queue_ms",
)  # fmt: skip
GIB = 1 << 20  # KiB


class FakeHost:
    """It has ``processors``, which share what all of them do, and the disk sda with two partitions."""

    def __init__(self, folder, processors=4):
        self.folder = Path(folder)
        self.now = 1_800_000_000.0
        self.uptime = 864_000.0
        self.boot = "0b3c9a1e-0000"
        self.processors = processors
        self.load = (0.5, 0.4, 0.3)
        self.cpu = dict.fromkeys(CPU, 0.0) | {
            "user": 5000.0,
            "idle": 100_000.0,
            "iowait": 50.0,
            "steal": 10.0,
        }
        self.disks = {name: self.disk(1000) for name in ("sda", "sda1", "sda2", "loop0", "ram1", "sr0")}
        self.network = {"lo": [0, 0, 0, 0], "eth0": [3, 7, 0, 0]}  # errors and drops, received and sent
        self.memory = {"MemTotal": 64 * GIB, "MemFree": GIB, "MemAvailable": 32 * GIB}
        self.swapped = {"pswpin": 10, "pswpout": 20}

    @staticmethod
    def disk(counted=0):
        return dict.fromkeys(DISK, counted) | {"in_flight": 0}

    def later(self, seconds, cpu=None, disk=None):
        """Time passes; processors are idle but for ``cpu``, in seconds, and sda does what ``disk`` says."""
        cpu = cpu or {}
        self.now += seconds
        self.uptime += seconds
        for state, spent in cpu.items():
            self.cpu[state] += spent
        self.cpu["idle"] += seconds * self.processors - sum(cpu.values())
        for field, count in (disk or {}).items():
            self.disks["sda"][field] += count

    def write(self):
        """Let it be seen."""
        self._file("uptime", f"{self.uptime:.2f} 1.0\n")
        self._file("sys/kernel/random/boot_id", f"{self.boot}\n")
        self._file("loadavg", "{} {} {} 1/200 4711\n".format(*self.load))
        total = " ".join(str(round(self.cpu[state] * TICKS)) for state in CPU)
        each = " ".join(str(round(self.cpu[state] * TICKS / self.processors)) for state in CPU)
        rows = [f"cpu  {total}", *(f"cpu{number} {each}" for number in range(self.processors)), "ctxt 1"]
        self._file("stat", "\n".join(rows) + "\n")
        rows = [
            f"   8 {number:7} {name} {' '.join(str(disk[field]) for field in DISK)}"
            for number, (name, disk) in enumerate(self.disks.items())
        ]
        self._file("diskstats", "".join(f"{row}\n" for row in rows))
        self._file("meminfo", "".join(f"{name}: {number:10} kB\n" for name, number in self.memory.items()))
        self._file("vmstat", "".join(f"{name} {number}\n" for name, number in self.swapped.items()))
        rows = [
            f"{name:>6}: 1 1 {rx_errors} {rx_drops} 0 0 0 0 1 1 {tx_errors} {tx_drops} 0 0 0 0"
            for name, (rx_errors, rx_drops, tx_errors, tx_drops) in self.network.items()
        ]
        self._file("net/dev", "\n".join(["Inter-|", " face |bytes", *rows]) + "\n")

    def _file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
