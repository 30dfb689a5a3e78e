"""A file system of a folder's own, in a file, which can be filled. Linux, as root."""

import contextlib
import os
import subprocess


@contextlib.contextmanager
def small_disk(folder, size):
    """Meanwhile the folder, with all in it, is on a file system of so many octets; then it is as before."""
    image, aside = f"{folder}.image", f"{folder}.aside"
    with open(image, "wb") as file:
        file.truncate(size)
    _run("mkfs.ext4", "-q", "-F", "-m", "0", image)
    os.rename(folder, aside)
    os.mkdir(folder)
    _run("mount", "-o", "loop", image, folder)
    try:
        _run("cp", "-a", "--sparse=always", f"{aside}/.", folder)
        yield
    finally:
        _run("umount", "-l", folder)
        os.rmdir(folder)
        os.rename(aside, folder)
        os.remove(image)


def fill(folder):
    """Leave nothing on the file system of a folder; what was written already stays as it is."""
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 20))


def _run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
