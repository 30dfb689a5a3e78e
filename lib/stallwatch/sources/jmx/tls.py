"""TLS as the operator wants it, and what its failures mean."""

from __future__ import annotations

import ssl

from stallwatch.sources.encrypted import EncryptedSocket
from stallwatch.sources.given_file import having_data, unusable
from stallwatch.sources.jmx.errors import UnreachableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from stallwatch.sources.jmx.target import Tls


# X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH of OpenSSL
_EXPIRED, _MISMATCH = 10, (62, 64)
HUNG_UP = ssl.SSLEOFError, ssl.SSLZeroReturnError
_OTHER_WORDS = ("wrong version number", "record layer failure", "http request")
_NO_TLS = (*_OTHER_WORDS, "eof")  # a JVM that does not speak TLS closes the connection at our first words
_EXPORT = "make one with keytool -exportcert -rfc -alias NAME -keystore FILE"
_PORTS = "check that this is the right port, and --tls-registry and --rmi-port"
_NOT_LET_IN = ("certificate required", "bad certificate", "handshake failure", "unknown ca")


def context(tls: Tls) -> ssl.SSLContext:
    """Make what connections are encrypted with; a file that cannot be used is an UnreachableError."""
    if tls.insecure and not tls.ca_file:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    else:
        made = _trusting(tls.ca_file)
    made.sslsocket_class = EncryptedSocket
    if tls.insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if tls.client_cert:
        try:
            with having_data(tls.client_cert, tls.client_key):
                made.load_cert_chain(tls.client_cert, tls.client_key, password=_no_password)
        except OSError as error:
            raise unusable(UnreachableError, "--client-cert", tls.client_cert, error) from None
    return made


def _trusting(ca_file: str | None) -> ssl.SSLContext:
    """Make one that trusts these authorities, or those of this host: the 144 of Debian 12 take 20 ms."""
    try:
        with having_data(ca_file):
            return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        failure = unusable(UnreachableError, "--ca-file", ca_file or "", error)
        if isinstance(error, ssl.SSLError):
            failure.advice = _EXPORT
        raise failure from None


def _remedy(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code == _EXPIRED:
        return "renew it"
    if error.verify_code in _MISMATCH:
        return "make a certificate that has this name (subjectAltName), or use a name that it has"
    return "--ca-file must have the certificate of its authority, or its own"


def _no_password() -> str:
    """Never ask at a terminal for the password of a key: nobody is there."""
    return ""


def is_none(error: OSError) -> bool:
    """Whether what the peer sent in the handshake is no TLS; that it hung up proves nothing."""
    return any(words in _reason(error) for words in _OTHER_WORDS)


def _reason(error: OSError) -> str:
    return (getattr(error, "reason", None) or str(error)).replace("_", " ").lower()


def explained(error: OSError, where: str, plain: str = _PORTS) -> UnreachableError:
    """Return what a failure of TLS, or a connection that is reset in its handshake, means for the operator.

    ``plain`` is the advice where the peer does not speak TLS.
    """
    reason = _reason(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message.rstrip(".")
        return UnreachableError(f"the certificate of {where} is not to be trusted: {why}", _remedy(error))
    if isinstance(error, ConnectionError) or any(words in reason for words in _NO_TLS):
        return UnreachableError(f"{where} does not speak TLS", plain)
    if any(words in reason for words in _NOT_LET_IN):
        return UnreachableError(
            f"{where} refused the TLS handshake ({reason})",
            "if it asks for a client certificate, give it with --client-cert and --client-key",
        )
    return UnreachableError(f"no TLS connection with {where}: {reason}")
