"""Replication lag of MySQL and MariaDB: how far a replica is behind, where that is going, and why.

In the order of the road: `options` (options, and their default thresholds), `probe` (one run, step by
step: start reading here), `collect`, `queries`, `heartbeat_table` and `source` (what replica and source are
asked), `model` and `gtid` (what that is), `history` (what is kept for the next run), `lag` (how far a channel
is behind), `trend` (where that is going), `diagnosis` (what is wrong), `signals` (what is asked of a server
that lags), `causes` (why it does: a rule each), `messages` (words and numbers for it). `declared` has labels,
privileges, services and panels.
"""
