"""What helps a receiver that cannot connect or read."""

from __future__ import annotations

import re

_MEND = "mend what the error says"
_ADVICE = {
    1045: "the source refuses user or password: set them in CHANGE REPLICATION SOURCE (CHANGE MASTER)",
    1129: "the source blocks this host: unblock it there (mariadb-admin or mysqladmin flush-hosts, from MySQL"
    " 8.4 on TRUNCATE performance_schema.host_cache), then find out why connections broke",
    1130: "the source does not let this host in: CREATE USER for it there",
    1593: "source and replica do not fit: see the error, server_id and UUID must differ",
    2003: "see that the source runs and its port is open from here",
    2005: "its name is not known here: see DNS",
    2013: "the link broke: see the network and the source's error log",
    2026: "TLS failed: compare certificates and versions on both ends",
    2061: "the account needs TLS: SOURCE_SSL = 1 in CHANGE REPLICATION SOURCE (CHANGE MASTER)",
}
# A source that cannot send its binary log says why in words: 1236, or 13114 in performance_schema.
_CANNOT_SEND = frozenset({1236, 13114})
_SENDS_NOT = {
    r"purged|first log file name": "see on the source (SHOW BINARY LOGS) and its other replicas whether the"
    " binary logs that are needed still exist; only without them the replica has to be rebuilt",
    r"same server_(uu)?id": "another replica has the same identity: give this one its own server_id, and if"
    " it is a clone its own server_uuid (auto.cnf)",
    r"max_allowed_packet": "raise max_allowed_packet on the source, and here replica_max_allowed_packet"
    " (slave_...); see that the place in the binary log is right",
    r"open log file|read error|I/O error": "see the source's disk, its error log and the rights of its binary"
    " logs",
    r"more GTIDs|not in the (master|source)'s binlog|impossible position": "the replica is ahead of this"
    " source: has that crashed, or been changed? Compare both before anything is reset",
}


def advice(number: int, error: str) -> str:
    """Say what helps with this error; of one that stands for many its words decide."""
    if number in _CANNOT_SEND:
        return next(
            (helps for said, helps in _SENDS_NOT.items() if re.search(said, error, re.IGNORECASE)), _MEND
        )
    return _ADVICE.get(number, _MEND)
