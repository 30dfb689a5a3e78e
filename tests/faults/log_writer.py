"""A program that writes numbered lines to a log, thousands a second: LOG PROGRESS BASE SEED.

SIGHUP: it ends its line and opens the log anew. SIGTERM: it ends its line and itself, as it does when
whoever has started it is gone. PROGRESS tells how many lines are written, and how often the log was opened:
two numbers of 8 bytes.
"""

import mmap
import os
import random
import signal
import struct
import sys
import time

import numbered

BATCH = 20  # lines at most


class Writer:
    def __init__(self, log, progress, base, seed):
        self.log, self.base = log, int(base)
        self.chance = random.Random(int(seed))
        with open(progress, "r+b") as file:
            self.progress = mmap.mmap(file.fileno(), 16)
        self.count = self.opened = 0
        self.wants_reopening = self.wants_end = False
        signal.signal(signal.SIGHUP, lambda *_: setattr(self, "wants_reopening", True))
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "wants_end", True))

    def open(self):
        self.file = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self.opened += 1

    def tell(self):
        self.progress[:] = struct.pack("<QQ", self.count, self.opened)

    def write(self, lines):
        """Write so many lines, sometimes in pieces that end within one."""
        text = b"".join(numbered.line(self.base, self.count + number) for number in range(lines))
        if self.chance.random() < 0.3:
            cut = self.chance.randrange(1, len(text))
            os.write(self.file, text[:cut])
            time.sleep(self.chance.uniform(0, 0.02))
            text = text[cut:]
        os.write(self.file, text)
        self.count += lines

    def run(self):
        parent = os.getppid()
        self.open()
        while not self.wants_end and os.getppid() == parent:
            if self.wants_reopening:
                self.wants_reopening = False
                os.close(self.file)
                self.open()
            self.write(self.chance.randint(1, BATCH))
            self.tell()
            time.sleep(self.chance.uniform(0, 0.008))


if __name__ == "__main__":
    Writer(*sys.argv[1:]).run()
