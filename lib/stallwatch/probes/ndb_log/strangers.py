"""Files that are no logs of NDB."""

from __future__ import annotations

import os

from stallwatch.findings import ProbeError
from stallwatch.probes.ndb_log.lines import speaks_ndb


def stranger(path: str, head: bytes) -> ProbeError:
    """Return what a log is that holds no line of NDB."""
    name = os.path.basename(path)
    if not head:
        what = f"{name} is empty, no line of NDB was ever seen in it"
        return ProbeError(what, "look whether this is the right file")
    codes = ("utf-16", "utf-16-le", "utf-16-be")
    if any(speaks_ndb(head.decode(code, "replace").encode()) for code in codes):
        return ProbeError(f"{name} is UTF-16", "make it plain text: iconv -f UTF-16 -t UTF-8")
    what = f"{name} does not look like an NDB log{' but binary' if bytes(1) in head else ''}"
    return ProbeError(what, "name a data node's ndb_N_out.log or a cluster log ndb_N_cluster.log")
