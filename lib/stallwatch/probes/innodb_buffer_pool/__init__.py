"""InnoDB's buffer pool: what it had to read from the disk, what is free, what is dirty, what holds it up.

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run, step by
step: start reading here), `model` (what the server counts, and what that is), `messages` (words and numbers
for it). `declared` has the labels of the perfdata.
"""
