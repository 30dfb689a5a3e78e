"""What is shipped for Nagios: accepted by a real one beside Debian's own commands, and run as it is meant."""

import json
import re
import runpy
import shlex
import subprocess
from pathlib import Path

import nagios
import pytest
from installing import installable
from nagios import COMMANDS, ROOT, SHIPPED, Nagios
from stallwatch.declared import every
from stallwatch.probes.jmx.options import quantities

LOCAL = [name for name, declared in every().items() if declared.local]  # through NRPE
NRPE = ROOT / "contrib" / "nrpe" / "stallwatch.cfg"
SETS = ("replication", "ndb", "cassandra")
# A plugin that tells its arguments; below line 1, where Nagios leaves a ; alone, and without a | of perfdata.
TELLS = """#!/usr/bin/env python3
import json, sys
print("OK")
print(json.dumps(sys.argv).replace("|", r"\\u007c"))
"""
HOST = """
define host {
    host_name   db1
    use         linux-server
    address     192.0.2.11
    _LAG        -w 60 -c 600
    _QUOTED     --match 'a b|c' --label "x"
    _EMPTY
}
"""
SERVICE = """
define service {{
    use                  generic-service
    host_name            db1
    service_description  {name}
    check_command        {command}
}}
"""


@pytest.fixture(scope="module", autouse=True)
def debians():
    """The files with the commands of all of Debian's own plugins."""
    with installable():
        return nagios.debians_commands()


@pytest.fixture
def tells(open_path):
    """The shipped files, with plugins that tell their arguments."""
    folder = open_path / "shipped"
    for name in [*plugins(), "check_nrpe"]:
        plugin = folder / name
        plugin.parent.mkdir(exist_ok=True)
        plugin.write_text(TELLS)
        plugin.chmod(0o755)
    return nagios.shipped(folder, folder)


def plugins():
    return sorted(path.name for path in (ROOT / "plugins").glob("check_*"))


def plugin_of(command):
    """The plugin that a check_command runs, here or through NRPE; a command of another name is its own."""
    name, first, *_ = f"{command}!".split("!")
    through_nrpe = dict(re.findall(r"^command\[(\w+)\]=\S*/(check_\w+)", NRPE.read_text(), re.MULTILINE))
    return through_nrpe[first] if name == "check_stallwatch_nrpe" else name


def told(running, services):
    """What arguments the plugin of each service was given, but for its folder."""
    held = running.check_all(services)
    given = {service: json.loads(held[service].long_output) for service in services}
    return {service: [Path(words[0]).name, *words[1:]] for service, words in given.items()}


def arguments(folder, tells, commands):
    """What arguments these commands give to the plugin that they run."""
    names = {command: f"service {number}" for number, command in enumerate(commands)}
    services = "".join(SERVICE.format(name=name, command=command) for command, name in names.items())
    with Nagios(folder, tells / COMMANDS.name, objects=HOST + services) as running:
        given = told(running, [f"db1!{name}" for name in names.values()])
    return [given[f"db1!{name}"] for name in names.values()]


@pytest.mark.parametrize(
    "sets",
    [
        (),
        *((name,) for name in SETS),
        SETS,
        tuple(f"{name}{more}" for name in SETS for more in ("", "-nrpe")),
    ],
)
def test_what_is_shipped_is_accepted_beside_debians_own(open_path, sets):
    files = [f"{nagios.OF_DEBIAN}/localhost.cfg", COMMANDS, *(SHIPPED / f"{name}.cfg" for name in sets)]
    status, output = Nagios(open_path, *files).validate()
    assert status == 0, output
    assert "Total Warnings: 0" in output


@pytest.mark.parametrize("name", SETS)
def test_the_link_of_each_service_leads_to_the_sheet_of_its_plugin(name, open_path):
    """As Nagios reads it, templates and all; NRPE's own service has no plugin of ours."""
    files = [SHIPPED / f"{name}{more}.cfg" for more in ("", "-nrpe")]
    with Nagios(open_path, f"{nagios.OF_DEBIAN}/localhost.cfg", COMMANDS, *files) as running:
        cache = (running.folder / "objects.cache").read_text()
    services = re.findall(r"^define service \{(.*?)^\t\}", cache, re.DOTALL | re.MULTILINE)
    links = 0
    for service in services:
        plugin = plugin_of(re.search(r"^\tcheck_command\t(.+)", service, re.MULTILINE)[1])
        if plugin in plugins():
            link = re.search(r"^\tnotes_url\t(.*)", service, re.MULTILINE)[1]
            base = re.search(r"^\t_STALLWATCH_DOCS\t(.*)", service, re.MULTILINE)[1]
            sheet = link.replace("$_SERVICESTALLWATCH_DOCS$", base)
            assert sheet == f"file:///usr/share/stallwatch/docs/{plugin}.md"
            assert (ROOT / "contrib" / "docs" / f"{plugin}.md").is_file()
            links += 1
    assert links >= 6


