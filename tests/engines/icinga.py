"""A real Icinga 2 in a folder of its own, with nothing of /etc and /var.

    with Icinga(folder, "contrib/icinga2/stallwatch-commands.conf", objects=SERVICES, plugins=BIN) as icinga:
        print(icinga.check("db1!replication").state)

It listens on loopback, runs as the user nagios, and ends with the process that started it.
"""

import base64
import http.client
import json
import ssl
import time
from glob import glob
from pathlib import Path
from typing import NamedTuple

import engine_user
import software
from engine import Checking
from installing import installable
from loopback import free_port

FOLDERS = ("data/certs", "log", "cache", "spool/perfdata", "spool/tmp", "run", "home", "included")
KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
PASSWORD = "secret of the API"
ALONE = """
object Endpoint NodeName { }
object Zone ZoneName { endpoints = [ NodeName ] }
"""
CONFIGURATION = """
const NodeName = "{name}"
const ZoneName = NodeName
const PluginDir = "/usr/lib/nagios/plugins"
const PluginContribDir = PluginDir
const ManubulonPluginDir = PluginDir
const TicketSalt = ""
{constants}
include <itl>
include <plugins>
include <plugins-contrib>
{zones}
object CheckerComponent "checker" {{ }}
object ApiListener "api" {{
  bind_host = "127.0.0.1"
  bind_port = {port}
  accept_commands = true
  accept_config = true
}}
object ApiUser "root" {{
  password = "{password}"
  permissions = [ "*" ]
}}
{includes}
{objects}
"""


UNITS = {"": "", "s": "seconds", "B": "bytes", "%": "percent", "c": ""}  # what it calls them


class Result(NamedTuple):
    """What Icinga holds of a check after it has run."""

    state: int
    output: str  # line 1, without perfdata
    long_output: str  # what is below
    performance_data: list[str]  # as it was split into items
    exit_status: int
    command: list[str]
    source: str  # the Icinga that ran it
    start: float  # when it did
    end: float

    @classmethod
    def of(cls, raw):
        """Make one of what the API says."""
        output, _, more = raw["output"].partition("\n")
        return cls(
            int(raw["state"]), output, more, raw["performance_data"] or [], int(raw["exit_status"]),
            raw["command"], raw["check_source"], raw["execution_start"], raw["execution_end"],
        )  # fmt: skip


def number(item):
    """What it takes a perfdata.Item for. Of a counter it does not know that it is one (2.13.6)."""
    return {
        "type": "PerfdataValue", "label": item.label, "value": item.value, "unit": UNITS[item.unit],
        "warn": item.warning, "crit": item.critical,
        "min": None if item.maximum is None else 0, "max": item.maximum, "counter": False,
    }  # fmt: skip


