"""A basket for Icinga Director: commands, their data fields, service templates, and service sets of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from generators import icinga2
from generators.plugins import PLUGIN_DIR, ROOT, Option, Plugin
from generators.sets import members
from stallwatch.declared import Service, every
from stallwatch.discovery.plan import DOCS, OPTION_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from generators.icinga2 import Command
    from stallwatch.declared import Options

    Object = dict[str, Any]

BASKET = ROOT / "contrib" / "director" / "stallwatch.json"
DATA_TYPE = "Icinga\\Module\\Director\\DataType\\DataType"
SECONDS = {"1m": "60", "2m": "120"}


class ServiceSet(NamedTuple):
    """A service set: which hosts it is for, and its services."""

    about: str
    titles: tuple[str, ...] = ()  # of services that plugins declare
    members: str | None = None  # all that plugins declare for this set of generators.sets, too
    own: tuple[Service, ...] = ()
    reach: Options = ()  # options of all its services


POOLS = Service("Cassandra thread pools", "jmx_thread_pools", "Which thread pool is blocked?")
SERVICE_SETS = {
    "stallwatch MySQL": ServiceSet("a server of MySQL or MariaDB", ("MySQL",), "mysql"),
    "stallwatch replica": ServiceSet("a replica; add stallwatch MySQL, too", ("Replication lag",)),
    "stallwatch NDB": ServiceSet(
        "an SQL node of an NDB Cluster; add stallwatch MySQL, too", ("NDB nodes",), "ndb"
    ),
    "stallwatch Cassandra": ServiceSet(
        "a node of Cassandra",
        ("Cassandra", "JVM heap", "Garbage collection", "Dropped messages", "Compactions"),
        own=(POOLS,),
        reach=(("port", "7199"),),
    ),
    "stallwatch host": ServiceSet("a host with an Icinga agent", members="host"),
}


def files(plugins: list[Plugin]) -> dict[Path, str]:
    """Write the basket. Its first line cannot show that it is generated: JSON has no comments."""
    return {BASKET: json.dumps(_basket(plugins), indent=2, ensure_ascii=False) + "\n"}


def _basket(plugins: list[Plugin]) -> Object:
    both = [(plugin, icinga2.command(plugin)) for plugin in plugins]
    fields = [field for plugin, made in both for field in _fields(plugin, made)]
    numbers = {field["varname"]: number for number, field in enumerate(fields, 1)}
    return {
        "Command": {icinga2.of_director(plugin): _command(plugin, made, numbers) for plugin, made in both},
        "ServiceTemplate": {icinga2.of_director(plugin): _template(plugin, made) for plugin, made in both},
        "ServiceSet": {name: _set(name, one, plugins) for name, one in SERVICE_SETS.items()},
        "Datafield": {str(numbers[field["varname"]]): field for field in fields},
    }


def _set(name: str, one: ServiceSet, plugins: list[Plugin]) -> Object:
    """Make one without a filter: a user of the Director adds it to a host or to a host template."""
    # Of two services of a title, as "JVM heap", the first: it does not lead.
    declared = {each.title: each for known in every().values() for each in reversed(known.services)}
    services = [declared[title] for title in one.titles] + list(one.own)
    services += members(one.members) if one.members else []
    by_name = {plugin.name: plugin for plugin in plugins}
    return {
        "assign_filter": None,
        "description": f"For {one.about}",
        "object_name": name,
        "object_type": "template",
        "services": [_service(by_name[service.plugin], service, one.reach) for service in services],
    }


def _service(plugin: Plugin, service: Service, reach: Options) -> Object:
    """Make a service of a set. Its template has the command and the times."""
    made = icinga2.command(plugin)
    values: Object = {key.replace("-", "_"): value for key, value in (*reach, *service.options)}
    if service.words:
        values["quantities"] = [word.replace("$", "$$") for word in service.words]
    if f"{made.name}_unreachable" in _template(plugin, made)["vars"]:
        values.setdefault("unreachable", "unknown")  # another service of the set is CRITICAL then
    return {
        "imports": [icinga2.of_director(plugin)],
        "object_name": service.title,
        "object_type": "object",
        "vars": {f"{made.name}_{key}": value for key, value in values.items()},
    }


def _command(plugin: Plugin, made: Command, numbers: dict[str, int]) -> Object:
    name = icinga2.of_director(plugin)
    return {
        "arguments": {option: _argument(attributes) for option, attributes in made.arguments.items()},
        "command": f"{PLUGIN_DIR}/{made.program}",
        "disabled": False,
        "fields": [_link(attributes, numbers) for attributes in made.arguments.values()],
        "imports": [],
        "is_string": None,
        "methods_execute": "PluginCheck",
        "object_name": name,
        "object_type": "object",
        "timeout": SECONDS[made.timeout],
        "vars": icinga2.defaults(made, "$address$"),
        "zone": None,
    }


def _link(attributes: Object, numbers: dict[str, int]) -> Object:
    """Return the field of an argument."""
    variable = attributes.get("value", attributes.get("set_if")).strip("$")
    required = "y" if attributes.get("required") else "n"
    return {"datafield_id": numbers[variable], "is_required": required, "var_filter": None}


def _argument(attributes: Object) -> Object:
    """Return it as the Director has it; what it means is in its field, whose type is a list or is not."""
    argument = {name: value for name, value in attributes.items() if name != "description"}
    if argument.get("repeat_key") is False:
        del argument["repeat_key"]
    if isinstance(argument.get("set_if"), icinga2.Expression):
        argument["set_if_format"] = "expression"
    return argument


def _fields(plugin: Plugin, made: Command) -> Iterable[Object]:
    for option in icinga2.variables(plugin):
        description = made.arguments[option.long]["description"]
        if made.variable(option) == made.hostname:
            description += "; of a host that has only an IPv6 address: $address6$"
        yield _field(made.variable(option), option.long, description, *_type(plugin, option))
    if "quantities" in made.arguments:
        description = made.arguments["quantities"]["description"]
        yield _field(f"{made.name}_quantities", "quantities", description, "Array", {})


def _field(variable: str, caption: str, description: str, kind: str, settings: Object) -> Object:
    """Make one, without uuid: Director 1.10.2 refuses a basket that has one.

    So a field is the same as before only if all of it is: where a later basket has other words, the
    Director makes another one beside.
    """
    return {
        "caption": caption,
        "datatype": f"{DATA_TYPE}{kind}",
        "description": description,
        "format": None,
        "settings": settings,
        "varname": variable,
    }


def _type(plugin: Plugin, option: Option) -> tuple[str, Object]:
    if not option.metavar:
        return "Boolean", {}
    if option.several and not icinga2.in_order(plugin, option):
        return "Array", {}
    return "String", {"visibility": "hidden" if option.name == "password" else "visible"}


def _template(plugin: Plugin, made: Command) -> Object:
    name = icinga2.of_director(plugin)
    login = (
        {f"{made.name}_defaults_file": OPTION_FILE} if made.hostname and plugin.has("--defaults-file") else {}
    )
    agent = {"use_agent": True} if plugin.declared.local else {}
    times = plugin.declared.times
    # Each set of checks has one that is CRITICAL when its server does not answer.
    leads = any(("unreachable", "critical") in service.options for service in plugin.declared.services)
    unreachable = {f"{made.name}_unreachable": "critical"} if leads else {}
    return {
        "check_command": name,
        "check_interval": times.interval,
        "retry_interval": times.retry,
        "max_check_attempts": times.attempts,
        "fields": [],
        "imports": [],
        "notes": f"{plugin.about} man {plugin.program}",
        "notes_url": f"{DOCS}/{plugin.program}.md",
        "object_name": name,
        "object_type": "template",
        **agent,
        "vars": {**login, **unreachable},
    }
