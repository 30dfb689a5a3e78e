"""What clients have left in a server: nothing that was there before is to be more afterwards."""

import os
import re

import psutil

# Counters of whoever did not leave as one should, and of what is open.
STATUS = re.compile(
    r"Aborted_\w+|Access_denied_errors|Connection_errors_\w+|Prepared_stmt_count|Threads_connected|"
    r"Open_streams"
)
OPEN = {
    "transactions": "SELECT COUNT(*) AS n FROM information_schema.INNODB_TRX",
    "sessions": "SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST WHERE USER = 'load'",
}
OF_MYSQL = {
    "temporary tables": "SELECT COUNT(*) AS n FROM information_schema.INNODB_TEMP_TABLE_INFO",
    "prepared statements": "SELECT COUNT(*) AS n FROM performance_schema.prepared_statements_instances",
    "threads": "SELECT COUNT(*) AS n FROM performance_schema.threads WHERE PROCESSLIST_USER = 'load'",
    "accounts": "SELECT COUNT(*) AS n FROM performance_schema.accounts WHERE USER = 'load'",
    "refused hosts": "SELECT COALESCE(SUM(SUM_CONNECT_ERRORS), 0) AS n FROM performance_schema.host_cache",
    "locks": "SELECT COUNT(*) AS n FROM performance_schema.metadata_locks WHERE OWNER_THREAD_ID IN "
    "(SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_USER = 'load')",
}
OF_NDB = {
    "connected nodes": "SELECT COUNT(*) AS n FROM ndbinfo.processes",
    "connections": "SELECT COUNT(*) AS n FROM ndbinfo.transporters WHERE status = 'CONNECTED'",
    "operations": "SELECT COUNT(*) AS n FROM ndbinfo.cluster_operations",
    "transactions of NDB": "SELECT COUNT(*) AS n FROM ndbinfo.cluster_transactions",
}
CLASSES = (
    "javax.management.remote.rmi.RMIConnectionImpl",
    "sun.rmi.transport.Target",
    "sun.rmi.transport.DGCAckHandler",
    "sun.rmi.transport.DGCImpl$LeaseInfo",
)


def in_sql(server, kind):
    """What is counted and open in a server of SQL: numbers by name."""
    queries = OPEN | (OF_MYSQL if kind != "mariadb" else {}) | (OF_NDB if kind == "ndb" else {})
    with server.session() as sql:
        found = {name: int(sql(query)[0]["n"]) for name, query in queries.items()}
        status = sql("SHOW GLOBAL STATUS")
    found |= {row["Variable_name"]: row["Value"] for row in status if STATUS.fullmatch(row["Variable_name"])}
    return found | {"sockets": sockets(server.pid)}


def in_cluster(cluster):
    """The same of an SQL node, and what the management node knows: nodes, and who is connected to it."""
    found = in_sql(cluster.sql_node, "ndb")
    management = cluster.servers[1].family[0]
    peers = [one for one in management.net_connections("tcp") if one.status == psutil.CONN_ESTABLISHED]
    return found | {
        "nodes": cluster.mgm("show").count("\t@"),
        "connections to the management node": len(peers),
    }


def in_java(server):
    """What a Java server has after a garbage collection: numbers by name."""
    histogram = server.jcmd("GC.class_histogram")
    found = {name: _instances(histogram, name) for name in CLASSES}
    return found | server.left_by_clients() | {"sockets": sockets(server.pid)}


def heap(server):
    """Bytes that a Java server uses after a garbage collection."""
    return int(re.findall(r"^Total +\d+ +(\d+)", server.jcmd("GC.class_histogram"), re.MULTILINE)[0])


def sockets(pid):
    """How many sockets a process has open."""
    place = f"/proc/{pid}/fd"
    return sum(_leads_to(f"{place}/{one}").startswith("socket:") for one in os.listdir(place))


def _leads_to(link):
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""


def _instances(histogram, name):
    found = re.search(rf"^ *\d+: +(\d+) +\d+ +{re.escape(name)}(?: |$)", histogram, re.MULTILINE)
    return int(found[1]) if found else 0
