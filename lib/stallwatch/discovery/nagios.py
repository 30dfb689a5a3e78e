"""Definitions for Nagios, with the commands of contrib/nagios/stallwatch-commands.cfg."""

from __future__ import annotations

import shlex
import sys

from stallwatch.declared import FLAG
from stallwatch.discovery.plan import (
    ONE_PROBLEM,
    OPTION_FILE,
    apart,
    commented,
    named,
    parts,
    remark,
    shared,
    sheets,
)
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stallwatch.declared import Service
    from stallwatch.discovery.plan import Host, Plan

SOONER = "0.25"  # minutes: it is sure before the others are, that depend on it
BY_NRPE = (
    "\n# These run on that host, through NRPE with nrpe/stallwatch.cfg there: uncomment what is right.\n"
)
_COMMANDS = "nagios/stallwatch-commands.cfg"
HEAD = """\
# For Nagios: put it into a folder that nagios.cfg names as cfg_dir, in Debian /etc/nagios4/conf.d. It needs
# our commands there, too, once: copy {commands}.
# If the engine has this host already, delete the host from this file: it refuses a second one.
"""


def written(plan: Plan) -> str:
    """Write all of it."""
    remarks = [f"# {remark(one)}\n" for one in plan.remarks]
    names = apart(host.name for host in plan.hosts)
    commands = shared(sys.prefix, f"stallwatch/{_COMMANDS}") or f"contrib/{_COMMANDS}"
    return "".join([HEAD.format(commands=remark(commands)), *remarks, *map(_host, plan.hosts, names)])


def _host(host: Host, called: str) -> str:
    head = (
        f"\n# {remark(host.about)}\n"
        "define host {\n"
        f"    host_name            {called}\n"
        "    use                  linux-server\n"
        f"    address              {host.address}\n"
        "    max_check_attempts   3\n"
        "    notification_period  24x7\n}\n"  # while a host is down its services are silent
    )
    services = parts(host)
    inside = [(title, one) for title, one in services.inside if one.nrpe]
    written = "".join(
        [
            head,
            *(_service(called, title, one, _asked(host, one)) for title, one in services.asked),
            *(_service(called, title, one, _here(one)) for title, one in services.here),
            _dependency(called, services.leaders, services.followers),
            *([BY_NRPE] if inside else []),
            *(
                commented(_service(called, title, one, f"check_stallwatch_nrpe!{one.nrpe}"), "#")
                for title, one in inside
            ),
        ]
    )
    return named(written, host.named_by, "#") if host.named_by else written


def _service(host: str, title: str, service: Service, command: str) -> str:
    return (
        f"\n# {remark(service.about)}\n"
        "define service {\n"
        f"    service_description     {title}\n"
        "    use                     generic-service\n"
        f"    host_name               {host}\n"
        f"    check_command           {command}\n"
        f"{_link(service)}"
        "    check_interval          1\n"
        f"    retry_interval          {SOONER if service.leads else 1}\n"
        f"    max_check_attempts      {service.attempts}\n"
        "    notification_options    w,u,c,r\n    flap_detection_enabled  0\n}\n"
    )


def _link(service: Service) -> str:
    url = sheets(sys.prefix)
    return f"    notes_url               {url}/check_{service.plugin}.md\n" if url else ""


def _dependency(host: str, leaders: list[str], others: list[str]) -> str:
    if not (leaders and others):
        return ""
    return (
        f"\n# {ONE_PROBLEM}\n"
        "define servicedependency {\n"
        f"    host_name                      {host}\n"
        f"    service_description            {leaders[0]}\n"
        f"    dependent_service_description  {', '.join(others)}\n"
        "    notification_failure_criteria  c,u\n}\n"
    )


def _asked(host: Host, service: Service) -> str:
    reach = dict(host.reach)
    target = f"!$HOSTADDRESS$!{reach.pop('port')}" if service.plugin.startswith("jmx") else ""
    if reach.get("defaults-file") == OPTION_FILE:  # as the command already has it
        del reach["defaults-file"]
    return f"check_{service.plugin}{target}!{words([*reach.items(), *service.options], service.words)}"


def _here(service: Service) -> str:
    return f"check_{service.plugin}!{words(service.options, ())}"


def words(options: Iterable[tuple[str, str]], more: Iterable[str]) -> str:
    """Write options, and ``more`` words, as a part of a check_command."""
    flags = [
        part for key, value in options for part in ([f"--{key}"] if value == FLAG else [f"--{key}", value])
    ]
    return " ".join(argument(word) for word in [*flags, *more])


def argument(value: str) -> str:
    """Write a word for the shell that Nagios calls, as a part of a check_command."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in value)
    return escaped(shlex.quote(plain))


def escaped(line: str) -> str:
    """Write words of a shell's command line as a part of a check_command."""
    return line.replace("$", "$$").replace("!", "\\!").replace(";", "\\;")
