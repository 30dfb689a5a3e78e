"""What the probes of NDB Cluster share that read ndbinfo: `queries`, `cluster`, what both need of an account.

Facts of ndbinfo are of the 9.7.2 source and of a real cluster of that version, unless said otherwise.
"""

# As check_ndb_memory and check_ndb_redo_buffer say: what it is, what happens when it is full, the cause, the
# next step, what else helps.
UNDO_LOG = (
    "undo log of disk tables",
    "when it is full, writes to them fail with error 1501",
    "checkpoints probably do not keep up",
    "ALTER LOGFILE GROUP ... ADD UNDOFILE",
    "a faster disk helps, too",
)
