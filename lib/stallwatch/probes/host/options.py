"""What check_host may be asked, with its default thresholds, and how it is run."""

from __future__ import annotations

from stallwatch.frame.check import Check
from stallwatch.frame.options import sample
from stallwatch.frame.options.values import regex
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import count

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from stallwatch.findings import Finding
    from stallwatch.frame.run import Run

check = Check("host", "Report processors, disks, memory, swapping and network of this host.")
sample.add(check)
check.option("--disk", action="append", type=regex, default=[], metavar="REGEX",
             help="check disks and partitions of this name, for example sda or nvme.*; may be given "
                  "several times (default: all but partitions, loop and ram)")  # fmt: skip
check.option("--data-dir", action="append", default=[], metavar="DIR",
             help="check the disks below this directory, also below LVM and md; may be given several "
                  "times")  # fmt: skip
check.option("--confirm", type=count, default=3, metavar="COUNT",
             help=sample.CONFIRM)  # fmt: skip
check.threshold(
    "cpu", unit="%", headline=True, warning="95", help="time that processors are busy, average of all"
)
check.threshold("load", warning="5", help="load over 5 minutes, per processor")
check.threshold("iowait", unit="%", help="time that processors are idle while a process waits for a disk")
check.threshold(
    "steal", unit="%", warning="20", critical="40", help="time that the hypervisor gives to other machines"
)
check.threshold("disk_busy", unit="%",
                help="time that a disk is busy; a disk that works in parallel may not be at its limit at "
                     "100 %")  # fmt: skip
check.threshold("disk_await", unit="s", help="time of a disk request, including its time in the queue")
check.threshold("memory_available", unit="%", warning="5:", critical="2:", lower_is_worse=True,
                help="memory available without swapping")  # fmt: skip
check.threshold("swap_in", unit="B", warning="1M", critical="10M", help="bytes read from swap per second")
check.threshold("network_errors", warning="1", help="packets per second with errors, of one interface")
check.threshold("network_drops", warning="100", help="packets per second that are dropped, of one interface")
check.keeps_state()
check.examples(
    "check_host --data-dir /var/lib/mysql",
    "check_host --sample 5s --no-state -v",
    "check_host --disk 'sd[a-d]' --disk-await-warning 20ms",
)


def findings(options: Namespace, run: Run) -> Iterator[Finding]:
    """Look at the host."""
    from stallwatch.probes.host import probe
    from stallwatch.probes.host.diagnosis import Rules

    sample.refuse_what_cannot_be(check, options)
    check.refuse_empty(options, "data_dir")
    of_disks = (run.thresholds[name] for name in ("disk_busy", "disk_await"))
    rules = Rules(
        run.is_problem, options.confirm, judges_disks=any(any(limits.values()) for limits in of_disks)
    )
    limits = {name: str(run.thresholds[name]) for name in check.limits}
    disks = sorted(pattern.pattern for pattern in options.disk)
    directories = sorted(options.data_dir)
    target = {"confirm": options.confirm, **limits, "disks": disks, "directories": directories}
    with sample.memory(options, run, **target) as memory:
        yield from probe.findings(options, run, rules, memory)
