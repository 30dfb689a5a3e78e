"""What a blocker is, and what ends it: each rule of the table by its cases."""

import pytest
from stallwatch.causes import Cause, Certainty, Kind, Scope, Subject, roots
from stallwatch.probes.mysql.locks.ending import Head, NextStep, Step, judge
from stallwatch.probes.mysql.locks.graph import Graph, LockKind, Release, Wait
from stallwatch.probes.mysql.locks.rows import Transaction
from stallwatch.probes.mysql.processes import Process
from stallwatch.probes.mysql_stalls.collect import Details, Waiting
from stallwatch.probes.mysql_stalls.diagnosis import of_circle, of_head, of_unknown
from stallwatch.probes.mysql_stalls.heads import Blocked
from stallwatch.probes.mysql_stalls.model import Found

CERTAIN, LIKELY, POSSIBLE = Certainty
SERVER = Subject("db1:3306", started=1000.0)
IDLE = {"process": Process(22, "report", "app1:1", "Sleep", 240.0, "")}
WORKS = {"process": Process(22, "report", "app1:1", "Query", 240.0, "updating", "UPDATE orders SET a = 1")}
JUST_NOW = {"process": Process(22, "report", "app1:1", "Query", 2.9, "updating", "UPDATE orders SET a = 1")}
KILLED = {"process": Process(22, "report", "app1:1", "Killed", 240.0, "")}
APPLIER = {"process": Process(22, "system user", "", "Slave_worker", 240.0, "")}
RECEIVER = {"process": Process(22, "system user", "", "Slave_IO", 240.0, "")}
SCHEDULER = {"process": Process(22, "event_scheduler", "localhost", "Daemon", 240.0, "")}
COMMITS = {"process": Process(22, "app", "app1:1", "Query", 12.0, "waiting for handler commit", "COMMIT")}
COMMITS_ALSO = {"process": Process(22, "app", "app1:1", "Query", 12.0, "Commit", "xa commit 'a'")}
ACKNOWLEDGES = {"process": Process(22, "app", "app1:1", "Query", 12.0, "Waiting for semi-sync ACK", "COMMIT")}
LACKS_SPACE = {
    "process": Process(22, "app", "app1:1", "Query", 12.0, "Waiting for someone to free space", "UPDATE t")
}
ENDS_AN_UPDATE = {
    "process": Process(22, "app", "app1:1", "Query", 12.0, "waiting for handler commit", "UPDATE t")
}
COMMITS_NOW = {"process": Process(22, "app", "app1:1", "Query", 1.9, "waiting for handler commit", "COMMIT")}
OPEN = {"transaction": Transaction("t22", 22, 241.0, None, modified=3)}
ROLLS_BACK = {"transaction": Transaction("t22", 22, 241.0, None, rolls_back=True)}
ROWS = {
    number: {"transaction": Transaction("t22", 22, 241.0, None, modified=number)}
    for number in (999, 1000, 99_999, 100_000)
}
NOBODY_S = {"connection": 0, "process": None, "transaction": Transaction("t1", 0, 241.0, None)}
ONE_OF_SEVERAL = {"connection": 0, "process": None}
NEW = {"certain": 2.9, "possible": 20.0}
NOT_NEW = {"certain": 3.0, "possible": 20.0}
PREPARED = {"digest": "XA PREPARE ?"}
LISTED = {"prepared": True}
DUMP = {"program": "mysqldump"}
MARIABACKUP = {"program": "mariabackup"}
KNOWN_BACKUP = {"is_known_backup": True}
UNPROVEN = {"waits": [Wait(30, 22, LockKind.ROW, certain=False)]}
UNLISTED = {"process": None}


def waits(*locks, release=Release.COMMIT, **more):
    return {"waits": [Wait(30, 22, lock, release=release, **more) for lock in locks]}


ROW, BACKUP = waits(LockKind.ROW), waits(LockKind.BACKUP, release=Release.UNLOCK_INSTANCE)
TABLE = waits(LockKind.METADATA, release=Release.COMMIT_OR_UNLOCK)
QUEUE = {"waits": [*waits(LockKind.METADATA, queued=True)["waits"], *TABLE["waits"]]}
READ = waits(LockKind.READ, release=Release.UNLOCK_TABLES)


def judged(*known, **more):
    parts = {"connection": 22, "transaction": None, **ROW}
    return judge(
        Head(**{name: value for one in (parts, *known, more) for name, value in one.items()}), SERVER, 9000.0
    )


KILL, LOOK, BACKS_UP, ROLLBACK = Step.KILL, Step.LOOK_AGAIN, Step.LET_BACKUP_END, Step.WAIT_FOR_ROLLBACK


