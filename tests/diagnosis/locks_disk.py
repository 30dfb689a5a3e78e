"""The head waits for its disk: the file system of the data is frozen while it commits."""

import time

import places  # noqa: F401 - it says where the rest is
from locks_case import fault
from small_disk import frozen, small_disk

SIZE = 600 << 20


@fault("head waits for the disk", kind="slow_disk", fresh=True)
def head_waits_for_the_disk(scene, waiters):
    """A COMMIT cannot be written, and others wait for its rows."""
    scene.move_to(small_disk(scene.server.folder, SIZE))
    yield
    head = scene.idle()
    with frozen(scene.server.folder):
        head.begin("COMMIT")
        time.sleep(0.3)
        scene.crowd(waiters, is_sure=True)
        scene.blocks(head.id)
        yield
