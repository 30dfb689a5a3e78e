"""Whom to ask over JMX, and how."""

from __future__ import annotations

import re

from stallwatch.startup import NamedTuple
from stallwatch.units import NotUnderstoodError

JMXRMI = "jmxrmi"  # the name that the JVM's own agent is bound to
AS_SERVER_SAYS = "stub"  # for the RMI host: the one that the server names
_URL = r"(?i)service:jmx:(?P<protocol>[^:]*)://(?P<place>[^/;]*)(?:/(?P<path>.*))?"
_JNDI = r"(?i)jndi/rmi://(?P<place>[^/]*)/(?P<name>.+)"
_PLACE = r"(?:\[(?P<ipv6>[0-9A-Fa-f:.]+(?:%[^\]]+)?)\]|(?P<host>[^\[\]:]+))?(?::(?P<port>\d{1,5}))?"
_REGISTRY_PORT = 1099  # java.rmi.registry.Registry.REGISTRY_PORT
JOLOKIA = "/jolokia/"  # where Jolokia's agent answers by default
_HTTP = r"(?i)(?P<scheme>https?)://(?P<place>[^/?#@]*)(?P<path>/[!-~]*)?"
_HTTP_PORTS = {"http": 80, "https": 443}
PORTS = range(1, 65536)


class Tls(NamedTuple):
    """What TLS is to be like. ``wanted``: never send anything but the look-up in clear."""

    wanted: bool = False
    registry: bool = False  # the look-up, too
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    insecure: bool = False  # take any certificate


class Target(NamedTuple):
    """A JVM's JMX agent: its registry at ``host:port``, and what it takes to log in.

    ``name`` is what it is bound to there; of Jolokia the path of its URL, and ``tls.wanted`` means https.
    """

    host: str
    port: int
    name: str = JMXRMI
    rmi_host: str | None = None  # AS_SERVER_SAYS, or another one; None: the host
    rmi_port: int | None = None  # None: as the server sets it
    user: str | None = None
    password: str | None = None
    tls: Tls = Tls()
    via: str = "rmi"
    java: str = "java"
    cleartext: bool = False  # see --allow-cleartext

    def __repr__(self) -> str:
        return f"Target({self.where})"  # never with the password

    @property
    def where(self) -> str:
        """The registry's address as a person writes it."""
        return place(self.host, self.port)


def place(host: str, port: int) -> str:
    """Write ``host:port``; an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bare(host: str) -> str:
    """Take the brackets from an IPv6 address, as it stands in URLs."""
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def is_http(url: str) -> bool:
    """Whether a URL is one of Jolokia."""
    return url.strip().lower().startswith(("http:", "https:"))


def from_http_url(text: str) -> tuple[str, int, str, bool]:
    """Read ``http[s]://HOST[:PORT][/PATH]``; the result is host, port and path, and whether it is https."""
    _refuse_password(text)
    url = re.fullmatch(_HTTP, text.strip())
    found = re.fullmatch(_PLACE, url["place"]) if url else None
    host = found and (found["ipv6"] or found["host"])
    if not url or not found or not host or "?" in text or "#" in text:
        raise NotUnderstoodError(f'"{text}" is no URL of Jolokia: write http://HOST:PORT/jolokia')
    port = int(found["port"] or _HTTP_PORTS[url["scheme"].lower()])
    if port not in PORTS:
        raise NotUnderstoodError(
            f'"{found["port"]}" in "{text}" is not a port: write a number from 1 to 65535'
        )
    path = (url["path"] or "").rstrip("/")
    return host, port, f"{path}/" if path else JOLOKIA, url["scheme"].lower() == "https"


def _refuse_password(text: str) -> None:
    """Refuse a URL with a user, and maybe a password, which must not be shown."""
    if "@" in text:
        raise NotUnderstoodError("user and password do not belong into a URL: give -u and --password-file")


def from_url(text: str) -> tuple[str, int, str]:
    """Read ``service:jmx:rmi://ANYTHING/jndi/rmi://HOST:PORT/NAME``; the result is host, port and name.

    What is before ``/jndi/`` is where the server was set to listen; Java's client ignores it, too.
    """
    _refuse_password(text)
    url = re.fullmatch(_URL, text.strip())
    if not url:
        raise NotUnderstoodError(
            f'"{text}" is no JMX URL: write service:jmx:rmi:///jndi/rmi://HOST:PORT/jmxrmi, of Jolokia '
            "http://HOST:PORT/jolokia, or use -H and -P"
        )
    if url["protocol"].lower() != "rmi":
        raise NotUnderstoodError(f'"{text}": JMX over {url["protocol"]} cannot be spoken here, only over rmi')
    jndi = re.fullmatch(_JNDI, url["path"] or "")
    if not jndi:
        raise NotUnderstoodError(
            f'"{text}" names no registry: it is to go on with /jndi/rmi://HOST:PORT/NAME'
        )
    found = re.fullmatch(_PLACE, jndi["place"])
    port = int(found["port"] or _REGISTRY_PORT) if found else 0
    if not found or port not in PORTS:
        raise NotUnderstoodError(f'"{jndi["place"]}" in "{text}" is not HOST:PORT, or [IPV6]:PORT')
    return found["ipv6"] or found["host"] or "localhost", port, jndi["name"]
