"""What there is to watch at a MySQL or MariaDB server: an SQL node of NDB Cluster, a replica, or neither."""

from __future__ import annotations

import re

from stallwatch.declared import every
from stallwatch.discovery.plan import Host, Place, Plan, is_address
from stallwatch.probes.host.declared import HOST, NDB_HOST
from stallwatch.probes.mysql.asking import Asking, Statement, text, whole
from stallwatch.probes.mysql_query.declared import ANSWERS
from stallwatch.probes.mysqld_process.declared import MYSQL_PROCESS, NDB_PROCESS
from stallwatch.probes.ndb_log.declared import CLUSTER_LOG, NODE_LOG
from stallwatch.probes.ndb_nodes.declared import DECLARED as NODES
from stallwatch.probes.ndb_page_buffer.declared import PAGE_BUFFER
from stallwatch.probes.ndbinfo.declared import PROCESS
from stallwatch.probes.ndbinfo.queries import Ndbinfo
from stallwatch.probes.replication_lag import queries, source
from stallwatch.probes.replication_lag.declared import LAG
from stallwatch.sources.mysql import DeniedError, MissingTableError, MysqlError
from stallwatch.sources.mysql.literals import identifier
from stallwatch.sources.mysql.target import PORT, Target
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stallwatch.declared import Options, Service
    from stallwatch.frame.run import Run
    from stallwatch.probes.replication_lag.model import Channel
    from stallwatch.sources.mysql import Server

    Elsewhere = Callable[[str], Server]


_ENGINES = Statement(
    "SELECT ENGINE AS engine FROM information_schema.ENGINES WHERE SUPPORT IN ('YES', 'DEFAULT')"
)
_SETTINGS = Statement("SELECT @@log_bin,@@datadir")
_HEARTBEATS = Statement(
    "SELECT TABLE_SCHEMA AS place, TABLE_NAME AS name FROM information_schema.COLUMNS"
    " WHERE TABLE_NAME LIKE '%heartbeat%' AND COLUMN_NAME IN ('ts', 'server_id')"
    " AND TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')"
    " GROUP BY TABLE_SCHEMA, TABLE_NAME HAVING COUNT(*) = 2 ORDER BY TABLE_SCHEMA, TABLE_NAME"
)
_NODES = """SELECT DISTINCT node_id, node_type, node_hostname FROM ndbinfo.config_nodes
 WHERE node_type IN ('MGM', 'NDB') ORDER BY node_id"""
# Each data node lists each process, maybe under another of its addresses.
_SQL_NODES = """SELECT node_id, MIN(service_URI) AS uri FROM ndbinfo.processes
 WHERE service_URI LIKE 'mysql:%' GROUP BY node_id ORDER BY node_id"""
_OWN_NODE = Statement("SHOW GLOBAL STATUS LIKE 'Ndb_cluster_node_id'")
_TABLESPACES = Statement(
    "SELECT COUNT(*) AS files FROM information_schema.FILES"
    " WHERE ENGINE = 'ndbcluster' AND FILE_TYPE = 'DATAFILE'",
    PROCESS,
)
_URI = re.compile(r"mysql://(\[[^\]/]+\]|[^/:?]+)(?::(\d{1,5}))?(?:[/?].*)?", re.DOTALL)
_LARGEST_PORT = 65535
_LOOPBACK = re.compile(r"localhost|127\..*|::1|::|0\.0\.0\.0|")

_EVERY = [service for declared in every().values() for service in declared.services]
OF_CLUSTER = (*NODES.services, *(one for one in _EVERY if one.sets == "ndb" and one != PAGE_BUFFER))
OF_SERVER = tuple(one for one in _EVERY if one.sets == "mysql")
OF_NODES = {
    "NDB": ("data node", (NODE_LOG, NDB_PROCESS, NDB_HOST)),
    "MGM": ("management node", (CLUSTER_LOG,)),
}  # fmt: skip


