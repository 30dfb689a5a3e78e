"""What a case of NDB Cluster is played on: a cluster, who writes, and hands to make trouble with."""

import contextlib
import threading
import time

import places  # noqa: F401 - it says where the rest is

# isort: split
import ndb_load
import own_network
from ndb_configuration import host_of
from software import Missing

SETTLES = 90.0  # seconds in which what is waited for comes
ROWS = 1000  # of the table that is written to


class Scene:
    """A case sets it up and makes trouble on it.

    cluster  the NdbCluster
    nodes    those that have the fault, if the case does not know that before
    options  more options, by check
    errors   numbers of the errors that those who write were given
    kept     what is given back at the end of the trial
    """

    def __init__(self, cluster, no_network):
        self.cluster = cluster
        self.sql_node = cluster.sql_node
        self.no_network = no_network
        self.nodes = None
        self.options = {}
        self.errors = []
        self.note = print  # notes that something happens now: "evident"
        self.kept = contextlib.ExitStack()

    def load(self, every, writers=1):
        """Have rows of 1 KB written from now on, every so many seconds; None: none is."""
        if every is None:
            return
        with self.sql_node.session() as sql:
            sql("CREATE DATABASE IF NOT EXISTS lab")
            sql("CREATE TABLE IF NOT EXISTS lab.beat (id INT PRIMARY KEY, data VARCHAR(1000)) "
                "CHARSET latin1 ENGINE NDB")  # fmt: skip

        def write(sql, number):
            row = time.monotonic_ns() // 1000 % ROWS
            sql(f"REPLACE INTO lab.beat VALUES ({row}, REPEAT('{number}', 1000))")
            time.sleep(every)

        self.kept.enter_context(self.under(ndb_load.statements(self.sql_node, writers, write)))

    @contextlib.contextmanager
    def under(self, load):
        """Meanwhile there is a load of ndb_load.py; its errors are kept."""
        with load as errors:
            self.errors = errors
            yield

    def cut(self, first, second):
        """A context in which the link between two nodes swallows everything."""
        if self.no_network:
            raise Missing(self.no_network)
        return own_network.cut(host_of(first, apart=True), host_of(second, apart=True))

    @contextlib.contextmanager
    def meanwhile(self, work):
        """Do something beside what goes on; wait for its end when it is left."""
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            thread.join()

    def wait_for(self, true, seconds=SETTLES):
        """Wait until something is true."""
        until = time.monotonic() + seconds
        while not true():
            if time.monotonic() > until:
                raise TimeoutError("what was to be waited for did not come")
            time.sleep(0.2)
