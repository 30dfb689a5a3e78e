"""What the client ndb_mgm printed: ``show``, ``all status`` and ``all report memoryusage``.

It shows one moment, which it does not name: so it is judged as a whole, and not followed as a log.
The forms are those of NDB 6.3 to 9.7.
"""

from __future__ import annotations

import re

from stallwatch.findings import Fault, Finding, ProbeError, Reading, State
from stallwatch.findings import Line as Said
from stallwatch.probes.ndb_log.diagnosis import Alerts
from stallwatch.probes.ndb_log.events import Event
from stallwatch.probes.ndb_log.lines import GarbledError, Line, parse
from stallwatch.probes.ndb_log.model import Node, Present
from stallwatch.startup import TYPE_CHECKING
from stallwatch.words import are, named, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.probes.ndb_log.model import Rules

_STATUS = r"started|starting|not connected|no contact|not started|shutting down|restarting|single user mode"
_IS_PRINTED = re.compile(
    rb"(?m)^(?:ndb_mgm> )?(?:Connected to management server at |\[ndbd\(NDB\)\]\s+\d+ node|"
    rb"Node \d+: (?:(?:Data|Index) usage is \d|" + _STATUS.encode() + rb"))",
    re.IGNORECASE,
)
_SECTION = re.compile(r"\[\w+\((?P<kind>NDB|MGM|API)\)\]\s+\d+ node")
_SHOWN = re.compile(r"id=(?P<node>\d{1,5})\b(?P<rest>.*)")
_OF_NODE = re.compile(rf"(?:ndb_mgm> )?Node (?P<node>\d{{1,5}}): (?P<status>{_STATUS})")
_USAGE = r"(?m)^(?:ndb_mgm> )?Node \d+: (?:Data|Index) usage is (\d{1,3})%"
_UP = "started"


def is_printed(head: bytes) -> bool:
    """Whether a text begins as ndb_mgm prints."""
    return _IS_PRINTED.search(head) is not None


def findings(text: str, rules: Rules) -> Iterator[Finding]:
    """Judge it; of several states of a node the last counts."""
    data, management = _statuses(text)
    up = sum(status == _UP for status in data.values())
    used = [int(usage[1]) for usage in re.finditer(_USAGE, text)]
    said = [f"{up} of {plural(len(data), 'data node')} started"] if data else []
    said += [f"at most {max(used)} % of memory used"] if used else []
    if not said:
        what = "ndb_mgm printed neither states of data nodes nor memory usage"
        yield ProbeError(what, "use the output of: show, all status, all report memoryusage")
    yield Reading(
        "lines", len(text.splitlines()), what=f"ndb_mgm printed: {', '.join(said) or 'nothing to judge'}"
    )
    for status in dict.fromkeys(data.values()):
        nodes = [str(node) for node in sorted(data) if data[node] == status]
        if status != _UP:
            yield _not_up(status, nodes)
    if gone := [str(node) for node, status in management.items() if status != _UP]:
        what = f"management {named('node', gone)} {are(gone)} not connected"
        yield Fault(State.WARNING, what, "", "start ndb_mgmd there", Said())
    alerts = Alerts(Node("", {}), Present(rules._replace(whole=True)), {})
    for raw in text.encode().split(b"\n"):
        try:
            line = parse(raw)
        except GarbledError:
            continue
        alerts.read(Line(line.text, 0.0, "", "", line.node, 1, line.shape))
    for one in alerts.findings(rules):
        finding = one.finding if isinstance(one, Event) else one
        if isinstance(finding, Fault):
            yield finding


def _statuses(text: str) -> tuple[dict[int, str], dict[int, str]]:
    """Return the states of the data nodes and of the management nodes."""
    data: dict[int, str] = {}
    management: dict[int, str] = {}
    kind = ""
    for line in text.splitlines():
        if section := _SECTION.search(line):
            kind = section["kind"]
        elif shown := _SHOWN.match(line):
            rest = shown["rest"]
            status = (
                "not connected" if "(not connected" in rest else "starting" if ", starting" in rest else _UP
            )
            known = {"NDB": data, "MGM": management}.get(kind)
            if known is not None:
                known[int(shown["node"])] = status
        elif found := _OF_NODE.match(line):
            data[int(found["node"])] = found["status"]
    return data, management


def _not_up(status: str, nodes: list[str]) -> Fault:
    """Judge data nodes of one state that are not started."""
    what = f"{named('node', nodes)} {are(nodes)} {status}"
    if status in {"not connected", "no contact", "not started"}:
        advice = f"read ndb_{nodes[0]}_out.log on its machine, start it"
        return Fault(State.CRITICAL, what, "", advice, Said())
    return Fault(State.WARNING, what, "", "see ndb_mgm -e 'all status' again", Said())