def test_no_command_is_called_like_one_of_debians(debians):
    def names(file):
        return set(re.findall(r"^\s*command_name\s+(\S+)", file.read_text(errors="replace"), re.MULTILINE))

    own = names(COMMANDS)
    others = {name for file in debians for name in names(file)}
    assert {"check_mysql", "check_zone_auth", "check_nrpe", "check-host-alive"} <= others
    assert own == {*plugins(), "check_stallwatch_nrpe", "check_stallwatch_nrpe_answers"}
    assert not own & others


def test_the_examples_beside_the_commands_say_what_the_plugins_help_says(open_path, tells):
    """A line of the help becomes a part of a check_command, and the same words again."""
    written = re.findall(r"^#   check_command  (check_(?!stallwatch).*)", COMMANDS.read_text(), re.MULTILINE)
    examples = [line for line in written if not line.endswith("!OPTIONS")]
    assert len(examples) > 20
    assert any("'^NORMAL$$'" in line for line in examples)
    for line, words in zip(examples, arguments(open_path / "nagios", tells, examples), strict=True):
        plugin, *parts = re.split(r"(?<!\\)!", line)
        options = shlex.split(parts[-1].replace("$$", "$").replace("\\!", "!").replace("\\;", ";"))
        assert words[0] == plugin
        assert words[len(words) - len(options) :] == options


ALWAYS = ["-H", "192.0.2.11", "--defaults-file", "/etc/stallwatch/mysql.cnf"]


def test_what_is_written_in_a_service_reaches_the_plugin(open_path, tells):
    flush = "-O org.apache.cassandra.internal:type=FlushWriter -A CurrentlyBlockedTasks -w 0 -c 10"
    meant = {
        "check_replication_lag": ["check_replication_lag", *ALWAYS],
        "check_replication_lag!-w 5m": ["check_replication_lag", *ALWAYS, "-w", "5m"],
        "check_replication_lag!$_HOSTLAG$": [
            "check_replication_lag", *ALWAYS, "-w", "60", "-c", "600",
        ],
        f"check_jmx!$HOSTADDRESS$!7199!{flush}": [
            "check_jmx", "-H", "192.0.2.11", "-P", "7199", *flush.split(),
        ],
        "check_jmx!localhost!7199!-O 'java.lang:type=GarbageCollector,*' -A CollectionTime": [
            "check_jmx", "-H", "localhost", "-P", "7199",
            "-O", "java.lang:type=GarbageCollector,*", "-A", "CollectionTime",
        ],
        # $ ; ! and what a shell knows
        "check_mysql_query!-q 'SELECT 1\\; SELECT 2'": [
            "check_mysql_query", *ALWAYS, "-q", "SELECT 1; SELECT 2",
        ],
        "check_mysql_query!-q 'SELECT \"a\\!\" FROM t WHERE a \\!= 1'": [
            "check_mysql_query", *ALWAYS, "-q", 'SELECT "a!" FROM t WHERE a != 1',
        ],
        "check_mysql_status!--include '^Com_(select|insert)$$'": [
            "check_mysql_status", *ALWAYS, "--include", "^Com_(select|insert)$",
        ],
        "check_mysql_status!--exclude 'Com\\_.*' --warning A/B=1": [
            "check_mysql_status", *ALWAYS, "--exclude", "Com\\_.*", "--warning", "A/B=1",
        ],
        # as the head of the file warns
        "check_host!$_HOSTNOSUCH$": ["check_host", "$"],
        "check_host!$_HOSTEMPTY$": ["check_host"],
        "check_host!$_HOSTQUOTED$": ["check_host", "--match", "a", "bc", "--label", "x"],
    }  # fmt: skip
    assert dict(zip(meant, arguments(open_path / "nagios", tells, meant), strict=True)) == meant


def understood(plugin, words):
    """Whether the plugin's own parser knows what to do with these words."""
    check = runpy.run_path(str(ROOT / "plugins" / plugin))["check"]
    options = check.parser.parse(words)
    return quantities(options) if plugin == "check_jmx" else options


