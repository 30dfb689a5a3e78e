"""MySQL's protocol as PyMySQL speaks it, without what PyMySQL loads for the sake of others.

Only this module has the reduced PyMySQL: other code that imports pymysql gets the whole package.
Written for PyMySQL 1.0.2 (Debian 12) to 1.2.4.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import stallwatch.startup.hashing  # noqa: F401 - before PyMySQL wants them
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.imports import without

__all__ = [
    "CLIENT",
    "FIELD_TYPE",
    "SERVER_STATUS",
    "FieldDescriptorPacket",
    "MysqlPacket",
    "OKPacketWrapper",
    "connections",
    "err",
]

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_TIMES = ("Date", "DateFromTicks", "Time", "TimeFromTicks", "Timestamp", "TimestampFromTicks")
_INSTEAD = {
    "socket": SimpleNamespace(error=OSError),
    "traceback": SimpleNamespace(format_exc=str),
    "pymysql.converters": SimpleNamespace(through=None),
    "pymysql.cursors": SimpleNamespace(Cursor=None),
    "pymysql.optionfile": SimpleNamespace(Parser=None),
    "pymysql.times": SimpleNamespace(**dict.fromkeys(_TIMES)),
}


def _taken() -> dict[str, ModuleType]:
    """Take what is loaded of PyMySQL away from those who import it."""
    names = [name for name in sys.modules if name.partition(".")[0] == "pymysql"]
    return {name: sys.modules.pop(name) for name in names}


@contextmanager
def _apart() -> Iterator[None]:
    """Let PyMySQL be imported beside what others have loaded of it, or will."""
    others = _taken()
    try:
        yield
    finally:
        _taken()
        sys.modules.update(others)


with _apart():
    try:
        with without("cryptography", "getpass", "ssl", **_INSTEAD):
            from pymysql import _auth, connections, err
            from pymysql.constants import CLIENT, FIELD_TYPE, SERVER_STATUS
            from pymysql.protocol import FieldDescriptorPacket, MysqlPacket, OKPacketWrapper
    except (ImportError, AttributeError):  # a later one, which asks more of what was left out
        _taken()
        from pymysql import _auth, connections, err
        from pymysql.constants import CLIENT, FIELD_TYPE, SERVER_STATUS
        from pymysql.protocol import FieldDescriptorPacket, MysqlPacket, OKPacketWrapper


def _encrypted(password: bytes, salt: bytes, public_key: bytes) -> bytes:
    """Encrypt as PyMySQL does; RuntimeError: it takes Python's cryptography, whose import takes long."""
    from pymysql._auth import sha2_rsa_encrypt

    octets: bytes = sha2_rsa_encrypt(password, salt, public_key)
    return octets


_auth.sha2_rsa_encrypt = _encrypted
