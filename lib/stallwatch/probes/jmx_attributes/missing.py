"""Why a bean or an attribute is not there, and what may have been meant."""

from __future__ import annotations

from stallwatch.probes.jmx_attributes import near, renamed
from stallwatch.probes.jmx_attributes.absent import AbsentError
from stallwatch.sources.jmx.errors import JmxError, NoSuchAttributeError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from stallwatch.probes.jmx_attributes.reader import Server
    from stallwatch.sources.jmx.object_name import ObjectName

_ENOUGH = 100  # beans whose attributes are looked through for one that was meant


def explained(
    server: Server, asked: ObjectName, attribute: str, error: JmxError | None = None
) -> AbsentError:
    """Explain the error of the first bean that was asked, or without one why a pattern fits none."""
    what = error.what if error else f"no MBean at {server.where} matches {asked}"
    if asked.is_pattern and error:
        what = f"no MBean at {server.where} that matches {asked} has an attribute {attribute}"
    advice = _old_spelling(server, asked, attribute) or _not_yet(asked, attribute)
    if not advice and isinstance(error, NoSuchAttributeError):
        advice = _attributes(server, asked, attribute)
    return AbsentError(what, advice or near.beans(server, asked))


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
