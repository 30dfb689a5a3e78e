"""Servers with pools of their own kind, from Tomcat to a Cassandra of old, and JVMs with any collector.

with Tomcat(folder, 3) as tomcat:
    tomcat.request(tomcat.ports[0], 5)
    print(tomcat.port)
"""

import json
import os
import socket
import struct
import subprocess

import java_software
import software
from java_server import JavaServer, agent_properties, system_properties
from loopback import free_port, listens

HERE = os.path.dirname(os.path.abspath(__file__))
H2 = ("com.h2database", "h2", "2.3.232")
SHARED = (os.path.join(HERE, "jmx_pools", "Borrower.java"),)  # what several of our servers use
SMALL = ("-Xms32m", "-Xmx256m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class PoolServer(JavaServer):
    """A server that runs a class of some artifacts of Maven, with JMX on loopback."""

    artifacts = ()
    main = ""
    memory = SMALL

    def __init__(self, folder, *arguments):
        super().__init__(folder, password=False)
        self.java = java_software.tool("java")
        self.jars = [java_software.jars(*artifact) for artifact in self.artifacts]
        self.arguments = arguments
        self.port = free_port()
        self.clients = []

    def command(self):
        """How it is called."""
        agent = self.authentication() | {"host": self.host, "port": self.port, "ssl": False}
        options = [*self.memory, *agent_properties(agent), *system_properties(self.properties())]
        return [self.java, *options, "-cp", self.class_path(), self.main, *map(str, self.arguments)]

    def properties(self):
        """Java's system properties."""
        return {"java.rmi.server.hostname": self.host}

    def class_path(self):
        """Where its classes are."""
        return os.pathsep.join(os.path.join(folder, "*") for folder in self.jars)

    def stop(self):
        """End it at once, and its clients."""
        for connection in self.clients:
            connection.close()
        super().stop()


class OwnServer(PoolServer):
    """A server that a source in jmx_pools makes of them, and that says when it is ready."""

    release = ()  # for javac: the Java that is to run it

    def class_path(self):
        """Where its classes are, compiled where they are not yet."""
        sources = os.path.join(HERE, "jmx_pools")
        source = os.path.join(sources, f"{self.main}.java")
        jars = super().class_path()
        lint = "-Xlint:all,-processing,-serial,-try"

        def compile_into(folder):
            call = [
                java_software.tool("javac"),
                *self.release,
                lint,
                "-Werror",
                "-cp",
                jars,
                "-sourcepath",
                sources,
                "-d",
                folder,
                source,
            ]
            subprocess.run(call, check=True)

        own = software.kept(f"{self.main}-{software.digest(source, *SHARED)}", compile_into)
        return os.pathsep.join((own, jars))

    def is_ready(self):
        """Whether it says so."""
        return bool(self.logged("^ready"))

    @property
    def ports(self):
        """Where it takes HTTP requests."""
        return [int(port) for port in self.logged("^ready (.*)")[0].split()]

    def request(self, port, number, path="/"):
        """Send so many HTTP requests at once, none of which is answered soon."""
        for _ in range(number):
            connection = socket.create_connection((self.host, port), timeout=5)
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: tests\r\n\r\n".encode())
            self.clients.append(connection)


class Tomcat(OwnServer):
    """A Tomcat, see TomcatPools.java."""

    artifacts = (
        ("org.apache.tomcat.embed", "tomcat-embed-core", "10.1.34"),
        ("org.apache.tomcat", "tomcat-dbcp", "10.1.34"),
        ("org.apache.tomcat", "tomcat-jdbc", "10.1.34"),
        H2,
    )
    main = "TomcatPools"


class Jetty(OwnServer):
    """A Jetty, see JettyPools.java."""

    artifacts = (
        ("org.eclipse.jetty", "jetty-server", "12.0.16"),
        ("org.eclipse.jetty", "jetty-jmx", "12.0.16"),
        ("io.dropwizard.metrics", "metrics-jetty12", "4.2.39"),  # behind, as a newer Jetty is with it
    )
    main = "JettyPools"


class ConnectionPools(OwnServer):
    """HikariCP and DBCP, see ConnectionPools.java."""

    artifacts = (("com.zaxxer", "HikariCP", "6.2.1"), ("org.apache.commons", "commons-dbcp2", "2.13.0"), H2)
    main = "ConnectionPools"


class LentPools(OwnServer):
    """c3p0, Druid and Vibur, see LentPools.java."""

    artifacts = (
        ("com.mchange", "c3p0", "0.9.5.5"),
        ("com.alibaba", "druid", "1.2.24"),
        ("org.vibur", "vibur-dbcp", "26.0"),
        H2,
    )
    main = "LentPools"


class TaskPools(OwnServer):
    """JBoss Threads, Camel, Hazelcast and Undertow, see TaskPools.java."""

    artifacts = (
        ("io.undertow", "undertow-core", "2.3.21.Final"),
        ("org.apache.camel", "camel-core-engine", "4.8.3"),
        ("org.apache.camel", "camel-core-languages", "4.8.3"),
        ("org.apache.camel", "camel-management", "4.8.3"),
        ("com.hazelcast", "hazelcast", "5.5.0"),
    )
    main = "TaskPools"

    def properties(self):
        """Java's system properties."""
        return super().properties() | {"jboss.threads.eqe.statistics": True}


class Infinispan(OwnServer):
    """An Infinispan, see InfinispanPools.java."""

    artifacts = (
        ("org.infinispan", "infinispan-core", "15.0.11.Final"),
        ("org.infinispan", "infinispan-component-annotations", "15.0.11.Final"),  # for javac alone
    )
    main = "InfinispanPools"

    def properties(self):
        """Java's system properties."""
        return super().properties() | {"jboss.threads.eqe.statistics": True}


class ActiveMq(OwnServer):
    """An ActiveMQ, see ActiveMqBroker.java."""

    artifacts = (("org.apache.activemq", "activemq-broker", "5.18.6"),)
    main = "ActiveMqBroker"


class Artemis(OwnServer):
    """An Artemis, see ArtemisBroker.java."""

    artifacts = (("org.apache.activemq", "artemis-server", "2.37.0"),)
    main = "ArtemisBroker"


class Database(PoolServer):
    """H2 on a port of its own, which the pool of an Application lends connections to."""

    artifacts = (H2,)
    main = "org.h2.tools.Server"

    def __init__(self, folder):
        self.sql_port = free_port()
        super().__init__(folder, "-tcp", "-tcpPort", self.sql_port, "-ifNotExists")

    def is_ready(self):
        """Whether it takes connections."""
        return listens(self.sql_port)


class Application(OwnServer):
    """One that does what it is told, see Application.java."""

    artifacts = (
        ("com.zaxxer", "HikariCP", "6.2.1"),
        ("org.jboss.threads", "jboss-threads", "3.7.0.Final"),
        H2,
    )
    main = "Application"

    def __init__(self, folder, sql_port):
        super().__init__(folder, f"jdbc:h2:tcp://127.0.0.1:{sql_port}/mem:tests;DB_CLOSE_DELAY=-1")

    def properties(self):
        """Java's system properties. HikariCP does not know H2's error for a broken connection."""
        settings = {"com.zaxxer.hikari.aliveBypassWindowMs": 0, "jboss.threads.eqe.statistics": True}
        return super().properties() | settings

    def tell(self, *words):
        """Let it do something: tell("work", 4, 100, 50)."""
        with socket.create_connection((self.host, self.ports[0]), timeout=30) as control:
            control.sendall(f"{' '.join(map(str, words))}\n".encode())
            if control.makefile().readline() != "done\n":
                raise ValueError(words)


class Garbage(OwnServer):
    """A JVM that makes garbage, see Garbage.java, with this collector: "-XX:+UseZGC"."""

    main = "Garbage"
    release = ("--release", "11")

    def __init__(self, folder, version, collector, live, rate):
        super().__init__(folder, live, rate)
        self.java = java_software.java(version)
        self.memory = ("-Xms256m", "-Xmx256m", *collector)
        self.safepoints = self.path("safepoints")
        self.memory += (f"-Xlog:safepoint:file={self.safepoints}:uptime",)


class Pinned(OwnServer):
    """A JVM with two carriers, both pinned, and virtual threads that wait for one, see Pinned.java."""

    main = "Pinned"

    def __init__(self, folder, waiting):
        super().__init__(folder, waiting)
        self.java = java_software.java(25)

    def properties(self):
        """Java's system properties."""
        scheduler = {"parallelism": 2, "maxPoolSize": 2}
        return super().properties() | {
            f"jdk.virtualThreadScheduler.{name}": of for name, of in scheduler.items()
        }


class Kafka(PoolServer):
    """A Kafka that is broker and controller in one; with ``of``, another broker of its cluster."""

    artifacts = (("org.apache.kafka", "kafka_2.13", "3.9.0"),)
    main = "kafka.Kafka"

    def __init__(self, folder, of=None):
        super().__init__(folder, os.path.join(folder, "server.properties"))
        self.broker_port = free_port()
        self.of = of
        self.controller_port = of.controller_port if of else free_port()

    @property
    def broker(self):
        """Where clients find it."""
        return f"{self.host}:{self.broker_port}"

    def start(self):
        """Start it, on a log directory that it has formatted."""
        os.makedirs(self.folder, exist_ok=True)
        listener, controls = f"PLAINTEXT://{self.broker}", f"CONTROLLER://127.0.0.1:{self.controller_port}"
        settings = {
            "process.roles": "broker" if self.of else "broker,controller",
            "node.id": 2 if self.of else 1,
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller_port}",
            "listeners": listener if self.of else f"{listener},{controls}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": self.path("logs"),
            "num.io.threads": 2,
            "num.network.threads": 1,
        }
        with open(self.arguments[0], "w") as file:
            file.writelines(f"{name}={value}\n" for name, value in settings.items())
        format_it = ["kafka.tools.StorageTool", "format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", file.name]
        subprocess.run(
            [self.java, *SMALL, "-cp", self.class_path(), *format_it], check=True, capture_output=True
        )
        super().start()

    def is_ready(self):
        """Whether it takes requests."""
        return listens(self.broker_port)


