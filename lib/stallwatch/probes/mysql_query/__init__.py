"""Asking a server one query many times, as an application would: does it answer, how fast, and what?

In the order of the road: `options` (what may be asked for, and default thresholds), `read_only` and
`functions` (which statements are refused), `probe` (one run, step by step, and what is wrong, in words and
numbers: start reading here), `collect` (the runs of the query), `queries` (a session and its statements),
`kill` (ends a run that gets no answer). `declared` has the labels of the perfdata.
"""
