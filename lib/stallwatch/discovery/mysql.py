"""What there is to watch at a MySQL or MariaDB server: an SQL node of NDB Cluster, a replica, or neither."""

from __future__ import annotations

import re
from typing import NamedTuple

from stallwatch.discovery.plan import Host, Plan, Service, is_address
from stallwatch.probes.mysql.asking import Asking
from stallwatch.probes.mysql.statement import Statement, text, whole
from stallwatch.probes.ndbinfo.privileges import NDBINFO
from stallwatch.probes.replication import status
from stallwatch.sources.mysql import MysqlError
from stallwatch.sources.mysql.privilege import Privilege

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.discovery.plan import Options
    from stallwatch.probes.replication.channel import Channel
    from stallwatch.sources.mysql import Server

    Elsewhere = Callable[[str], Server]

DATA_DIR = "/var/lib/mysql-cluster"
_GUESS = f"Its DataDir is not {DATA_DIR}? Mend it here."

_ENGINES = Statement(
    "SELECT ENGINE AS engine FROM information_schema.ENGINES WHERE SUPPORT IN ('YES', 'DEFAULT')"
)
_SETTINGS = Statement("SELECT @@log_bin AS log_bin, @@datadir AS datadir")
_ID = Statement("SELECT @@server_id AS id")
_HEARTBEATS = Statement(
    "SELECT TABLE_SCHEMA AS place, TABLE_NAME AS name FROM information_schema.COLUMNS"
    " WHERE TABLE_NAME LIKE '%heartbeat%' AND COLUMN_NAME IN ('ts', 'server_id')"
    " AND TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')"
    " GROUP BY TABLE_SCHEMA, TABLE_NAME HAVING COUNT(*) = 2"
)
_NODES = Statement("SELECT DISTINCT node_id, node_type, node_hostname FROM ndbinfo.config_nodes", NDBINFO)
_PROCESSES = Statement(
    "SELECT DISTINCT node_id, service_URI AS uri FROM ndbinfo.processes WHERE service_URI LIKE 'mysql:%'",
    NDBINFO,
)
_OWN_NODE = Statement("SHOW GLOBAL STATUS LIKE 'Ndb_cluster_node_id'")
_TABLESPACES = Statement(
    "SELECT COUNT(*) AS files FROM information_schema.FILES"
    " WHERE ENGINE = 'ndbcluster' AND FILE_TYPE = 'DATAFILE'",
    Privilege("PROCESS", "", "whether there are tables on disk"),
)
_URI = re.compile(r"mysql://(\[[^\]/]+\]|[^/:?]+)(?::(\d+))?(?:[/?].*)?", re.DOTALL)
_LOOPBACK = re.compile(r"localhost|127\..*|::1|::|0\.0\.0\.0|")

ANSWERS = Service("MySQL", "mysql_query", "Does it answer, and how fast? CRITICAL if it does not.")
OF_CLUSTER = (
    Service(
        "NDB nodes", "ndb_nodes",
        "Are all data nodes up? CRITICAL, too, if this SQL node does not answer: then nobody knows.",
        (("unreachable", "critical"),), attempts=2,
    ),
    Service("NDB memory", "ndb_memory", "How full is it, and when will writes fail?"),
    Service("NDB redo buffer", "ndb_redo_buffer", "Do redo buffers fill: is it the buffer or the disk?"),
    Service("NDB transactions", "ndb_transactions", "Who holds locks and does nothing, who waits for whom?"),
)  # fmt: skip
ON_DISK = Service(
    "NDB page buffer", "ndb_page_buffer", "Is DiskPageBufferMemory large enough for the tables on disk?"
)
OF_SERVER = (
    Service("MySQL status", "mysql_status", "What stands at its limit?"),
    Service("InnoDB redo log", "innodb_redo_log", "How near is the redo log to where writers wait?"),
    Service(
        "InnoDB buffer pool", "innodb_buffer_pool", "What has to be read from the disk, who waits for a page?"
    ),
)


