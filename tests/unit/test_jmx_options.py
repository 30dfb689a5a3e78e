"""What the options of the JMX plugins come to: whom to ask, and as whom."""

import pytest
from stallwatch.frame.check import Check
from stallwatch.frame.options import jmx as jmx_options
from stallwatch.sources import jmx
from stallwatch.sources.jmx.target import from_url
from stallwatch.units import NotUnderstoodError


@pytest.fixture
def target():
    """What the options given come to; the text of the complaint if they make no sense."""

    def read(*words):
        check = Check("jmx", "Ask a JVM.")
        jmx_options.add(check)
        seen = []

        def findings(options, _):
            seen.append(jmx_options.target(check, options))
            return []

        status, output = check.run(findings, list(words))
        assert status == 3
        return seen[0] if seen else output

    return read


def test_the_host_is_our_own_unless_given(target):
    assert (target("-P", "7199").host, target("-P", "7199").port) == ("localhost", 7199)
    assert target("-H", "db1", "-P", "7199").where == "db1:7199"
    for host in ("::1", "[::1]"):
        asked = target("-H", host, "-P", "7199", "--rmi-host", host)
        assert (asked.where, asked.host, asked.rmi_host) == ("[::1]:7199", "::1", "::1")


def test_without_a_port_it_asks_which_jvm(target):
    assert "which JVM?" in target()
    assert "the port of db1 is missing: set it with -P" in target("-H", "db1")


@pytest.mark.parametrize(
    ("host", "way"), [("db1:9010", "-H db1 -P 9010"), ("[::1]:9010", "-H [::1] -P 9010")]
)
def test_a_host_with_a_port_is_refused(target, host, way):
    for port in ([], ["-P", "9010"]):
        assert f'"{host}" has a port: use {way}' in target("-H", host, *port)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http", "7199x", "\u0667"])
def test_what_is_no_port(target, port):
    assert f'"{port}" is not a port: write a number from 1 to 65535' in target(f"--port={port}")


def test_the_url_is_host_and_port_in_one(target):
    found = target("-U", "service:jmx:rmi:///jndi/rmi://db1:7199/other")
    assert (found.host, found.port, found.name) == ("db1", 7199, "other")
    assert "leave out -H and -P" in target("-U", "service:jmx:rmi:///jndi/rmi://db1:7199/jmxrmi", "-P", "1")
    assert "JMX over jmxmp cannot be spoken here" in target("-U", "service:jmx:jmxmp://db1:1")


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("service:jmx:rmi:///jndi/rmi://h:1/jmxrmi", ("h", 1, "jmxrmi")),
        ("service:jmx:rmi://h:2/jndi/rmi://h:1/jmxrmi", ("h", 1, "jmxrmi")),
        ("service:jmx:rmi://elsewhere/jndi/rmi://[fe80::1%eth0]:1/a/b", ("fe80::1%eth0", 1, "a/b")),
        ("service:jmx:rmi:///jndi/rmi://h/jmxrmi", ("h", 1099, "jmxrmi")),
        ("service:jmx:rmi:///jndi/rmi://:1/jmxrmi", ("localhost", 1, "jmxrmi")),
        ("SERVICE:JMX:RMI:///JNDI/RMI://h:1/jmxrmi", ("h", 1, "jmxrmi")),
        ("service:jmx:rmi:///jndi/rmi:///jmxrmi", ("localhost", 1099, "jmxrmi")),
    ],
)
def test_urls(url, read):
    assert from_url(url) == read


@pytest.mark.parametrize(
    ("url", "because"),
    [
        ("db1:7199", "is no JMX URL"),
        ("http://db1:7199/", "is no JMX URL"),
        ("service:jmx:iiop:///x", "JMX over iiop cannot be spoken here"),
        ("service:jmx:rmi://db1:7199/jmxrmi", "names no registry"),
        ("service:jmx:rmi:///stub/rO0ABQ==", "names no registry"),
        ("service:jmx:rmi:///jndi/rmi://h:70000/jmxrmi", "is not HOST:PORT"),
        ("service:jmx:rmi:///jndi/rmi://a:b:c/jmxrmi", "is not HOST:PORT"),
    ],
)
def test_urls_that_cannot_be_used(url, because):
    with pytest.raises(NotUnderstoodError, match=because):
        from_url(url)


def test_the_password_comes_from_a_file_or_the_environment(target, tmp_path, monkeypatch):
    file = tmp_path / "password"
    file.write_text("from file\r\nsecond line\n")
    assert target("-P", "1", "-u", "u", "--password-file", str(file)).password == "from file"
    monkeypatch.setenv(jmx_options.PASSWORD, "from environment")
    assert target("-P", "1", "-u", "u").password == "from environment"
    assert target("-P", "1", "-u", "u", "-p", "given").password == "given"
    assert target("-P", "1").password is None


