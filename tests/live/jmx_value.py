"""The value of one attribute of a bean."""

from stallwatch.sources.jmx import JmxError


def value_of(server, name, wanted):
    """Its value; raises the error that says why it cannot be had."""
    (found,) = server.read([(name, [wanted])])
    value = found if isinstance(found, JmxError) else found[wanted]
    if isinstance(value, JmxError):
        raise value
    return value
