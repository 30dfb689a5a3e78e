"""A Java server of the tests that shows itself over JMX: what a plain JVM and Cassandra have in common."""

import json
import os
import re
import signal
import subprocess

import java_software
from server_process import Server

PASSWORDS = {"monitorRole": "read|only'1", "controlRole": "read&write"}
ACCESS = {"monitorRole": "readonly", "controlRole": "readwrite"}
LEFT_OVER = {
    "connections": "javax.management.remote.rmi.RMIConnectionImpl",
    "unacknowledged": "sun.rmi.transport.DGCAckHandler",
}
SHOWN = (
    "host", "port", "rmi_port", "url", "user", "password", "ca_file", "client_cert", "client_key",
    "control_port", "cql_port", "pid", "log",
)  # fmt: skip


class JavaServer(Server):
    """A server in a folder of its own. A subclass says how it is called and when it is ready."""

    host = "127.0.0.1"
    port = None  # of the RMI registry
    rmi_port = None  # None: any
    ca_file = client_cert = client_key = None  # paths of PEM files, for a client

    def __init__(self, folder, *, password):
        self.folder = os.path.abspath(folder)
        self.users = PASSWORDS if password else {}
        self.log = self.path("log")

    # starting and stopping

    def start(self):
        """Start it, and wait until it is ready."""
        os.makedirs(self.folder, exist_ok=True)
        self.launch(self.command(), cwd=self.folder)

    def path(self, *parts):
        """A path below its folder."""
        return os.path.join(self.folder, *parts)

    def logged(self, pattern):
        """What matches in its log, as re.findall says it; ^ and $ are those of a line."""
        with open(self.log, errors="replace") as log:
            return re.findall(pattern, log.read(), re.MULTILINE)

    def authentication(self):
        """The settings of com.sun.management.jmxremote for who may ask; their files are written, too."""
        if not self.users:
            return {"authenticate": False}
        for name, content in (("passwords", self.users), ("access", ACCESS)):
            with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.writelines(f"{user} {value}\n" for user, value in content.items())
        files = {"password.file": self.path("passwords"), "access.file": self.path("access")}
        return {"authenticate": True} | files

    # what a client needs

    @property
    def url(self):
        """Its JMX service URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"service:jmx:rmi:///jndi/rmi://{host}:{self.port}/jmxrmi"

    @property
    def user(self):
        """The one who may read, or None."""
        return "monitorRole" if self.users else None

    @property
    def password(self):
        """The password of .user."""
        return self.users.get("monitorRole")

    @property
    def pid(self):
        """The process id of the JVM."""
        return self.process.family[0].pid

    # what clients left in it

    def left_by_clients(self):
        """What clients left in the JVM that they should not, after a garbage collection: numbers by kind."""
        threads = self.jcmd("Thread.print").count('"JMX server connection timeout')
        histogram = self.jcmd("GC.class_histogram")
        return {"threads": threads} | {kind: _instances(histogram, of) for kind, of in LEFT_OVER.items()}

    def jcmd(self, command):
        """What the JVM answers to a command of jcmd."""
        call = [java_software.tool("jcmd"), str(self.pid), command]
        return subprocess.run(call, capture_output=True, text=True, check=True, timeout=60).stdout


def _instances(histogram, name):
    """How many objects of that class there are."""
    found = re.search(rf"^ *\d+: +(\d+) +\d+ +{re.escape(name)}(?: |$)", histogram, re.MULTILINE)
    return int(found[1]) if found else 0


def system_properties(settings):
    """Arguments of java that set these."""
    return [f"-D{name}={java_text(value)}" for name, value in settings.items()]


def agent_properties(settings):
    """The same for those of com.sun.management.jmxremote."""
    return system_properties({f"com.sun.management.jmxremote.{name}": of for name, of in settings.items()})


def java_text(value):
    """A value as Java writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def keep_running(server):
    """Run it until we are interrupted or terminated; print what there is to know of it as a line of JSON."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with server:
            about = {name: getattr(server, name, None) for name in SHOWN}
            print(json.dumps({name: of for name, of in about.items() if of is not None}), flush=True)  # noqa: T201
            signal.pause()
    except KeyboardInterrupt:
        pass
