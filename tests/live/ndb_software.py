"""Where MySQL NDB Cluster comes from: an unpacked folder, or a packed one that is unpacked once and kept."""

import os
import platform
import re
import subprocess
import tarfile

from software import REPOSITORY, Missing, is_kept, kept

PACKED = os.path.join(
    os.path.dirname(REPOSITORY), "shared", "ndb-cluster", "mysql-cluster-9.7.2-linux-x86_64.tar.xz"
)
NEEDED = ("ndb_mgmd", "ndbmtd", "ndb_mgm")
PACKAGES = {
    "libssl.so.3": "libssl3",
    "libcrypto.so.3": "libssl3",
    "libstdc++.so.6": "libstdc++6",
    "libgcc_s.so.1": "libgcc-s1",
    "libnuma.so.1": "libnuma1",
    "libaio.so.1": "libaio1",
    "libtinfo.so.6": "libtinfo6",
}


def home():
    """The folder with bin/ndbmtd and the rest. Raises Missing."""
    folder = os.environ.get("NDB_HOME") or _unpacked()
    for program in NEEDED:
        if not os.access(os.path.join(folder, "bin", program), os.X_OK):
            raise Missing(f"no bin/{program} in {folder}: set NDB_HOME to an unpacked MySQL NDB Cluster")
        _check(os.path.join(folder, "bin", program))
    return folder


def _unpacked():
    """The folder that the packed software was unpacked to, by this run or an earlier one."""
    if platform.machine() != "x86_64":
        raise Missing("the packed MySQL NDB Cluster is for x86_64: set NDB_HOME to one for this machine")
    if not os.path.exists(PACKED):
        raise Missing(
            "MySQL NDB Cluster is not here: unpack one (dev.mysql.com/downloads/cluster) and let NDB_HOME "
            f"name the folder with its bin/, or put {os.path.basename(PACKED)} into {os.path.dirname(PACKED)}"
        )
    try:
        return kept(_name(), _unpack)
    except tarfile.TarError as error:
        raise Missing(f"cannot unpack {PACKED}: {error}; set NDB_HOME") from error


def is_packed():
    """Whether it is here, and has to be unpacked before it can be used."""
    named = os.environ.get("NDB_HOME") or platform.machine() != "x86_64"
    return not named and os.path.exists(PACKED) and not is_kept(_name())


def _name():
    """What the folder in the cache is called."""
    return f"{os.path.basename(PACKED).removesuffix('.tar.xz')}-{os.path.getsize(PACKED)}"


def _unpack(folder):
    """Unpack what is in the one folder that is packed."""
    with tarfile.open(PACKED) as packed:
        packed.extraction_filter = getattr(tarfile, "tar_filter", None)  # not before Python 3.11.4
        packed.extractall(folder)
    (inner,) = os.scandir(folder)
    for entry in os.scandir(inner):
        os.rename(entry.path, os.path.join(folder, entry.name))
    os.rmdir(inner)


def _check(program):
    """See that the program starts here, else name the packages that it lacks."""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=30)
    if done.returncode == 0:
        return
    lacking = re.findall(r"(\S+\.so[.\d]*): cannot open shared object file", done.stderr)
    packages = " ".join(sorted({PACKAGES.get(library, library) for library in lacking}))
    advice = f"apt-get install {packages}" if packages else done.stderr.strip()[-200:]
    raise Missing(f"{program} does not start: {advice}")
