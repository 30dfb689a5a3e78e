"""Record how runs of jmxquery's jar end, for tests/recorded/jmxquery, from real JVMs. By hand:

.venv/bin/python tests/live/jmxquery_recording.py
"""

import contextlib
import json
import os
import tempfile
from unittest import mock

import java_software
import software
from jvm import VARIANTS, Jvm
from loopback import free_port
from stallwatch.deadline import Deadline
from stallwatch.sources.jmx import JmxError, Target, jmxquery
from stallwatch.sources.jmx.jmxquery import java

FOLDER = os.path.join(software.REPOSITORY, "tests", "recorded", "jmxquery")
UPTIME = "java.lang:type=Runtime/Uptime"
TEXTS = ("Plain", "Empty", "Null", "Number", "Quotes", "Backslash", "Newline", "Control", "Nul", "Pipe",
         "Unicode", "Emoji", "StringBuilder", "Enum", "ObjectName", "Uuid", "File")  # fmt: skip
OF_THE_PLAIN_ONE = {
    "numbers": ["target:type=Numbers"],
    "texts": [f"target:type=Texts/{name}" for name in TEXTS],
    "odd_names": ["target:type=Odd,*/Value", "odd?domain*:*"],
    "odd_attributes": ["target:name=no type"],
    "arrays": ["target:type=Arrays/Ints"],
    "tables": ["target:type=Tables"],
    "trouble": ["target:type=Trouble"],
    "memory": ["java.lang:type=Memory"],
    "missing": ["target:type=Missing", "target:type=Numbers/Missing"],
    "null_within": ["target:type=Composites"],
    "bad_query": ["target:type"],
}


def record(name, target, queries=(UPTIME,)):
    """Keep how a run ended. Of its errors the start, which tells all."""
    run = java.run

    def kept(*arguments):
        ended = run(*arguments)
        found = {"status": ended.status, "output": ended.output, "errors": ended.errors[:600]}
        with open(os.path.join(FOLDER, f"{name}.json"), "w") as file:
            json.dump(found, file, indent=1, ensure_ascii=False)
            file.write("\n")
        return ended

    with mock.patch.object(java, "run", kept), contextlib.suppress(JmxError, jmxquery.SpoiledError):
        jmxquery.Client(target, Deadline(60), print)._run(queries)


def jvm(folder, variant):
    """A JVM in a folder of its own."""
    return Jvm(os.path.join(folder, variant), **VARIANTS[variant])


def main():
    """Record all of them."""
    os.makedirs(FOLDER, exist_ok=True)
    host = "127.0.0.1"
    record("refused", Target(host, free_port()))
    record("unknown_host", Target("nosuch.invalid", 7199))
    record("stripped_java", Target(host, free_port(), java=java_software.java(17)))
    record("bad_java_option", Target(host, free_port(), java="java -no-such-option"))
    with tempfile.TemporaryDirectory() as folder:
        with jvm(folder, "plain") as plain:
            for name, queries in OF_THE_PLAIN_ONE.items():
                record(name, Target(host, plain.port), queries)
            record("not_bound", Target(host, plain.port, name="other"))
        with jvm(folder, "own-rmi-port") as own:
            record("rmi_port", Target(host, own.rmi_port))
        with jvm(folder, "password") as locked:
            record("no_password", Target(host, locked.port))
            record("wrong_password", Target(host, locked.port, user="monitorRole", password="a wrong one"))
        with jvm(folder, "wrong-hostname") as elsewhere:
            record("elsewhere", Target(host, elsewhere.port))
        with jvm(folder, "tls") as tls:
            record("untrusted", Target(host, tls.port))
        with jvm(folder, "tls-registry") as tls:
            record("tls_registry", Target(host, tls.port))
        with jvm(folder, "client-certificate") as strict:
            trust = f"-Djavax.net.ssl.trustStore={os.path.dirname(strict.ca_file)}/server.p12"
            java_command = f"java {trust} -Djavax.net.ssl.trustStorePassword=changeit"
            record("client_certificate", Target(host, strict.port, java=java_command))


if __name__ == "__main__":
    main()
