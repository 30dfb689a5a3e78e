"""Why a data node ends: the exit codes of NDB 9.7.2 (ndbd_exit_codes.c), and what to do about each."""

from __future__ import annotations

import re

from stallwatch.known import Known

# What NDB prints for each class: temporary errors go away with a restart, permanent ones need a hand, and
# an inconsistent file system is made anew from the other nodes by --initial.
_INITIAL = "restart with --initial if its group is up"  # it takes all data from there
_ADVICE = {
    "arbitration": "check the network and the errors of the other nodes, then restart the node",
    "configuration": "correct the configuration, then restart the node",
    "filesystem full": "free space in the data directory, then restart the node",
    "filesystem inconsistent": f"check the disk, {_INITIAL}",
    "filesystem limit": f"check its disk, {_INITIAL}",
    "internal": "read its error log and keep its trace files for a bug report, then restart the node",
    "none": "read its error log, then restart the node",
    "resource": "raise the parameter that the error names, then restart the node",
    "restart": "check the errors of the other nodes, then restart the node",
}

# Codes that an operator meets: in a few words, and what to do, where their class does not explain enough.
_KNOWN = {
    2303: Known("another node ended it", "check the errors of the other nodes, then restart the node"),
    2305: Known("it lost the other nodes", "check the network and the other nodes, then restart the node"),
    2308: Known("another node failed"),
    2310: Known("its redo log cannot be read"),
    2315: Known("declared dead", "check for a paused VM, swapping, network trouble, then restart the node"),
    2327: Known("not enough memory", "lower DataMemory, or free memory, then restart the node"),
    2334: Known("", "lower the load, and look for a stuck thread before it, then restart the node"),
    2350: Known("invalid configuration"),
    2351: Known("long message buffer full", "raise LongMessageBuffer, then restart the node"),
    2354: Known("", "raise NoOfFragmentLogFiles (initial restart)"),
    2806: Known("", "raise MaxNoOfOpenFiles, then restart the node"),
    6000: Known("", "check its error log and dmesg, then restart the node"),
    6050: Known("ended by its watchdog", "check swapping, VM steal, CPU quota, disk, then restart the node"),
    6052: Known("send buffer full", "raise SendBufferMemory or lower the load, then restart the node"),
    6100: Known(
        "its start took longer than StartFailureTimeout",
        "find why its start is slow, or raise StartFailureTimeout",
    ),
    6600: Known("", "raise DataMemory, then restart the node"),
    6800: Known("", "raise DataMemory, then restart the node"),
    7200: Known(
        "its local checkpoint stood still", "check its disk with iostat -kx 1, then restart the node"
    ),
    7400: Known("", "check the API node that did not go away, then restart the node"),
}
_LONG = re.compile(r"[,.(;] ?")

