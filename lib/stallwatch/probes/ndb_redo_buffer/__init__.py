"""Redo buffers of NDB data nodes: how full they are, and whether the buffer is small or the disk is slow.

`look` is one run, step by step: `use` takes samples of the buffers, `judging` finds those that are too full;
`space` looks at the redo log itself and at the undo log; `evidence` gathers what `writing`, `device`,
`processor` and `log` bring, each one kind, of which `verdict` makes the answer that Johan Andersson gave in
"Tuning your Cluster with ndbinfo (7.1) part 1 of X" of 2010-04-20; `telling` says it.

Since 7.2 a full redo buffer shows no error of its own: DefaultOperationRedoProblemAction is queue, operations
wait and end with NDB's 266 (MySQL's 1205); up to 7.1, and with abort, clients get 1221 at once (9.7.2 source,
ConfigInfo.cpp; measured with both).
"""
