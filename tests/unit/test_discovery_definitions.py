"""Definitions for Icinga and Nagios: whatever a server calls its things, they stay what they are."""

import re
import shlex
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.declared import FLAG, Service
from stallwatch.discovery import icinga2, jmx, mysql, nagios, plan

CONTRIB = Path(__file__).resolve().parents[2] / "contrib"

NASTY = [
    'quo"te', "apo'strophe", "$HOSTADDRESS$", "$(reboot)", "`reboot`", "a;b", "new\nline", "cr\rlf\r\n",
    "back\\", "end\\\n", '*/ object Host "x" {}', "}\ndefine command {", "a!b", "", " ", "\0\x1b",
    "größer", "\u2028", "// #", "a|b", "\\n", "$$", "{{{x}}}",
]  # fmt: skip
ANY = st.text(max_size=40) | st.sampled_from(NASTY)


def planned(text, *, local=False):
    """A plan in which everything that a server may tell is this text."""
    of_it = (("channel", text), ("verbose", FLAG), ("program", text or "a"), ("program", "b"))
    services = (
        Service(text, "replication_lag", text, of_it),
        Service(text, "replication_lag", text, of_it),
        Service("JVM", "jmx", text, words=("-O", text, "-A", text)),
        Service(text, "jmx", text, leads=True),
    )
    inside = tuple(one._replace(nrpe="stallwatch_host") for one in services[:2])
    reach = (("port", "1"), ("username", text))
    host = plan.Host(text, "192.0.2.1", text, services, inside, reach, local=local)
    return plan.Plan((host, host), (text, text))


def icinga_texts(line):
    """The texts of a line in Icinga's language, as it reads them."""
    return [
        re.sub(r"\\(.)", lambda found: {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], found[1]), text)
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    ]


ICINGA_LINE = re.compile(
    r'(//.*|object (Host|Service) "[A-Za-z0-9_.:@/ -]+" \{|\}|'
    r'  (host_name|display_name|check_command|command_endpoint|address) = "[A-Za-z0-9_.:@/ -]+"|'
    r'  notes_url = StallwatchDocs \+ "/check_\w+\.md"|'
    r"  (check_interval|retry_interval|max_check_attempts) = \w+|  zone = zone \|\| ZoneName|"
    r'apply Dependency "[A-Za-z0-9_.:@-]+" to Service \{|  parent_service_name = "[A-Za-z0-9_.:@-]+"|'
    r"  states = \[ OK, Warning \]|  (ignore_soft_states|disable_notifications) = (true|false)|"
    r'  assign where host\.name == "[A-Za-z0-9_.:@/ -]+" && service\.name in \[ [A-Za-z0-9_.:@", -]+ \]|'
    r'  vars\.\w+ = (true|"(?:[^"\\]|\\.)*"|\[ "(?:[^"\\]|\\.)*"(, "(?:[^"\\]|\\.)*")* \])|)'
)
NAGIOS_LINE = re.compile(
    r"(#.*|define (host|service) \{|\}|"
    r"    (host_name|service_description|use|address|notification_period) +[A-Za-z0-9_.:@/ -]+|"
    r"    check_command +[^;\n]*(\\;[^;\n]*)*|    (check_interval|retry_interval|max_check_attempts) +\d|"
    r"    notes_url +file:///usr/share/stallwatch/docs/check_\w+\.md|"
    r"    retry_interval +0\.25|    notification_options +w,u,c,r|    flap_detection_enabled +0|"
    r"define servicedependency \{|    notification_failure_criteria +c,u|"
    r"    dependent_service_description +[A-Za-z0-9_.:@/ -]+(, [A-Za-z0-9_.:@/ -]+)*|)"
)


@given(ANY)
def test_icinga_reads_each_line_as_what_it_was_meant_to_be(text):
    for local in (False, True):
        for line in icinga2.written(planned(text, local=local)).split("\n"):
            assert ICINGA_LINE.fullmatch(line), line


@given(ANY)
def test_nagios_reads_each_line_as_what_it_was_meant_to_be(text):
    for local in (False, True):
        for line in nagios.written(planned(text, local=local)).split("\n"):
            assert NAGIOS_LINE.fullmatch(line), line
            assert not line.endswith("\\")  # which would join it with the next one


@given(ANY)
def test_a_value_comes_out_of_icinga_as_it_went_in(text):
    (value,) = icinga_texts(icinga2.argument(text))
    meant = "".join(letter if letter.isprintable() or letter in "\n\r\t" else "?" for letter in text)
    assert re.sub(r"\$\$", "$", value) == meant
    assert "$" not in value.replace("$$", "")  # no macro of it


@given(ANY)
def test_a_value_comes_out_of_the_shell_of_nagios_as_it_went_in(text):
    written = nagios.argument(text)
    assert not re.search(r"[!;]", re.sub(r"\\[!;]", "", written))  # each of them with a backslash of its own
    assert "$" not in written.replace("$$", "")
    read = re.sub(r"\\([!;])", r"\1", written).replace("$$", "$")  # it leaves other backslashes alone
    assert shlex.split(read) == ["".join(letter if letter.isprintable() else "?" for letter in text)]


