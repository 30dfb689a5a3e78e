"""What is shipped for Icinga 2 and its Director: accepted by a real Icinga, and run as it is meant."""

import http.client
import json
import re
import runpy
import shutil
import sys
import time
from pathlib import Path

import engine_user
import pytest
from generators import icinga2
from generators.plugins import PLUGIN_DIR, plugins
from generators.sets import members
from icinga import Icinga
from icinga_notifications import Notifications
from loopback import free_port
from sql_node import MONITOR
from stallwatch.probes.jmx.options import quantities
from stallwatch.units import duration

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "contrib" / "icinga2"
COMMANDS = SHIPPED / "stallwatch-commands.conf"
BASKET = ROOT / "contrib" / "director" / "stallwatch.json"
SETS = tuple(SHIPPED / f"{name}.conf" for name in ("replication", "ndb", "cassandra", "agent"))
PLUGINS = plugins()
TELLS = f"#!{sys.executable} -IS\nimport json, sys\nprint(json.dumps(sys.argv))\n"
ODD = "\"a  b\" 'c' $HOME \\d+ `id` ;größer"  # what a shell, a macro or a string would change
SERVICE = """
object Service "{name}" {{
  host_name = "db1"
  check_command = "{command}"
  enable_active_checks = false
{variables}
}}
"""
UNKNOWN = 3
DB1 = 'object Host "db1" { check_command = "dummy"; address = "192.0.2.11" }\n'


def command_of(plugin):
    return icinga2.command(plugin).name


def options_of(plugin):
    return list(icinga2.variables(plugin))


