"""Which server shows its pools in which MBeans, and what a block means: one entry for a family.

``form`` defines what an entry consists of. The next server is one more entry in one of these files.
"""

from __future__ import annotations

from stallwatch.probes.jmx_thread_pools.families import cassandra, connections, executors, kafka, web

FAMILIES = (*cassandra.FAMILIES, *web.FAMILIES, *kafka.FAMILIES, *connections.FAMILIES, *executors.FAMILIES)
