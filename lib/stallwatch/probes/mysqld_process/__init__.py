"""What the process of a MySQL or MariaDB server, an NDB data node or a JVM does to its host.

In the order of the road: `options`, `probe` (one run, step by step: start reading here), `choosing` (which
process is meant), `collect` (what the kernel shows of it) and `queries` (what the server itself shows),
`model` (what that is), `diagnosis` (what is wrong), `messages` (words and numbers for it). `declared` has the
labels of the perfdata.
"""
