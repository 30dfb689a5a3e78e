"""What is found at servers: a plain one, a replica, a node of a cluster of several hosts."""

import pytest
from fake_ndb import FakeNdb
from fake_replica import FakeReplica
from stallwatch.deadline import Deadline
from stallwatch.discovery import icinga2, mysql, nagios, plan
from stallwatch.probes.ndbinfo.queries import ClusterDownError
from stallwatch.sources.mysql import DeniedError, NoAnswerError, UnreachableError

REACH = (("port", "3307"), ("defaults-file", "/etc/stallwatch/mysql.cnf"))
SETTINGS = {"log_bin": 1, "datadir": "/var/lib/mysql/"}


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)


class TheRun:
    """What a look asks of its run."""

    def __init__(self):
        self.deadline = Deadline(600)
        self.trace = [].append


class OneServer(FakeReplica):
    """A replica, or a plain server as long as it has no channel."""

    def __init__(self, flavour="MySQL", where="db2:3306"):
        super().__init__(flavour, where)
        self.heartbeats = []
        self.settings = SETTINGS
        self.who = {"id": 1, "uuid": "b0c6f8d6-e537-11f1-b3bb-02fc00000001"}

    def _answer(self, sql):
        answers = {
            "information_schema.ENGINES": [{"engine": "InnoDB"}, {"engine": "MEMORY"}],
            "@@datadir": [{f"@@{name}": value for name, value in self.settings.items()}],
            "information_schema.COLUMNS": [{"place": one, "name": two} for one, two in self.heartbeats],
            "SELECT @@server_id AS id": [self.who],
        }
        found = (rows for part, rows in answers.items() if part in sql)
        return next(found, None) or super()._answer(sql)


class SqlNode(FakeNdb):
    """Node 51 of a cluster of several hosts."""

    def __init__(self):
        super().__init__()
        self.status["Ndb_cluster_node_id"] = 51
        self.variables = SETTINGS
        self.tables["information_schema.ENGINES"] = [
            {"ENGINE": name, "SUPPORT": "YES"} for name in ("ndbcluster", "InnoDB")
        ]
        self.tables["information_schema.FILES"] = [{"ENGINE": "InnoDB", "FILE_TYPE": "DATAFILE"}]
        self.hosts((1, "MGM", "mgm1"), (3, "NDB", "192.0.2.31"), (4, "NDB", "192.0.2.32"), (51, "API", ""))
        self.sql_nodes((51, "mysql://192.0.2.21:3307/?server-id=51"))

    def hosts(self, *nodes):
        """Let them be configured, as both data nodes tell."""
        columns = ("reporting_node_id", "node_id", "node_type", "node_hostname")
        rows = [dict(zip(columns, (by, *node), strict=True)) for by in (3, 4) for node in nodes]
        self.tables["config_nodes"] = rows

    def sql_nodes(self, *nodes):
        """Let them be connected."""
        columns = ("reporting_node_id", "node_id", "service_URI")
        rows = [dict(zip(columns, (by, *node), strict=True)) for by in (3, 4) for node in nodes]
        self.tables["processes"] = [*rows, dict(zip(columns, (3, 3, "ndb://192.0.2.31"), strict=True))]


def look(server, elsewhere=None, name="sql1", address="192.0.2.21", sources=()):
    """The plan of what is found."""
    place = plan.Place(name, address, REACH)
    return mysql.look(server, place, sources, elsewhere or (lambda place: OneServer(where=place)), TheRun())


def titles(services):
    return [service.title for service in services]


def option(host, title, key):
    (service,) = (one for one in host.services if one.title == title)
    return dict(service.options).get(key)


@pytest.mark.parametrize("flavour", ["MySQL", "MySQL 5.7", "MariaDB"])
def test_a_plain_server(flavour):
    found = look(OneServer(flavour))
    (host,) = found.hosts
    assert titles(host.services) == ["MySQL", *titles(mysql.OF_SERVER)]
    assert titles(host.inside) == ["MySQL process", "Host"]
    assert host.inside[1].options == (("data-dir", "/var/lib/mysql/"),)
    assert (host.name, host.address, host.reach) == ("sql1", "192.0.2.21", REACH)
    (backups,) = found.remarks
    assert backups.endswith("on the host that has them.")


def test_without_a_binary_log_a_backup_is_looked_at_without():
    server = OneServer()
    server.settings = {**SETTINGS, "log_bin": 0}
    assert look(server).remarks[0].endswith("with --no-binlog.")


