"""The head waits for its disk: the file system of the data is frozen while it commits."""

import contextlib
import subprocess
import time

import places  # noqa: F401 - it says where the rest is
from locks_case import fault
from small_disk import small_disk

SIZE = 600 << 20


@fault("head waits for the disk", says=r"on shop\.orders.*(disk)", fresh=True)
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


# It thaws also when whoever has frozen it is killed: then its standard input ends.
FREEZE = 'fsfreeze --freeze "$0" && echo frozen && read -r _; fsfreeze --unfreeze "$0"'


@contextlib.contextmanager
def frozen(folder):
    """Meanwhile nothing can be written to the file system that is mounted there."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["sh", "-c", FREEZE, folder], start_new_session=True, **pipes) as keeper:
        if keeper.stdout.readline() != b"frozen\n":
            raise OSError(f"{folder} cannot be frozen")
        try:
            yield
        finally:
            keeper.stdin.close()
            keeper.wait()
