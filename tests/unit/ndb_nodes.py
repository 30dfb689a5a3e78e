"""A cluster that tells all that check_ndb_nodes asks for, and its management server."""

from fake_ndb import FakeNdb
from stallwatch.sources.ndb_mgm import NodeStatus, NotRunningError

ARBITRATOR = {"arbitrator": 1, "arb_ticket": "42a4", "arb_state": "ARBIT_RUN", "arb_connected": "Yes"}
ROLES = ("main", "rep", "ldm", "ldm", "recv", "send")
NO_REPLICAS, ARBITRATION = 101, 142


class NodesNdb(FakeNdb):
    """As FakeNdb; node groups have two nodes each, in the order of their ids."""

    def __init__(self, nodes=(3, 4), **settings):
        super().__init__(nodes, **settings)
        self.nodes = nodes
        self.seen = {node: NodeStatus("STARTED", 0) for node in nodes}  # by the management server
        self.ended = {}  # node -> its rows, by table
        self.asked_at = []  # host and port of it
        tables = {
            "membership": [
                {"node_id": node, "group_id": at // 2, **ARBITRATOR} for at, node in enumerate(nodes)
            ],
            "config_values": [
                {"node_id": node, "config_param": parameter, "config_value": value}
                for node in nodes
                for parameter, value in ((NO_REPLICAS, "2"), (ARBITRATION, "1"))
            ],
            "transporters": [
                {
                    "node_id": one,
                    "remote_node_id": other,
                    "remote_address": f"10.0.0.{other}",
                    "overload_count": 0,
                    "connect_count": 1,
                }
                for one in nodes
                for other in (1, 51, *nodes)
                if one != other
            ],
            "threads": [
                {"node_id": node, "thr_no": number, "thread_name": role}
                for node in nodes
                for number, role in enumerate(ROLES)
            ],
            "threadstat": [
                {"node_id": node, "thr_no": number, "os_ru_majflt": 7}
                for node in nodes
                for number in range(len(ROLES))
            ],
            "cpustat_20sec": [],
            "processes": [
                {
                    "reporting_node_id": one,
                    "node_id": node,
                    "node_type": kind,
                    "node_version": "mysql-9.7.2 ndb-9.7.2",
                    "process_name": program,
                    "service_URI": uri,
                }
                for one in nodes
                for node, kind, program, uri in (
                    (1, "MGM", "ndb_mgmd", "ndb://10.0.0.9:1186"),
                    (one, "NDB", "ndbmtd", "ndb://10.0.0.1"),
                    (51, "API", "mysqld", "mysql://10.0.0.51:3306"),
                )
            ],
            "restart_info": [],
            "ndb$certificates": [],
        }
        self.tables |= tables
        self.columns["restart_info"] = ["node_id", "node_restart_status", "node_restart_status_int"]
        self.columns["ndb$certificates"] = ["node_id", "name", "serial", "expires"]
        for node in nodes:
            for number in range(len(ROLES)):
                self.works(node, number, 1.0)

    def works(self, node, number, used, processor=None, samples=20):
        """Let a thread have worked for so many per cent of the last samples of 20 s."""
        rows = [
            row for row in self.tables["cpustat_20sec"] if (row["node_id"], row["thr_no"]) != (node, number)
        ]
        sample = {
            "node_id": node,
            "thr_no": number,
            "exec_time": int(150_000 * used),
            "send_time": int(50_000 * used),
            "OS_user_time": int(200_000 * (used if processor is None else processor)),
            "OS_system_time": 0,
            "elapsed_time": 20_000_000,
        }
        self.tables["cpustat_20sec"] = rows + [sample] * samples

    def disconnect(self, node):
        """Let an SQL, API or management node be connected to no data node."""
        self.tables["processes"] = [row for row in self.tables["processes"] if row["node_id"] != node]

    def connect(self, node, program="mysqld", uri="mysql://10.0.0.52:3306"):
        """Let one be connected to all data nodes."""
        row = next(row for row in self.tables["processes"] if row["node_type"] == "API")
        about = {"node_id": node, "process_name": program, "service_URI": uri}
        self.tables["processes"] += [row | about | {"reporting_node_id": one} for one in self.nodes]

    def drop(self, *tables):
        """Let the version lack these tables."""
        for table in tables:
            del self.tables[table]

    def end(self, node):
        """As FakeNdb; the management server notices it."""
        before = {table: list(rows) for table, rows in self.tables.items()}
        super().end(node)
        kept = {id(row) for rows in self.tables.values() for row in rows}
        self.ended[node] = {
            table: [row for row in rows if id(row) not in kept] for table, rows in before.items()
        }
        self.seen[node] = NodeStatus("NO_CONTACT", 0)

    def back(self, node, uptime=20):
        """Let a node that has ended be up again."""
        for table, rows in self.ended.pop(node).items():
            self.tables[table] += rows
        self.restart(node, uptime)
        self.node(node)["status"] = "STARTED"
        self.status["Ndb_number_of_ready_data_nodes"] += 1
        self.seen[node] = NodeStatus("STARTED", 0)
        self.tables["restart_info"] = []

    def answers(self, node, status, phase=0):
        """Let a node say that of itself, and the management server see what it sees then."""
        self.node(node).update(status=status, start_phase=phase)
        self.seen[node] = NodeStatus("SHUTTING_DOWN" if status.startswith("STOPPING") else status, phase)

    def starts(self, node, phase=4, doing=None, status="STARTING"):
        """Let a node that has ended be on its way up."""
        self.seen[node] = NodeStatus(status, phase)
        code, words = doing or (17, "Wait LCP to ensure durability")
        row = {"node_id": node, "node_restart_status": words, "node_restart_status_int": code}
        self.tables["restart_info"] = [row]

    def arbitration(self, *nodes, **columns):
        """Change what these nodes, or all, say about the arbitrator."""
        for row in self.tables["membership"]:
            if not nodes or row["node_id"] in nodes:
                row.update(columns)

    def link(self, node, other, **more):
        """Let a link have counted so much more."""
        for row in self.tables["transporters"]:
            if (row["node_id"], row["remote_node_id"]) == (node, other):
                for column, number in more.items():
                    row[column] += number

    def data_nodes(self, host, port, _patience):
        """As ndb_mgm.data_nodes."""
        self.asked_at.append((host, port))
        if self.seen is None:
            raise NotRunningError(f"the management server {host}:{port} cannot be asked: Connection refused")
        return self.seen
