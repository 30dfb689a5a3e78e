"""Values of attributes: one, and all of a JVM over two ways."""

from stallwatch.sources.jmx import JmxError


def value_of(server, name, wanted):
    """Its value; raises the error that says why it cannot be had."""
    (found,) = server.read([(name, [wanted])])
    value = found if isinstance(found, JmxError) else found[wanted]
    if isinstance(value, JmxError):
        raise value
    return value


def compared(rmi, other, *hanging):
    """What each readable attribute was: over RMI, otherwise, and over RMI again; without beans that hang.

    Gives the bean's name, the attribute's, and the three values, for each.
    """
    beans = [bean for bean in rmi.beans() if bean.name not in hanging]
    wanted = [
        (bean.name, [one.name for one in attributes if one.readable])
        for bean, attributes in zip(beans, rmi.describe(beans), strict=True)
    ]
    told = (list(server.read(wanted)) for server in (rmi, other, rmi))
    return [
        (name, attribute, *(values[attribute] for values in found))
        for (name, attributes), *found in zip(wanted, *told, strict=True)
        for attribute in attributes
    ]
