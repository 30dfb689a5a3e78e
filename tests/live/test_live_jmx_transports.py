"""Both transports, our own RMI and jmxquery's Java, tell the same of a real JVM, but for known reasons."""

import glob
import math
import os
import threading
import time

import pytest
from jmx_value import compared, value_of
from jvm import Jvm
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx

SLACK = 30  # seconds for a busy machine to start a program and to end it
UNREADABLE = jmx.UnreadableError
VERSION = ("java.lang:type=Runtime", "SpecVersion")
# Numbers change while we look, and because we do: threads, memory, calls.
MOVING = ("java.lang:", "java.nio:", "target:type=Counter")
FOREIGN = {"Machine", "Machines", "Chatty", "Loop", "Exception", "ForeignEnum", "EnumWithBody"}
PRINTED_IN_VAIN = {"Enum", "Class", "ArrayClass", "PrimitiveClass", "Chars"}
TOO_LARGE = {"TinyBigDecimal": 0.0, "HugeBigDecimal": math.inf}  # 1E-2000000000: we do not calculate such


def connect(jvm, deadline=60, **more):
    login = {"user": jvm.user, "password": jvm.password} if jvm.password else {}
    return jmx.connect(jmx.Target(jvm.host, jvm.port, **login, **more), Deadline(deadline))


def trusting(jvm):
    """A Java that trusts that JVM's certificate."""
    store = os.path.splitext(jvm.ca_file)[0]
    return f"java -Djavax.net.ssl.trustStore={store}.p12 -Djavax.net.ssl.trustStorePassword=changeit"


@pytest.fixture(scope="module")
def jvm_without_nulls(tmp_path_factory, jvm):
    """A JVM of these tests without composite values that hold nulls: jmxquery cannot list one with such."""
    with Jvm(tmp_path_factory.mktemp("jvm"), groups=("values", "names", "trouble")) as started:
        yield started


@pytest.fixture(scope="module")
def read(jvm_without_nulls):
    """What was read of every attribute: over RMI, by jmxquery, and over RMI again."""
    with connect(jvm_without_nulls) as ours, connect(jvm_without_nulls, via="jmxquery") as javas:
        return compared(ours, javas, "target:type=Slow")


def same(one, other):
    """Whether two values are equal, NaN and NaN, too; True is not 1."""
    return repr(one) == repr(other)


def are_numbers(ours, javas):
    """Whether both are numbers, or numbers under the same keys."""
    if isinstance(ours, dict) and isinstance(javas, dict):
        return ours.keys() == javas.keys() and all(are_numbers(ours[key], javas[key]) for key in ours)
    return {type(ours), type(javas)} <= {int, float}


def reason(name, attribute, ours, javas):
    """The known reason why the transports differ, None if there is none."""
    what = javas.what if isinstance(javas, UNREADABLE) else ""
    untold, failed = "does not show what is in a value" in what, "does not show which" in what
    known = {
        "moved": are_numbers(ours, javas) and name.startswith(MOVING),
        "members that are not told": isinstance(ours, dict) and isinstance(javas, dict) and all(
            isinstance(value, dict | list) for key, value in ours.items() if not same(value, javas.get(key))),
        "a list, a table, an object": untold and isinstance(ours, dict | list),
        "a time": untold and name == "target:type=Times",
        "printed in vain": untold and attribute in PRINTED_IN_VAIN,
        "null and failure look the same": failed and (ours is None or isinstance(ours, UNREADABLE)),
        "Java has no class for it": failed and attribute in FOREIGN,
        "too large a number": isinstance(ours, UNREADABLE) and (
            same(javas, TOO_LARGE.get(attribute)) or attribute == "HugeBigInteger"),
        "half a character": attribute == "HalfEmoji" and javas == "half ?",
    }  # fmt: skip
    return next((reason for reason, holds in known.items() if holds), None)


def test_every_value_is_the_same_or_differs_for_a_known_reason(read):
    unexplained, reasons, equal = [], set(), 0
    for name, attribute, before, java, after in read:
        if same(before, java) or same(java, after):
            equal += 1
        elif why := "moved" if not same(before, after) else reason(name, attribute, before, java):
            reasons.add(why)
        else:
            unexplained.append((name, attribute, before, java, after))
    assert not unexplained
    assert len(read) > 500
    assert equal > 300
    # Each known reason has its example here; members are left out where a garbage collection told of itself.
    assert len(reasons | {"members that are not told"}) == 9


