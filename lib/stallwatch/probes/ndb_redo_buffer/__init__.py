"""Redo buffers of NDB data nodes: how full they are, and whether the buffer is small or the disk is slow.

In the order of the road: `options`; `probe` is one run, step by step: start reading here; `samples` of the
buffers; `queries` ask ndbinfo for the rest, and `hosts` show disks and logs; `diagnosis` finds buffers that
are too full, with the answer of Johan Andersson in "Tuning your Cluster with ndbinfo (7.1) part 1
of X" of 2010-04-20; `messages` words it; `declared` has the labels of the perfdata.

Since 7.2 a full redo buffer shows no error of its own: DefaultOperationRedoProblemAction is queue, operations
wait and end with NDB's 266 (MySQL's 1205); up to 7.1, and with abort, clients get 1221 at once (9.7.2 source,
ConfigInfo.cpp; measured with both).
"""
