"""Entries of a site's own for the table of pools: the file of --pools, in TOML.

Each ``[[pool]]`` sets in which MBeans such pools are, and which of their attributes are which numbers.
"""

from __future__ import annotations

from stallwatch.causes import Kind
from stallwatch.line import Forms
from stallwatch.probes.jmx_thread_pools.families.form import DUMP, Bean, Family, Meaning
from stallwatch.probes.jmx_thread_pools.model import NO_USE, NUMBERS
from stallwatch.sources.jmx.object_name import ObjectName
from stallwatch.startup import TYPE_CHECKING
from stallwatch.units import NotUnderstoodError, UnusableFileError
from stallwatch.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LARGEST = 1 << 16  # bytes
_TEXTS = ("name", "object", "why", "advice", "lends")
_FLAGS = ("serves", "drains")
_KEYS = (*_TEXTS, *NUMBERS, *_FLAGS)
_WHY = Forms("its threads or connections are all in use", "all are in use")


def families(path: str) -> list[Family]:
    """Read the file; what is wrong in it is an UnusableFileError that names the entry."""
    from stallwatch.sources import given_file

    try:
        octets, _ = given_file.content(path, _LARGEST + 1)
        return [*_entries(octets)]
    except OSError as error:
        raise UnusableFileError(f"--pools {path}: {error.strerror or error}") from None
    except (ValueError, NotUnderstoodError, RecursionError) as error:  # of UTF-8 or TOML, too
        raise UnusableFileError(f"--pools {path}: {error}") from None


def _entries(octets: bytes) -> Iterator[Family]:
    import tomllib

    if len(octets) > _LARGEST:
        raise NotUnderstoodError("the file is larger than 64 KiB")
    read = tomllib.loads(octets.decode())
    entries = read.get("pool")
    if read.keys() != {"pool"} or not isinstance(entries, list) or not entries:
        raise NotUnderstoodError("the file must consist of [[pool]] entries")
    for number, entry in enumerate(entries, 1):
        try:
            yield _family(entry)
        except NotUnderstoodError as error:
            raise NotUnderstoodError(f"[[pool]] {number}: {error}") from None


def _family(entry: dict[str, Any]) -> Family:
    if unknown := [key for key in entry if key not in _KEYS]:
        raise NotUnderstoodError(f"unknown key {unknown[0]} (known: {listed(_KEYS, len(_KEYS))})")
    for key, value in entry.items():
        wanted = bool if key in _FLAGS else str
        if not isinstance(value, wanted) or value == "":
            raise NotUnderstoodError(f"{key} must be {'true or false' if wanted is bool else 'text'}")
    numbers = {key: value for key, value in entry.items() if key in NUMBERS}
    if missing := [key for key in ("name", "object") if key not in entry]:
        raise NotUnderstoodError(f"{missing[0]} is missing")
    if not numbers.keys() - NO_USE:
        useful = [name for name in NUMBERS if name not in NO_USE]
        raise NotUnderstoodError(f"needs one of {listed(useful, len(useful), 'or')}")
    domain, properties = _places(entry["object"])
    name = ObjectName.parse(f"{domain}:{properties.replace('{pool}', '*').replace('...', '*')}")
    lent, serves, drains = entry.get("lends", ""), entry.get("serves", False), entry.get("drains", False)
    kind = Kind.CONNECTIONS_HELD if lent else Kind.BLOCKED_TASKS if drains else Kind.THREADS_EXHAUSTED
    return Family(
        entry["name"],
        "the file of --pools",
        queries=(str(name),),
        beans=(Bean(properties, "{pool}" if "{pool}" in properties else entry["name"], **numbers),),
        meanings=(Meaning("*", kind, entry.get("why", _WHY), entry.get("advice", DUMP), serves=serves),),
        busy=(f"{lent} in use", f"{lent}s in use") if lent else Family._field_defaults["busy"],
        waiting=(f"thread waits for a {lent}", f"threads wait for a {lent}")
        if lent
        else Family._field_defaults["waiting"],
        lends=bool(lent),
        drains=drains,
    )


def _places(text: str) -> tuple[str, str]:
    """Return domain and properties of an object's form, as ``Bean`` has them."""
    domain, _, properties = text.partition(":")
    if text.count("{pool}") > 1 or "{pool}" in domain:
        raise NotUnderstoodError(f"object {text}: {{pool}} may stand once, in the value of a key property")
    if properties.endswith(",*"):
        properties = properties.removesuffix("*") + "..."
    return domain, properties
