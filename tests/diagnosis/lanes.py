"""Plays trials side by side, each on a pair of a process of its own, and ends in time whatever happens."""

import concurrent.futures
import contextlib
import json
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from places import KEPT

PROGRAM = Path(__file__).parent / "lane.py"
SPARE = 100  # seconds that a trial may take in addition: servers start, and heal
NEEDED = 20  # seconds of them, without which none is begun
GRACE = 20  # seconds in which a lane stops its servers
HEAVY = threading.Lock()  # held while a trial is played that needs a processor for itself
STOPPED = threading.Event()  # by a signal


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
        command = [sys.executable, PROGRAM, self.server, self.place]
        log = open(KEPT / f"lane-{Path(self.place).name}.log", "wb")  # noqa: SIM115 - the lane has it
        with log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )

    def _end(self):
        """End it: its servers see that, and end, too."""
        process, self.process = self.process, None
        if process:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0 if STOPPED.is_set() else GRACE)
            process.kill()
            process.wait()
            process.stdout.close()
            shutil.rmtree(self.place, ignore_errors=True)


class Waiting:
    """The trials of one kind of server that are still to be played."""

    def __init__(self, jobs):
        self.jobs = list(jobs)
        self.taking = threading.Lock()

    @contextlib.contextmanager
    def one(self):
        """Take one: gives it, or None if none is left. Of the heavy ones, one is played at a time."""
        while self.jobs and not STOPPED.is_set():
            with self.taking:
                job = next(
                    (job for job in self.jobs if not job.case.heavy or HEAVY.acquire(blocking=False)), None
                )
                if job:
                    self.jobs.remove(job)
            if job:
                try:
                    yield job
                finally:
                    if job.case.heavy:
                        HEAVY.release()
                return
            STOPPED.wait(1.0)
        yield None


def work(waiting, server, folder, until, told):
    """Play what waits, one after the other, while there is time for it."""
    with Lane(server, folder) as lane:
        while True:
            with waiting.one() as job:
                if job is None:
                    return
                if time.monotonic() + job.case.seconds + NEEDED > until:
                    told(job, "no time was left for it")
                else:
                    told(job, lane.play(job, until))


def play(found, minutes, lanes):
    """Play all trials side by side. Gives why trials failed, by their names."""
    failed, done, begun = {}, [], time.monotonic()
    STOPPED.clear()
    until = begun + 60 * minutes

    def told(job, why):
        done.append(job)
        if why:
            failed[job.name] = why
        spent = time.monotonic() - begun
        print(f"{spent:6.0f} s  {len(done)}/{len(found)}  {job.name}{f': {why}' if why else ''}", flush=True)

    servers = dict.fromkeys(job.server for job in found)
    waiting = {server: Waiting(job for job in found if job.server == server) for server in servers}
    with (
        tempfile.TemporaryDirectory(prefix="diagnosis-") as folder,
        concurrent.futures.ThreadPoolExecutor(lanes * max(1, len(servers))) as threads,
    ):
        working = [
            threads.submit(work, waiting[server], server, folder, until, told)
            for server in servers
            for _ in range(min(lanes, len(waiting[server].jobs)))
        ]
        try:
            for one in working:
                one.result()
        finally:
            STOPPED.set()
    return failed
