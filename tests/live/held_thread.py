"""A thread of another process, held by ptrace(2): stopped, sent on a detour, then let go unharmed.

Linux on x86_64, through ctypes. A thread is seized and its registers are kept; a page with a small loop is
mapped into its process and the thread is sent there; afterwards the page goes and the registers come back. A
system call that was interrupted is started again by the kernel: its number (orig_rax) comes back too.
"""

import contextlib
import ctypes
import errno
import os
import re
import signal
import time

SEIZE, INTERRUPT, DETACH, CONTINUE, STEP = 0x4206, 0x4207, 17, 7, 9
GET_REGISTERS, SET_REGISTERS, POKE = 12, 13, 5
WALL = 0x40000000  # waitpid: threads too
SYSCALL_INSTRUCTION = b"\x0f\x05"
MMAP, MUNMAP = 9, 11
READABLE, WRITABLE, EXECUTABLE = 1, 2, 4
PRIVATE_ANONYMOUS = 0x22
PAGE = 4096
NONE = 2**64 - 1  # -1: no system call, no file
REGISTERS = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
    "fs_base gs_base ds es fs gs"
)


class Registers(ctypes.Structure):
    """The kernel's user_regs_struct."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in REGISTERS.split())


class ThreadEnded(Exception):  # noqa: N818
    """The thread ended while it was held: its process was killed."""


class Held:
    """A thread that is held by us: stopped on entry; on exit it goes on from where it was."""

    def __init__(self, tid):
        self.tid = tid
        self.postponed = []

    def __enter__(self):
        os.kill(self.tid, 0)  # a thread that never was is an error, not one that ended
        _ptrace(SEIZE, self.tid)
        try:
            self.interrupt()
            self.registers = self.get()
        except BaseException:
            self.release()
            raise
        return self

    def __exit__(self, kind, *_):
        if kind is None or not issubclass(kind, ThreadEnded):
            self.release()

    def release(self):
        """Let go, and hand over the signals that came meanwhile."""
        with contextlib.suppress(ThreadEnded):
            _ptrace(DETACH, self.tid)
            for number in self.postponed:
                os.kill(self.tid, number)

    def interrupt(self):
        """Stop the thread where it is."""
        _ptrace(INTERRUPT, self.tid)
        while self.next_stop(10) >> 16 == 0:  # a signal came first
            _ptrace(CONTINUE, self.tid)

    def watch(self, seconds):
        """Wait; if the thread ends meanwhile, let it: its process cannot end before we have taken note."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self.look() is not None:  # a signal for a thread that runs our code
                _ptrace(CONTINUE, self.tid)
            time.sleep(min(left, 0.02))

    def look(self):
        """What happened to the thread, as a wait status; None: nothing. A signal is kept for later."""
        try:
            pid, status = os.waitpid(self.tid, os.WNOHANG | WALL)
        except ChildProcessError:
            raise ThreadEnded from None
        if pid and not os.WIFSTOPPED(status):
            raise ThreadEnded
        if not pid:
            return None
        if os.WSTOPSIG(status) != signal.SIGTRAP and not status >> 16:
            self.postponed.append(os.WSTOPSIG(status))
        return status

    def next_stop(self, seconds):
        """The wait status of the thread's next stop."""
        until = time.monotonic() + seconds
        while (status := self.look()) is None:
            if time.monotonic() > until:
                raise TimeoutError(f"thread {self.tid} does not stop")
            time.sleep(0.001)
        return status

    def get(self):
        """The thread's registers."""
        registers = Registers()
        _ptrace(GET_REGISTERS, self.tid, data=ctypes.addressof(registers))
        return registers

    def set(self, **changes):
        """Give the thread the registers it had when it was seized, but for these."""
        registers = Registers.from_buffer_copy(self.registers)
        for name, value in changes.items():
            setattr(registers, name, value)
        _ptrace(SET_REGISTERS, self.tid, data=ctypes.addressof(registers))

    def run(self, code, seconds):
        """Let the thread run the code, with rdi and rsi naming a page of memory, for so many seconds."""
        buffer = self.call(MMAP, 0, PAGE, READABLE | WRITABLE, PRIVATE_ANONYMOUS, NONE, 0)
        page = self.call(MMAP, 0, PAGE, READABLE | EXECUTABLE, PRIVATE_ANONYMOUS, NONE, 0)
        for at in range(0, len(code), 8):
            _ptrace(POKE, self.tid, page + at, int.from_bytes(code[at : at + 8], "little"))
        self.set(rip=page, orig_rax=NONE, rdi=buffer, rsi=PAGE, rdx=0)
        _ptrace(CONTINUE, self.tid)
        try:
            self.watch(seconds)
        finally:
            self.interrupt()
            self.call(MUNMAP, page, PAGE)
            self.call(MUNMAP, buffer, PAGE)
            self.set()

    def call(self, number, *arguments):
        """Let the thread make one system call, and return what it returned."""
        names = ("rdi", "rsi", "rdx", "r10", "r8", "r9")
        where = _syscall_instruction(self.tid)
        self.set(rip=where, rax=number, orig_rax=NONE, **dict(zip(names, arguments, strict=False)))
        _ptrace(STEP, self.tid)
        while os.WSTOPSIG(self.next_stop(10)) != signal.SIGTRAP:
            _ptrace(STEP, self.tid)
        result = ctypes.c_int64(self.get().rax).value
        if -PAGE < result < 0:
            raise OSError(-result, f"system call {number} in thread {self.tid}: {os.strerror(-result)}")
        return result


def _syscall_instruction(tid):
    """The address of a `syscall` instruction in the C library of the thread's process."""
    with open(f"/proc/{tid}/maps") as maps:
        found = re.search(r"^([0-9a-f]+)-([0-9a-f]+) r-xp .*/libc[.-].*$", maps.read(), re.MULTILINE)
    if not found:
        raise OSError(errno.ENOEXEC, f"no C library in the process of thread {tid}")
    start, end = (int(part, 16) for part in found.groups())
    with open(f"/proc/{tid}/mem", "rb", buffering=0) as memory:
        memory.seek(start)
        return start + memory.read(end - start).index(SYSCALL_INSTRUCTION)


def _ptrace(request, tid, address=0, data=0):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    if libc.ptrace(request, tid, address, data) == -1:
        number = ctypes.get_errno()
        if number == errno.ESRCH:
            raise ThreadEnded
        raise OSError(number, f"ptrace of thread {tid}: {os.strerror(number)}")
