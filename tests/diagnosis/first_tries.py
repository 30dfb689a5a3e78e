"""First tries: cases that were written from the issue and the sheets alone, after the rules were frozen.

Who wrote them had not read a rule. The result of the first play stays in results/first-tries.json, beside
that of the last one: a rule may be mended after it, a case may not be changed. How strong a fault is, and
which other fault goes on at the same time, is drawn by a generator whose seed is the frozen commit.

    python run.py first-tries
"""

import functools
import json
import os
import random
import time
from contextlib import closing, suppress

import jmx_case
import locks_case
import parts
import places  # noqa: F401 - it says where the rest is
from case import CRITICAL_STATE, UNKNOWN_STATE, WARNING_STATE
from jmx_case import POOLS, WAITERS, Told
from jmx_faults import HANGS, LENT_OUT, NO_NEW, NOT_HELD
from jmx_queues import FOREVER, STILL
from jmx_scoring import is_told
from record import read

# isort: split
import pool_servers
import pymysql
from link import Link

PART = "first-tries"
FROZEN = "4a2c3a3466f3ba7db8900dc42a0728dfdfcd575e"  # the commit
STATUSES = {"OK": 0, "WARNING": WARNING_STATE, "CRITICAL": CRITICAL_STATE, "UNKNOWN": UNKNOWN_STATE}
WORST = tuple(sorted(STATUSES, key=("OK", "UNKNOWN", "WARNING", "CRITICAL").index))
METADATA = ("DDL behind a reader", "LOCK TABLES")  # faults without row locks
LOCKS = (
    *METADATA, "idle head", "gap lock", "foreign key", "row that three share", "chain of five",
    "XA transaction that nobody owns", "transaction open for long",
)  # fmt: skip
SHOP = "CREATE TABLE shop.stock (id INT PRIMARY KEY, number INT) ENGINE={}"
TAKE = "UPDATE shop.stock SET number = number - 1 WHERE id = 1"
REPORT = "SELECT SUM(number + SLEEP(IF(id = 2, 100, 0))) FROM shop.stock"
_draws = random.Random(FROZEN)


def tried(add, name, strengths, beside=(), **told):
    """Add a case at one strength, with one of the cases ``beside`` or none: both are drawn."""
    strength, other = _draws.choice([*strengths]), _draws.choice([None, *beside])
    second, label = None, strength
    if other:
        second = parts.cases(add.__module__.partition("_")[0])[other]
        second_strength = _draws.choice([*second.strengths])
        label = f"{strength}; {other}, {second_strength}"

    def decorate(story):
        @functools.wraps(story)
        def both(scene, value):
            if not second:
                yield from story(scene, value)
                return
            with (
                closing(second.story(scene, second.strengths[second_strength])) as theirs,
                closing(story(scene, value)) as own,
            ):
                next(theirs)
                next(own)
                yield
                next(theirs)
                if second.part == "locks":  # its heads are no others of the case, and may be ended, too
                    scene.may_end += scene.heads
                    scene.heads.clear()
                next(own)
                yield
                for one in (own, theirs):
                    next(one, None)

        add(name, strengths={label: strengths[strength]}, beside=second, **told)(both)
        return both

    return decorate


# locks


def _stock(scene, engine="InnoDB"):
    scene.server.sql(SHOP.format(engine))
    scene.server.sql("INSERT INTO shop.stock VALUES (1, 1000), (2, 1000), (3, 1000)")


@tried(locks_case.fault, "report on a MyISAM table", locks_case.WAITERS, LOCKS, kind="table_lock")
def report_on_myisam(scene, waiters):
    """A report reads a table of MyISAM for a minute, and others wait to change it."""
    _stock(scene, "MyISAM")
    yield
    head = scene.client()
    head.begin(REPORT)
    time.sleep(0.5)
    scene.crowd(waiters, TAKE)
    scene.blocks(head.id)
    yield


@tried(locks_case.fault, "FLUSH TABLES behind a report", locks_case.WAITERS, LOCKS, kind="table_flush",
       servers=("mysql",))  # fmt: skip
def flush_behind_a_report(scene, waiters):
    """FLUSH TABLES waits for a report that reads the table, and all who read it then wait, too.

    MariaDB has a metadata lock for that.
    """
    _stock(scene)
    yield
    head = scene.client()
    head.begin(REPORT)
    time.sleep(0.5)
    scene.client(scene.app).go("FLUSH LOCAL TABLES shop.stock")
    scene.crowd(waiters, "SELECT number FROM shop.stock WHERE id = 3")
    scene.blocks(head.id)
    yield


