"""What may have been meant by a bean or an attribute that is not there.

Cassandra's thread pools have names in articles and old monitoring configurations that they have no more. Up
to 2.0 a pool was a bean ``org.apache.cassandra.internal:type=POOL`` (or ``request``, ``transport``) with an
attribute for each number. Since 1.2 each number is a bean of its own in ``org.apache.cassandra.metrics``, and
later versions have only those. Pools were renamed, too: with the memtable and counter rewrites of 2.1, and
with the new hints of 3.0. Names: JMXEnabledThreadPoolExecutorMBean of 1.0, ThreadPoolMetrics of 5.0.
"""

from __future__ import annotations

import re

from stallwatch.sources.jmx.errors import JmxError, NoSuchAttributeError
from stallwatch.sources.jmx.object_name import ObjectName, understood
from stallwatch.startup import TYPE_CHECKING
from stallwatch.words import listed_to_fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stallwatch.probes.jmx.model import Sought
    from stallwatch.sources.jmx import Server

_ENOUGH = 100  # beans whose attributes are looked through for one that was meant
_MEANT = 3  # names of which one may be meant
_ALIKE, _SLIP = 0.7, 0.9  # likeness of two words, of 1: so that one may be meant, is surely meant
_TELLING = 4  # letters that a word has in common with another not by chance
_METRICS = "org.apache.cassandra.metrics"
_GONE = "check that the application is deployed and started (--list WORD shows what is there)"
_OLD = re.compile(r"org\.apache\.cassandra\.(internal|request|transport)")
_POOLS = {
    "FlushWriter": "MemtableFlushWriter",
    "MemtablePostFlusher": "MemtablePostFlush",
    "ReplicateOnWriteStage": "CounterMutationStage",
    "commitlog_archiver": "CommitLogArchiver",
    "HintedHandoff": "HintsDispatcher",
}
# The metric's name and the attribute that has its number: a gauge has a value, a counter a count.
_NUMBERS = {
    "ActiveCount": ("ActiveTasks", "Value"),
    "PendingTasks": ("PendingTasks", "Value"),
    "CompletedTasks": ("CompletedTasks", "Value"),
    "CurrentlyBlockedTasks": ("CurrentlyBlockedTasks", "Count"),
    "TotalBlockedTasks": ("TotalBlockedTasks", "Count"),
}


def hint(server: Server, sought: Sought, in_time: Callable[[], bool]) -> str:
    """Return what may have been meant, while there is time for it; nothing if that cannot be found out."""
    if not in_time():
        return ""
    try:
        return _hint(server, sought, in_time)
    except JmxError:  # a user may be allowed to read a bean, and not to search for others
        return ""


def _hint(server: Server, sought: Sought, in_time: Callable[[], bool]) -> str:
    asked, attribute, error = sought
    if advice := _old_spelling(server, asked, attribute) or _not_yet(asked, attribute):
        return advice
    if isinstance(error, NoSuchAttributeError):
        return _attributes(server, asked, attribute)
    return beans(server, asked, in_time, _GONE)


def _not_yet(name: ObjectName, attribute: str) -> str:
    """Return what a pool of Cassandra is called today, and that it has not been needed yet.

    Stage.executor makes a pool when it is first needed (Cassandra 4.0 and later).
    """
    found = successor(name, attribute)
    if found and _is_renamed(name):
        return f"today that is {found[1]} of {found[0]}, which is there from the pool's first task on"
    return ""


def _attributes(server: Server, asked: ObjectName, attribute: str) -> str:
    """Return which attributes there are, those that may have been meant if there are any."""
    described = server.describe(server.beans(str(asked))[:_ENOUGH])
    names = {one.name for found in described if isinstance(found, list) for one in found if one.readable}
    whole, _, key = attribute.replace("/", ".").partition(".")
    if key and whole in names:
        return f"write -A {whole} -K {key}"
    if alike := close(attribute, sorted(names)):
        return suggestion(alike)
    return listed_to_fit("there are ", sorted(names)) if names else "it has none that can be read"


