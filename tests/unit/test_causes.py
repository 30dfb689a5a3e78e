"""What explains what, and what is one incident."""

import json

import pytest
from stallwatch.causes import (
    EXPLAINS,
    HIDES,
    MEANINGS,
    Cause,
    Certainty,
    Explains,
    Kind,
    Rule,
    Scope,
    Subject,
    judged,
    roots,
    unseen,
)
from stallwatch.findings import Fault, Line, Reading, State
from stallwatch.render import json as as_json
from stallwatch.render.text import written
from stallwatch.verdict import Report, judge

NODE_3, NODE_4 = (Subject("db1:3306", Scope.NODE, node) for node in "34")
NO_CONNECTION = Subject("db1:3306", Scope.CONNECTION)  # has a transaction, maybe one of several
DISK, CHECKPOINTS = Kind.SLOW_DISK, Kind.CHECKPOINTS_BEHIND


def test_every_kind_has_a_meaning_and_a_name_of_its_own():
    assert [*MEANINGS] == [*Kind]
    assert all(kind.value == kind.name.lower() for kind in Kind)


def circle(rows):
    """Some kind that explains itself by these rows; None: there is none."""
    reached = {}
    for row in rows:
        reached.setdefault(row.cause, set()).add(row.consequence)
    for kind, consequences in reached.items():
        seen, left = set(), set(consequences)
        while left:
            one = left.pop()
            seen.add(one)
            left |= reached.get(one, set()) - seen
        if kind in seen:
            return kind
    return None


def test_nothing_explains_itself():
    assert circle(EXPLAINS) is None
    assert circle([*EXPLAINS, Explains(CHECKPOINTS, DISK, Scope.NODE)]) in (DISK, CHECKPOINTS)


def test_unknown_explains_nothing_and_is_explained_by_nothing():
    assert not any(Kind.UNKNOWN in (row.cause, row.consequence) for row in EXPLAINS)


@pytest.mark.parametrize(
    ("cause", "follows"),
    [
        (Cause(DISK, NODE_3), True),
        (Cause(DISK, NODE_3, Certainty.LIKELY), True),
        (Cause(DISK, NODE_3, Certainty.POSSIBLE), False),  # it would hide what is known
        (Cause(DISK, NODE_4), True),  # checkpoints are of the whole cluster
        (Cause(DISK, NODE_3._replace(server="db2:3306")), False),
        (Cause(DISK, NODE_3, since=1000.0), True),
        (Cause(DISK, NODE_3, since=1006.0), False),  # younger than what it would explain
        (Cause(Kind.REDO_BURSTS, NODE_3), False),
        (Cause(DISK, NODE_3._replace(started=500.0)), True),
        (Cause(DISK, NODE_3._replace(started=900.0)), False),  # the node of another start
    ],
)
def test_a_cause_explains_what_shares_its_scope_and_is_not_older(cause, follows):
    consequence = Cause(CHECKPOINTS, NODE_3._replace(started=502.0), since=1000.0)
    assert roots([consequence, cause]) == [1 if follows else None, None]


def test_two_findings_of_one_cause_are_one_incident():
    one, other = Cause(DISK, NODE_3), Cause(DISK, NODE_3, Certainty.LIKELY)
    assert roots([one, None, other, Cause(DISK, NODE_4)]) == [None, None, 0, None]
    unknown = Cause(Kind.UNKNOWN, NODE_3, Certainty.POSSIBLE)
    assert roots([unknown, unknown]) == [None, None]


@pytest.mark.parametrize(
    ("subject", "other", "scope", "shared"),
    [
        (NODE_3, NODE_3, Scope.NODE, True),
        (NODE_3, NODE_4, Scope.NODE, False),
        (NODE_3, NODE_4, Scope.SERVER, True),
        (NODE_3, NODE_3, Scope.DISK, False),
        (Subject("db1:3306", Scope.CONNECTION, "22", within=((Scope.CHANNEL, "a"),)),
         Subject("db1:3306", Scope.CHANNEL, "a"), Scope.CHANNEL, True),
        (Subject("db1:3306", Scope.CONNECTION, "22", 100.0),
         Subject("db1:3306", Scope.CONNECTION, "22", 200.0), Scope.CONNECTION, False),
        (NO_CONNECTION, NO_CONNECTION, Scope.CONNECTION, False),
    ],
)  # fmt: skip
def test_what_two_subjects_share(subject, other, scope, shared):
    assert subject.shares(other, scope) == other.shares(subject, scope) == shared