@tried(locks_case.fault, "row lock and GET_LOCK() in a circle",
       {"2 in it": 0, "5 behind them": 5, "20 behind them": 20}, LOCKS, kind="lock_circle")  # fmt: skip
def circle(scene, more):
    """One has a row and waits for GET_LOCK(); who has that lock waits for the row, as others do."""
    _stock(scene)
    yield
    one, other = scene.client(), scene.client(scene.app)
    one.sql("BEGIN")
    one.sql(TAKE)
    other.sql("SELECT GET_LOCK('closing', 0)")
    one.go("SELECT GET_LOCK('closing', 500)")
    other.go(*[TAKE] * 10)
    scene.note("evident")
    scene.crowd(more, TAKE)
    scene.blocks(one.id, other.id)
    yield


@tried(locks_case.fault, "short timeouts", {"1 client": 1, "3 clients": 3, "10 clients": 10},
       (*METADATA, "transaction open for long"), kind="lock_timeouts", limits=(0.0, None))  # fmt: skip
def short_timeouts(scene, clients):
    """A job has a row for 2.5 s each time; clients wait for a second only (innodb_lock_wait_timeout = 1)."""
    _stock(scene)
    yield
    job = scene.client()

    def works():
        while scene.until_over(0.5):
            job.sql("BEGIN")
            job.sql(TAKE)
            scene.until_over(2.5)
            job.sql("COMMIT")

    def asks(client):
        client.sql("SET SESSION innodb_lock_wait_timeout = 1")
        while scene.until_over(0.5):
            with suppress(pymysql.OperationalError):
                client.sql(TAKE)

    scene.beside(works)
    for _ in range(clients):
        client = scene.client(scene.app)
        scene.beside(lambda client=client: asks(client))
    time.sleep(3)
    scene.note("evident")
    yield


@tried(locks_case.healthy, "standby instances", {"1 standby": 1, "10 standbys": 10})
def standby_instances(scene, standbys):
    """Of several instances the one that has the lock of GET_LOCK() works; the others wait for their turn."""
    _stock(scene)
    yield
    active = scene.client(scene.app)
    active.sql("SELECT GET_LOCK('leader', 0)")
    for _ in range(standbys):
        scene.client(scene.app).begin("SELECT GET_LOCK('leader', 500)")

    def works():
        while scene.until_over(1.0):
            active.sql(TAKE)

    scene.beside(works)
    yield


# JVMs


@tried(jmx_case.fault, "slow statements", {"6 threads": 6, "10 threads": 10, "30 threads": 30},
       ("queue stands still", "deadlock"), told={POOLS: LENT_OUT}, states=(CRITICAL_STATE,), wrong=NOT_HELD,
       lasts=33.0)  # fmt: skip
def slow_statements(scene, threads):
    """Each statement takes 3 s from now on: the pool of 4 connections goes on, and threads wait for it."""
    scene.application.tell("work", 2, 20, 200)
    yield
    scene.application.tell("work", threads, 3000, 1)
    yield


@tried(jmx_case.fault, "new connections refused", {"3 left": 3, "2 left": 2, "1 left": 1},
       ("queue stands still",), told={POOLS: NO_NEW}, states=(CRITICAL_STATE,), evident=3.0,
       lasts=33.0)  # fmt: skip
def new_connections_refused(scene, left):
    """A firewall has ended some of the 4 connections of a pool, and refuses new ones; the others work."""
    link = scene.kept.enter_context(Link(scene.database.sql_port))
    place = os.path.join(scene.folder, "behind")
    scene.application = scene.kept.enter_context(pool_servers.Application(place, link.port))
    scene.asked = scene.application
    scene.application.tell("work", 4, 500, 5)
    yield
    clients = [one for one in link.sockets if one.getsockname()[1] == link.port]
    link.sockets = {*clients[left:]}
    link.refuse()
    yield


@tried(jmx_case.fault, "requests hang in Jetty", {"6 requests": 6, "10 requests": 10, "30 requests": 30},
       told={POOLS: Told(HANGS, of="Jetty/*")}, states=(WARNING_STATE,), evident=2.0, lasts=45.0)  # fmt: skip
