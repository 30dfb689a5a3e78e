"""The page on the architecture: its picture, its tables, and the way of one datum, which is walked again."""

import re
import runpy
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import CodeType
from xml.etree import ElementTree as ET

import pytest
from generators import architecture, architecture_plot, components, imports
from generators.architecture_places import BOXES, WAYS
from stallwatch.probes.replication_lag.model import Commits

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "contrib" / "docs" / "architecture.md").read_text()
LIB = str(ROOT / "lib") + "/"
WALK = re.findall(r"^\| \d? ?\| `([\w.]+):([\w.]+)` \|", PAGE, re.MULTILINE)
# A replay stands in for the process, and for the packets of the server.
NOT_REPLAYED = {
    "frame.check:Check.main", "frame.exit:Exit.leave",
    "sources.mysql.connection:Connection.ask", "sources.mysql.rows:values",
}  # fmt: skip
RECORDING, RUN = re.search(r"^<!-- datum (\S+) (\d+) -->$", PAGE, re.MULTILINE).groups()


@pytest.fixture(scope="module")
def found():
    return imports.imports(imports.modules())


@pytest.fixture(scope="module")
def layout(found):
    return components.layout(imports.modules(), found)


def sources(folder, **texts):
    """Modules made of these texts, by name."""
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return {name: folder / f"{name}.py" for name in texts}


def code(module, name):
    """The code of a function or property that the page names."""
    found = import_module(f"stallwatch.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    found = getattr(found, "fget", getattr(found, "find", found))  # of a property, of a rule
    return getattr(found, "__wrapped__", found).__code__  # of a context manager


def test_the_walk_is_found_on_the_page():
    assert len(WALK) > 20
    assert all(f"{module}:{name}" in PAGE for module, name in WALK)


@pytest.mark.parametrize(("module", "name"), WALK, ids=[":".join(step) for step in WALK])
def test_each_function_of_the_walk_exists(module, name):
    assert isinstance(code(module, name), CodeType)


@pytest.fixture
def replay(tmp_path, monkeypatch):
    """What the plugin says in the replay of all runs, and the code that the last one calls, in this order."""
    monkeypatch.syspath_prepend(ROOT / "tests" / "recorded")
    import mysql_replay

    called = []
    monkeypatch.setattr(runpy, "run_path", lambda path, run=runpy.run_path: (called.clear(), run(path))[1])
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code) if event == "call" else None)
    try:
        text = mysql_replay.said(ROOT / RECORDING, tmp_path, monkeypatch)
    finally:
        sys.setprofile(None)
    return text, called


def test_the_datum_passes_the_functions_of_the_walk_in_their_order(replay):
    _, called = replay
    left = iter(called)
    for module, name in WALK:
        if f"{module}:{name}" in NOT_REPLAYED:
            continue
        expected = code(module, name)
        assert any(one is expected for one in left), f"{module}:{name} is not called, or is called earlier"


def test_the_line_on_the_page_is_what_the_replay_says(replay):
    text, _ = replay
    assert text.split("\n\n")[int(RUN) - 1].splitlines()[1] in PAGE
    worker, receiver = architecture.moments(RECORDING, int(RUN))
    lag = receiver["now"] - worker["applying_commit"]
    assert f"| lag={lag:.3f}s;60;600 " in PAGE
    assert f"**{lag:.3f} s**" in PAGE
    assert f"compares {lag:.3f} with the thresholds 60 and 600" in PAGE


def test_the_columns_on_the_page_are_those_that_the_probe_reads():
    assert {"now", "oldest_in_hand"} <= {*Commits._fields, *vars(Commits)}
    assert "applying_commit" in import_module("stallwatch.probes.replication_lag.model").Worker._fields


def test_each_step_of_the_flow_has_a_row_and_a_number_in_the_picture(layout):
    steps = re.findall(r"^\| (\d) \| \w+ to \w+ \|", PAGE, re.MULTILINE)
    drawn = re.findall(r'class="digit middle"[^>]*>(\d)<', architecture_plot.picture(layout))
    assert steps == drawn
    assert set(re.findall(r"^\| (\d) \| `", PAGE, re.MULTILINE)) == set(steps)


