"""A /proc of our own, with processes as Linux 6.1 and MySQL 9.7.2 were seen to have."""

import os

from stallwatch.sources import kernel, processes

TICKS = os.sysconf("SC_CLK_TCK")
STAT = (
    "{pid} ({name}) {state} {parent} {parent} {parent} 0 -1 4194304 {minor} 0 {major} 0 {user} {system} 0 0 "
    "20 0 {threads} 0 {started} 178171904 23815 18446744073709551615 1 1 0 0 0 0 552967 4096 26345 0 0 0 17 "
    "1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)
STATUS = """Name:\t{name}
Umask:\t0026
State:\tS (sleeping)
Tgid:\t{pid}
Ngid:\t0
Pid:\t{pid}
PPid:\t{parent}
TracerPid:\t{tracer}
Uid:\t{real_uid}\t{uid}\t{uid}\t{uid}
Gid:\t{uid}\t{uid}\t{uid}\t{uid}
FDSize:\t{slots}
Groups:\t{uid}
NStgid:\t{pids}
NSpid:\t{pids}
VmPeak:\t  178172 kB
VmRSS:\t{resident:8d} kB
VmSwap:\t{swapped:8d} kB
Threads:\t{threads}
"""
LIMITS = """Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max open files            {limit:<20} 524288               files     
Max locked memory         8388608              8388608              bytes     
"""  # noqa: W291 - as the kernel writes it
TCP = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
{rows}"""
SOCKET = (
    "   {sl}: 0100007F:{port:04X} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  {uid:5d} "
    "       0 {inode} 1 0000000038df3e72 100 0 0 10 0\n"
)


class FakeProc:
    """It is what ``sources.processes`` sees, as long as the test lasts. The host has been up for 10 000 s."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self.up = 10_000.0
        self.sockets = []
        self.each = {}
        monkeypatch.setattr(kernel, "PLACE", str(folder))
        monkeypatch.setattr(processes, "_now", lambda: self.up)

    def later(self, seconds):
        """Let time go by."""
        self.up += seconds

    def process(self, pid, name=None, **more):
        """Let there be one, a mysqld if nothing else is said; given again, it changes."""
        one = self.each.setdefault(pid, {"pid": pid, "name": "mysqld", "threads_of": {}} | DEFAULTS)
        one.update(more | ({"name": name} if name else {}))
        self._write(one)
        return pid

    def thread(self, pid, number, name="mysqld", user=0.0, system=0.0, started=9_000.0):
        """Let a process have a thread; seconds."""
        self.each[pid]["threads_of"][number] = {
            "name": name,
            "user": user,
            "system": system,
            "started": started,
        }
        self._write(self.each[pid])

    def end(self, pid):
        """Let it be gone."""
        for path in sorted((self.folder / str(pid)).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        (self.folder / str(pid)).rmdir()
        del self.each[pid]

    def listens(self, port, inode, uid=101):
        """Let there be a socket that does."""
        self.sockets.append(SOCKET.format(sl=len(self.sockets), port=port, state="0A", uid=uid, inode=inode))
        for one in self.each.values():
            self._write(one)

    def _write(self, one):
        place = self.folder / str(one["pid"])
        (place / "net").mkdir(parents=True, exist_ok=True)
        told = one | {
            "pids": one["pids"] or one["pid"],
            "real_uid": one.get("real_uid") or one["uid"],
            "threads": one["threads"] or max(1, len(one["threads_of"])),
            "user": int(one["user"] * TICKS),
            "system": int(one["system"] * TICKS),
            "started": int(one["started"] * TICKS),
        }
        (place / "comm").write_text(f"{told['name']}\n")
        (place / "stat").write_text(STAT.format(**told))
        (place / "status").write_text(STATUS.format(**told))
        (place / "limits").write_text(LIMITS.format(**told))
        (place / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in one["arguments"]))
        closed = SOCKET.format(sl=99, port=3306, state="06", uid=0, inode=0)
        (place / "net" / "tcp").write_text(TCP.format(rows="".join([*self.sockets, closed])))
        if one["cwd"] and not (place / "cwd").exists():
            (place / "cwd").symlink_to(one["cwd"])
        if one["descriptors"] is not None:
            self._write_descriptors(place, one["descriptors"])
        for number, thread in one["threads_of"].items():
            (place / "task" / str(number)).mkdir(parents=True, exist_ok=True)
            ticks = {name: int(thread[name] * TICKS) for name in ("user", "system", "started")}
            text = STAT.format(**told | thread | ticks | {"pid": number})
            (place / "task" / str(number) / "stat").write_text(text)

    @staticmethod
    def _write_descriptors(place, descriptors):
        (place / "fd").mkdir(exist_ok=True)
        targets = range(descriptors) if isinstance(descriptors, int) else descriptors
        for path in (place / "fd").iterdir():
            path.unlink()
        for number, target in enumerate(targets):
            (place / "fd" / str(number)).symlink_to(str(target))


DEFAULTS = {
    "state": "S", "parent": 0, "minor": 106134, "major": 4, "user": 1.11, "system": 1.48, "threads": 0,
    "started": 9_000.0, "uid": 101, "real_uid": 0, "slots": 64, "pids": "", "resident": 93272, "swapped": 0,
    "tracer": 0, "limit": "20000", "arguments": (), "cwd": "", "descriptors": 20,
}  # fmt: skip
