"""Definitions for Icinga 2, with the commands of contrib/icinga2/stallwatch-commands.conf."""

from __future__ import annotations

import sys

from stallwatch.declared import FLAG
from stallwatch.discovery.plan import (
    ONE_PROBLEM,
    apart,
    by_key,
    commented,
    name,
    named,
    parts,
    remark,
    shared,
)
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.declared import Options, Service
    from stallwatch.discovery.plan import Host, Plan

# Icinga's own library has a mysql_query; the other names are too general for one plugin of one suite.
COMMANDS = {name: f"stallwatch_{name}" for name in ("mysql_query", "host", "jmx", "bonding")}
SOONER = "15s"  # what leads is sure before the others are, that depend on it
NEEDS_ZONE = "zone = zone || ZoneName"  # in zones.d it has one; elsewhere an endpoint is refused without
BY_AGENT = (
    "\n// These run on that host, by its Icinga agent, an Endpoint of its name: uncomment what is right.\n"
)
_COMMANDS = "icinga2/stallwatch-commands.conf"
HEAD = """\
// For Icinga 2: put it beside your hosts, as /etc/icinga2/conf.d/{name}.conf. It needs our commands: one
// line, include {commands}, in one file alone.
// If the engine has this host already, delete the host from this file: it refuses a second one.
"""


def written(plan: Plan) -> str:
    """Write all of it."""
    names = apart(host.name for host in plan.hosts)
    lines = [HEAD.format(name=_joined(names[0]), commands=_commands())]
    lines += [f"// {remark(one)}\n" for one in plan.remarks]
    return "".join([*lines, *map(_host, plan.hosts, names)])


def _commands() -> str:
    """Write what Icinga is to include: only the deb makes the commands known by a name."""
    if shared(sys.prefix, "icinga2/include/stallwatch"):
        return "<stallwatch>"
    return text(shared(sys.prefix, f"stallwatch/{_COMMANDS}") or f"contrib/{_COMMANDS}")


def _host(host: Host, called: str) -> str:
    kind = "address6" if ":" in host.address else "address"
    head = (
        f"\n// {remark(host.about)}\n"
        f"object Host {text(called)} {{\n"
        '  check_command = "hostalive"\n  check_interval = 1m\n  retry_interval = 30s\n'
        f"  {kind} = {text(host.address)}\n}}\n"
    )
    services = parts(host, _title)
    written = "".join(
        [
            head,
            *(_service(called, title, one, host.reach) for title, one in services.asked),
            *(_service(called, title, one) for title, one in services.here),
            _dependency(called, services.leaders, services.followers),
            *([BY_AGENT] if services.inside else []),
            *(
                commented(_service(called, title, one, agent=not host.local), "//")
                for title, one in services.inside
            ),
        ]
    )
    return named(written, host.named_by, "//") if host.named_by else written


def _joined(words: str) -> str:
    return words.lower().replace(" ", "-").replace("/", "-")


def _title(words: str) -> str:
    return f"stallwatch-{_joined(words)}"


def _dependency(host: str, leaders: list[str], others: list[str]) -> str:
    if not (leaders and others):
        return ""
    leader = text(leaders[0])
    return (
        f"\n// {ONE_PROBLEM}\n"
        f"apply Dependency {leader} to Service {{\n"
        f"  parent_service_name = {leader}\n"
        "  states = [ OK, Warning ]\n  ignore_soft_states = false\n  disable_notifications = true\n"
        f"  assign where host.name == {text(host)} && service.name in {_list(others)}\n}}\n"
    )


def _service(host: str, title: str, service: Service, reach: Options = (), *, agent: bool = False) -> str:
    command = COMMANDS.get(service.plugin, service.plugin)
    lines = variables(service, reach)
    if agent:
        lines = [f"command_endpoint = {text(host)}", NEEDS_ZONE, *lines]
    return (
        f"\n// {remark(service.about)}\n"
        f"object Service {text(title)} {{\n"
        f"  display_name = {text(name(service.title))}\n"
        f"  host_name = {text(host)}\n"
        f"  check_command = {text(command)}\n"
        f'  notes_url = StallwatchDocs + "/check_{service.plugin}.md"\n'
        f"  check_interval = 1m\n  retry_interval = {SOONER if service.leads else '30s'}\n"
        f"  max_check_attempts = {service.attempts}\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
    )


def variables(service: Service, reach: Options = ()) -> list[str]:
    """Give the lines that set the variables of its command."""
    command = COMMANDS.get(service.plugin, service.plugin)
    lines = [
        f"vars.{command}_{key.replace('-', '_')} = {_value(values)}"
        for key, values in by_key((*reach, *service.options)).items()
    ]
    if service.words:
        lines.append(f"vars.{command}_quantities = {_list(service.words)}")
    return lines


def _value(values: list[str]) -> str:
    if values == [FLAG]:
        return "true"
    return _list(values) if values[1:] else argument(values[0])


def _list(values: Iterable[str]) -> str:
    return f"[ {', '.join(map(argument, values))} ]"


def argument(value: str) -> str:
    """Write a value of which a macro is not to be made."""
    return text(value.replace("$", "$$"))


def text(value: str) -> str:
    """Write a text in Icinga's language."""
    return '"' + "".join(map(_letter, value)) + '"'


def _letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[letter]
    return letter if letter.isprintable() else "?"
