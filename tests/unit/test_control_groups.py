"""What is read of the control groups that keep a process from running, in both versions."""

import pytest
from stallwatch.sources import control_groups, kernel
from stallwatch.sources.control_groups import Rationed, exhausted, is_frozen, rationed

PID = 4711
SECOND = "0::/pods/mysql\n"
FIRST = "4:memory:/pods\n3:cpu,cpuacct:/pods/mysql\n2:freezer:/pods/mysql\n"
STAT = "usage_usec 9000\nnr_periods {}\nnr_throttled {}\nthrottled_usec 77\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file below the groups; the process is in those of ``listed``."""
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path / "proc"))
    monkeypatch.setattr(control_groups, "PLACE", str(tmp_path / "groups"))

    def write(listed, **files):
        for path, text in {f"proc/{PID}/cgroup": listed, **files}.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    return write


@pytest.mark.parametrize(
    ("listed", "inside"),
    [(SECOND, ""), (SECOND, "unified/"), (FIRST, "cpu,cpuacct/"), (FIRST + SECOND, "cpu,cpuacct/")],
)
def test_the_limit_of_a_group_and_of_those_around_it(write, listed, inside):
    write(listed, **{f"groups/{inside}pods/mysql/cpu.stat": STAT.format(100, 7)})
    write(listed, **{f"groups/{inside}pods/cpu.stat": STAT.format(200, 150)})
    write(listed, **{f"groups/{inside}cpu.stat": "usage_usec 9000\n"})
    assert sorted(rationed(PID).values()) == [Rationed(100, 7), Rationed(200, 150)]


@pytest.mark.parametrize("stat", ["", "nr_periods 0\nnr_throttled 0\n", "nr_periods x\n", "usage_usec 9\n"])
def test_a_group_without_a_limit(write, stat):
    write(SECOND, **{"groups/pods/mysql/cpu.stat": stat})
    assert rationed(PID) == {}


def test_without_groups_nothing_is_known(write):
    assert rationed(PID) == {}
    assert not is_frozen(PID)


def test_the_tightest_group_counts():
    before = {"a": Rationed(100, 50), "b": Rationed(10, 0)}
    after = {"a": Rationed(110, 52), "b": Rationed(20, 9), "c": Rationed(4, 1)}
    assert exhausted(before, after) == 90.0
    assert exhausted(after, after) == exhausted({}, {}) == 0.0
    assert exhausted({"a": Rationed(9, 9)}, {"a": Rationed(2, 1)}) == 0.0  # it was made anew


@pytest.mark.parametrize(
    ("listed", "file", "frozen", "not_frozen"),
    [
        (SECOND, "pods/cgroup.events", "populated 1\nfrozen 1\n", "populated 1\nfrozen 0\n"),
        (FIRST, "freezer/pods/mysql/freezer.state", "FROZEN\n", "THAWED\n"),
    ],
)
def test_a_frozen_group(write, listed, file, frozen, not_frozen):
    write(listed, **{f"groups/{file}": frozen})
    assert is_frozen(PID)
    write(listed, **{f"groups/{file}": not_frozen})
    assert not is_frozen(PID)
