"""Whose time it was: a server is blamed when it had its time and did not answer, and never for ours.

At each phase of a conversation either the plugin is stopped, while the answer comes, or the server stands
still for good. Nothing rests on load: both happen at what was seen, and by the plugin's own clock.
"""

import concurrent.futures
import contextlib
import itertools
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import phases
import pytest
import warm_daemon
from asked_servers import wait_for
from bad_servers import says
from healthy import CALM
from installing import obtained
from jolokia import JolokiaJvm
from loopback import free_port, serving
from phases import (
    CONNECT,
    LOOK_UP,
    Beat,
    Ends,
    NameServer,
    Relay,
    go_on,
    listener,
    speaks,
    stop,
    waited_for_a_processor,
)
from runs import environment, finish, start
from shared_servers import SERVERS
from sleeping import sleeping
from stallwatch.sources import ndb_mgm
from subjects import (
    ALSO_ASKING,
    BESIDE,
    BY_NAME,
    CRITICAL,
    JMX,
    MYSQL,
    NDB,
    NETWORK,
    OK,
    SUBJECTS,
    UNKNOWN,
    WARNING,
    Place,
)

sys.path.append(str(Path(__file__).parents[1] / "unit"))
import mysql_bytes
from mysql_bytes import greeting, packet, result

TIMEOUT = 2.0  # seconds, more for a plugin that takes long without trouble
MORE = {"innodb_buffer_pool": 1, "replication_lag": 1}  # seconds: they keep 1.5 s for their last statement
AT_ONCE = 12
ATTEMPTS = 5  # of a case that this machine has made another one
SERVER, CHECK = "the server's", "the check's"
MUCH = 1 / 4  # of its time, and no check has lost less
DOUBT = 0.1  # of that: so near to it no verdict is wrong
COMPUTES = 0.2  # seconds that a check may need itself
JOLOKIA, JMX_IN_TLS = "jolokia", "jmx-in-tls"
FROZEN = "a frozen server"  # instead of a phase: the kernel takes its connections
ANSWERS, SILENT = "answers", "silent"
_IN_ITS_PLACE = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'

# What is said of a server that did not answer, and of a check that had no time.
BLAMES = (
    r"does not (answer|respond|finish|advance)|has not answered|hangs?\b|sends (no|half a) greeting|refused"
    r"|no (connection|answer) within|closed the connection|cannot be looked up|cannot be read|restart|failed"
)
OWN = r"this check (had|got|was)\b.*\d s"


class Pause(NamedTuple):
    """What happens when a phase is reached.

    server    ANSWERS, or is SILENT from then on
    begins    gives, of a Meeting, when the plugin is stopped; None: it is not
    ends      gives when it goes on
    """

    server: str
    begins: object = None
    ends: object = None


def part(share):
    """A moment within the time that the plugin would wait for an answer."""
    return lambda met: met.at + share * (met.until - met.at)


def around_end(seconds):
    """A moment before or after the plugin's end."""
    return lambda met: met.end + seconds


ANSWERING = ("statement", "turn in TLS", "RMI call", "HTTP request")
PROVED = "is stopped, state T"  # what /proc shows
PAUSES = {
    "stopped until 0.3 s before its end": Pause(ANSWERS, part(0), around_end(-0.3)),
    "stopped until 0.3 s after its end": Pause(ANSWERS, part(0), around_end(0.3)),
    "stopped around its end": Pause(SILENT, around_end(-0.35), around_end(0.15)),
    "never stopped": Pause(SILENT),
    "stopped for a quarter": Pause(SILENT, part(0.25), part(0.5)),
    "stopped for three quarters": Pause(SILENT, part(0), part(0.75)),
}
TIME, NO_TIME = "time", "no time"
FOR_RUNS = {TIME: Pause(ANSWERS), NO_TIME: Pause(SILENT, part(0), around_end(0.3))}  # in a row
SELDOM = ("never stopped", "stopped for a quarter", "stopped for three quarters")  # representative in turns


class Case(NamedTuple):
    """A phase of a plugin's conversation, and what happens then; ``turn`` is 0 before the first one."""

    phase: str
    turn: int
    pause: str
    is_last: bool  # it may be a farewell, which nobody waits for; in TLS that may be one turn or two