def test_both_list_the_same_beans(jvm_without_nulls):
    with connect(jvm_without_nulls) as ours, connect(jvm_without_nulls, via="jmxquery") as javas:
        without_attributes = {"com.sun.management:type=DiagnosticCommand"}
        assert set(ours.names()) - set(javas.names()) == without_attributes
        assert javas.names("target:type=Odd,*") == ours.names("target:type=Odd,*")
        assert javas.names("*:type=Mem*") == ours.names("*:type=Mem*")
        assert javas.domains() == ours.domains()


def test_both_tell_a_missing_bean_from_a_missing_attribute(jvm_without_nulls):
    wanted = [
        ("target:type=None", ["One"]),
        ("target:type=Numbers", ["None", "Int"]),
        ("target:type=Slow", []),
    ]
    for via in ("rmi", "jmxquery"):
        with connect(jvm_without_nulls, via=via) as server:
            no_bean, no_attribute, nothing = server.read(wanted)
        assert isinstance(no_bean, jmx.NoSuchBeanError)
        assert isinstance(no_attribute["None"], jmx.NoSuchAttributeError)
        assert no_attribute["Int"] == 42
        assert nothing == {}


def test_a_null_within_a_composite_costs_only_its_own_attribute(jvm_without_nulls):
    jvm_without_nulls.tell("register", "composites")
    try:
        with connect(jvm_without_nulls, via="jmxquery") as server:
            bad, good = server.read(
                [("target:type=Composites", ["Nested"]), ("target:type=Numbers", ["Int"])]
            )
    finally:
        jvm_without_nulls.tell("unregister", "target:type=Composites")
    assert "a composite value with a null in it" in bad["Nested"].what
    assert good == {"Int": 42}


@pytest.mark.parametrize("variant", ["own-rmi-port", "shared-port", "ipv6", "tls-password"])
def test_java_gets_in_as_we_do(variant, jvm_variant):
    jvm = jvm_variant(variant)
    tls = {"tls": jmx.Tls(wanted=True, ca_file=jvm.ca_file)} if jvm.tls else {}
    with connect(jvm, **tls) as server:
        ours = value_of(server, *VERSION)
    with connect(jvm, via="jmxquery", java=trusting(jvm) if jvm.tls else "java") as server:
        assert value_of(server, *VERSION) == ours


@pytest.fixture
def locked(jvm_variant):
    return jvm_variant("password")


def test_a_wrong_password_is_told_without_it(locked):
    for via in ("rmi", "jmxquery"):
        wrong = jmx.Target(locked.host, locked.port, user=locked.user, password="not-the-one", via=via)
        with pytest.raises(jmx.UnreachableError) as failure, jmx.connect(wrong, Deadline(20)) as server:
            value_of(server, *VERSION)
        assert f"denied access to the user {locked.user}" in failure.value.what
        assert "not-the-one" not in repr(failure.value.args) + failure.value.advice


def test_the_password_is_where_nobody_else_sees_it(locked):
    def seen():
        """What others may read of all processes, and what files of Java's are in the temporary folder."""
        places = [
            *glob.glob("/proc/[0-9]*/cmdline"),
            *glob.glob("/tmp/hsperfdata_*/*"),
            *glob.glob("/tmp/*stallwatch*"),
        ]
        found = {}
        for place in places:
            try:
                with open(place, "rb") as file:
                    found[place] = file.read()
            except (FileNotFoundError, IsADirectoryError, PermissionError, ProcessLookupError):
                continue
        return found

    told = []

    def ask():
        with connect(locked, via="jmxquery") as server:
            told.append(value_of(server, "target:type=Slow", "TwoSeconds"))

    asking = threading.Thread(target=ask)
    asking.start()
    looks, java_runs = 0, 0
    while asking.is_alive():
        found = seen()
        # Ours is the only one that takes its arguments from a descriptor.
        java_runs += any(b"java\0@/proc/self/fd/" in octets for octets in found.values())
        assert not [place for place, octets in found.items() if locked.password.encode() in octets]
        looks += 1
        time.sleep(0.05)
    asking.join()
    assert told == [2]
    assert java_runs > 1


def test_an_attribute_that_never_returns_ends_in_time(jvm_that_hangs):
    begun = time.monotonic()
    with (
        connect(jvm_that_hangs, deadline=3, via="jmxquery") as server,
        pytest.raises(jmx.UnreachableError, match="has not answered Java within 3 s"),
    ):
        value_of(server, "target:type=Never", "Value")
    assert time.monotonic() - begun < 3 + 0.5 + SLACK
    assert not [path for path in glob.glob("/proc/[0-9]*/stat") if f" {os.getpid()} " in _stat(path)]


def _stat(path):
    """State and parent of a process, if it is a java."""
    try:
        with open(path) as file:
            name, _, rest = file.read().rpartition(") ")
    except OSError:
        return ""
    return rest if name.endswith("(java") else ""
