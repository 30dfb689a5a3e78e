"""What check_jmx says when something is wrong: UNKNOWN and why, in one sentence, in time, with no secret."""

import contextlib
import http.server
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from cassandra import Cassandra
from jmx_value import value_of
from loopback import free_port
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx
from troubled_link import TroubledLink
from whole_sentence import sentence

SLACK = 30  # seconds for a busy machine to start a program and to end it
JAVA = 30  # seconds for it to start a Java that asks
CHECK = Path(__file__).parents[2] / "plugins" / "check_jmx"
GOOD = ("-O", "target:type=Trouble", "-A", "Good")
SECRET = "a s3cret|word\\'\""


def said(*arguments, timeout=5, password=SECRET):
    """What the plugin says of a fault: all that holds for every fault is looked at here."""
    command = [sys.executable, CHECK, "-t", f"{timeout}s", "--no-state", *map(str, arguments)]
    environment = {**os.environ, "STALLWATCH_JMX_PASSWORD": password}
    begun = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=60)
    took = time.monotonic() - begun
    assert run.returncode == 3, run.stdout
    assert run.stderr == ""
    assert run.stdout.startswith("JMX UNKNOWN - ")
    assert all(line.startswith("  ") for line in run.stdout.splitlines()[1:])
    assert "Traceback" not in run.stdout
    assert "internal error" not in run.stdout
    assert password not in run.stdout
    assert took < timeout + 0.5 + SLACK
    return sentence(run.stdout)


def of(server, **more):
    """The arguments that name a server."""
    told = {"-H": server.host, "-P": server.port, **more}
    return [word for option, value in told.items() for word in (option, value)]


