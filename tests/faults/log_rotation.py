"""What befalls a log: renamed, copied and truncated, compressed, deleted, in an order that chance gives."""

import bz2
import gzip
import lzma
import os
import shutil
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from log_writer import BATCH

PATIENCE = 60  # seconds for a process to do something
# One way of rotation in each history: of a log that is now renamed, now copied and truncated between two runs
# nobody can tell what was lost of a file that none has seen.
RENAMING = ("rename", "rename", "dated", "gzip", "gzip")
COPYING = ("copytruncate", "copytruncate", "gzip")
DESTROYING = (*RENAMING, "unreadable", "delete", "recreate")
FEW = 100  # lines that are in a file before it counts as seen
PACKERS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}


class WrittenLog:
    """A log with its writer, a process that is there as long as the context is."""

    def __init__(self, folder, base, seed):
        self.path = folder / "ndb_4_out.log"
        self._progress = folder / "progress"
        self._progress.write_bytes(bytes(16))
        self._command = [
            sys.executable, str(Path(__file__).with_name("log_writer.py")),
            str(self.path), str(self._progress), str(base), str(seed),
        ]  # fmt: skip

    def __enter__(self):
        self.writer = subprocess.Popen(self._command)
        self._until(lambda: self.written)
        return self

    def __exit__(self, *_):
        self.writer.kill()
        self.writer.wait()

    @property
    def written(self):
        """How many lines."""
        return self._numbers()[0]

    def reopen(self):
        """Have the writer open the log anew, and wait until it has."""
        before = self._numbers()[1]
        self.writer.send_signal(1)
        self._until(lambda: self._numbers()[1] > before)

    def end(self):
        """Have the writer end its last line and itself; gives how many lines it has written."""
        self.writer.terminate()
        assert self.writer.wait(PATIENCE) == 0
        return self.written

    def _numbers(self):
        return struct.unpack("<QQ", self._progress.read_bytes())

    def _until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end
            assert self.writer.poll() is None
            time.sleep(0.001)


class Rotation(threading.Thread):
    """Does to a log, again and again, one of these deeds; ``history`` says which.

    Only what a run has seen is destroyed: no run can know of anything else. ``lost`` says which lines may be
    gone all the same: what came after that run to what was destroyed, or between a copy and the truncation.
    """

    def __init__(self, log, deeds, chance, seen):
        super().__init__()
        self.log, self.deeds, self.chance = log, deeds, chance
        self._seen = seen  # gives how many lines there were when the last run began that came to its end
        self._born = {}  # inode: lines that there were when the file was made
        self._left = {}  # inode: lines that there were when its writer had left it
        self.history = []
        self.lost = []  # ranges
        self.error = None
        self._end = threading.Event()
        self._serial = 1_700_000_000

    def run(self):
        try:
            while not self._end.wait(self.chance.choice([0, 0.02, 0.2, 0.5])):
                deed = self.chance.choice(self.deeds)
                self.history.append(deed)
                getattr(self, deed)()
        except BaseException as error:  # noqa: BLE001 - told by end()
            self.error = error

    def end(self):
        """End after what is being done."""
        self._end.set()
        self.join(PATIENCE)
        assert not self.is_alive()
        if self.error:
            raise self.error

    def rename(self):
        self._shift()
        self._move(self._at(".1"))

    def dated(self):
        self._serial += 1
        self._move(self._at(f"-20261120-{self._serial}"))

    def copytruncate(self):
        self._shift()
        first = self.log.written
        shutil.copyfile(self.log.path, self._at(".1"))
        self._pause()
        os.truncate(self.log.path, 0)
        self.lost.append(range(first, self.log.written + BATCH))

    def gzip(self):
        self._pack(self._plain(), ".gz")

    def unreadable(self):
        plain = [file for file in self._plain() if self._is_seen(file)]
        if plain:
            file = self.chance.choice(plain)
            self._lose(file)
            self._pack([file], self.chance.choice([".xz", ".bz2"]))

    def delete(self):
        if rotated := [file for file in self._rotated() if self._is_seen(file)]:
            file = self.chance.choice(rotated)
            self._lose(file)
            file.unlink()

    def recreate(self):
        if self._is_seen(self.log.path):
            first = self._seen()
            self.log.path.unlink()
            self._pause()
            self._reopen()
            self.lost.append(range(first, self.log.written))

    def _lose(self, file):
        self.lost.append(range(self._seen(), self._left[file.stat().st_ino]))

    def _is_seen(self, file):
        return self._born.get(file.stat().st_ino, 0) + FEW < self._seen()

    def _reopen(self):
        self.log.reopen()
        self._born[self.log.path.stat().st_ino] = self.log.written

    def _plain(self):
        return [file for file in self._rotated() if file.suffix not in PACKERS]

    def _at(self, more):
        return self.log.path.with_name(f"{self.log.path.name}{more}")

    def _rotated(self):
        """All rotated files, the oldest first."""
        files = self.log.path.parent.glob(f"{self.log.path.name}[.-]*")
        return sorted(files, key=lambda file: file.stat().st_mtime_ns)

    def _shift(self):
        numbered = [file for file in self._rotated() if file.name[len(self.log.path.name)] == "."]
        for file in sorted(numbered, key=_number, reverse=True):
            file.rename(self._at(f".{_number(file) + 1}{file.suffix if file.suffix in PACKERS else ''}"))

    def _move(self, place):
        """Rename it; the writer goes on in it for a while."""
        self.log.path.rename(place)
        if self.chance.random() < 0.5:
            self.log.path.touch()
        self._pause()
        self._reopen()
        self._left[place.stat().st_ino] = self.log.written

    def _pack(self, plain, suffix):
        """Compress a rotated file as gzip(1) does: what is packed grows beside it, then it is removed."""
        if not plain:
            return
        file = self.chance.choice(plain)
        content, times = file.read_bytes(), file.stat()
        octets = PACKERS[suffix](content)
        packed = file.with_name(file.name + suffix)
        with packed.open("wb", buffering=0) as output:
            for start in range(0, len(octets), len(octets) // 3 + 1):
                output.write(octets[start : start + len(octets) // 3 + 1])
                self._pause()
        self._born[packed.stat().st_ino] = self._born.get(times.st_ino, 0)
        self._left[packed.stat().st_ino] = self._left.get(times.st_ino, 0)
        os.utime(packed, ns=(times.st_atime_ns, times.st_mtime_ns))
        file.unlink()

    def _pause(self):
        time.sleep(self.chance.choice([0, 0, 0.001, 0.05]))


def _number(file):
    return int(file.name.split(".log.")[1].split(".")[0])
