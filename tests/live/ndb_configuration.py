"""The configuration of the tests' MySQL NDB Cluster: small, and quick to start."""

MANAGEMENT = 1
DATA_NODES = (3, 4)
SQL_NODES = (51, 52)
API_NODE = 53

SETTINGS = {
    "NoOfReplicas": 2,
    "DataMemory": "80M",
    "SharedGlobalMemory": "32M",
    "DiskPageBufferMemory": "4M",
    "RedoBuffer": "1M",
    "NoOfFragmentLogFiles": 8,
    "FragmentLogFileSize": "16M",
    "NoOfFragmentLogParts": 4,
    "InitFragmentLogFiles": "sparse",
    "ODirect": 1,
    "MaxNoOfConcurrentOperations": 32768,
    "MaxNoOfTables": 128,
    "MaxNoOfAttributes": 1000,
    "MaxNoOfOrderedIndexes": 128,
    "MaxNoOfExecutionThreads": 4,
    "TimeBetweenWatchDogCheck": 6000,  # the default: a thread is given up after three times that
    "StopOnError": 0,  # the angel starts the node again
}


def host_of(node, *, apart):
    """The address of a node on loopback: of its own if they are apart, so that links can be cut."""
    return f"127.0.1.{node}" if apart else "127.0.0.1"


def configuration(folder, port, settings, *, apart=False):
    """The text of config.ini: every node on this host, its files in a folder of its own below this one."""

    def here(node):
        return f"HostName={host_of(node, apart=apart)}"

    lines = ["[ndbd default]", *(f"{name}={value}" for name, value in settings.items())]
    lines += ["[ndb_mgmd]", f"NodeId={MANAGEMENT}", here(MANAGEMENT), f"DataDir={folder}/{MANAGEMENT}"]
    lines += [f"PortNumber={port}"]
    for node in DATA_NODES:
        lines += ["[ndbd]", f"NodeId={node}", here(node), f"DataDir={folder}/{node}"]
    for node in SQL_NODES:
        lines += ["[mysqld]", f"NodeId={node}", here(node)]
    lines += ["[api]", f"NodeId={API_NODE}", here(MANAGEMENT)]
    return "\n".join(lines) + "\n"
