"""Why the password was not sent, in a sentence: nobody knows who would get it."""

from __future__ import annotations

from stallwatch.sources.mysql.errors import NotSentError
from stallwatch.sources.mysql.log_in import (
    BrokenMethodError,
    ChangedError,
    InsecureError,
    NotProvenError,
    NotRememberedError,
    StrangerError,
)

_VERIFY = "verify it (--ssl-mode VERIFY_CA --ssl-ca FILE)"
_ALLOW = "allow it with --enable-cleartext-plugin"
_DECOY = "sha256_password"  # MySQL asks for it, or another one, if the user does not exist (9.7.2)


def reason(failure: Exception, where: str, user: str, *, in_tls: bool) -> NotSentError | None:
    """Say it of a server at ``where``; None: that is not what went wrong."""
    match failure:
        case StrangerError():
            what = f"{failure} listens at the socket {where}, not a MySQL server: nothing was sent"
            advice = "end that process; if it is right, name the socket with -S"
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
                advice = f"is there such a user? If so, {advice}"
        case ChangedError():
            what = f"{where} shows another {failure.what} than at its first use: the password was not sent"
            advice = (
                f"if the server was renewed, remove {failure.remembered}; else find out who answers there"
            )
        case NotRememberedError():
            unknown = f"whether it is the same server as before is not known ({failure})"
            what = f"{where} asks for the whole password, and {unknown}: the password was not sent"
            advice = f"use --state-dir, or {_VERIFY}"
        case NotProvenError():
            what = f"{where} has not proven that its certificate belongs to the server that has the account"
            advice = "find out what is in between; if it is right, name its authority with --ssl-ca"
        case _:
            return None
    return NotSentError(what, advice)