class Place(NamedTuple):
    """Where the server is for the engine, and how its services get there."""

    name: str
    address: str
    reach: Options


def look(server: Server, place: Place, elsewhere: Elsewhere, trace: Callable[[str], None]) -> Plan:
    """Find out what it is; ``elsewhere`` logs in at HOST:PORT as here."""
    return _Look(server, place, elsewhere, Asking(server, trace)).plan()


class _Look:
    def __init__(self, server: Server, place: Place, elsewhere: Elsewhere, asking: Asking) -> None:
        self._server = server
        self._place = place
        self._elsewhere = elsewhere
        self._asking = asking
        self._remarks: list[str] = []
        self._engines: set[str] = set()

    def plan(self) -> Plan:
        self._engines = {text(row, "engine").lower() for row in self._asking.rows(_ENGINES)}
        others: list[Host] = []
        services = [ANSWERS, *self._replication()]
        inside = [*self._inside()]
        if "ndbcluster" in self._engines:
            services += [*OF_CLUSTER, *self._on_disk()]
            inside += self._data_nodes(others)
            others += self._sql_nodes()
        services += [
            one for one in OF_SERVER if "innodb" in self._engines or not one.plugin.startswith("innodb")
        ]
        about = f"{self._server.flavour.text} at {self._server.where}"
        host = Host(
            self._place.name, self._place.address, about, tuple(services), tuple(inside), self._place.reach,
            local=self._server.local,
        )  # fmt: skip
        lost = [self._asking.lost.what] if self._asking.lost else []
        missing = [f"not seen: {sentence}" for sentence in self._asking.missing.values()]
        return Plan((host, *others), (*self._remarks, *missing, *lost))

    def _inside(self) -> Iterator[Service]:
        settings = next(iter(self._asking.rows(_SETTINGS)), {})
        data_dir = text(settings, "datadir")
        yield Service(
            "mysqld process", "mysqld_process", "What does the process use, and which of its threads?",
            (("program", "mariadbd" if self._server.flavour.mariadb else "mysqld"),),
            nrpe="check_mysqld_process",
        )  # fmt: skip
        of_disk = (("data-dir", data_dir),) if data_dir else ()
        yield Service("host", "host", "Are processors or a disk at their limit?", of_disk, nrpe="check_host")
        logs = whole(settings, "log_bin")
        self._remarks.append(f"The binary log is {'on' if logs else 'off'}.")
        more = "" if logs else ": without a binary log, with --no-binlog"
        self._remarks.append(
            "Nothing tells from here where backups are: add a service for check_mysql_backup --directory"
            f" on the host that has them{more}."
        )

    def _replication(self) -> Iterator[Service]:
        try:
            channels = status.channels(self._server)
        except MysqlError as error:
            self._remarks.append(f"Whether it is a replica is not known: {error.what}; {error.advice}")
            return
        heartbeat = self._heartbeat() if channels else ()
        for channel in channels:
            which = (("channel", exactly(channel.name)),) if channels[1:] else ()
            of = f" of {channel.name or 'the default channel'}" if channels[1:] else ""
            source = f"{channel.source_host}:{channel.source_port}"
            yield Service(
                f"Replication lag{of}", "replication_lag",
                f"How far is it behind {source}, where is that going, and why?",
                (*which, *self._source(channel), *heartbeat), attempts=2,
            )  # fmt: skip

    def _source(self, channel: Channel) -> Options:
        """Give the option that asks the source, too, if it answers to the same user."""
        host = channel.source_host
        if not is_address(host) or not channel.source_port:
            return ()
        place = f"[{host}]:{channel.source_port}" if ":" in host else f"{host}:{channel.source_port}"
        try:
            with self._elsewhere(place) as source:
                (row,) = source.rows(_ID.sql)
        except MysqlError as error:
            self._remarks.append(f"The source is not asked (--source {place}): {error.what}")
            return ()
        if channel.source_id not in (0, row["id"]):
            self._remarks.append(
                f"The source is not asked: at {place} there is another server than the source."
            )
            return ()
        return (("source", place),)

    def _heartbeat(self) -> Options:
        found = [
            f"{_name(text(row, 'place'))}.{_name(text(row, 'name'))}"
            for row in self._asking.rows(_HEARTBEATS)
        ]
        if found[1:]:
            self._remarks.append(
                f"There are several heartbeat tables, of which the first is taken: {', '.join(found)}"
            )
        return (("heartbeat", found[0]),) if found else ()

    def _on_disk(self) -> Iterator[Service]:
        rows = self._asking.rows(_TABLESPACES)
        if not rows or whole(rows[0], "files"):
            yield ON_DISK

    def _data_nodes(self, others: list[Host]) -> list[Service]:
        """Give what is to run on the data nodes of this host; those of other hosts go to ``others``."""
        own: list[Service] = []
        by_host: dict[str, list[int]] = {}
        for row in self._asking.rows(_NODES):
            if text(row, "node_type") == "NDB":
                by_host.setdefault(text(row, "node_hostname"), []).append(whole(row, "node_id"))
        for host, nodes in sorted(by_host.items()):
            services = [*_of_data_nodes(sorted(nodes))]
            if _LOOPBACK.fullmatch(host) or host == self._place.address:
                own += services
            elif is_address(host):
                others.append(Host(host, host, f"data node {_listed(nodes)}", inside=tuple(services)))
            else:
                self._remarks.append(f"Data node {_listed(nodes)} has no host's name: {host}")
        return own

    def _sql_nodes(self) -> Iterator[Host]:
        """Give the other SQL nodes: whether each answers."""
        own = next(iter(self._asking.rows(_OWN_NODE)), {})
        for row in self._asking.rows(_PROCESSES):
            node, uri = whole(row, "node_id"), _URI.fullmatch(text(row, "uri"))
            if node == whole(own, "Value"):
                continue
            host, port = (uri[1].strip("[]"), uri[2] or "3306") if uri else ("", "")
            if not is_address(host):
                self._remarks.append(f"SQL node {node} has no host's name: {text(row, 'uri')}")
                continue
            name = f"{host}-{port}"
            if _LOOPBACK.fullmatch(host):  # the cluster's own host
                host, name = self._place.address, f"{self._place.name}-{port}"
            there = ("hostname", "port", "socket")
            reach = (("port", port), *(option for option in self._place.reach if option[0] not in there))
            yield Host(name, host, f"SQL node {node}", (ANSWERS,), reach=reach)


def _of_data_nodes(nodes: list[int]) -> Iterator[Service]:
    for node in nodes:
        yield Service(
            f"NDB log of node {node}", "ndb_log", f"What does data node {node} complain of? {_GUESS}",
            (("log", f"{DATA_DIR}/ndb_{node}_out.log"),), attempts=1, nrpe="check_ndb_log", guessed=True,
        )  # fmt: skip
    of = f"node{'s' if nodes[1:] else ''} {_listed(nodes)}"
    yield Service(
        f"NDB process of {of}", "mysqld_process", f"What does the process of a data node use? {_GUESS}",
        (("data-dir", DATA_DIR), ("program", "ndbmtd")), nrpe="check_ndb_process", guessed=True,
    )  # fmt: skip
    yield Service(
        f"NDB disks of {of}", "host", f"Is the disk of a data node at its limit? {_GUESS}",
        (("data-dir", DATA_DIR),), nrpe="check_ndb_disks", guessed=True,
    )  # fmt: skip


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
    return "`{}`".format(part.replace("`", "``"))


def _listed(nodes: list[int]) -> str:
    return " and ".join(map(str, sorted(nodes)))
