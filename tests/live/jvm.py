"""A JVM of our own with remote JMX, in any of the ways that JMX is secured and routed.

    with Jvm(folder, password=True, tls=True) as jvm:
        print(jvm.host, jvm.port, jvm.ca_file)
        jvm.tell("deadlock")

By hand: .venv/bin/python tests/live/jvm.py [VARIANT] [--java 25] [--groups values,big] runs until it is
interrupted, and prints its port and the rest as a line of JSON.
"""

import argparse
import contextlib
import os
import socket
import tempfile
import urllib.parse

import java_software
import jmx_certificates
from java_server import JavaServer, agent_properties, java_text, keep_running, system_properties
from loopback import free_port

SMALL = ("-Xms16m", "-Xmx128m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
GROUPS = ("values", "names", "trouble", "composites")  # see Beans.java; there are also "never" and "big"
JAVA_TYPES = {bool: "boolean", int: "long", float: "double", str: "java.lang.String"}
VARIANTS = {
    "plain": {},
    "password": {"password": True},
    "tls": {"tls": True},
    "tls-password": {"tls": True, "password": True},
    "tls-registry": {"tls": True, "registry_tls": True},
    "client-certificate": {"tls": True, "client_certificate": True},
    "client-certificate-registry": {"tls": True, "registry_tls": True, "client_certificate": True},
    "wrong-certificate-name": {"tls": True, "certificate": "elsewhere"},
    "expired-certificate": {"tls": True, "certificate": "expired"},
    "own-rmi-port": {"rmi_port": "own"},
    "shared-port": {"rmi_port": "shared"},
    "shared-port-tls": {"rmi_port": "shared", "tls": True, "registry_tls": True},
    "wrong-hostname": {"rmi_hostname": "203.0.113.7"},
    "ipv6": {"host": "::1", "rmi_hostname": "::1"},
}


class Jvm(JavaServer):
    """A JVM that runs jmx_target. What may be asked of it:

    java            the path of its java; None: Debian's
    groups          which beans there are, see Beans.java
    host            where JMX listens: 127.0.0.1 or ::1
    rmi_hostname    what the stubs name as their host
    rmi_port        "any", "own" (one that is known) or "shared" (with the registry)
    password        PASSWORDS are asked for
    tls, registry_tls, client_certificate, certificate: see jmx_certificates
    """

    def __init__(
        self, folder, *, java=None, groups=GROUPS, host="127.0.0.1", rmi_hostname="127.0.0.1", rmi_port="any",
        password=False, tls=False, registry_tls=False, client_certificate=False, certificate="server",
    ):  # fmt: skip
        super().__init__(folder, password=password)
        self.java = java or java_software.tool("java")
        self.groups = groups
        self.host = host
        self.port = free_port(host)
        self.rmi_port = {"any": None, "own": free_port(host), "shared": self.port}[rmi_port]
        self.rmi_hostname = rmi_hostname
        self.tls = tls
        self.registry_tls = registry_tls
        self.client_certificate = client_certificate
        self.certificate = certificate
        if tls:
            self.ca_file = jmx_certificates.path(f"{certificate}.pem")
        if client_certificate:
            self.client_cert = jmx_certificates.path("client.pem")
            self.client_key = jmx_certificates.path("client.key")

    def start(self):
        """Start it, and wait until it is ready; an older log would say so already."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.log)
        super().start()

    def command(self):
        """How it is called."""
        agent = self.authentication() | {
            "host": self.host,
            "port": self.port,
            "ssl": self.tls,
            "registry.ssl": self.registry_tls,
            "ssl.need.client.auth": self.client_certificate,
        }
        if self.rmi_port:
            agent["rmi.port"] = self.rmi_port
        system = {"java.rmi.server.hostname": self.rmi_hostname} | (self._key_stores() if self.tls else {})
        options = [*SMALL, *agent_properties(agent), *system_properties(system)]
        return [self.java, *options, "-cp", java_software.target(), "target.Target", *self.groups]

    def _key_stores(self):
        settings = {}
        for use, name in (("key", self.certificate), ("trust", "trusted")):
            settings[f"javax.net.ssl.{use}Store"] = jmx_certificates.path(f"{name}.p12")
            settings[f"javax.net.ssl.{use}StorePassword"] = jmx_certificates.PASSWORD
        return settings

    def is_ready(self):
        """Whether JMX answers and all beans are there; the JMX agent is, before the program starts."""
        return bool(self.logged(r"^ready, control port \d+$"))

    # what is told to it

    @property
    def control_port(self):
        """Where it listens to what it is told."""
        return int(self.logged(r"^ready, control port (\d+)$")[-1])

    def tell(self, *words):
        """Let it do something, see Control.java: tell("deadlock"), tell("unregister", "target:*")."""
        line = " ".join(urllib.parse.quote(str(word), safe="") for word in words)
        with socket.create_connection(("127.0.0.1", self.control_port), timeout=30) as control:
            control.sendall(f"{line}\n".encode())
            answer = control.makefile(encoding="utf-8").readline().strip()
        if answer != "done":
            raise ValueError(f"{words}: {answer}")

    def set(self, name, **attributes):
        """Give attributes of one of its beans these values."""
        for attribute, value in attributes.items():
            self.tell("set", name, attribute, java_text(value))

    def bean(self, name, attributes):
        """Register a bean whose attributes have these values and can be set; it replaces one of that name.

        A value is of the Java type that JAVA_TYPES tells, or it is a pair of a Java type and a value.
        """
        words = []
        for attribute, value in attributes.items():
            java_type, plain = value if isinstance(value, tuple) else (JAVA_TYPES[type(value)], value)
            words += (attribute, java_type, java_text(plain))
        self.tell("bean", name, *words)


def main():
    """Run one in the foreground."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("variant", nargs="?", default="plain", choices=VARIANTS)
    parser.add_argument("--java", type=int, choices=java_software.JRES, help="a JRE from PyPI")
    parser.add_argument("--groups", default=",".join(GROUPS), help="which beans, see Beans.java")
    options = parser.parse_args()
    java = java_software.java(options.java) if options.java else None
    with tempfile.TemporaryDirectory(prefix="jvm-") as folder:
        groups = options.groups.split(",")
        keep_running(Jvm(folder, java=java, groups=groups, **VARIANTS[options.variant]))


if __name__ == "__main__":
    main()