def test_a_replica_asks_its_source_and_its_heartbeats():
    server = OneServer()
    server.channel()
    server.heartbeats = [("percona", "heartbeat"), ("odd name", "my`heartbeat")]
    found = look(server, sources=["db1:3306"])
    (host,) = found.hosts
    assert titles(host.services)[:2] == ["MySQL", "Replication lag"]
    assert option(host, "Replication lag", "source") == "db1:3306"
    assert option(host, "Replication lag", "heartbeat") == "percona.heartbeat"
    assert option(host, "Replication lag", "channel") is None
    assert option(host, "Replication lag", "not-replica") == "critical"
    assert any("percona.heartbeat, `odd name`.`my``heartbeat`" in one for one in found.remarks)


def test_a_source_that_nobody_has_named_is_not_asked():
    def elsewhere(place):
        raise AssertionError(place)

    server = OneServer()
    server.channel(Source_Host="203.0.113.7")
    found = look(server, elsewhere)
    assert option(found.hosts[0], "Replication lag", "source") is None
    where = "203.0.113.7:3306"
    assert f"The source {where} is not asked: if that is its address, give --source {where}." in found.remarks


def test_channels_are_services_of_their_own():
    server = OneServer()
    server.channel("east")
    server.channel("we.st", Source_Host="2001:db8::1")
    (host,) = look(server, sources=["[2001:db8::1]:3306"]).hosts
    assert titles(host.services)[1:3] == ["Replication lag of east", "Replication lag of we.st"]
    assert option(host, "Replication lag of we.st", "channel") == "we[.]st"
    assert option(host, "Replication lag of we.st", "source") == "[2001:db8::1]:3306"


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (UnreachableError("db1:3306 refused the connection"), "refused the connection"),
        ({"id": 1, "uuid": "another"}, "it is not the source db1:3306"),
        ({"id": 9, "uuid": ""}, "it is not the source db1:3306"),
    ],
)
def test_a_source_that_cannot_be_asked_is_not(source, why):
    def elsewhere(_):
        if isinstance(source, Exception):
            raise source
        there = OneServer(where="db1:3306")
        there.who = source
        return there

    server = OneServer()
    server.channel()
    found = look(server, elsewhere, sources=["db1:3306"])
    assert option(found.hosts[0], "Replication lag", "source") is None
    assert any(why in one for one in found.remarks)


def test_who_may_not_see_replication_is_told_so():
    server = OneServer()
    server.denied["SHOW REPLICA STATUS"] = "REPLICATION CLIENT"
    with pytest.raises(DeniedError, match="denied SHOW REPLICA STATUS"):
        look(server)


def test_a_server_that_falls_silent_is_no_server_with_less_to_watch():
    server = OneServer()
    server.failing["@@datadir"] = NoAnswerError("db2:3306 has not answered within 2 s")
    with pytest.raises(NoAnswerError):
        look(server)


def test_a_slow_search_for_heartbeats_costs_nothing_else():
    server = OneServer()
    server.channel()
    server.failing["information_schema.COLUMNS"] = NoAnswerError("db2:3306 has not answered within 2 s")
    found = look(server)
    assert "Replication lag" in titles(found.hosts[0].services)
    assert any("heartbeats is not known: db2:3306 has not answered" in one for one in found.remarks)


def test_services_that_plugins_declare_are_in_their_order():
    assert titles(mysql.OF_SERVER)[:4] == [
        "MySQL status", "MySQL stalls", "InnoDB redo log", "InnoDB buffer pool",
    ]  # fmt: skip
    assert titles(mysql.OF_CLUSTER)[:4] == ["NDB nodes", "NDB memory", "NDB redo buffer", "NDB transactions"]


