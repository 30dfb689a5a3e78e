"""Transactions of an NDB Cluster that hold up others, or might.

What a lock wait means (measured on NDB 9.7.2): a data node ends it after TransactionDeadlockDetectionTimeout,
1.2 s by default and 1.3 to 1.9 s in fact; the client gets MySQL's error 1205, its transaction is rolled back,
and it may come again. So with the default nobody is ever seen to wait for 5 s: that takes a larger one. What
is seen with any is a row that somebody waits for right now, and for how long that has been locked. Both are
looked at: whoever holds a row for 5 s that is wanted makes others fail.
TransactionInactiveTimeout, which ends transactions whose client does nothing, is 50 days by default: such a
transaction stays open, and keeps its locks, as long as its client is connected.
"""
