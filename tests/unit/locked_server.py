"""A server on which one connection blocks others, as check_mysql_stalls is answered by it."""

from typing import NamedTuple

from captured_mysql import CapturedMysql
from stallwatch.causes import Certainty, Kind

HEAD, WAITER = 22, 23
USER_LOCK = "USER LEVEL LOCK"
MDL = "Waiting for table metadata lock"

STATES = ("Commit", "Commit implicit", "Writing to binlog", "Opening tables", "starting")  # of other waits


class Judged(NamedTuple):
    """What a run comes to first, or what it finds of one quantity."""

    state: str
    kind: Kind | None  # None: all is well
    subject: str  # the connections, "22 23"
    certainty: Certainty | None
    evidence: str
    step: str  # with the connections: "KILL 22"
    value: float | None


def judged(report, name=None):
    """What a report says first, or of this quantity."""
    first = next(one for one in report.verdicts if one.name == name) if name else report.ranked[0]
    cause = first.cause if first.is_wrong else None
    if not cause:
        return Judged(first.state.name, None, "", None, "", "", first.value)
    subject, step = cause.subject, cause.parameters["step"]
    ids = " ".join(filter(None, (subject.id, *(other for _, other in subject.within))))
    what = " ".join((step.step.name, *(str(one) for one in step.connections if one)))
    return Judged(first.state.name, cause.kind, ids, cause.certainty, cause.evidence, what, first.value)


class Locked(CapturedMysql):
    """One head, connection 22, and who waits for it; each moment is counted in seconds of the test."""

    def __init__(self, version="MySQL 9.7"):
        super().__init__(version)
        self.transactions = []
        self.listed = []
        self.pairs = []
        self.locks = []
        self.without_performance_schema = False
        self.used_locks = {}  # holders of locks of GET_LOCK(), by name
        self.prepared = []  # what XA RECOVER lists
        self.digest = "UPDATE `orders` SET `a` = ?"  # of the last statement of all who sleep
        self.went_on = ()  # connections that no longer sleep when they are asked for their last statement
        self.done = iter(range(1000))  # what statements at work have done, at each look
        self.took = 0.01  # seconds of the head's last statement; None: not known

    def idle_head(self, *, waits=12, idle=240, started="2026-11-18 13:00:00", modified=3, waiters=2):
        """Let connection 22 be idle in its transaction, and others wait for its row."""
        self.listed = [row(HEAD, "report", "Sleep", idle)]
        self.transactions = [trx(HEAD, idle + 1, started=started, modified=modified)]
        for number in range(WAITER, WAITER + waiters):
            self.listed.append(
                row(number, "app", "Query", waits, "updating", "UPDATE shop.orders SET a = 'x'")
            )
            self.transactions.append(trx(number, waits, waits=waits))
        self.pairs = [{"waiting": f"t{WAITER}", "holding": f"t{HEAD}"}]

    def rows(self, sql, *values, within=None):
        if "AS waiting, MAX(" in sql:
            if self.without_performance_schema and "performance_schema" in sql:
                return [{"waiting": None, "seconds": None, "others": None}]
            others = [one for one in self.listed if is_other_wait(one)]
            locks = [
                one["Time"]
                for one in self.listed
                if str(one["State"]).startswith(("Waiting", "User l")) and one not in others
            ]
            return [{"waiting": len(locks), "seconds": max(locks, default=None), "others": len(others)}]
        if "AS done" in sql or "AS examined" in sql:
            done = next(self.done)
            return [{"id": one["Id"], "done": done} for one in self.listed]
        if "IS_USED_LOCK" in sql:
            return [{"process": self.used_locks.get(*values)}]
        answers = {
            "metadata_locks": [one for one in self.locks if (one["type"] == USER_LOCK) == (USER_LOCK in sql)],
            "data_lock_waits": [one for one in self.pairs if one["waiting"] in values],
            "INNODB_LOCK_WAITS": [one for one in self.pairs if one["waiting"] in values],
            "INNODB_LOCKS": [{"name": "`shop`.`orders`", "key_name": "`PRIMARY`"}],
            "data_locks": [{"base": "shop", "name": "orders", "key_name": "PRIMARY"}],
            "INNODB_TRX": self.transactions,
            "XA RECOVER": self.prepared,
            "SHOW PROCESSLIST": self.listed,
            "events_statements_current": [
                {
                    "id": one["Id"],
                    "digest": self.digest,
                    "took": self.took,
                    "seconds": one["Time"],
                    "idle": int(one["Id"] not in self.went_on),
                }
                for one in self.listed
                if one["Command"] == "Sleep"
            ],
        }
        found = super().rows(sql, *values, within=within)
        return next((rows for part, rows in answers.items() if part in sql), found)


def is_other_wait(one):
    """Whether this one waits for something that is no lock, as the statement has it."""
    state = str(one["State"])
    is_lock = state.endswith(" lock") or state == "Waiting for table flush"
    is_at_it = one["Command"] == "Query" and one["Time"] >= 2 and one["User"] != "system user"
    is_one = state.lower().startswith(("waiting ", "query end", "executing hook")) or state in STATES
    return is_at_it and not is_lock and (is_one or (one["Time"] >= 10 and state.lower().startswith("updat")))


def row(number, user, command, seconds, state="", info=None):
    return {
        "Id": number, "User": user, "Host": "app1:4711", "db": "shop", "Command": command, "Time": seconds,
        "State": state, "Info": info,
    }  # fmt: skip


def trx(number, age, *, waits=None, started="2026-11-18 13:00:00", modified=0):
    state = "RUNNING" if waits is None else "LOCK WAIT"
    requested = None if waits is None else f"{number}:2:2:4:2:1"
    return {
        "trx_id": f"t{number}", "trx_state": state, "process": number, "age": age, "waiting": waits,
        "modified": modified, "locked": 1, "started": started, "requested": requested,
    }  # fmt: skip


def mdl(*values):
    return dict(zip(("type", "base", "name", "lock_type", "status", "process"), values, strict=True))
