"""What is asked, as long as there is time, and what is kept for the next run."""

from __future__ import annotations

import re

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.history import Since, own, recall, remember
from stallwatch.history.delta import LEAST, NoIntervalError
from stallwatch.probes.ndb_nodes.model import NO_CONTACT, NOT_ASKED, Management
from stallwatch.probes.ndbinfo.cluster import Intervals, named
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from stallwatch.history.delta import Interval
    from stallwatch.probes.ndb_nodes.here import Process
    from stallwatch.probes.ndb_nodes.queries import Counts, Restart
    from stallwatch.probes.ndbinfo.cluster import Cluster
    from stallwatch.probes.ndbinfo.queries import Ndbinfo

_CLOCKS = "clocks"
_LARGEST_PORT, _PORT_NUMBER = 65535, r"[1-9]\d{0,4}"
_HOST, _PORT = "Ndb_config_from_host", "Ndb_config_from_port"
_THIS_HOST = r"localhost|(::ffff:)?127\..*|::1|0\.0\.0\.0|::|ip6-localhost"


class Snapshot(NamedTuple):
    """What is known of who is there."""

    cluster: Cluster
    management: Management = NOT_ASKED
    restarts: Mapping[int, Restart] = {}
    groups: Mapping[int, int] = {}  # the node group that nodes report for themselves
    here: tuple[Process, ...] = ()  # of missing nodes


class _Moment(NamedTuple):
    """The last look: what ``Clocks`` showed, and since when there has been what lasts."""

    time: float
    at: float  # seconds since the epoch
    uptimes: dict[int, float]
    begun: dict[str, float]  # by ``time``


class Clocks:
    """How long things have lasted: a clock goes on, looked at or not, until what it measures is over.

    ``memory`` keeps them. ``now`` is our clock, ``uptimes`` are those of the nodes that answer, all in
    seconds. ``time`` is how much of it has passed since the first look: by the uptime of the data nodes, so
    that whoever sets our clock, or theirs, changes nothing. Only where none of them was up all the while, it
    is what has passed by our clock.
    """

    def __init__(self, memory: dict[str, Any], now: float, uptimes: Mapping[int, float]) -> None:
        last = recall(memory, _CLOCKS, _Moment) or _Moment(0.0, now, {}, {})
        grown = [
            up - last.uptimes[node] for node, up in uptimes.items() if last.uptimes.get(node, up + 1) <= up
        ]
        passed = max(grown, default=max(0.0, now - last.at))
        self.now = now
        self.time = float(last.time + passed)
        remember(memory, _CLOCKS, _Moment(self.time, now, {**uptimes}, last.begun))
        self._begun = memory[_CLOCKS]["begun"]
        self._since = Since(self._begun, self.time)

    def seconds(self, what: str) -> float:
        """Return for how long ``what`` has lasted, which is so now; 0 the first time."""
        return self._since.seconds(what)

    def runs(self, what: str) -> bool:
        """Whether ``what`` was seen to begin, and not to end."""
        return what in self._begun

    def over(self, what: str) -> None:
        """End it: it was seen not to be so."""
        self._since.seconds(what, holds=False)


def since_last_look(
    table: str, counts: Counts, cluster: Cluster, memory: dict[str, Any], now: float
) -> tuple[dict[int, Interval], dict[str, list[int]]]:
    """Compare with what nodes had counted in a table when it was asked last: intervals, by node.

    And why nothing is known of other started nodes, with their numbers.
    """
    intervals = Intervals(own(memory, table), cluster, now)
    found: dict[int, Interval] = {}
    reasons: dict[str, list[int]] = {}
    for node in cluster.started:
        if node not in counts:
            continue
        try:
            interval = intervals.since(node, counts[node])
        except NoIntervalError as error:
            reasons.setdefault(str(error), []).append(node)
            continue
        if interval.seconds < LEAST:  # chance would be taken for a rate
            reasons.setdefault("the first look was a moment ago", []).append(node)
        else:
            found[node] = interval
    return found, reasons


