"""Backups of a MySQL or MariaDB server: is the newest one recent, finished, whole and complete?

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run, step by
step: start reading here), `collect` (which backups there are at a place), `mydumper`, `mysqldump`, `physical`
with `tablespaces`, and `archive` (what is known of a backup, by who made it), `sql_text` and `moments` (what
the text of dumps and names show), `queries` (what the server is asked), `verify` (reads files to their end),
`model` (what a backup is), `diagnosis` (what is wrong), `messages` (words and numbers for it). `declared` has
the labels of the perfdata.
"""
