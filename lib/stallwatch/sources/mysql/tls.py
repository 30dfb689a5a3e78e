"""TLS as the operator wants it."""

from __future__ import annotations

import ssl

from stallwatch.sources.encrypted import EncryptedSocket
from stallwatch.sources.mysql.errors import UnreachableError
from stallwatch.sources.mysql.sockets import Bounded
from stallwatch.sources.mysql.target import VERIFY_CA, VERIFY_IDENTITY

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.sources.mysql.target import Tls


class BoundedSocket(Bounded, EncryptedSocket):
    """A socket that encrypts; its waits end when its context says."""

    context: Context

    def left(self) -> float:
        """Seconds that its waits may take."""
        return self.context.left()

    def do_handshake(self, block: bool = False) -> None:  # noqa: FBT001, FBT002 - as it is called by ssl
        """Shake hands, in the time that is left."""
        self.end_in_time()
        super().do_handshake(block)


class Context(ssl.SSLContext):
    """What connections are encrypted with; ``left`` is the time they may take."""

    sslsocket_class = BoundedSocket
    left: Callable[[], float]


def context(tls: Tls, left: Callable[[], float]) -> Context:
    """Make it; a file that cannot be used is an UnreachableError.

    Where no certificate is looked at, none is loaded: the bundle of the system's authorities takes 25 ms.
    """
    made = Context(ssl.PROTOCOL_TLS_CLIENT)
    made.left = left
    made.check_hostname = tls.mode == VERIFY_IDENTITY
    if tls.mode in (VERIFY_CA, VERIFY_IDENTITY):
        _trust(made, tls)
    else:
        made.verify_mode = ssl.CERT_NONE
    if tls.cert:
        try:
            made.load_cert_chain(tls.cert, tls.key, password=_no_password)
        except OSError as error:
            names = " or ".join(name for name in (tls.cert, tls.key) if name)
            raise _unusable("--ssl-cert", names, error) from None
    return made


def _trust(made: Context, tls: Tls) -> None:
    # Python 3.13 wants more of a certificate than there is in those that MySQL makes for itself.
    made.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if not (tls.ca or tls.capath):
        made.load_default_certs()
        return
    try:
        made.load_verify_locations(tls.ca, tls.capath)
    except OSError as error:
        raise _unusable("--ssl-ca", tls.ca or tls.capath or "", error) from None


def _no_password() -> str:
    """Never ask at a terminal for the password of a key: nobody is there."""
    return ""


def _unusable(option: str, path: str, error: OSError) -> UnreachableError:
    why = error.strerror or "there is nothing of that kind in it"
    if isinstance(error, ssl.SSLError):
        why = "no certificate in PEM form, or no key for it that can be used without a password"
    return UnreachableError(f"{option} {path}: {why}", "nothing was asked")
