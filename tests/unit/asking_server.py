"""A server that asks for the password in whatever way it likes, and keeps all that it is sent."""

import contextlib
import hashlib
import re
import ssl
import subprocess
from typing import NamedTuple

import mysql_bytes
from mysql_bytes import OK, WHO, packet, served

NATIVE, CACHING, SHA256 = b"mysql_native_password", b"caching_sha2_password", b"sha256_password"
CLEAR, DIALOG = b"mysql_clear_password", b"dialog"
READABLE = (CLEAR, DIALOG, SHA256)
MYSQL, MARIADB, OLD_MARIADB = b"9.7.2", b"11.4.5-MariaDB", b"10.11.19-MariaDB"
NONCE = b"abcdefghijklmnopqrst"
FAST, FULL = b"\1\3", b"\1\4"  # of caching_sha2_password: it knows the password; it wants all of it
DENIED = mysql_bytes.error(1045, b"Access denied for user 'mon'@'db1' (using password: YES)", b"#28000")
SEED = b"saltsalt" + b"saltsaltsalt"  # of the greeting
KEY = b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"


class Certificate(NamedTuple):
    """Files in PEM form."""

    cert: str
    key: str

    @property
    def digest(self):
        """The SHA-256 of the certificate."""
        with open(self.cert) as file:
            return hashlib.sha256(ssl.PEM_cert_to_DER_cert(file.read())).digest()


def certificate(folder, name):
    """A new certificate for 127.0.0.1 that signs itself."""
    made = Certificate(str(folder / f"{name}.pem"), str(folder / f"{name}.key"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", made.key, "-out", made.cert],
        check=True, capture_output=True,
    )  # fmt: skip
    return made


class Asking:
    """What it says: its greeting's version and method, the method that it changes to, and the answers then.

    ``got`` is all that came after the greeting, readable.
    """

    def __init__(self, version=MYSQL, method=NATIVE, then=None, answers=(OK,), tls=None):
        self.version, self.method, self.then, self.answers = version, method, then, answers
        self.tls = tls and ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if tls:
            self.tls.load_cert_chain(*tls)
        self.got = b""

    def __call__(self, connection):
        """Play it on a connection."""
        capabilities = mysql_bytes.TLS if self.tls else mysql_bytes.TLS & ~0x800
        greeting = mysql_bytes.greeting(self.version, capabilities=capabilities)
        greeting = greeting[4:].replace(NATIVE, self.method)
        connection.sendall(packet(0, greeting))
        number, octets = received(connection)
        if self.tls and len(octets) == 32:  # it only asks for TLS
            connection = self.tls.wrap_socket(connection, server_side=True)
            number, octets = received(connection)
        with connection:
            self._log_in(connection, number, octets)

    def _log_in(self, connection, number, octets):
        self.got += octets
        if self.then:
            asks = b"\4Password: " if self.then == DIALOG else NONCE + b"\0"
            connection.sendall(packet(number + 1, b"\xfe" + self.then + b"\0" + asks))
            number, octets = received(connection)
            self.got += octets
        for answer in self.answers:
            connection.sendall(packet(number + 1, answer))
            if answer[:1] in b"\0\xff":
                break
            if answer != FAST:
                number, octets = received(connection)
                self.got += octets
            else:
                number += 1
        for say in (WHO, packet(1, OK)):
            received(connection)
            connection.sendall(say)
        received(connection)


def received(connection):
    """The number and the content of the next packet."""
    head = b""
    while len(head) < 4:
        if not (more := connection.recv(4 - len(head))):
            raise OSError
        head += more
    length, octets = int.from_bytes(head[:3], "little"), b""
    while len(octets) < length:
        if not (more := connection.recv(length - len(octets))):
            raise OSError
        octets += more
    return head[3], octets


@contextlib.contextmanager
def listening(asking):
    """The port at which it listens."""
    with served(asking) as port:
        yield port


def proof(password, certificate_digest, seed=SEED):
    """An OK with the proof that MariaDB 11.4 gives for its certificate."""
    known = hashlib.sha1(hashlib.sha1(password).digest()).digest()
    octets = hashlib.sha256(known + seed + certificate_digest).hexdigest().upper().encode()
    return OK + b"A\x01" + octets


def readable(octets, password):
    """Whether the password stands in what was sent, as nothing else would have it."""
    return re.search(re.escape(password), octets) is not None