def look(server: Server, place: Place, sources: Sequence[str], elsewhere: Elsewhere, run: Run) -> Plan:
    """Find out what it is; ``elsewhere`` logs in as here, at one of ``sources``. Raises a ProbeError.

    Each of ``sources`` is HOST:PORT, named by the user: a host that only the server names gets no password.
    What one account has to see for it raises: a list that lacks half of the services looks like a whole one.
    """
    return _Look(server, place, sources, elsewhere, run).plan()


class _Look:
    def __init__(
        self, server: Server, place: Place, sources: Sequence[str], elsewhere: Elsewhere, run: Run
    ) -> None:
        self._server = server
        self._place = place
        self._sources = sources
        self._elsewhere = elsewhere
        self._asking = Asking(server, run.trace)
        self._ndbinfo = Ndbinfo(server, run.deadline)
        self._remarks: list[str] = []

    def plan(self) -> Plan:
        engines = {text(row, "engine").lower() for row in self._asking.rows(_ENGINES)}
        clustered = "ndbcluster" in engines
        hosts = [self._host(engines)]
        if clustered:
            hosts += [*self._nodes(), *self._sql_nodes()]
        own, *others = _together(hosts)
        if self._asking.lost:
            raise self._asking.lost
        # What may take long comes last. A node of a cluster may be watched by who sees the cluster alone.
        of_replica = tuple(self._replication(needed=not clustered))
        services = (ANSWERS, *of_replica, *own.services)
        missing = [f"not seen: {sentence}" for sentence in self._asking.missing.values()]
        return Plan((own._replace(services=services), *others), (*self._remarks, *missing))

    def _host(self, engines: set[str]) -> Host:
        services = [one for one in OF_SERVER if "innodb" in engines or not one.plugin.startswith("innodb")]
        if "ndbcluster" in engines:
            services = [*OF_CLUSTER, *self._on_disk(), *services]
        name, address, reach = self._place
        about = f"{self._server.flavour.text} at {self._server.where}"
        inside, local = tuple(self._inside()), self._server.local
        return Host(name, address, about, tuple(services), inside, reach, local=local)

    def _inside(self) -> Iterator[Service]:
        settings = next(iter(self._asking.rows(_SETTINGS)), {})
        data_dir = text(settings, "@@datadir")
        programs = ("mariadbd", "mysqld") if self._server.flavour.mariadb else ("mysqld",)
        yield MYSQL_PROCESS._replace(options=tuple(("program", program) for program in programs))
        of_disk = (("data-dir", data_dir),) if data_dir else ()
        if data_dir and self._server.local:  # the service is active, and the server alone names that path
            self._remarks.append(
                f"The server names {data_dir}: if that is its folder, add --data-dir to Host."
            )
            of_disk = ()
        yield HOST._replace(options=of_disk)
        more = "" if whole(settings, "@@log_bin") else "; the binary log is off, so with --no-binlog"
        self._remarks.append(
            "Where backups are is not visible from here: add a service for check_mysql_backup --directory"
            f" on the host that has them{more}."
        )

    def _replication(self, *, needed: bool) -> Iterator[Service]:
        try:
            channels = queries.channels(self._server)
        except DeniedError as error:
            if needed:
                raise
            self._remarks.append(f"Whether it is a replica is not known: {error.what}; {error.advice}")
            return
        heartbeat = self._heartbeat() if channels else ()
        for channel in channels:
            which = (("channel", exactly(channel.name)),) if channels[1:] else ()
            of = f" of {channel.name or 'the default channel'}" if channels[1:] else ""
            where = Target(channel.source_host, channel.source_port).where
            yield LAG._replace(
                title=f"{LAG.title}{of}",
                about=LAG.about.format(source=where),
                options=(*LAG.options, *which, *self._source(channel), *heartbeat),
            )

    def _source(self, channel: Channel) -> Options:
        """Give the option that asks the source, too, if the user has named it, and it lets us in."""
        told = Target(channel.source_host, channel.source_port).where
        for place in self._sources:
            try:
                with self._elsewhere(place) as server:
                    found = source.identity(server)
            except MysqlError as error:
                self._remarks.append(f"The source is not asked (--source {place}): {error.what}")
                continue
            if found.is_source_of(channel) or not (channel.source_uuid or channel.source_id):
                return (("source", place),)
            self._remarks.append(f"{place} (--source) is not asked: it is not the source {told}.")
        if not self._sources:
            how = f"if that is its address, give --source {told}"
            self._remarks.append(f"The source {told} is not asked: {how}.")
        return ()

    def _heartbeat(self) -> Options:
        found = [
            f"{_name(text(row, 'place'))}.{_name(text(row, 'name'))}"
            for row in self._asking.rows(_HEARTBEATS)
        ]
        if self._asking.failed:
            self._remarks.append(
                f"Whether there is a table of heartbeats is not known: {self._asking.failed.what}"
            )
        if found[1:]:
            self._remarks.append(
                f"There are several heartbeat tables, of which the first is taken: {', '.join(found)}"
            )
        return (("heartbeat", found[0]),) if found else ()

    def _on_disk(self) -> Iterator[Service]:
        rows = self._asking.rows(_TABLESPACES)
        if not rows or whole(rows[0], "files"):
            yield PAGE_BUFFER

    def _nodes(self) -> Iterator[Host]:
        """Give the hosts of data nodes and management nodes: what can run on them alone."""
        try:
            rows = self._ndbinfo.some(_NODES)
        except MissingTableError as error:  # before 7.5.7
            self._remarks.append(f"Hosts of data nodes are not known: {error.what}")
            return
        nodes: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            nodes.setdefault((text(row, "node_hostname"), text(row, "node_type")), []).append(
                text(row, "node_id")
            )
        where = self._server.where
        for (host, kind), numbers in nodes.items():
            about, services = OF_NODES[kind]
            about = f"{about}{'s' if numbers[1:] else ''} {' and '.join(numbers)}"
            if _LOOPBACK.fullmatch(host) or host in self._place:
                yield Host(self._place.name, self._place.address, about, inside=services)
            elif is_address(host):
                yield Host(host, host, about, inside=services, named_by=f"ndbinfo.config_nodes of {where}")
            else:
                self._remarks.append(f"{about}: {host} is no name or address of a host")

    def _sql_nodes(self) -> Iterator[Host]:
        """Give the other SQL nodes: whether each answers."""
        own = next(iter(self._asking.rows(_OWN_NODE)), {})
        there = ("hostname", "port", "socket")
        reach = tuple(option for option in self._place.reach if option[0] not in there)
        for row in self._ndbinfo.rows(_SQL_NODES):
            node, uri = whole(row, "node_id"), _URI.fullmatch(text(row, "uri"))
            if node == whole(own, "Value"):
                continue
            host, port = (uri[1].strip("[]"), uri[2] or str(PORT)) if uri else ("", "")
            if not is_address(host) or not 0 < int(port) <= _LARGEST_PORT:
                self._remarks.append(f"SQL node {node}: {text(row, 'uri')} names no host and port")
                continue
            name = host
            if _LOOPBACK.fullmatch(host):  # the cluster's own host
                name, host = self._place[:2]
            if name == self._place.name or port != str(PORT):
                name = f"{name}-{port}"
            who = f"ndbinfo.processes of {self._server.where}"
            yield Host(
                name, host, f"SQL node {node}", (ANSWERS,), reach=(("port", port), *reach), named_by=who
            )


def _together(hosts: list[Host]) -> list[Host]:
    """Make one of those that are the same host."""
    merged: dict[str, Host] = {}
    for one in hosts:
        known = merged.get(one.name)
        merged[one.name] = one if known is None else known._replace(
            about=f"{known.about}, {one.about}", services=known.services + one.services,
            inside=known.inside + one.inside, reach=known.reach or one.reach, named_by=known.named_by,
        )  # fmt: skip
    return [*merged.values()]


def exactly(name: str) -> str:
    """Give a regular expression for a name: for a letter that may need quoting, it has any."""
    return "".join(_letter(letter) for letter in name) or "^$"


def _letter(letter: str) -> str:
    if letter.isascii() and (letter.isalnum() or letter in "_-"):
        return letter
    if letter == ".":
        return "[.]"
    return "." if letter.isprintable() else "[^ ]"


def _name(part: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_]+", part):
        return part
    return identifier(part)
