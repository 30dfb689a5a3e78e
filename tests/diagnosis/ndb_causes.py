"""The causes that a check of NDB Cluster can name, and the nodes: names of ours, by the JSON or by words.

Causes come before symptoms, wherever they stand: a line of the form "WHAT, CAUSE" tells the symptom first.
Among equals the first one counts. Words of advice must not stand here.
"""

import re

from causes import HEDGES, Named

CAUSES = {
    "cluster down": r"cluster (is )?down|all data nodes (\([^)]*\) )?(are|have|ended)|no data node is",
    "angel alone": r"\bangel\b(?! gave up)",
    "killed": r"signal 9|\bkilled\b",
    "watchdog": r"error 6050|killed by (the|its) watchdog|watchdog (terminate|ended|shut)",
    "out of disk": r"no space left|errno 28|file system (is )?full|disk .{0,20}is full|error 2810",
    "process stood still": r"all threads overslept|(process|machine|node) (or machine )?stood still"
    r"|(process|node) (was|is) (stopped|frozen|suspended)|(stopped by|got) SIGSTOP"
    r"|(?<!checkpoint )stood still \d",
    "thread does not run": r"process not running|user and system time flat"
    r"|thread .{0,30}(did|does) not run|shut down .*\bthread .{0,30}was stuck \d",
    "NDB kernel busy": r"NDB kernel busy",
    "OS kernel busy": r"OS kernel busy",
    "management node down": r"management (server|node)( \S+)? (\([^)]*\) )?(does not answer|is (down|gone)"
    r"|refuse|(has )?ended|(is )?not (running|connected)|died|(is )?disconnected)"
    r"|node 1 (is )?(disconnected|down|ended|gone)|no management node is connected",
    "network": r"network (is )?(split|partition|trouble|apart)|\bpartition(ed)?\b"
    r"|link.{0,40}(cut|broke|lost|silent)"
    r"|lost node \d+,? and the arbitration|of each other"
    r"|no contact|connection to .{0,30}lost|error 2305|error 2315",
    "slow disk": r"disk (cannot|does not) (drain|keep up)"
    r"|\bdisk\b.{0,30}(is |too )?(slow|\d+ % busy|at its limit)"
    r"|slow disk|disk writes .{0,20}lag|redo writes lag",
    "redo log space": r"redo log (space|of node|files?).{0,30}(\d+(\.\d+)? % (full|used)|full)"
    r"|redo log (is )?full|\b410\b",
    "undo log full": r"undo (log|space).{0,40}(full|%)|\b1501\b",
    "data memory": r"data memory of node \d+|Data memory \d+ % used|DataMemory .{0,20}full",
    "lock": r"locked for|lock wait|waits for .{0,30}lock|waited for it",
    "idle transaction": r"asked nothing of the data nodes|transaction .{0,60}(inactive|idle)",
    "checkpoint": r"local checkpoint|\bLCP\b|error 7200",
    "swapping": r"of its memory (are|is) swapped|major (page )?faults|host swaps",
    "backup": r"backup \d+ (aborted|failed)",
}
SYMPTOMS = {
    "ordered stop": r"in order\b|ordered|restart(s|ed)? (on|by) order",
    "starting": r"is starting|start phase|starts again",
    "node down": r"node \d+ (is |are )?(missing|down|gone|not (up|connected)|disconnected|failed|ended|died)"
    r"|node \d+ shut down|has ended|no ndbmtd|no member left|not there|nodes? .{0,30}(is|are) missing",
    "missed heartbeats": r"missed heartbeat|declared dead",
    "restarted": r"(has|have) started|restarted|started again",
    "redo buffer": r"redo buffer|redo log part \d+: generation rate",
    "late thread": r"overslept|\bstuck\b",
    "GCP": r"\bGCP\b",
    "arbitrator": r"arbitrator",
    "connections": r"connect",
}
NAMES = {**CAUSES, **SYMPTOMS}
KINDS = {"slow_disk": "slow disk", "checkpoints_behind": "redo log space", "redo_bursts": "redo buffer"}
_TIERS = [[(name, re.compile(words, re.IGNORECASE)) for name, words in tier.items()]
          for tier in (CAUSES, SYMPTOMS)]  # fmt: skip
_PARTS = re.compile(r" - | \(\+\d+ more")
_CLAUSE = re.compile(r"[,;:] ")
_ADVICE = re.compile(
    r"[:;] (?=(look|wait|see|read|free|find|run|lower|increase|start|raise|delete|unless|faster|is its"
    r"|are their)\b)"
)
_QUOTED = re.compile(r'"[^"]*"')
_OTHERS = re.compile(r"here runs .*")  # processes that are not meant
_REPORTER = re.compile(r"^node \d+: (?=.*\bnode \d+)|^management node \d+ missed heartbeat \d+ of ")
_NODES = re.compile(r"\bnodes? (\d+(?:(?:, | and )\d+)*)(?!\d|\.\d)")


def said(text):
    """What a line says is wrong and why.

    Without the name of the check, what it quotes, processes of others, and the next step.
    """
    parts = _PARTS.split(text)
    return _OTHERS.sub("", _QUOTED.sub("", _ADVICE.split(parts[1] if len(parts) > 1 else text)[0]))


def first_cause(run):
    """The cause that a run names: that of its JSON, or of its line the first one, else the first symptom.

    None: it names none.
    """
    if cause := run.cause:
        return Named(KINDS.get(cause["kind"], cause["kind"]), "", cause["certainty"] != "certain")
    text = said(run.text)
    for tier in _TIERS:
        found = sorted((match.start(), name) for name, words in tier if (match := words.search(text)))
        if found:
            at, name = found[0]
            begin = max((match.end() for match in _CLAUSE.finditer(text[:at])), default=0)
            end = _CLAUSE.search(text, at)
            clause = text[begin : end.start() if end else len(text)]
            return Named(name, clause, bool(HEDGES.search(clause)))
    return None


def first_nodes(run):
    """The numbers of the nodes that a run names first; none: it names none. Who reports them is left out."""
    if cause := run.cause:
        subject = cause["subject"]
        return {int(subject["id"])} if subject["thing"] == "node" and subject["id"] else set()
    found = _NODES.search(_REPORTER.sub("", said(run.text)))
    return {int(number) for number in re.findall(r"\d+", found[1])} if found else set()
