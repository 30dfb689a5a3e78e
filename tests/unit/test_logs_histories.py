"""Random histories of a log: every line is handed out exactly once, and every possible loss is told.

The model writes lines that are made of numbered tokens ("<17>"), so that a line that comes twice, in
pieces or not at all can be told by its numbers. It keeps its own clock, a coarse one, at which several
things may happen within one tick, and gives out its own inodes, the last freed one first if it likes.
"""

import gzip
import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from unittest import mock

import hypothesis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from levels import representative
from stallwatch.findings import ProbeError
from stallwatch.sources import logs
from stallwatch.sources.logs import logfile

KEPT_BY_ROTATION = 5


@dataclass(eq=False)
class Generation:
    """What was written to one file between its creation (or truncation) and its end."""

    born: int
    tokens: list = field(default_factory=list)
    lines: list = field(default_factory=lambda: [0])  # how many tokens there were at the end of each
    seen: bool = False  # a run found content in it
    settled: bool = False  # a run handed out all of it when its writer had left it


@dataclass
class Held:
    """What one file holds: a generation or, being a copy, the beginning of one."""

    generation: Generation
    inode: tuple  # and its birth
    copied: int | None = None  # how many tokens
    admins: bool = False  # a copy that somebody made beside the rotation

    @property
    def tokens(self):
        return self.generation.tokens[: self.copied]

    @property
    def incomplete(self):
        """The tokens of the unfinished last line."""
        return self.tokens[max(end for end in self.generation.lines if end <= len(self.tokens)) :]


