"""A real Icinga and a real Nagios that run one command so many times a second, and tell how that goes.

Both start with nothing in them but services that are alike; each runs the command every INTERVAL seconds.
"""

import json
import re
import shlex
import socket
import time
from typing import NamedTuple

from icinga import Icinga
from nagios import Nagios

INTERVAL = 2  # seconds between two checks of a service
EACH = "EACH-SERVICE"  # in a command: what differs from service to service
ICINGA = """
const MaxConcurrentChecks = {at_once}
object CheckCommand "asked" {{
  command = {command}
}}
object Host "db1" {{
  check_command = "dummy"
  enable_active_checks = false
}}
for (number in range({services})) {{
  object Service "s" + number {{
    host_name = "db1"
    check_command = "asked"
    check_interval = {interval}
    retry_interval = {interval}
    max_check_attempts = 1
  }}
}}
"""
# Of each service: seconds from when its last result was due, and when it last was not OK, 0 if never.
RESULTS = (
    "get_objects(Service).filter(s => s.last_check_result != null)"
    ".map(s => [ s.last_check_result.execution_end - s.last_check_result.schedule_start,"
    " s.last_state_warning + s.last_state_critical + s.last_state_unknown,"
    " s.last_check_result.execution_end - s.last_check_result.execution_start ])"
)
MINUTE = 60
NAGIOS = """
define command {{
    command_name  asked
    command_line  {command}
}}
define host {{
    host_name  db1
    use        linux-server
    address    127.0.0.1
}}
"""
SERVICE = """
define service {{
    use                  generic-service
    host_name            db1
    service_description  s{number}
    check_command        asked
    check_interval       {interval}
    retry_interval       {interval}
    max_check_attempts   1
}}
"""
SETTINGS = """
interval_length=1
execute_service_checks=1
max_concurrent_checks={at_once}
status_update_interval={interval}
process_performance_data=0
"""
ASKED = b"#wproc wpstats\0"  # to its workers: how many checks they have begun, and how many run


NOT_OK = ("last_time_warning", "last_time_critical", "last_time_unknown")


class Result(NamedTuple):
    """What came of a service's checks: seconds from when the last was due, and whether any was not OK.

    The last one ``took`` so many seconds.
    """

    after: float
    failed: bool
    took: float


def services(rate):
    """How many it takes to have so many checks a second, or nearly."""
    return max(1, round(rate * INTERVAL))


class BusyIcinga(Icinga):
    """An Icinga that runs this command so many times a second, ``at_once`` at a time."""

    program_name = "icinga2"
    settling = 2  # intervals: the second check of a service comes early, all others in time (2.13.6)

    def __init__(self, folder, command, rate, at_once):
        words = [word.replace(EACH, "$service.name$") for word in command]
        objects = ICINGA.format(
            at_once=at_once, command=json.dumps(words), services=services(rate), interval=INTERVAL
        )
        super().__init__(folder, objects=objects)

    def start(self):
        """Start it."""
        self.begun = time.monotonic()
        super().start()

    def done(self):
        """How many checks it has run. Its counter is of the last minute, so it may not be older."""
        (about,) = self.api("GET", "/v1/status/CIB")
        assert time.monotonic() - self.begun < MINUTE, "checks that it has run are forgotten"
        return about["status"]["active_service_checks_1min"]

    def last(self):
        """The Result of each service."""
        return [Result(after, bool(failed), took) for after, failed, took in self.evaluate(RESULTS)]


class BusyNagios(Nagios):
    """A Nagios that runs this command so many times a second, ``at_once`` at a time; 0: all that are due."""

    program_name = "nagios4"
    settling = 1  # interval, over which it spreads the first checks
    more = ""  # settings of a kind of it

    def __init__(self, folder, command, rate, at_once):
        line = shlex.join(command).replace(EACH, "$SERVICEDESC$").replace(";", r"\;")  # else a comment begins
        defined = "".join(
            SERVICE.format(number=number, interval=INTERVAL) for number in range(services(rate))
        )
        settings = SETTINGS.format(at_once=at_once, interval=INTERVAL)
        super().__init__(folder, objects=NAGIOS.format(command=line) + defined, settings=settings + self.more)

    def done(self):
        """How many checks it has run."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(30)
            link.connect(str(self.path("rw", "nagios.qh")))
            link.sendall(ASKED)
            told = link.makefile().read()
        begun, running = (
            sum(map(int, re.findall(rf"jobs_{which}=(\d+)", told))) for which in ("started", "running")
        )
        return begun - running

    def last(self):
        """The Result of each service, as it was up to an INTERVAL ago."""
        held = [one for one in self._held().values() if one["has_been_checked"] == "1"]
        return [
            Result(
                float(one["check_latency"]) + float(one["check_execution_time"]),
                any(one[when] != "0" for when in NOT_OK),
                float(one["check_execution_time"]),
            )
            for one in held
        ]


ENGINES = {"Icinga": BusyIcinga, "Nagios": BusyNagios}
