"""A disk that writes no faster than one says, for some processes: a limit of their own control group.

Only what is written past the page cache is slowed down in version 1 of control groups: O_DIRECT.
"""

import contextlib
import os

from control_group import UNIFIED, Kind, limited
from software import Missing

KINDS = (
    Kind("/sys/fs/cgroup/blkio", (("blkio.throttle.write_bps_device", "{0} {1}", "{0} 0"),)),
    Kind(UNIFIED, (("io.max", "{0} wbps={1}", "{0} wbps=max"),)),
)


@contextlib.contextmanager
def slow_disk(processes, folder, rate):
    """Meanwhile the processes write so many octets per second at most, to the disk below that folder."""
    with limited(processes, KINDS, device(folder), int(rate)):
        yield


def unavailable(folder):
    """Why no disk can be slowed down here, or None."""
    try:
        with slow_disk((), folder, 1 << 20):
            return None
    except (Missing, OSError) as error:
        return f"cannot slow down a disk here: {error}"


def device(folder):
    """The disk that the folder is on, as "major:minor"; of a partition, the whole."""
    number = os.stat(folder).st_dev
    name = f"{os.major(number)}:{os.minor(number)}"
    place = os.path.realpath(f"/sys/dev/block/{name}")
    if not os.path.isdir(place):
        raise Missing(f"{folder} is not on a block device")
    if os.path.exists(os.path.join(place, "partition")):
        with open(os.path.join(os.path.dirname(place), "dev")) as file:
            name = file.read().strip()
    return name
