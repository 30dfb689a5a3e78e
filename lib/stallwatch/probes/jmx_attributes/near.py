"""What a server has that is like what was asked for in vain."""

from __future__ import annotations

from stallwatch.probes.jmx_attributes.naming import familiar, understood
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from stallwatch.sources.jmx import Server

_MEANT, _FEW = 3, 6  # long names that a person still reads
_ALIKE, _SLIP = 0.7, 0.9  # likeness of two words, of 1: so that one may be meant, is surely meant
_TELLING = 4  # letters that a word has in common with another not by chance


def enumerated(words: Sequence[str], last: str = "and", most: int = 12) -> str:
    """Join words to ``a, b and c``; of many only the first."""
    shown = list(words[:most])
    if len(words) > most:
        return f"{', '.join(shown)} and {len(words) - most} more"
    return f" {last} ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


def close(word: str, words: Iterable[str], count: int = _MEANT) -> list[str]:
    """Give up to ``count`` words that are like ``word``, the likest first, upper and lower case being one."""
    from difflib import get_close_matches

    folded: dict[str, list[str]] = {}
    for candidate in words:
        folded.setdefault(candidate.casefold(), []).append(candidate)
    wanted = word.casefold()
    if nearly := get_close_matches(wanted, folded, 1, _SLIP):
        return folded[nearly[0]]
    alike = get_close_matches(wanted, folded, count, _ALIKE)
    holding = sorted((other for other in folded if _holds(other, wanted) or _holds(wanted, other)), key=len)
    return [name for other in dict.fromkeys([*alike, *holding]) for name in folded[other]][:count]


def _holds(word: str, part: str) -> bool:
    return len(part) >= _TELLING and part in word


def beans(server: Server, asked: ObjectName, in_time: Callable[[], bool] = lambda: True) -> str:
    """Say which beans may have been meant by a name or pattern that fits none; nothing without the time."""
    texts = server.names(f"{asked.domain}:*")
    if not in_time():
        return ""
    names = list(understood(texts))
    if not names:
        domains = server.domains()
        near = close(asked.domain, domains)
        meant = f"did you mean the domain {enumerated(near, 'or')}?"
        return meant if near else f"its domains are {enumerated(domains)}"
    longer = ObjectName(asked.domain, asked.properties, open_ended=True)
    if not asked.open_ended and any(longer.matches(name) for name in names):
        return f"names of its kind are longer: {longer} would fit"
    near, others = _alike(asked, names)
    if near:
        return f"did you mean {enumerated(near, 'or')}?"
    return f"there are {enumerated(others, most=_FEW)}"


def _alike(asked: ObjectName, names: list[ObjectName]) -> tuple[list[str], list[str]]:
    """Give the names that may have been meant, and all that have most key properties in common with it."""
    unlike = [[key for key in asked.properties if not _fits(asked, name, key)] for name in names]
    fewest = min(map(len, unlike))
    best = [(name, keys) for name, keys in zip(names, unlike, strict=True) if len(keys) == fewest]
    compared = [key for key in asked.properties if any(key in keys for _, keys in best)]
    alike: dict[str, list[str]] = {}
    for name, _ in best:
        alike.setdefault(_part(name, compared), []).append(familiar(name))
    near = [name for part in close(_part(asked, compared), alike) for name in alike[part]]
    return near[:_MEANT], [familiar(name) for name, _ in best]


def _fits(asked: ObjectName, name: ObjectName, key: str) -> bool:
    one, other = ({key: of.properties.get(key, "")} for of in (asked, name))
    return ObjectName("", one).matches(ObjectName("", other))


def _part(name: ObjectName, keys: Iterable[str]) -> str:
    """Give the values of these keys: all that is compared of a name."""
    return ",".join(name.properties.get(key, "") for key in keys)