def literal(value):
    """A value as Icinga reads it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {literal(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def service(name, command, variables):
    """A service with these custom variables, whose values are to reach the plugin as they are."""

    def said(value):
        if isinstance(value, list):
            return [said(one) for one in value]
        return value.replace("$", "$$") if isinstance(value, str) else value

    lines = (f"  vars.{variable} = {literal(said(value))}" for variable, value in variables.items())
    return SERVICE.format(name=name, command=command, variables="\n".join(lines))


@pytest.fixture(scope="module")
def tells():
    """A folder with plugins that tell their arguments."""
    with engine_user.open_folder() as folder:
        for plugin in PLUGINS:
            path = folder / plugin.program
            path.write_text(TELLS)
            path.chmod(0o755)
        engine_user.reachable(folder)
        yield folder


# The commands of a basket, as the Director writes them for Icinga (1.10.2).


def deployed(basket, plugin_dir):
    return "".join(map(_deployed, basket["Command"].values())).replace(PLUGIN_DIR, str(plugin_dir))


def _deployed(command):
    arguments = "\n".join(
        f"    {json.dumps(option)} = {{ {_attributes(attributes)} }}"
        for option, attributes in command["arguments"].items()
    )
    variables = "".join(f"  vars.{name} = {literal(value)}\n" for name, value in command["vars"].items())
    return (
        f'object CheckCommand "{command["object_name"]}" {{\n  import "plugin-check-command"\n'
        f"  command = [ {json.dumps(command['command'])} ]\n  timeout = {command['timeout']}\n"
        f"  arguments += {{\n{arguments}\n  }}\n{variables}}}\n"
    )


def _attributes(attributes):
    attributes = dict(attributes)
    as_text = attributes.pop("set_if_format", "string") == "string"
    written = {name: literal(value) for name, value in attributes.items()}
    if not as_text:
        written["set_if"] = f"{{{{ {attributes['set_if']} }}}}"
    return "; ".join(f"{name} = {value}" for name, value in written.items())


# What reaches the plugins.


def everything(plugin):
    """A value for each of its variables, and the arguments that are meant by them."""
    variables, meant = {}, []
    for option in options_of(plugin):
        several = option.several and plugin.name != "jmx"
        value = [ODD, f"{option.name} 2"] if several else ODD if option.metavar else True
        variables[f"{command_of(plugin)}_{option.name}"] = value
        words = value if several else [value] if option.metavar else [None]
        meant += [(option.long, word) for word in words]
    return variables, meant


def pairs(plugin, words):
    """Read arguments back as options with their values."""
    takes = {option.long: bool(option.metavar) for option in plugin.options}
    rest, found = list(words), []
    while rest:
        option = rest.pop(0)
        found.append((option, rest.pop(0) if takes[option] else None))
    return found


def both(plugin):
    """What its command is called by Icinga, and by the Director."""
    return command_of(plugin), f"stallwatch-{plugin.name.replace('_', '-')}"


def test_every_variable_reaches_its_plugin_as_it_is(open_path, tells):
    """By the commands that Icinga includes, and by those of the Director."""
    services, meant = {}, {}
    for plugin in PLUGINS:
        variables, options = everything(plugin)
        server = {name: "one" for name in variables if name.endswith(("_socket", "_url"))}
        required = {option.name: "one" for option in options_of(plugin) if option.required}
        for command in both(plugin):
            services[f"{command} all"] = service(f"{command} all", command, variables)
            without = "--hostname" if server and icinga2.command(plugin).hostname else None
            meant[f"{command} all"] = plugin, [pair for pair in options if pair[0] != without]
            needed = {f"{command_of(plugin)}_{name}": value for name, value in required.items()}
            services[f"{command} none"] = service(f"{command} none", command, needed)
            address = [("--hostname", "192.0.2.11")] if icinga2.command(plugin).hostname else []
            meant[f"{command} none"] = (
                plugin,
                address + [(option.long, "one") for option in options_of(plugin) if option.required],
            )
    objects = DB1 + deployed(json.loads(BASKET.read_text()), tells) + "".join(services.values())
    with Icinga(open_path, COMMANDS, objects=objects, plugins=tells) as icinga:
        told = icinga.check_all([f"db1!{name}" for name in services])
    for name, (plugin, options) in meant.items():
        program, *words = json.loads(told[f"db1!{name}"].output)
        assert Path(program).name == plugin.program
        assert sorted(pairs(plugin, words), key=str) == sorted(options, key=str), name


def test_each_threshold_has_a_variable_of_the_usual_name():
    """Its name is that of a plugin with _warning or _critical at its end, as administrators guess."""
    for plugin in PLUGINS:
        names = {option.name for option in options_of(plugin)}
        levels = {name for name in names if re.search("warn|crit", name)}
        assert {"warning", "critical"} <= levels
        assert all(re.fullmatch(r"(\w+_)?(warning|critical)", name) for name in levels), plugin.name


def test_what_is_required_is_asked_for(open_path, tells):
    names = {plugin.name: option.long for plugin in PLUGINS for option in plugin.options if option.required}
    assert names.items() >= {"mysql_backup": "--directory", "ndb_log": "--log"}.items()
    objects = DB1 + "".join(service(name, name, {}) for name in names)
    with Icinga(open_path, COMMANDS, objects=objects, plugins=tells) as icinga:
        for name, option in names.items():
            told = icinga.check(f"db1!{name}")
            assert told.state == 3
            assert f"used in argument '{option}' is missing" in told.output + told.long_output


def asked(words):
    """What check_jmx understands of these arguments."""
    check = runpy.run_path(str(ROOT / "plugins" / "check_jmx"))["check"]
    return quantities(check.parser.parse(words))


def test_jmx_keeps_the_order_that_its_options_need(open_path, tells):
    heap = [
        "-O",
        "java.lang:type=Memory",
        "-A",
        "HeapMemoryUsage",
        "-K",
        "used",
        "--of",
        "max",
        "--unit",
        "B",
    ]
    state = [
        "-O",
        "org.apache.cassandra.db:type=StorageService",
        "-A",
        "OperationMode",
        "--match",
        "^NORMAL$",
    ]
    one = {
        "object": "java.lang:type=Memory", "attribute": "HeapMemoryUsage", "key": "used", "of": "max",
        "unit": "B", "warning": "80%", "critical": "90%",
    }  # fmt: skip
    ordinary = {f"stallwatch_jmx_{name}": value for name, value in one.items()}
    meant = {
        "one": (ordinary, [*heap, "-w", "80%", "-c", "90%"]),
        "several": ({"stallwatch_jmx_quantities": [*heap, *state]}, [*heap, *state]),
        "one and several": (
            {**ordinary, "stallwatch_jmx_quantities": state}, [*heap, "-w", "80%", "-c", "90%", *state],
        ),
        "of all": (
            {"stallwatch_jmx_missing": "ok", "stallwatch_jmx_quantities": [*heap, *state]},
            ["--missing", "ok", *heap, *state],
        ),
    }  # fmt: skip
    jmx = next(plugin for plugin in PLUGINS if plugin.name == "jmx")
    services = "".join(
        service(f"{command} {name}", command, variables)
        for command in both(jmx)
        for name, (variables, _) in meant.items()
    )
    objects = DB1 + deployed(json.loads(BASKET.read_text()), tells) + services
    with Icinga(open_path, COMMANDS, objects=objects, plugins=tells) as icinga:
        for name, (_, words) in meant.items():
            for command in both(jmx):
                _, *told = json.loads(icinga.check(f"db1!{command} {name}").output)
                assert asked(told) == asked(words), name


# The commands.


def test_every_option_has_a_variable_or_a_reason_why_not():
    known = {option.long for plugin in PLUGINS for option in plugin.options}
    assert set(icinga2.AT_A_TERMINAL) <= known
    for plugin in PLUGINS:
        has = {option.long for option in options_of(plugin)}
        assert {option.long for option in plugin.options} - has <= set(icinga2.AT_A_TERMINAL)
        assert set(icinga2.command(plugin).arguments) - {"quantities"} == has


def test_icinga_waits_longer_than_a_plugin_may_take_but_not_much(open_path):
    """So long an agent does not check again whose answer was lost, and half a minute more (2.13.6)."""
    with Icinga(open_path, COMMANDS) as icinga:
        for plugin in PLUGINS:
            limit = icinga.evaluate(f'get_check_command("{command_of(plugin)}").timeout')
            of_all = [plugin.parser.get_default(name) for name in ("timeout", "verify_timeout")]
            assert sum(duration(one) for one in of_all if one) < limit <= (120 if of_all[1] else 60)
            assert f"{limit / 60:.0f}m" in icinga2.command(plugin).arguments["--timeout"]["description"]


def test_a_list_for_what_takes_one_value_is_unknown(open_path, installed):
    """Else the last one would count: of two servers or two backups one would not be looked at."""
    services = service("ports", "stallwatch_mysql_query", {"stallwatch_mysql_query_port": [3306, 3307]})
    services += service("backups", "mysql_backup", {"mysql_backup_directory": ["/b1", "/b2"]})
    plugins = installed / "lib/stallwatch/bin"
    with Icinga(open_path, COMMANDS, objects=DB1 + services, plugins=plugins) as icinga:
        for result in icinga.check_all(["db1!ports", "db1!backups"]).values():
            assert result.state == UNKNOWN
            assert "belongs to no option" in result.output


def test_the_plugins_are_where_the_site_says(open_path, tells):
    expression = 'get_check_command("stallwatch_host").command[0]'
    with Icinga(open_path / "ours", COMMANDS) as icinga:
        assert icinga.evaluate(expression) == "/usr/lib/stallwatch/bin/check_host"
    with Icinga(open_path / "theirs", COMMANDS, plugins=tells) as icinga:
        assert icinga.evaluate(expression) == f"{tells}/check_host"


# The basket, as the Director restores it (BasketSnapshot of 1.10.2), who knows objects by name.


def test_the_basket_is_one_that_the_director_restores():
    basket = json.loads(BASKET.read_text())
    assert set(basket) == {"Command", "ServiceTemplate", "ServiceSet", "Datafield"}
    fields = basket["Datafield"]
    assert [*fields] == [str(number + 1) for number in range(len(fields))]
    # it refuses a key that it does not know: uuid, which 1.11 has
    assert all(
        set(field) == {"caption", "datatype", "description", "format", "settings", "varname"}
        for field in fields.values()
    )
    names = [field["varname"] for field in fields.values()]
    assert len(set(names)) == len(names)
    for name, command in basket["Command"].items():
        assert (command["object_name"], command["object_type"]) == (name, "object")
        linked = {fields[str(field["datafield_id"])]["varname"] for field in command["fields"]}
        used = {
            attributes.get("value", attributes.get("set_if")).strip("$")
            for attributes in command["arguments"].values()
        }
        assert linked == used
        assert all(isinstance(field["datafield_id"], int) for field in command["fields"])
        # what the Director keeps of an argument: it knows no key
        assert {key for attributes in command["arguments"].values() for key in attributes} <= {
            "value", "set_if", "set_if_format", "required", "order", "repeat_key", "skip_key",
        }  # fmt: skip
    for name, template in basket["ServiceTemplate"].items():
        assert (template["object_name"], template["object_type"]) == (name, "template")
        assert template["check_command"] in basket["Command"]
        known = {fields[str(one["datafield_id"])]["varname"] for one in basket["Command"][name]["fields"]}
        assert set(template["vars"]) <= known


def test_service_sets_of_the_basket_are_made_of_its_templates():
    """As IcingaServiceSet of 1.10.2 reads them: a list of objects, each with a template of this basket."""
    basket = json.loads(BASKET.read_text())
    kinds = {
        one["varname"]: one["datatype"].rpartition("DataType")[2] for one in basket["Datafield"].values()
    }
    assert basket["ServiceSet"]
    for name, one in basket["ServiceSet"].items():
        assert set(one) == {"assign_filter", "description", "object_name", "object_type", "services"}
        assert (one["object_name"], one["object_type"], one["assign_filter"]) == (name, "template", None)
        titles = [service["object_name"] for service in one["services"]]
        assert titles
        assert len(set(titles)) == len(titles)
        for service in one["services"]:
            assert set(service) == {"imports", "object_name", "object_type", "vars"}
            assert service["object_type"] == "object"
            (template,) = service["imports"]
            command = basket["ServiceTemplate"][template]["check_command"]
            fields = {str(field["datafield_id"]) for field in basket["Command"][command]["fields"]}
            for variable, value in service["vars"].items():
                assert variable in {basket["Datafield"][number]["varname"] for number in fields}
                assert kinds[variable] == ("Array" if isinstance(value, list) else "String")


def test_one_service_of_a_set_is_critical_if_nobody_answers():
    """By an option of its own or of its template, or by itself (mysql_query)."""
    basket = json.loads(BASKET.read_text())
    leaders = {
        name: [
            service["object_name"]
            for service in one["services"]
            for merged in [{**basket["ServiceTemplate"][service["imports"][0]]["vars"], **service["vars"]}]
            if service["imports"] == ["stallwatch-mysql-query"]
            or any(key.endswith("_unreachable") and value == "critical" for key, value in merged.items())
        ]
        for name, one in basket["ServiceSet"].items()
    }
    assert leaders == {
        "stallwatch MySQL": ["MySQL"],
        "stallwatch replica": [],
        "stallwatch NDB": ["NDB nodes"],
        "stallwatch Cassandra": ["Cassandra"],
        "stallwatch host": [],
    }


def test_the_page_on_the_director_names_the_sets_and_their_services():
    page = (BASKET.parent / "README.md").read_text()
    rows = dict(re.findall(r"^\| (stallwatch \w+) \| .+? \| (.+) \|$", page, re.MULTILINE))
    sets = json.loads(BASKET.read_text())["ServiceSet"]
    assert rows == {
        name: ", ".join(service["object_name"] for service in one["services"]) for name, one in sets.items()
    }


def test_the_types_of_data_fields():
    fields = {one["varname"]: one for one in json.loads(BASKET.read_text())["Datafield"].values()}

    def kind(name):
        return fields[name]["datatype"].rpartition("DataType")[2]

    assert kind("replication_lag_warning") == "String"
    assert kind("replication_lag_channel") == "Array"
    assert kind("stallwatch_mysql_query_reconnect") == "Boolean"
    assert kind("stallwatch_jmx_object") == "String"  # several have stallwatch_jmx_quantities
    assert kind("stallwatch_jmx_quantities") == "Array"
    hidden = {name for name, one in fields.items() if one["settings"].get("visibility") == "hidden"}
    assert hidden == {name for name in fields if name.endswith("_password")}


# The sets.

HOSTS = """
object Host "other" { check_command = "dummy"; address = "192.0.2.10" }
object Host "db1" { check_command = "dummy"; address = "192.0.2.11"
  vars.stallwatch.mysql = true }
