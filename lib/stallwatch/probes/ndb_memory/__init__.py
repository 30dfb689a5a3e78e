"""What fills up in an NDB Cluster, and stops writes when it is full: memory, undo log, tablespaces.

Not looked at, of the pools in ndbinfo.resources: TRANSACTION_MEMORY and what else has no limit of its own
takes what is left of SharedGlobalMemory, which ndbinfo does not show; JOBBUFFER, TRANSPORTER_BUFFERS and
FILE_BUFFERS fill and drain within milliseconds, so that one look shows nothing; DISK_PAGE_BUFFER is in use as
a whole from the start on; DATA_MEMORY is what ndbinfo.memoryusage shows.

In the order of the road: `options`, `probe` (one run, step by step: start reading here), `queries` (what can
fill up, how much is used), `diagnosis` (what is too full, what grows), `messages`, `declared`.
"""
