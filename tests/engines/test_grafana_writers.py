"""What the dashboards ask for is where a real Icinga has written it."""

import fnmatch
import json
import re
from pathlib import Path

import engine_user
import influx_queries
import pytest
from generators import grafana, icinga2, panels
from generators.plugins import plugins
from icinga import Icinga
from icinga_writers import Writers
from installing import installable

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = {plugin.name: plugin for plugin in plugins()}
DASHBOARDS = {path.stem: json.loads(text) for path, text in grafana.files([*PLUGINS.values()]).items()}
EXAMPLES = {
    "{node}": "3", "{channel}": "eu.west_354201", "{disk}": "vda", "{bond}": "bond0.100",
    "{pool}": "http_nio_127.0.0.1_8080_3f2a1b",
    "{quantity}": "Memory.HeapMemoryUsage.used", "{variable}": "Questions",
}  # fmt: skip
SERVICE = """
object CheckCommand "{command}" {{ command = [ "/bin/cat", "{file}" ] }}
object Service "a {name}" {{
  host_name = "db1.example"
  check_command = "{command}"
}}
"""
# The globs, what is left out, and the levels of a name.
BY_NODE = re.compile(
    r"aliasByNode\((?:exclude\()?(icinga2\.(?:[^,{]|\{[^}]+\})+?)"
    r"(?:, '(.+)'\))?, 1, 3, ([0-9, ]+)\)"
)
HOST = 'object Host "db1.example" { check_command = "dummy" }\n'
COMMANDS = {plugin.name: icinga2.names(plugin) for plugin in PLUGINS.values()}


def example(label):
    """A label as it would be printed."""
    for place, word in EXAMPLES.items():
        label = label.replace(place, word)
    return label


def printed(plugin):
    """All labels that a plugin may print, those that panels name among them."""
    named = [words.split() for row in panels.rows().values() for panel in row for words in panel.series]
    wanted = [label for name, *labels in named if name == plugin.name for label in labels]
    return list(dict.fromkeys(map(example, [*(one.name for one in plugin.labels), *wanted])))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The lines for InfluxDB and for Graphite of every label of every plugin."""
    with installable(), engine_user.open_folder() as folder:
        services = ""
        for plugin in PLUGINS.values():
            items = " ".join(f"{label}={number}" for number, label in enumerate(printed(plugin), 1))
            path = folder / f"{plugin.name}.txt"
            path.write_text(f"{plugin.name.upper()} OK - fine | {items}\n")
            path.chmod(0o644)
            for command in COMMANDS[plugin.name]:
                services += SERVICE.format(command=command, file=path, name=command)
        with (
            Writers() as writers,
            Icinga(folder / "icinga", objects=HOST + services + writers.objects) as icinga,
        ):
            writers.wait_for(icinga)
            icinga.check_all([f"db1.example!a {name}" for names in COMMANDS.values() for name in names])
            count = sum(len(printed(plugin)) * len(COMMANDS[plugin.name]) for plugin in PLUGINS.values())
            yield {to: writers.written(to, "", count) for to in ("influxdb", "graphite")}


def expected(panel):
    """What a panel is to show: command, by each of its names, and label."""
    named = [words.split() for words in panel.series]
    return sorted(
        (command, example(label)) for name, *labels in named for label in labels for command in COMMANDS[name]
    )


def pairs():
    """Each panel of the catalogue, with what became of it in both dashboards."""
    for row in panels.rows().values():
        yield from row


def found_in_influxdb(target, lines):
    for point in influx_queries.found(target["query"], lines):
        assert point.tags["hostname"] == "db1.example"
        assert point.tags["service"].startswith("a\\ ")
        yield point.measurement, point.tags["metric"]


def found_in_graphite(target, lines):
    call = re.fullmatch(BY_NODE, target["target"])
    assert call, target
    glob, besides, levels = call.groups()
    asked = glob.replace("$hostname", "db1_example").split(".")
    commands = asked[4].strip("{}").split(",")
    asked[4] = "*"
    for path in (line.split(" ")[0] for line in lines):
        words = path.split(".")
        fits = len(words) == len(asked) and words[4] in commands
        fits = fits and all(map(fnmatch.fnmatchcase, words, asked))
        if fits and not (besides and re.search(besides, path)):
            assert words[1] == "db1_example"
            assert words[3].startswith("a_")
            yield words[4], ".".join(words[int(level)] for level in levels.split(", "))


@pytest.mark.parametrize("panel", list(pairs()), ids=lambda panel: panel.title)
@pytest.mark.parametrize("to", ["influxdb", "graphite"])
def test_a_panel_shows_its_labels_and_no_others(written, to, panel):
    finding = {"influxdb": found_in_influxdb, "graphite": found_in_graphite}[to]
    shown = next(one for one in DASHBOARDS[f"stallwatch-{to}"]["panels"] if one["title"] == panel.title)
    found = [pair for target in shown["targets"] for pair in finding(target, written[to])]
    if panel.series == ("jmx {quantity}",):
        assert set(expected(panel)) <= set(found)
    else:
        assert sorted(set(found)) == expected(panel)  # Icinga may have checked a service twice
