"""Plugins whose server is in trouble: it lets nobody in, stops in mid-answer, or shows only a part."""

import contextlib
import json
import re
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import loopback
import psutil
import pytest
from asked_servers import SOURCES, JvmAsked, SqlAsked, wait_for
from cells import cells
from healthy import CALM, sane
from interrupted_link import InterruptedLink
from jvm import Jvm
from replication_pair import GRANTS
from runs import environment, run
from slow_machine import NO_TIME, in_time
from sql_node import MONITOR
from subjects import CRITICAL, JMX, OK, SECRET, UNKNOWN, WARNING

TIMEOUT = 20  # seconds, where nobody is to be waited for
SHORT = 3  # where somebody is
ATTEMPTS = 5
PATIENT = {  # with a query, whose slowest run is to be judged here
    "mysql_query": ("-w", "60", "-c", "60", "--connection-warning", "60", "--connection-critical", "60")
}
LENIENT = {"disconnect_on_expired_password": "OFF"}  # of MySQL, at start only


class Trouble(NamedTuple):
    """A kind of server, what happens to it, and what is said of it then."""

    kind: str
    provoke: object  # a context: of the Asked it gives where the plugin is sent
    says: str  # to be found in line 1
    timeout: float = TIMEOUT


def troubles(name, kinds, provoke, says, timeout=TIMEOUT):
    return {f"{kind} {name}": Trouble(kind, provoke, says, timeout) for kind in kinds.split()}


def concerned(trouble, subject):
    return SOURCES[trouble.kind] == subject.source


@pytest.fixture(scope="module")
def server_of(tmp_path_factory, new_pair, request):
    """Gives the server of that kind, healthy, with a new account.

    All but the cluster's are of these tests alone, which kill, freeze and exhaust them; an account that may
    log in with an expired password, and a JVM with a password and one port, are set at the start.
    """
    running = {}
    with contextlib.ExitStack() as each:

        def started(kind):
            if kind == "jvm":
                request.getfixturevalue("jvm")  # it can be installed
                folder = tmp_path_factory.mktemp(kind)
                return JvmAsked(each.enter_context(Jvm(folder, password=True, rmi_port="shared")))
            if kind == "ndb":
                cluster = request.getfixturevalue("running_ndb")
                return SqlAsked(cluster.sql_node, MONITOR[1:], cluster.heal)
            family = "mysql" if kind == "lenient" else kind
            replica = LENIENT if kind == "lenient" else {}
            pair = each.enter_context(new_pair(tmp_path_factory.mktemp(kind), family, replica=replica))
            return SqlAsked(pair.replica, GRANTS[family], pair.heal)

        def asked(kind):
            if kind not in running:
                running[kind] = started(kind)
            running[kind].heal()
            return running[kind]

        yield asked


@pytest.fixture
def asked(server_of, trouble):
    """The server of the trouble."""
    return server_of(trouble.kind)


@pytest.fixture
def ask(home, subject, asked):
    """Run the plugin at a place; what holds for every run holds."""

    def ask(place, timeout=TIMEOUT):
        known = dict.fromkeys(("STALLWATCH_MYSQL_PASSWORD", "STALLWATCH_JMX_PASSWORD"), place.password)
        more = (*(CALM | PATIENT).get(subject.plugin, ()), "-t", f"{timeout}s")
        if subject.source == JMX:
            more = ("--rmi-port", place.port, *more)  # a link's, not the one that the JVM tells
        return run(subject, place, home, *more, env=environment(home, **known)).holds(timeout)

    return ask


def is_well(outcome):
    """Assert that it has asked all, has its memory, and tells no nonsense.

    mysql_status warns of what a server that has just started, or that tests ask, does.
    """
    assert outcome.status in ((OK, WARNING) if outcome.subject.plugin == "mysql_status" else (OK,)), outcome
    assert not re.search("is damaged|is lost|remembered", outcome.text), outcome
    sane(outcome)


def memory(home):
    """What the plugin has kept: its files and what is in them."""
    kept = {
        file.name: file.read_bytes()
        for file in (home / "state").glob("*")
        if file.suffix != ".lock" and not file.name.startswith("mysql_server-")  # what servers showed
    }
    for name, octets in kept.items():
        assert name.endswith(".json"), kept
        assert json.loads(octets)["version"] == 1
    return kept


