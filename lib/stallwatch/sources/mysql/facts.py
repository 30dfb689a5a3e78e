"""What an exception of PyMySQL, of the system or of TLS shows, whichever of them wraps the others."""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.line import shorten
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.pymysql import err

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 200  # bytes of what a server sends
_OURS = range(2000, 3000)  # CR_...: errors that PyMySQL itself has found
_LOST = (2006, 2013)  # it could not be sent, it did not come


class Facts:
    """What is known of a failure. ``said`` is as it came, to be looked at; ``quoted`` is for sentences."""

    def __init__(self, failure: Exception) -> None:
        causes = [*_chain(failure)]
        arguments = failure.args or (0,)
        by_pymysql = type(failure).__module__.startswith("pymysql.")
        # PyMySQL 1.0.2 reads numbers above 32767 as negative ones.
        self.number = arguments[0] & 0xFFFF if by_pymysql and isinstance(arguments[0], int) else 0
        self._whole = " ".join(str(arguments[-1])[: 4 * _LONGEST].split())
        self.said = shorten(self._whole, _LONGEST).rstrip(".")
        self.by_server = self.number > 0 and self.number not in _OURS
        self.late = any(isinstance(one, TimeoutError) for one in causes)
        self.tls = next((one for one in causes if type(one).__module__ == "ssl"), None)
        broken = any(isinstance(one, (OSError, err.InterfaceError)) for one in causes)
        self.lost = self.number in _LOST or broken

    def quoted(self, *beside: str) -> str:
        """Give what is said for a sentence that also has ``beside``, as the statement that was asked."""
        return shorten(withheld.message(self._whole, *beside), _LONGEST).rstrip(".")


def _chain(failure: BaseException | None) -> Iterator[BaseException]:
    """Give an exception and those that it was raised for."""
    seen: list[BaseException] = []
    while failure is not None and failure not in seen:
        seen.append(failure)
        yield failure
        failure = failure.__cause__ or failure.__context__
