"""The sets of services for Icinga, Nagios and NRPE: by hand, with the services that plugins declare for them.

What is between the marks is written anew: ``Services that plugins declare`` and ``End of these``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from generators.plugins import ROOT
from stallwatch.declared import Times, every
from stallwatch.discovery.icinga2 import COMMANDS, variables
from stallwatch.discovery.nagios import words

if TYPE_CHECKING:
    from pathlib import Path

    from generators.plugins import Plugin
    from stallwatch.declared import Service

ICINGA, NAGIOS = ROOT / "contrib" / "icinga2", ROOT / "contrib" / "nagios"
MARKS = re.compile(
    r"^((?://|#) Services that plugins declare \(make generate\)\.\n)(.*?)^((?://|#) End of these\.)$",
    re.DOTALL | re.MULTILINE,
)


class Set(NamedTuple):
    """What the services of a set have in common."""

    icinga: str  # the name of its file for Icinga, and between stallwatch- and -service of its template there
    nagios: str
    where: tuple[str, ...]  # the lines that show Icinga which hosts have its services
    template: str  # for Nagios
    group: str
    leader: str  # the service on which they depend there
    command: str = "check_{plugin}!"


SETS = {
    "mysql": Set(
        "replication mysql", "replication", ("assign where host.vars.stallwatch.mysql",),
        "mysql-service", "mysql-servers", "MySQL",
    ),
    "ndb": Set(
        "ndb ndb", "ndb", ("assign where host.vars.stallwatch.ndb",),
        "ndb-service", "ndb-sql-nodes", "NDB SQL node",
    ),
    "jmx": Set(
        "cassandra cassandra", "cassandra", ("assign where host.vars.stallwatch.cassandra",),
        "cassandra-service", "cassandra-nodes", "Cassandra",
        "check_{plugin}!$HOSTADDRESS$!$_SERVICEJMX_PORT$!$_SERVICEJMX_LOGIN$ ",
    ),
    "host": Set(
        "agent agent", "replication-nrpe",
        ("assign where host.vars.stallwatch.agent", "ignore where host.vars.stallwatch.same_machine"),
        "mysql-service", "mysql-servers", "NRPE", "check_stallwatch_nrpe!stallwatch_{plugin}",
    ),
}  # fmt: skip


def files(_: list[Plugin]) -> dict[Path, str]:
    """Fill what is between the marks of each set."""
    made = {}
    for name, one in SETS.items():
        file, template = one.icinga.split()
        icinga, nagios = ICINGA / f"{file}.conf", NAGIOS / f"{one.nagios}.cfg"
        services = members(name)
        made[icinga] = _filled(icinga, [_of_icinga(one, template, service) for service in services])
        dependency = [_dependency(one, services)] if services else []
        made[nagios] = _filled(nagios, [_of_nagios(one, service) for service in services] + dependency)
    return made


def members(name: str) -> list[Service]:
    """Return the services that plugins declare for one of SETS."""
    return [one for declared in every().values() for one in declared.services if one.sets == name]


def _filled(path: Path, definitions: list[str]) -> str:
    text, marked = MARKS.subn(lambda mark: "\n".join([mark[1], *definitions, mark[3]]), path.read_text())
    if marked != 1:
        raise ValueError(f"{path} has not one place for services that plugins declare")
    return text


def _times(service: Service, unit: int) -> list[tuple[str, float]]:
    """Return the times that are not the usual ones, with the names that both engines have for them."""
    names = "check_interval", "retry_interval", "max_check_attempts"
    units = unit, unit, 1
    own = every()[service.plugin].times
    return [
        (name, value / one)
        for name, value, usual, one in zip(names, own, Times(), units, strict=True)
        if value != usual
    ]


def _of_icinga(which: Set, template: str, service: Service) -> str:
    notes = service.notes or service.about
    manual = f"{notes}{'' if notes.endswith('?') else ':'} man check_{service.plugin}"
    lines = [
        f'display_name = "{service.title}"',
        f'check_command = "{COMMANDS.get(service.plugin, service.plugin)}"',
        f'import "stallwatch-{template}-service"',
        *(f"{name} = {value:g}" for name, value in _times(service, 1)),
        f'notes = "{manual}"',
        *variables(service),
        "",
        *which.where,
    ]
    text = "".join(f"  {line}".rstrip() + "\n" for line in lines)
    return f'apply Service "stallwatch-{service.plugin.replace("_", "-")}" {{\n{text}}}\n'


def _of_nagios(which: Set, service: Service) -> str:
    command = which.command.format(plugin=service.plugin) + words(service.options, service.words)
    values = [
        ("service_description", service.title),
        ("use", which.template),
        ("hostgroup_name", which.group),
        ("check_command", command.rstrip("! ")),
        ("notes_url", f"$_SERVICESTALLWATCH_DOCS$/check_{service.plugin}.md"),
        *((name, f"{value:g}") for name, value in _times(service, 60)),
    ]
    text = "".join(f"    {name:19}  {value}\n" for name, value in values)
    return f"# {service.notes or service.about}\ndefine service {{\n{text}}}\n"


def _dependency(which: Set, services: list[Service]) -> str:
    return (
        f"# Who does not answer is reported once, by {which.leader}.\n"
        "define servicedependency {\n"
        f"    hostgroup_name                 {which.group}\n"
        f"    service_description            {which.leader}\n"
        f"    dependent_service_description  {', '.join(one.title for one in services)}\n"
        "    notification_failure_criteria  c,u\n}\n"
    )
