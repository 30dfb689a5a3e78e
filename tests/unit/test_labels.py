"""What is declared of the perfdata is what is printed: documentation and dashboards are made from it."""

import ast
import re
import runpy
from pathlib import Path

import printed_labels
import pytest
from generators.plugins import plugins
from stallwatch.declared import Label, label_of

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded"
LINE = re.compile(r"^([A-Z_]+) (?:OK|WARNING|CRITICAL|UNKNOWN) - .* \| (.+)$", re.MULTILINE)
PLUGINS = {plugin.name: plugin for plugin in plugins()}
# What no recording shows: it has to be asked for, or is of servers that are not recorded.
SELDOM = {
    "bonding": {"{bond}_link_failures"},  # from the second run on
    "jmx_thread_pools": {  # from the second look on; --deadlocks; --pool
        "blocked_new", "deadlocked", "{pool}.active", "{pool}.pending", "{pool}.blocked",
        "{pool}.blocked_new", "{pool}.busy", "{pool}.idle", "{pool}.completed_per_s",
    },
    "mysql_backup": {"size_change"},  # from the second backup on
    "mysql_status": {"differences", "{variable}_per_{variable}"},  # --reference; --warning A/B=RANGE
    "mysqld_process": {"busiest_thread"},  # from the second look on
    "ndb_log": {"backup_age"},  # --backup-age
    "ndb_memory": {"index_memory"},  # until NDB 7.5
    "ndb_nodes": {"certificate"},  # TLS between data nodes
    "ndb_redo_buffer": {"redo_full", "redo_lag", "slow_undo"},  # --log; waits for the undo log that end
    "replication_lag": {  # on the replica's own host; channels with a name and --source, or that grow late
        "disk_busy", "{channel}_missing", "{channel}_errant", "{channel}_seconds_behind", "{channel}_slope",
        "{channel}_clock_offset",
    },
}  # fmt: skip
SHARED = {  # the code of other probes that speaks for a plugin, too
    "innodb_buffer_pool": ["innodb"],
    "innodb_redo_log": ["innodb"],
    "ndb_redo_buffer": ["ndb_log"],
    "replication_lag": ["innodb"],
}


def printed():
    """Everything in the perfdata of recorded outputs, without the numbers: plugin, item."""
    texts = (path.read_text(errors="replace") for path in sorted(RECORDED.rglob("*.txt")))
    for name, perfdata in (match for text in texts for match in LINE.findall(text)):
        for item in perfdata.split(" "):
            yield name.lower(), re.sub("=-?[0-9.]+", "=1", item.partition(";")[0])


PRINTED = sorted(set(printed()))


def literals(folder):
    """All words that stand in the code of a probe."""
    for path in (path for path in folder.rglob("*.py") if path.name not in ("labels.py", "declared.py")):
        nodes = ast.walk(ast.parse(path.read_text()))
        yield from (node.value for node in nodes if isinstance(node, ast.Constant))


@pytest.mark.parametrize(("name", "item"), PRINTED)
def test_what_is_printed_is_declared(name, item):
    assert printed_labels.known(name, item)


@pytest.mark.parametrize("item", ["lag=3B", "lag=3", "no_such_label=1s", "lag=3s;|", "lag"])
def test_what_is_printed_and_not_declared_is_an_error(item):
    assert printed_labels.known("replication_lag", "lag=3s;10;20").name == "lag"
    with pytest.raises(AssertionError):
        printed_labels.known("replication_lag", item)


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_what_is_declared_is_printed(name):
    shown = {printed_labels.known(name, item).name for plugin, item in PRINTED if plugin == name}
    assert {one.name for one in PLUGINS[name].labels} - shown == SELDOM.get(name, set())


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_what_is_declared_is_a_word_of_the_code(name):
    probes = ROOT / "lib" / "stallwatch" / "probes"
    words = {word for folder in [name, *SHARED.get(name, ())] for word in literals(probes / folder)}
    for label in PLUGINS[name].labels:
        own = [part for part in re.split(r"[._]?\{\w+\}[._]?", label.name) if part.strip("per_")]
        assert {part for part in own if not {part, f"_{part}", f".{part}"} & words} == set()


def test_every_plugin_has_labels_and_no_label_twice():
    for plugin in PLUGINS.values():
        names = [one.name for one in plugin.labels]
        assert names
        assert len(names) == len(set(names))


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_a_label_has_a_unit_that_engines_know_and_a_phrase(name):
    for label in PLUGINS[name].labels:
        assert label.unit in ("", "s", "B", "%", "c")
        assert label.about[0].islower() or label.about.startswith(("InnoDB", "innodb"))
        assert not label.about.endswith(".")
        assert "|" not in label.about


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_a_quantity_that_is_judged_has_the_unit_of_its_thresholds(name):
    judged = runpy.run_path(str(ROOT / "plugins" / f"check_{name}"))["check"].units
    ours = {label.name: label.unit for label in PLUGINS[name].labels if label.name in judged}
    assert ours == {quantity: judged[quantity] for quantity in ours}


def test_a_label_is_itself_rather_than_one_of_a_kind():
    labels = (
        Label("{channel}_lag", "s", "x"),
        Label("apply_lag", "s", "y"),
        Label("{channel}_apply_lag", "s", "z"),
    )
    assert label_of(labels, "apply_lag").about == "y"
    assert label_of(labels, "east_lag").about == "x"
    assert label_of(labels, "east_apply_lag").about == "z"
    assert label_of(labels, "lag") is None
