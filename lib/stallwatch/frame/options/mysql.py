"""The options of every plugin that asks a MySQL server: whom, as whom, and how."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

from stallwatch.frame.options import exposed
from stallwatch.frame.options.values import host, port, utf8, variable
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError, UnusableFileError

if TYPE_CHECKING:
    from argparse import Namespace

    from stallwatch.deadline import Deadline
    from stallwatch.frame.check import Check
    from stallwatch.frame.run import Run
    from stallwatch.sources.mysql import Server, Target, Tls

    Given = dict[str, str | None]

PASSWORD = "STALLWATCH_MYSQL_PASSWORD"  # noqa: S105 - the name of an environment variable
# The user's own file, as the mysql client reads it. Not /etc/my.cnf: that is made for the server on this
# host and its users, and would silently change whom a check asks.
OWN_FILE = "~/.my.cnf"
# What every client reads, of MySQL or MariaDB, and what is meant for us alone.
GROUPS = ("client", "client-server", "client-mariadb", "stallwatch")
# Where packages let servers have their socket: Debian's, Red Hat's. Not MySQL's own default, /tmp/mysql.sock:
# while no server runs, everybody may have one there.
SOCKETS = ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock")
SOCKET = "MYSQL_UNIX_PORT"  # the mysql client's own variable

_KNOWN = (
    "host", "port", "socket", "protocol", "user", "password", "ssl-mode", "ssl", "skip-ssl", "ssl-ca",
    "ssl-capath", "ssl-cert", "ssl-key", "ssl-verify-server-cert", "enable-cleartext-plugin",
    "server-public-key-path",
)  # fmt: skip
OPTIONS = (
    "hostname", "port", "socket", "username", "password", "password_file", "defaults_file", "defaults_group",
    "ssl_mode", "ssl_ca", "ssl_cert", "ssl_key", "server_public_key_path", "enable_cleartext_plugin",
)  # fmt: skip
_NOT_EMPTY = (
    "hostname", "socket", "username", "password_file", "defaults_file", "defaults_group", "ssl_ca",
    "ssl_cert", "ssl_key", "server_public_key_path",
)  # fmt: skip
_PLACE = r"(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<host>[^\[\]:\s@/]+))(?::(?P<port>\d{1,5}))?"
_LARGEST_KEY = 16 * 1024  # bytes
_LOCAL = (None, "", "localhost")
_PATIENCE = 3.0  # seconds for each server besides the one that is judged
_NO = ("0", "off", "false", "no", "disabled")


def add(check: Check, unreachable: str = "unknown") -> None:
    """Add the options; ``target`` reads them. ``unreachable`` is as for ``Check.asks_server``."""
    about = "host of the server (default: localhost: its socket, or TCP if a port is given)"
    check.connection("-H", "--hostname", type=host, metavar="HOST", help=about)
    check.connection("-P", "--port", type=port, metavar="PORT", help="TCP port (default: 3306)")
    about = f"socket of a server on this host (default: ${SOCKET}, or the usual path of packages)"
    check.connection("-S", "--socket", metavar="PATH", help=about)
    about = "MySQL user (default: the current OS user)"
    check.connection("-u", "--username", metavar="USER", help=about)
    about = "password (visible in the process list; prefer --password-file)"
    check.connection("-p", "--password", help=about)
    about = f"file with the password in its first line (default: ${PASSWORD})"
    check.connection("--password-file", metavar="FILE", help=about)
    about = (
        "MySQL option file, groups [client] and [stallwatch]; command-line options override it "
        f"(default: {OWN_FILE})"
    )
    check.connection("--defaults-file", metavar="FILE", help=about)
    about = "read this group of the option file, too"
    check.connection("--defaults-group", metavar="GROUP", help=about)
    about = (
        "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY, as in the mysql client "
        "(default: PREFERRED, with --ssl-ca VERIFY_CA)"
    )
    check.connection("--ssl-mode", type=_mode, metavar="MODE", help=about)
    about = "certificates (PEM) of the authorities that sign the server's (default: those of the system)"
    check.connection("--ssl-ca", metavar="FILE", help=about)
    about = "client certificate (PEM), if the server requires one"
    check.connection("--ssl-cert", metavar="FILE", help=about)
    about = "key (PEM) of the client certificate (default: in the file of --ssl-cert)"
    check.connection("--ssl-key", metavar="FILE", help=about)
    about = (
        "public key (PEM) of the server, to encrypt the password without TLS (default: the key that the "
        "server showed at the first log-in)"
    )
    check.connection("--server-public-key-path", metavar="FILE", help=about)
    about = (
        "send the readable password to a server that requires it (PAM, LDAP), also without verified TLS or a "
        "local socket (default: only over these)"
    )
    check.connection("--enable-cleartext-plugin", action="store_true", help=about)
    check.asks_server(unreachable)


def are_given(options: Namespace) -> bool:
    """Whether any of these options is, for a check that logs in to a server only with such an option."""
    return any(getattr(options, name) not in {None, False} for name in OPTIONS)


def connect(target: Target, run: Run, deadline: Deadline | None = None) -> Server:
    """Log in, for a ``with`` statement, and ask until ``deadline``, or the run's; raises UnreachableError.

    A run that has a memory gets hold of it first: one that waits for another has no place at the server.
    """
    from stallwatch.sources import mysql

    run.target = run.target or target.where
    return mysql.connect(target, deadline or run.deadline, run.known_server, run.trace)


def connect_besides(target: Target, run: Run) -> Server:
    """Log in at another server than the one that is judged, whose verdict must not be lost to that."""
    from stallwatch.deadline import LITTLE_TIME
    from stallwatch.sources.mysql.errors import NoTimeError

    share = min(_PATIENCE, run.deadline.left() / 2)
    if share < LITTLE_TIME:
        run.deadline.must_have_had_time()
        raise NoTimeError(f"no time was left to ask {target.where}", "raise --timeout")
    return connect(target, run, run.deadline.part(share))


def target(check: Check, options: Namespace) -> Target:
    """Return whom to ask; what does not go together ends the run as bad usage.

    What is given here outranks the option file. Of passwords, -p outranks --password-file, that the
    environment, and that the option file, which others use as well.
    """
    check.refuse_empty(options, *_NOT_EMPTY)
    if options.socket and (options.port or options.hostname not in _LOCAL):
        check.parser.error("-S names a server on this host already: leave out -H and -P")
    try:
        given = _filed(check, options, (*GROUPS, options.defaults_group)) | _on_command_line(check, options)
        tcp = options.port or (given.get("protocol") or "").lower() == "tcp"
        found = None
        if given.get("host") in _LOCAL and not tcp:
            given["socket"] = given.get("socket") or variable(SOCKET)
            found = None if given["socket"] else _usual_socket()
        elif not options.socket:
            given["socket"] = None
        target = _target(check, options, given)
        return target._replace(socket=found, found=True) if found else target
    except NotUnderstoodError as error:
        check.parser.error(str(error))


def other(check: Check, options: Namespace, place: str | None, group: str | None) -> Target:
    """Return how to reach another server, at ``HOST[:PORT]`` or where the option group has it.

    The rest is as for ``target``, port, user, password and TLS, as far as the group sets nothing else.
    """
    try:
        given = _filed(check, options, (*GROUPS, options.defaults_group)) | _on_command_line(check, options)
        return _target(check, options, given | _elsewhere(check, options, place, group))
    except NotUnderstoodError as error:
        check.parser.error(str(error))


def _elsewhere(check: Check, options: Namespace, place: str | None, group: str | None) -> Given:
    if group == "":
        raise NotUnderstoodError("--source-group is empty")
    own = _filed(check, options, (group,)) if group else {}
    if place is not None:
        own["host"], at = host_and_port(place)
        own |= {"port": str(port(at))} if at else {}
    if not (own.get("host") or own.get("socket")):
        raise UnusableFileError(f"the group [{group}] names neither a host nor a socket")
    own["socket"] = None if own.get("host") else own.get("socket")
    return own


def _filed(check: Check, options: Namespace, groups: tuple[str | None, ...]) -> Given:
    """Read these groups of the option file; the last of them, if there is one, has to be there."""
    from stallwatch.sources.mysql import option_files

    path = _path(options)
    if path is None and groups[-1]:
        raise NotUnderstoodError(f"the group [{groups[-1]}] is in no file: give it with --defaults-file")
    if path is None:
        return {}
    entries = option_files.read(path)
    for file, secret in option_files.files(entries).items():
        exposed.tell(check, file, secret=secret)
    if groups[-1] and groups[-1] not in {entry.group for entry in entries}:
        raise UnusableFileError(f"{path} has no group [{groups[-1]}]")
    return option_files.options(entries, filter(None, groups), _KNOWN)


def _path(options: Namespace) -> str | None:
    own = os.path.expanduser(OWN_FILE)
    return options.defaults_file or (own if os.path.exists(own) else None)


def _on_command_line(check: Check, options: Namespace) -> Given:
    given = {
        "host": options.hostname,
        "port": options.port and str(options.port),
        "socket": options.socket,
        "user": options.username and utf8(options.username),
        "password": _password(check, options),
        "ssl-mode": options.ssl_mode,
        "ssl-ca": options.ssl_ca,
        "ssl-cert": options.ssl_cert,
        "ssl-key": options.ssl_key,
        "server-public-key-path": options.server_public_key_path,
        "enable-cleartext-plugin": "1" if options.enable_cleartext_plugin else None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _password(check: Check, options: Namespace) -> str | None:
    if options.password is not None:
        return utf8(options.password)
    if options.password_file is None:
        return variable(PASSWORD)
    password = exposed.password(options.password_file, errors="surrogateescape")
    exposed.tell(check, options.password_file)
    return password


def _target(check: Check, options: Namespace, given: Given) -> Target:
    from stallwatch.sources import mysql
    from stallwatch.sources.mysql.target import PORT

    check.secret(given.get("password"))
    try:
        at = port(given.get("port") or str(PORT))
        mode = _mode(given.get("ssl-mode") or _implied_mode(given))
        name = host(given.get("host") or "localhost")
    except NotUnderstoodError as error:  # those of the command line have been read before
        raise UnusableFileError(f"{_path(options)}: {error}") from None
    login = given.get("user"), given.get("password")
    return mysql.Target(
        name, at, given.get("socket"), *login, _tls(check, given, mode),
        cleartext=_on(given, "enable-cleartext-plugin"), server_key=_public_key(given),
    )  # fmt: skip


def _public_key(given: Given) -> bytes | None:
    if not (path := given.get("server-public-key-path")):
        return None
    from stallwatch.sources import given_file

    try:
        octets, _ = given_file.content(path, _LARGEST_KEY)
    except OSError as error:
        said = f"--server-public-key-path {path}"
        raise UnusableFileError(given_file.unreadable(said, path, error)) from None
    if b"-----BEGIN PUBLIC KEY-----" not in octets:
        raise UnusableFileError(f"--server-public-key-path {path}: there is no public key in PEM form in it")
    return octets


def _on(given: Given, name: str) -> bool:
    """Whether an option that needs no value is set."""
    return name in given and (given[name] or "1").lower() not in _NO


def _tls(check: Check, given: Given, mode: str) -> Tls:
    from stallwatch.sources import mysql

    if given.get("ssl-key") and not given.get("ssl-cert"):
        raise NotUnderstoodError("--ssl-key needs --ssl-cert")
    if key := given.get("ssl-key") or given.get("ssl-cert"):
        exposed.tell(check, key)
    paths = (given.get(f"ssl-{name}") for name in ("ca", "capath", "cert", "key"))
    return mysql.Tls(mode, *paths)


def _implied_mode(given: Given) -> str:
    """Return it as MySQL's client does by an authority, and as MariaDB's does, which has no ssl-mode."""
    if _on(given, "ssl-verify-server-cert"):
        return "VERIFY_IDENTITY"
    if given.get("ssl-ca") or given.get("ssl-capath"):
        return "VERIFY_CA"
    if _on(given, "skip-ssl") or ("ssl" in given and not _on(given, "ssl")):
        return "DISABLED"
    return "REQUIRED" if _on(given, "ssl") or given.get("ssl-cert") else "PREFERRED"


def _mode(text: str) -> str:
    from stallwatch.sources.mysql.target import MODES

    if text.upper() not in MODES:
        raise NotUnderstoodError(f'"{text}" is no --ssl-mode: write one of {", ".join(MODES)}')
    return text.upper()


def host_and_port(text: str) -> tuple[str, str | None]:
    """Read HOST[:PORT], for an option; an IPv6 address with a port is in brackets."""
    found = re.fullmatch(_PLACE, text)
    if found:
        return found["ipv6"] or found["host"], found["port"]
    if text.count(":") > 1 and not re.search(r"[\[\]\s@/]", text):
        return text, None  # an IPv6 address
    if "@" in text:  # a password before it, maybe
        raise NotUnderstoodError("write HOST or HOST:PORT alone, without user and password")
    raise NotUnderstoodError(f'"{text}" is not HOST, HOST:PORT or [IPV6]:PORT')


def _usual_socket() -> str:
    """Find the socket of a server on this host; the first place where one may be, if there is none."""
    for path in SOCKETS:
        with suppress(OSError):
            if stat.S_ISSOCK(os.stat(path).st_mode):
                return path
    return SOCKETS[0]