@contextlib.contextmanager
def listener(answer=b"", again=b""):
    """A server that says this, if anything, and maybe a part for ever, to the first one; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as server, contextlib.ExitStack() as connection:

        def serve():
            with contextlib.suppress(OSError):
                client = connection.enter_context(server.accept()[0])
                client.sendall(answer)
                while again:
                    client.sendall(again)

        serving = threading.Thread(target=serve)
        serving.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        serving.join()


# who is not there, or not what it is taken for


def test_refused():
    port = free_port()
    assert said("-H", "127.0.0.1", "-P", port, *GOOD) == (
        f"127.0.0.1:{port} refused the connection: "
        "check that the JVM runs, with JMX open on this address and port"
    )


@pytest.mark.parametrize("via", ["rmi", "jmxquery"])
def test_unknown_host(via):
    sentence = said("-H", "nosuch.invalid", "-P", "7199", "--via", via, *GOOD, timeout=JAVA)
    assert "nosuch.invalid" in sentence
    assert "host" in sentence


@pytest.mark.parametrize("via", ["rmi", "jmxquery"])
def test_who_says_nothing(via):
    with listener() as port:
        sentence = said("-P", port, "--via", via, *GOOD, timeout=4)
    assert f"localhost:{port} has not answered" in sentence  # within 4 s, or less on a busy machine


@pytest.mark.parametrize("said_by_it", [b"N", b"N\0\4abcd", b"N\0\4abcd\0\0\0\1Q\xac\xed\0\5w\x0f"])
def test_who_stops_in_mid_sentence(said_by_it):
    with listener(said_by_it) as port:
        assert f"localhost:{port} has not answered" in said("-P", port, *GOOD, timeout=2)


@pytest.mark.parametrize(
    ("said_by_it", "kind"),
    [
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "something else"),
        (b"\x4a\0\0\0\x0a9.7.0\0", "something else"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP"),
        (b"\0" * 100_000, "something else"),
    ],
)
def test_another_protocol(said_by_it, kind):
    with listener(said_by_it) as port:
        assert f"localhost:{port} speaks {kind}, not JMX over RMI" in said("-P", port, *GOOD)


def test_a_web_server():
    """Python's waits for a line's end, which no JMX client sends."""
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        assert f"localhost:{port}" in said("-P", port, *GOOD, timeout=2)
        server.shutdown()


# The answer to the look-up: an array of 500 000 objects, which are null.
ENDLESS = b"N\0\3db1\0\0\0\1Q\xac\xed\0\5w\x0f\1" + bytes(14) + b"ur\0\x13[Ljava.lang.Object;" + bytes(8) + (
    b"\2\0\0xp\0\7\xa1\x20"
)  # fmt: skip


def test_an_endless_answer():
    with listener(ENDLESS, b"p" * 65536) as port:
        assert f"localhost:{port} does not speak JMX" in said("-P", port, *GOOD)


def test_the_rmi_port_instead_of_the_registry(jvm_variant):
    jvm = jvm_variant("own-rmi-port")
    sentence = said("-H", jvm.host, "-P", jvm.rmi_port, *GOOD)
    assert "speaks RMI, but has no registry: give the JMX port" in sentence


def test_another_name_in_the_registry(jvm):
    sentence = said("-U", jvm.url.replace("/jmxrmi", "/other"), *GOOD)
    assert "has no other: it has jmxrmi" in sentence


# TLS


def test_tls_asked_of_a_plain_server(jvm):
    assert "without TLS: nothing was sent" in said(*of(jvm), "--tls", *GOOD)
    assert "does not speak TLS: check that this is the right port, and --tls-registry" in said(
        *of(jvm), "--tls-registry", *GOOD
    )


@pytest.mark.parametrize("variant", ["tls", "tls-registry"])
def test_a_server_with_a_certificate_that_nobody_knows(variant, jvm_variant):
    jvm = jvm_variant(variant)
    another = Path(jvm.ca_file).with_name("elsewhere.pem")
    for file in (), ("--ca-file", another):
        sentence = said(*of(jvm), *file, *GOOD)
        assert "is not to be trusted: self-signed certificate" in sentence
        assert "--ca-file must have the certificate of its authority, or its own" in sentence


@pytest.mark.parametrize(
    ("variant", "why"),
    [("wrong-certificate-name", "IP address mismatch"), ("expired-certificate", "certificate has expired")],
)
def test_a_certificate_that_does_not_fit(variant, why, jvm_variant):
    jvm = jvm_variant(variant)
    assert why in said(*of(jvm), "--ca-file", jvm.ca_file, *GOOD)


@pytest.mark.parametrize("variant", ["client-certificate", "client-certificate-registry"])
def test_a_server_that_wants_a_certificate_of_ours(variant, jvm_variant):
    jvm = jvm_variant(variant)
    assert "--client-cert" in said(*of(jvm), "--ca-file", jvm.ca_file, *GOOD)


def test_files_that_are_none(jvm_variant, tmp_path):
    jvm = jvm_variant("tls")
    empty = tmp_path / "empty.pem"
    empty.touch()
    for path in (empty, tmp_path / "none.pem", tmp_path):
        assert str(path) in said(*of(jvm), "--ca-file", path, *GOOD)


# passwords


def test_no_password(jvm_variant):
    assert "requires a user and a password: use -u" in said(*of(jvm_variant("password")), *GOOD)


@pytest.fixture(scope="module")
def locked_cassandra(tmp_path_factory, cassandra):
    """A Cassandra that wants a password; the other one sees to it that there is Java."""
    with Cassandra(tmp_path_factory.mktemp("locked"), password=True) as started:
        yield started


@pytest.mark.parametrize("via", ["rmi", "jmxquery"])
def test_a_wrong_password(via, jvm_variant):
    jvm = jvm_variant("password")
    sentence = said(*of(jvm), "-u", jvm.user, "--via", via, *GOOD, timeout=JAVA)
    assert f"{jvm.host}:{jvm.port} denied access to the user {jvm.user}" in sentence


def test_a_wrong_password_at_cassandra(locked_cassandra):
    """It wraps the SecurityException in another exception."""
    for via in ("rmi", "jmxquery"):
        sentence = said(*of(locked_cassandra), "-u", "monitorRole", "--via", via, *GOOD, timeout=JAVA)
        assert "denied access to the user monitorRole" in sentence


# beans and attributes


def test_no_such_bean_and_no_such_attribute(jvm):
    sentence = said(*of(jvm), "-O", "target:type=Troubles", "-A", "Good")
    assert "there is no MBean target:type=Troubles" in sentence
    assert "did you mean target:type=Trouble?" in sentence
    sentence = said(*of(jvm), "-O", "target:type=Trouble", "-A", "Goods")
    assert "has no attribute Goods" in sentence
    assert "did you mean Good?" in sentence


TROUBLE = {
    "ThrowsRuntime": "IllegalStateException: not now / later second line",
    "ThrowsWithoutText": "NullPointerException",
    "ThrowsChecked": "Trouble: checked trouble",
    "ThrowsWithCause": "IOException: inner",
    "ThrowsUnsupported": "UnsupportedOperationException: not supported here",
    "ThrowsSecurity": "may not",
    "ThrowsUnserializable": "cannot be sent",
    "StackOverflow": "StackOverflowError",
    "NoClassDefFound": "NoClassDefFoundError: some/missing/Class",
    "NotSerializable": "cannot be sent, NotSerializableException: target.Foreign$Opaque",
    "NotSerializableWithin": "cannot be sent, NotSerializableException: target.Foreign$Opaque",
    "Optional": "cannot be sent, NotSerializableException: java.util.Optional",
    "Externalizable": "only Java can decode the class target.Foreign$Sealed",
    "ExternalizableWithin": "only Java can decode the class target.Foreign$Sealed",
}


@pytest.mark.parametrize("attribute", TROUBLE)
def test_an_attribute_that_cannot_be_read(attribute, jvm):
    sentence = said(*of(jvm), "-O", "target:type=Trouble", "-A", attribute)
    assert sentence.startswith(f"{attribute} of target:type=Trouble ")
    assert TROUBLE[attribute] in sentence


@pytest.mark.parametrize(
    ("via", "told"),
    [
        ("rmi", r"Value of target:type=Never cannot be read: no answer within [12](\.\d)? s"),
        ("jmxquery", "within 3 s"),
    ],
    ids=["rmi", "jmxquery"],
)
def test_an_attribute_that_never_returns(via, told, jvm_that_hangs):
    never = ("-O", "target:type=Never", "-A", "Value")
    assert re.search(told, said(*of(jvm_that_hangs), *never, "--via", via, timeout=3))


def test_a_server_that_is_frozen(jvm_that_hangs):
    process = psutil.Process(jvm_that_hangs.pid)
    process.suspend()
    try:
        assert "has not answered" in said(*of(jvm_that_hangs), *GOOD, timeout=2)
    finally:
        process.resume()


# where the server says that it is


def test_a_server_that_says_that_it_is_elsewhere(jvm_variant):
    jvm = jvm_variant("wrong-hostname")
    sentence = said(*of(jvm), "--rmi-host", "stub", *GOOD, timeout=2)
    assert "203.0.113.7" in sentence
    with jmx.connect(jmx.Target(jvm.host, jvm.port), Deadline(20)) as server:
        assert value_of(server, "target:type=Trouble", "Good") == 1


@pytest.mark.parametrize("how", [("--rmi-host", "stub"), ("--via", "jmxquery")])
def test_no_password_for_a_host_that_only_the_server_names(how, jvm_variant):
    jvm = jvm_variant("wrong-hostname")
    sentence = said(*of(jvm), *how, "-u", "monitor", "-p", "geheim", *GOOD, timeout=4)
    assert "sends the log-in to 203.0.113.7:" in sentence
    assert "not the host that was asked: the password was not sent" in sentence
    assert "use --rmi-host 203.0.113.7" in sentence


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_host_that_the_server_and_the_user_name_gets_the_password(host, jvm_variant):
    locked = jvm_variant("password")
    user, password = locked.user, locked.password
    target = jmx.Target(host, locked.port, rmi_host="stub", user=user, password=password)
    with jmx.connect(target, Deadline(20)) as server:
        assert value_of(server, "target:type=Trouble", "Good") == 1


def test_a_port_forward_to_nowhere(jvm):
    port = free_port()
    assert said(*of(jvm), "--rmi-port", port, *GOOD) == (
        f"127.0.0.1:{jvm.port} answers, its RMI port {port} refused the connection: "
        "open that port in the firewall, or set jmxremote.rmi.port (here: --rmi-port)"
    )


# a link that breaks

WHOLE = 700  # bytes, more than the server says in all


@pytest.mark.parametrize("reset", [True, False])
@pytest.mark.parametrize("after", [0, 1, 9, 15, 30, 200, 300, 400, 500, 530])
def test_a_link_that_breaks_for_good(after, reset, jvm_variant):
    jvm = jvm_variant("shared-port")
    with TroubledLink(jvm.host, jvm.port, after, reset=reset) as link:
        sentence = said("-P", link.port, "--rmi-port", link.port, *GOOD)
    assert f"localhost:{link.port} closed the connection" in sentence


def test_a_link_that_breaks_at_any_byte(jvm_variant):
    """All of them are too many for the plugin itself; the source is asked."""
    jvm = jvm_variant("shared-port")
    came = set()
    for after in range(1, WHOLE):
        with TroubledLink(jvm.host, jvm.port, after, reset=bool(after % 2), for_good=bool(after % 3)) as link:
            target = jmx.Target("127.0.0.1", link.port, rmi_port=link.port)
            begun = time.monotonic()
            try:
                with jmx.connect(target, Deadline(5)) as server:
                    came.add(value_of(server, "target:type=Trouble", "Good"))
            except jmx.UnreachableError as error:
                came.add(error.what.replace(str(link.port), "PORT"))
            assert time.monotonic() - begun < SLACK
    assert 1 in came  # a connection that is lost once, after the log-in, is made again
    sentences = {what for what in came if what != 1}
    assert all(what.startswith("127.0.0.1:PORT closed the connection") for what in sentences), sentences