class Histories(RuleBasedStateMachine):
    """A log, its writer, its rotation, and the runs of a check."""

    block, edge = logfile.BLOCK, logfile.EDGE
    tells_births = True  # as ext4 does, unlike NFS

    def __init__(self):
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "ndb_4_out.log")
        self.clock = 1_790_000_000
        self.uses = 0  # of inodes
        self.freed = []
        self.reuse = True
        self.patches = [
            mock.patch.object(logfile.LogFile, "__init__", self.opened(logfile.LogFile.__init__)),
            mock.patch.object(logfile, "BLOCK", self.block),
            mock.patch("stallwatch.sources.logs.follow.BLOCK", self.block),
            mock.patch.object(logfile, "EDGE", self.edge),
        ]
        for patch in self.patches:
            patch.start()
        self.files = {}  # name: Held
        self.writer = None  # (descriptor, generation)
        self.count = 0
        self.births = 0
        self.kept = None
        self.delivered = []
        self.history = set()  # tokens that were there before the first run
        self.either_way = set()  # tokens that may be handed out or not
        self.copied_and_compressed = set()  # by an admin: looks as if rotation had done it
        self.destroyed = []  # what the next run must tell: (generation, its tokens)
        self.may_note = False
        self.inodes = set()  # those of the last run
        self.failed = False

    def teardown(self):
        try:
            if not self.failed:
                self.drain()
        finally:
            if self.writer:
                os.close(self.writer[0])
            for patch in self.patches:
                patch.stop()
            shutil.rmtree(self.folder)

    # the files

    def opened(self, really):
        def init(file, path, descriptor):
            really(file, path, descriptor)
            file.inode, file.birth = self.files[file.name].inode

        return init

    def inode(self):
        self.uses += 1
        number = self.freed.pop() if self.freed and self.reuse else self.uses
        return (number, self.uses if self.tells_births else 0)

    @rule(reuse=st.booleans())
    def reuse_inodes(self, reuse):
        self.reuse = reuse

    def at(self, name):
        return os.path.join(self.folder, name)

    @property
    def log(self):
        return self.files.get("ndb_4_out.log")

    def stamp(self, name):
        os.utime(self.at(name), (self.clock, self.clock))

    def tick(self, ticks):
        self.clock += ticks

    def create(self, name):
        with open(self.at(name), "wb"):
            pass
        self.files[name] = Held(self.new_generation(), self.inode())
        self.stamp(name)
        self.may_note |= self.files[name].inode in self.inodes  # looks as if it had been truncated

    def new_generation(self):
        self.births += 1
        return Generation(self.births)

    def move(self, old, new):
        if new in self.files:
            self.gone(new)
        os.rename(self.at(old), self.at(new))
        self.files[new] = self.files.pop(old)

    def remove(self, name):
        os.unlink(self.at(name))
        held = self.files.pop(name)
        self.freed.append(held.inode[0])
        return held

    def gone(self, name):
        held = self.remove(name)
        others = [other for other in self.files.values() if other.generation is held.generation]
        if held.copied is None or not others:
            self.destroy(held)
        elif not held.tokens or all(other.copied is not None for other in others):
            self.may_note = True  # of empty files and of several copies, who knows which one was followed?

    def destroy(self, held):
        generation = held.generation
        if held.copied is None and self.writer and self.writer[1] is generation:
            self.put_down()
        if not generation.settled:
            self.may_note = True
        if generation.seen and not held.admins:
            self.destroyed.append((generation, set(held.tokens) - self.history))

    def put_down(self):
        os.close(self.writer[0])
        self.writer = None

    def name_of(self, generation):
        return next(
            name
            for name, held in self.files.items()
            if held.generation is generation and held.copied is None and not name.endswith(".gz")
        )

    def shift(self):
        for number in range(KEPT_BY_ROTATION, 0, -1):
            for packed in ("", ".gz"):
                name = f"ndb_4_out.log.{number}{packed}"
                if name in self.files:
                    if number == KEPT_BY_ROTATION:
                        self.gone(name)
                    else:
                        self.move(name, f"ndb_4_out.log.{number + 1}{packed}")

    # the writer

    def write(self, text, ticks):
        self.tick(ticks)
        descriptor, generation = self.writer
        name = self.name_of(generation)
        if self.log and name != "ndb_4_out.log" and not (generation.tokens or self.log.tokens):
            self.may_note = True  # a late writer: what it writes looks like a copy of the new file
        os.write(descriptor, text)
        generation.tokens += re.findall(rb"<\d+>", text)
        if text.endswith(b"\n"):
            generation.lines.append(len(generation.tokens))
        self.stamp(name)

    def token(self):
        self.count += 1
        return b"<%d>" % self.count

    @initialize(reopen=st.booleans())
    def begin(self, reopen):
        if reopen:
            self.reopen()

    @rule()
    def reopen(self):
        if self.writer:
            self.put_down()
        if not self.log:
            self.create("ndb_4_out.log")
        self.writer = (os.open(self.path, os.O_WRONLY | os.O_APPEND), self.log.generation)

    @precondition(lambda self: self.writer)
    @rule(lines=st.integers(1, 4), pad=st.sampled_from([0, 3, 40]), ticks=st.integers(0, 1))
    def append(self, lines, pad, ticks):
        for _ in range(lines):
            self.write(self.token() + b"." * pad + b"\n", ticks)

    @precondition(lambda self: self.writer)
    @rule(ticks=st.integers(0, 1))
    def append_half(self, ticks):
        self.write(self.token(), ticks)

    # the rotation

    @precondition(lambda self: self.log)
    @rule(create=st.booleans(), reopen=st.booleans())
    def rename(self, create, reopen):
        self.shift()
        self.move("ndb_4_out.log", "ndb_4_out.log.1")
        if create:
            self.create("ndb_4_out.log")
        if reopen:
            self.reopen()

    @precondition(lambda self: self.log)
    @rule(copy=st.booleans(), ticks=st.integers(0, 1))
    def copytruncate(self, copy, ticks):
        self.tick(ticks)
        old = self.log
        if copy:
            self.shift()
            self.copy("ndb_4_out.log", "ndb_4_out.log.1")
        with open(self.path, "wb"):
            pass
        self.stamp("ndb_4_out.log")
        self.files["ndb_4_out.log"] = Held(self.new_generation(), old.inode)
        self.may_note = True
        if self.writer and self.writer[1] is old.generation:
            self.writer = (self.writer[0], self.log.generation)
        if not copy:
            self.destroy(old)

    def copy(self, old, new, *, admins=False):
        shutil.copyfile(self.at(old), self.at(new))
        held = self.files[old]
        self.files[new] = Held(held.generation, self.inode(), len(held.tokens), admins)
        self.stamp(new)

    def rotated(self, packed):
        return sorted(
            name for name in self.files if name != "ndb_4_out.log" and name.endswith(".gz") == packed
        )

    def held_by_writer(self, name):
        return bool(self.writer) and self.files[name].generation is self.writer[1]

    @precondition(lambda self: self.rotated(packed=False))
    @rule(data=st.data(), keep=st.booleans())
    def compress(self, data, keep):
        name = data.draw(st.sampled_from(self.rotated(packed=False)))
        held = self.files[name]
        if keep and self.held_by_writer(name):
            return  # what is written after it was compressed would be deleted with the plain file
        times = os.stat(self.at(name))
        with open(self.at(name), "rb") as plain, open(self.at(name + ".gz"), "wb") as packed:
            packed.write(gzip.compress(plain.read()))
        os.utime(self.at(name + ".gz"), ns=(times.st_atime_ns, times.st_mtime_ns))
        inode = self.files[name + ".gz"].inode if name + ".gz" in self.files else self.inode()
        self.files[name + ".gz"] = Held(held.generation, inode, len(held.tokens), held.admins)
        if held.admins:
            self.copied_and_compressed.add(held.generation)
        if not keep:
            if self.held_by_writer(name) and held.copied is None:
                self.put_down()
            self.remove(name)

    @rule(data=st.data())
    @precondition(lambda self: self.files)
    def delete(self, data):
        self.gone(data.draw(st.sampled_from(sorted(self.files))))

    @precondition(lambda self: self.log)
    @rule()
    def recreate(self):
        self.gone("ndb_4_out.log")
        self.reopen()

    @precondition(lambda self: self.log and self.kept)
    @rule(number=st.sampled_from([7, 8]), ticks=st.integers(0, 1))
    def admins_copy(self, number, ticks):
        name = f"ndb_4_out.log.{number}"
        for old in (name, name + ".gz"):
            if old in self.files:
                return
        self.tick(ticks)
        self.copy("ndb_4_out.log", name, admins=True)

    # the check

    @rule()
    def run(self):
        self.look()

    @rule(max_bytes=st.integers(1, 60))
    def hurried_run(self, max_bytes):
        self.look(max_bytes)

    def look(self, max_bytes=1 << 20):
        self.tick(1)
        self.failed = True
        follow = logs.Follow(self.path, self.kept, max_bytes=max_bytes, now=self.clock)
        try:
            text = b"".join(follow)
        except ProbeError:
            assert not os.path.exists(self.path)
            assert self.rotated(packed=False) + self.rotated(packed=True) == []
            self.failed = False
            return follow
        self.tick(1)
        assert bool(follow.problem) == (not self.log)
        assert text == b"" or text.endswith(b"\n")
        if follow.first_run:
            self.take_history()
        self.check_tokens(re.findall(rb"<\d+>", text))
        self.check_notes(follow)
        self.kept = json.loads(json.dumps(follow.kept))
        self.remember(follow)
        self.failed = False
        return follow

    def take_history(self):
        for name, held in self.files.items():
            if name != "ndb_4_out.log" and held.generation is not (self.log and self.log.generation):
                self.history |= set(held.tokens)
                self.either_way |= set(held.incomplete)

    def check_tokens(self, tokens):
        assert not set(tokens) & set(self.delivered), "twice"
        assert len(tokens) == len(set(tokens)), "twice"
        assert not set(tokens) & (self.history - self.either_way), "history"
        numbers = [int(token[1:-1]) for token in tokens]
        in_order = numbers == sorted(numbers)
        assert in_order or any(held.admins for held in self.files.values()), "order"
        self.delivered += tokens

    def check_notes(self, follow):
        told = follow.notes + follow.asides
        assert not told or self.may_note, "nothing can be lost"
        for generation, tokens in self.destroyed:
            if generation not in self.copied_and_compressed:
                left = {token for held in self.files.values() for token in held.tokens}
                assert told or tokens <= left.union(self.delivered), "a loss that was not told"
        self.destroyed = []

    def remember(self, follow):
        self.may_note = False
        self.inodes = {held.inode for held in self.files.values()}
        generations = [held.generation for held in self.files.values() if not held.admins]
        handed_out = {*self.delivered, *(self.history - self.either_way)}
        newest = max((generation.born for generation in generations if generation.tokens), default=0)
        for generation in generations:
            left = not self.writer or self.writer[1] is not generation
            generation.seen |= bool(generation.tokens)
            generation.settled = (
                follow.behind == 0
                and left
                and generation.born < newest
                and handed_out.issuperset(generation.tokens)
            )

    def drain(self):
        """Complete what is incomplete, and look until nothing comes any more."""
        self.reopen()
        self.write(self.token() + b"\n", 1)
        for _ in range(3):
            assert self.look().behind == 0
        there = {token for held in self.files.values() if not held.admins for token in held.tokens}
        assert there <= {*self.delivered, *self.history, *self.either_way}, "missing"


class HistoriesInSmallBlocks(Histories):
    """The same with texts longer than blocks and fingerprints, where reused inodes cannot be told apart."""

    block, edge = 256, 48
    tells_births = False


def checked(histories):
    histories.TestCase.settings = settings(
        deadline=None,
        derandomize="HISTORIES" not in os.environ,
        print_blob=True,
        max_examples=int(os.environ.get("HISTORIES") or representative(100, every=300)),
        stateful_step_count=30,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    return histories.TestCase


TestHistories = checked(Histories)
TestHistoriesInSmallBlocks = checked(HistoriesInSmallBlocks)
