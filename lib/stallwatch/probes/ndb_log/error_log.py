"""The error log of a data node, ndb_N_error.log: a record for each of its last ends, 25 by default.

As ErrorReporter.cpp of NDB 7.4 to 9.7 writes it: a header with the place of the next record, then records of
fixed length, of which the newest takes the place of the oldest. Times are local, without a zone.
"""

from __future__ import annotations

import os
import re
from datetime import datetime

from stallwatch import withheld
from stallwatch.findings import ProbeError
from stallwatch.history import recall
from stallwatch.line import shorten
from stallwatch.probes.ndb_log import exit_codes
from stallwatch.probes.ndb_log.down import NO_REASON, Down
from stallwatch.probes.ndb_log.events import WINDOW
from stallwatch.probes.ndb_log.lines import Line, number
from stallwatch.probes.ndb_log.model import Node, Present
from stallwatch.probes.ndb_log.shutdown import Shutdown
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from stallwatch.probes.ndb_log.model import Rules
    from stallwatch.sources.logs import Log

HEADER = b"Current byte-offset of file-pointer is:"
_OUT, _ERROR = "_out.log", "_error.log"
_NODE = re.compile(r"ndb_(\d{1,5})_(?:error|trace)\.log")
_END = "***EOM***"
_TIME = re.compile(r"\w+ (\d{1,2}) (\w+) (\d{4}) - (\d\d):(\d\d):(\d\d)$")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_FIELDS = r"^(Time|Message|Error|Error data|Error object|Program|Trace(?: file \w+)?): *(.*?) *$"
_LONGEST = 4 << 20  # bytes that are read
_CLASS = r" \([^()]*\)$"  # behind the message
_SHOWN = 300  # bytes of a field
_NO_TRACE = "<no tracefile>"


class Record(NamedTuple):
    """One end of a node, in its own words."""

    when: float  # seconds since the epoch
    error: int
    message: str
    more: tuple[str, ...]  # what else it has, a line each


class ErrorLog(Shutdown):
    """The ends that an error log has, which does not show what came after."""

    def __init__(self, node: Node, present: Present, records: Sequence[Record], path: str) -> None:
        super().__init__(node, present, {})
        self.path = path
        for record in records:
            clock = datetime.fromtimestamp(record.when).strftime("%Y-%m-%d %H:%M:%S")  # noqa: DTZ006 - local
            present.passes(Line("", record.when, clock, "", node.id, 1, b""))
            self.times.append([record.when, node.id])
            why, advice = _explained(record)
            self._down[node.id] = Down(
                node.id, record.when, clock, "ended", why, advice, phase="unknown", more=record.more
            )
        self.records = len(self.times)
        self.keep()


def beside(path: str) -> str | None:
    """Name the error log of the node that writes a log; None for a log of another name."""
    return f"{path.removesuffix(_OUT)}{_ERROR}" if path.endswith(_OUT) else None


class Consulted(NamedTuple):
    """What error logs have that other logs do not, and what is to be reported of reading them."""

    ends: tuple[ErrorLog, ...]
    problems: tuple[ProbeError, ...]
    asides: tuple[str, ...]


def consult(
    logs: Mapping[str, Shutdown],
    given: Sequence[str],
    follow: Callable[[str, Any], Log],
    rules: Rules,
    memory: dict[str, Any],
) -> Consulted:
    """Explain ends of nodes, by the path of each log, by the error logs beside, and by those ``given``."""
    ends: list[ErrorLog] = []
    problems: list[ProbeError] = []
    asides: list[str] = []
    for log, shutdown in logs.items():
        path = beside(log)
        if path and path not in given and shutdown.ended() and os.path.lexists(path):
            try:
                text = text_of(follow(path, None))
            except ProbeError as error:
                asides.append(f"{error.what}, which may show why the node ended")
            else:
                explain(shutdown, node_of(path, text), records(text))
    for path in given:
        try:
            text = text_of(follow(path, None))
        except ProbeError as error:
            problems.append(error)
            continue
        if not text.startswith(HEADER):
            what = f"{os.path.basename(path)} does not look like an error log of NDB"
            problems.append(ProbeError(what, "name a data node's ndb_N_error.log or ndb_N_out.log"))
            continue
        node, kept = node_of(path, text), recall(memory, path, dict[str, float]) or {}
        known = [record for record in records(text) if record.when > kept.get("acknowledged", 0.0)]
        explained = [explain(shutdown, node, known) for shutdown in logs.values()]
        if not any(explained):
            of_node = Node(path, {} if node is None else {"id": node})
            ends.append(ErrorLog(of_node, Present(rules), known, path))
    return Consulted(tuple(ends), tuple(problems), tuple(asides))


