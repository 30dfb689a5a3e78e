"""The options of every plugin that asks a JVM over JMX: whom, as whom, and how."""

from __future__ import annotations

from stallwatch.frame.options import exposed
from stallwatch.frame.options.values import host, port, utf8, variable
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
    about = "host of the JVM (default: localhost)"
    check.connection("-H", "--hostname", type=host, metavar="HOST", help=about)
    check.connection("-P", "--port", type=port, metavar="PORT", help="JMX port, Cassandra: 7199")
    about = (
        "host, port and name in one: service:jmx:rmi:///jndi/rmi://HOST:PORT/NAME, or of Jolokia: "
        "http://HOST:PORT/jolokia"
    )
    check.connection("-U", "--url", metavar="URL", help=about)
    check.connection("-u", "--username", metavar="USER", help="JMX user; a read-only role is sufficient")
    about = "password (visible in the process list; prefer --password-file)"
    check.connection("-p", "--password", help=about)
    about = f"file with the password in its first line (default: ${PASSWORD})"
    check.connection("--password-file", metavar="FILE", help=about)
    about = "require TLS for the log-in, of Jolokia: use https (default: as the server does)"
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
    check.connection("--rmi-host", type=host, metavar="HOST", help=about)
    about = "RMI port (default: the port that the server names)"
    check.connection("--rmi-port", type=port, metavar="PORT", help=about)
    about = (
        "rmi: the built-in client; jolokia: Jolokia's agent, over HTTP; jmxquery: run Java (default: rmi; "
        "jolokia with a URL of http or https)"
    )
    check.connection("--via", choices=["rmi", "jolokia", "jmxquery"], help=about)
    about = (
        "send the readable password without TLS also to Jolokia on another host, and on this host to a JVM "
        "whose user is no system account"
    )
    check.connection("--allow-cleartext", action="store_true", help=about)
    about = "Java command and its options, for --via jmxquery"
    check.connection("--java", default="java", metavar="COMMAND", help=about)
    check.asks_server()


def connect(check: Check, options: Namespace, run: Run) -> Server:
    """Log in as the options set it, for a ``with`` statement; raises UnreachableError."""
    from stallwatch.sources import jmx

    to = target(check, options)
    run.target = f"{to.host}:{to.port}"
    return jmx.connect(to, run.deadline, run.trace)


def target(check: Check, options: Namespace) -> Target:
    """Return whom to ask; what does not go together ends the run as bad usage."""
    from stallwatch.sources import jmx
    from stallwatch.sources.jmx.target import bare

    check.refuse_empty(options, *_NOT_EMPTY)
    to = _address(check, options)
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
    given = (options.tls, options.tls_registry, options.ca_file, options.client_cert, options.insecure)
    if to.via == "jolokia":
        _must_fit_jolokia(check, options, to, tls=any(given))
    tls = jmx.Tls(
        wanted=to.tls.wanted or any(given),
        registry=options.tls_registry,
        ca_file=options.ca_file,
        client_cert=options.client_cert,
        client_key=options.client_key,
        insecure=options.insecure,
    )
    return to._replace(
        rmi_host=options.rmi_host and bare(options.rmi_host),
        rmi_port=options.rmi_port,
        user=options.username and utf8(options.username),
        password=password,
        tls=tls,
        java=options.java,
        cleartext=options.allow_cleartext,
    )


def _must_fit_jolokia(check: Check, options: Namespace, to: Target, *, tls: bool) -> None:
    """See that there is no option that Jolokia has no use for; ``tls``: one that is about TLS is given."""
    for name in ("rmi_host", "rmi_port", "tls_registry"):
        if getattr(options, name):
            check.parser.error(f"--{name.replace('_', '-')} is for RMI: Jolokia has one port, which -P names")
    if options.url is not None and tls and not to.tls.wanted:
        check.parser.error("-U is a URL without TLS: write https://, or leave out the options of TLS")


def _address(check: Check, options: Namespace) -> Target:
    """Give the place, without what is to be said there, and the way that it is asked."""
    from stallwatch.sources.jmx.target import (
        JMXRMI,
        JOLOKIA,
        Target,
        Tls,
        bare,
        from_http_url,
        from_url,
        is_http,
    )

    via = options.via or ("jolokia" if options.url and is_http(options.url) else "rmi")
    if options.url is None:
        if options.port is None and options.hostname is not None:
            check.parser.error(f"the port of {options.hostname} is missing: set it with -P")
        if options.port is None:
            check.parser.error("which JVM? Give its host with -H and JMX port with -P, or its URL with -U")
        name = JOLOKIA if via == "jolokia" else JMXRMI
        return Target(bare(options.hostname or "localhost"), options.port, name, via=via)
    if options.hostname is not None or options.port is not None:
        check.parser.error("-U names host and port already: leave out -H and -P")
    if options.via and (options.via == "jolokia") != is_http(options.url) and "://" in options.url:
        other = "Jolokia" if is_http(options.url) else "RMI"
        check.parser.error(f"-U is a URL of {other}, which contradicts --via {options.via}: leave out --via")
    try:
        if via == "jolokia":
            name, at, path, https = from_http_url(options.url)
            return Target(name, at, path, via=via, tls=Tls(wanted=https))
        return Target(*from_url(options.url), via=via)
    except NotUnderstoodError as error:
        check.parser.error(f"-U/--url: {error}")


def _password(options: Namespace) -> str | None:
    if options.password is not None:
        return utf8(options.password)
    if options.password_file is None:
        return variable(PASSWORD) if options.username is not None else None
    return exposed.password(options.password_file)
