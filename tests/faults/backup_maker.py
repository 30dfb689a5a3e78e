"""A program that makes backups without end in a folder, one after another: FOLDER.

It ends with whoever has started it. A backup that is finished has WHOLE bytes. From the first one on there is
always a finished one; some are renamed then, and older ones are removed.
"""

import itertools
import os
import random
import shutil
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

TIME = "%Y-%m-%d %H:%M:%S"
ROWS = b"INSERT INTO `orders` VALUES (1);\n" * 20
TABLES = 5
SAID = f"Started dump at: {{0:{TIME}}}\n", f"Finished dump at: {{0:{TIME}}}\n"
WHOLE = sum(len(said.format(datetime.now(UTC))) for said in SAID) + TABLES * len(ROWS)


def make(backup, chance):
    """Make one, as mydumper 0.10 does."""
    backup.mkdir()
    partial = backup / "metadata.partial"
    with partial.open("w", buffering=1) as metadata:
        metadata.write(SAID[0].format(datetime.now(UTC)))
        for number in range(TABLES):
            time.sleep(chance.choice([0, 0, 0.01, 0.03]))
            (backup / f"shop.orders{number}.sql").write_bytes(ROWS)
        metadata.write(SAID[1].format(datetime.now(UTC)))
    partial.rename(backup / "metadata")


def main(folder):
    chance, finished, parent = random.Random(8), [], os.getppid()
    for number in itertools.takewhile(lambda _: os.getppid() == parent, itertools.count()):
        backup = Path(folder, f"daily-{number:06}")
        make(backup, chance)
        if chance.random() < 0.3:
            backup = backup.rename(backup.with_name(f"kept-{number:06}"))
        finished.append(backup)
        while len(finished) > 3:
            shutil.rmtree(finished.pop(0))


if __name__ == "__main__":
    main(sys.argv[1])
