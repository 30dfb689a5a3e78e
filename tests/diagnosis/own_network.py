"""A network of our own, in which links between addresses of loopback can be cut.

Linux, as root: this process and those that it starts from then on have a loopback that nobody else has.
"""

import contextlib
import ctypes
import os
import subprocess

NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_LOCAL, _CUTS = "100", "50"  # preferences of rules: what cuts comes before what delivers


def enter():
    """Leave the network of the machine for one of our own; gives why that cannot be, or an empty text."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_NETWORK):
        return f"no network of our own: {os.strerror(ctypes.get_errno())}"
    try:
        _ip("link", "set", "lo", "up")
        _ip("rule", "add", "pref", _LOCAL, "lookup", "local")
        _ip("rule", "del", "pref", "0")
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no rules of routing: {error}"
    return ""


@contextlib.contextmanager
def cut(first, second):
    """Meanwhile nothing gets from the one address to the other, or back: it is swallowed."""
    ways = (first, second), (second, first)
    rules = [("pref", _CUTS, "from", here, "to", there, "blackhole") for here, there in ways]
    for rule in rules:
        _ip("rule", "add", *rule)
    try:
        yield
    finally:
        for rule in rules:
            _ip("rule", "del", *rule)


def _ip(*words):
    subprocess.run(["ip", *words], check=True, stdout=subprocess.DEVNULL)
