"""The plots of growth and what is said of their curves."""

import json
import re
from itertools import combinations
from xml.etree import ElementTree as ET

import pytest
from generators import growth
from generators.growth_labels import Box, Labels
from generators.growth_plot import round_numbers

pytestmark = pytest.mark.only_in_all_cells  # the benches and their page

SIZES = [1, 10, 100, 1000]
SVG = "{http://www.w3.org/2000/svg}"
LARGEST = 15_000  # bytes of a plot


def curve(costs, memory=(20, 20, 20, 20), name="check"):
    return growth.Curve(name, SIZES, list(costs), list(memory))


@pytest.fixture
def subject():
    return growth.SUBJECTS["backup"]


def test_one_more_costs_what_the_upper_half_grows_by():
    assert curve([1, 1, 1, 1.9]).each() == pytest.approx(0.001)
    assert curve([1, 1, 1, 0.9]).each() == 0


def kept(name, costs, memory, rounds=5):
    rows = [
        {"name": size, "processor_ms": cost, "memory_mib": most}
        for size, cost, most in zip(SIZES, costs, memory, strict=True)
    ]
    return {"title": name, "rounds": rounds, "rows": rows}


def test_a_table_says_what_is_above_the_start_and_nothing_of_noise(tmp_path, monkeypatch):
    monkeypatch.setattr(growth, "RESULTS", tmp_path)
    flat = kept("flat", [36, 36.5, 35.9, 36.2], [12.6, 12.7, 12.6, 12.8], rounds=7)
    tables = [kept("linear", [36.01, 36.1, 37, 46], [12.6, 12.8, 14.8, 33.7]), flat]
    (tmp_path / "growth_log.json").write_text(json.dumps({"tables": tables}))
    section = growth.section()
    assert section.startswith("### Log\n\n")
    assert "Medians of 5 or 7 rounds." in section
    assert section.splitlines()[-4:] == [
        "| Log | 1 MB | 10 MB | 100 MB | 1 GB | each MB more | twice | memory |",
        "| --- | --: | --: | --: | --: | --: | --: | --: |",
        "| linear | 36 ms | 36 ms | 37 ms | 46 ms | 10 µs | 2.00 | 13 to 34 MiB |",
        "| flat | 36 ms | 36 ms | 36 ms | 36 ms |  |  | 13 MiB |",
    ]


def test_numbers_are_written_as_people_read_them():
    assert [growth.seconds(one) for one in (0, 5.44e-6, 0.0022, 0.0571, 2.274, 10)] == [
        "0", "5.44 µs", "2.2 ms", "57 ms", "2.27 s", "10 s",
    ]  # fmt: skip
    assert [growth.megabytes(one) for one in (1, 100, 10_000)] == ["1 MB", "100 MB", "10 GB"]
    assert growth.grouped(100_000) == "100 000"


@pytest.mark.parametrize(
    ("low", "high", "known"),
    [
        (0.03, 0.09, [0.02, 0.05, 0.1]),
        (10, 50, [10, 20, 50]),
        (0.04, 2500, [0.01, 0.1, 1, 10, 100, 1000, 10_000]),
    ],
)
def test_an_axis_has_round_numbers_around_all_costs(low, high, known):
    assert round_numbers(low, high) == pytest.approx(known)


def drawn(subject, count=5):
    costs = [0.03, 0.031, 0.05, 0.4]
    return growth.drawn(
        subject,
        [curve([cost * (1 + place / 9) for cost in costs], name=f"c<{place}>") for place in range(count)],
    )


def test_a_plot_is_the_same_for_the_same_numbers_small_and_told_in_words(subject):
    svg = drawn(subject)
    assert svg == drawn(subject)
    assert len(svg.encode()) <= LARGEST
    picture = ET.fromstring(svg)
    about = {child.get("id"): child.text for child in picture if child.get("id")}
    assert [*about] == picture.get("aria-labelledby").split()
    for told in (
        "c<4>: 43 ms at 1, 45 ms at 10, 72 ms at 100, 578 ms at 1 000.",
        "memory at its peak, c<0>: 20 MiB",
    ):
        assert told in about["about"]


def test_a_plot_has_a_mark_for_each_cost_within_its_panel(subject):
    marks = re.findall(r'class="mark" d="[^"]+" transform="translate\((\S+) (\S+)\)"', drawn(subject))
    assert len(marks) == 2 * 5 * len(SIZES)
    assert all(60 <= float(y) <= 290 and 62 <= float(x) <= 828 for x, y in marks)


def test_a_plot_has_colours_for_day_and_night(subject):
    style = ET.fromstring(drawn(subject)).find(f"{SVG}style").text
    day, night = style.split("@media (prefers-color-scheme: dark)")
    rules = r"(\.c\d|\.paper) \{ \w+: (#\w+)"
    assert {name for name, _ in re.findall(rules, day)} == {name for name, _ in re.findall(rules, night)}
    assert not {*re.findall(rules, day)} & {*re.findall(rules, night)}


def test_labels_cover_neither_curves_nor_each_other():
    panel = Box(0, 0, 300, 200)
    way = [(40, 100), (150, 110), (260, 40)]
    labels = Labels(panel, [way])
    found = [labels.room(point, "13 MiB") for point in (*way, *way)]
    boxes = [Box(x - 18, y - 8, x + 18, y) for x, y in filter(None, found)]
    assert len(boxes) >= 4
    assert not [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])]
    assert all(box.is_within(panel) and not any(box.meets(Box(x, y, x, y)) for x, y in way) for box in boxes)


def test_a_label_without_room_is_left_out():
    labels = Labels(Box(0, 0, 40, 20), [])
    assert labels.room((20, 18), "20 ms")
    assert labels.room((20, 18), "20 ms") is None


def test_the_page_has_a_plot_and_a_row_for_each_curve_that_was_measured():
    found, section = growth.by_subject(), growth.section()
    assert set(found) == set(growth.SUBJECTS)
    for key, of in found.items():
        assert f"](growth_{key}.svg)" in section
        assert (growth.DOCS / f"growth_{key}.svg").stat().st_size <= LARGEST
        for one in growth.curves(of):
            assert f"| {one.name} | " in section
