"""A real Apache Cassandra of one node, in a folder of its own, listening on loopback.

    with Cassandra(folder, concurrent_writes=2) as cassandra:
        cassandra.write(10000)
        print(cassandra.port)

By hand: .venv/bin/python tests/live/cassandra.py [--password] runs until it is interrupted, and prints its
ports as a line of JSON.
"""

import argparse
import json
import os
import tempfile

import java_software
from cql import Connection
from java_server import JavaServer, agent_properties, keep_running, system_properties
from loopback import free_port, listens

VERSION = "5.0.4"
JAVA = 17  # the newest that it starts with
HEAP = ("-Xms256m", "-Xmx256m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
# By leaving them out one by one; with fewer it does not start.
OPENED = (
    "--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED",
    "--add-exports=java.management/com.sun.jmx.remote.security=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
)
LOGGING = """<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %date %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
"""
SCHEMA = (
    "CREATE KEYSPACE IF NOT EXISTS tests WITH replication = "
    + str({"class": "SimpleStrategy", "replication_factor": 1}),
    "CREATE TABLE IF NOT EXISTS tests.pairs (key int PRIMARY KEY, value text)",
)
INSERT = "INSERT INTO tests.pairs (key, value) VALUES (%d, '%s')"


class Cassandra(JavaServer):
    """A Cassandra; settings of cassandra.yaml may be added or changed.

    JMX is what Cassandra calls local: on 127.0.0.1, RMI on any port; a remote one would listen everywhere.
    """

    boot = 300  # it takes 10 on an idle machine

    def __init__(self, folder, *, password=False, **settings):
        super().__init__(folder, password=password)
        self.java = java_software.java(JAVA)
        self.jars = java_software.jars("org.apache.cassandra", "cassandra-all", VERSION)
        self.port = free_port()
        self.cql_port = free_port()
        self.storage_port = free_port()
        self.settings = settings

    def command(self):
        """How it is called; its configuration is written, too."""
        for name, text in (("cassandra.yaml", self._configuration()), ("logback.xml", LOGGING)):
            with open(self.path(name), "w") as file:
                file.write(text)
        system = {
            "cassandra.config": f"file://{self.path('cassandra.yaml')}",
            "logback.configurationFile": f"file://{self.path('logback.xml')}",
            "cassandra.storagedir": self.path("data"),
            "cassandra.jmx.local.port": self.port,
            "cassandra.skip_wait_for_gossip_to_settle": 0,
            "cassandra.ring_delay_ms": 1,
            "cassandra.superuser_setup_delay_ms": 1,
            "java.io.tmpdir": self.folder,  # lz4 leaves its library there when it is killed
        }
        options = [*HEAP, *OPENED, *system_properties(system), *agent_properties(self.authentication())]
        daemon = "org.apache.cassandra.service.CassandraDaemon"
        return [self.java, *options, "-cp", os.path.join(self.jars, "*"), daemon]

    def _configuration(self):
        """The text of cassandra.yaml: JSON is YAML."""
        seeds = {
            "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
            "parameters": [{"seeds": f"127.0.0.1:{self.storage_port}"}],
        }
        settings = {
            "cluster_name": "tests",
            "num_tokens": 1,
            "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
            "data_file_directories": [self.path("data", "data")],
            "commitlog_directory": self.path("data", "commitlog"),
            "saved_caches_directory": self.path("data", "saved_caches"),
            "hints_directory": self.path("data", "hints"),
            "cdc_raw_directory": self.path("data", "cdc_raw"),
            "commitlog_sync": "periodic",
            "commitlog_sync_period": "10000ms",
            "commitlog_segment_size": "4MiB",
            "seed_provider": [seeds],
            "listen_address": "127.0.0.1",
            "storage_port": self.storage_port,
            "rpc_address": "127.0.0.1",
            "start_native_transport": True,
            "native_transport_port": self.cql_port,
            "endpoint_snitch": "SimpleSnitch",
        }
        return json.dumps(settings | self.settings, indent=1)

    def start(self):
        """Start it; when it has read and written for the first time, it has all its thread pools."""
        super().start()
        try:
            self.write(1)
            self.execute("SELECT * FROM tests.pairs")
        except BaseException:
            self.stop()
            raise

    def is_ready(self):
        """Whether it has said the last of what it says when it starts, and takes CQL requests."""
        return self.logged("Prewarming of auth caches is disabled") and listens(self.cql_port)

    # load

    def execute(self, *statements):
        """Let it do these CQL statements."""
        with Connection(self.cql_port) as connection:
            connection.execute(*statements)

    def write(self, rows, size=10, *, traced=False):
        """Write so many rows (32767 at most) of so many bytes, all at once.

        Traced, it writes down what it did for each of them: its TracingStage then turns tasks away, which it
        counts as blocked, as no other pool of Cassandra 5.0 does for a client. Returns how often there was
        which error, see cql.CqlError.
        """
        rows = [(row, "x" * size) for row in range(rows)]
        with Connection(self.cql_port) as connection:
            connection.execute(*SCHEMA)
            return connection.flood([INSERT % row for row in rows], traced=traced)


def main():
    """Run one in the foreground."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--password", action="store_true", help="ask for a password")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cassandra-") as folder:
        keep_running(Cassandra(folder, password=options.password))


if __name__ == "__main__":
    main()