@pytest.mark.parametrize(
    ("known", "evidence", "step"),
    [
        ((IDLE, ROLLS_BACK), "rolls_back", ROLLBACK),
        ((IDLE, ROLLS_BACK, UNPROVEN, DUMP, PREPARED), "rolls_back", ROLLBACK),
        ((NOBODY_S, ROLLS_BACK), "rolls_back", ROLLBACK),  # after a crash
        ((KILLED, OPEN), "killed", ROLLBACK),
        ((KILLED, UNPROVEN), "killed", ROLLBACK),
        ((NOBODY_S,), "no_connection", Step.END_BY_XA),
        ((NOBODY_S, UNPROVEN), "no_connection", Step.END_BY_XA),
        ((ONE_OF_SEVERAL,), "one_of_several_without_connection", Step.FIND_BY_XA),
        ((JUST_NOW, NEW, OPEN), "turn_may_be_new", LOOK),
        ((JUST_NOW, NEW, DUMP), "turn_may_be_new", LOOK),
        ((JUST_NOW, NOT_NEW, OPEN), "working_client", KILL),
        ((JUST_NOW, NEW, UNPROVEN), "not_proven", Step.CHECK_FIRST),
        ((WORKS, NEW), "working_client", KILL),
        ((COMMITS,), "commits_for_long", Step.SEE_DISK),
        ((COMMITS_ALSO, OPEN), "commits_for_long", Step.SEE_DISK),
        ((ACKNOWLEDGES,), "waits_for_ack", Step.SEE_REPLICAS),
        ((LACKS_SPACE, OPEN), "waits_for_space", Step.FREE_SPACE),
        ((ENDS_AN_UPDATE, OPEN), "commits_for_long", Step.SEE_DISK),
        ((COMMITS_NOW,), "working_client", KILL),
        ((APPLIER, OPEN), "applier", Step.WAIT_FOR_APPLIER),
        ((APPLIER, UNPROVEN), "applier", Step.WAIT_FOR_APPLIER),
        ((RECEIVER,), "server_thread", Step.WAIT_FOR_THREAD),
        ((SCHEDULER,), "server_thread", Step.WAIT_FOR_THREAD),
        ((IDLE, BACKUP), "backup_lock", BACKS_UP),
        ((WORKS, BACKUP), "backup_lock", BACKS_UP),
        ((IDLE, waits(LockKind.BACKUP, LockKind.ROW)), "idle_client", KILL),
        ((IDLE, DUMP), "backup_tool", BACKS_UP),
        ((WORKS, MARIABACKUP, UNPROVEN), "backup_tool", BACKS_UP),
        ((IDLE, KNOWN_BACKUP, {"program": "mysqlsh"}), "backup_tool", BACKS_UP),
        ((IDLE, {"program": "mysql"}), "idle_client", KILL),
        ((IDLE, OPEN, PREPARED), "prepared_by_xa", Step.END_OWN_BY_XA),
        ((IDLE, OPEN, {"digest": "XA END ?"}), "idle_client", KILL),
        ((IDLE, ROWS[100_000]), "many_rows", Step.LET_GO),
        ((IDLE, ROWS[100_000], LISTED, UNPROVEN), "many_rows", Step.LET_GO),
        ((IDLE, ROWS[99_999]), "idle_client", KILL),
        ((IDLE, OPEN, LISTED), "may_be_prepared", Step.CHECK_XA),
        ((IDLE, OPEN, LISTED, UNPROVEN), "may_be_prepared", Step.CHECK_XA),
        ((IDLE, LISTED), "idle_client", KILL),  # without a transaction
        ((WORKS, OPEN, LISTED), "working_client", KILL),  # who works has not prepared it
        ((IDLE, UNPROVEN), "not_proven", Step.CHECK_FIRST),
        ((UNLISTED, OPEN), "not_proven", Step.CHECK_FIRST),
        ((IDLE, OPEN), "idle_client", KILL),
        ((WORKS, OPEN), "working_client", KILL),
    ],
)
def test_what_a_blocker_is_and_what_ends_it(known, evidence, step):
    cause = judged(*known)
    assert (cause.evidence, cause.parameters["step"].step) == (evidence, step)


@pytest.mark.parametrize(
    ("known", "kind", "certainty"),
    [
        ((IDLE,), Kind.ROW_LOCK, CERTAIN),
        ((IDLE, UNPROVEN), Kind.ROW_LOCK, LIKELY),
        ((COMMITS, UNPROVEN), Kind.SLOW_DISK, LIKELY),
        ((COMMITS,), Kind.SLOW_DISK, LIKELY),
        ((IDLE, OPEN, {"waits": ()}), Kind.LONG_TRANSACTION, CERTAIN),
    ],
)
def test_the_kind_is_that_of_the_lock_or_the_disk_and_nothing_is_more_certain_than_who_blocks(
    known, kind, certainty
):
    cause = judged(*known)
    assert (cause.kind, cause.certainty) == (kind, certainty)


