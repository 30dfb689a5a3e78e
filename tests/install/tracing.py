"""What an installed plugin asks the kernel about files."""

import os
import re
import subprocess
from typing import NamedTuple

import pytest
from making import ROOT
from uncompiled import NOBODY

LOG = ROOT / "tests" / "recorded" / "ndb_log" / "E2_freeze_one_ldm_3s_idle.ndb_4_out.log"
NOWHERE = ("-H", "127.0.0.1", "-P", "9")
MEMORY = ("-O", "java.lang:type=Memory", "-A", "HeapMemoryUsage", "-K", "used")
RUNS = {  # with what it takes to import all that a plugin of that source does
    "check_ndb_log": ("--whole", "--log", "{log}"),
    "check_mysql_status": (*NOWHERE, "--no-state"),
    "check_jmx": (*NOWHERE, *MEMORY, "--no-state"),
    "check_mysqld_process": ("--no-state",),
    "check_host": ("--sample", "1s", "--no-state"),
    "check_mysql_backup": ("--directory", "{log}", "--no-state"),
}
LOOKING = {  # what changes no file
    "access", "chdir", "execve", "faccessat", "faccessat2", "getcwd", "lstat", "newfstatat", "readlink",
    "readlinkat", "stat", "statfs", "statx",
}  # fmt: skip


class Trace(NamedTuple):
    """What it says; paths that it names to the kernel; files that it opens or runs; calls to change any."""

    done: subprocess.CompletedProcess
    named: list[str]
    opened: list[str]
    changing: list[str]


def traced(strace, installed, plugin, folder, **variables):
    """Run a plugin as nobody, with that working directory, for everybody to read, and these variables."""
    log = installed / "ndb_4_out.log"
    log.write_bytes(LOG.read_bytes())
    trace = folder / "trace"
    trace.touch()
    trace.chmod(0o666)
    becoming = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    arguments = [word.format(log=log) for word in RUNS[plugin]]
    given = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
    done = subprocess.run(
        [strace, "-f", "-qq", "-y", "-s", "4096", "-e", "trace=%file", "-o", trace, *given,
         installed / "lib/stallwatch/bin" / plugin, *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=folder,
        env={"PATH": "/usr/bin:/bin"}, **becoming,
    )  # fmt: skip
    if "ptrace" in done.stderr.lower():
        pytest.skip(f"nothing may be traced here: {done.stderr.strip()}")
    calls = trace.read_text()
    named = re.findall(r'^\d+ +\w+\((?:AT_FDCWD[^,]*, )?"([^"]+)"', calls, re.MULTILINE)
    opened = re.findall(r"^\d+ +open\w*\((?!.*O_PATH).* = \d+<(.+)>$", calls, re.MULTILINE)
    executed = re.findall(r'^\d+ +execve\("([^"]+)".* = 0$', calls, re.MULTILINE)
    return Trace(done, named, opened + executed, changing(calls))


def changing(calls):
    """Those that make, change or remove something, whether they may or not."""
    asked = re.findall(r"^\d+ +((\w+)\(.+)$", calls, re.MULTILINE)
    return [
        call
        for call, name in asked
        if name not in LOOKING
        and not (name.startswith("open") and not re.search("O_(WRONLY|RDWR|CREAT|TRUNC)", call))
    ]
