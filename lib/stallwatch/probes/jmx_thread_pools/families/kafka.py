"""Thread pools of Kafka, of which it shows how idle they are, one of them added up with another.

Where one process is broker and controller, RequestHandler shows the sum of the idle times of two pools before
Kafka 4.2, and NetworkProcessor is the controller's alone, in 4.2.2, too.
"""

from __future__ import annotations

import math

from stallwatch.causes import Kind
from stallwatch.line import Forms
from stallwatch.probes.jmx_thread_pools.families.form import Bean, Family, Meaning
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stallwatch.probes.jmx.changes import Changes
    from stallwatch.probes.jmx_thread_pools.model import Pool
    from stallwatch.sources.jmx import Server
    from stallwatch.sources.jmx.values import Value

FAMILIES = (
    Family(
        "Kafka",
        "Kafka 3.9.0, 4.2.2",
        queries=(
            "kafka.server:type=KafkaRequestHandlerPool,name=*AvgIdlePercent",
            "kafka.network:type=SocketServer,name=*AvgIdlePercent",
        ),
        beans=(
            # A fraction, despite its name. It comes to nearly 2 where one process is broker and
            # controller: both add to it (KAFKA-19606, before Kafka 4.2; 1.97 on 3.9.0, 0.97 on 4.2.2).
            Bean("type=KafkaRequestHandlerPool,name={pool}AvgIdlePercent", idle="OneMinuteRate"),
            Bean("type=SocketServer,name={pool}AvgIdlePercent", idle="Value"),
        ),
        meanings=(
            Meaning(
                "*RequestHandler",
                Kind.THREADS_EXHAUSTED,
                "requests queue up",
                "check top and iostat -x 1",  # its topics may be compressed anew (compression.type): 3.9
                "also which clients send so many requests; num.io.threads sets the number of threads",
            ),
            Meaning(
                "*NetworkProcessor",
                Kind.THREADS_EXHAUSTED,
                Forms("requests and responses queue up", "requests queue up"),
                Forms("check the number of connections and requests", "check connections and requests"),
                "TLS costs these threads, too; num.network.threads sets their number",
            ),
        ),
        fixed=True,
    ),
)
_SUM, _NETWORK = ("Kafka", "RequestHandler"), ("Kafka", "NetworkProcessor")
MAY_BE_EMPTY = ("Kafka", "ControlPlaneNetworkProcessor")  # without a listener of its own (3.9)
_BOTH = (  # what a controller of KRaft has, and a broker (3.9)
    "kafka.controller:type=KafkaController,name=LastAppliedRecordOffset",
    "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
)
_APART = "kafka.server:type=KafkaRequestHandlerPool,name=BrokerRequestHandlerAvgIdlePercent"  # from 4.2 on
_OF_TWO = f"{'/'.join(_SUM)} of two"
_OF_ONE = 1.5  # share of time: a single one's is about 1 at most
# Seconds until averages mean what they should: on an idle 3.9 that of RequestHandler begins with 0, that of
# NetworkProcessor is below 0.5 for 34 s.
_SETTLES = 60


def has_no_threads(pool: tuple[str, str], value: Value) -> bool:
    """Whether an idle time is the average of no threads: NaN, which Jolokia sends as null."""
    return pool == MAY_BE_EMPTY and (value is None or (isinstance(value, float) and math.isnan(value)))


def is_share(pool: tuple[str, str], idle: float) -> bool:
    """Whether an idle time is a share of the time: of one pool, or of two."""
    return idle <= _OF_ONE + (pool == _SUM)


def settled(
    pools: Sequence[Pool], server: Server, changes: Changes, uptime: float | None
) -> tuple[list[Pool], bool]:
    """Return the pools with what is known of their idle times, and whether network threads are not watched.

    An average that is younger than what it is over is not known; nobody is idle twice. The busier one of two
    that are added up is idle for what exceeds 1, at least, as the other one may be idle all the time, and for
    half of the sum, at most. That it is a sum is known by other MBeans, or once it was too large for one,
    until the JVM restarts.
    """
    idle = {pool.key: pool.idle for pool in pools if pool.idle is not None}
    both = not idle.keys().isdisjoint((_SUM, _NETWORK)) and all(server.names(name) for name in _BOTH)
    total = idle.get(_SUM)
    is_sum = total is not None and total > _OF_ONE
    if total is not None:
        known = both or (not changes.restarted and changes.last(_OF_TWO) == 1)
        is_sum = is_sum or (known and not server.names(_APART))
        changes.note(_OF_TWO, int(is_sum))

    def settle(pool: Pool) -> Pool:
        if pool.idle is None or (pool.family in FAMILIES and uptime is not None and uptime < _SETTLES):
            return pool._replace(idle=None)
        if pool.key != _SUM or not is_sum:
            return pool._replace(idle=min(pool.idle, 1))
        return pool._replace(idle=max(0, min(pool.idle - 1, 1)), idle_at_most=min(pool.idle / 2, 1))

    return [settle(pool) for pool in pools], both and _NETWORK in idle