@pytest.mark.parametrize(
    ("known", "release", "rows"),
    [
        ((IDLE, OPEN), Release.COMMIT, 0),
        ((WORKS, OPEN), Release.END, 0),
        ((IDLE, ROWS[999]), Release.COMMIT, 0),
        ((IDLE, ROWS[1000]), Release.COMMIT, 1000),
        ((IDLE, TABLE), Release.COMMIT_OR_UNLOCK, 0),  # of another engine, or LOCK TABLES
        ((IDLE, QUEUE), Release.COMMIT_OR_UNLOCK, 0),
        ((IDLE, TABLE, OPEN), Release.COMMIT, 0),
        ((IDLE, READ), Release.UNLOCK_TABLES, 0),
        ((WORKS, READ), Release.END, 0),
        ((IDLE, READ, OPEN), Release.UNLOCK_TABLES, 0),  # which no COMMIT releases
        ((IDLE, waits(LockKind.USER, release=Release.RELEASE_LOCK)), Release.RELEASE_LOCK, 0),
    ],
)
def test_how_it_lets_go_by_itself_and_what_a_kill_rolls_back(known, release, rows):
    assert judged(*known).parameters["step"] == NextStep(KILL, (22,), release, rows)


def found(heads=(), edges=(), processes=(IDLE,), **more):
    listed = {one["process"].id: one["process"] for one in processes}
    listed = {number: listed[22]._replace(id=number) for number in (22, 23, 24)} | {**listed}
    return Found(Waiting((), 0, 0.0), Details(Graph(edges), listed), SERVER, 9000.0, heads=heads, **more)


def head(number, *, lock=LockKind.ROW, certain=True, of=OPEN, on_row="", beside=(), known=IDLE):
    process = known["process"] and known["process"]._replace(id=number)
    edge = Wait(30, number, lock, certain=certain, row=on_row)
    transaction = of and of["transaction"]._replace(process=number)
    return Head(number, process, transaction, [edge], [30], 60.0, 90.0, beside=beside)


@pytest.mark.parametrize(
    ("lock", "kind"),
    [
        (LockKind.ROW, Kind.ROW_LOCK),
        (LockKind.METADATA, Kind.METADATA_LOCK),
        (LockKind.DATABASE, Kind.METADATA_LOCK),
        (LockKind.TABLE, Kind.TABLE_LOCK),
        (LockKind.READ, Kind.GLOBAL_READ_LOCK),
        (LockKind.SERVER, Kind.GLOBAL_READ_LOCK),
        (LockKind.BACKUP, Kind.BACKUP_LOCK),
        (LockKind.FLUSH, Kind.TABLE_FLUSH),
        (LockKind.STATEMENT, Kind.TABLE_FLUSH),
        (LockKind.USER, Kind.USER_LOCK),
    ],
)
def test_each_lock_has_its_kind(lock, kind):
    cause = of_head(found(), head(22, lock=lock))
    assert (cause.kind, cause.certainty) == (kind, CERTAIN)
    assert cause.subject == SERVER._replace(thing=Scope.CONNECTION, id="22")
    assert cause.since == 8940.0


def test_the_lock_that_is_known_best_counts():
    both = head(22, certain=False)
    both = both._replace(waits=[*both.waits, Wait(31, 22, LockKind.METADATA)])
    assert of_head(found(), both).kind is Kind.METADATA_LOCK


KILL_BOTH = NextStep(KILL, (22, 23))
CHECK_BOTH = NextStep(Step.CHECK_FIRST, (22, 23))


