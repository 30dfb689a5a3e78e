"""The dashboards for Grafana: what they ask for is what plugins print, and Grafana can load them."""

import fnmatch
import json
import re
from pathlib import Path

import pytest
from generators import grafana, icinga2, panels
from generators.plugins import plugins
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
PLUGINS = {plugin.name: plugin for plugin in plugins()}
MADE = {path.stem: text for path, text in grafana.files([*PLUGINS.values()]).items()}
DASHBOARDS = {name: json.loads(text) for name, text in MADE.items()}
WORDS = [words for row in panels.rows().values() for panel in row for words in panel.series]
COMMANDS = {name: plugin for plugin in PLUGINS.values() for name in icinga2.names(plugin)}

# The globs, what is left out, and the levels of a name.
BY_NODE = re.compile(
    r"aliasByNode\((?:exclude\()?(icinga2\.(?:[^,{]|\{[^}]+\})+?)"
    r"(?:, '(.+)'\))?, 1, 3, ([0-9, ]+)\)"
)

# What Grafana needs, by its documentation ("Dashboard JSON model", "Classic model").
PLACE = {
    "type": "object",
    "required": ["x", "y", "w", "h"],
    "properties": {
        "x": {"type": "integer", "minimum": 0, "maximum": 23},
        "y": {"type": "integer", "minimum": 0},
        "w": {"type": "integer", "minimum": 1, "maximum": 24},
        "h": {"type": "integer", "minimum": 1},
    },
}
SOURCE = {
    "type": "object",
    "required": ["type", "uid"],
    "properties": {"type": {"enum": ["influxdb", "graphite"]}, "uid": {"const": "${datasource}"}},
}
SCHEMA = {
    "type": "object",
    "required": [
        "id", "uid", "title", "tags", "timezone", "editable", "graphTooltip", "panels", "time", "templating",
        "annotations", "refresh", "schemaVersion", "version", "links",
    ],
    "properties": {
        "id": {"type": "null"},
        "uid": {"type": "string", "minLength": 8, "maxLength": 40, "pattern": "^[a-zA-Z0-9_-]+$"},
        "title": {"type": "string", "minLength": 1},
        "graphTooltip": {"enum": [0, 1, 2]},
        "schemaVersion": {"type": "integer", "minimum": 36},
        "time": {"required": ["from", "to"]},
        "templating": {
            "properties": {
                "list": {"type": "array", "items": {"required": ["name", "type", "query"]}},
            }
        },
        "panels": {
            "type": "array",
            "items": {
                "required": ["id", "type", "title", "gridPos"],
                "properties": {"gridPos": PLACE, "type": {"enum": ["row", "timeseries"]}},
                "if": {"properties": {"type": {"const": "timeseries"}}},
                "then": {
                    "required": ["datasource", "targets", "fieldConfig", "options"],
                    "properties": {
                        "datasource": SOURCE,
                        "targets": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": 26,
                            "items": {
                                "required": ["refId", "datasource"],
                                "properties": {"datasource": SOURCE, "refId": {"pattern": "^[A-Z]$"}},
                            },
                        },
                        "fieldConfig": {"required": ["defaults", "overrides"]},
                    },
                },
            },
        },
    },
}  # fmt: skip


@pytest.fixture(params=sorted(DASHBOARDS))
def dashboard(request):
    """One of the dashboards."""
    return DASHBOARDS[request.param]


def graphs(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] == "timeseries"]


def test_what_is_shipped_is_what_is_generated():
    shipped = {path.stem: path.read_text() for path in (ROOT / "contrib" / "grafana").glob("*.json")}
    assert shipped == MADE


def test_grafana_can_load_it(dashboard):
    Draft202012Validator(SCHEMA).validate(dashboard)


def test_panels_have_a_number_each_and_do_not_overlap(dashboard):
    numbers = [panel["id"] for panel in dashboard["panels"]]
    assert numbers == [*range(1, len(numbers) + 1)]
    taken = set()
    for place in (panel["gridPos"] for panel in dashboard["panels"]):
        assert place["x"] + place["w"] <= 24
        fields = {
            (place["x"] + across, place["y"] + down)
            for across in range(place["w"])
            for down in range(place["h"])
        }
        assert not taken & fields
        taken |= fields


def test_targets_of_a_panel_have_names_of_their_own(dashboard):
    for panel in graphs(dashboard):
        names = [target["refId"] for target in panel["targets"]]
        assert len(names) == len(set(names))


