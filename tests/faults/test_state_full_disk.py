"""A disk that is full at any step leaves the old state or the new one, and the run says so."""

import json
import shutil
import subprocess
import sys

from installing import impossible

PAGES, INODES = 8, 6  # left; more than are wanted
UNSAVED, NOTHING = "this run cannot be remembered: ", "nothing is remembered between runs: "
RUN = """
import json, os, resource, shutil, sys
from stallwatch.deadline import Deadline
from stallwatch.frame.state import memory


def run(padding):
    problems = []
    with memory({"name": "demo"}, state, Deadline(8), problems) as kept:
        had = kept.get("runs", 0)
        kept |= {"runs": had + 1, "padding": "x" * padding}
    return had, [problem.what for problem in problems]


def runs():
    files = [name for name in os.listdir(state) if name.endswith(".json")] if os.path.exists(state) else []
    return json.load(open(f"{state}/{files[0]}"))["values"]["runs"] if files else 0


def tried(before, padding, tight, loose):
    "What was there, what a run in want of room says and leaves, and what the next one says."
    shutil.rmtree(state, ignore_errors=True)
    if before:
        run(padding)
    tight()
    said = run(padding)
    left = runs()
    loose()
    print(json.dumps([before, *said, left, *run(padding)]))
"""
# A file system that is filled until so many pages are left, and one with so few inodes.
IN_A_SMALL_FILE_SYSTEM = """
place, pages, inodes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
state, filler = f"{place}/state", f"{place}/filler"


def fill(left):
    free, page = os.statvfs(place).f_bfree, os.statvfs(place).f_bsize
    with open(filler, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, (free - left) * page)


def use_up(left):
    os.mkdir(filler)
    for number in range(os.statvfs(place).f_ffree - left):
        open(f"{filler}/{number}", "wb").close()


for before in (0, 1):
    for left in range(pages):
        tried(before, 9000, lambda: fill(left), lambda: os.unlink(filler))
    for left in range(inodes):
        tried(before, 9000, lambda: use_up(left), lambda: shutil.rmtree(filler))
"""
# A largest size of a file that falls short of the state's by each number of bytes.
WITH_SHORT_FILES = """
state = sys.argv[1]


def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


run(20)
(name,) = [name for name in os.listdir(state) if name.endswith(".json")]
for before in (0, 1):
    for size in range(1, os.path.getsize(f"{state}/{name}") + 2):
        tried(before, 20, lambda: limit(size), lambda: limit(resource.RLIM_INFINITY))
"""


def outcomes(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def judge(outcomes, error):
    """Each is well or says why it is not; gives how many were each."""
    well = 0
    for outcome in outcomes:
        before, had, problems, left, then, then_problems = outcome
        if problems:
            (problem,) = problems
            assert problem.startswith((UNSAVED, NOTHING)), outcome
            assert problem.endswith(f": {error}"), outcome
            assert had == (before if problem.startswith(UNSAVED) else 0), outcome
            assert left == before, outcome
        else:
            assert (had, left) == (before, before + 1), outcome
            well += 1
        assert (then, then_problems) == (left, []), outcome
    return well, len(outcomes) - well


def test_a_file_system_without_room(tmp_path, note):
    namespace = ["unshare", "--mount", "--map-root-user"]
    if not shutil.which("unshare") or subprocess.run([*namespace, "true"], check=False).returncode:
        impossible("no file system can be mounted here: unshare --mount --map-root-user fails")
    mount = 'mount -t tmpfs -o size=256k,nr_inodes=64,mode=700 tmpfs "$1" && exec "$0" -c "$2" "$1" "$3" "$4"'
    script = RUN + IN_A_SMALL_FILE_SYSTEM
    words = [sys.executable, tmp_path, script, str(PAGES), str(INODES)]
    well, failed = judge(outcomes(*namespace, "sh", "-c", mount, *words), "No space left on device")
    assert well > 10
    assert failed >= 8
    note("counted", ("sizes of a full disk", failed))


def test_a_file_that_must_be_shorter_by_any_number_of_bytes(state, note):
    well, failed = judge(outcomes(sys.executable, "-c", RUN + WITH_SHORT_FILES, state), "File too large")
    assert well == 4
    assert failed > 200
    note("counted", ("sizes of a full disk", failed))
