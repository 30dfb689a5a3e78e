"""Why a data node ends: the exit codes of NDB 9.7.2 (ndbd_exit_codes.c), and what to do about each."""

from __future__ import annotations

# What NDB itself says of each class: temporary errors go away with a restart, permanent ones need a hand, and
# an inconsistent file system is made anew from the other nodes by --initial.
_INITIAL = ", only while another node of its group is up"  # it takes all data from there
_ADVICE = {
    "arbitration": "look at the network and at the errors on the other nodes, then restart the node",
    "configuration": "correct the configuration, then restart the node",
    "filesystem full": "free space in the data directory, then restart the node",
    "filesystem inconsistent": "check the disk, then restart the node with --initial" + _INITIAL,
    "filesystem limit": "look at the limits of its file system, then restart the node with --initial"
    + _INITIAL,
    "internal": "read its error log and keep its trace files for a bug report, then restart the node",
    "none": "read its error log, then restart the node",
    "resource": "raise the parameter that the error names, then restart the node",
    "restart": "look at the errors on the other nodes, then restart the node",
}

# Codes that an operator meets, and whose class does not say enough.
_SPECIAL = {
    2303: "another node ended it: look at the errors on the other nodes, then restart the node",
    2305: "look at the network, and for a node that stood still, then restart the node",
    2315: "look for a paused VM, swapping, network trouble, then restart the node",
    2334: "lower the load, and look for a stuck thread before it, then restart the node",
    6000: "look in dmesg and the error log for what ended it, then restart the node",
    6050: "look for swapping, VM steal, CPU quota, blocked I/O on this machine, then restart the node",
    7200: "a local checkpoint stood still: look at the disk, then restart the node",
    7400: "look at the API node that did not go away, then restart the node",
}

