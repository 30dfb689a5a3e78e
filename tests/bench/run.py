"""Measure all parts, or those that are named; then the page on performance is written anew.

    python run.py [PART...]

Ends with 1 if a limit was not kept, or a part could not be measured, after all that could be was. At last it
says which limits could not be judged, where the machine was busy, and which figures are of another run. The
page stays as it is where there were fewer rounds than usual.
"""

import json
import os
import re
import sys
import time

from interrupted import ending_tidily, status_of
from measured import RESULTS, ROOT, place

USUAL = ("floor", "startup", "usage", "spent", "mysql", "jmx", "ndb", "ndb_log", "host", "installed")
LONG = ("before", "replication", "locks", "capacity", "warm", "growth")  # minutes each, if asked for


def kept():
    """What is kept, by when it was written."""
    return {path: path.stat().st_mtime_ns for path in sorted(place().glob("*.json"))}


def measured(part):
    """Measure a part. Gives what went wrong, a sentence each, and what else is to be known."""
    print(f"\n== {part}", flush=True)
    before, begun = kept(), time.monotonic()
    status = status_of(ROOT / "tests" / "bench" / f"{part}.py")
    print(f"== {part}: {time.monotonic() - begun:.0f} s", flush=True)
    wrong, known = [f"{part} ended with status {status}"] if status else [], []
    for path in (path for path, when in kept().items() if before.get(path) != when):
        found = json.loads(path.read_text())
        for one in found["budgets"]:
            sentence = f"{path.stem}: {_limit(one)}"
            if one["found"] is None:
                known.append(f"not judged: {sentence}")
            elif not one["kept"]:
                wrong.append(sentence)
        if (load := found["machine"]["load before"]) > os.cpu_count():
            known.append(f"busy: {path.stem}: a load of {load} before, of {os.cpu_count()} processors")
    return wrong, known


def _limit(one):
    found = one["why"] if one["found"] is None else f"{one['found']} {one['unit']}"
    return f"{one['what']}: {found}, may be {one['limit']:.3g}"


def old(before):
    """The figures that are of another run."""
    for path in (path for path, when in kept().items() if before.get(path) == when):
        found = json.loads(path.read_text())
        yield f"of another run: {path.stem}: {found['day']} {found['time']}"


def main(*parts):
    """Measure these."""
    if unknown := set(parts) - {*USUAL, *LONG}:
        sys.exit(f"no such part: {' '.join(sorted(unknown))}; there are {' '.join((*USUAL, *LONG))}")
    if not re.fullmatch("0*[1-9][0-9]*", os.environ.get("ROUNDS") or "1"):
        sys.exit(f"ROUNDS is to be a number from 1 on, not {os.environ['ROUNDS']!r}")
    before = kept()
    found = [measured(part) for part in parts or USUAL]
    wrong = [f"not kept: {sentence}" for sentences, _ in found for sentence in sentences]
    known = [sentence for _, sentences in found for sentence in sentences]
    print("\n".join(["", *known, *old(before), *wrong]), flush=True)
    return 1 if write() or wrong else 0


def write():
    """Write the page anew, if there were rounds enough. Gives a status."""
    if place() != RESULTS:
        print(f"fewer rounds than usual: the figures are in {place()}, and the page stays as it is")
        return 0
    return status_of(ROOT / "contrib" / "generate")


if __name__ == "__main__":
    with ending_tidily():
        sys.exit(main(*sys.argv[1:]))