def test_every_module_has_a_component_and_every_component_a_module(layout):
    other = components.component("stallwatch.probes.new")
    assert set(components.COMPONENTS) - set(layout.components) <= {other}
    assert {component.title for component in layout.components} == set(layout.files)
    assert sum(layout.files.values()) == len(imports.modules())


def test_a_module_without_a_room_is_named():
    with pytest.raises(KeyError, match=r"stallwatch\.attic is in no component"):
        components.component("stallwatch.attic")


def test_imports_are_told_apart_by_when_they_run(tmp_path):
    text = (
        "import one\nfrom two import name\nif TYPE_CHECKING:\n    import three\n"
        "def function():\n    import four\n    import one\nimport elsewhere\n"
    )
    known = sources(tmp_path, one="", two="", three="", four="", user=text)
    found = {one.imported: one.when for one in imports.imports(known)}
    assert found == {
        "one": imports.AT_START, "two": imports.AT_START, "three": imports.TYPES, "four": imports.LATER,
    }  # fmt: skip


def test_no_modules_import_each_other(found):
    assert imports.circles(found) == []


def test_a_circle_is_found_with_the_import_that_closes_it(tmp_path):
    late = "def function():\n    import a\n"
    known = sources(tmp_path, a="import b\n", b=late, c="import d\n", d="import c\n", e="import a\n")
    assert imports.circles(imports.imports(known)) == [
        (["c", "d"], imports.AT_START),
        (["a", "b"], imports.LATER),
    ]


@pytest.mark.parametrize(
    "module", ["stallwatch.frame.check", "stallwatch.verdict", "stallwatch.sources.mysql.server"]
)
def test_python_loads_what_is_found_to_be_imported_at_the_start(module, found):
    load = f"import sys, {module}; print(*[name for name in sys.modules if name.startswith('stallwatch')])"
    said = subprocess.run([sys.executable, "-c", load], capture_output=True, text=True, check=True).stdout
    ways = {}
    for one in found:
        if one.when == imports.AT_START:
            ways.setdefault(one.module, set()).add(one.imported)
    known, ahead = {module}, [module]
    while ahead:
        new = ways.get(ahead.pop(), set()) - known
        known |= new
        ahead += new
    packages = {name[: end.start()] for name in known for end in re.finditer(r"\.", name)}
    assert known | packages == set(said.split())


def test_the_picture_is_well_formed_and_the_same_each_time(layout):
    picture = architecture_plot.picture(layout)
    assert ET.fromstring(picture).tag.endswith("svg")
    assert picture == architecture_plot.picture(layout)


def test_the_picture_has_colours_for_day_and_night(layout):
    day, night = architecture_plot.STYLE.split("@media (prefers-color-scheme: dark)")
    coloured = r"\.([a-z.]+) \{[^}]*#\w+"
    assert set(re.findall(coloured, day)) == set(re.findall(coloured, night))
    classes = " ".join(re.findall(r'class="([^"]+)"', architecture_plot.picture(layout))).split()
    assert {name for name in classes if name not in architecture_plot.STYLE} == set()


def test_every_arrow_of_today_has_a_way_of_its_own(layout):
    assert set(architecture_plot.between_boxes(layout)) <= set(WAYS)


def test_an_arrow_begins_and_ends_at_its_boxes():
    for (one, other), way in WAYS.items():
        for name, (x, y) in ((one, way[0]), (other, way[-1])):
            box = BOXES[name]
            level = x in (box.x, box.right) and box.y <= y <= box.bottom
            upright = y in (box.y, box.bottom) and box.x <= x <= box.right
            assert level or upright, f"{one} to {other} at {name}"


def test_an_arrow_is_as_wide_as_it_has_imports(layout):
    thin = architecture_plot.picture(layout)
    more = layout._replace(imports=layout.imports + Counter({("report", "findings"): 100}))
    assert architecture_plot.picture(more) != thin
    imports = 100 + architecture_plot.between_boxes(layout)["report", "findings"]
    assert f">{imports}</text>" in architecture_plot.picture(more)
