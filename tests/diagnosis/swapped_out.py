"""A process whose memory is swapped out, to a file that is swap for a while. Linux from 5.10 on, as root."""

import contextlib
import ctypes
import os
import re
import subprocess

PROCESS_MADVISE, PAGE_OUT = 440, 21
_ANONYMOUS = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p \S+ 00:00 0\s")


class _Range(ctypes.Structure):
    _fields_ = (("begin", ctypes.c_void_p), ("length", ctypes.c_size_t))


@contextlib.contextmanager
def swap_file(path, size):
    """Meanwhile the machine has a swap file of that size."""
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)
    os.chmod(path, 0o600)
    try:
        subprocess.run(["mkswap", path], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["swapon", path], check=True)
        try:
            yield
        finally:
            subprocess.run(["swapoff", path], check=True)
    finally:
        os.remove(path)


def page_out(pid):
    """Have the memory of a process swapped out; it comes back as far as that is used."""
    libc = ctypes.CDLL(None, use_errno=True)
    process = os.pidfd_open(pid)
    try:
        with open(f"/proc/{pid}/maps") as maps:
            for begin, end in _ANONYMOUS.findall(maps.read()):
                part = _Range(int(begin, 16), int(end, 16) - int(begin, 16))
                if libc.syscall(PROCESS_MADVISE, process, ctypes.byref(part), 1, PAGE_OUT, 0) < 0:
                    raise OSError(ctypes.get_errno(), "cannot swap out")
    finally:
        os.close(process)
