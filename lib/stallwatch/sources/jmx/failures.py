"""What an exception that a server sent means: the right kind of error, in a sentence."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.line import shorten
from stallwatch.sources.jmx.errors import (
    JmxError,
    NoSuchAttributeError,
    NoSuchBeanError,
    UnreachableError,
    UnreadableError,
)
from stallwatch.sources.jmx.rmi import RemoteError
from stallwatch.sources.jmx.serialization import AbortedError, OwnFormatError, Record, UndecodableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Where an exception keeps the one that it wraps: Throwable, RemoteException, MBeanException and
# ReflectionException, RuntimeMBeanException and RuntimeOperationsException, RuntimeErrorException.
_WRAPPED_IN = ("cause", "detail", "exception", "runtimeException", "error", "ex", "target")
_DEEPEST = 20
_LONGEST = 4000  # bytes of an exception's message


def chain(exception: object) -> Iterator[Record]:
    """Give an exception and those that it wraps, the innermost last."""
    seen: list[object] = []
    while isinstance(exception, Record) and len(seen) < _DEEPEST:
        yield exception
        seen.append(exception)
        inner = (exception.fields.get(field) for field in _WRAPPED_IN)
        # A Throwable without a cause has itself as its cause.
        exception = next(
            (found for found in inner if isinstance(found, Record) and all(found is not one for one in seen)),
            None,
        )


def said(exception: object) -> str:
    """Write the innermost exception: its class without the package, and its message."""
    records = [*chain(exception)]
    if not records:
        return "an exception that was not sent"
    last = records[-1]
    message = last.fields.get("detailMessage")
    kind = last.name.rpartition(".")[2]
    told = f"{kind}: {withheld.message(message)}" if isinstance(message, str) and message else kind
    return shorten(told, _LONGEST)


def is_access_denied(exception: object) -> bool:
    """Whether a SecurityException is in it: Cassandra wraps that of a wrong password in another."""
    return any("java.lang.SecurityException" in record.ancestry for record in chain(exception))


def not_let_in(failure: Exception, where: str, user: str | None) -> UnreachableError:
    """Return why the log-in failed."""
    if isinstance(failure, RemoteError) and is_access_denied(failure.record):
        if user is None:
            return UnreachableError(f"{where} requires a user and a password", "use -u and --password-file")
        return UnreachableError(
            f"{where} denied access to the user {user}", "look at its jmxremote.password and jmxremote.access"
        )
    return UnreachableError(f"{where} refused the log-in: {reason(failure)}")


def of_bean(failure: Exception, name: str, attribute: str, where: str) -> JmxError:
    """Return why an attribute, or what else was asked of a bean, cannot be had."""
    subject = f"{attribute} of {name}" if attribute else name
    if isinstance(failure, RemoteError):
        kind = failure.record.name
        if kind == "javax.management.InstanceNotFoundException":
            return NoSuchBeanError(f"there is no MBean {name} at {where}")
        if kind == "javax.management.AttributeNotFoundException" and not _is_write_only(failure.record):
            return NoSuchAttributeError(f"{name} has no attribute {attribute}")
        if kind == "java.rmi.NoSuchObjectException":
            advice = "check whether it was restarted just now"
            return UnreachableError(f"{where} has ended our log-in", advice)
    return UnreadableError(f"{subject} cannot be read: {reason(failure)}")


def _is_write_only(exception: Record) -> bool:
    """Return it by the JDK's own words (com.sun.jmx.mbeanserver.PerInterface, JDK 17)."""
    return str(exception.fields.get("detailMessage")).startswith("Write-only attribute")


def reason(failure: Exception) -> str:
    """Return what a failure is."""
    if isinstance(failure, RemoteError):
        denied = "this user may not, " if is_access_denied(failure.record) else ""
        return denied + said(failure.record)
    if isinstance(failure, AbortedError):
        return f"its value cannot be sent, {said(failure.args[0])}"
    if isinstance(failure, OwnFormatError):
        return f"only Java can decode the class {failure} (own writeObject)"
    if isinstance(failure, UndecodableError):
        return f"only Java can decode the class {failure}"
    return withheld.message(str(failure))
