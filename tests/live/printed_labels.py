"""What stands in the perfdata, compared with what the plugins declare of it."""

import re
import sys
from functools import cache
from pathlib import Path

from stallwatch.declared import label_of

sys.path.append(str(Path(__file__).parents[2] / "contrib"))
from generators.plugins import plugins

ITEM = re.compile(r"([A-Za-z0-9_.]+)=-?[0-9.]+([sBc%]?)(?:;[0-9.-]*)*")
OPEN = {
    "{quantity}",
    "{variable}",
    "{variable}_per_{variable}",
}  # whose units are the user's and the server's


@cache
def labels():
    """What the perfdata of each plugin are called."""
    return {plugin.name: plugin.labels for plugin in plugins()}


def known(plugin, item):
    """The label that an item of the perfdata has; an item that is none, or has another unit, is an error."""
    parts = ITEM.fullmatch(item)
    assert parts, f"{item} of {plugin} is no perfdata"
    found = label_of(labels().get(plugin, ()), parts[1])
    assert found, f"{item} of {plugin} is not declared"
    assert found.unit == parts[2] or found.name in OPEN, f"{item} of {plugin} is declared in {found.unit!r}"
    return found
