"""What the rules for causes share: the case they look at, the cause they find, and phrases for it.

The scale of scores:

- 90 to 100: a thread is down, or the link or the heartbeat is silent. R1 applier failed: 100
- 84 to 88: something holds up the whole channel. R5 server locked: 88, R6 row locked: 86, R8 slow network: 84
- 70 to 83: the evidence shows what slows the applier. R11 redo log full: 83, R9 no usable key: 80
- 60 to 65: it probably slows the applier. R13 disk busy: 65, R12 backup: 60, with a busy disk up to 77
- 35 to 55: a setting or a load that can add to the lag. R16 one applier thread: 55, R20 long history: 35
- 20: no cause, but good to know (``explains=False``): below the causes, its advice never on the status line
"""

from __future__ import annotations

from stallwatch.probes.mysql.locks import words
from stallwatch.probes.mysql.locks.metadata import FLUSH, GLOBAL_LOCK, METADATA_LOCK
from stallwatch.probes.mysql.processes import COORDINATES, IDLE
from stallwatch.probes.replication_lag.signals import activity
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Sequence

    from stallwatch.probes.mysql.locks.rows import Transaction
    from stallwatch.probes.mysql.processes import Process
    from stallwatch.probes.replication_lag.lag.result import Lag
    from stallwatch.probes.replication_lag.model import Channel, ChannelSnapshot
    from stallwatch.probes.replication_lag.signals import Signals
    from stallwatch.probes.replication_lag.signals.backups import Backup
    from stallwatch.probes.replication_lag.trend import Trend
    from stallwatch.sources.mysql import Flavour

    Find = Callable[["Case"], "Cause | None"]

_WAITS = (GLOBAL_LOCK, METADATA_LOCK, FLUSH, activity.OTHER_WAIT)
_REPLICA = (8, 0, 22)  # MySQL: START REPLICA is known from here on
SLOW = "slow"  # all causes that make a working applier slow

JUST_BEGUN, _AT_IT = 2.0, 5.0  # seconds: a wait for a moment, and a transaction that is at work


ON_THE_LINE = ""  # Cause.what of a silent source and an intended delay: the line itself names them


class Cause(NamedTuple):
    """One thing that explains a lag, with its evidence in a few words."""

    score: float  # 20 (good to know) to 100 (a thread failed), see the scale above; highest first
    what: str  # with its strongest evidence, in some 70 characters: "mariabackup pid 26920, sda 97 % busy"
    advice: str = ""  # one next step, an imperative
    explains: bool = True  # whether it makes replication slow; else it is only worth knowing beside it
    rule: str = ""  # that has found it: "R8"
    is_down: bool = False  # whether a thread does not run because of it
    more: tuple[str, ...] = ()  # further evidence, a line each below the status line


