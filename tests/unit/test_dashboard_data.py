"""Every panel of the dashboards shows data at the default options, in what recorded plugins printed."""

import json
import re
import shlex
from pathlib import Path

import pytest
from generators import panels
from stallwatch.declared import Label

TESTS = Path(__file__).parents[1]
RUNS = sorted((TESTS / "upgrade" / "runs").glob("*.json"))
# Where a plugin looks, where it keeps its state, and thresholds: none of these adds a label to the perfdata.
ADD_NOTHING = {"-H", "-P", "-u", "-p", "-d", "--directory", "--state-dir", "-w", "-c", "--log", "--output"}
# Options without which a plugin does nothing; a panel with an option in its title needs that one.
NEEDED = {"jmx": {"-O", "-A", "-K", "--of", "--unit"}, "ndb_nodes": {"--restarted"}}
PANELS = [panel for row in panels.rows().values() for panel in row]


def printed():
    """The labels that recorded runs printed, by plugin and option besides the usual ones."""
    found = {}
    for run in (run for path in RUNS for run in json.loads(path.read_text())):
        plugin, *words = shlex.split(run["command"])
        name = plugin.removeprefix("check_")
        options = {word for word in words if re.match("-[^0-9]", word)} - ADD_NOTHING
        options -= NEEDED.get(name, set())
        _, _, numbers = run["output"][0].strip().partition(" | ") if run["output"] else ("", "", "")
        labels = found.setdefault(name, {}).setdefault(frozenset(options), set())
        labels |= {number.partition("=")[0] for number in numbers.split()}
    return found


PRINTED = printed()


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_a_panel_shows_data_at_the_default_options(panel):
    """One of its labels does; others may be of rarer things, as the channels of a replica."""
    option = re.search(r"\((--[a-z-]+)\)$", panel.title)
    given = frozenset({option[1]} if option else ())
    for words in panel.series:
        name, *labels = words.split()
        shown = PRINTED[name].get(given, set())
        assert any(Label(label).fits(one) for label in labels for one in shown), f"{words} of check_{name}"