class KafkaLoad(OwnServer):
    """A client of a Kafka that makes topics, and writes to the first of them; see KafkaLoad.java."""

    artifacts = Kafka.artifacts
    main = "KafkaLoad"


class OldCassandra(PoolServer):
    """A Cassandra 1.2. It has 1 MiB for memtables, one thread to flush them, and room for one more flush."""

    artifacts = (("org.apache.cassandra", "cassandra-all", "1.2.19"),)
    main = "org.apache.cassandra.service.CassandraDaemon"

    def __init__(self, folder):
        super().__init__(folder)
        self.java = java_software.java(11)  # made for 6 and 7, it does not start with 17
        self.cql_port = free_port()

    def properties(self):
        """Java's system properties; its configuration is written, too: JSON is YAML."""
        with open(self.path("cassandra.yaml"), "w") as file:
            json.dump(self._configuration(), file)
        configured = {"cassandra.config": f"file://{file.name}", "cassandra-foreground": "yes"}
        return super().properties() | configured

    def _configuration(self):
        seeds = {
            "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
            "parameters": [{"seeds": "127.0.0.1"}],
        }
        return {
            "cluster_name": "tests",
            "initial_token": 0,
            "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            "data_file_directories": [self.path("data")],
            "commitlog_directory": self.path("commitlog"),
            "saved_caches_directory": self.path("saved_caches"),
            "commitlog_sync": "periodic",
            "commitlog_sync_period_in_ms": 10000,
            "disk_access_mode": "standard",  # what it has mapped it lets go of in a way that Java 11 has not
            "seed_provider": [seeds],
            "listen_address": "127.0.0.1",
            "storage_port": free_port(),
            "rpc_address": "127.0.0.1",
            "start_rpc": False,
            "start_native_transport": True,
            "native_transport_port": self.cql_port,
            "endpoint_snitch": "SimpleSnitch",
            "memtable_total_space_in_mb": 1,
            "memtable_flush_writers": 1,
            "memtable_flush_queue_size": 1,
        }

    def is_ready(self):
        """Whether it takes CQL requests."""
        return listens(self.cql_port)

    def execute(self, *statements):
        """Let it do these CQL statements, in the native protocol's version 1."""
        startup = 1, struct.pack(">HH11sH5s", 1, 11, b"CQL_VERSION", 5, b"3.0.0")
        with (
            socket.create_connection((self.host, self.cql_port), timeout=30) as connection,
            connection.makefile("rb") as answers,
        ):
            for operation, body in (startup, *map(_query, statements)):
                connection.sendall(struct.pack(">BBbBI", 1, 0, 0, operation, len(body)) + body)
                *_, answer, length = struct.unpack(">BBbBI", answers.read(8))
                said = answers.read(length)
                assert answer != 0, said  # 0 is an error


def _query(statement):
    text = statement.encode()
    return 7, struct.pack(">I", len(text)) + text + struct.pack(">H", 1)
