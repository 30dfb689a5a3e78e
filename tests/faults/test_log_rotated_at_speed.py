"""A log is written by a process at speed, rotated at random and read by runs that are killed at random.

Every line is judged exactly once, or a run has said that something may be lost. The numbers of the lines
that are judged are in the state, so that what a killed run has done is known, too.
"""

import random
import re
import subprocess
import sys
import time
from collections import Counter

import numbered
import pytest
from log_rotation import COPYING, DESTROYING, RENAMING, Rotation, WrittenLog
from remembering import PLUGINS

SECONDS = 4  # of one history, or until as much has happened as is told by these, whatever the machine's load
RUNS, KILLS, DEEDS = 10, 2, 8
PATIENCE = 600  # seconds for that, on a busy machine
PIECES = 500 * 10**6  # a piece of a line without its time seems to be from now: its number is above this
REPRESENTATIVE = 1  # seeds
ALL = 25
HISTORIES = [
    pytest.param(
        deeds, seed, id=f"{name}-{seed}", marks=[pytest.mark.only_in_all_cells] * (seed >= REPRESENTATIVE)
    )
    for seed in range(ALL)
    for name, deeds in (("renaming", RENAMING), ("copying", COPYING), ("destroying", DESTROYING))
]
# Part of all lines, at most, that are given up with a word although nothing has destroyed them: a copy made
# and truncated between two runs is sometimes not known again, which was up to 0.15.
NEEDLESS = {RENAMING: 0, COPYING: 0.5, DESTROYING: 0.25}
# What a run says of a loss: of which file of this log.
LOSS = re.compile(
    r"^\[(?:UNKNOWN|OK)\] (?:ndb_4_out\.log\S* was .* may be lost"
    r"|ndb_4_out\.log\S* is damaged .* is lost|/\S*/ndb_4_out\.log\S* cannot be read: .*)$",
    re.MULTILINE,
)
# The check as it is, but that it counts all standstills, not the last 1000.
COUNTING_ALL = """
import runpy, sys
from stallwatch.probes.ndb_log import watchdog

watchdog._COUNTED = 10**9
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Reader:
    """Runs of the check on one log, step by step, and what came of each.

    A step tells of a loss if one of its runs says so, or was killed when its state was written already and
    nothing was said yet.
    """

    def __init__(self, log, state, base, chance):
        self.log, self.state, self.base, self.chance = log, state, base, chance
        self.written = []  # how many lines there were when each step began
        self.reached = []  # the last line that was judged when it ended
        self.tells_loss = []
        self.outputs = []
        self.seen = 0  # lines that there were when the last step began of which a run came to its end
        self.runs = self.kills = self.unheard = 0

    def step(self, *, kill=True):
        """Run it once, or twice at once; some are killed."""
        self.written.append(self.log.written)
        before = self._version()
        processes = [self._start() for _ in range(self.chance.choice([1, 1, 2]))]
        killed = [process for process in processes if kill and self.chance.random() < 0.4]
        if killed:
            time.sleep(self.chance.uniform(0, 0.4))
        for process in killed:
            process.kill()
        ends = [(process, *process.communicate(timeout=120)) for process in processes]
        said = [self._checked(*end) for end in ends if end[0].returncode != -9]
        self.kills += len(processes) - len(said)
        unheard = len(said) < len(processes) and self._version() != before
        self.unheard += unheard
        self.tells_loss.append(unheard or any(LOSS.search(text) for text in said))
        self.reached.append(max(self.judged(), default=-1))
        self.outputs += said
        self.seen = self.written[-1] if said else self.seen
        return said

    def _version(self):
        return [(file.stat().st_ino, file.stat().st_mtime_ns) for file in self.state.glob("*.json")]

    def _start(self):
        self.runs += 1
        command = [
            sys.executable, "-c", COUNTING_ALL, str(PLUGINS / "check_ndb_log"),
            "--log", str(self.log.path), "--state-dir", str(self.state), "--timeout", "60s",
        ]  # fmt: skip
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def _checked(self, process, output, errors):
        assert (process.returncode, errors) == (1, ""), output + errors
        for words in ("counts as the first", "remember", "internal error", "still to be read", "no verdict"):
            assert words not in output, output
        return output

    def judged(self):
        """The numbers of lines that are judged, but not of pieces of lines that have no time."""
        return [number for number in numbered.judged(self.state, self.base) if number < PIECES]

    def not_told(self, missing):
        """Those of which no step tells, from when they were written until they were passed."""
        return [number for number in missing if not any(self.tells_loss[self._while_lost(number)])]

    def _while_lost(self, number):
        written = max(step for step, count in enumerate(self.written) if count <= number or step == 0)
        passed = next((step for step, last in enumerate(self.reached) if last > number), len(self.reached))
        return slice(max(0, written - 1), passed + 1)


def enough(reader, rotation):
    """Whether it is worth the name of a history."""
    return reader.runs >= RUNS and reader.kills >= KILLS and len(rotation.history) >= DEEDS


def history(tmp_path, state, deeds, seed):
    """Let it happen: gives the reader, its log and the rotation when all is over."""
    chance, base = random.Random(seed), int(time.time()) - 1000
    folder = tmp_path / "log"
    folder.mkdir()
    with WrittenLog(folder, base, seed) as log:
        reader = Reader(log, state, base, chance)
        reader.step(kill=False)
        rotation = Rotation(log, deeds, random.Random(seed), lambda: reader.seen)
        began = time.monotonic()
        rotation.start()
        try:
            while time.monotonic() < began + SECONDS or not enough(reader, rotation):
                assert time.monotonic() < began + PATIENCE, (reader.runs, reader.kills, rotation.history)
                reader.step()
        finally:
            rotation.end()
        log.end()
    for _ in range(3):
        last = reader.step(kill=False)
    return reader, rotation, last


@pytest.mark.parametrize(("deeds", "seed"), HISTORIES)
def test_each_line_is_judged_once_or_said_to_be_lost(tmp_path, state, deeds, seed, note):
    reader, rotation, last = history(tmp_path, state, deeds, seed)
    judged, written = Counter(reader.judged()), reader.log.written
    missing = sorted(set(range(written)) - set(judged))
    story = f"{written} lines, {reader.runs} runs, {reader.kills} killed, {rotation.history}"
    assert not [number for number, times in judged.items() if times > 1], story
    assert set(judged) <= set(range(written)), story
    needless = [number for number in missing if not any(number in lines for lines in rotation.lost)]
    assert len(needless) <= NEEDLESS[deeds] * written, story
    if deeds is RENAMING:
        assert not [text for text in reader.outputs if "lost" in text or "cannot be read" in text], story
    assert not reader.not_told(missing), story
    assert all(f" stuck_episodes={len(numbered.judged(state, reader.base))}" in text for text in last)
    note("counted", ("lines of logs rotated at speed", written))
    note("counted", ("runs on logs rotated at speed", reader.runs))
    note("counted", ("runs killed on logs rotated at speed", reader.kills))