object Host "replica1" { check_command = "dummy"; address = "192.0.2.12"
  vars.stallwatch.mysql = true
  vars.stallwatch.replica = true
  vars.stallwatch.source = "192.0.2.11:3306"
  vars.stallwatch.port = 3307
  vars.stallwatch.defaults_file = "/etc/other.cnf"
  vars.stallwatch.defaults_group = "replica1"
  vars.replication_lag_warning = "5m" }
object Host "replica2" { check_command = "dummy"; address = "192.0.2.13"
  vars.stallwatch.replica = true }
object Host "sql1" { check_command = "dummy"; address = "192.0.2.21"
  vars.stallwatch.ndb = true
  vars.stallwatch.management = "192.0.2.41:1186" }
object Host "data1" { check_command = "dummy"; address = "192.0.2.31"
  vars.stallwatch.data_dir = "/var/lib/mysql-cluster"
  vars.stallwatch.cluster_log = "/var/lib/mysql-cluster/ndb_1_cluster.log"
  vars.stallwatch.bonds = 1
  vars.stallwatch.agent = NodeName }
object Host "data2" { check_command = "dummy"; address = "192.0.2.31"
  vars.stallwatch.data_dir = "/srv/ndb"
  vars.mysqld_process_data_dir = "/srv/ndb"
  vars.stallwatch.bonds = 1
  vars.stallwatch.same_machine = true
  vars.stallwatch.agent = NodeName }
