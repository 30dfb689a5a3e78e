"""How fast do uninteresting lines go through check_ndb_log, beside grep -cE of the same patterns?

Both read the same file of a quiet node's lines, paired A B A B in one run; medians of processor time.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from stallwatch.probes.ndb_log.story import WORDS

ROOT = Path(__file__).resolve().parents[2]
QUIET = ROOT / "tests" / "recorded" / "ndb_log" / "E11_mgm_restart.ndb_3_out.log"
CHECK = [sys.executable, ROOT / "plugins" / "check_ndb_log", "--timeout", "10m", "--whole", "--log"]
ROUNDS = 5
MEGABYTES = 200


def quiet_lines() -> bytes:
    """What a node writes all day: operations, transactions, global checkpoints."""
    wanted = (b"Operations=", b"Trans. Count", b"Global checkpoint")
    return b"".join(
        line for line in QUIET.read_bytes().splitlines(keepends=True) if any(word in line for word in wanted)
    )


def patterns() -> str:
    """The words of the plugin's first look, as grep wants them; numbers stand where shapes have none."""
    return (
        "|".join(
            "".join("\\" + sign if sign in "()[].*+?|" else sign for sign in word.decode())
            for word in sorted(WORDS)
        )
        .replace("Start phase  completed", "Start phase [0-9]* completed")
        .replace("node=,", "node=[0-9]*,")
    )


def seconds(command: list) -> tuple[float, int]:
    """Processor seconds and peak memory in MiB of one run."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def main() -> None:
    """Print one table."""
    lines = quiet_lines()
    with tempfile.NamedTemporaryFile(suffix=".ndb_3_out.log") as log:
        for _ in range(MEGABYTES * 1_000_000 // len(lines)):  # not at once: a child begins with our memory
            log.write(lines)
        log.flush()
        size = os.path.getsize(log.name) / 1e6
        ours = [*CHECK, log.name]
        grep = ["grep", "-cE", patterns(), log.name]
        pairs = [(seconds(ours), seconds(grep)) for _ in range(ROUNDS)]
    check = statistics.median(pair[0][0] for pair in pairs)
    peer = statistics.median(pair[1][0] for pair in pairs)
    memory = max(pair[0][1] for pair in pairs)
    ratio = statistics.median(pair[0][0] / pair[1][0] for pair in pairs)
    print(f"{size:.0f} MB of quiet lines, medians of {ROUNDS} pairs, processor time of whole processes")
    print(f"  check_ndb_log --whole  {check:6.2f} s  {size / check:6.0f} MB/s  {memory} MiB at most")
    print(f"  grep -cE               {peer:6.2f} s  {size / peer:6.0f} MB/s")
    print(f"  ratio of processor time {ratio:.2f}")


if __name__ == "__main__":
    main()
