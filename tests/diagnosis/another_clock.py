"""Servers whose clock is ahead or behind, while their timers are right."""

import contextlib
import os
import struct
import time

import places  # noqa: F401 - it says where the rest is
import software

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "another_clock.c")
NEAR = 2.0  # seconds


def library():
    """What a program preloads; raises Missing."""

    def make(folder):
        compiler = software.program("gcc", "gcc")
        software.file("/usr/include/dlfcn.h", "libc6-dev")
        made = os.path.join(folder, "another_clock.so")
        software.run("another clock", compiler, "-shared", "-fPIC", "-O2", "-o", made, SOURCE, "-ldl")

    return os.path.join(software.kept(f"clock-{software.digest(SOURCE)}", make), "another_clock.so")


class Clock:
    """The clock of a server that runs with it: it can be set."""

    def __init__(self, server):
        self.server = server
        self.file = server.path("clock")

    def set(self, seconds):
        """Let it be ahead by so many seconds."""
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as file:
            file.write(struct.pack("=q", seconds))

    def must_show(self, seconds):
        """See that the server goes by it."""
        [row] = self.server.sql("SELECT UNIX_TIMESTAMP(NOW(6)) - %s AS ahead", time.time())
        if abs(float(row["ahead"]) - seconds) > NEAR:
            raise RuntimeError(f"the clock is ahead by {row['ahead']} s, not by {seconds}")


@contextlib.contextmanager
def another_clock(scene, server, seconds):
    """Meanwhile the clock of a server is ahead by so many seconds: it is restarted for that, and after it.

    Gives the Clock.
    """
    clock = Clock(server)
    clock.set(seconds)
    server.variables = {"LD_PRELOAD": library(), "STALLWATCH_CLOCK": clock.file}
    scene.restart(server)
    try:
        clock.must_show(seconds)
        yield clock
    finally:
        server.variables = {}
        scene.restart(server)
