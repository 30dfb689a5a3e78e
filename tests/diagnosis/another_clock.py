"""Servers whose clock is ahead or behind, while their timers are right."""

import contextlib
import os
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


@contextlib.contextmanager
def another_clock(scene, server, seconds):
    """Meanwhile the clock of a server is ahead by so many seconds: it is restarted for that, and after it."""
    server.variables = {"LD_PRELOAD": library(), "STALLWATCH_CLOCK": str(seconds)}
    scene.restart(server)
    try:
        [row] = server.sql("SELECT UNIX_TIMESTAMP(NOW(6)) - %s AS ahead", time.time())
        if abs(float(row["ahead"]) - seconds) > NEAR:
            raise RuntimeError(f"the clock is ahead by {row['ahead']} s, not by {seconds}")
        yield
    finally:
        server.variables = {}
        scene.restart(server)
