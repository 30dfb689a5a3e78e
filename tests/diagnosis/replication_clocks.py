"""Clocks that differ: nothing is late, and nothing may alarm."""

from another_clock import another_clock
from case import healthy

SHIFTS = {"5 s": 5, "30 s": 30, "120 s": 120}
STEPS = {"60 s ahead": 60, "60 s behind": -60}


def _shift(scene, server, seconds):
    clock = scene.kept.enter_context(another_clock(scene, server, seconds))
    scene.pair.catch_up()
    return clock


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


@healthy("replica's clock set", strengths=STEPS, lasts=40.0, after=0.0)
def replica_set(scene, seconds):
    """Somebody sets the clock of the replica while its receiver is connected."""
    clock = _shift(scene, scene.replica, 0)
    yield
    clock.set(seconds)
    yield


@healthy("source's clock set", strengths={"60 s behind": -60}, lasts=40.0, after=0.0)
def source_set(scene, seconds):
    """Somebody sets the clock of the source while the receiver is connected."""
    clock = _shift(scene, scene.source, 0)
    yield
    clock.set(seconds)
    yield