def test_a_cluster_of_several_hosts():
    node = SqlNode()
    node.sql_nodes(
        (51, "mysql://192.0.2.21:3307/?server-id=51"),
        (52, "mysql://192.0.2.22/?server-id=52"),
        (53, "mysql://192.0.2.31:3308/"),
        (54, "mysql://192.0.2.32:3306/"),
        (55, "mysql://[2001:db8::1]:3306/"),
    )
    found = look(node)
    own, *others = found.hosts
    assert titles(own.services) == ["MySQL", *titles(mysql.OF_CLUSTER), *titles(mysql.OF_SERVER)]
    assert option(own, "NDB nodes", "unreachable") == "critical"
    hosts = {host.name: (host.address, titles(host.services), titles(host.inside)) for host in others}
    of_data_node = ["NDB log", "NDB process", "NDB host"]
    assert hosts == {
        "mgm1": ("mgm1", [], ["NDB cluster log"]),
        "192.0.2.31": ("192.0.2.31", [], of_data_node),
        "192.0.2.32": ("192.0.2.32", ["MySQL"], of_data_node),
        "192.0.2.22": ("192.0.2.22", ["MySQL"], []),
        "192.0.2.31-3308": ("192.0.2.31", ["MySQL"], []),
        "2001:db8::1": ("2001:db8::1", ["MySQL"], []),
    }
    reach = {host.name: host.reach for host in others}
    assert reach["192.0.2.31-3308"] == (("port", "3308"), REACH[1])
    assert reach["192.0.2.32"] == (("port", "3306"), REACH[1])
    assert not reach["mgm1"]


def test_a_cluster_on_one_host():
    node = SqlNode()
    node.hosts((1, "MGM", "localhost"), (3, "NDB", "127.0.0.1"), (4, "NDB", "sql1"), (51, "API", ""))
    node.sql_nodes((51, "mysql://127.0.0.1:3307/"), (52, "mysql://127.0.0.1:3308/"))
    own, other = look(node).hosts
    assert titles(own.inside).count("NDB cluster log") == 1
    assert (other.name, other.address, titles(other.services)) == ("sql1-3308", "192.0.2.21", ["MySQL"])
    for written in (icinga2.written(look(node)), nagios.written(look(node))):
        assert "data node" in written


def test_tables_on_disk_have_a_page_buffer():
    node = SqlNode()
    node.tables["information_schema.FILES"] = [{"ENGINE": "ndbcluster", "FILE_TYPE": "DATAFILE"}]
    assert "NDB page buffer" in titles(look(node).hosts[0].services)
    node.denied = {"information_schema.FILES"}
    found = look(node)
    assert "NDB page buffer" in titles(found.hosts[0].services)  # who is not allowed to know looks
    assert any("(needs PROCESS)" in one for one in found.remarks)


def test_hosts_with_hostile_names_are_left_out():
    node = SqlNode()
    node.hosts((3, "NDB", '"; object Host "x" {}'), (4, "NDB", "192.0.2.32"))
    node.sql_nodes((52, "mysql://$(reboot):3306/"), (53, "mysql:"), (54, None))
    found = look(node)
    assert [host.name for host in found.hosts] == ["sql1", "192.0.2.32"]
    assert len([one for one in found.remarks if "node" in one]) == 3


@pytest.mark.parametrize(("engine", "sign"), [(icinga2, "//"), (nagios, "#")])
def test_what_only_the_server_names_is_no_active_check(engine, sign):
    """Neither another host or port, of SQL nodes and of data nodes, nor a path."""
    node = SqlNode()
    node.hosts((3, "NDB", "data.example"), (1, "MGM", "mgm.example"))
    nodes = ((52, "evil.example:3306"), (53, "evil.example:99999"), (54, "127.0.0.1:31"))
    node.sql_nodes(*((number, f"mysql://{place}/") for number, place in nodes))
    node.variables, node.local = {"log_bin": 1, "datadir": "/planted"}, True
    lines = engine.written(look(node)).splitlines()
    active = "\n".join(line for line in lines if not line.startswith(sign))
    for planted in ("example", "-31", '"31"', "!31", "99999", "/planted"):
        assert planted not in active
    comments = [line for line in lines if line.startswith(sign)]
    assert f"{sign} {sign} SQL node 52" in comments
    assert any("names no host and port" in line for line in comments)
    for who in ("processes", "config_nodes"):
        sentence = f"{sign} Only ndbinfo.{who} of {node.where} names this: uncomment it if it is yours. "
        assert any(line.startswith(sentence) for line in comments)


def test_who_may_not_read_ndbinfo_is_told_the_whole_grant():
    node = SqlNode()
    node.denied = {"config_nodes"}
    with pytest.raises(DeniedError) as raised:
        look(node)
    assert raised.value.advice == "GRANT SELECT ON ndbinfo.* TO 'mon'@'%'"


def test_a_cluster_that_is_down_is_no_cluster_without_nodes():
    node = SqlNode()
    node.hosts()
    node.columns["config_nodes"] = ["reporting_node_id", "node_id", "node_type", "node_hostname"]
    node.status["Ndb_number_of_ready_data_nodes"] = 0
    with pytest.raises(ClusterDownError):
        look(node)
