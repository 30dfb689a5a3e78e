"""A JVM with Jolokia's agent in it, beside the JMX of its own.

with JolokiaJvm(folder, version="2.1.1", tls=True, user="monitor", password="secret") as jvm:
    print(jvm.agent_url)
"""

import os

import java_software
import jmx_certificates
from jvm import Jvm
from loopback import free_port

AGENTS = {
    "1.7.2": ("org.jolokia", "jolokia-jvm", "1.7.2"),
    "2.1.1": ("org.jolokia", "jolokia-agent-jvm", "2.1.1", "javaagent"),
}


class JolokiaJvm(Jvm):
    """One whose agent listens at ``agent_port``; ``more`` are options of the agent, as it calls them."""

    def __init__(
        self, folder, *, version="2.1.1", agent_tls=False, login=None, policy=None, more=None, **settings
    ):
        super().__init__(folder, **settings)
        _, artifact, *rest = AGENTS[version]
        place = java_software.jars(*AGENTS[version])
        self.agent = os.path.join(place, f"{'-'.join((artifact, *rest))}.jar")
        self.agent_port = free_port()
        self.agent_url = f"http{'s' * agent_tls}://{self.host}:{self.agent_port}/jolokia"
        self.agent_ca_file = jmx_certificates.path("server.pem") if agent_tls else None
        self.login = login
        self.policy = policy
        self.more = {"host": self.host, "port": self.agent_port} | (more or {})
        if agent_tls:
            store = {"keystore": jmx_certificates.path("server.p12")}
            self.more |= {"protocol": "https", "keystorePassword": jmx_certificates.PASSWORD} | store
        if login:
            self.more["user"], self.more["password"] = login

    def command(self):
        """How it is called."""
        java, *rest = super().command()
        if self.policy:
            with open(self.path("policy.xml"), "w") as file:
                file.write(self.policy)
            self.more["policyLocation"] = f"file://{file.name}"
        told = ",".join(f"{name}={value}" for name, value in self.more.items())
        return [java, f"-javaagent:{self.agent}={told}", *rest]
