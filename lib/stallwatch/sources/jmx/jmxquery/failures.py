"""What a failed run of jmxquery's jar means: an exception's text, in its output or among its errors."""

from __future__ import annotations

import re

from stallwatch import withheld
from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.sources.jmx.jmxquery import java
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.sources.jmx.jmxquery.java import Ended
    from stallwatch.sources.jmx.target import Target

_ASIDE = re.compile(r"(?:NOTE: )?Picked up |WARNING: |.* warning: ")  # what Java says before it begins
_MESSAGE = re.compile(r'"message":"(.*)"\}\s*$', re.DOTALL)

# The first that is found in what was written: what it means, and what to do.
_MEANINGS = (
    (
        r"(?m)^(?:Terminating due to|Exception in thread \"[^\"]*\") java\.lang\.OutOfMemoryError",
        "Java has too little memory for what {where} answered",
        java.MORE_MEMORY,
    ),
    (r"OutOfMemoryError: (?P<of>[^\n\";]*)", "{where} is out of memory ({of})", "look into its log"),
    (r"Credentials required", "{where} wants a user and a password", "give -u and --password-file"),
    (
        r"SecurityException",
        "{where} denied access to the user {user}",
        "look at its jmxremote.password and jmxremote.access",
    ),
    (
        r"UnknownHostException: (?:Unknown host: )?(?P<host>[^\s;\"\]]+)",
        "there is no host {host}",
        "check -H, and java.rmi.server.hostname of the server",
    ),
    (
        r"NoInitialContextException",
        "this Java has no module jdk.naming.rmi, which finds JMX servers",
        "name a complete one with --java (apt install default-jre-headless)",
    ),
    (
        r"NameNotFoundException",
        "the registry at {where} does not have {name}",
        "name it as the end of the URL given with -U",
    ),
    (
        r"RMIServer stub[^\n]*Connection refused",
        "{where} refused the connection",
        "is the JVM up, and JMX open on this address and port?",
    ),
    (
        r"Connection refused to host: (?P<host>[^\s;]+)",
        "{where} says that it is at {host}, which refused the connection",
        "set java.rmi.server.hostname there, or use --via rmi",
    ),
    (
        r"No route to host|Network is unreachable|timed out",
        "{where}, or where it says that it is, cannot be reached: {found}",
        "set java.rmi.server.hostname there, or use --via rmi",
    ),
    (
        r"PKIX path|CertPathValidatorException|CertificateException",
        "the certificate of {where} is not to be trusted, says Java",
        'give Java its trust store: --java "java -Djavax.net.ssl.trustStore=FILE"',
    ),
    (
        r"non-JRMP server",
        "{where} does not speak JMX over RMI, or wants TLS for the look-up",
        "which is the JMX port? --via rmi --tls-registry can look up in TLS",
    ),
    (
        r"SSL\w*Exception: (?P<cause>[^\n\"]*)",
        "{where} refused the TLS handshake ({cause})",
        "if it asks for a client certificate, use --via rmi",
    ),
    (
        r"EOFException|Connection reset|Broken pipe",
        "{where} closed the connection without an answer",
        "is it a JMX port, and does it want TLS, or a client's certificate?",
    ),
    (
        r"NoSuchObjectException",
        "{where} speaks RMI, but has no registry",
        "give the JMX port with -P, not the RMI port",
    ),
)  # fmt: skip


class SpoiledError(Exception):
    """One of the queries of a run has made all of it fail; the text says how."""


def checked(ended: Ended, target: Target) -> str:
    """Give the output of a run that went well; raises SpoiledError, and UnreachableError for all others."""
    if ended.status == 0:
        return ended.output
    if "StackOverflowError" in ended.errors:
        raise SpoiledError("jmxquery fails on a composite value with a null in it")
    said = _MESSAGE.search(ended.output)
    if said and '"general-exception"' in ended.output:
        raise SpoiledError(f"jmxquery failed: {withheld.message(said[1])}")
    raise _meaning(ended, target) or _java_failed(ended, said[1] if said else "")


def _meaning(ended: Ended, target: Target) -> UnreachableError | None:
    words = {"where": target.where, "user": target.user, "name": target.name}
    for pattern, what, advice in _MEANINGS:
        if found := re.search(pattern, ended.output + ended.errors):
            told = {name: withheld.message(one) for name, one in found.groupdict().items()}
            return UnreachableError(what.format(**words, **told, found=withheld.message(found[0])), advice)
    return None


def _java_failed(ended: Ended, said: str) -> UnreachableError:
    lines = [line for line in ended.errors.splitlines() if line.strip() and not _ASIDE.match(line)]
    why = said or " ".join(lines[:1]) or f"exit status {ended.status}, and not a word"
    return UnreachableError(
        f"Java did not get an answer: {withheld.message(why)}", "does the command of --java run by hand?"
    )
