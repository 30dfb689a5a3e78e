"""Make each fault on real servers, see what checks say, and compare that with what is true.

    python run.py [PART...] [--quick] [--case NAME]... [--server NAME]... [--strength NAME]... [--score]

Every line that was printed is kept in build/diagnosis. A whole run writes what it came to into
tests/diagnosis/results, and contrib/docs/accuracy.md anew. Ends with 1 if a bar is not met.
"""

import argparse
import concurrent.futures
import contextlib
import datetime as dt
import json
import os
import queue
import re
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import parts
import results
from case import SERVERS, middle
from places import KEPT, RESULTS, ROOT
from trial import known_peers

# isort: split
from interrupted import ending_tidily, status_of
from measured import machine

MINUTES = 40  # for all trials of a part
STOPPED = threading.Event()  # by a signal
LANES = 4  # pairs of each kind of server that work side by side
SPARE = 100  # seconds that a trial may take in addition: servers start, and heal


class Job(NamedTuple):
    """A trial that is to be played."""

    part: str
    case: object
    server: str
    strength: str

    @property
    def name(self):
        """A name for a file."""
        words = f"{self.case.name} {self.strength} {self.server}"
        return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")

    @property
    def path(self):
        """Where all that is printed is kept."""
        return KEPT / self.part / f"{self.name}.jsonl"


class Lane:
    """A process that plays trials; one that does not end in time is ended, and another one started."""

    def __init__(self, server, folder):
        self.server = server
        self.folder = folder
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()

    def play(self, job, until):
        """Play one: why it failed, or an empty text."""
        if self.process is None:
            self._start()
        asked = {"part": job.part, "case": job.case.name, "strength": job.strength, "path": str(job.path)}
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(asked).encode() + b"\n")
            self.process.stdin.flush()
        end = min(time.monotonic() + job.case.seconds + SPARE, until)
        ready = []
        while not (ready or STOPPED.is_set() or time.monotonic() > end):
            ready, _, _ = select.select([self.process.stdout], [], [], 1.0)
        answer = self.process.stdout.readline() if ready else b""
        if answer:
            return json.loads(answer)["failed"]
        self._end()
        return "the lane ended" if ready else "it did not end in time"

    def _start(self):
        self.place = tempfile.mkdtemp(prefix="d-", dir=self.folder)
        command = [sys.executable, Path(__file__).parent / "lane.py", self.server, self.place]
        log = open(KEPT / f"lane-{Path(self.place).name}.log", "wb")  # noqa: SIM115 - the lane has it
        with log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )

    def _end(self):
        """End it: its servers see that, and end, too."""
        process, self.process = self.process, None
        if process:
            process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0 if STOPPED.is_set() else 20)
            process.kill()
            process.wait()
            process.stdout.close()
            shutil.rmtree(self.place, ignore_errors=True)


def jobs(part, options):
    """All trials of a part, the longest first."""
    found = []
    for case in parts.cases(part).values():
        if options.case and case.name not in options.case:
            continue
        strengths = [middle(case.strengths)] if options.quick else case.strengths
        found += [
            Job(part, case, server, strength)
            for server in case.servers
            if server in (options.server or SERVERS)
            for strength in strengths
            if strength in (options.strength or [strength])
        ]
    return sorted(found, key=lambda job: (-job.case.seconds, job.case.name, job.strength))


def work(waiting, server, folder, until, told):
    """Play what waits, one after the other, while there is time for it."""
    with Lane(server, folder) as lane:
        while True:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            if STOPPED.is_set() or time.monotonic() + job.case.seconds + 20 > until:
                told(job, "no time was left for it")
                continue
            told(job, lane.play(job, until))


def play(found, minutes, lanes):
    """Play all trials side by side. Gives those that failed, and why."""
    failed, done, begun = {}, [], time.monotonic()
    STOPPED.clear()
    until = begun + 60 * minutes

    def told(job, why):
        done.append(job)
        if why:
            failed[job] = why
        spent = time.monotonic() - begun
        print(f"{spent:6.0f} s  {len(done)}/{len(found)}  {job.name}{f': {why}' if why else ''}", flush=True)

    waiting = {server: queue.Queue() for server in SERVERS}
    for job in found:
        waiting[job.server].put(job)
    with (
        tempfile.TemporaryDirectory(prefix="diagnosis-") as folder,
        concurrent.futures.ThreadPoolExecutor(lanes * len(SERVERS)) as threads,
    ):
        working = [
            threads.submit(work, waiting[server], server, folder, until, told)
            for server in SERVERS
            for _ in range(min(lanes, waiting[server].qsize()))
        ]
        try:
            for one in working:
                one.result()
        finally:
            STOPPED.set()
    return failed


def main():
    """Play a part, and tell what it came to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("parts", nargs="*", metavar="PART", help=f"of {', '.join(parts.PARTS)} (default: all)")
    add(
        "--quick", action="store_true", help="each fault at its middle strength only; the page stays as it is"
    )
    add("--case", action="append", help="only the case of this name; may be given several times")
    add("--server", action="append", choices=SERVERS, help="only on this kind of server")
    add("--strength", action="append", help="only at this strength")
    add("--score", action="store_true", help="play nothing: judge what was kept last time")
    add("--minutes", type=float, default=MINUTES, help=f"for all trials of a part (default: {MINUTES})")
    add(
        "--lanes",
        type=int,
        default=int(os.environ.get("LANES") or LANES),
        help="pairs of each kind of server",
    )
    options = parser.parse_args()
    if unknown := set(options.parts) - set(parts.PARTS):
        parser.error(f"no such part: {' '.join(sorted(unknown))}; there are {' '.join(parts.PARTS)}")
    met = True
    for part in options.parts or parts.PARTS:
        met = run(part, options) and met
    return 0 if met else 1


def played(found, options):
    """Play these, and tell when, where and with what."""
    for job in found:
        job.path.unlink(missing_ok=True)
    now, load, begun = dt.datetime.now(dt.UTC), os.getloadavg()[0], time.monotonic()
    _, peers = known_peers()
    failed = play(found, options.minutes, options.lanes)
    return {
        "day": f"{now:%F}",
        "time": f"{now:%R}",
        "minutes": round((time.monotonic() - begun) / 60, 1),
        "machine": machine() | {"load before": round(load, 1)},
        "lanes": options.lanes,
        "software": peers.software,
        "left_out": peers.left_out,
        "failed": {job.name: why for job, why in failed.items()},
    }


def run(part, options):
    """Play and judge a part. Whether all bars are met."""
    whole = not (options.quick or options.case or options.server or options.strength)
    found = jobs(part, options)
    (KEPT / part).mkdir(parents=True, exist_ok=True)
    if not options.score:
        (KEPT / f"{part}-about.json").write_text(json.dumps(played(found, options)))
    about = json.loads((KEPT / f"{part}-about.json").read_text())
    told = results.judge(part, [job.path for job in found], about)
    print(results.said(told), flush=True)
    place = (RESULTS if whole else KEPT) / f"{part}.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    if whole:
        status_of(ROOT / "contrib" / "generate")
    return all(bar["met"] for bar in told["bars"])


if __name__ == "__main__":
    with ending_tidily():
        sys.exit(main())
