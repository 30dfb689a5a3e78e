"""Reading java.time's own stream format, class ``java.time.Ser``, which does not have its length."""

from __future__ import annotations

import time
from struct import unpack

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    Take = Callable[[int], bytes]

_QUARTER_HOUR, _IN_SECONDS = 900, 127
_ZONES = (7, 8)  # a region and an offset: they hold no other value


def iso(seconds: int, nanos: int = 0) -> str:
    """Write an instant since 1970 in ISO 8601, in UTC."""
    try:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):
        return f"{seconds} s after 1970"  # Instant.MAX is in the year 1000000000
    return f"{moment}{_fraction(nanos)}Z"


def read(take: Take) -> str | float:
    """Read one value: a Duration in seconds, others as ISO 8601 text; LookupError: of an unknown kind."""
    return _kind(take, _READERS)(take)


def _kind(take: Take, kinds: Container[int]) -> Callable[[Take], str | float]:
    """Read what kind of value follows, and give its reader."""
    kind = take(1)[0]
    if kind not in kinds:
        raise LookupError(f"java.time.Ser of kind {kind}")
    return _READERS[kind]


def _duration(take: Take) -> float:
    seconds, nanos = unpack(">qi", take(12))
    return float(seconds + nanos / 1e9)


def _instant(take: Take) -> str:
    return iso(*unpack(">qi", take(12)))


def _date(take: Take) -> str:
    return "{:04d}-{:02d}-{:02d}".format(*unpack(">ibb", take(6)))


def _time(take: Take) -> str:
    """Read up to the first part that is a complement, below 0: the parts after it are 0."""
    parts: list[int] = []
    while len(parts) < 3:  # noqa: PLR2004
        (part,) = unpack(">b", take(1))
        parts.append(part)
        if part < 0:
            parts[-1] = ~part
            return "{:02d}:{:02d}:{:02d}".format(*parts, *(0,) * (3 - len(parts)))
    (nanos,) = unpack(">i", take(4))
    return "{:02d}:{:02d}:{:02d}".format(*parts) + _fraction(nanos)


def _date_time(take: Take) -> str:
    return f"{_date(take)}T{_time(take)}"


def _zoned(take: Take) -> str:
    moment = f"{_date_time(take)}{_offset(take)}"
    zone = _kind(take, _ZONES)(take)  # any other would be an endless nest
    return moment if moment.endswith(str(zone)) else f"{moment}[{zone}]"


def _region(take: Take) -> str:
    (length,) = unpack(">H", take(2))
    return take(length).decode(errors="replace")


def _offset(take: Take) -> str:
    (quarters,) = unpack(">b", take(1))
    seconds = unpack(">i", take(4))[0] if quarters == _IN_SECONDS else quarters * _QUARTER_HOUR
    if not seconds:
        return "Z"
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{text}:{rest:02d}" if rest else text


def _fraction(nanos: int) -> str:
    return f".{nanos:09d}".rstrip("0") if nanos else ""


_READERS: dict[int, Callable[[Take], str | float]] = {
    1: _duration,
    2: _instant,
    3: _date,
    4: _time,
    5: _date_time,
    6: _zoned,
    7: _region,
    8: _offset,
    9: lambda take: _time(take) + _offset(take),
    10: lambda take: _date_time(take) + _offset(take),
    11: lambda take: str(unpack(">i", take(4))[0]),
    12: lambda take: "{:04d}-{:02d}".format(*unpack(">ib", take(5))),
    13: lambda take: "--{:02d}-{:02d}".format(*unpack(">bb", take(2))),
    14: lambda take: "P{}Y{}M{}D".format(*unpack(">iii", take(12))),
}
