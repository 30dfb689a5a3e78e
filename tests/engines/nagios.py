"""A real Nagios in a folder of its own, with Debian's contacts and templates beside what it is given.

    with Nagios(folder, "contrib/nagios/stallwatch-commands.cfg", objects=SERVICES) as nagios:
        print(nagios.check("db1!Replication lag").state)

It runs as the user nagios, checks only what it is told to, and ends with the process that started it.
"""

import contextlib
import re
import shlex
import time
from pathlib import Path
from typing import NamedTuple

import engine_user
import software
from engine import Checking
from stallwatch.discovery import nagios

FOLDERS = ("archives", "included", "home", "results", "rw", "tmp")
OF_DEBIAN = "/etc/nagios4/objects"
PLUGINS_OF_DEBIAN = Path("/etc/nagios-plugins/config")  # their commands
PLUGIN_PACKAGES = {  # whose commands are there, by a file of each
    "mysql.cfg": "monitoring-plugins-standard",
    "zone_auth.cfg": "monitoring-plugins-contrib",
    "check_nrpe.cfg": "nagios-nrpe-plugin",
}
ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "contrib" / "nagios"
COMMANDS = SHIPPED / "stallwatch-commands.cfg"
BIN = "/usr/lib/stallwatch/bin"
OPTION_FILE = "/etc/stallwatch/mysql.cnf"
CHECK_NRPE = Path("/usr/lib/nagios/plugins/check_nrpe")
ELSEWHERE = """#!/bin/sh
for word do
  shift
  case $word in
{cases}  esac
  set -- "$@" "$word"
done
exec {plugin} "$@" ${{port:+{flag} $port}}
"""
PARTS = ("current_state", "plugin_output", "long_plugin_output", "performance_data")  # of a service's status
MACROS = (
    "HOSTNAME",
    "SERVICEDESC",
    "SERVICESTATEID",
    "SERVICEOUTPUT",
    "LONGSERVICEOUTPUT",
    "SERVICEPERFDATA",
)
CONFIGURATION = """
{objects}
resource_file={folder}/resource.cfg
log_file={folder}/nagios.log
object_cache_file={folder}/objects.cache
precached_object_file={folder}/objects.precache
status_file={folder}/status.dat
status_update_interval=1
nagios_user={user}
nagios_group={group}
check_external_commands=1
command_file={folder}/rw/nagios.cmd
query_socket={folder}/rw/nagios.qh
lock_file={folder}/nagios.pid
temp_file={folder}/nagios.tmp
temp_path={folder}/tmp
check_result_path={folder}/results
log_rotation_method=n
log_archive_path={folder}/archives
use_syslog=0
check_for_updates=0
check_result_reaper_frequency=1
service_check_timeout=60
service_check_timeout_state=c
enable_notifications=0
execute_service_checks=0
execute_host_checks=0
retain_state_information=0
process_performance_data=1
service_perfdata_file={folder}/service-perfdata
service_perfdata_file_template={template}
service_perfdata_file_mode=a
service_perfdata_file_processing_interval=0
illegal_object_name_chars=`~!$%^&*|'"<>?,()=
illegal_macro_output_chars=`~$&|'"<>
enable_environment_macros=0
"""


class Result(NamedTuple):
    """What Nagios holds of a check after it has run."""

    state: int
    output: str  # line 1, without perfdata
    long_output: str  # what is below
    performance_data: str


