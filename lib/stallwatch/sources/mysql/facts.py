"""What an exception of PyMySQL, of the system or of TLS tells, whichever of them wraps the others."""

from __future__ import annotations

from stallwatch.line import masked, shorten
from stallwatch.sources.mysql.protocol import err

TYPE_CHECKING = False  # typing itself costs every check 3 ms
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 200  # bytes of what a server says
_OURS = range(2000, 3000)  # CR_...: errors that PyMySQL itself has found
_LOST = (2006, 2013)  # it could not be sent, it did not come


class Facts:
    """What is known of a failure; a password is taken out of it before anything is cut."""

    def __init__(self, failure: Exception, password: str | None = None) -> None:
        causes = [*_chain(failure)]
        arguments = failure.args or (0,)
        by_pymysql = type(failure).__module__.startswith("pymysql.")
        # PyMySQL 1.0.2 reads numbers above 32767 as negative ones.
        self.number = arguments[0] & 0xFFFF if by_pymysql and isinstance(arguments[0], int) else 0
        said = masked(str(arguments[-1]), filter(None, [password]))[: 4 * _LONGEST]
        self.said = shorten(" ".join(said.split()), _LONGEST).rstrip(".")
        self.by_server = self.number > 0 and self.number not in _OURS
        self.late = any(isinstance(one, TimeoutError) for one in causes)
        self.tls = next((one for one in causes if type(one).__module__ == "ssl"), None)
        broken = any(isinstance(one, (OSError, err.InterfaceError)) for one in causes)
        self.lost = self.number in _LOST or broken


def _chain(failure: BaseException | None) -> Iterator[BaseException]:
    """Give an exception and those that it was raised for."""
    seen: list[BaseException] = []
    while failure is not None and failure not in seen:
        seen.append(failure)
        yield failure
        failure = failure.__cause__ or failure.__context__