class Asked(NamedTuple):
    """A server: where it is, and the password; a client of ``rmi`` is told its port once more."""

    host: str
    port: int
    user: str
    password: str
    rmi: bool = False


# where all is well

FIRST = ("mysql_query", "ndb_nodes", "jmx_thread_pools")  # representative of their sources
ASKING = sorted(
    (*(one for one in SUBJECTS if one.source in NETWORK), *ALSO_ASKING),
    key=lambda one: (one.source, one.plugin not in FIRST, one.plugin),
)
OVER_HTTP = tuple(
    one._replace(source=JOLOKIA, arguments=(*one.arguments, "--via", "jolokia"))
    for one in ASKING
    if one.source == JMX
)
IN_TLS = tuple(
    one._replace(source=JMX_IN_TLS, arguments=(*one.arguments, "--tls", "--tls-registry", "--insecure"))
    for one in ASKING
    if one.source == JMX
)


@pytest.fixture
def asked(request, subject, tmp_path_factory):
    """The healthy server of a subject."""
    if subject.source == JMX_IN_TLS:
        jvm = request.getfixturevalue("jvm_variant")("shared-port-tls")
        return Asked(jvm.host, jvm.port, "monitor", "x", rmi=True)
    if subject.source not in (JMX, JOLOKIA):
        asks = BY_NAME["mysql_query"] if subject.source == BESIDE else subject
        _, place = request.getfixturevalue("healthy")(asks)
        return Asked(place.host, place.port, place.user, place.password)
    folder = tmp_path_factory.mktemp("jolokia")
    jvm = SERVERS.get("JVM with Jolokia", lambda: obtained(JolokiaJvm, folder, rmi_port="shared"))
    rmi = subject.source == JMX
    return Asked(jvm.host, jvm.port if rmi else jvm.agent_port, "monitor", "x", rmi)


# a plugin, its phases, and what comes of it


class Meeting:
    """What happens to a check when its phase is reached: see Pause."""

    def __init__(self, pause, beat, ends, pids, seconds, patience=None):
        self.begun = time.monotonic()
        self.reached = threading.Event()
        # By time.monotonic; ``until`` it waits for a server, until its ``end`` it reports.
        self.at = self.until = self.end = self.stopped_at = self.goes_on = self.went_on = 0.0
        self.before = 0.0  # it was not there yet
        self.failure = None
        self.pid = self.process = None  # of the plugin; what was started, which may only ask for it
        self._pause, self._ends, self._pids = pause, ends, pids
        self._seconds, self._patience = seconds, patience
        self._beat, self._late = beat, beat.late
        self._once = threading.Lock()

    def __call__(self, own, other):
        """The phase is reached, by who speaks with these ports, see phases.speaks: whether he is answered."""
        with self._once:
            if not self.reached.is_set():
                try:
                    self._meet(own, other)
                except Exception as failure:  # noqa: BLE001 - who waits is to see it
                    self.failure = failure
                self.reached.set()
        return self._pause.server == ANSWERS

    def _meet(self, own, other):
        self.at = time.monotonic()
        self.before = self.before or self.at - (self._beat.late - self._late)
        self.ports = own, other
        wait_for(lambda: self.process)
        wait_for(lambda: self._find() or _has_ended(self.process))
        if not self.pid:
            return  # it did not wait for an answer
        self.end = self._ends.of(self.pid, self.begun)
        self.until = self.end - min(0.5, self._seconds / 10)
        if self._patience:
            self.until = self.end = self.at + self._patience(self.until - self.at)
        if self._pause.begins and self._pause.begins(self) <= self.at:
            self._stop()

    def _find(self):
        self.pid = speaks(self._pids(self.process), *self.ports)
        return self.pid

    def _stop(self):
        stop(self.pid)
        self.stopped_at = time.monotonic()

    @property
    def took_place(self):
        """Whether the phase was reached; raises what that has raised."""
        with self._once:
            if self.failure:
                raise self.failure
            return self.pid is not None

    def go_on(self):
        """Stop it, if it is not stopped yet, and let it go on."""
        if not self._pause.begins:
            return
        if not self.stopped_at:
            _sleep_until(self._pause.begins(self))
            if not speaks([self.pid], *self.ports):
                return  # it has just ended
            with contextlib.suppress(ProcessLookupError):
                self._stop()
        _sleep_until(self._pause.ends(self))
        self.goes_on = time.monotonic()
        go_on(self.pid)
        self.went_on = time.monotonic()

    def whose(self):
        """Whose time it was where nobody has answered: SERVER, CHECK, or None, if that was a near thing.

        A server is blamed unless the check has lost more time than it waited for an answer, and a quarter
        of its whole time at least. It may have waited for longer than since it was seen to wait.
        """
        least, most = (max(0.0, one - self.stopped_at) for one in (self.goes_on, self.went_on))
        within = [max(0.0, min(one, self.until) - self.stopped_at) for one in (self.goes_on, self.went_on)]
        starved = max(waited_for_a_processor(self.pid), self._beat.late - self._late)
        whole, longest = self.until - self.at, self.until - self.before
        much = self._seconds * MUCH
        if most + starved + COMPUTES < (1 - DOUBT) * max(whole - within[1] - starved, much):
            return SERVER
        return CHECK if (1 - DOUBT) * least > max(longest - within[0], much) else None