object Host "cassandra1" { check_command = "dummy"; address = "192.0.2.51"
  vars.stallwatch.cassandra = true
  vars.stallwatch.jmx_user = "monitorRole"
  vars.stallwatch.agent = NodeName }
object Host "backup1" { check_command = "dummy"; address = "192.0.2.61"
  vars.stallwatch.mysql = true
  vars.stallwatch.port = 3307
  vars.stallwatch.bonds = true
  vars.stallwatch.backups = "/backup/mysql"
  vars.stallwatch.agent = NodeName }
"""
LOGIN = ("--defaults-file", "/etc/stallwatch/mysql.cnf")


def declared_for(name):
    """The services that plugins declare for a set, by the names that it gives them."""
    return {one.plugin.replace("_", "-"): one.plugin for one in members(name)}


MYSQL = {"mysql": "mysql_query"} | declared_for("mysql")
NDB = {"ndb-nodes": "ndb_nodes"} | declared_for("ndb")
ON_HOST = declared_for("host")


def said(*words):
    return sorted(zip(words[::2], words[1::2], strict=True))


def test_the_sets_make_the_services_that_they_promise(open_path, tells):
    """Host, service, plugin and arguments of each; a host of which nothing is said has none."""
    mysql_of = {
        "db1": said("--hostname", "192.0.2.11", *LOGIN),
        "replica1": said("--hostname", "192.0.2.12", "--port", "3307", "--defaults-file", "/etc/other.cnf",
                         "--defaults-group", "replica1"),
        "backup1": said("--hostname", "192.0.2.61", "--port", "3307", *LOGIN),
    }  # fmt: skip
    meant = {
        f"{host}!{name}": (plugin, words)
        for host, words in mysql_of.items()
        for name, plugin in MYSQL.items()
    }
    more = said("--source", "192.0.2.11:3306", "--warning", "5m", "--not-replica", "critical")
    meant["replica1!replication-lag"] = "replication_lag", sorted(mysql_of["replica1"] + more)
    alone = said("--hostname", "192.0.2.13", *LOGIN)
    meant["replica2!mysql"] = "mysql_query", alone
    meant["replica2!replication-lag"] = "replication_lag", sorted(alone + said("--not-replica", "critical"))
    at = said("--hostname", "192.0.2.21", *LOGIN)
    meant["sql1!ndb-sql-node"] = "mysql_query", at
    meant |= {f"sql1!{name}": (plugin, at) for name, plugin in NDB.items()}
    more = said("--unreachable", "critical", "--management", "192.0.2.41:1186")
    meant["sql1!ndb-nodes"] = "ndb_nodes", sorted(at + more)
    folder = "/var/lib/mysql-cluster"  # nothing says which process: it might not be for the user to see
    meant |= {
        "data1!ndb-log": ("ndb_log", said("--log", f"{folder}/ndb_*_out.log")),
        "data1!ndb-cluster-log": ("ndb_log", said("--log", f"{folder}/ndb_1_cluster.log")),
        "data1!ndb-process": (
            "mysqld_process", said("--program", "ndbmtd", "--program", "ndbd"),
        ),
        "data1!bonding": ("bonding", said("--expect", "1")),
        "data2!ndb-log": ("ndb_log", said("--log", "/srv/ndb/ndb_*_out.log")),
        "data2!ndb-process": ("mysqld_process", said(
            "--data-dir", "/srv/ndb", "--program", "ndbmtd", "--program", "ndbd",
        )),
        "cassandra1!cassandra-process": (
            "mysqld_process", said("--program", "java", "--listens", "7199"),
        ),
        "backup1!bonding": ("bonding", []),
        "backup1!mysqld-process": (
            "mysqld_process", said("--program", "mysqld", "--program", "mariadbd", "--listens", "3307"),
        ),
        "backup1!mysql-backup": ("mysql_backup", said("--directory", "/backup/mysql")),
        "cassandra1!cassandra-thread-pools": ("jmx_thread_pools", said(
            "--hostname", "127.0.0.1", "--port", "7199", "--username", "monitorRole",
            "--password-file", "/etc/stallwatch/jmx.password",
        )),
    }  # fmt: skip
    for host in ("data1", "cassandra1", "backup1"):
        meant |= {f"{host}!{name}": (plugin, []) for name, plugin in ON_HOST.items()}
    meant = {name.replace("!", "!stallwatch-"): one for name, one in meant.items()}
    by_jmx = [f"cassandra1!stallwatch-cassandra{name}" for name in ("", "-heap", "-dropped", "-compactions")]
    by_name = {plugin.name: plugin for plugin in PLUGINS}
    with Icinga(open_path, COMMANDS, *SETS, objects=HOSTS, plugins=tells) as icinga:
        services = {one["attrs"]["__name"] for one in icinga.api("GET", "/v1/objects/services")}
        assert services == {*meant, *by_jmx}
        told = {
            name: json.loads(result.output) for name, result in icinga.check_all(sorted(services)).items()
        }
    for name, (plugin, words) in meant.items():
        assert Path(told[name][0]).name == f"check_{plugin}", name
        assert sorted(pairs(by_name[plugin], told[name][1:])) == words, name
    for name in by_jmx:
        assert asked(told[name][1:]), name
    assert "^NORMAL$" in told["cassandra1!stallwatch-cassandra"]


def test_looks_that_count_are_far_enough_apart(open_path, tells):
    """Less than 15 s are the same look; what is told once would be missed by a second attempt."""
    with Icinga(open_path, COMMANDS, *SETS, objects=HOSTS, plugins=tells) as icinga:
        services = [one["attrs"] for one in icinga.api("GET", "/v1/objects/services")]
    assert all(one["retry_interval"] >= 15 and one["check_interval"] >= 60 for one in services)
    assert all(one["notes"] and one["display_name"] != one["name"] for one in services)
    assert all(one["name"].startswith("stallwatch-") for one in services)
    once = {one["check_command"] for one in services if one["max_check_attempts"] == 1}
    assert once == {plugin.name for plugin in PLUGINS if plugin.declared.times.attempts == 1}
    basket = json.loads(BASKET.read_text())["ServiceTemplate"]
    for one in (one for one in services if one["check_command"] != "cluster-zone"):
        folder, _, sheet = one["notes_url"].rpartition("/")
        assert folder == "file:///usr/share/stallwatch/docs"
        assert sheet == f"check_{one['check_command'].removeprefix('stallwatch_')}.md"
        assert (ROOT / "contrib" / "docs" / sheet).is_file()
    for one in services:
        plugin = one["check_command"].removeprefix("stallwatch_")
        template = basket[f"stallwatch-{plugin.replace('_', '-')}"]
        for attribute in ("check_interval", "retry_interval", "max_check_attempts"):
            assert one[attribute] == template[attribute], (one["__name"], attribute)


@pytest.mark.parametrize("name", [path.name for path in SETS])
def test_each_set_stands_by_itself(open_path, name):
    """Only where an agent is said agent.conf has to be there, too, which tells that it is gone."""
    hosts = re.sub(r"\n  vars.stallwatch.agent = NodeName", "", HOSTS)
    status, output = Icinga(open_path / "alone", COMMANDS, SHIPPED / name, objects=hosts).validate()
    assert status == 0, output
    if name in ("ndb.conf", "cassandra.conf"):
        status, output = Icinga(open_path / "agent", COMMANDS, SHIPPED / name, objects=HOSTS).validate()
        assert status == 1
        assert "unknown template: 'stallwatch-agent-service'" in output


def test_debians_own_configuration_and_a_sites_services_may_be_there(open_path):
    """Also a service "mysql": no name of ours is one that a site has."""
    own = """
    apply Service "mysql" { check_command = "mysql"; assign where host.address }
    apply Service "host" { check_command = "dummy"; assign where host.address }
    """
    conf_d = Path("/etc/icinga2/conf.d")  # of icinga2-common
    assert conf_d.is_dir()
    status, output = Icinga(open_path, conf_d, COMMANDS, *SETS, objects=HOSTS + own).validate()
    assert status == 0, output


@pytest.mark.parametrize("of", ["mysql", "ndb", "cassandra"])
def test_a_template_without_a_command_is_refused(open_path, of):
    """It would lose port and account: they are variables of the command."""
    lines = ['check_command = "ndb_nodes"', f'import "stallwatch-{of}-service"']
    for number, these in enumerate((lines, lines[::-1])):
        own = "\n".join(['object Service "ours" {', 'host_name = "db1"', *these, "}"])
        icinga = Icinga(open_path / str(number), COMMANDS, *SETS, objects=DB1 + own)
        status, output = icinga.validate()
        assert status == number, output
    assert f'check_command has to stand before: import "stallwatch-{of}-service"' in output


def test_an_agent_is_asked_by_its_master_also_from_conf_d(open_path, tells):
    """Where hosts have no zone, Icinga would refuse a command_endpoint."""
    agent = """
    object Endpoint "agent1" { }
    object Zone "agent1" { endpoints = [ "agent1" ]; parent = ZoneName }
    """
    hosts = HOSTS.replace("stallwatch.agent = NodeName", 'stallwatch.agent = "agent1"')
    with Icinga(open_path, COMMANDS, *SETS, objects=agent + hosts, plugins=tells) as icinga:
        services = {one["attrs"]["name"]: one["attrs"] for one in icinga.api("GET", "/v1/objects/services")}
    by_agent = {name for name, one in services.items() if one["command_endpoint"] == "agent1"}
    assert {name.removeprefix("stallwatch-") for name in by_agent} == {
        *ON_HOST, "bonding", "mysql-backup", "mysqld-process", "ndb-log", "ndb-cluster-log", "ndb-process",
        "cassandra", "cassandra-heap", "cassandra-dropped", "cassandra-compactions", "cassandra-thread-pools",
        "cassandra-process",
    }  # fmt: skip
    assert services["stallwatch-agent"]["check_command"] == "cluster-zone"


# The layout of zones.


def of_zones(folder, name, ports=None, **more):
    """One node of the layout; the master alone has its folders, with the sets in its global zone."""
    if name == "master1":
        shutil.copytree(SHIPPED / "zones" / "zones.d", folder / "zones.d")
        for path in SETS:
            engine_user.copy(path, folder / "zones.d" / "global-templates")
    file = "agent-zones.conf" if name == "data1" else "zones.conf"
    own = (SHIPPED / "zones" / file).read_text()
    for number, port in (ports or {}).items():
        own = own.replace(f'"192.0.2.{number}"', f'"127.0.0.1"\n  port = {port}')
    own = own.replace("192.0.2.", "127.0.0.")  # nobody is asked out there
    return Icinga(folder, COMMANDS, name=name, zones=own, **more)


def test_the_layout_of_zones_is_accepted_by_each_of_its_nodes(open_path):
    for name in ("master1", "satellite1", "satellite2", "data1"):
        status, output = of_zones(open_path / name, name).validate()
        assert status == 0, output


def attributes_of_services(icinga):
    return {one["attrs"]["__name"]: one["attrs"] for one in icinga.api("GET", "/v1/objects/services")}


def until(is_so):
    end = time.monotonic() + 90
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture
def satellite(open_path):
    """A satellite that knows nothing yet but who is there."""
    with of_zones(open_path / "satellite1", "satellite1", authority=open_path / "authority") as satellite:
        yield satellite


@pytest.fixture
def master(open_path, satellite):
    """The master, which has found it."""
    ports = {6: satellite.port}
    with of_zones(open_path / "master1", "master1", ports, authority=open_path / "authority") as master:
        until(lambda: master.evaluate('get_object(Endpoint, "satellite1").connected'))
        yield master


def test_satellites_run_what_goes_over_the_network_and_agents_what_is_on_their_host(master, satellite):
    """A satellite has all of it from the master, agents, too; each zone is looked at from above."""
    services = attributes_of_services(master)
    zones = {one["zone"] for one in services.values()}
    assert zones == {"master", "databases"}
    looks = [one for one in services.values() if one["zone"] == "master"]
    assert {one["vars"]["cluster_zone"] for one in looks} == {"databases"}

    def has_all():
        try:
            return set(attributes_of_services(satellite)) >= {*below}
        except (OSError, http.client.HTTPException):
            return False  # it is loading what it got

    below = {name: one for name, one in services.items() if one["zone"] == "databases"}
    until(has_all)
    there = attributes_of_services(satellite)
    places = {name.replace("!stallwatch-", "!"): there[name]["command_endpoint"] for name in below}
    assert {name: place for name, place in places.items() if name.startswith("data1")} == {
        "data1!bonding": "data1", "data1!ndb-log": "data1", "data1!ndb-process": "data1", "data1!agent": "",
        **{f"data1!{name}": "data1" for name in ON_HOST},
    }  # fmt: skip
    of_sql1 = {
        name.partition("!")[2] for name, place in places.items() if name.startswith("sql1") and not place
    }
    assert of_sql1 == {*MYSQL, *NDB, "ndb-sql-node", "agent"}
    assert satellite.evaluate('get_object(Zone, "data1").parent') == "databases"


def test_satellites_that_are_gone_are_missed(master, satellite):
    assert master.check("master1!stallwatch-zone-databases").state == 0
    satellite.stop()
    until(lambda: not master.evaluate('get_object(Endpoint, "satellite1").connected'))
    gone = master.check("master1!stallwatch-zone-databases")
    assert gone.state == 2
    assert gone.output.startswith("Zone 'databases' is not connected"), gone


# As a stranger would: include, copy a set, three host variables. Here a machine may be busy with other tests.

PATIENT = "\n".join(f'vars.{command_of(plugin)}_timeout = "30s"' for plugin in PLUGINS)


@pytest.fixture
def nobody_answers(open_path, installed):
    port = free_port()
    hosts = f"""
    object Host "db1" {{ check_command = "dummy"; address = "127.0.0.1"
      vars.stallwatch.mysql = true
      vars.stallwatch.replica = true
      vars.stallwatch.ndb = true
      vars.stallwatch.cassandra = true
      vars.stallwatch.port = {port}
      vars.stallwatch.jmx_port = {port}
      vars.stallwatch.defaults_file = "/dev/null"
      {PATIENT} }}
    """
    notes = Notifications(open_path)
    objects = hosts + notes.objects
    with Icinga(
        open_path / "icinga", COMMANDS, *SETS, objects=objects, plugins=installed / "lib/stallwatch/bin"
    ) as icinga:
        icinga.notes = notes
        yield icinga


def test_one_check_of_each_set_is_critical_when_nobody_answers(nobody_answers):
    services = [one["attrs"]["__name"] for one in nobody_answers.api("GET", "/v1/objects/services")]
    told = nobody_answers.check_all(services)
    critical = {name for name, result in told.items() if result.state == 2}
    servers = {"stallwatch-mysql", "stallwatch-ndb-sql-node", "stallwatch-cassandra"}
    assert critical == {f"db1!{name}" for name in (*servers, "stallwatch-ndb-nodes")}
    assert {result.state for name, result in told.items() if name not in critical} == {3}
    assert "refused" in told["db1!stallwatch-cassandra"].output
    attempts = 3
    for _ in range(attempts):
        nobody_answers.check_all(services)
    until(lambda: nobody_answers.notes.told() >= servers)
    thread_pools = {"stallwatch-cassandra-thread-pools"}  # it has one attempt, and may be the first to see it
    assert nobody_answers.notes.told() - thread_pools == servers


def option_file(folder, account):
    path = folder / "mysql.cnf"
    path.write_text(f'[client]\nuser="{account.user}"\npassword="{account.password}"\n')
    path.chmod(0o600)
    engine_user.give(path)
    return path


def checked(folder, installed, name, hosts):
    """What Icinga holds of all services that a set makes for these hosts, on a busy machine after a while."""
    files = (COMMANDS, SHIPPED / f"{name}.conf")
    with Icinga(folder / "icinga", *files, objects=hosts, plugins=installed / "lib/stallwatch/bin") as icinga:
        told = icinga.check_all(list(attributes_of_services(icinga)))
        end = time.monotonic() + 90
        while unknown(told) and time.monotonic() < end:
            told |= icinga.check_all(list(unknown(told)))
        return told


def unknown(told):
    """What is said of the services of which nothing is known."""
    return {name: result.output for name, result in told.items() if result.state == UNKNOWN}


def test_a_replication_pair_is_on_the_screen(running_pair, open_path, installed):
    pair = running_pair("mariadb")
    pair.heal()
    file = option_file(open_path, pair.monitor)
    hosts = "".join(
        f"""
        object Host "{name}" {{ check_command = "dummy"; address = "127.0.0.1"
          vars.stallwatch.mysql = true
          {more}
          {PATIENT}
          vars.stallwatch.port = {server.port}
          vars.stallwatch.defaults_file = "{file}" }}
        """
        for name, server, more in (
            ("db1", pair.source, ""),
            ("replica1", pair.replica, "vars.stallwatch.replica = true"),
        )
    )
    told = checked(open_path, installed, "replication", hosts)
    assert len(told) == 2 * len(MYSQL) + 1
    assert not unknown(told)
    assert "replica of 127.0.0.1" in told["replica1!stallwatch-replication-lag"].output


def test_an_ndb_cluster_is_on_the_screen(ndb, open_path, installed):
    node = ndb.sql_node
    data_dir = Path(ndb.out_log(3)).parent
    engine_user.reachable(ndb.folder)
    hosts = f"""
    object Host "sql1" {{ check_command = "dummy"; address = "127.0.0.1"
      vars.stallwatch.ndb = true
      {PATIENT}
      vars.stallwatch.port = {node.port}
      vars.stallwatch.defaults_file = "{option_file(open_path, node.account(*MONITOR))}" }}
    object Host "data1" {{ check_command = "dummy"; address = "127.0.0.1"
      {PATIENT}
      vars.stallwatch.data_dir = "{data_dir}"
      vars.mysqld_process_data_dir = "{data_dir}" }}  // the other data node is on this host, too
    """
    told = checked(open_path, installed, "ndb", hosts)
    asked = {f"sql1!stallwatch-{name}" for name in (*NDB, "ndb-sql-node")}
    assert set(told) == asked | {"data1!stallwatch-ndb-log", "data1!stallwatch-ndb-process"}
    assert not unknown(told)


def test_a_cassandra_is_on_the_screen(cassandra, open_path, installed):
    hosts = f"""
    object Host "cassandra1" {{ check_command = "dummy"; address = "127.0.0.1"
      vars.stallwatch.cassandra = true
      vars.stallwatch.jmx_port = {cassandra.port}
      {PATIENT} }}
    """
    told = checked(open_path, installed, "cassandra", hosts)
    assert not unknown(told)
    assert told["cassandra1!stallwatch-cassandra"].state == 0, told
