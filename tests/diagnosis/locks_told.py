"""What check_mysql_stalls found in one run, as its JSON has it: of the first problem the cause."""

import json
from typing import NamedTuple

_STATES = ("OK", "UNKNOWN", "WARNING", "CRITICAL")
CERTAIN, LIKELY = "certain", "likely"


class Told(NamedTuple):
    """A cause; ``heads``: none where nobody knows who blocks, 0 is a transaction without a connection."""

    kind: str
    heads: frozenset
    certainty: str
    evidence: str  # the rule that has decided
    summary: str  # the status line


NOTHING = Told("", frozenset(), "", "", "")


def told(output):
    """What a run found, of which ``output`` is the JSON; it may have ended before it wrote any."""
    try:
        found = json.loads(output)
    except ValueError:
        return NOTHING._replace(summary=output.partition("\n")[0])
    roots = [one for one in found["findings"] if "explained_by" not in one]
    worst = max(roots, key=lambda one: _STATES.index(one["state"]))  # of equals the first
    if not (cause := worst.get("cause")):
        return NOTHING._replace(summary=found["summary"])
    subject = cause["subject"]
    heads = {int(subject["id"] or 0)} if subject["thing"] == "connection" else set()
    if subject["thing"] == "server":  # that wait at their COMMIT
        heads |= {int(one["id"]) for one in subject.get("within", ()) if one["thing"] == "connection"}
    return Told(
        cause["kind"], frozenset(heads), cause["certainty"], cause["evidence"] or "", found["summary"]
    )
