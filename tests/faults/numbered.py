"""Lines of a data node's log that can be told apart in what check_ndb_log remembers of them.

Each is a standstill of its own. The check keeps when each began, and a line's number is in its time: in
microseconds after ``base``, seconds since the epoch.
"""

import json
from datetime import UTC, datetime


def line(base, number):
    """Give line ``number``, as NDB 9.4 and later write it."""
    when = datetime.fromtimestamp(base, UTC).replace(microsecond=0)
    seconds, microseconds = divmod(number, 10**6)
    stamp = datetime.fromtimestamp(when.timestamp() + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    text = "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=1100"
    return f"{stamp}.{microseconds:06d}Z [ndbd] WARNING  -- {text}\n".encode()


def judged(state, base):
    """Give the numbers of the lines that are judged, each as often as it is, in that order."""
    return [
        round((when - base) * 1e6)
        for file in state.glob("*.json")
        for log in json.loads(file.read_bytes())["values"].values()
        for when in log["watchdog"]["begun"]
    ]