# What NDB prints for each code, by its class.
_CODES = {
    "arbitration": {
        2305: (
            "Node lost connection to other nodes and can not form a unpartitioned cluster, please "
            "investigate if there are error(s) on other node(s)"
        ),
        2307: "Partitioned cluster detected. Please check if cluster is already running",
        2315: "Node declared dead. See error log for details",
        6302: "All nodes in a node group are unavailable",
    },
    "configuration": {
        2302: "node id in the configuration has the wrong type, (i.e. not an NDB node)",
        2327: "Memory allocation failure, please decrease some configuration parameters",
        2350: "Invalid configuration received from Management Server",
        2500: "Resource allocation error, please review the configuration",
        2805: "Illegal file system path",
        2811: "Received permission denied for file",
        2812: "Invalid parameter for file",
        6054: "Connection setup failed",
        6100: (
            "Total restart time too long, consider increasing StartFailureTimeout or investigate error(s) "
            "on other node(s)"
        ),
    },
    "filesystem full": {
        2810: "The file system is full",
    },
    "filesystem inconsistent": {
        2310: "Error while reading the REDO log",
        2313: "Error while reading the datapages and UNDO log",
        2316: "Error while reading the schema file",
        2352: "Invalid LCP",
        2815: "File not found",
        2816: "Read underflow",
        6303: "Unable to find a restorable replica",
    },
    "filesystem limit": {
        6300: "Too many crashed replicas (8 consecutive node restart failures)",
    },
    "internal": {
        2301: "Assertion",
        2303: "System error, node killed during node restart by other node",
        2304: "Array index out of range",
        2306: "Pointer too large",
        2334: "Job buffer congestion",
        2335: "Error in short time queue",
        2336: "Error in long time queue",
        2337: "Error in time queue, too long delay",
        2338: "Time queue index out of range",
        2339: "Send signal error",
        2340: "Wrong priority level when sending signal",
        2341: "Internal program error (failed ndbrequire)",
        2343: "Internal program error (failed ndbassert)",
        2344: "Error in zero time queue",
        2801: "No file system path",
        2804: "Bad parameter",
        2807: "File has already been opened",
        2808: "Environment error using file",
        2809: "Temporary error on access to file",
        2813: "Unknown file system error",
        2814: "System reports no more file system resources",
        2817: "Zlib init failure, please check the zlib version",
        6000: "Error OS signal received",
        6050: "WatchDog terminate, internal error or massive overload on the machine running this node",
        6051: "Signal lost (unknown reason)",
        6053: "Illegal signal (version mismatch a possibility)",
        7200: "LCP fragment scan watchdog detected a problem. Please report a bug",
        7400: "Timeout handling Api failure. Please check ApiFailureHandlingTimeout config or report a bug",
    },
    "none": {
        2342: "Error insert executed",
        6305: "Graceful shutdown not 100% possible due to mixed ndbd versions",
    },
    "resource": {
        2312: "No more free UNDO log, increase UndoIndexBuffer",
        2351: "Signal lost, out of long signal memory, please increase LongMessageBuffer",
        2354: "Fatal error due to end of REDO log. Increase NoOfFragmentLogFiles or FragmentLogFileSize",
        2355: "Failure to restore schema",
        2806: "Max number of open files exceeded, please increase MaxNoOfOpenFiles",
        6052: "Signal lost, out of send buffer memory, please increase SendBufferMemory or lower the load",
        6600: "Out of index memory during system restart, please increase DataMemory",
        6800: "Out of data memory during system restart, please increase DataMemory",
    },
    "restart": {
        2300: "Generic error",
        2308: "Another node failed during system restart, please investigate error(s) on other node(s)",
        2309: "Internal node state conflict, most probably resolved by restarting node again",
        2311: "Partial system restart causing conflicting file systems",
        2314: "Data node is not allowed to get added to the cluster while it is in single user mode",
        2353: "Insufficent nodes for system restart",
        6101: (
            "Node started while node shutdown in progress. Please wait until shutdown complete before "
            "starting node"
        ),
        6102: (
            "Node upgrade requires initial restart to rebuild filesystem. Please retry with --initial or "
            "reconsider"
        ),
        6103: (
            "Unable to read secrets file using the provided filesystem password. To define a new password "
            "retry with --initial"
        ),
        6104: "File system encrypted but EncryptedFileSystem option not set in data node configuration",
        6105: "Invalid secrets file",
        6106: "Secrets file is missing",
        6301: "Unhandled master failure during node restart",
        6304: "Unsupported version",
    },
}


def meaning(code: int) -> Known:
    """Return what an exit code means, "" for an unknown one, and what to do: look at it, then restart."""
    for kind, codes in _CODES.items():
        if code in codes:
            return Known(codes[code], _KNOWN.get(code, Known()).advice or _ADVICE[kind])
    return Known("", _ADVICE["none"])


def short(code: int, text: str) -> str:
    """Write an error in a few words: where no better ones are known, up to the first stop of its text."""
    return _KNOWN.get(code, Known()).what or _LONG.split(text, maxsplit=1)[0].rstrip()
