"""Why one could not connect and log in, in a sentence."""

from __future__ import annotations

import re

from stallwatch import withheld
from stallwatch.deadline import LITTLE_TIME
from stallwatch.findings import State
from stallwatch.known import Known
from stallwatch.line import Forms
from stallwatch.sources import tcp
from stallwatch.sources.mysql.connection import TooMuchError
from stallwatch.sources.mysql.errors import TOO_MANY, UnreachableError
from stallwatch.sources.mysql.facts import Facts
from stallwatch.sources.mysql.log_in import CONNECTING, GREETING, NoTlsError
from stallwatch.startup import TYPE_CHECKING, NamedTuple
from stallwatch.units import say_duration

if TYPE_CHECKING:
    from stallwatch.sources.mysql.connection import Connection
    from stallwatch.sources.mysql.target import Target

_NO_PASSWORD = "give --password-file, or --defaults-file with a password in it"  # noqa: S105 - no password
_WRONG_PASSWORD = "check the password, and that this user has an account for this address"  # noqa: S105
_WRONG_AT_SOCKET = Forms(
    "check the password and the account, REQUIRE SSL refuses sockets", "check the password and the account"
)  # MySQL and MariaDB
_LOCKED = Known("has locked the account of the user {user}", "ALTER USER ... ACCOUNT UNLOCK")
_EXPIRED = Known("wants the user {user} to change the password", "ALTER USER ... PASSWORD EXPIRE NEVER")
_FULL_FOR_USER = Known(
    "has no connection left for the user {user}",
    "look who holds them, or raise max_user_connections",
)
_OFFLINE = 3032  # somebody has taken it from all clients
# What a server answers to one who logs in, by the error numbers of MySQL 9.7 and MariaDB 10.11.
_REFUSALS = {
    TOO_MANY: Known(
        "has no connection left (Too many connections)", "look who holds them, or raise max_connections"
    ),
    1044: Known("denied access to the user {user}", "look at SHOW GRANTS of that user"),
    1129: Known(
        "has blocked this host after too many connect errors", "find what breaks them, then FLUSH HOSTS"
    ),
    1130: Known("allows no log-in from this host", "create an account of the user {user} for its address"),
    1203: _FULL_FOR_USER,
    1226: _FULL_FOR_USER,
    1820: _EXPIRED,
    1862: _EXPIRED,
    _OFFLINE: Known(
        "is in offline mode and refuses all clients",
        "ask who set offline_mode, then SET GLOBAL offline_mode = OFF as root",
    ),
    3118: _LOCKED,
    3159: Known("allows no log-in without TLS (require_secure_transport)", "do without --ssl-mode DISABLED"),
    3955: _LOCKED,
    4151: _LOCKED,
}
_DENIED = (1045, 1698)
_UNKNOWN_METHOD = (1251, 2059)

_SPEAKS = {b"HTTP": "HTTP", b"SSH-": "SSH", b"220 ": "FTP or SMTP", b"220-": "FTP or SMTP", b"+OK ": "POP3"}
_X_PROTOCOL = 11  # what its first message has where the classic one has the version of the protocol, 10


class _Case(NamedTuple):
    """An attempt that failed."""

    failure: Exception
    facts: Facts
    connection: Connection
    target: Target
    seconds: float

    @property
    def within(self) -> str:
        return say_duration(self.seconds)

    @property
    def where(self) -> str:
        return self.target.where

    @property
    def stage(self) -> int:
        return self.connection.stage

    @property
    def user(self) -> str:
        return self.connection.user_name


def reason(failure: Exception, connection: Connection, target: Target, seconds: float) -> UnreachableError:
    """Return why one could not connect and log in within ``seconds``."""
    if isinstance(failure, UnreachableError):
        return failure
    case = _Case(failure, Facts(failure), connection, target, seconds)
    found = (explain(case) for explain in _EXPLANATIONS)
    return next((one for one in found if one), None) or _not_mysql(case)


