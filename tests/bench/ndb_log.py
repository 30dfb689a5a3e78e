"""How fast do uninteresting lines go through check_ndb_log, beside grep -cE and other readers?

All look for the same patterns in the same real lines of a quiet node.
"""

import itertools
import os

from measured import ROOT, Bench, ours
from peers import peers
from stallwatch.probes.ndb_log.collect import WORDS

QUIET = ROOT / "tests" / "recorded" / "ndb_log" / "E11_mgm_restart.ndb_3_out.log"
LARGE, SMALL = 2_000_000_000, 20_000_000  # bytes
LARGE_ROUNDS, SMALL_ROUNDS = 5, 9
MINUTE = 60  # lines that a node writes between two runs, or fewer
LIMIT, MEMORY = 1.0, 40  # of grep's processor time; MB
WHOLE, GREP = "check_ndb_log --whole", "grep -cE of the same patterns"
NONE = {GREP: (1,)}  # it finds nothing
LOGFILES = """$seekfilesdir = '{folder}';
@searches = ({{ tag => 'bench', type => 'simple', logfile => '{log}', warningpatterns => ['{pattern}'],
  options => 'allyoucaneat,noprotocol' }});
"""


def quiet_lines():
    """What a node writes all day: operations, transactions, global checkpoints."""
    wanted = (b"Operations=", b"Trans. Count", b"Global checkpoint")
    lines = QUIET.read_bytes().splitlines(keepends=True)
    return [line for line in lines if any(word in line for word in wanted)]


def patterns():
    """The words of the plugin's first look, as grep wants them; numbers stand where shapes have none."""
    return [
        "".join("\\" + sign if sign in "()[].*+?|" else sign for sign in word.decode())
        .replace("Start phase  completed", "Start phase [0-9]* completed")
        .replace("node=,", "node=[0-9]*,")
        for word in sorted(WORDS)
    ]


def write(path, size):
    """A log of about that size."""
    lines = b"".join(quiet_lines())
    with open(path, "wb") as log:
        log.writelines(itertools.repeat(lines, size // len(lines)))


def whole(log):
    """Our plugin that reads all of it."""
    return ours("check_ndb_log", "--no-state", "--timeout", "10m", "--whole", "--log", log)


def grep(log):
    """The same question to grep, in the fastest of its languages."""
    return ["grep", "-cE", "|".join(patterns()), log]


def large(bench):
    """A file that has grown for long, read at once."""
    log = bench.path("large.ndb_3_out.log")
    write(log, LARGE)
    commands = {WHOLE: whole(log), GREP: grep(log)}
    costs = bench.compare("2 GB of quiet lines", commands, LARGE_ROUNDS, expected=NONE)
    os.remove(log)
    bench.hold("2 GB of quiet lines, of grep -cE", costs, WHOLE, GREP, LIMIT)
    megabytes = max(one.memory for one in costs[WHOLE]) * 2**20 / 1e6
    bench.budget("2 GB of quiet lines, peak of memory", megabytes, MEMORY, "MB")


def logfiles(bench, path, log):
    """What check_logfiles is given to read a log with the same patterns."""
    configuration = f"{log}.cfg"
    pattern = "|".join(patterns()).replace("'", "\\'")
    with open(configuration, "w") as file:
        file.write(LOGFILES.format(folder=bench.path("seek"), log=log, pattern=pattern))
    return [path, "-f", configuration]


def grown(bench, paths):
    """A log that has a minute's lines more than at the last run."""
    log = bench.path("grown.ndb_3_out.log")
    write(log, SMALL)
    lines = b"".join(quiet_lines()[:MINUTE])

    def grow():
        with open(log, "ab") as file:
            file.write(lines)

    commands = {"check_ndb_log": ours("check_ndb_log", "--log", log)}
    if "check_logfiles" in paths:
        commands["check_logfiles"] = logfiles(bench, paths["check_logfiles"], log)
    if "check_log" in paths:
        old = bench.path("old")
        commands["check_log of one pattern, which copies the whole log"] = [
            paths["check_log"], "-F", log, "-O", old, "-q", patterns()[0],
        ]  # fmt: skip
    bench.compare(f"{MINUTE} new lines at the end of {SMALL // 10**6} MB", commands, between=grow)


def small(bench, paths):
    """A log that is read for the first time."""
    log = bench.path("small.ndb_3_out.log")
    write(log, SMALL)
    commands = {WHOLE: whole(log), GREP: grep(log)}
    if "check_logfiles" in paths:
        forget = f"rm -rf {bench.path('seek')}; exec "
        command = " ".join(logfiles(bench, paths["check_logfiles"], log))
        commands["check_logfiles"] = ["sh", "-c", forget + command]
    bench.compare(f"{SMALL // 10**6} MB of quiet lines", commands, SMALL_ROUNDS, expected=NONE)


def main():
    """Measure all."""
    with Bench("ndb_log", LC_ALL="C") as bench:
        os.makedirs(bench.path("seek"))
        paths = peers(bench, "check_logfiles", "check_log")
        grown(bench, paths)
        small(bench, paths)
        large(bench)


if __name__ == "__main__":
    main()