@given(ANY, st.text(max_size=5))
def test_the_expression_for_a_channel_fits_it_and_is_harmless(text, other):
    expression = mysql.exactly(text)
    assert re.fullmatch(expression, text)
    assert re.fullmatch(r"[\w.\[\]^ $-]*", expression)
    if re.fullmatch(r"[\w-]*", text, re.ASCII) and other != text:
        assert not re.fullmatch(expression, other)


@given(st.lists(ANY | st.sampled_from(["a b", "a-b", "A b", "a b 2", "x" * 200]), max_size=8))
def test_each_name_is_given_once(names):
    for form in (str, lambda words: words.replace(" ", "-").lower()):
        given = plan.apart(names, form)
        assert len(given) == len(names)
        assert len({one.lower() for one in given}) == len(given)
        assert all(re.fullmatch(r"[A-Za-z0-9_.:@/ -]+", one) and one == one.strip() for one in given)


def test_names_that_would_be_the_same_are_told_apart():
    assert plan.apart(["lag of a!", "Lag of A?", "lag of a_ 2"]) == [
        "lag of a_",
        "Lag of A_ 2",
        "lag of a_ 2 2",
    ]


def test_an_option_given_several_times_is_a_list_for_icinga():
    service = Service("NDB process", "mysqld_process", "", (("program", "ndbmtd"), ("program", "ndbd")))
    told = planned("x")._replace(hosts=(plan.Host("data1", "192.0.2.31", "", (service,)),))
    assert 'vars.mysqld_process_program = [ "ndbmtd", "ndbd" ]' in icinga2.written(told)
    assert "check_mysqld_process!--program ndbmtd --program ndbd\n" in nagios.written(told)


def test_who_only_asks_depends_on_who_tells_that_nobody_answers():
    told = plan.Plan((plan.Host("db1", "192.0.2.11", "", (mysql.ANSWERS, *mysql.OF_SERVER)),))
    titles = [service.title for service in mysql.OF_SERVER]
    assert "MySQL stalls" in titles
    assert f"    dependent_service_description  {', '.join(titles)}\n" in nagios.written(told)
    names = ", ".join(f'"stallwatch-{title.lower().replace(" ", "-")}"' for title in titles)
    rule = f'  assign where host.name == "db1" && service.name in [ {names} ]\n'
    assert rule in icinga2.written(told)
    alone = told._replace(hosts=(told.hosts[0]._replace(services=(mysql.ANSWERS,)),))
    assert "Dependency" not in icinga2.written(alone)
    assert "servicedependency" not in nagios.written(alone)


def test_what_nrpe_is_asked_for_is_shipped():
    of_nodes = [service for _, services in mysql.OF_NODES.values() for service in services]
    of_nrpe = {service.nrpe for service in of_nodes} | {
        mysql.MYSQL_PROCESS.nrpe,
        mysql.HOST.nrpe,
        jmx.NRPE_PROCESS,
    }
    lines = (CONTRIB / "nrpe" / "stallwatch.cfg").read_text()
    assert of_nrpe <= set(re.findall(r"^command\[(.+?)\]", lines, re.MULTILINE))


@pytest.mark.parametrize("address", ["192.0.2.1", "2001:db8::1", "db1.monitoring.example", "fe80::1%eth0"])
def test_an_address_is_one(address):
    assert plan.is_address(address)


@pytest.mark.parametrize("text", ["", "a b", "db1;x", "$(x)", "db1\n", "-H", "a/b", "x" * 300])
def test_what_is_no_address_is_not_taken_for_one(text):
    assert not plan.is_address(text)


def test_the_links_lead_to_the_sheets_of_this_installation(tmp_path, monkeypatch):
    """Below PREFIX, which need not be that of the deb; pip installs no sheets, so there are no links."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "lib" / "stallwatch"))
    assert "notes_url" not in nagios.written(planned("db1", local=False))
    (tmp_path / "share" / "stallwatch" / "docs").mkdir(parents=True)
    links = re.findall("notes_url +(.*)", nagios.written(planned("db1", local=False)))
    sheets = re.compile(rf"file://{tmp_path}/share/stallwatch/docs/check_\w+\.md")
    assert links
    assert all(map(sheets.fullmatch, links))


def test_the_commands_are_named_where_this_installation_has_them(tmp_path, monkeypatch):
    """Only the deb makes ``include <stallwatch>`` known to Icinga; after pip they are in the sdist."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "lib" / "stallwatch"))
    share = tmp_path / "share"

    def named():
        icinga, cfg = (engine.written(planned("db1", local=False)) for engine in (icinga2, nagios))
        include = re.search("^// line, include (.*), in one file alone[.]$", icinga, re.MULTILINE)[1]
        return include, re.search("copy (.*)[.]$", cfg, re.MULTILINE)[1]

    assert named() == (
        '"contrib/icinga2/stallwatch-commands.conf"',
        "contrib/nagios/stallwatch-commands.cfg",
    )
    files = [
        share / "stallwatch/icinga2/stallwatch-commands.conf",
        share / "stallwatch/nagios/stallwatch-commands.cfg",
    ]
    for file in files:
        file.parent.mkdir(parents=True)
        file.touch()
    assert named() == (f'"{files[0]}"', str(files[1]))
    (share / "icinga2/include").mkdir(parents=True)
    (share / "icinga2/include/stallwatch").symlink_to(files[0])
    assert named() == ("<stallwatch>", str(files[1]))
