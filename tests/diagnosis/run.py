"""Make each fault on real servers, see what checks say, and compare that with what is true.

    python run.py [PART...] [--quick] [--case NAME]... [--server NAME]... [--strength NAME]... [--score]
                  [--merge] [--version NAME]

Every line that was printed is kept in build/diagnosis. A whole run writes what it came to into
tests/diagnosis/results, and contrib/docs/accuracy.md anew; a run with --version adds a row for another
version of the servers (the first mysqld or mariadbd in PATH). After a mend, play its cases with --case, and
judge all with --score: the page names what was played again. Where the whole run was made elsewhere, --merge
takes the rows of other cases from the page's results. Ends with 1 if a bar is not met.
"""

import argparse
import datetime as dt
import json
import os
import sys
import time
from types import SimpleNamespace

import first_tries
import lanes
import parts
import results
from case import KINDS
from jobs import jobs
from places import KEPT, RESULTS, ROOT
from trial import known_peers

# isort: split
from interrupted import ending_tidily, status_of
from measured import machine

MINUTES = 40  # for all trials of a part


def main():
    """Play a part, and tell what it came to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts.PARTS)} (default: all)")
    add(
        "--quick", action="store_true", help="each fault at its middle strength only; the page stays as it is"
    )
    add("--case", action="append", help="only the case of this name; may be given several times")
    add("--server", action="append", choices=KINDS, help="only on this kind of server")
    add("--strength", action="append", help="only at this strength")
    add("--score", action="store_true", help="play nothing: judge what was kept last time")
    add(
        "--merge",
        action="store_true",
        help="with --score: take what was not played here from the page's results (not of replication)",
    )
    add("--version", metavar="NAME", help="keep the results as those of another version: mariadb-11.8")
    add("--minutes", type=float, default=MINUTES, help=f"for all trials of a part (default: {MINUTES})")
    add(
        "--lanes",
        type=int,
        default=int(os.environ.get("LANES") or 0),
        help=f"pairs of each kind of server, or clusters (default: {parts.LANES})",
    )
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts.PARTS):
        parser.error(f"no such part: {' '.join(sorted(unknown))}; there are {' '.join(parts.PARTS)}")
    if options.merge and not (options.score and {*options.parts} and {*options.parts} <= {*results.SCORINGS}):
        parser.error(f"--merge is for --score of {' or '.join(results.SCORINGS)}")
    met = True
    for part in options.parts or parts.PARTS:
        met = run(part, options) and met
    return 0 if met else 1


def played(part, found, options):
    """Play these, and tell when, where and with what."""
    for job in found:
        job.path.unlink(missing_ok=True)
    now, load, begun = dt.datetime.now(dt.UTC), os.getloadavg()[0], time.monotonic()
    peers = known_peers()[1] if part == "replication" else SimpleNamespace(software={}, left_out=[])
    side_by_side = options.lanes or (parts.QUICK_LANES if options.quick else parts.LANES)[part]
    failed = lanes.play(found, options.minutes, side_by_side)
    return {
        "day": f"{now:%F}",
        "time": f"{now:%R}",
        "minutes": round((time.monotonic() - begun) / 60, 1),
        "machine": machine() | {"load before": round(load, 1)},
        "lanes": side_by_side,
        "software": peers.software,
        "left_out": peers.left_out,
        "failed": failed,
    }


def run(part, options):
    """Play and judge a part. Whether all bars are met."""
    whole = not (options.quick or options.case or options.server or options.strength)
    found = jobs(part, options)
    (KEPT / part).mkdir(parents=True, exist_ok=True)
    kept = KEPT / f"{part}-about.json"
    about = json.loads(kept.read_text()) if kept.exists() else {}
    if not options.score:
        now = played(part, found, options)
        again = dict.fromkeys([*about.get("again", ()), *(job.case.name for job in found)])
        about = now if whole or not about else about | {"again": list(again)}
        kept.write_text(json.dumps(about))
    told = results.judge(part, [job.path for job in found], about)
    if options.merge:
        told = results.merged(told, json.loads((RESULTS / f"{part}.json").read_text()))
    if part == first_tries.PART:
        known = RESULTS / f"{part}.json"
        before = json.loads(known.read_text())["first"] if known.exists() else ()
        told = first_tries.with_first(told, [job.path for job in found], before)
    print(results.said(told), flush=True)
    name = f"{part}-{options.version}" if options.version else part
    is_for_page = whole or bool(options.version)
    place = (RESULTS if is_for_page else KEPT) / f"{name}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    if is_for_page:
        status_of(ROOT / "contrib" / "generate")
    return all(bar["met"] for bar in told["bars"])


if __name__ == "__main__":
    with ending_tidily():
        sys.exit(main())
