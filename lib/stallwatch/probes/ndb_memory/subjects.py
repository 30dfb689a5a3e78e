"""What can fill up, what happens then, and what helps."""

from __future__ import annotations

from typing import NamedTuple

from stallwatch.probes.ndb_memory.uses import DATA, INDEX, MESSAGES


class Subject(NamedTuple):
    """Something that fills up, on data nodes or in tablespaces."""

    name: str  # of the quantity
    said: str
    end: float  # per cent at which it is full
    full: str  # what happens there
    advice: str
    grows: bool = True  # else it goes up and down, and its trend tells nothing


# Measured on NDB 9.7.2, with the default MinFreePct = 5: inserts begin to fail at 94.9 %, as soon as a
# statement needs more pages than are left, and all do at 95.0 %; updates in place go on. Deleted rows give
# their pages back at once. A cluster log of the same version tells of 80, 90, 99 and 100 % alone.
DATA_MEMORY = Subject(
    "data_memory",
    DATA,
    95.0,
    "inserts fail at 95 % (1114 The table is full, NDB error 827)",
    "delete rows, drop tables, enlarge DataMemory (rolling restart), or add data nodes",
)
INDEX_MEMORY = Subject(  # until 7.5; then a part of DataMemory (MySQL Cluster manual)
    "index_memory",
    INDEX,
    100.0,
    "inserts fail when it is full (NDB error 625)",
    "enlarge IndexMemory (rolling restart), or delete rows",
)
LONG_MESSAGE_BUFFER = Subject(  # exit code 2351 of the data nodes
    "long_message_buffer",
    MESSAGES,
    100.0,
    "a data node that runs out of it ends (error 2351)",
    "enlarge LongMessageBuffer (rolling restart), or make batches and transactions smaller",
    grows=False,
)
UNDO_SPACE = Subject(
    "undo_space",
    "undo log",
    100.0,
    "writes to disk tables fail when it is full (NDB error 1501); a checkpoint frees it",
    "ALTER LOGFILE GROUP ... ADD UNDOFILE, and see whether the disk slows checkpoints down (iostat -kx 1)",
    grows=False,
)
TABLESPACE = Subject(
    "tablespace",
    "tablespace",
    100.0,
    "a disk table that needs one more fails (1114 The table is full, NDB error 1601): not for want of memory",
    "ALTER TABLESPACE ... ADD DATAFILE, delete rows or drop tables",
)
OF_NODES = (DATA_MEMORY, INDEX_MEMORY, LONG_MESSAGE_BUFFER)
