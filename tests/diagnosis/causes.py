"""The causes that a line about replication can name: a name of ours, and the words by which it is known.

The first cause of a line is the one whose words come first. So words of advice must not stand here.
"""

import re
from typing import NamedTuple

CAUSES = {
    "heartbeat writer": r"heartbeat writer|nobody writes the heartbeat|heartbeats? .{0,30}not written",
    "login refused": r"error (1045|3118|4151)|access denied|refuses (the )?(user|password|login)",
    "TLS": r"TLS failed|cannot connect to the source by TLS",
    "source refuses": r"source refuses the receiver(?!.{0,30}error (1045|1597|1698|3118|4151|13120)\b)",
    "binary log purged": r"\b(1236|13114)\b|purged|no longer has|binary logs? .{0,40}missing",
    "link flaps": r"receiver (probably )?reconnected",
    "receiver gave up": r"gave up (after|connecting)|used up|(attempts?|retries) (are )?exhausted",
    "link silent": r"no event or heartbeat for|nothing was heard|source does not respond"
    r"|(link|source) .{0,40}(is|seems) (dead|silent|frozen)",
    "source unreachable": r"cannot connect to the source|tries to connect"
    r"|can't connect|lost connection|receiver (is )?(connecting|not connected)|attempt \d+|handshake"
    r"|source is (down|unreachable)|error 20(03|13)\b",
    "receiver stopped": r"(receiver|IO thread) (is|was) stopped|receiver and applier are stopped"
    r"|receiver .{0,20}not running \(No\)",
    "applier failed": r"applier (stopped|failed) with error|applier failed",
    "applier stopped": r"(applier|SQL thread) (is|was) stopped|applier .{0,20}not running \(No\)",
    "upstream": r"upstream|(applier|receiver|replication) of (its source|\S+:\d+)"
    r"|(source|middle)('s)? own (receiver|applier|replication)|is itself a replica|chain"
    r"|source .{0,40}is (itself )?behind",
    "clocks": r"clocks? (differ|of)|clock offset",
    "slow link": r"receiver (probably )?does not keep up|slow (link|network)|link .{0,40}(slow|carries|limit)"
    r"|network .{0,30}slow",
    "intended delay": r"intended (delay|\d+ )|delayed? (by )?.{0,20}as configured|configured delay",
    "row lock": r"row lock",
    "global read lock": r"global read lock|FLUSH TABLES WITH READ LOCK\b.{0,40}(hold|held|of connection)",
    "backup lock": r"backup lock|\bglobal lock",
    "metadata lock": r"metadata lock",
    "table without key": r"no (usable |primary )+key|without (a |any )?(usable |primary )*key",
    "long transaction": r"one transaction has been applied|long transaction|transaction .{0,30}applied for",
    "errant transactions": r"errant|transactions? here (that|are not on|is not on)|written here|writable"
    r"|own transactions?|read_only is off",
    "starved host": r"starved|throttl|processor (time|pressure)|CPU (pressure|time|quota)|steal|swapping"
    r"|host is (slow|overloaded|busy)|round trip",
    "replica silent": r"has not said a word|mysqld (does not respond|hangs|may hang)|it may hang|is hung",
    "redo log": r"redo log is",
    "disk": r"disk \S+ is \d+ % busy",
    "backup": r"(mariabackup|xtrabackup|mysqldump|mariadb-dump|mysqlpump|mydumper) pid|backup that runs",
    "one applier": r"one applier thread",
    "appliers wait": r"appliers wait for one another",
    "commits": r"appliers? commit\b",
    "buffer pool": r"buffer pool|pages come from the disk",
    "purge": r"purge is",
    "other load": r"statements run on",
    "relay log space": r"relay_log_space_limit|disk space",
}
HEDGES = re.compile(
    r"\b(probably|likely|perhaps|maybe|may|might|possibly|presumably|check)\b|\?", re.IGNORECASE
)
_KNOWN = {name: re.compile(words, re.IGNORECASE) for name, words in CAUSES.items()}
_MARK = re.compile(r"\bcause: ")
_CAVEAT = re.compile(r"[^();]*would not show[^();]*")  # "a slow link would not show" names no slow link
_END = re.compile(r"; (also|and \d+ more)\b|;| - ")
_BEGIN = re.compile(r"; | - |: ")
UNKNOWN = "other"  # a cause that is named as one, in words that are not known here
DOWN = frozenset({  # what is told before how far the replica is behind
    "login refused", "TLS", "source refuses", "binary log purged", "receiver gave up", "link silent",
    "source unreachable", "receiver stopped", "applier failed", "applier stopped",
})  # fmt: skip


class Named(NamedTuple):
    """A cause that a line names: our name for it, its clause, and whether that leaves room for doubt."""

    name: str
    clause: str
    hedged: bool


def first_cause(text):
    """The cause that the text of a line, without perfdata, names first; None: it names none."""
    text = _CAVEAT.sub("", text)
    found = sorted((match.start(), name) for name, words in _KNOWN.items() if (match := words.search(text)))
    mark = _MARK.search(text)
    if mark and not any(at < mark.start() and name in DOWN for at, name in found):
        return _marked(text, mark.end())
    return _named(found[0][1], text, found[0][0]) if found else None


def _marked(text, begin):
    """The cause that is named as one, from there on."""
    end = _END.search(text, begin)
    clause = text[begin : end.start() if end else len(text)]
    found = sorted((match.start(), name) for name, words in _KNOWN.items() if (match := words.search(clause)))
    at, name = found[0] if found else (0, UNKNOWN)
    return _named(name, text, begin + at)


def _named(name, text, at):
    """The cause that stands there: its clause ends where evidence, advice or another one begins."""
    begin = max((match.end() for match in _BEGIN.finditer(text[:at])), default=0)
    end = _BEGIN.search(text, at)
    clause = text[begin : end.start() if end else len(text)]
    return Named(name, clause, bool(HEDGES.search(clause)))
