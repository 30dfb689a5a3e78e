"""DiskPageBufferMemory: how often a page of the tables on disk is in memory when it is asked for.

In the order of the road: `options` (what may be asked for, and default thresholds), `probe` (one run, step by
step: start reading here), `collect` (what data nodes count), `diagnosis` (what is wrong), `messages` (words
and numbers for it). `declared` has the labels of the perfdata.
"""
