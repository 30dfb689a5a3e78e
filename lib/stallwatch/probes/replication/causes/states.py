"""What an applier's state means, on MySQL 5.7 to 9.7 and MariaDB 10.5 to 11.8.

Measured on those servers, except the metadata lock of a table and MariaDB's "prior transaction".
"""

from __future__ import annotations

import re

IDLE = re.compile(r"has read all relay log|Waiting for an event from Coordinator|Waiting for work from SQL")
GLOBAL_LOCK = re.compile(r"Waiting for (global read|backup|commit) lock")
METADATA_LOCK = re.compile(r"Waiting for (table|schema|stored \w+|trigger|event) metadata lock")
FLUSH = re.compile(r"Waiting for table flush")  # a FLUSH TABLES waits for a statement, and all for that one
OTHER_WAIT = re.compile(r"Waiting for (table level lock|semi-sync ACK|someone to free space)|disk space")
ORDER = re.compile(r"Waiting for (dependent|preceding|prior) transaction")
DELAY = re.compile(r"Waiting until (MASTER|SOURCE)_DELAY")
# MariaDB tells the step of a row event, MySQL only its kind.
FINDS_ROW = re.compile(r"(Update|Delete)_rows_log_event::|Applying batch of row changes \((update|delete)\)")
COORDINATES = re.compile(
    r"Waiting for (slave|replica) workers|to free pending events|[Ww]orker queue|worker thread"
    r"|Reading event from the relay log"
)
COMMIT = re.compile(r"^waiting for handler commit|^Commit$", re.IGNORECASE)  # MariaDB says the latter
DEFINITION = re.compile(r"copy to tmp table|altering table", re.IGNORECASE)
RELAY_SPACE = re.compile(r"relay log space")
