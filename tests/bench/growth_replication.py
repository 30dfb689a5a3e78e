"""What does check_replication_lag cost, from 1 channel to 64? MariaDB with a source for each, all real.

A source is shared by the replicas, each of which has more channels than the one before. Two channels of one
replica cannot share a source: it ends the first when the second logs in with the same server_id.
"""

import concurrent.futures
import contextlib
import time

from growth_limits import flat, linear
from measured import ROUNDS, Bench, ours
from pairs import version

# isort: split
from mariadb import Mariadb
from replication_pair import GRANTS, REPLICATION

CHANNELS = (1, 2, 4, 8, 16, 32, 64)
AT_ONCE = 4  # servers that start together
SMALL = {"innodb_buffer_pool_size": "8M", "key_buffer_size": "1M"}
TIMEOUT = 120  # seconds until all channels run


def main():
    """Measure one replica of each size, all running at once."""
    with Bench("growth_replication") as bench, contextlib.ExitStack() as running:
        sources = _started(running, bench, "source", range(1, max(CHANNELS) + 1))
        replicas = _started(running, bench, "replica", [1000 + count for count in CHANNELS])
        bench.software["MariaDB"] = version(sources[0])
        commands = {}
        for count, replica in zip(CHANNELS, replicas, strict=True):
            for source in sources[:count]:
                _follow(replica, source)
            _wait(replica)
            account = replica.account("mon", *GRANTS["mariadb"])
            commands[count] = ours("check_replication_lag", "-S", replica.socket, "-u", *_login(account))
        found = {"check_replication_lag": bench.compare("check_replication_lag", commands, ROUNDS)}
        linear(bench, found)
        flat(bench, found, "memory")


def _login(account):
    return (account.user, "-p", account.password)


def _started(running, bench, name, numbers):
    """Start servers with these ids."""
    servers = [
        Mariadb(bench.path(f"{name}{number}"), number, gtid_domain_id=number, **SMALL) for number in numbers
    ]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(running.enter_context, servers))
    for server in servers if name == "source" else ():
        server.account(REPLICATION.user, "REPLICATION SLAVE")
    return servers


def _follow(replica, source):
    channel = f"source{source.number}"
    replica.follow(channel, source.port, REPLICATION)
    replica.start_replication(channel)


def _wait(replica):
    """Until every channel runs."""
    until = time.monotonic() + TIMEOUT
    while not all(
        (row["Replica_IO_Running"], row["Replica_SQL_Running"]) == ("Yes", "Yes")
        for row in replica.channels().values()
    ):
        if time.monotonic() > until:
            raise TimeoutError(f"not all channels run: {replica.channels()}")
        time.sleep(0.5)


if __name__ == "__main__":
    main()