_CODES = {
    2300: ("restart", "Generic error"),
    2301: ("internal", "Assertion"),
    2302: ("configuration", "node id in the configuration has the wrong type, (i.e. not an NDB node)"),
    2303: ("internal", "System error, node killed during node restart by other node"),
    2304: ("internal", "Array index out of range"),
    2305: (
        "arbitration",
        (
            "Node lost connection to other nodes and can not form a unpartitioned cluster, please "
            "investigate if there are error(s) on other node(s)"
        ),
    ),
    2306: ("internal", "Pointer too large"),
    2307: ("arbitration", "Partitioned cluster detected. Please check if cluster is already running"),
    2308: (
        "restart",
        "Another node failed during system restart, please investigate error(s) on other node(s)",
    ),
    2309: ("restart", "Internal node state conflict, most probably resolved by restarting node again"),
    2310: ("filesystem inconsistent", "Error while reading the REDO log"),
    2311: ("restart", "Partial system restart causing conflicting file systems"),
    2312: ("resource", "No more free UNDO log, increase UndoIndexBuffer"),
    2313: ("filesystem inconsistent", "Error while reading the datapages and UNDO log"),
    2314: ("restart", "Data node is not allowed to get added to the cluster while it is in single user mode"),
    2315: ("arbitration", "Node declared dead. See error log for details"),
    2316: ("filesystem inconsistent", "Error while reading the schema file"),
    2327: ("configuration", "Memory allocation failure, please decrease some configuration parameters"),
    2334: ("internal", "Job buffer congestion"),
    2335: ("internal", "Error in short time queue"),
    2336: ("internal", "Error in long time queue"),
    2337: ("internal", "Error in time queue, too long delay"),
    2338: ("internal", "Time queue index out of range"),
    2339: ("internal", "Send signal error"),
    2340: ("internal", "Wrong priority level when sending signal"),
    2341: ("internal", "Internal program error (failed ndbrequire)"),
    2342: ("none", "Error insert executed"),
    2343: ("internal", "Internal program error (failed ndbassert)"),
    2344: ("internal", "Error in zero time queue"),
    2350: ("configuration", "Invalid configuration received from Management Server"),
    2351: ("resource", "Signal lost, out of long signal memory, please increase LongMessageBuffer"),
    2352: ("filesystem inconsistent", "Invalid LCP"),
    2353: ("restart", "Insufficent nodes for system restart"),
    2354: (
        "resource",
        "Fatal error due to end of REDO log. Increase NoOfFragmentLogFiles or FragmentLogFileSize",
    ),
    2355: ("resource", "Failure to restore schema"),
    2500: ("configuration", "Resource allocation error, please review the configuration"),
    2801: ("internal", "No file system path"),
    2804: ("internal", "Bad parameter"),
    2805: ("configuration", "Illegal file system path"),
    2806: ("resource", "Max number of open files exceeded, please increase MaxNoOfOpenFiles"),
    2807: ("internal", "File has already been opened"),
    2808: ("internal", "Environment error using file"),
    2809: ("internal", "Temporary error on access to file"),
    2810: ("filesystem full", "The file system is full"),
    2811: ("configuration", "Received permission denied for file"),
    2812: ("configuration", "Invalid parameter for file"),
    2813: ("internal", "Unknown file system error"),
    2814: ("internal", "System reports no more file system resources"),
    2815: ("filesystem inconsistent", "File not found"),
    2816: ("filesystem inconsistent", "Read underflow"),
    2817: ("internal", "Zlib init failure, please check the zlib version"),
    6000: ("internal", "Error OS signal received"),
    6050: (
        "internal",
        "WatchDog terminate, internal error or massive overload on the machine running this node",
    ),
    6051: ("internal", "Signal lost (unknown reason)"),
    6052: (
        "resource",
        "Signal lost, out of send buffer memory, please increase SendBufferMemory or lower the load",
    ),
    6053: ("internal", "Illegal signal (version mismatch a possibility)"),
    6054: ("configuration", "Connection setup failed"),
    6100: (
        "configuration",
        (
            "Total restart time too long, consider increasing StartFailureTimeout or investigate "
            "error(s) on other node(s)"
        ),
    ),
    6101: (
        "restart",
        (
            "Node started while node shutdown in progress. Please wait until shutdown complete "
            "before starting node"
        ),
    ),
    6102: (
        "restart",
        (
            "Node upgrade requires initial restart to rebuild filesystem. Please retry with "
            "--initial or reconsider"
        ),
    ),
    6103: (
        "restart",
        (
            "Unable to read secrets file using the provided filesystem password. To define a new "
            "password retry with --initial"
        ),
    ),
    6104: (
        "restart",
        "File system encrypted but EncryptedFileSystem option not set in data node configuration",
    ),
    6105: ("restart", "Invalid secrets file"),
    6106: ("restart", "Secrets file is missing"),
    6300: ("filesystem limit", "Too many crashed replicas (8 consecutive node restart failures)"),
    6301: ("restart", "Unhandled master failure during node restart"),
    6302: ("arbitration", "All nodes in a node group are unavailable"),
    6303: ("filesystem inconsistent", "Unable to find a restorable replica"),
    6304: ("restart", "Unsupported version"),
    6305: ("none", "Graceful shutdown not 100% possible due to mixed ndbd versions"),
    6600: ("resource", "Out of index memory during system restart, please increase DataMemory"),
    6800: ("resource", "Out of data memory during system restart, please increase DataMemory"),
    7200: ("internal", "LCP fragment scan watchdog detected a problem. Please report a bug"),
    7400: (
        "internal",
        "Timeout handling Api failure. Please check ApiFailureHandlingTimeout config or report a bug",
    ),
}


def text(code: int) -> str:
    """Say what an exit code means; empty for a code that is not known."""
    return _CODES.get(code, ("", ""))[1]


def advice(code: int) -> str:
    """Say what to do after a node ended with this code: what to look at, then how to restart it."""
    kind = _CODES.get(code, ("none", ""))[0]
    return _SPECIAL.get(code, _ADVICE[kind])
