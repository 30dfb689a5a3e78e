"""Clocks that differ: nothing is late, and nothing may alarm."""

import time

import places  # noqa: F401 - it says where the rest is
import software
from case import healthy

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
TIMERS = {
    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    "DONT_FAKE_MONOTONIC": "1",
}  # as they are called in all versions
SHIFTS = {"5 s": 5, "30 s": 30, "120 s": 120}


def _shift(scene, server, seconds):
    """Start a server again with a clock that is ahead by so many seconds; its timers stay right."""
    library = software.file(FAKETIME, "libfaketime")
    server.variables = {"LD_PRELOAD": library, "FAKETIME": f"{seconds:+d}s"} | TIMERS
    scene.restart(server)
    scene.kept.callback(_right, scene, server)
    [row] = server.sql("SELECT UNIX_TIMESTAMP(NOW(6)) - %s AS ahead", time.time())
    if abs(float(row["ahead"]) - seconds) > 2:
        raise AssertionError(f"the clock is ahead by {row['ahead']} s, not {seconds}")
    scene.pair.catch_up()


def _right(scene, server):
    server.variables = {}
    scene.restart(server)


@healthy("replica's clock ahead", strengths=SHIFTS, lasts=60.0, after=0.0)
def replica_ahead(scene, seconds):
    """The clock of the replica is ahead of the source's."""
    _shift(scene, scene.replica, seconds)
    yield
    yield


@healthy("replica's clock behind", strengths=SHIFTS, lasts=60.0, after=0.0)
def replica_behind(scene, seconds):
    """The clock of the replica is behind the source's."""
    _shift(scene, scene.replica, -seconds)
    yield
    yield


@healthy("source's clock behind", strengths={"60 s": 60}, lasts=60.0, after=0.0)
def source_behind(scene, seconds):
    """The clock of the source is behind the replica's, which is right."""
    _shift(scene, scene.source, -seconds)
    yield
    yield


@healthy("source's clock ahead", strengths={"60 s": 60}, lasts=60.0, after=0.0)
def source_ahead(scene, seconds):
    """The clock of the source is ahead of the replica's, which is right."""
    _shift(scene, scene.source, seconds)
    yield
    yield
