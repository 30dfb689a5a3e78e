"""Labels of what a user or a server has named: none ever goes over from one thing to another."""

from __future__ import annotations

import re

from stallwatch.line import label

CHECKSUM = "(?:_[0-9a-f]{6})?"  # what a label may end with, as a regular expression


def own(name: str, whole: str = "") -> str:
    """Return the label of a thing, made of its own name alone, whatever siblings come and go.

    ``whole`` is all that distinguishes the thing from others; empty: its name does. A label that does not
    show all of that ends with a checksum of it: "east" stays "east"; "eu west" and "eu-west" each have a
    checksum, also while there is only one of them.

    For whatever can have siblings: channels, pools, disks, bonds, MBeans found by a pattern. What has none
    keeps the bare label: names that the software of a server has fixed (status variables, the pools of
    Cassandra), what the user asks for by its exact name, and the text of --label.
    """
    shown = label(name)
    is_plain = shown == (whole or name) and not re.search(r"_[0-9a-f]{6}\Z", name)  # or it may be another's
    return shown if is_plain else f"{shown}_{_checksum(whole or name)}"


def _checksum(text: str) -> str:
    """Six digits: things share a label if both what is shown and these are the same, 1 in 16 million."""
    from binascii import crc32

    return f"{crc32(text.encode(errors='surrogatepass')):08x}"[:6]