class Case(NamedTuple):
    """One channel that lags, or whose threads are down, and the signals of its server."""

    snapshot: ChannelSnapshot
    lag: Lag
    trend: Trend | None
    signals: Signals
    stopped: float = 0.0  # seconds that the applier has been seen not to run
    connecting: float = 0.0  # seconds that the receiver has been seen to connect

    @property
    def appliers(self) -> list[list[Process]]:
        """The appliers at each look: of this channel on MySQL with performance_schema, else of all.

        Where they look alike, a channel that applies alone and has nothing to do has none of them.
        """
        own = self._own_appliers()
        if not own and self.is_idle and not self._side_by_side():
            return [[] for _ in self.signals.looks]
        return [
            [one for one in look.processes if one.applies and (not own or one.id in own)]
            for look in self.signals.looks
        ]

    def _own_appliers(self) -> set[int]:
        """Find the process list ids of the channel's threads; none: they are not known."""
        commits = self.snapshot.commits
        if not commits:
            return set()
        threads = {commits.coordinator_thread, *(worker.thread for worker in commits.workers)} - {None}
        return {one.id for one in self.signals.threads if one.thread in threads}

    def _side_by_side(self) -> bool:
        known = self.signals.workers
        return bool(known and known[1] > 1)

    @property
    def has_own_appliers(self) -> bool:
        """Whether these are known to be the channel's own: by their ids, or because it is alone."""
        last = self.signals.processes.values()
        coordinators = sum(one.command == "Slave_SQL" for one in last)  # MariaDB names them
        receivers = sum(one.is_system and not one.applies and one.command != "Daemon" for one in last)
        return bool(self._own_appliers()) or max(coordinators, receivers) <= 1

    @property
    def subject(self) -> str:
        """The applier in a sentence."""
        return "the applier" if self.has_own_appliers else "an applier of this server"

    def lasting(self, state: re.Pattern[str]) -> Process | None:
        """Find an applier in this state, if in most looks there is one: two of three, or the only one."""
        found = [[one for one in look if state.search(one.state)] for look in self.appliers]
        seen = [look for look in found if look]
        if not seen or 2 * len(seen) <= len(found):
            return None
        return max(seen[-1], key=lambda one: one.seconds)

    def share(self, state: re.Pattern[str]) -> float:
        """Return in what part of all sightings of a busy applier it is in this state, 0 to 1."""
        busy = [one for look in self.appliers for one in look if _is_busy(one)]
        return sum(bool(state.search(one.state)) for one in busy) / len(busy) if busy else 0.0

    @property
    def waits(self) -> bool:
        """Whether an applier waits for anything but work or its turn: a lock, a flush, room on the disk."""
        at_work = any(works(one) for look in self.transactions[-1:] for one in look)
        return any(self.lasting(state) for state in _WAITS) or (self.waits_for_row and not at_work)

    @property
    def waits_for_row(self) -> bool:
        """Whether in most looks an applier waits for a row lock, or pauses after it was not had in time.

        Between the timeout and the next try there is no transaction, for 1 s and at most 5 s: it has been
        seen without one in one look of 80 (MySQL 9.7.2, MariaDB 10.11.19). Where no look shows any
        transaction, they may be withheld (PROCESS), and their absence proves nothing.
        """
        visible = any(look.transactions for look in self.signals.looks)
        pauses = visible and self.snapshot.retries > 0 and not self.is_idle
        seen = [
            any(one.waiting is not None for one in look) or (pauses and not look)
            for look in self.transactions
        ]
        return 2 * sum(seen) > len(seen)

    @property
    def busy(self) -> float:
        """How many appliers are at work on average."""
        looks = self.appliers
        return sum(_is_busy(one) for look in looks for one in look) / len(looks) if looks else 0.0

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to apply, by the applier's state; its workers may still be at it."""
        commits = self.snapshot.commits
        at_work = commits and any(one.applying for one in commits.workers)
        return not at_work and bool(IDLE.search(self.snapshot.channel.applier.state))

    @property
    def os_threads(self) -> set[int]:
        """The channel's appliers as the operating system numbers them."""
        own = {one.id for look in self.appliers for one in look}
        return {one.os_id for one in self.signals.threads if one.os_id and one.id in own}

    @property
    def transactions(self) -> list[list[Transaction]]:
        """The appliers' transactions at each look."""
        return [
            [one for one in look.transactions if one.process in {applier.id for applier in at_work}]
            for look, at_work in zip(self.signals.looks, self.appliers, strict=True)
        ]

    def who(self, connection: int) -> str:
        """Name a connection: ``204 root@localhost (mysqldump pid 32318)``."""
        return words.who(connection, self.signals.processes.get(connection), self.signals.program(connection))

    @property
    def both_stopped(self) -> bool:
        """Whether receiver and applier are stopped without an error: as STOP REPLICA leaves them."""
        return are_stopped(self.snapshot.channel)

    @property
    def slave(self) -> str:
        """How this version calls a replica in its names: ``SLAVE`` or ``REPLICA``."""
        return _slave(self.signals.flavour)

    @property
    def change(self) -> str:
        """The statement that sets where the source is; MySQL has both from 8.0.23 on."""
        return "CHANGE MASTER" if self.slave == "SLAVE" else "CHANGE REPLICATION SOURCE"

    def start(self, thread: str) -> str:
        """Write the statement that starts ``SQL_THREAD`` or ``IO_THREAD`` of the channel, or both."""
        wanted = "" if self.both_stopped else thread
        return start(self.signals.flavour, self.snapshot.channel.name, wanted)