def text_of(source: Iterable[bytes]) -> bytes:
    """Read an error log, as long as it may be. Raises ProbeError."""
    text = b""
    for block in source:
        text += block
        if len(text) > _LONGEST:
            raise ProbeError("an error log of more than 4 MiB is none", "look whether this is the right file")
    return text


def records(text: bytes) -> list[Record]:
    """Return what the records hold, the oldest first; what is damaged or of unknown time is left out."""
    found = [_record(part) for part in text.decode("utf-8", "replace").split(_END)[:-1]]
    return sorted((record for record in found if record), key=lambda record: record.when)


def node_of(path: str, text: bytes) -> int | None:
    """Return the number of the node in the name of the file or of a trace file."""
    match = _NODE.search(os.path.basename(path)) or _NODE.search(text.decode("utf-8", "replace"))
    return number(match[1]) if match else None


def explain(shutdown: Shutdown, node: int | None, known: Sequence[Record]) -> bool:
    """Add what an error log shows to the end of a node in another log; whether there is one."""
    down = next((down for down, _ in shutdown.ended() if down.node == node and not down.hearsay), None)
    if down is None or not known:
        return False
    record = min(known, key=lambda record: abs(record.when - down.when))
    if abs(record.when - down.when) > WINDOW:
        return False
    why, advice = _explained(record) if down.why.startswith(NO_REASON) else ("", "")
    shutdown.explain(node, why, advice, record.more)
    return True


def _explained(record: Record) -> tuple[str, str]:
    """Return why a node ended, and what to do."""
    meaning, advice = exit_codes.meaning(record.error)
    short = exit_codes.short(record.error, meaning or withheld.message(record.message))
    return f"error {record.error}: {short}", advice.replace("read its error log and keep", "keep")


def _record(text: str) -> Record | None:
    fields: dict[str, str] = dict(re.findall(_FIELDS, text, re.MULTILINE))
    when = _moment(fields.get("Time", ""))
    if when is None or not re.fullmatch(r"[0-9]{1,6}", fields.get("Error", "")):
        return None
    message = re.sub(_CLASS, "", fields.get("Message", ""))
    trace = fields.get("Trace file path", fields.get("Trace", ""))
    said = {
        "error data": fields.get("Error data", ""),
        "error object": fields.get("Error object", ""),
        "program": fields.get("Program", ""),
        "trace file": "" if trace.startswith(_NO_TRACE) else trace,
    }
    more = (
        shorten(withheld.message(message), _SHOWN),
        *(f"{name}: {shorten(withheld.message(text), _SHOWN)}" for name, text in said.items() if text),
    )
    return Record(when, number(fields["Error"]), message, tuple(filter(None, more)))


def _moment(stamp: str) -> float | None:
    """Seconds since the epoch; None if it is no time."""
    match = _TIME.match(stamp)
    if match is None or match[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = map(int, match.group(1, 3, 4, 5, 6))
    month = _MONTHS.index(match[2]) + 1
    try:
        return datetime(year, month, day, hour, minute, second).timestamp()  # noqa: DTZ001 - local
    except (ValueError, OverflowError, OSError):  # "31 February"
        return None