class Icinga(Checking):
    """An Icinga of that name.

    files       what its configuration includes, files or folders
    objects     more configuration
    plugins     the folder of our plugins; None: that of the package
    zones       its endpoints and zones; by default it is alone
    authority   the folder with the certificate authority of all that know each other; by default its own
    """

    def __init__(
        self, folder, *files, objects="", plugins=None, name="localhost", zones=ALONE, authority=None
    ):
        super().__init__(folder)
        self.name = name
        self.authority = Path(authority or self.path("authority"))
        self.port, self.password = free_port(), PASSWORD
        self.certificates = self.path("data", "certs")
        self.program = _program()
        for part in FOLDERS:
            self.path(part).mkdir(parents=True, exist_ok=True)
        self._certify()
        copies = [engine_user.copy(file, self.path("included")) for file in files]
        constant = f'const StallwatchPluginDir = "{plugins}"' if plugins else ""
        self.path("icinga2.conf").write_text(
            CONFIGURATION.format(
                name=name, port=self.port, password=self.password, zones=zones, objects=objects,
                constants=constant,
                includes="\n".join(map(_include, copies)),
            )
        )  # fmt: skip

    # starting and stopping

    def validate(self):
        """What it says of its configuration: exit status and output."""
        return self.said_to(*self.command(), "-C")

    def command(self):
        """What starts it."""
        user = engine_user.name()
        places = {
            "RunAsUser": user, "RunAsGroup": engine_user.group(), "ConfigDir": self.folder,
            "DataDir": self.path("data"), "LogDir": self.path("log"), "CacheDir": self.path("cache"),
            "SpoolDir": self.path("spool"), "InitRunDir": self.path("run"), "ZonesDir": self.path("zones.d"),
        }  # fmt: skip
        definitions = [f"-D{name}={place}" for name, place in places.items()]
        return [self.program, "daemon", "-c", str(self.path("icinga2.conf")), *definitions]

    # the API

    def is_ready(self):
        """Whether it answers."""
        try:
            return bool(self.api("GET", "/v1"))
        except (OSError, http.client.HTTPException):
            return False

    def api(self, method, path, **asked):
        """What its API says: its "results"."""
        context = ssl.create_default_context(cafile=self.certificates / "ca.crt")
        context.check_hostname = False  # a certificate of Icinga's says a name of Icinga's
        link = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)
        try:
            user = base64.b64encode(f"root:{self.password}".encode()).decode()
            headers = {
                "Accept": "application/json",
                "Authorization": f"Basic {user}",
                "X-HTTP-Method-Override": method,
            }
            link.request("POST", path, json.dumps(asked), headers)
            answer = link.getresponse()
            text = answer.read().decode()
        finally:
            link.close()
        assert answer.status == http.HTTPStatus.OK, text
        return json.loads(text)["results"]

    def check_all(self, services, seconds=120):
        """Let it check them all now, and give the Results by service."""
        began, until, asked_again = time.time(), time.monotonic() + seconds, set()
        self._force(services)
        while True:
            held = self.results(services)
            done = {name: result for name, result in held.items() if result.start >= began}
            if len(done) == len(services):
                return {service: done[service] for service in services}
            assert time.monotonic() < until, (
                f"Icinga has not checked {set(services) - set(done)}, see {self.log}"
            )
            running = [name for name, result in held.items() if result.start < began < result.end]
            if overtaken := [name for name in running if name not in asked_again]:
                self._force(overtaken)  # a wish is forgotten when a check ends that was running already
                asked_again.update(overtaken)
            time.sleep(0.05)

    def _force(self, services):
        self.api("POST", "/v1/actions/reschedule-check", type="Service", force=True, **_these(services))

    def results(self, services=None):
        """The Results that it holds of these, or all, by service; nothing of what was not checked yet."""
        attributes = ["__name", "last_check_result"]
        found = self.api("GET", "/v1/objects/services", attrs=attributes, **_these(services))
        held = {one["attrs"]["__name"]: one["attrs"]["last_check_result"] for one in found}
        return {name: Result.of(result) for name, result in held.items() if result}

    def add(self, service, command, variables):
        """Let it have this service from now on, "HOST!SERVICE", which it checks only when it is told to."""
        attributes = {"check_command": command, "enable_active_checks": False, "vars": variables}
        self.api("PUT", f"/v1/objects/services/{service}", attrs=attributes)

    def numbers(self, service):
        """What it takes the performance data for that it holds of "HOST!SERVICE"."""
        found = f"get_service({', '.join(map(json.dumps, service.split('!')))})"
        return self.evaluate(f"{found}.last_check_result.performance_data.map(parse_performance_data)")

    def evaluate(self, expression):
        """The value of an expression in Icinga's own language."""
        (answer,) = self.api("POST", "/v1/console/execute-script", command=expression)
        assert "result" in answer, answer
        return answer["result"]

    # its certificate

    def _certify(self):
        """Make what its API needs: a key, a certificate, and that of the authority, which is made once."""
        if not self.authority.exists():
            self.authority.mkdir(parents=True)
            _openssl("ca", self.authority, "-subj", "/CN=authority")
        authority, own = self.authority / "ca", self.certificates
        _openssl(
            self.name,
            own,
            "-subj",
            f"/CN={self.name}",
            "-CA",
            f"{authority}.crt",
            "-CAkey",
            f"{authority}.key",
        )
        engine_user.copy(f"{authority}.crt", own)


def _these(services):
    """What the API calls a choice of services; None: all."""
    return {"filter": "service.__name in chosen", "filter_vars": {"chosen": services}} if services else {}


def _openssl(name, folder, *more):
    """Make a key and a certificate of that name."""
    made = ("-keyout", folder / f"{name}.key", "-out", folder / f"{name}.crt")
    program = software.program("openssl", "openssl")
    software.run("a certificate", program, "req", "-x509", *KEY, "-days", "3650", *made, *more)


def _program():
    """The daemon itself: what is in PATH is a script that starts it."""
    with installable():
        software.program("icinga2", "icinga2-bin")
    return glob("/usr/lib/*/icinga2/sbin/icinga2")[0]


def _include(path):
    return f'include_recursive "{path}"' if path.is_dir() else f'include "{path}"'