class Nagios(Checking):
    """A Nagios, of those objects.

    files       of objects, beside those that a Nagios of Debian has
    objects     more of them
    settings    lines of nagios.cfg, which count more than ours
    """

    def __init__(self, folder, *files, objects="", settings=""):
        super().__init__(folder)
        self.program = _program()
        for part in FOLDERS:
            self.path(part).mkdir(parents=True, exist_ok=True)
        copies = [engine_user.copy(file, self.path("included")) for file in files]
        self.path("objects.cfg").write_text(objects)
        self.path("resource.cfg").write_text("$USER1$=/usr/lib/nagios/plugins\n")
        included = [*_of_debian(), *copies, self.path("objects.cfg")]
        self.path("nagios.cfg").write_text(
            CONFIGURATION.format(
                objects="\n".join(map(_include, included)), folder=self.folder,
                user=engine_user.name(), group=engine_user.group(),
                template="\\t".join(f"${name}$" for name in MACROS),
            )
            + settings
        )  # fmt: skip

    # starting and stopping

    def validate(self):
        """What it says of its configuration: exit status and output."""
        return self.said_to(self.program, "-v", self.path("nagios.cfg"))

    def command(self):
        """What starts it."""
        return [self.program, str(self.path("nagios.cfg"))]

    def is_ready(self):
        """Whether it takes commands and tells what it holds."""
        return self.path("rw", "nagios.cmd").exists() and bool(_read(self.path("status.dat")))

    # asking

    def services(self):
        """All services that it has, each as "HOST!SERVICE"."""
        return sorted(self._held())

    def check_all(self, services, seconds=120):
        """Let it check them all now, and give the Results by service."""
        until = time.monotonic() + seconds
        began = self._next_second(services)
        self._force(services)
        while missing := [one for one in services if self._last_check(one) < began]:
            assert time.monotonic() < until, f"Nagios has not checked {missing}: {self._said()}"
            time.sleep(0.1)
        held = self._held()
        return {one: _result(*map(held[one].get, PARTS)) for one in services}

    def perfdata(self, service):
        """Give what it wrote last about a service into its file for graphs; None: nothing."""
        lines = _read(self.path("service-perfdata")).splitlines()
        told = [line.split("\t") for line in lines]
        found = [words[2:] for words in told if "!".join(words[:2]) == service]
        return _result(*found[-1]) if found else None

    def order(self, *orders):
        """Give it orders, as it takes them from a pipe."""
        with self.path("rw", "nagios.cmd").open("w") as pipe:
            pipe.writelines(f"[{int(time.time())}] {order}\n" for order in orders)

    def _force(self, services):
        """Order checks."""
        now = int(time.time())
        names = [service.replace("!", ";") for service in services]
        self.order(*(f"SCHEDULE_FORCED_SVC_CHECK;{name};{now}" for name in names))

    def _next_second(self, services):
        """Wait until a check of these differs from the last one by its time, which is told in seconds."""
        last = max(map(self._last_check, services))
        while (now := int(time.time())) <= last:
            time.sleep(0.05)
        return now

    def _last_check(self, service):
        return int(self._held()[service]["last_check"])

    def _held(self):
        """What its status file says of each service, by "HOST!SERVICE"."""
        blocks = re.findall(
            r"^servicestatus \{\n(.*?)^\t\}", _read(self.path("status.dat")), re.MULTILINE | re.DOTALL
        )
        services = [dict(line.strip().split("=", 1) for line in block.splitlines()) for block in blocks]
        return {f"{one['host_name']}!{one['service_description']}": one for one in services}

    def _said(self):
        return _read(self.path("nagios.log"))[-2000:]


def _result(state, output, long_output, performance_data):
    """Give it as it was said: of all, only what is below line 1 has escapes (4.4.6), for its newlines."""
    lines = re.sub(r"\\(.)", lambda escaped: "\n" if escaped[1] == "n" else escaped[1], long_output)
    return Result(int(state), output, lines, performance_data)


def _read(path):
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(errors="surrogateescape")
    return ""


def _program():
    return software.program("nagios4", "nagios4-core")


def _of_debian():
    """What a Nagios of Debian has before anybody writes anything, without the one host that it knows."""
    own = [Path(OF_DEBIAN, f"{name}.cfg") for name in ("commands", "contacts", "templates", "timeperiods")]
    return [*own, *PLUGINS_OF_DEBIAN.glob("*.cfg")]


def debians_commands():
    """Give the files of all commands that Debian has for its own plugins. Raises software.Missing."""
    _program()
    for file, package in PLUGIN_PACKAGES.items():
        software.file(PLUGINS_OF_DEBIAN / file, package)
    return [path for path in _of_debian() if "command_name" in path.read_text(errors="replace")]


def _include(path):
    return f"cfg_{'dir' if path.is_dir() else 'file'}={path}"


def shipped(folder, plugins, option_file=OPTION_FILE):
    """Put the shipped files into a folder, with these places in those of the package; give that folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in SHIPPED.glob("*.cfg"):
        text = file.read_text().replace(BIN, str(plugins)).replace("$USER1$", str(plugins))
        (folder / file.name).write_text(text.replace(OPTION_FILE, str(option_file)))
    engine_user.reachable(folder)
    return folder


def elsewhere(folder, plugins, ports):
    """Give a folder of plugins that find a server of such an address at 127.0.0.1, and a port of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = "".join(f"    {address}) word=127.0.0.1 port={port};;\n" for address, port in ports.items())
    for plugin in [*Path(plugins).glob("check_*"), CHECK_NRPE]:
        path = folder / plugin.name
        flag = "-p" if plugin is CHECK_NRPE else "-P"
        path.write_text(ELSEWHERE.format(cases=cases, plugin=plugin, flag=flag))
        path.chmod(0o755)
    engine_user.reachable(folder)
    return folder


def escaped(options):
    """Write words of a command line as a part of a check_command."""
    return nagios.escaped(shlex.join(options))
