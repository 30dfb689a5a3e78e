"""Locks: who blocks whom, for how long without a break, and transactions that are open for long.

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run, step
by step: start reading here), `collect` (what the server is asked: little while nobody waits), `diagnosis`
(who is at the head of all waiting, and for how long), `messages`, `heads` and
`transactions` (words and numbers for it).
`declared` has the labels of the perfdata. What is known of locks is in `probes.mysql.locks`.
"""
