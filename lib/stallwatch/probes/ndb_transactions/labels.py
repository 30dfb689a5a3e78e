"""What check_ndb_transactions gives for graphs."""

from stallwatch.label import Label

LABELS = (
    Label("inactive", "s", "longest time for which an open transaction has asked nothing of the data nodes"),
    Label("lock_held", "s", "longest time for which a row that somebody waits for has been locked"),
    Label("lock_wait", "s", "longest time for which somebody has waited for a row"),
    Label("transactions", "", "open transactions"),
    Label("operations", "", "operations of all open transactions"),
    Label("largest", "", "operations of the largest transaction"),
)
