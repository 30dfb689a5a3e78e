"""Cassandra's thread pools under the names that they had in articles and old monitoring configurations.

Up to 2.0 a pool was a bean ``org.apache.cassandra.internal:type=POOL`` (or ``request``, ``transport``) with
an attribute for each number. Since 1.2 each number is a bean of its own in ``org.apache.cassandra.metrics``,
and later versions have only those. Pools were renamed, too: with the memtable and counter rewrites of 2.1,
and with the new hints of 3.0. Names: JMXEnabledThreadPoolExecutorMBean of 1.0, ThreadPoolMetrics of 5.0.
"""

from __future__ import annotations

import re

from stallwatch.sources.jmx.object_name import ObjectName

METRICS = "org.apache.cassandra.metrics"
_OLD = re.compile(r"org\.apache\.cassandra\.(internal|request|transport)")
_POOLS = {
    "FlushWriter": "MemtableFlushWriter",
    "MemtablePostFlusher": "MemtablePostFlush",
    "ReplicateOnWriteStage": "CounterMutationStage",
    "commitlog_archiver": "CommitLogArchiver",
    "HintedHandoff": "HintsDispatcher",
}
# The metric's name and the attribute that has its number: a gauge has a value, a counter a count.
_NUMBERS = {
    "ActiveCount": ("ActiveTasks", "Value"),
    "PendingTasks": ("PendingTasks", "Value"),
    "CompletedTasks": ("CompletedTasks", "Value"),
    "CurrentlyBlockedTasks": ("CurrentlyBlockedTasks", "Count"),
    "TotalBlockedTasks": ("TotalBlockedTasks", "Count"),
}


def attributes(name: ObjectName) -> tuple[str, ...]:
    """Give what attributes a bean of that name had, if it is an old name of a thread pool."""
    return tuple(_NUMBERS) if _OLD.fullmatch(name.domain) and list(name.properties) == ["type"] else ()


def is_renamed(name: ObjectName) -> bool:
    """Whether it is the bean of a pool that has another name today."""
    return name.properties.get("scope" if name.domain == METRICS else "type") in _POOLS


def successor(name: ObjectName, attribute: str) -> tuple[ObjectName, str] | None:
    """Give the bean and the attribute that took the place of an old one."""
    if attribute in attributes(name):
        path, pool = name.domain.rpartition(".")[2], name.properties["type"]
        metric, attribute = _NUMBERS[attribute]
    elif name.domain == METRICS and is_renamed(name):
        path, pool, metric = (name.properties.get(key, "") for key in ("path", "scope", "name"))
    else:
        return None
    scope = _POOLS.get(pool, pool)
    properties = {"type": "ThreadPools", "path": path, "scope": scope, "name": metric}
    return ObjectName(METRICS, properties), attribute
