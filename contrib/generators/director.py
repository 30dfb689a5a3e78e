"""A basket for Icinga Director: the commands, their data fields, and a service template for each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from generators import icinga2
from generators.plugins import PLUGIN_DIR, ROOT, Option, Plugin
from stallwatch.discovery.plan import DOCS, OPTION_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from generators.icinga2 import Command

    Object = dict[str, Any]

BASKET = ROOT / "contrib" / "director" / "stallwatch.json"
DATA_TYPE = "Icinga\\Module\\Director\\DataType\\DataType"
SECONDS = {"1m": "60", "2m": "120"}


def files(plugins: list[Plugin]) -> dict[Path, str]:
    """Write the basket. Its first line cannot say that it is generated: JSON has no comments."""
    return {BASKET: json.dumps(_basket(plugins), indent=2, ensure_ascii=False) + "\n"}


def _basket(plugins: list[Plugin]) -> Object:
    both = [(plugin, icinga2.command(plugin)) for plugin in plugins]
    fields = [field for plugin, made in both for field in _fields(plugin, made)]
    numbers = {field["varname"]: number for number, field in enumerate(fields, 1)}
    return {
        "Command": {icinga2.of_director(plugin): _command(plugin, made, numbers) for plugin, made in both},
        "ServiceTemplate": {icinga2.of_director(plugin): _template(plugin, made) for plugin, made in both},
        "Datafield": {str(numbers[field["varname"]]): field for field in fields},
    }


def _command(plugin: Plugin, made: Command, numbers: dict[str, int]) -> Object:
    name = icinga2.of_director(plugin)
    return {
        "arguments": {option: _argument(attributes) for option, attributes in made.arguments.items()},
        "command": f"{PLUGIN_DIR}/{made.program}",
        "disabled": False,
        "fields": [link for attributes in made.arguments.values() for link in _link(attributes, numbers)],
        "imports": [],
        "is_string": None,
        "methods_execute": "PluginCheck",
        "object_name": name,
        "object_type": "object",
        "timeout": SECONDS[made.timeout],
        "vars": icinga2.defaults(made, "$address$"),
        "zone": None,
    }


def _link(attributes: Object, numbers: dict[str, int]) -> Iterable[Object]:
    """Give the field of an argument; a former option has none."""
    variable = attributes.get("value", attributes.get("set_if")).strip("$")
    if variable in numbers:
        required = "y" if attributes.get("required") else "n"
        yield {"datafield_id": numbers[variable], "is_required": required, "var_filter": None}


def _argument(attributes: Object) -> Object:
    """Give it as the Director does; what it means stands in its field, whose type is a list or is not."""
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

    So a field is the same as before only if all of it is: where a later basket says it in other words, the
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
