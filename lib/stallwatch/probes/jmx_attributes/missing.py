"""What may have been meant by a bean or an attribute that is not there."""

from __future__ import annotations

from stallwatch.probes.jmx_attributes import near, renamed
from stallwatch.sources.jmx.errors import JmxError, NoSuchAttributeError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from stallwatch.probes.jmx_attributes.absent import Sought
    from stallwatch.sources.jmx import Server
    from stallwatch.sources.jmx.object_name import ObjectName

_ENOUGH = 100  # beans whose attributes are looked through for one that was meant


def hint(server: Server, sought: Sought, in_time: Callable[[], bool]) -> str:
    """Say what may have been meant, while there is time for it; nothing if that cannot be found out."""
    if not in_time():
        return ""
    try:
        return _hint(server, sought, in_time)
    except JmxError:  # a user may be allowed to read a bean, and not to search for others
        return ""


def _hint(server: Server, sought: Sought, in_time: Callable[[], bool]) -> str:
    asked, attribute, error = sought
    advice = _old_spelling(server, asked, attribute) or _not_yet(asked, attribute)
    if not advice and isinstance(error, NoSuchAttributeError):
        return _attributes(server, asked, attribute)
    return advice or near.beans(server, asked, in_time)


def _not_yet(name: ObjectName, attribute: str) -> str:
    """Say what a pool of Cassandra is called today, and that it has not been needed yet.

    Stage.executor makes a pool when it is first needed (Cassandra 4.0 and later).
    """
    found = renamed.successor(name, attribute)
    if found and renamed.is_renamed(name):
        return f"today that is {found[1]} of {found[0]}, which is there from the pool's first task on"
    return ""


def _attributes(server: Server, asked: ObjectName, attribute: str) -> str:
    """Say which attributes there are, those that may have been meant if there are any."""
    described = server.describe(server.beans(str(asked))[:_ENOUGH])
    names = {one.name for found in described if isinstance(found, list) for one in found if one.readable}
    whole, _, key = attribute.replace("/", ".").partition(".")
    if key and whole in names:
        return f"say -A {whole} -K {key}"
    if alike := near.close(attribute, sorted(names)):
        return f"did you mean {near.enumerated(alike, 'or')}?"
    return f"there are {near.enumerated(sorted(names))}" if names else "it has none that can be read"


def _old_spelling(server: Server, name: ObjectName, attribute: str) -> str:
    """Say what a misspelled attribute of an old bean of Cassandra is called and where it is today."""
    for meant in near.close(attribute, renamed.attributes(name), 1):
        found = renamed.successor(name, meant)
        if meant != attribute and found and server.names(str(found[0])):
            return f"did you mean {meant}? This Cassandra has it as -O {found[0]} -A {found[1]}"
    return ""