def ask_management(
    ndbinfo: Ndbinfo, place: tuple[str, int] | None, sql_host: str, cluster: Cluster
) -> Snapshot:
    """Ask the management server at ``place``, or else the one that the SQL node on ``sql_host`` has asked.

    It may be unreachable. It knows the ids of all data nodes, which ndbinfo may not show. What does not fit
    ``cluster`` is not believed: behind a tunnel there may be another cluster's management server.
    """
    from stallwatch.sources import ndb_mgm

    where, answer = "", NOT_ASKED
    try:
        host, port = place or _place(ndbinfo, sql_host)
        where = ndb_mgm.place(host, port)
        ndbinfo.deadline.doing = f"asking the management server {where}"
        patience = ndbinfo.deadline.part(min(ndb_mgm.PATIENCE, ndbinfo.deadline.left() / 4))
        answer = Management(where, ndb_mgm.data_nodes(host, port, patience))
        _check(answer, cluster)
    except ndb_mgm.NotRunningError as error:
        return Snapshot(cluster, Management(where, aside=Fault(State.OK, error.what), is_down=True))
    except ProbeError as error:
        where = "" if answer.nodes else where  # of another cluster, it is of no use
        return Snapshot(cluster, Management(where, aside=Fault(State.OK, error.what)))
    finally:
        ndbinfo.deadline.doing = ""
    if answer.nodes:
        cluster = cluster._replace(expected=tuple(sorted(answer.nodes)), unnamed=0)
    return Snapshot(cluster, answer)


def ask_others(ndbinfo: Ndbinfo, addresses: Sequence[str], sql_host: str, asked: Snapshot) -> Snapshot:
    """Ask the other management servers of a cluster in turn, as the one that was ``asked`` did not answer.

    ``addresses`` are what data nodes have shown of them. The one that was asked is the only one that is down
    if another one cannot be asked, but does not refuse the connection.
    """
    is_down = asked.management.is_down
    for address in addresses:
        host, _, port = address.rpartition(":")
        host = host.strip("[]")
        is_far = re.fullmatch(_THIS_HOST, host) and not re.fullmatch(_THIS_HOST, sql_host)
        if is_far or not _is_port(port) or address == asked.management.where:
            continue
        other = ask_management(ndbinfo, (host, int(port)), sql_host, asked.cluster)
        if other.management.nodes:
            return other
        is_down &= other.management.is_down
    return asked._replace(management=asked.management._replace(is_down=is_down))


def alive_here(sql_host: str, snapshot: Snapshot) -> tuple[Process, ...]:
    """Return the processes of missing data nodes that run on this host, if the SQL node does."""
    from stallwatch.probes.ndb_nodes.here import alive

    is_here = re.fullmatch(_THIS_HOST, sql_host)
    return alive(snapshot.cluster.missing, snapshot.management.where) if is_here else ()


def _check(answer: Management, cluster: Cluster) -> None:
    """Raise a ProbeError unless it is this cluster's, and has contact to those that we know to be up."""
    ids, known = set(answer.nodes), set(cluster.expected)
    if known and (not known <= ids or len(ids) != cluster.configured):
        raise ProbeError(
            f"the management server {answer.where} is not believed: it has {_counted(ids)}, {cluster.where} "
            f"{_counted(known, cluster.configured)}: give the address of this cluster's with --management"
        )
    if lost := [node for node in cluster.started if answer.of(node) == NO_CONTACT]:
        raise ProbeError(
            f"the management server {answer.where} is not believed: it has no contact to {named(lost)}, "
            f"which {'answer' if len(lost) > 1 else 'answers'} {cluster.where}"
        )


def _counted(ids: set[int], configured: int = 0) -> str:
    return f"{max(configured, len(ids))} data nodes, {named(sorted(ids))}"


def _place(ndbinfo: Ndbinfo, sql_host: str) -> tuple[str, int]:
    from stallwatch.sources.ndb_mgm import PORT

    rows = ndbinfo.rows("SHOW GLOBAL STATUS LIKE 'Ndb_config_from_%'")
    values = {str(row["Variable_name"]): str(row["Value"]) for row in rows}
    host, port = values.get(_HOST, ""), values.get(_PORT, "")
    if not host:  # it has reached none since it was started (9.7.2)
        raise ProbeError(f"{ndbinfo.where} does not show its management server: name it with --management")
    if re.fullmatch(_THIS_HOST, host):  # as the SQL node sees it
        host = sql_host
    return host, int(port) if _is_port(port) else PORT


def _is_port(port: str) -> bool:
    return bool(re.fullmatch(_PORT_NUMBER, port)) and int(port) <= _LARGEST_PORT
