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
    check.connection("-H", "--hostname", metavar="HOST", help="host of the JVM (default: localhost)")
    check.connection("-P", "--port", type=port, metavar="PORT", help="JMX port, Cassandra: 7199")
    about = "host, port and name in one: service:jmx:rmi:///jndi/rmi://HOST:PORT/NAME"
    check.connection("-U", "--url", metavar="URL", help=about)
    check.connection("-u", "--username", metavar="USER", help="JMX user; a read-only role is sufficient")
    about = "password (visible in the process list; prefer --password-file)"
    check.connection("-p", "--password", help=about)
    about = f"file with the password in its first line (default: ${PASSWORD})"
    check.connection("--password-file", metavar="FILE", help=about)
    about = "require TLS for the log-in (default: as the server does)"
    check.connection("--tls", action="store_true", help=about)
    check.connection("--tls-registry", action="store_true", help="use TLS for the registry, too")
    about = "certificates (PEM) of the authorities that sign the server's"
    check.connection("--ca-file", metavar="FILE", help=about)
    about = "client certificate (PEM), if the server requires one"
    check.connection("--client-cert", metavar="FILE", help=about)
    about = "key (PEM) of the client certificate (default: in the file of --client-cert)"
    check.connection("--client-key", metavar="FILE", help=about)
    about = "accept any certificate: a forged server is not detected"
    check.connection("--insecure", action="store_true", help=about)
    about = (
        'host of the RMI port; "stub": the host that the server names, which gets no password unless it is '
        "the host of the registry (default: the host of the registry)"
    )
    check.connection("--rmi-host", metavar="HOST", help=about)
    about = "RMI port (default: the port that the server names)"
    check.connection("--rmi-port", type=port, metavar="PORT", help=about)
    about = "rmi: the built-in client; jmxquery: run Java"
    check.connection("--via", choices=["rmi", "jmxquery"], default="rmi", help=about)
    about = "Java command and its options, for --via jmxquery"
    check.connection("--java", default="java", metavar="COMMAND", help=about)
    check.asks_server()


def connect(check: Check, options: Namespace, run: Run) -> Server:
    """Log in as the options say, for a ``with`` statement; raises UnreachableError."""
    from stallwatch.sources import jmx

    to = target(check, options)
    run.target = f"{to.host}:{to.port}"
    return jmx.connect(to, run.deadline, run.trace)


def target(check: Check, options: Namespace) -> Target:
    """Tell whom to ask; what does not go together ends the run as bad usage."""
    from stallwatch.sources import jmx
    from stallwatch.sources.jmx.target import bare

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
        host, port, name, options.rmi_host and bare(options.rmi_host), options.rmi_port, user, password, tls,
        options.via, options.java,
    )  # fmt: skip


def _address(check: Check, options: Namespace) -> tuple[str, int, str]:
    from stallwatch.sources.jmx.target import JMXRMI, bare, from_url

    if options.url is None:
        if options.port is None:
            check.parser.error("which JVM? Give its host with -H and JMX port with -P, or its URL with -U")
        return bare(options.hostname or "localhost"), options.port, JMXRMI
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
