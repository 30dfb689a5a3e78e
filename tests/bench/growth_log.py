"""What does check_ndb_log cost, from 1 MB of log to 10 GB? Read whole, and followed through a rotation."""

import shutil
from pathlib import Path

from growth_limits import flat, linear
from measured import Bench, ours
from ndb_log import MINUTE, quiet_lines, whole, write

ROUNDS = 5
MEGABYTE = 1_000_000  # bytes
MEGABYTES = (1, 10, 100, 1000, 10_000)
FEWEST = 2  # sizes that growth can be told of
SPARE = 1000  # MB of the disk that stay free
FIRST = "20G"  # may be read in the run that begins


class Log:
    """A log of so many MB, and what is remembered of it."""

    def __init__(self, folder, megabytes):
        self.path = folder / f"{megabytes}.ndb_3_out.log"
        self.rotated = self.path.with_name(f"{self.path.name}.1")
        self.state = folder / f"state {megabytes}"
        self.kept = folder / f"kept {megabytes}"
        self.new = b"".join(quiet_lines()[:MINUTE])
        write(self.path, megabytes * MEGABYTE)
        self.size = self.path.stat().st_size

    def followed(self):
        """The check that reads what is new."""
        options = ("--max-bytes", FIRST, "--state-dir", self.state)
        return ours("check_ndb_log", "-t", "10m", *options, "--log", self.path)

    def keep(self):
        """All of it has been read: this is what is remembered then."""
        shutil.copytree(self.state, self.kept)

    def rotate(self):
        """It has grown, was rotated, and has grown again, since all of it was read."""
        self._back()
        with open(self.path, "ab") as file:
            file.write(self.new)
        self.path.rename(self.rotated)
        self.path.write_bytes(self.new)

    def _back(self):
        """All is as it was when it had been read."""
        if self.rotated.exists():
            self.rotated.rename(self.path)
            with open(self.path, "rb+") as file:
                file.truncate(self.size)
        shutil.rmtree(self.state)
        shutil.copytree(self.kept, self.state)


def sizes(bench):
    """Those for which there is room on the disk, in MB; none where there is room for too few."""
    free = shutil.disk_usage(bench.folder).free / MEGABYTE - SPARE
    fitting = [size for place, size in enumerate(MEGABYTES) if sum(MEGABYTES[: place + 1]) <= free]
    if len(fitting) < FEWEST:
        bench.leave_out(f"logs of {FEWEST} sizes or more: {free:.0f} MB are free for logs")
        return []
    for size in MEGABYTES[len(fitting) :]:
        bench.leave_out(f"a log of {size} MB: {free:.0f} MB are free for logs")
    return fitting


def main():
    """Measure both."""
    with Bench("growth_log") as bench:
        if logs := {size: Log(Path(bench.folder), size) for size in sizes(bench)}:
            at_once, followed = _read_whole(bench, logs), _followed(bench, logs)
            linear(bench, at_once)
            flat(bench, followed)
            flat(bench, at_once | followed, "memory")


def _read_whole(bench, logs):
    name = "check_ndb_log --whole"
    return {name: bench.compare(name, {size: whole(log.path) for size, log in logs.items()}, ROUNDS)}


def _followed(bench, logs):
    for log in logs.values():
        bench.starter.cost(log.followed())
        log.keep()

    def rotate():
        for log in logs.values():
            log.rotate()

    name = "check_ndb_log, followed"
    commands = {size: log.followed() for size, log in logs.items()}
    return {name: bench.compare(name, commands, ROUNDS, rotate)}


if __name__ == "__main__":
    main()