def are_stopped(channel: Channel) -> bool:
    """Whether receiver and applier of a channel are stopped without an error."""
    return all(one.running == "No" and not one.errno for one in (channel.receiver, channel.applier))


def start(flavour: Flavour | None, channel: str, thread: str) -> str:
    """Write the statement that starts a thread of a channel on a server of this kind; "": both threads."""
    wanted = f" {thread}" if thread else ""
    if not channel:
        return f"START {_slave(flavour)}{wanted}"
    if flavour and flavour.mariadb:
        return f"START SLAVE '{channel}'{wanted}"
    return f"START {_slave(flavour)}{wanted} FOR CHANNEL '{channel}'"


def _slave(flavour: Flavour | None) -> str:
    """Name a replica as the names of this version do: ``SLAVE`` or ``REPLICA``."""
    return "SLAVE" if flavour and (flavour.mariadb or flavour.version < _REPLICA) else "REPLICA"


def works(one: Transaction) -> bool:
    """Whether it waits for no row lock, or only for a moment: one begun again is as old as its wait."""
    return one.waiting is None or (one.waiting < JUST_BEGUN and one.age - one.waiting >= _AT_IT)


def _is_busy(one: Process) -> bool:
    """Whether it works itself: an idle one does not, nor a coordinator, nor who waits for its turn."""
    return not any(state.search(one.state) for state in (IDLE, COORDINATES, activity.ORDER))


def backup(running: Backup) -> str:
    """Return which backup, and since when: ``mariabackup pid 26920 for 2 h``."""
    connection = f"connection {running.connections[0]}" if running.connections else ""
    parts = [running.tool, f"pid {running.pid}" if running.pid else connection]
    if not running.tool:
        parts = [f"{connection}, which holds the backup lock,"]
    if running.seconds is not None:
        parts.append(f"for {say_duration(running.seconds)}")
    return " ".join(filter(None, parts))


class Rule(NamedTuple):
    """A rule, and which weaker causes are of no interest beside the one that it finds."""

    number: int
    find: Find  # returns a cause; None: the rule does not apply
    implies: frozenset[str]  # names of rules, and SLOW
    but_not: frozenset[str]
    is_slow: bool
    is_down: bool

    @property
    def name(self) -> str:
        """How others name it: "R8"."""
        return f"R{self.number}"

    def __call__(self, case: Case) -> Cause | None:
        """Give the cause that it finds, with the name of the rule."""
        cause = self.find(case)
        return cause and cause._replace(rule=self.name, is_down=self.is_down)

    def explains_away(self, other: Rule) -> bool:
        """Whether what the other one finds follows from what this one does."""
        implied = other.name in self.implies or (other.is_slow and SLOW in self.implies)
        return implied and other.name not in self.but_not


def rule(
    *implies: str, but_not: Sequence[str] = (), slow: bool = False, down: bool = False
) -> Callable[[Find], Rule]:
    """Make a rule of a function: its name begins with the number of the rule.

    ``implies`` are the rules whose weaker causes follow from this one, ``but_not`` which do not. A ``slow``
    cause makes a working applier slow: of no interest while that does not work, or has nothing to do. If it
    is ``down``, a thread does not run.
    """

    def found_by(find: Find) -> Rule:
        number = int(find.__name__.partition("_")[0].removeprefix("r"))
        return Rule(number, find, frozenset(implies), frozenset(but_not), slow, down)

    return found_by
