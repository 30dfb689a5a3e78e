"""The data nodes of a cluster: who is up, who is not and what that means, and how they are.

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run: who is
there comes first, and is reported whatever fails later; then one subject after the other: start here),
`collect` and `queries` (what is asked, and what is kept for the next run), `model` (what a node, a node group
and the management server's answer are), `diagnosis` (what each node is: up, starting, stopping, missing),
`messages` (words and numbers for it), `advice` (what to do about those that are not up), `here` (their
processes on this host), `health` (all about those that are up: arbitrator, links, threads, page faults,
restarts, certificates), `clients` (SQL nodes, API nodes and management nodes). `declared` has the labels of
the perfdata.
"""