def test_a_chain_ends_at_its_root():
    consequence, other, disk = Cause(CHECKPOINTS, NODE_3), Cause(CHECKPOINTS, NODE_3), Cause(DISK, NODE_3)
    assert roots([consequence, other, disk]) == [2, 2, None]
    assert roots([disk, consequence, other, disk]) == [None, 0, 0, 0]


def test_each_rule_is_evaluated_once_and_the_first_that_applies_is_the_cause():
    asked = []

    def proves(name, answer):
        return lambda evidence: asked.append((name, evidence)) or answer

    rules = [
        Rule(DISK, Certainty.CERTAIN, "a", proves("a", None)),
        Rule(CHECKPOINTS, Certainty.LIKELY, "b", proves("b", {"seconds": 3})),
        Rule(DISK, Certainty.CERTAIN, "c", proves("c", {})),
    ]
    first, second = judged(rules, "all of it", NODE_3)
    assert first == Cause(CHECKPOINTS, NODE_3, Certainty.LIKELY, {"seconds": 3}, "b")
    assert second.evidence == "c"
    assert asked == [(name, "all of it") for name in "abc"]
    assert judged(rules[:1], "", NODE_3) == (Cause(Kind.UNKNOWN, NODE_3, Certainty.POSSIBLE),)


FULL = Fault(
    State.CRITICAL, "redo log 98 % full", "checkpoints behind", "wait", Line(), Cause(CHECKPOINTS, NODE_3)
)
SLOW = Reading("slow", 12, "%", "12 % of writes are slow", "slow disk", "use a faster disk",
               state=State.WARNING, cause=Cause(DISK, NODE_3))  # fmt: skip


def test_a_consequence_is_never_first_and_counts_for_the_state():
    report = Report("x", judge([FULL, SLOW], {}))
    assert written(report).splitlines() == [
        "X CRITICAL - 12 % of writes are slow, slow disk - use a faster disk | slow=12%",
        "  also: redo log 98 % full, checkpoints behind - wait",
        (
            "  whether redo is written in short bursts that are larger than the redo buffer cannot be seen"
            " while this lasts"
        ),
    ]
    found = json.loads(as_json.written(report))["findings"]
    assert [one.get("explained_by") for one in found] == [1, None]
    assert [one["cause"]["kind"] for one in found] == ["checkpoints_behind", "slow_disk"]


@pytest.mark.parametrize(
    ("cause", "others", "hidden"),
    [
        (Cause(DISK, NODE_3), [], 1),
        (Cause(DISK, NODE_3), [None, Cause(Kind.REDO_BURSTS, NODE_3)], 0),  # it is seen all the same
        (Cause(DISK, NODE_3), [None, Cause(Kind.REDO_BURSTS, NODE_4)], 1),
        (Cause(DISK, NODE_3, Certainty.LIKELY), [], 0),
        (Cause(DISK, NODE_3._replace(thing=Scope.CONNECTION)), [], 0),  # the disk of another server
        (Cause(CHECKPOINTS, NODE_3), [], 0),
    ],
)
def test_what_cannot_be_seen_behind_a_cause(cause, others, hidden):
    assert len(unseen(cause, others)) == hidden


def test_what_explains_something_does_not_hide_it():
    assert not {row[:2] for row in HIDES} & {row[:2] for row in EXPLAINS}


def test_what_is_fine_explains_nothing():
    fine = SLOW._replace(state=State.OK)
    assert written(Report("x", judge([FULL, fine], {}))).startswith("X CRITICAL - redo log 98 % full")