def test_every_service_of_the_sets_asks_its_plugin_something_it_understands(open_path, tells):
    files = [tells / COMMANDS.name, *(tells / f"{name}{more}.cfg" for name in SETS for more in ("", "-nrpe"))]
    with Nagios(open_path / "nagios", *files) as running:
        given = told(running, running.services())
    through_nrpe = [words for words in given.values() if words[0] == "check_nrpe"]
    for words in through_nrpe:
        assert re.match(
            r"check_nrpe -H 192\.0\.2\.\d+ (-u -t 15:3 -c stallwatch_\w+|-t 15:2)$", " ".join(words)
        )
    known = re.findall(
        r"^command\[(\w+)\]=", (ROOT / "contrib/nrpe/stallwatch.cfg").read_text(), re.MULTILINE
    )
    assert {words[-1] for words in through_nrpe} <= {"15:2", *known}
    asked = [words for words in given.values() if words[0] != "check_nrpe"]
    assert {plugin for plugin, *_ in asked} | {f"check_{name}" for name in LOCAL} == set(plugins())
    for plugin, *words in asked:
        assert understood(plugin, words)
    assert given["replica1!Replication lag"] == [
        "check_replication_lag", "-H", "192.0.2.12", "--defaults-file", "/etc/stallwatch/mysql.cnf",
        "-w", "60", "-c", "600", "--not-replica", "critical",
    ]  # fmt: skip


SITE = """
define command {
    command_name  check_jmx
    command_line  /usr/bin/check_jmx_of_the_site
}
"""


def test_a_command_that_a_site_has_already_stops_nagios_until_ours_is_renamed(open_path, tells):
    """As the head of the file says, with its own words."""
    files = [tells / COMMANDS.name, *(tells / f"{name}{more}.cfg" for name in SETS for more in ("", "-nrpe"))]
    status, output = Nagios(open_path / "first", *files, objects=SITE).validate()
    assert status != 0
    assert "Duplicate definition found for command 'check_jmx'" in output
    rename = re.search(r"^# +(sed -i .*) FILE\.\.\.$", COMMANDS.read_text(), re.MULTILINE)[1]
    subprocess.run([*shlex.split(rename), *files], check=True)
    with Nagios(open_path / "second", *files, objects=SITE) as running:
        given = told(running, ["cassandra1!Cassandra", "db1!Host"])
    assert [words[0] for words in given.values()] == ["check_jmx", "check_nrpe"]


def test_a_host_that_differs_has_a_service_for_itself(open_path, tells):
    """As the head of each set says, with its own words."""
    for name in SETS:
        files = [tells / COMMANDS.name, tells / f"{name}.cfg"]
        said = re.search(r"^#   define service \{\n(#.*\n)+?#   \}$", files[1].read_text(), re.MULTILINE)[0]
        own = re.sub(r"^# {3}", "", said, flags=re.MULTILINE)
        engine = Nagios(open_path / name, *files, objects=own)
        status, output = engine.validate()
        assert (status, "Total Warnings: 0" in output) == (0, True), output
        host, service = (re.search(rf"{key} +(.*)", own)[1] for key in ("host_name", "service_description"))
        with engine:
            words = told(engine, [f"{host}!{service}"])[f"{host}!{service}"]
        assert {"3307", "7299"} & set(words)


def test_the_check_that_others_depend_on_is_sure_before_them():
    """Else a server that is down would be told by all of them."""
    found = {}
    for name in [f"{name}{more}" for name in SETS for more in ("", "-nrpe")]:
        text = (SHIPPED / f"{name}.cfg").read_text()
        blocks = re.findall(r"^define (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
        read = [
            (kind, dict(re.findall(r"^ +(\S+) +([^;\n]*[^;\s])", block, re.MULTILINE)))
            for kind, block in blocks
        ]
        templates = {one["name"]: one for kind, one in read if kind == "service" and "name" in one}
        found |= {"template": next(iter(templates.values()), found.get("template"))}
        found |= {
            one["service_description"]: found["template"] | one
            for kind, one in read
            if kind == "service" and "name" not in one
        }
        depends = [one for kind, one in read if kind == "servicedependency"]
        assert depends
        for one in depends:
            leader = found[one["service_description"]]
            surely = 1 + (int(leader["max_check_attempts"]) - 1) * float(leader["retry_interval"])
            for other in one["dependent_service_description"].split(", "):
                own = found[other]
                soonest = (int(own["max_check_attempts"]) - 1) * float(own["retry_interval"])
                assert soonest > surely or own["notification_options"] == "w,c,r"
                assert own["flap_detection_enabled"] == "0"
