"""What Icinga passes on: its three writers of performance data, and listeners for what they write.

with Writers() as writers, Icinga(folder, objects=writers.objects) as icinga:
    writers.wait_for(icinga)
    icinga.check("db1!load")
    print(writers.written("graphite", "icinga2.db1.services.load.", 3))
"""

import contextlib
import http.server
import socketserver
import threading
import time

from icinga import UNITS

OBJECTS = """
object PerfdataWriter "perfdata" {{
  rotation_interval = 1s
}}
object GraphiteWriter "graphite" {{
  host = "127.0.0.1"
  port = {graphite}
  enable_send_thresholds = true
}}
object InfluxdbWriter "influxdb" {{
  host = "127.0.0.1"
  port = {influxdb}
  database = "icinga2"
  flush_interval = 1s
  enable_send_thresholds = true
  service_template = {{
    measurement = "$service.check_command$"
    tags = {{ hostname = "$host.name$"; service = "$service.name$" }}
  }}
}}
"""
SECONDS = 60  # within which all is written; it takes 2


class Writers:
    """The listeners. ``objects`` is what an Icinga needs to write to them."""

    def __init__(self):
        self.lines = {"graphite": [], "influxdb": []}
        self.each = contextlib.ExitStack()

    def __enter__(self):
        graphite = self._listen(socketserver.ThreadingTCPServer, _graphite(self.lines["graphite"]))
        influxdb = self._listen(http.server.ThreadingHTTPServer, _influxdb(self.lines["influxdb"]))
        self.objects = OBJECTS.format(graphite=graphite, influxdb=influxdb)
        return self

    def __exit__(self, *_):
        self.each.close()

    def _listen(self, kind, handler):
        server = kind(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.each.callback(server.server_close)
        self.each.callback(thread.join)
        self.each.callback(server.shutdown)
        return server.server_address[1]

    def wait_for(self, icinga):
        """Wait until it has found the listeners: what is before that, it throws away."""
        _wait(lambda: icinga.evaluate('get_object(GraphiteWriter, "graphite").connected'))

    def written(self, to, start, count):
        """So many lines at least, as are expected, that start like that; without the time at the end."""

        def found():
            return [line.rpartition(" ")[0] for line in self.lines[to] if line.startswith(start)]

        _wait(lambda: len(found()) >= count)
        return found()


def files(icinga):
    """What the files of its PerfdataWriter say: a dictionary for each check of a service."""
    folder = icinga.path("spool", "perfdata")
    lines = [line for path in sorted(folder.glob("service-*")) for line in path.read_text().splitlines()]
    return [dict(field.split("::", 1) for field in line.split("\t")) for line in lines]


def of_file(icinga, service):
    """What they say last of "HOST!SERVICE"."""

    def found():
        return [line for line in files(icinga) if f"{line['HOSTNAME']}!{line['SERVICEDESC']}" == service]

    _wait(found)
    return found()[-1]


def graphite(item):
    """The lines that it writes to Graphite of an Item, without their beginning and the time."""
    return [f"{item.label}.{name} {_number(of)}" for name, of in _numbers(item).items()]


def influxdb(item):
    """The line that it writes to InfluxDB, likewise."""
    fields = {name: _number(of) for name, of in _numbers(item).items()}
    if UNITS[item.unit]:
        fields["unit"] = f'"{UNITS[item.unit]}"'
    return f"{item.label} {','.join(f'{name}={of}' for name, of in sorted(fields.items()))}"


def _numbers(item):
    """What it passes on of an Item, by the names that both have for it."""
    minimum = None if item.maximum is None else 0.0
    found = {
        "value": item.value, "warn": item.warning, "crit": item.critical, "min": minimum, "max": item.maximum
    }  # fmt: skip
    return {name: of for name, of in found.items() if of is not None}


def _number(value):
    """A number as it writes it to both: to the sixth decimal."""
    return f"{value:.0f}" if value.is_integer() else f"{value:f}"


def _graphite(lines):
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            for line in self.rfile:
                lines.append(line.decode().rstrip("\n"))

    return Handler


def _influxdb(lines):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            lines.extend(self.rfile.read(int(self.headers["Content-Length"])).decode().splitlines())
            self.send_response(http.HTTPStatus.NO_CONTENT)
            self.end_headers()

        def log_message(self, *_):
            pass

    return Handler


def _wait(ready):
    until = time.monotonic() + SECONDS
    while not ready():
        assert time.monotonic() < until, "Icinga has not written it"
        time.sleep(0.1)