def _decided_here(case: _Case) -> UnreachableError | None:
    if isinstance(case.failure, NoTlsError):
        return UnreachableError(
            f"{case.where} has no TLS: nothing was sent", "is --ssl-mode to be PREFERRED?"
        )
    if isinstance(case.failure, TooMuchError):
        return UnreachableError(
            f"{case.where} sends too much before the log-in", "check that it is a MySQL server"
        )
    return None


def _not_sent(case: _Case) -> UnreachableError | None:
    from stallwatch.sources.mysql import not_sent

    return not_sent.reason(case.failure, case.where, case.user, in_tls=bool(case.connection.ssl))


def _late(case: _Case) -> UnreachableError | None:
    if not case.facts.late or isinstance(case.failure, tcp.UnknownHostError):
        return None
    if case.stage == CONNECTING:
        what, advice = "does not answer: no connection", tcp.NO_CONNECTION
        return UnreachableError(f"{case.where} {what} within {case.within}", advice)
    if case.seconds < LITTLE_TIME:  # the machine is busy, or others were asked before
        return UnreachableError(f"no time was left to log in at {case.where}", "raise --timeout")
    how_far = "does not finish the log-in"
    advice = "check whether the server is stopped or swapping, and the load of its host"
    if case.stage == GREETING:
        how_far = "sends half a greeting" if case.connection.first else "sends no greeting"
        advice = (
            "see that this is MySQL's port, whether the server is stopped, swaps or waits for a name server"
        )
    if why := case.connection.why_late():
        what = Forms(f"{why.what} ({case.where} {how_far} within {case.within})", why.what)
        return UnreachableError(what, why.advice)
    what = f"mysqld does not respond: it may hang ({case.where} {how_far} within {case.within})"
    return UnreachableError(what, advice)


def _no_tls(case: _Case) -> UnreachableError | None:
    if not (error := case.facts.tls):
        return None
    from stallwatch.startup.tls import ssl

    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message.rstrip(".")
        how = "give the certificate of its authority with --ssl-ca"
        if "mismatch" in why or "not valid for" in why:
            how = "give the host as its certificate names it, or --ssl-mode VERIFY_CA"
        elif "expired" in why:
            how = "renew it"
        return UnreachableError(f"the certificate of {case.where} is not to be trusted: {why}", how)
    if not isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError):  # it was closed
        why = (getattr(error, "reason", None) or str(error)).replace("_", " ").lower()
        how = "give --ssl-cert if it wants one, or check whether its TLS is too old (see --ssl-mode)"
        return UnreachableError(f"no TLS connection with {case.where}: {why}", how)
    return None


def _no_connection(case: _Case) -> UnreachableError | None:
    if case.stage != CONNECTING:
        return None
    why = getattr(case.failure, "strerror", None) or withheld.message(str(case.failure))
    if isinstance(case.failure, tcp.UnknownHostError):
        what = f"the host {case.target.host} cannot be looked up: {why}"
        return UnreachableError(what, case.failure.advice)
    if case.target.socket:
        how = "check that the server runs, then name its socket with -S, or use -H 127.0.0.1"
        if not case.target.found:
            how = "check that the server runs, and that its my.cnf has this socket"
        if isinstance(case.failure, PermissionError):
            how = "let the user that runs this check get there"
        return UnreachableError(f"the socket {case.where} cannot be used: {why}", how)
    if isinstance(case.failure, ConnectionRefusedError):
        how = "check that it runs and listens there (bind_address, port)"
        return UnreachableError(f"{case.where} refused the connection", how)
    return UnreachableError(f"{case.where} cannot be reached: {why}")


def _hung_up(case: _Case) -> UnreachableError | None:
    if not case.facts.lost:
        return None
    if case.connection.shakes_hands:
        return UnreachableError(
            f"no TLS connection with {case.where}: it closed the connection in the handshake",
            "see its log, and check whether its TLS is too old (see --ssl-mode)",
        )
    if case.stage != GREETING:
        return UnreachableError(f"{case.where} closed the connection while we logged in", "look into its log")
    said = "in the middle of its greeting" if case.connection.first else "without a word"
    return UnreachableError(
        f"{case.where} closed the connection {said}", "check that it is MySQL's port, and see its log"
    )


