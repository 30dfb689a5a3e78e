"""InnoDB's redo log: how near it comes to the point at which writers wait, and whether they did.

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run, step by
step: start reading here), `collect` (what the server is asked, several times, and what that is),
`messages` (words and numbers for it). `declared` has the labels of the perfdata.
"""
