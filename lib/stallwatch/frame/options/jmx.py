"""The options of every plugin that asks a JVM over JMX: whom, as whom, and how."""

from __future__ import annotations

from stallwatch.frame.options import exposed
from stallwatch.frame.options.values import port, utf8, variable
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError, UnusableFileError

if TYPE_CHECKING:
    from argparse import Namespace

    from stallwatch.frame.check import Check
    from stallwatch.frame.run import Run
    from stallwatch.sources.jmx import Server, Target

PASSWORD = "STALLWATCH_JMX_PASSWORD"  # noqa: S105 - the name of an environment variable

_NOT_EMPTY = (
    "hostname", "username", "password_file", "ca_file", "client_cert", "client_key", "rmi_host", "java",
)  # fmt: skip


def add(check: Check) -> None:
    """Add the options; ``connect`` uses them."""
    check.option("-H", "--hostname", metavar="HOST", help="the JVM's host (default: localhost)")
    check.option("-P", "--port", type=port, metavar="PORT", help="its JMX port, as 7199 for Cassandra")
    check.option(
        "-U", "--url", metavar="URL", help="both in one: service:jmx:rmi:///jndi/rmi://HOST:PORT/NAME"
    )
    check.option("-u", "--username", metavar="USER", help="log in as this user; a read-only one is enough")
    check.option("-p", "--password", help="its password, which others can then see in the process list")
    about = f"file with the password in its first line (default: ${PASSWORD})"
    check.option("--password-file", metavar="FILE", help=about)
    check.option("--tls", action="store_true", help="never log in without TLS (default: as the server does)")
    check.option("--tls-registry", action="store_true", help="speak TLS to the registry, too, from the start")
    check.option("--ca-file", metavar="FILE", help="certificates (PEM) that the server's is to be signed by")
    check.option("--client-cert", metavar="FILE", help="our own certificate (PEM), if the server wants one")
    check.option("--client-key", metavar="FILE", help="its key (PEM), if that is not in the same file")
    check.option("--insecure", action="store_true", help="take any certificate: anybody may be the server")
    about = (
        'host of the RMI port; "stub" for what the server says, which gets no password unless it is the '
        "registry's (default: that of the registry)"
    )
    check.option("--rmi-host", metavar="HOST", help=about)
    check.option("--rmi-port", type=port, metavar="PORT", help="RMI port (default: what the server says)")
    check.option("--via", choices=["rmi", "jmxquery"], default="rmi", help="speak RMI ourselves, or run Java")
    check.option("--java", default="java", metavar="COMMAND", help="Java and its options, for --via jmxquery")
    check.asks_server()


def connect(check: Check, options: Namespace, run: Run) -> Server:
    """Log in as the options say, for a ``with`` statement; raises UnreachableError."""
    from stallwatch.sources import jmx

    return jmx.connect(target(check, options), run.deadline, run.trace)


def target(check: Check, options: Namespace) -> Target:
    """Tell whom to ask; what does not go together ends the run as bad usage."""
    from stallwatch.sources import jmx

    check.refuse_empty(options, *_NOT_EMPTY)
    host, port, name = _address(check, options)
    try:
        password = _password(options)
    except UnusableFileError as error:
        check.parser.error(str(error))
    check.secret(password)
    if password is not None and options.username is None:
        check.parser.error("a password needs a user: give -u")
    if options.username is not None and not password:
        how = f"give --password-file or ${PASSWORD}"
        check.parser.error(f"the user {options.username} needs a password: {how}")
    if options.client_key and not options.client_cert:
        check.parser.error("--client-key needs --client-cert")
    for file in filter(None, (options.password_file, options.client_key or options.client_cert)):
        exposed.tell(check, file)
    given = (options.tls_registry, options.ca_file, options.client_cert, options.insecure)
    tls = jmx.Tls(
        wanted=options.tls or any(given),
        registry=options.tls_registry,
        ca_file=options.ca_file,
        client_cert=options.client_cert,
        client_key=options.client_key,
        insecure=options.insecure,
    )
    user = options.username and utf8(options.username)
    return jmx.Target(
        host, port, name, options.rmi_host, options.rmi_port, user, password, tls,
        options.via, options.java,
    )  # fmt: skip


def _address(check: Check, options: Namespace) -> tuple[str, int, str]:
    from stallwatch.sources.jmx.target import JMXRMI, from_url

    if options.url is None:
        if options.port is None:
            check.parser.error("which JVM? Give its host with -H and JMX port with -P, or its URL with -U")
        return options.hostname or "localhost", options.port, JMXRMI
    if options.hostname is not None or options.port is not None:
        check.parser.error("-U names host and port already: leave out -H and -P")
    try:
        return from_url(options.url)
    except NotUnderstoodError as error:
        check.parser.error(f"-U/--url: {error}")


def _password(options: Namespace) -> str | None:
    if options.password is not None:
        return utf8(options.password)
    if options.password_file is None:
        return variable(PASSWORD) if options.username is not None else None
    return exposed.password(options.password_file)
