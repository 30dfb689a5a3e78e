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
    try:
        with _until_it_ends('mount -o loop "$0" "$1"', 'umount -l "$1"', image, folder):
            _run("cp", "-a", "--sparse=always", f"{aside}/.", folder)
            yield
    finally:
        os.rmdir(folder)
        os.rename(aside, folder)
        os.remove(image)


def frozen(folder):
    """Meanwhile nothing can be written to the file system that is mounted there."""
    return _until_it_ends('fsfreeze --freeze "$0"', 'fsfreeze --unfreeze "$0"', folder)


@contextlib.contextmanager
def _until_it_ends(begin, end, *arguments):
    """Meanwhile a shell has done ``begin``; it does ``end`` also if we are killed: its input ends then."""
    script = f"{begin} && echo done && read -r _; {end}"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["sh", "-c", script, *arguments], start_new_session=True, **pipes) as shell:
        if shell.stdout.readline() != b"done\n":
            raise OSError(f"{begin} failed: {' '.join(arguments)}")
        try:
            yield
        finally:
            shell.stdin.close()
            shell.wait()


def fill(folder):
    """Leave nothing on the file system of a folder; what was written already stays as it is."""
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(1 << 20))


def _run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
