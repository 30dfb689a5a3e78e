"""What is declared of the perfdata is what is printed: documentation and dashboards are made from it.

Labels of what users and servers have named belong to one thing for ever.
"""

import ast
import itertools
import re
import runpy
from functools import cache
from pathlib import Path

import printed_labels
import pytest
from generators.plugins import plugins
from hypothesis import assume, given
from hypothesis import strategies as st
from stallwatch.declared import Label, label_of
from stallwatch.labels import CHECKSUM, own
from stallwatch.probes.jmx.options import check, quantities
from stallwatch.probes.replication_lag import numbers
from stallwatch.sources.jmx.object_name import ObjectName

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


# What a label belongs to

NAMES = st.text("xyz_. -/|é\udcff", min_size=1, max_size=5)
SIGNS = [sign for sign in map(chr, range(0x20, 0x7F)) if not re.match("[A-Za-z0-9_.]", sign)]


@given(NAMES, NAMES)
def test_two_names_never_share_a_label(one, other):
    assume(one != other)
    assert own(one) != own(other)
    assert re.fullmatch("[A-Za-z0-9_.]+", own(one))


@given(NAMES, NAMES)
def test_a_name_that_is_a_label_stays_unless_it_is_short_for_another(name, whole):
    plain = re.fullmatch("[A-Za-z0-9_.]+", name) is not None
    assert (own(name) == name) is plain
    assert (own(name, whole) == name) is (plain and name == whole)
    assert re.fullmatch(re.escape(re.sub("[^A-Za-z0-9_.]", "_", name)) + CHECKSUM, own(name, whole))


@pytest.mark.parametrize("form", ["{0}", "eu{0}west", "{0}{1}", "eu{0}west{1}1"])
def test_names_that_differ_in_signs_alone_have_labels_of_their_own(form):
    names = {form.format(*pair) for pair in itertools.product(SIGNS, SIGNS)}
    assert len({own(name) for name in names}) == len(names) >= len(SIGNS)


def test_a_label_is_the_same_on_every_host_and_python():
    assert [own(name) for name in ("eu west", "eu-west", "größe", "\udcff")] == [
        "eu_west_354201", "eu_west_cdd2c5", "gr__e_5bd3a9", "__ca4dc9",
    ]  # fmt: skip


@pytest.mark.parametrize("declared", [one for one in PLUGINS["replication_lag"].labels if not one.is_one])
def test_no_channel_has_the_label_of_another_or_of_the_default_one(declared):
    ending = declared.name.removeprefix("{channel}")
    for other in PLUGINS["replication_lag"].labels:
        shown = other.name.replace("{channel}", "east")
        if shown != f"east{ending}" and shown.endswith(ending):
            name = shown.removesuffix(ending)
            assert f"{numbers.label_of(name)}{ending[1:]}" != shown


VALUES = ("", "a", "b", "a.b", "a-b", '"a"', "Pool")
PATTERNS = (
    "*:*", "c:*", "c:type=Pool,*", "*:type=Pool,*", "*:type=Pool", "c:type=*", "c:type=Pool,name=*",
    "c:type=Pool,scope=*,name=*", "c:scope=*,*", "*:type=Pool,name=*", "c:type=*,scope=a*,path=b",
)  # fmt: skip


@cache
def beans():
    """All that can be made of a few domains, keys and values."""
    keys = ("type", "scope", "path", "name")
    every = itertools.product(("a", "c", "c.a"), *[(None, *VALUES)] * len(keys))
    named = ((domain, dict(zip(keys, values, strict=True))) for domain, *values in every)
    return [
        ObjectName(domain, {key: value for key, value in of.items() if value is not None})
        for domain, of in named
        if any(value is not None for value in of.values())
    ]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_no_two_beans_of_a_pattern_share_a_label(pattern):
    (quantity,) = quantities(check.parser.parse(["-O", pattern, "-A", "Busy"]))
    labels = [quantity.label_of(bean) for bean in beans() if quantity.asked.matches(bean)]
    assert len(labels) > 2
    assert len(set(labels)) == len(labels)
    assert all(map(quantity.labels.fullmatch, labels))