def test_a_password_file_that_is_not_there_or_is_no_text(target, tmp_path):
    missing = str(tmp_path / "none")
    answer = target("-P", "1", "-u", "u", "--password-file", missing)
    assert answer == f"JMX UNKNOWN - --password-file {missing}: No such file or directory"
    for content, why in ((b"\xff\n", "is no text"), (b"\n", "its first line is empty")):
        (tmp_path / "bytes").write_bytes(content)
        answer = target("-P", "1", "-u", "u", "--password-file", str(tmp_path / "bytes"))
        assert answer == f"JMX UNKNOWN - --password-file {tmp_path}/bytes: {why}"


def test_a_user_needs_a_password(target):
    sentence = "the user u needs a password: give --password-file or $STALLWATCH_JMX_PASSWORD"
    assert sentence in target("-P", "1", "-u", "u")
    assert sentence in target("-P", "1", "-u", "u", "-p", "")


@pytest.mark.parametrize(
    "option",
    [
        "--hostname", "--username", "--password-file", "--ca-file", "--client-cert", "--client-key",
        "--rmi-host", "--java",
    ],
)  # fmt: skip
def test_a_macro_without_a_value_is_not_taken_for_the_default(target, option):
    assert f"{option} is empty" in target("-P", "1", f"{option}=")


def test_what_does_not_go_together(target):
    assert "a password needs a user" in target("-P", "1", "-p", "x")
    assert "--client-key needs --client-cert" in target("-P", "1", "--client-key", "k")


def test_the_password_is_nowhere_in_what_a_target_shows(target):
    assert "geheim" not in repr(target("-P", "1", "-u", "u", "-p", "geheim"))


@pytest.mark.parametrize("option", [["--tls"], ["--tls-registry"], ["--insecure"], ["--ca-file", "f"]])
def test_whoever_names_a_detail_of_tls_wants_tls(target, option):
    assert target("-P", "1", *option).tls.wanted
    assert not target("-P", "1").tls.wanted


def test_the_rest_is_told_as_given(target):
    words = "-P 1 --rmi-host stub --rmi-port 2 --via jmxquery --java /opt/java --client-cert c --client-key k"
    expected = jmx.Target(
        "localhost", 1, rmi_host="stub", rmi_port=2, via="jmxquery", java="/opt/java",
        tls=jmx.Tls(wanted=True, client_cert="c", client_key="k"),
    )  # fmt: skip
    assert target(*words.split()) == expected


# Jolokia


def test_a_url_of_http_is_jolokia(target):
    found = target("-U", "https://app1/actuator/jolokia", "--ca-file", "f")
    assert (found.where, found.name, found.via) == ("app1:443", "/actuator/jolokia/", "jolokia")
    assert found.tls == jmx.Tls(wanted=True, ca_file="f")
    found = target("-H", "app1", "-P", "8778", "--via", "jolokia", "--allow-cleartext")
    assert (found.where, found.name, found.tls.wanted, found.cleartext) == (
        "app1:8778",
        "/jolokia/",
        False,
        True,
    )
    assert target("-P", "8778", "--via", "jolokia", "--tls").tls.wanted
    assert target("-P", "7199").via == "rmi"


@pytest.mark.parametrize(
    ("words", "because"),
    [
        ("-U http://app1:8778 --tls", "write https://"),
        ("-U http://app1:8778 --rmi-port 1", "--rmi-port is for RMI"),
        ("-P 8778 --via jolokia --tls-registry", "--tls-registry is for RMI"),
        ("-U http://app1:8778 --via rmi", "-U is a URL of Jolokia, which contradicts --via rmi"),
        ("-U http://app1:8778 --via jmxquery", "-U is a URL of Jolokia, which contradicts --via jmxquery"),
        (
            "-U service:jmx:rmi:///jndi/rmi://h:1/jmxrmi --via jolokia",
            "-U is a URL of RMI, which contradicts --via jolokia",
        ),
        ("-U app1:8778", "of Jolokia http://HOST:PORT/jolokia, or use -H and -P"),
        ("-U http://app1:8778 -P 1", "leave out -H and -P"),
    ],
)
def test_what_does_not_go_together_with_jolokia(target, words, because):
    assert because in target(*words.split())


def test_a_password_in_a_url_is_refused_and_not_shown(target):
    said = target("-U", "http://me:geheim@app1:8778/jolokia")
    assert "give -u and --password-file" in said
    assert "geheim" not in said