def _sleep_until(moment):
    time.sleep(max(0.0, moment - time.monotonic()))


class Plays:
    """Runs of one plugin at its server: alone, or with a ``daemon`` through that."""

    pid_file = ""  # of a process "sleep", where one is looked at
    patience = None  # gives how long a part of the time that is left it waits, where it does not wait for all

    def __init__(self, subject, asked, home, world, daemon=None):
        self.subject, self.asked, self.home = subject, asked, home
        self.timeout = TIMEOUT
        self._beat, self._ends, self._names = world
        self._daemon = daemon
        self._supervisor = daemon and daemon.supervisor.pid
        self._number = itertools.count()

    def undisturbed(self):
        """An outcome, and the turns of the conversation."""
        with Relay(self.server) as relay:
            process, began = self._start(phases.HOST, relay.port, 30), time.monotonic()
            return self._finish(process, began), relay.turns

    def play(self, case, port=0):
        """Give an outcome, and whose time it was; False where the plugin has not come to the phase.

        What it remembers is that of its last run at this port.
        """
        pause = (PAUSES | FOR_RUNS)[case.pause]
        meeting = Meeting(pause, self._beat, self._ends, self._pids, self.timeout, self.patience)
        with Relay(self.server, case.turn, meeting, full=case.phase == CONNECT, port=port) as relay:
            host = phases.HOST
            if case.phase == LOOK_UP:
                host = self._names.expect(f"db{next(self._number)}.{self.subject.source}.example", meeting)
            port = self.asked.port if case.phase == FROZEN else relay.port
            began = time.monotonic()
            process = meeting.process = self._start(host, port, self.timeout)
            while not meeting.reached.wait(0.01) and not _has_ended(process):
                if case.phase in (CONNECT, FROZEN):
                    looks = time.monotonic()
                    if speaks(self._pids(process), None, port):
                        meeting(None, port)
                    else:
                        meeting.before = looks
            if not meeting.took_place:
                return self._finish(process, began), False
            if case.phase == CONNECT and pause.server == ANSWERS:
                relay.open()
            meeting.go_on()
            while not _has_ended(process):
                time.sleep(0.01)
            whose = meeting.whose()
            return self._finish(process, began), whose

    @property
    def server(self):
        """Where it is."""
        return self.asked.host, self.asked.port

    def _finish(self, process, began):
        return finish(process, self.subject, self.home, began, self.asked.password)

    def _pids(self, process):
        return [process.pid, *(phases.children(self._supervisor) if self._daemon else ())]

    def _words(self, host, port):
        more = [*CALM.get(self.subject.plugin, ()), *(["--rmi-port", port] if self.asked.rmi else [])]
        place = Place(host, port, self.asked.user, self.asked.password, pid_file=self.pid_file)
        return self.subject.command(place, *more)

    def _start(self, host, port, timeout):
        command = [*self._words(host, port), "-t", f"{timeout}s", "--unreachable", "critical"]
        known = dict.fromkeys(("STALLWATCH_MYSQL_PASSWORD", "STALLWATCH_JMX_PASSWORD"), self.asked.password)
        known |= {"PYTHONPATH": str(self._ends.folder), "STATE_DIRECTORY": str(self.home / f"state-{port}")}
        if self._daemon:
            return self._daemon.begin(
                f"check_{self.subject.plugin}", *command[2:], environment=known, start_new_session=True
            )
        around = () if host == phases.HOST else self._names.around
        return start([*around, *command], self.home, env=environment(self.home, **known))


