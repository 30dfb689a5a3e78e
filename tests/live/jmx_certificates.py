"""Self-signed certificates for JVMs and their clients, as an administrator makes them: with keytool.

    NAME.p12        key and certificate, for a JVM
    NAME.pem        the certificate
    NAME.key        the private key, of the clients only
    trusted.p12     what JVMs and Java clients trust: server and client, not the stranger

NAME is "server" (for localhost, 127.0.0.1 and ::1), "elsewhere" (for another host), "expired", "client" or
"stranger".
"""

import os
import subprocess

import java_software
import software

PASSWORD = "changeit"
LOOPBACK = "SAN=dns:localhost,ip:127.0.0.1,ip:0:0:0:0:0:0:0:1"
MADE = {
    "server": ("-ext", LOOPBACK),
    "elsewhere": ("-ext", "SAN=dns:elsewhere.example,ip:203.0.113.7"),
    "expired": ("-ext", LOOPBACK, "-startdate", "-10d", "-validity", "5"),
    "client": (),
    "stranger": (),
}
CLIENTS = ("client", "stranger")
TRUSTED = ("server", "client")


def path(name):
    """The path of one of the files, which are made once. Raises software.Missing."""
    return os.path.join(software.kept(f"jmx-certificates-{software.digest(__file__)}", _make), name)


def _make(place):
    keytool = java_software.tool("keytool")

    def run(*arguments):
        subprocess.run([keytool, *arguments, "-storetype", "PKCS12", "-storepass", PASSWORD],
                       check=True, capture_output=True)  # fmt: skip

    for name, more in MADE.items():
        store = os.path.join(place, f"{name}.p12")
        pem = os.path.join(place, f"{name}.pem")
        validity = () if "-validity" in more else ("-validity", "3650")
        run("-genkeypair", "-keystore", store, "-alias", name, "-dname", f"CN={name}",
            "-keyalg", "EC", "-groupname", "secp256r1", *validity, *more)  # fmt: skip
        run("-exportcert", "-rfc", "-keystore", store, "-alias", name, "-file", pem)
        if name in CLIENTS:
            _write_key(store, name, os.path.join(place, f"{name}.key"))
    trusted = os.path.join(place, "trusted.p12")
    for name in TRUSTED:
        pem = os.path.join(place, f"{name}.pem")
        run("-importcert", "-noprompt", "-keystore", trusted, "-alias", name, "-file", pem)


def _write_key(store, name, path):
    command = [java_software.tool("java"), "-cp", java_software.target(), "target.PrivateKey"]
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        subprocess.run([*command, store, PASSWORD, name], check=True, stdout=file)