def _old_spelling(server: Server, name: ObjectName, attribute: str) -> str:
    """Return what a misspelled attribute of an old bean of Cassandra is called and where it is today."""
    for meant in close(attribute, _old_attributes(name), 1):
        found = successor(name, meant)
        if meant != attribute and found and server.names(str(found[0])):
            return f"did you mean {meant}? This Cassandra has it as -O {found[0]} -A {found[1]}"
    return ""


def suggestion(names: list[str], kind: str = "") -> str:
    """Ask whether one of these was meant."""
    return listed_to_fit(f"did you mean {kind}", names, "or", "?")


def close(word: str, words: Iterable[str], count: int = _MEANT) -> list[str]:
    """Return up to ``count`` words like ``word``, the likest first, upper and lower case being one."""
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


def beans(
    server: Server, asked: ObjectName, in_time: Callable[[], bool] = lambda: True, gone: str = ""
) -> str:
    """Return which beans may have been meant by a name or pattern that fits none; nothing without time.

    ``gone`` is the next step if no domain is like that of the name; without it, all domains are shown.
    """
    texts = server.names(f"{asked.domain}:*")
    if not in_time():
        return ""
    names = list(understood(texts))
    if not names:
        domains = server.domains()
        if near := close(asked.domain, domains):
            return suggestion(near, "the domain ")
        return gone or listed_to_fit("its domains are ", domains)
    longer = ObjectName(asked.domain, asked.properties, open_ended=True)
    if not asked.open_ended and any(longer.matches(name) for name in names):
        return f"names of its kind are longer: {longer} would fit"
    meant, others = _alike(asked, names)
    if meant:
        return suggestion(meant)
    return listed_to_fit("there are ", others)


def _alike(asked: ObjectName, names: list[ObjectName]) -> tuple[list[str], list[str]]:
    """Return the names that may have been meant, and all that have most key properties in common with it."""
    unlike = [[key for key in asked.properties if not _fits(asked, name, key)] for name in names]
    fewest = min(map(len, unlike))
    best = [(name, keys) for name, keys in zip(names, unlike, strict=True) if len(keys) == fewest]
    compared = [key for key in asked.properties if any(key in keys for _, keys in best)]
    alike: dict[str, list[str]] = {}
    for name, _ in best:
        alike.setdefault(_part(name, compared), []).append(name.familiar)
    near = [name for part in close(_part(asked, compared), alike) for name in alike[part]]
    return near[:_MEANT], [name.familiar for name, _ in best]


def _fits(asked: ObjectName, name: ObjectName, key: str) -> bool:
    one, other = ({key: of.properties.get(key, "")} for of in (asked, name))
    return ObjectName("", one).matches(ObjectName("", other))


def _part(name: ObjectName, keys: Iterable[str]) -> str:
    """Return the values of these keys: all that is compared of a name."""
    return ",".join(name.properties.get(key, "") for key in keys)


def _old_attributes(name: ObjectName) -> tuple[str, ...]:
    """Return what attributes a bean of that name had, if it is an old name of a thread pool."""
    return tuple(_NUMBERS) if _OLD.fullmatch(name.domain) and list(name.properties) == ["type"] else ()


def _is_renamed(name: ObjectName) -> bool:
    """Whether it is the bean of a pool that has another name today."""
    return name.properties.get("scope" if name.domain == _METRICS else "type") in _POOLS


def successor(name: ObjectName, attribute: str) -> tuple[ObjectName, str] | None:
    """Return the bean and the attribute that took the place of an old one."""
    if attribute in _old_attributes(name):
        path, pool = name.domain.rpartition(".")[2], name.properties["type"]
        metric, attribute = _NUMBERS[attribute]
    elif name.domain == _METRICS and _is_renamed(name):
        path, pool, metric = (name.properties.get(key, "") for key in ("path", "scope", "name"))
    else:
        return None
    scope = _POOLS.get(pool, pool)
    properties = {"type": "ThreadPools", "path": path, "scope": scope, "name": metric}
    return ObjectName(_METRICS, properties), attribute
