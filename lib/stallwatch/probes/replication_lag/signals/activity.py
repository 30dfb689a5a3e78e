"""What an applier's state in the process list means.

States are those of MySQL 5.7 to 9.7 and MariaDB 10.5 to 11.8, measured there, except MariaDB's "prior
transaction".
"""

from __future__ import annotations

import re

from stallwatch.probes.mysql.locks.metadata import FLUSH, GLOBAL_LOCK, METADATA_LOCK
from stallwatch.probes.mysql.processes import COORDINATES, IDLE

ORDER = re.compile(r"Waiting for (dependent|preceding|prior) transaction")
DELAY = re.compile(r"Waiting until (MASTER|SOURCE)_DELAY")
# MariaDB has the step of a row event, MySQL only its kind.
FINDS_ROW = re.compile(r"(Update|Delete)_rows_log_event::|Applying batch of row changes \((update|delete)\)")
# Whatever else is waited for: a lock of a MyISAM table, GET_LOCK, an ACK of semi-sync, disk space, …
OTHER_WAIT = re.compile(
    rf"^(?!.*({GLOBAL_LOCK.pattern}|{METADATA_LOCK.pattern}|{FLUSH.pattern}|{IDLE.pattern}|{ORDER.pattern}"
    rf"|{DELAY.pattern}|{COORDINATES.pattern})).*(Waiting |User lock|disk space)"
)
ACK = re.compile(r"semi-?sync ACK", re.IGNORECASE)  # of a replica of this server
COMMIT = re.compile(r"^waiting for handler commit|^Commit$", re.IGNORECASE)  # MariaDB has the latter
DEFINITION = re.compile(r"copy to tmp table|altering table", re.IGNORECASE)
RELAY_SPACE = re.compile(r"relay log space")

_STOPS = r"(?is)\s*STOP\s+(?P<all>ALL\s+)?(?:REPLICAS?|SLAVES?)\b(?P<what>.*)"


def stops_applier(statement: str, channel: str, *, mariadb: bool) -> bool:
    """Whether it is a STOP REPLICA or its like that stops the applier of this channel.

    A channel that it names is a text in quotes: STOP SLAVE 'east', STOP REPLICA FOR CHANNEL 'east'. Without a
    name it stops all channels of MySQL, and one of MariaDB: that of the session's default_master_connection,
    which is '' unless it was set.
    """
    match = re.match(_STOPS, statement)
    if not match or re.match(r"(?i)\s*IO_THREAD\s*$", match["what"]):
        return False
    if named := re.search(r"""(['"])(.*?)\1""", match["what"]):
        return named[2] == channel
    return bool(match["all"]) or not mariadb or not channel
