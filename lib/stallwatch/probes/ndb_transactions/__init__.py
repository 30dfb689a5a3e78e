"""Transactions of an NDB Cluster that hold up others, or might.

What a lock wait means (measured on NDB 9.7.2): a data node ends it after TransactionDeadlockDetectionTimeout,
1.2 s by default and 1.3 to 1.9 s in fact; the client gets MySQL's error 1205, its transaction is rolled back,
and it may come again. So with the default nobody is ever seen to wait for 5 s: that takes a larger one. What
is seen with any is a row that somebody waits for right now, and for how long that has been locked. Both are
looked at: whoever holds a row for 5 s that is wanted makes others fail.

Whom the next step names for KILL (all of it seen on 9.7.2): the head of all that wait, never one who waits
itself, as a scan does without an outstanding operation, one who shares a row and wants it alone, or one who
holds what others want while it waits for a third; and only a client whose connection has slept for a while.
A data node calls a transaction inactive that asks nothing of it, though its statement may be at work.
TransactionInactiveTimeout, which ends transactions whose client does nothing, is 50 days by default: such a
transaction stays open, and keeps its locks, as long as its client is connected.

In the order of the road: `options`, `probe` (one run, step by step: start reading here), `queries` (what is
asked: transactions, locks, connections), `diagnosis` (clients, who waits for whom), `messages`, `declared`.
"""