def _not_let_in(case: _Case) -> UnreachableError | None:
    number, said = case.facts.number, case.facts.said
    if not case.facts.by_server:
        return None
    if number in _DENIED:
        host = re.search(r"'@'([^']*)'", said)
        user = f"{case.user} from {host[1]}" if host else case.user
        without = "" if case.connection.password else " without a password"
        how = _WRONG_PASSWORD if case.connection.password else _NO_PASSWORD
        if case.connection.password and case.target.socket:
            how = _WRONG_AT_SOCKET
        elif case.connection.password and case.target.server_key and not case.connection.ssl:
            how = "check the password and --server-public-key-path, an account with REQUIRE SSL takes TLS"
        elif case.connection.password and not case.connection.ssl:
            how += ", an account with REQUIRE SSL takes TLS"
        return UnreachableError(f"{case.where} denied access to the user {user}{without}", how, number)
    if found := refusal(number, case.where, case.user):
        return found
    quoted = case.facts.quoted(case.user)
    return UnreachableError(f"{case.where} refused the log-in: {quoted} (error {number})", "", number)


def refusal(number: int, where: str, user: str) -> UnreachableError | None:
    """Return why the server at this place refuses every statement of a user; None: by another error."""
    if not (known := _REFUSALS.get(number)):
        return None
    what, advice = (text.format(user=user) for text in known)
    refused = UnreachableError(f"{where} {what}", advice, number)
    refused.state = State.CRITICAL if number == _OFFLINE else None
    return refused


def _no_method(case: _Case) -> UnreachableError | None:
    """Report that PyMySQL cannot log in as the account wants it, or only with another Python module."""
    said = case.facts.said
    how = "give it a password of another kind: ALTER USER ... IDENTIFIED ..."
    if case.facts.number in _UNKNOWN_METHOD:
        method = re.search(r"b?'(\w+)'", said.removeprefix("Authentication plugin '"))
        what = f"by {method[1]}, which cannot be done here" if method else "in a way that cannot be done here"
        return UnreachableError(f"{case.where} wants the user {case.user} to log in {what}", how)
    if not isinstance(case.failure, RuntimeError):
        return None
    if "cryptography" in said:
        return UnreachableError(
            f"{case.where} cannot let in the user {case.user} without TLS (caching_sha2_password): "
            "the password is wrong, or has to be encrypted, which takes Python's cryptography",
            "do without --ssl-mode DISABLED and let the server offer TLS, or make install EXTRAS=rsa",
        )
    if "nacl" in said:
        return UnreachableError(
            f"{case.where} wants the user {case.user} to log in by ed25519, which takes Python's PyNaCl",
            "let that user log in another way, or make install EXTRAS=ed25519",
        )
    wanted = case.facts.quoted()
    return UnreachableError(
        f"{case.where} wants what it may not have: {wanted}", "check that it is a MySQL server"
    )


_EXPLANATIONS = (
    _decided_here, _not_sent, _late, _no_tls, _no_connection, _hung_up, _not_let_in, _no_method,
)  # fmt: skip


def _not_mysql(case: _Case) -> UnreachableError:
    if case.stage != GREETING:
        return UnreachableError(
            f"{case.where} breaks MySQL's protocol while we log in",
            "check that it is a MySQL server, and what is in between",
        )
    spoken = _SPEAKS.get(case.connection.first)
    if getattr(case.connection, "protocol_version", None) == _X_PROTOCOL:
        spoken = "MySQL's X protocol"
    if spoken:
        return UnreachableError(
            f"{case.where} speaks {spoken}, not MySQL's classic protocol", "give its classic port with -P"
        )
    return UnreachableError(f"{case.where} does not speak MySQL's protocol", "give the server's port with -P")