def _has_ended(process):
    """Whether it has; it is not waited for yet, so that the kernel keeps its figures."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def wrong(case, outcome, whose, healthy):
    """Why that is wrong, or ""; None: this machine has made another case of it."""
    if whose is False:
        return "" if case.is_last and outcome.status == healthy.status else None
    answers = PAUSES[case.pause].server == ANSWERS
    blames = re.search(BLAMES, outcome.text)
    owns = _owns(outcome)
    is_named = re.search(rf"127\.0\.0\.1:\d+|\w+\.{outcome.subject.source}\.example", outcome.text)
    judged = blames and is_named and outcome.status in in_part(case, outcome)
    is_well = outcome.status == healthy.status and not blames and (answers or case.is_last)
    is_proved = case.phase == FROZEN and judged and PROVED in outcome.text  # however long that took
    if is_well or is_proved or (owns and (answers or whose != SERVER)):
        return ""
    if answers and blames and whose != CHECK:
        return None  # it was this machine that kept the server from answering in time
    if not answers and whose != CHECK:
        return "" if judged else whose and "a server that had its time is not judged by --unreachable"
    return f"a server that had no time is blamed ({blames[0]})" if blames else "no time, and that is not said"


def _owns(outcome):
    """Whether the check says that it had no time itself, and nothing of a server."""
    owns = outcome.status == UNKNOWN and re.search(OWN, outcome.text)
    return bool(owns) and not re.search(BLAMES, outcome.text)


def in_part(case, outcome):
    """What --unreachable makes of a server that stands still.

    One failure among answers may be an accident: mysql_query says so, until it lasts. Once it has answered,
    what it does not answer is UNKNOWN where the rest is judged.
    """
    accident = re.search(r", 1 of ([2-9]|\d\d) runs failed", outcome.text)
    return CRITICAL, WARNING if accident else CRITICAL, UNKNOWN if _is_late(case) else CRITICAL


def _is_late(case):
    """Whether it has been asked before."""
    return case.phase.rstrip("0123456789 ") in ANSWERING and not case.phase.endswith(" 1")


def cases(turns, every, way):
    """Those of a conversation: its phases, each with every pause, or with some."""
    named = [(LOOK_UP, 0), (CONNECT, 0), *((name, number) for number, name in enumerate(turns, 1))]
    if not every:
        chosen, kinds = [], set()
        for name, number in named:
            kind = name.rpartition(" ")[0]
            if kind not in kinds or number == len(turns):
                chosen.append((name, number))
            kinds.add(kind)
        named = chosen
    in_turns = itertools.cycle(PAUSES if way else SELDOM)
    often = () if way else tuple(name for name in PAUSES if name not in SELDOM)
    for phase, turn in named:
        for pause in PAUSES if every else (*often, *itertools.islice(in_turns, 2 if way else 1)):
            yield Case(phase, turn, pause, is_last=turn >= len(turns) - ("TLS" in phase))


def settled(plays, case, healthy):
    """What is wrong with a case, with the line that was printed; ""."""
    for _ in range(ATTEMPTS):
        outcome, whose = plays.play(case)
        why = wrong(case, outcome, whose, healthy)
        if why is not None:
            break
    else:
        why = "whose time it was is undecided"
        if whose is False:  # as this machine has no time for it, which is right to say
            why = "" if _owns(outcome) else "it has not come to this phase"
    server = PAUSES[case.pause].server
    told = outcome.line.partition(" | ")[0]
    return why and f"{case.phase} | {server} | {case.pause} | {why} | {outcome.status} {told}"


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """Tells when checks have to have ended."""
    return Ends(tmp_path_factory.mktemp("ends"))


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """A name server, and what a command is to follow that shall have no other one; None: that takes root."""
    may = False
    with contextlib.ExitStack() as running:
        with contextlib.suppress(PermissionError, subprocess.CalledProcessError):
            server = running.enter_context(NameServer())
            file = tmp_path_factory.mktemp("resolver") / "resolv.conf"
            file.write_text(f"nameserver {server.address}\n")
            server.around = ["unshare", "--mount", "sh", "-c", _IN_ITS_PLACE, str(file)]
            subprocess.run([*server.around, "true"], check=True, stderr=subprocess.DEVNULL)
            may = True
        yield server if may else None


@pytest.fixture(scope="module")
def world(ends, names):
    """What all runs have in common."""
    with Beat() as beat:
        yield beat, ends, names


@pytest.fixture(scope="module")
def warm(tmp_path_factory, ends, names):
    """A stallwatchd that asks that name server."""
    folder = tmp_path_factory.mktemp("warm")
    daemon = warm_daemon.Warm(folder, env={**os.environ, "PYTHONPATH": str(ends.folder)})
    daemon.command = [*(names.around if names else ()), *daemon.command]
    with warm_daemon.serving(daemon):
        yield daemon


@pytest.fixture(scope="module")
def sleeper(tmp_path_factory):
    """The file with the id of a process that does nothing."""
    with sleeping(tmp_path_factory.mktemp("sleeper")) as file:
        yield file


WAYS = {"alone": None, "through stallwatchd": "warm"}
OFTEN = {"alone": (MYSQL, NDB, JMX, JOLOKIA), "through stallwatchd": (MYSQL, JMX)}  # representative sources


def ways_and_subjects():
    """All plugins, each by itself and through stallwatchd; representative is one of each source."""
    for way, fixture in WAYS.items():
        for _, group in itertools.groupby((*ASKING, *OVER_HTTP, *IN_TLS), key=lambda one: one.source):
            for number, subject in enumerate(group):
                marks = [pytest.mark.cell(trouble=f"stopped or silent at any phase, {way}")]
                seldom = number or subject.source not in OFTEN[way]
                marks += [pytest.mark.only_in_all_cells] if seldom else []
                name = f"{way}-{subject.source}-{subject.plugin}"
                yield pytest.param(subject, fixture, id=name, marks=marks)


@pytest.mark.slow("a hundred runs that wait for 2 s, twelve at once")
@pytest.mark.parametrize(("subject", "way"), [*ways_and_subjects()])
def test_whose_time_it_was(request, asked, home, world, sleeper, subject, way, note):
    daemon = way and request.getfixturevalue(way)
    plays = Plays(subject, asked, home, world, daemon)
    plays.pid_file = sleeper
    plays.undisturbed()  # the server may know the account from now on
    healthy, turns = plays.undisturbed()
    plays.timeout = max(TIMEOUT, TIMEOUT + round(healthy.took - 0.5)) + MORE.get(subject.plugin, 0)
    all_of_them = [*cases(turns, request.config.getoption("all_cells"), way)]
    all_of_them = [one for one in all_of_them if world[-1] or one.phase != LOOK_UP]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        found = [*filter(None, pool.map(lambda case: settled(plays, case, healthy), all_of_them))]
    note("counted", ("plugins or servers stopped at a phase", len(all_of_them)))
    assert not found, "\n".join([f"{len(found)} of {len(all_of_them)}, healthy: {healthy.line}", *found])


@pytest.mark.parametrize("subject", [one for one in ASKING if one.plugin in FIRST and one.source != NDB])
def test_a_server_that_is_stopped_itself_has_its_time(asked, home, world, subject):
    """Without anything in between: what its own host shows is looked at, too."""
    plays = Plays(subject, asked, home, world)
    healthy, _ = plays.undisturbed()
    silent = [Case(FROZEN, 0, name, is_last=False) for name, one in PAUSES.items() if one.server == SILENT]
    pid = listener(asked.port)
    stop(pid)
    try:
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            found = [*filter(None, pool.map(lambda case: settled(plays, case, healthy), silent))]
    finally:
        go_on(pid)
    assert not found, "\n".join(found)


# a management server, which is asked besides

SQL_NODE = says(
    greeting(version=b"9.7.2-cluster"),
    packet(2, mysql_bytes.OK),
    result(b"a", b"b", b"c", b"d", rows=[(b"9.7.2-cluster", b"MySQL Cluster", b"db1", b"mon@%")]),
    packet(1, mysql_bytes.OK),
    *[
        result(
            b"Variable_name",
            b"Value",
            rows=[(b"Ndb_number_of_data_nodes", b"2"), (b"Ndb_number_of_ready_data_nodes", b"0")],
        )
    ]
    * 3,
)
TELLS = (
    b"node status\nnodes: 2\n"
    + b"".join(b"node.%d.type: NDB\nnode.%d.status: NO_CONTACT\n" % (node, node) for node in (3, 4))
    + b"\n"
)
NOT_CONNECTED = "none of 2 data nodes is connected"
NO_ANSWER = "has not answered within "


class ManagementPlays(Plays):
    """Runs of check_ndb_nodes at an SQL node without data nodes; ``asked`` is the management server."""

    sql_node = 0

    @staticmethod
    def patience(left):
        """As ndb_nodes waits for a management server."""
        return min(ndb_mgm.PATIENCE, left / 4)

    def _words(self, host, port):
        return self.subject.command(Place(port=self.sql_node), "--management", f"{host}:{port}")


def test_whose_time_a_management_server_had(home, world):
    """What the SQL node has shown stays proved: that no data node is connected."""

    def found(pause):
        case = Case("question 1", 1, pause, is_last=False)
        with serving(SQL_NODE) as (_, sql_node), serving(says(b"", TELLS)) as (host, port):
            plays = ManagementPlays(BY_NAME["ndb_nodes"], Asked(host, port, "mon", "x"), home, world)
            plays.sql_node, plays.timeout = sql_node, 4
            for _ in range(ATTEMPTS):
                outcome, whose = plays.play(case)
                why = wrong_besides(PAUSES[pause].server, outcome, whose)
                if why is not None:
                    break
        return why and f"{pause} | {why} | {outcome.text}"

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        found = [*filter(None, pool.map(found, PAUSES))]
    assert not found, "\n".join(found)


def wrong_besides(server, outcome, whose):
    """Why it is wrong what is said of a management server, or ""; None: that is for this machine to say."""
    if outcome.status not in (WARNING, CRITICAL) or NOT_CONNECTED not in outcome.text:
        return "what was proved is lost"
    blamed = NO_ANSWER in outcome.text
    if server == SILENT and whose != CHECK:
        return "" if blamed else whose and "a server that had its time is not blamed"
    return "a server that had no time is blamed" if blamed else ""


OVERLOADED = r"this monitoring host is overloaded"
RUNS = (NO_TIME, NO_TIME, TIME, NO_TIME, NO_TIME, NO_TIME)  # the last one is the third in a row


def test_three_runs_in_a_row_without_time_are_a_problem_of_this_host(healthy, home, world):
    subject, place = healthy(BY_NAME["mysql_stalls"])
    plays = Plays(subject, Asked(place.host, place.port, place.user, place.password), home, world)
    port = free_port()

    def run(had):
        plays.timeout = 1 if had == NO_TIME else 60
        return plays.play(Case("greeting 1", 1, had, is_last=False), port)[0]

    for had in RUNS[:-1]:
        outcome = run(had)
        assert outcome.status == (UNKNOWN if had == NO_TIME else OK), outcome
        assert not re.search(OVERLOADED, outcome.text), outcome
    for _ in range(3):  # a run that gets nearly no processor may be unable to note that
        if (outcome := run(RUNS[-1])).status != UNKNOWN:
            break
    assert outcome.status == WARNING, outcome
    assert re.search(OVERLOADED, outcome.text)