def rare(troubles, *representative):
    """The names of all but these."""
    assert {*representative} <= {*troubles}
    return {*troubles} - {*representative}


# Nobody is let in


@contextlib.contextmanager
def frozen(asked):
    asked.suspend()
    try:
        yield asked.place()
    finally:
        asked.resume()


@contextlib.contextmanager
def nobody_takes_connections(asked):
    with asked.full():
        yield asked.place()


@contextlib.contextmanager
def too_many_connections(asked):
    with asked.crowded():
        yield asked.place()


@contextlib.contextmanager
def too_many_of_this_user(asked):
    asked.alter(asked.user, "WITH MAX_USER_CONNECTIONS 1")
    try:
        with asked.logged_in():
            yield asked.place()
    finally:
        asked.alter(asked.user, "WITH MAX_USER_CONNECTIONS 0")


@contextlib.contextmanager
def no_descriptors(asked):
    with asked.out_of_descriptors():
        yield asked.place()


@contextlib.contextmanager
def wrong_password(asked):
    if isinstance(asked, SqlAsked):
        asked.server.account("other")
        yield asked.place(user="other")
    else:
        yield replace(asked.place(), password=SECRET)


@contextlib.contextmanager
def unknown_user(asked):
    yield replace(asked.place(user="stranger"), password=SECRET)


@contextlib.contextmanager
def expired(asked):
    at_once = asked.setting("disconnect_on_expired_password", "ON")
    with at_once if asked.is_mariadb else contextlib.nullcontext():
        yield asked.account("late", more="PASSWORD EXPIRE")


@contextlib.contextmanager
def expired_inside(asked):
    yield asked.account("late", more="PASSWORD EXPIRE")


@contextlib.contextmanager
def locked(asked):
    yield asked.account("locked", more="ACCOUNT LOCK")


@contextlib.contextmanager
def offline(asked):
    with asked.setting("offline_mode", "ON"):
        yield asked.place()


@contextlib.contextmanager
def slow_shutdown(asked):
    try:
        asked.end()
        with contextlib.suppress(IndexError, psutil.NoSuchProcess):  # it was quicker
            asked.suspend()
        yield asked.place()
    finally:
        asked.start_again()


@contextlib.contextmanager
def recovering(asked):
    """It does not listen yet."""
    with asked.starting(lambda: True):
        asked.suspend()
        yield asked.place()


@contextlib.contextmanager
def just_starting(asked):
    """It listens, and does not take what comes."""
    first = asked.server.path("first.sql")
    with open(first, "w") as file:
        file.write("DO SLEEP(1000);\n")
    asked.server.settings["init_file"] = first
    try:
        with asked.starting(lambda: loopback.listens(asked.port)):
            del asked.server.settings["init_file"]
            yield asked.place()
    finally:
        asked.server.settings.pop("init_file", None)


SQL = "mariadb mysql ndb"
SILENT = "sends no greeting within|is stopped, state T"
NO_CONNECTION = "does not answer: no connection"
FULL = "has no connection left .Too many"
FULL_FOR_USER = "has no connection left for the user monitor"
WRONG = "denied access to the user other from 127.0.0.1 - check the password"
EXPIRED = "wants the user late to change the password"
EXPIRED_INSIDE = "with an expired password that lets in"
# To a user that it does not know MySQL 9 proposes any of its methods, which may need the readable password.
STRANGER = (
    "denied access to the user stranger"
    "|readable password of the user stranger .* check that there is such a user"
)
LOCKED = "has locked the account of the user locked"
NOBODY = {
    **troubles("frozen", SQL, frozen, SILENT, SHORT),
    **troubles("frozen", "jvm", frozen, "has not answered within", SHORT),
    **troubles("with a full queue", "mariadb jvm", nobody_takes_connections, NO_CONNECTION, SHORT),
    **troubles("with too many connections", SQL, too_many_connections, FULL),
    **troubles("with too many of the user", SQL, too_many_of_this_user, FULL_FOR_USER),
    **troubles("without descriptors", "jvm", no_descriptors, "has not answered within", SHORT),
    **troubles("denying a password", SQL, wrong_password, WRONG),
    **troubles("denying a password", "jvm", wrong_password, "denied access to the user monitorRole"),
    **troubles("denying a stranger", f"{SQL} jvm", unknown_user, STRANGER),
    **troubles("with an expired password", SQL, expired, EXPIRED),
    **troubles(EXPIRED_INSIDE, "mariadb lenient", expired_inside, EXPIRED),
    **troubles("with a locked account", SQL, locked, LOCKED),
    **troubles("offline", "mysql ndb", offline, "ndbinfo is offline|in offline mode"),
    **troubles("shutting down", f"{SQL} jvm", slow_shutdown, "refused the connection"),
    **troubles("recovering", "mariadb mysql", recovering, "refused the connection"),
    **troubles("just starting", "mariadb mysql", just_starting, SILENT, SHORT),
}
RARE = rare(
    NOBODY, "mariadb frozen", "jvm frozen", "mysql with too many connections", "mariadb with a full queue",
    "mariadb with too many of the user", "jvm without descriptors", "ndb denying a password",
    "jvm denying a password", "mysql with an expired password", f"mariadb {EXPIRED_INSIDE}",
    "ndb with a locked account", "mysql offline", "mariadb shutting down", "mysql recovering",
)  # fmt: skip


