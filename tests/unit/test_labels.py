"""What is declared of the perfdata is what is printed: documentation and dashboards are made from it."""

import ast
import re
import runpy
import sys
from pathlib import Path

import pytest
from stallwatch.label import Label, declared

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "contrib"))
from generators.plugins import PROBES, plugins  # noqa: E402

RECORDED = ROOT / "tests" / "recorded"
LINE = re.compile(r"^([A-Z_]+) (?:OK|WARNING|CRITICAL|UNKNOWN) - .* \| (.+)$", re.MULTILINE)
ITEM = re.compile(r"([A-Za-z0-9_.]+)=-?[0-9.]+([sBc%]?)(?:;[0-9.-]*)*")
OPEN = {"jmx", "mysql_status"}  # whose units are the user's and the server's
PLUGINS = {plugin.name: plugin for plugin in plugins()}
# Nothing of them is recorded as text; what tests/live print of them is compared with the labels there.
UNRECORDED = {
    "innodb_buffer_pool", "innodb_redo_log", "jmx", "mysql_backup", "mysql_query", "mysql_status",
    "mysqld_process",
}  # fmt: skip
# What no recording shows: it has to be asked for, or is of servers that are not recorded.
SELDOM = {
    "jmx_thread_pools": {"blocked_new", "deadlocked"},  # from the second look on; --deadlocks
    "ndb_log": {"backup_age"},  # --backup-age
    "ndb_memory": {"index_memory"},  # until NDB 7.5
    "ndb_nodes": {"certificate"},  # TLS between data nodes
    "ndb_redo_buffer": {"redo_full", "redo_lag", "undo_space", "undo_buffer"},  # --log; disk tables
    "replication_lag": {"disk_busy"},  # on the replica's own host
}


def printed():
    """Everything in the perfdata of recorded outputs: plugin, label, unit."""
    texts = (path.read_text(errors="replace") for path in sorted(RECORDED.rglob("*.txt")))
    for name, perfdata in (match for text in texts for match in LINE.findall(text)):
        for item in perfdata.split(" "):
            yield name.lower(), *ITEM.fullmatch(item).groups()


PRINTED = sorted(set(printed()))


def literals(folder):
    """All words that stand in the code of a probe."""
    for path in (path for path in folder.rglob("*.py") if path.name != "labels.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        yield from (node.value for node in nodes if isinstance(node, ast.Constant))


@pytest.mark.parametrize(("name", "label", "unit"), PRINTED)
def test_what_is_printed_is_declared(name, label, unit):
    found = declared(PLUGINS[name].labels, label)
    assert found, f"{label} of {name} is not declared"
    assert found.unit == unit or name in OPEN


@pytest.mark.parametrize("name", sorted(PLUGINS.keys() - UNRECORDED))
def test_what_is_declared_is_printed(name):
    labels = PLUGINS[name].labels
    shown = {declared(labels, label) for plugin, label, _ in PRINTED if plugin == name}
    missing = {one.name for one in labels if one.is_one} - {one.name for one in shown}
    assert missing <= SELDOM.get(name, set())


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_what_is_declared_is_a_word_of_the_code(name):
    probes = ROOT / "lib" / "stallwatch" / "probes"
    shared = [probes / PROBES.get(name, name), probes / "innodb", probes / "ndb_log"]
    words = {word for folder in shared for word in literals(folder)}
    assert {one.name for one in PLUGINS[name].labels if one.is_one} <= words


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
    assert declared(labels, "apply_lag").about == "y"
    assert declared(labels, "east_lag").about == "x"
    assert declared(labels, "east_apply_lag").about == "z"
    assert declared(labels, "lag") is None
