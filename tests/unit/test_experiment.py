"""Whether a change made a difference: what is read, the rule, and what is said."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.experiment.comparison import change, compare, lines, said, sentence, spread, taken
from stallwatch.experiment.readings import Apart, Measure, load
from stallwatch.units import NotUnderstoodError

BEFORE = (0.26, 0.255, 0.268, 0.261, 0.25, 0.259)
AFTER = (0.214, 0.22, 0.21, 0.213, 0.222, 0.214)


def finding(label, value, unit="s", warning="0.25", critical="1"):
    return {
        "name": label,
        "label": label,
        "value": value,
        "unit": unit,
        "warning": warning,
        "critical": critical,
    }


def reading(*findings, name="mysql_query", state="OK"):
    return {"name": name, "state": state, "summary": "p95 ...", "findings": list(findings)}


@pytest.fixture
def file(tmp_path):
    """Write readings into a file and read that."""

    def file(name, readings, *, indent=None):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(one, indent=indent) for one in readings))
        return load(str(path))

    return file


@pytest.fixture
def compared(file):
    """Compare the values of p95 before and after."""

    def compared(before, after, primary=None, better=None, **about):
        sides = [
            file(str(side), [reading(finding("p95", value, **about)) for value in values])
            for side, values in enumerate((before, after))
        ]
        return compare(*sides, primary, better)

    return compared


# what is read


def test_readings_stand_one_after_the_other_however_they_are_written(file):
    for indent in (None, 2):
        found = file("a.json", [reading(finding("p95", value)) for value in BEFORE], indent=indent)
        assert found.plugin == "mysql_query"
        assert found.measures == {"p95": Measure("p95", "s", "lower", BEFORE)}


def test_what_has_no_value_or_no_label_is_no_measure(file):
    told = reading(finding("p95", None), finding(None, 3), finding("max", "1"), finding("p50", 2))
    assert [*file("a.json", [told]).measures] == ["p50"]


@pytest.mark.parametrize(
    ("warning", "critical", "better"),
    [
        ("0.25", "1", "lower"),
        (None, "1", "lower"),
        ("99.5:", "95:", "higher"),
        ("~:5", None, "lower"),
        ("10:20", None, ""),
        ("@10:20", None, ""),
        (None, None, ""),
        ("~:", None, ""),
        ("nonsense", 7, ""),
    ],
)
def test_thresholds_tell_which_values_are_better(file, warning, critical, better):
    told = file("a.json", [reading(finding("p95", 1, warning=warning, critical=critical))])
    assert told.measures["p95"].better == better


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "a.json has no readings in it"),
        ("  \n", "a.json has no readings in it"),
        ("MYSQL_QUERY OK - p95 2 ms | p95=0.002s", "a.json: reading 1 is not JSON: did the plugin run"),
        (json.dumps(reading()) + '{"name"', "a.json: reading 2 is not JSON"),
        ("[" * 100_000, "a.json: reading 1 is not JSON"),
        ("[1, 2]", "a.json: reading 1 is not what a plugin prints with --output json"),
        ('{"name": "x"}', "a.json: reading 1 is not what a plugin prints"),
        (json.dumps({**reading(), "findings": [3]}), "a.json: reading 1 is not what a plugin prints"),
        (
            json.dumps(reading()) + json.dumps(reading(name="x")),
            "a.json has readings of mysql_query and of x",
        ),
    ],
)
def test_what_are_no_readings_is_a_sentence(tmp_path, text, why):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(NotUnderstoodError, match=why.replace("[", r"\[")):
        load(str(path))


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path):
    with pytest.raises(NotUnderstoodError, match="No such file or directory"):
        load(str(tmp_path / "a.json"))
    (tmp_path / "b.json").write_bytes(b"\xff")
    with pytest.raises(NotUnderstoodError, match="is not UTF-8"):
        load(str(tmp_path / "b.json"))


# the rule


def test_the_spread_is_that_of_normal_noise():
    chance = random.Random(1)
    for number in (4, 6, 10, 25):
        found = [spread([chance.gauss(5, 2) for _ in range(number)]) for _ in range(4000)]
        assert sum(found) / len(found) == pytest.approx(2, rel=0.05)


def test_one_odd_reading_does_not_move_the_spread_much():
    usual = spread(BEFORE)
    assert spread((*BEFORE[:-1], 30.0)) < 3 * usual


def test_the_spread_of_readings_most_of_which_are_the_same_is_not_nothing():
    assert spread((1, 1, 1, 1, 1, 2)) > 0
    assert spread((1, 1, 1)) == 0


def test_noise_alone_is_seldom_taken_for_a_change():
    chance = random.Random(2)

    def measure(number):
        return Measure("p95", "s", "lower", tuple(chance.gauss(5, 2) for _ in range(number)))

    taken_for_one = sum(change(measure(10), measure(10)).clear for _ in range(2000))
    assert taken_for_one < 2000 * 0.005
    assert sum(change(measure(4), measure(4)).clear for _ in range(2000)) < 2000 * 0.02


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=12), st.lists(st.floats(-1e9, 1e9), min_size=1))
def test_any_numbers_are_compared(before, after):
    found = change(Measure("x", "", "", tuple(before)), Measure("x", "", "", tuple(after)))
    assert found.times is None or found.times >= 0
    assert (found.noise is None) == (min(len(before), len(after)) < 4)


# what is said


def test_a_change_for_the_better_is_to_be_kept(compared):
    assert sentence(compared(BEFORE, AFTER)) == (
        "p95 fell from 260 ms to 214 ms (-17.5 %), 8.5 times the noise (5.3 ms): keep the change"
    )


def test_a_change_for_the_worse_is_to_be_undone_whatever_else_is_better(compared):
    assert sentence(compared(AFTER, BEFORE)).startswith("p95 rose from 214 ms to 260 ms (+21.3 %), 8.5 times")
    assert sentence(compared(AFTER, BEFORE)).endswith(": undo the change, whatever else is better")


def test_where_more_is_better_less_is_worse(compared):
    limits = {"unit": "%", "warning": "99.5:", "critical": "95:"}
    assert "fell from 99 % to 90 %" in sentence(compared([99.0] * 5, [90.0] * 5, **limits))
    assert "undo the change" in sentence(compared([99.0] * 5, [90.0] * 5, **limits))


def test_what_is_good_is_said_by_the_user_or_not_known(compared):
    unknown = {"unit": "", "warning": None, "critical": None}
    assert sentence(compared([1] * 4, [5] * 4, **unknown)) == (
        "p95 rose from 1 to 5 (+400 %), and never changed otherwise: "
        "--better lower, or higher, sets whether that is good"
    )
    assert sentence(compared([1] * 4, [5] * 4, better="higher", **unknown)).endswith("keep the change")


def test_what_is_within_the_noise_is_no_difference(compared):
    told = sentence(compared(BEFORE, [value - 0.002 for value in BEFORE]))
    assert told == (
        "p95 fell from 260 ms to 258 ms (-0.771 %), 0.4 times the noise (5.3 ms): "
        "single readings differ by as much anyhow"
    )
    assert "p95 went from 260 ms to 260 ms, 0.0 times the noise" in sentence(compared(BEFORE, BEFORE))


def test_single_readings_cannot_tell_a_change_from_noise(compared):
    assert sentence(compared([0.26], [0.214])) == (
        "p95 fell from 260 ms to 214 ms (-17.7 %); 1 before and 1 after cannot distinguish that from noise: "
        "take 4 readings of each at least"
    )


def rows(comparison, *, everything=False):
    told = [*lines(comparison, everything=everything)]
    return told[: told.index("")], told[told.index("") + 1 :]


def test_the_primary_measure_is_first_and_then_what_changed_most(file):
    def side(name, p95, tables, rest):
        return file(name, [
            reading(finding("steady", number % 3), finding("tables", tables + number % 2, "c"),
                    finding("p95", p95 + number / 1000), finding(name, 1), finding("flat", rest))
            for number in range(6)
        ])  # fmt: skip

    before, after = side("before", 0.26, 2000, 5), side("after", 0.21, 100, 5)
    head, table = rows(compare(before, after, "p95", None))
    assert head[0].startswith("p95 fell from 263 ms to 212 ms")
    assert [line.split()[0] for line in table[:3]] == ["measure", "p95", "tables"]
    assert table[2].split()[:5] == ["tables", "2000", "100.5", "-95", "%"]
    assert table[3:] == [
        "2 more changed by less than 3 times their noise: --all shows them",
        "measured only before: before",
        "measured only after: after",
    ]
    _, table = rows(compare(before, after, "p95", None), everything=True)
    assert [line.split()[0] for line in table[1:5]] == ["p95", "tables", "steady", "flat"]


def test_states_are_told_if_they_were_not_all_ok(file):
    before = file("a", [reading(finding("p95", 1))] * 3)
    after = file("b", [reading(finding("p95", 1))] * 2 + [reading(finding("p95", 1), state="WARNING")])
    assert rows(compare(before, after, None, None))[0][1] == "states before: 3 OK; after: 2 OK, 1 WARNING"
    assert len(rows(compare(before, before, None, None))[0]) == 1


def told_of(file, before, after):
    """The sentence about sides of (state, p95 or None)."""
    sides = [
        file(name, [reading(*[finding("p95", p95)] * (p95 is not None), state=state) for state, p95 in side])
        for name, side in (("before", before), ("after", after))
    ]
    return sentence(compare(*sides, None, None))


def test_what_the_change_broke_is_said_first_and_never_kept(file):
    before = [("WARNING", value) for value in BEFORE]
    broken = [("CRITICAL", None)] * 6
    told = told_of(file, before, [("OK", value) for value in AFTER[:4]] + broken)
    assert told.startswith(
        "6 of 10 readings after were CRITICAL, 6 without p95: undo the change, or find out why; p95 fell from"
    )
    assert "keep" not in told
    told = told_of(file, before, [("OK", value) for value in AFTER] + [("UNKNOWN", None)])
    assert told.startswith("1 of 7 readings after were UNKNOWN, 1 without p95: undo")


def test_states_that_are_better_than_before_are_no_objection(file):
    before = [("CRITICAL", value) for value in BEFORE] + [("CRITICAL", None)]
    assert told_of(file, before, [("OK", value) for value in AFTER]).endswith("keep the change")
    assert told_of(file, before, [("WARNING", value) for value in AFTER]).endswith("keep the change")
    worse = told_of(file, [("OK", value) for value in BEFORE], [("WARNING", value) for value in AFTER])
    assert worse.startswith("6 of 6 readings after were WARNING: undo")


def test_a_label_that_a_reading_has_twice_is_not_missing_in_others(file):
    sides = [
        file(name, [reading(finding("p95", one), finding("p95", one)) for one in values])
        for name, values in (("before", BEFORE), ("after", AFTER))
    ]
    assert "without" not in sentence(compare(*sides, None, None))


def test_a_measure_that_is_gone_is_not_replaced_by_another(file):
    before = file("a", [reading(finding("p95", 1), finding("connection", 1))] * 4)
    after = file("b", [reading(finding("connection", 1), state="CRITICAL")] * 4)
    why = "p95 was not measured before and after, but connection; 4 of 4 readings after were CRITICAL"
    with pytest.raises(NotUnderstoodError, match=why):
        compare(before, after, None, None)


def test_many_readings_are_read_in_time(tmp_path):
    path = tmp_path / "a.json"
    one = json.dumps(reading(*[finding(f"m{number}", number) for number in range(300)]))
    path.write_text("\n".join([one] * 500))
    assert load(str(path)).number == 500


# how they are taken


def test_no_two_readings_share_an_interval(monkeypatch):
    monkeypatch.setattr("stallwatch.experiment.readings.time.sleep", lambda _: None)
    with Apart(["check_mysql_status", "-H", "db1"], 1) as apart:
        assert apart.command == ["check_mysql_status", "-H", "db1", "--sample", "5s"]
        assert apart.pause == 1
    with Apart(["check_host", "--sample=2s"], 1) as apart:
        assert apart.command == ["check_host", "--sample=2s"]
    with Apart(["check_ndb_redo_buffer", "-H", "db1"], 1) as apart:  # which has no --sample
        assert "--sample" not in apart.command
    with Apart(["check_mysql_query"], 1) as apart:
        assert (apart.command, apart.pause) == (["check_mysql_query"], 1)


def test_what_cannot_measure_twice_in_a_run_has_a_memory_of_its_own_and_a_run_for_nothing(monkeypatch):
    slept, ran = [], []
    monkeypatch.setattr("stallwatch.experiment.readings.time.sleep", slept.append)
    monkeypatch.setattr("stallwatch.experiment.readings._said", ran.append)
    with Apart(["check_ndb_nodes", "-H", "db1"], 1) as apart:
        *words, option, folder = apart.command
        assert (words, option) == (["check_ndb_nodes", "-H", "db1"], "--state-dir")
        assert Path(folder).is_dir()
        assert ran == [apart.command]
        assert slept == [apart.pause] == [15]
    assert not Path(folder).exists()
    with Apart(["check_ndb_nodes", "--no-state"], 1) as apart:
        assert (apart.command, apart.pause) == (["check_ndb_nodes", "--no-state"], 1)


@pytest.mark.parametrize(
    ("after", "primary", "why"),
    [
        (
            reading(finding("p95", 1), name="mysql_status"),
            None,
            "are of mysql_query, those after of mysql_status",
        ),
        (reading(finding("p50", 1)), None, "nothing was measured both before"),
        (reading(), None, "nothing was measured both before"),
        (reading(finding("p95", 1)), "p99", "p99 was not measured before and after, but p95"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(file, after, primary, why):
    with pytest.raises(NotUnderstoodError, match=why):
        compare(file("a", [reading(finding("p95", 1))]), file("b", [after]), primary, None)


def test_what_was_taken_is_told_with_its_noise(file):
    told = taken(file("a", [reading(finding("p95", value)) for value in BEFORE]))
    assert told == "6 readings of mysql_query: p95 260 ms, noise 5.3 ms"
    assert taken(file("a", [reading(finding("p95", 0.26))])) == "1 readings of mysql_query: p95 260 ms"
    assert taken(file("a", [reading()])) == "1 readings of mysql_query, without a number: p95 ..."


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.2594, "s", "259 ms"),
        (3601.0, "s", "1 h"),
        (1536, "B", "1.5 KiB"),
        (99.123456, "%", "99.12 %"),
        (12345678, "c", "12345678"),
        (0.00001234, "", "1.234e-05"),
        (-2.5, "", "-2.5"),
    ],
)
def test_quantities_are_written_for_people(value, unit, text):
    assert said(value, unit) == text