def test_every_variable_that_is_used_is_there(dashboard):
    names = {one["name"] for one in dashboard["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard)))
    grafanas_own = {"timeFilter", "__interval", "__all", "tag_hostname", "tag_service", "tag_metric"}
    assert used - grafanas_own == names


def test_what_is_not_declared_is_refused():
    with pytest.raises(ValueError, match="check_host has no label no_such_label"):
        grafana._series("host no_such_label", PLUGINS)
    with pytest.raises(ValueError, match="cpu, load have different units"):
        grafana._unit(grafana._series("host cpu load", PLUGINS).labels)


def test_every_plugin_is_shown():
    assert {words.partition(" ")[0] for words in WORDS} == PLUGINS.keys()


def test_each_command_that_is_asked_for_is_one_of_icingas(dashboard):
    pattern = r"FROM /\^\(([^)]+)\)|services\.\*\.\{([^}]+)\}\.perfdata"
    found = re.findall(pattern, json.dumps(dashboard["panels"]))
    asked = {name for pair in found for name in re.split("[|,]", "".join(pair))}
    assert asked == COMMANDS.keys()


def test_units_are_grafanas(dashboard):
    units = {panel["title"]: panel["fieldConfig"]["defaults"]["unit"] for panel in graphs(dashboard)}
    assert set(units.values()) == {"s", "percent", "bytes", "binBps", "short"}
    assert units["Lag"] == "s"
    assert units["Redo log"] == "percent"
    assert units["Written to the redo log"] == "binBps"
    assert units["Not yet checkpointed"] == "bytes"
    assert units["Data nodes"] == "short"


def test_an_axis_begins_at_0_unless_there_may_be_less(dashboard):
    least = {panel["title"]: panel["fieldConfig"]["defaults"].get("min") for panel in graphs(dashboard)}
    assert {title for title, value in least.items() if value is None} == {"What check_jmx is asked for"}


def test_what_lies_between_two_points_is_their_mean():
    for panel in graphs(DASHBOARDS["stallwatch-influxdb"]):
        assert all(one["query"].startswith('SELECT mean("value") FROM /^(') for one in panel["targets"])


def test_all_hosts_are_not_asked_for_by_name():
    wild = {name: one["templating"]["list"][1]["allValue"] for name, one in DASHBOARDS.items()}
    assert wild == {"stallwatch-graphite": "*", "stallwatch-influxdb": ".*"}


@pytest.mark.parametrize(
    ("plugin", "label", "titles"),
    [
        ("replication_lag", "lag", {"Lag"}),
        ("replication_lag", "east_lag", {"Lag"}),
        ("replication_lag", "eu.west_lag", {"Lag"}),
        ("replication_lag", "10.0.0.1_apply_lag", {"Where the lag is"}),
        ("replication_lag", "apply_lag", {"Where the lag is"}),
        ("replication_lag", "eu_west_354201_apply_lag", {"Where the lag is"}),
        ("replication_lag", "apply_f07a3b_lag", {"Lag"}),  # of a channel "apply"
        ("bonding", "bond0.100_links_down", {"Bonds"}),
        ("host", "disk_busy", {"Disks: busy"}),
        ("jmx_thread_pools", "MutationStage.pending", {"Tasks in the queue of each pool (--pool)"}),
        ("jmx_thread_pools", "http_8080_3f2a1b.pending", {"Tasks in the queue of each pool (--pool)"}),
        ("jmx_thread_pools", "http_nio_127.0.0.1_8080.blocked_new", {"Tasks blocked of each pool (--pool)"}),
        ("jmx", "Memory.HeapMemoryUsage.used", {"What check_jmx is asked for"}),
        ("ndb_memory", "node3_data_memory", {"Memory of each data node"}),
    ],
)
def test_graphite_finds_a_label_whatever_dots_are_in_it(plugin, label, titles):
    command = next(name for name, one in COMMANDS.items() if one.name == plugin)
    path = f"icinga2.db1.services.a.{command}.perfdata.{label}.value"
    found = {
        panel["title"]: told
        for panel in graphs(DASHBOARDS["stallwatch-graphite"])
        for target in panel["targets"]
        if (told := graphite(target["target"], path))
    }
    assert found == dict.fromkeys(titles, label)


def graphite(target, path):
    """What Graphite calls the series of a path by a target, if it is one of it."""
    call = re.fullmatch(BY_NODE, target)
    glob, besides, levels = call.groups()
    commands = re.search(r"\{(.+)\}", glob)[1].split(",")
    words, wanted = path.split("."), re.sub(r"\{.+\}", "*", glob).replace("$hostname", "db1").split(".")
    fits = len(words) == len(wanted) and words[4] in commands
    fits = fits and all(map(fnmatch.fnmatchcase, words, wanted))
    if fits and not (besides and re.search(besides, path)):
        return ".".join(words[int(level)] for level in levels.split(", "))
    return None


def test_a_panel_says_what_its_labels_are(dashboard):
    (lag,) = (panel for panel in graphs(dashboard) if panel["title"] == "Lag")
    assert "- lag: replication lag, excluding the configured delay\n" in lag["description"]
