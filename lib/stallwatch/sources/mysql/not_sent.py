"""Why the password was not sent, in a sentence: nobody knows who would get it."""

from __future__ import annotations

from stallwatch.sources.mysql.errors import NotSentError
from stallwatch.sources.mysql.log_in import (
    BrokenMethodError,
    ChangedError,
    InsecureError,
    NotProvableError,
    NotProvenError,
    NotRememberedError,
    OpenFolderError,
    OtherUserError,
    StrangerError,
)

_VERIFY = "verify it (--ssl-mode VERIFY_CA --ssl-ca FILE)"
_ALLOW = "allow it with --enable-cleartext-plugin"
_DECOY = "sha256_password"  # MySQL asks for it, or another one, if the user does not exist (9.7.2)


def reason(failure: Exception, where: str, user: str, *, in_tls: bool) -> NotSentError | None:
    """Return the error for a server at ``where``; None: that is not what went wrong."""
    match failure:
        case StrangerError() | OpenFolderError():
            what, advice = _of_socket(failure, where)
        case OtherUserError():
            what = f"{failure} listens at {where}: the password was not sent"
            advice = f"end that program, or, if it is your server, name its socket with -S, or {_VERIFY}"
        case BrokenMethodError():
            hashed = f"as a hash that is as good as readable ({failure})"
            what = f"{where} asks for the password {hashed}: it was not sent"
            advice = "let that user log in another way: ALTER USER ... IDENTIFIED ..."
        case InsecureError():
            how = "over TLS whose certificate was not verified" if in_tls else "without TLS"
            asked = f"asks for the readable password of the user {user} ({failure})"
            what = f"{where} {asked} {how}: it was not sent"
            advice = f"{_VERIFY if in_tls else 'enable TLS on the server'}, or {_ALLOW}"
            if str(failure) == _DECOY:
                advice = f"check that there is such a user, then {advice}"
        case ChangedError():
            what = f"{where} {failure}: the password was not sent"
            advice = _of_change(failure)
        case NotRememberedError():
            unknown = f"whether it is the same server as before is not known ({failure})"
            what = f"{where} asks for the password itself, and {unknown}: it was not sent"
            advice = f"remove that file if it is damaged, or name another --state-dir, or {_VERIFY}"
        case NotProvenError():
            what = f"{where} has not proven that its certificate belongs to the server that has the account"
            advice = "find out what is in between; to trust the certificate, name its authority with --ssl-ca"
        case NotProvableError():
            what = f"the certificate of {where} is self-signed, and the method {failure} cannot prove it here"
            advice = "name the authority of the certificate with --ssl-ca"
        case _:
            return None
    return NotSentError(what, advice)


def _of_socket(failure: StrangerError | OpenFolderError, where: str) -> tuple[str, str]:
    if isinstance(failure, OpenFolderError):
        what = f"the socket {where} was not used: everybody can write to its folder {failure}"
        return what, f"chmod o-w {failure}, or name the socket with -S"
    owners = "none of root, mysql and the owner of the folder"
    what = f"{failure} listens at the socket {where}, {owners}: nothing was sent"
    return what, "end that process; if it is your server, name its socket with -S"


def _of_change(failure: ChangedError) -> str:
    if not failure.remembered:
        return "compare that file with the server's public key"
    if failure.tls_forbidden:
        return f"use TLS, or, if the server no longer has it, remove {failure.remembered}"
    renewed = f"or several share this address: {_VERIFY}, or remove {failure.remembered}"
    return f"find out who answers there; if the server was renewed, {renewed}"
