"""Trouble for a running process: a thread frozen, spinning or busy in the kernel, or all of it stopped."""

import contextlib
import os
import platform
import signal
import subprocess
import time

from held_thread import Held, ThreadEnded

SPIN = b"\xf3\x90\xeb\xfc"  # again: pause; jmp again
GETRANDOM = 318
# again: mov eax, 318; syscall; jmp again
CALL_AGAIN = b"\xb8" + GETRANDOM.to_bytes(4, "little") + b"\x0f\x05\xeb\xf7"


def freeze(tid, seconds):
    """Let the thread do nothing for a while. True if it is alive afterwards, False if it was killed."""
    try:
        with Held(tid) as held:
            held.watch(seconds)
    except ThreadEnded:
        return False
    return True


def spin(tid, seconds):
    """Let the thread compute in user space for a while. True if it is still alive afterwards."""
    return _detour(tid, SPIN, seconds)


def loop_in_system_calls(tid, seconds):
    """Let the thread ask the kernel for random numbers, 4 KiB at a time, for a while: mostly system time.

    True if it is still alive afterwards.
    """
    return _detour(tid, CALL_AGAIN, seconds)


def stop_process(pid, seconds):
    """Stop a whole process (SIGSTOP) for a while, then let it go on."""
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def unavailable():
    """Why threads cannot be controlled here, in one sentence; None if they can be."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return "controlling threads needs Linux on x86_64"
    with subprocess.Popen(["sleep", "10"]) as child:
        try:
            freeze(child.pid, 0)
        except OSError as error:
            return f"may not trace processes ({error.strerror}): run as root, in a container with SYS_PTRACE"
        finally:
            child.kill()
    return None


def _detour(tid, code, seconds):
    """Run the code in the thread for so many seconds."""
    try:
        with Held(tid) as held:
            held.run(code, seconds)
    except ThreadEnded:
        return False
    return True