@cells(NOBODY, concerned, rare=RARE)
def test_a_server_that_lets_nobody_in(ask, asked, home, subject, trouble):
    is_well(ask(asked.place()))
    known = memory(home)
    with trouble.provoke(asked) as place:
        outcome = in_time(partial(ask, place), trouble.timeout)
    assert re.search(trouble.says, outcome.line), outcome
    if (subject.plugin, trouble.provoke) == ("mysql_status", too_many_connections):
        assert outcome.status == WARNING, outcome  # it is asked just that: CRITICAL in the third look
    else:
        refused = "readable password" in outcome.line  # by us: that is no matter of --unreachable
        full = (subject.plugin, trouble.provoke) == ("mysql_stalls", too_many_connections)
        found = full or "in offline mode" in outcome.line  # what it is asked, or wrong for all
        expected = UNKNOWN if refused else CRITICAL if found else subject.unreachable
        assert outcome.status == expected, outcome
        assert memory(home) == known
    asked.heal()
    wait_for(asked.is_left_alone)
    is_well(ask(asked.place()))


# In mid-answer

GREETING, LOG_IN, MIDDLE, LAST = 1, 2, 0, -1


class Moment(NamedTuple):
    """When something happens to a kind of server: in that turn of all that it says, after so many bytes."""

    kind: str
    act: str  # what is done to an Asked
    turn: int  # from 1, or from the end
    after: int
    says: str

    def turn_of(self, turns, attempt):
        """That turn, if there are so many with a healthy server; another run may ask less."""
        if self.turn in (GREETING, LOG_IN):
            return self.turn
        last = turns if self.turn == LAST else round(0.6 * turns)
        return max(1, last - attempt)

    def timeout(self, attempt):
        """Seconds; of a server that is not to be waited for there are enough, however busy the machine is."""
        return SHORT * 2**attempt if self.act == "suspend" else TIMEOUT


def moments(name, kinds, *more):
    return {f"{kind} {name}": Moment(kind, *more) for kind in kinds.split()}


CLOSED = "closed the connection"
# Some plugins connect twice.
STILL = "has not answered within|(sends (half a|no) greeting|does not finish the log-in) within"
MOMENTS = {
    **moments("frozen in its greeting", SQL, "suspend", GREETING, 20, "sends half a greeting within"),
    **moments("frozen in the log-in", SQL, "suspend", LOG_IN, 5, "does not finish the log-in within"),
    **moments("frozen in the log-in", "jvm", "suspend", LOG_IN, 5, "has not answered within"),
    **moments("frozen in the middle", f"{SQL} jvm", "suspend", MIDDLE, 40, STILL),
    **moments("frozen in its last answer", SQL, "suspend", LAST, 5, STILL),
    **moments("killed in its greeting", SQL, "kill", GREETING, 20, f"{CLOSED} in the middle of its greeting"),
    **moments("killed in the log-in", f"{SQL} jvm", "kill", LOG_IN, 5, CLOSED),
    **moments("killed in the middle", f"{SQL} jvm", "kill", MIDDLE, 40, CLOSED),
    **moments("killed in its last answer", SQL, "kill", LAST, 5, CLOSED),
    **moments("ended in the middle", f"{SQL} jvm", "end", MIDDLE, 0, f"{CLOSED}|{STILL}"),  # in its own time
}


