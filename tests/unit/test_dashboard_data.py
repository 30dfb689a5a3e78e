"""Every panel of the dashboards shows data at the default options, or with the one that its title names."""

import json
import re
import runpy
import shlex
from pathlib import Path

import pytest
from generators import panels
from recorded_jvm import RecordedJvm
from stallwatch.declared import Label
from stallwatch.sources import recording

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded"
LINE = re.compile(r"^([A-Z_]+) (?:OK|WARNING|CRITICAL|UNKNOWN) - .* \| (.+)$", re.MULTILINE)
# Where a plugin looks, where it keeps its state, and thresholds: none of these adds a label to the perfdata.
ADD_NOTHING = {"-H", "-P", "-u", "-p", "-d", "-v", "-w", "-c"}
# Options without which a plugin does nothing.
NEEDED = {"jmx": {"-O", "-A", "-K", "--of", "--unit"}, "ndb_nodes": {"--restarted"}}
PANELS = [panel for row in panels.rows().values() for panel in row]
OPTION = re.compile(r"\((--[a-z-]+)\)$")  # at the end of a title: without it the panel is empty


def commands(path, text):
    """The words behind the plugins that printed this; none of those whose recording has no command."""
    recording = path.parents[1] / f"{path.stem}.json"
    runs = json.loads(recording.read_text()).get("runs", ()) if recording.exists() else ()
    shown = (shlex.split(command) for command in re.findall(r"^\$ (.+)", text, re.MULTILINE))
    return {plugin: words for plugin, *words in [*([run["plugin"], *run["options"]] for run in runs), *shown]}


def printed():
    """The labels that recorded runs printed at the default options, by plugin."""
    found = {}
    for path in RECORDED.rglob("*.txt"):
        text = path.read_text(errors="replace")
        given = commands(path, text)
        for title, numbers in LINE.findall(text):
            name = title.lower()
            options = {word for word in given.get(f"check_{name}", ()) if re.match("-[^0-9]", word)}
            if options <= ADD_NOTHING | NEEDED.get(name, set()):
                found.setdefault(name, set()).update(one.partition("=")[0] for one in numbers.split())
    return found


PRINTED = printed()


def of_pools(tmp_path, monkeypatch):
    """The labels that check_jmx_thread_pools --pool prints at a second look."""
    plugin = runpy.run_path(str(ROOT / "plugins" / "check_jmx_thread_pools"))
    for name in ("cassandra-5.0.4", "cassandra-5.0.4-requests-pending"):
        jvm = RecordedJvm.load(RECORDED / "jmx_thread_pools" / f"{name}.json")
        words = ["-P", "7199", "--pool", "Native.*", "--state-dir", str(tmp_path)]
        with recording.use(jvm):
            _, text = plugin["check"].run(plugin["findings"], words)
    return {number.partition("=")[0] for number in LINE.match(text)[2].split()}


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_a_panel_shows_data_at_the_options_of_its_title(panel, tmp_path, monkeypatch):
    """One of its labels does; others may be of rarer things, as the channels of a replica."""
    option = OPTION.search(panel.title)
    for words in panel.series:
        name, *labels = words.split()
        shown = PRINTED[name]
        if option:
            assert option[1] == "--pool"
            shown = of_pools(tmp_path, monkeypatch)
        assert any(Label(label).fits(one) for label in labels for one in shown), f"{words} of check_{name}"