def requests_hang_in_jetty(scene, requests):
    """All threads that a Jetty has for requests work at some that take a minute, and others wait."""
    jetty = scene.kept.enter_context(pool_servers.Jetty(os.path.join(scene.folder, "jetty")))
    scene.asked = jetty
    yield
    jetty.request(jetty.ports[0], requests)
    yield


@tried(jmx_case.fault, "tasks hang from the start", WAITERS, told={POOLS: Told("blocked_tasks")},
       states=(WARNING_STATE,), evident=STILL, warm=0.0, lasts=45.0)  # fmt: skip
def tasks_hang_from_the_start(scene, waiters):
    """Pools of 2 threads, of JBoss Threads, Camel and Hazelcast, did 300 tasks; all since then hang."""
    pools = pool_servers.TaskPools(os.path.join(scene.folder, "tasks"), 2 + waiters, FOREVER, 300)
    scene.asked = scene.kept.enter_context(pools)
    yield
    yield


@tried(jmx_case.healthy, "listeners that never end", {"2 connections": 2, "3 connections": 3}, lasts=42.0)
def listeners(scene, connections):
    """Both threads of a pool have a task without end, and connections are lent for ever: nobody waits."""
    scene.application.tell("work", 1, 20, 200)
    yield
    scene.application.tell("tasks", 2, FOREVER)
    scene.application.tell("leak", connections)
    yield


# what was said


def apart(trial, beside):
    """The trial without what its runs rightly say of the other case that went on beside it."""
    return trial._replace(runs=[_apart(run, trial, beside) for run in trial.runs])


def _apart(run, trial, beside):
    if not (told := run.told):
        return run
    others = [one for one in told["findings"] if not _is_of(one.get("cause"), trial, beside)]
    state = max((one["state"] for one in others if "explained_by" not in one), key=WORST.index, default="OK")
    output = json.dumps(told | {"findings": others, "state": state}, ensure_ascii=False)
    return run._replace(status=STATUSES[state], output=output)


def _is_of(cause, trial, beside):
    if not cause:
        return False
    if beside.part == "jmx":
        return is_told(cause, beside.expected.told[POOLS])
    subject = cause["subject"]
    is_head = subject["thing"] != "connection" or int(subject["id"] or 0) in trial.may_end
    return cause["kind"] == beside.expected.kind and is_head


def about(cases):
    """What is known of each case, for the results."""
    return {
        name: {"about": case.about, "fault": case.is_fault, "strengths": list(case.strengths),
               "servers": list(case.servers), "expected": _expected(case)}
        for name, case in cases.items()
    }  # fmt: skip


def _expected(case):
    """The right kind, subject and states of a fault in words."""
    if not case.is_fault:
        return ""
    if case.part == "jmx":
        told = case.expected.told[POOLS]
        states = [state for state, status in STATUSES.items() if status in case.expected.states]
        return f"{' or '.join(told.kinds.split())} of {told.of}: {' or '.join(states)}"
    limits = zip(("WARNING", "CRITICAL"), case.expected.limits, strict=True)
    states = [f"{state} after {limit:g} s" for state, limit in limits if limit is not None]
    return f"{case.expected.kind}: {', '.join(states)}"


def with_first(told, paths, before):
    """The results of all trials, and those of the first play, which stay, with all that was said then.

    before  the rows of trials that were played first before
    """
    rows = {_key(row): row for row in before}
    played = {(trial.case, trial.server): trial for path in paths if path.exists() for trial in [read(path)]}
    load = told["machine"]["load before"]
    when = {"commit": FROZEN, "day": told["day"], "time": told["time"], "load": load}
    for row in told["trials"]:
        trial = played[row["case"], row["server"]]
        rows.setdefault(_key(row), when | row | {"said": _said(trial, row["who"])})
    return told | {"first": list(rows.values())}


def _key(row):
    return row["case"], row["server"], row["who"]


def _said(trial, who):
    """When, in seconds after the injection, a check ran, its line, and its causes with their states."""
    return [
        {"at": round(run.begun - trial.events["injected"], 1), "line": run.line,
         "causes": [_cause(one) for one in (run.told or {"findings": ()})["findings"] if "cause" in one]}
        for run in trial.by(who)
    ]  # fmt: skip


def _cause(finding):
    cause, subject = finding["cause"], finding["cause"]["subject"]
    return {"state": finding["state"], "kind": cause["kind"], "of": (subject["thing"], subject["id"]),
            "certainty": cause["certainty"], "evidence": cause["evidence"],
            "is_consequence": "explained_by" in finding}  # fmt: skip
