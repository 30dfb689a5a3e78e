"""Locks: who blocks whom, for how long without a break, and transactions that are open for long.

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run, step
by step: start reading here), `collect` (what the server is asked: little while nobody waits), `heads` (who is
at the head of all waiting, and for how long), `diagnosis` (what a blocker is, and what ends it: a table of
rules), `messages` (words and numbers for it).
`declared` has the labels of the perfdata. What is known of locks is in `probes.mysql.locks`.
"""