SELDOM = rare(
    MOMENTS, "mysql frozen in its greeting", "mariadb frozen in the log-in", "jvm frozen in the middle",
    "ndb frozen in its last answer", "mariadb killed in the middle", "jvm killed in the middle",
    "mysql ended in the middle",
)  # fmt: skip


@cells(MOMENTS, concerned, rare=SELDOM)
def test_a_server_that_stops_in_mid_answer(ask, asked, home, subject, trouble):
    with InterruptedLink(asked.port) as link:
        place = asked.place(port=link.port)
        is_well(ask(place))
        link.interrupt()  # it is counted anew: the first run may ask more
        is_well(ask(place))
        turns = link.turns
        for attempt in range(ATTEMPTS):  # the machine may be slow
            act = getattr(asked, trouble.act)
            link.interrupt(trouble.turn_of(turns, attempt), trouble.after, act)
            with contextlib.ExitStack() as afterwards:
                afterwards.callback(asked.resume if trouble.act == "suspend" else asked.start_again)
                afterwards.callback(link.rest)  # first: nobody may be about to do it
                outcome = ask(place, trouble.timeout(attempt))
            if link.happened and re.search(trouble.says, outcome.text):
                break
            if re.search(NO_TIME, outcome.text):
                assert outcome.status == UNKNOWN, outcome
            else:
                assert not link.happened, (outcome, turns)
                is_well(outcome)
            asked.heal()
        else:
            raise AssertionError(outcome)
        # One failure among answers may be an accident: mysql_query says so, until it lasts.
        accident = re.search(r", 1 of ([2-9]|\d\d) runs failed", outcome.text)
        # check_ndb_nodes has judged the nodes before: only the rest is UNKNOWN.
        in_part = UNKNOWN if subject.plugin == "ndb_nodes" else subject.unreachable
        assert outcome.status in {subject.unreachable, WARNING if accident else in_part}, outcome
        link.interrupt()
        memory(home)
        asked.heal()
        wait_for(asked.is_left_alone)
        is_well(ask(place))


# A part


@contextlib.contextmanager
def takes_no_writes(asked):
    with asked.setting("read_only", "ON"):
        yield asked.place()


@cells(troubles("that takes no writes", SQL, takes_no_writes, ""), concerned)
def test_a_server_that_takes_no_writes_is_asked_as_ever(ask, asked, subject, trouble):
    is_well(ask(asked.place()))
    with trouble.provoke(asked) as place:
        is_well(ask(place))


FROZEN_NODE = "check for a frozen data node"
GIVEN_UP = 12  # seconds after which the other nodes may soon do that to it


@cells(troubles("with a frozen data node", "ndb", None, FROZEN_NODE, SHORT), concerned)
def test_a_frozen_data_node(ask, asked, home, subject, trouble, running_ndb):
    """It is let go on before the others give it up."""
    is_well(ask(asked.place()))
    node = running_ndb.child(4)

    def while_frozen(seconds):
        node.suspend()
        try:
            return ask(asked.place(), min(seconds, GIVEN_UP))
        finally:
            node.resume()

    outcome = in_time(while_frozen, trouble.timeout)
    given_up = "does not answer: judged without it" in outcome.text  # check_ndb_nodes has more to say of that
    assert outcome.status == (OK if given_up else subject.unreachable), outcome
    assert given_up or re.search(trouble.says, outcome.text), outcome
    memory(home)
    asked.heal()
    wait_for(asked.is_left_alone)
    is_well(ask(asked.place()))


DENIED = {
    "replication_lag": (UNKNOWN, r"GRANT (SLAVE MONITOR|REPLICATION CLIENT) ON \*\.\* TO 'poor'@'%'"),
    "mysql_status": (OK, ""),
    "mysql_query": (OK, ""),
    "innodb_buffer_pool": (OK, "PROCESS"),
    "mysql_stalls": (UNKNOWN, r"GRANT PROCESS ON \*\.\* TO 'poor'@'%'"),
    "innodb_redo_log": (OK, "PROCESS"),
}


@cells(troubles("with an account without privileges", SQL, None, ""), concerned)
def test_an_account_without_privileges(ask, asked, subject, trouble):
    outcome = ask(asked.account("poor"))
    in_ndb = (UNKNOWN, r"GRANT SELECT ON ndbinfo\.\* TO 'poor'@'%'")
    status, says = DENIED.get(subject.plugin, in_ndb)
    assert outcome.status == status, outcome
    assert re.search(says, outcome.text), outcome