@pytest.mark.parametrize(
    ("first", "other", "certainty", "evidence", "step"),
    [
        ({}, {}, CERTAIN, "several", KILL_BOTH),
        ({}, {"certain": False}, LIKELY, "several", CHECK_BOTH),
        ({}, {"known": UNLISTED}, CERTAIN, "several", CHECK_BOTH),
        (
            {}, {"known": APPLIER},
            CERTAIN, "one_is_not_killed", NextStep(Step.WAIT_FOR_APPLIER, (23,), Release.END),
        ),
        ({}, {"of": ROLLS_BACK}, CERTAIN, "one_is_not_killed", NextStep(ROLLBACK, (23,))),
        ({}, {"of": ROWS[100_000]}, CERTAIN, "one_is_not_killed", NextStep(Step.LET_GO, (23,), rows=100_000)),
        ({"certain": False}, {"certain": False}, POSSIBLE, "one_of_several", NextStep(Step.CHECK_WHICH)),
        (
            {"certain": False}, {"certain": False, "known": APPLIER},
            POSSIBLE, "one_of_several", NextStep(Step.CHECK_WHICH_ONLY),
        ),
        (
            {"certain": False, "on_row": "1"}, {"certain": False, "on_row": "2"},
            LIKELY, "several", CHECK_BOTH,  # each has one of two rows
        ),
    ],
)  # fmt: skip
def test_of_several_heads_that_the_same_connections_wait_for(first, other, certainty, evidence, step):
    cause = of_head(found(), head(22, beside=[head(23, **other)], **first))
    assert (cause.certainty, cause.evidence, cause.parameters["step"]) == (certainty, evidence, step)
    assert cause.subject.id == "22"
    assert cause.subject.within == ((Scope.CONNECTION, "23"),)


def edge(waiting, holding, **more):
    return Wait(waiting, holding, LockKind.ROW, **more)


@pytest.mark.parametrize(
    ("edges", "processes", "certainty", "step"),
    [
        ([edge(22, 23), edge(23, 22)], (IDLE,), CERTAIN, NextStep(Step.KILL_ONE_OF, (22, 23))),
        ([edge(22, 23), edge(23, 22, certain=False)], (IDLE,), LIKELY, NextStep(Step.KILL_ONE_OF, (22, 23))),
        ([edge(22, 23), edge(23, 22)], (APPLIER,), CERTAIN, NextStep(Step.WAIT_FOR_TIMEOUT, ())),
    ],
)
def test_of_a_circle_any_client_can_be_ended(edges, processes, certainty, step):
    cause = of_circle(found(edges=edges, processes=processes), Blocked([22, 23], 40.0, 40.0))
    assert (cause.kind, cause.certainty, cause.parameters["step"]) == (Kind.LOCK_CIRCLE, certainty, step)
    assert (cause.subject.id, cause.subject.within) == ("22", ((Scope.CONNECTION, "23"),))


@pytest.mark.parametrize(
    ("lock", "missing", "step"),
    [
        (LockKind.ROW, (), Step.FIND_OLDER),
        (LockKind.METADATA, ("GRANT it",), Step.GRANT),
        (LockKind.USER, ("GRANT it",), Step.FIND_USER_LOCK),
    ],
)
def test_where_to_look_for_who_blocks(lock, missing, step):
    cause = of_unknown(found(missing=missing), Blocked([22], 0.0, 9.0, lock))
    assert (cause.kind, cause.certainty, cause.subject) == (Kind.UNKNOWN, POSSIBLE, SERVER)
    assert cause.parameters["step"].step is step


def connection(kind, number="22", since=100.0, certainty=CERTAIN, **subject):
    about = SERVER._replace(thing=Scope.CONNECTION, id=number, **subject)
    return Cause(kind, about, certainty, since=since)


LONG, LOCKS, TABLES, TIMEOUTS = (
    Kind.LONG_TRANSACTION, Kind.ROW_LOCK, Kind.METADATA_LOCK, Cause(Kind.LOCK_TIMEOUTS, SERVER, since=100.0)
)  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "consequence", "follows"),
    [
        (connection(LONG), connection(LOCKS), True),
        (connection(LONG), connection(TABLES), True),
        (connection(LONG), connection(LOCKS, "23"), False),  # another connection's
        (
            connection(LONG),
            connection(LOCKS, "23", within=((Scope.CONNECTION, "22"),)),
            True,
        ),  # one of several
        (connection(LONG, since=106.0), connection(LOCKS), False),  # it began later
        (connection(LONG), connection(Kind.USER_LOCK), False),  # which no transaction ends
        (connection(LONG, started=2000.0), connection(LOCKS), False),  # that number before a restart
        (connection(LOCKS), TIMEOUTS, True),
        (connection(LOCKS, certainty=LIKELY), TIMEOUTS, True),
        (connection(LOCKS, certainty=POSSIBLE), TIMEOUTS, False),
        (connection(LOCKS, since=106.0), TIMEOUTS, False),  # it blocks since after the waits may have ended
        (connection(TABLES), TIMEOUTS, False),  # lock_wait_timeout ends these waits
        (connection(Kind.USER_LOCK), TIMEOUTS, False),
        (connection(LONG), TIMEOUTS, False),  # it blocks nobody
        (Cause(Kind.DEADLOCKS, SERVER), TIMEOUTS, False),  # these end at once
    ],
)
def test_what_follows_from_a_lock_and_what_only_looks_like_it(cause, consequence, follows):
    assert roots([consequence, cause]) == [1 if follows else None, None]
