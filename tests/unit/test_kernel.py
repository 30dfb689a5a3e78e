"""What the kernel counts, as /proc tells it."""

import pytest
from stallwatch.sources import kernel


@pytest.fixture
def proc(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path))

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    return write


def test_disks_of_linux_2_6(proc):
    """The example of the kernel's Documentation/iostats.txt; partitions have four numbers until 2.6.24."""
    proc(
        "diskstats",
        "   3    0   hda 446216 784926 9550688 4382310 424847 312726 5922052 19310380 0 3376340 23705160\n"
        "   3    1   hda1 35486 38030 38030 38030\n",
    )
    disks = kernel.disks()
    assert set(disks) == {"hda"}
    assert disks["hda"] == (
        446216,
        784926,
        9550688,
        4382310,
        424847,
        312726,
        5922052,
        19310380,
        0,
        3376340,
        23705160,
        0,
    )


def test_later_kernels_count_discards_and_flushes_too(proc):
    proc("diskstats", " 254 0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n")
    assert kernel.disks()["vda"].queue_ms == 11
    assert kernel.disks()["vda"].others == 12 + 16


def test_processors_of_linux_2_6_9_know_no_steal(proc):
    proc("stat", "cpu  100 1 20 3000 40 5 6\ncpu0 100 1 20 3000 40 5 6\nintr 5\n")
    assert kernel.processors()["cpu"] == (1.0, 0.01, 0.2, 30.0, 0.4, 0.05, 0.06, 0.0, 0.0, 0.0)


def test_processors_that_count_more_than_we_know(proc):
    proc("stat", "cpu  " + " ".join("100" for _ in range(14)) + "\n")
    assert len(kernel.processors()["cpu"]) == 10


def test_interfaces_without_a_blank_and_with_an_alias(proc):
    """Linux 2.6 writes no blank behind the colon where a number is long."""
    proc(
        "net/dev",
        "Inter-|   Receive\n face |bytes\n"
        "  eth0:1940307573 56535 1 2 0 0 0 0 5189643 41601 3 4 0 0 0 0\n"
        "eth0:1: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
    )
    assert kernel.interfaces() == {"eth0": (4, 6), "eth0:1": (0, 0)}


def test_this_host_tells_it_all():
    assert kernel.uptime() > 0
    assert len(kernel.load()) == 3
    assert kernel.processors()["cpu"].user > 0
    assert kernel.memory()["MemTotal"] > 0
    assert 0 < kernel.available() <= kernel.memory()["MemTotal"]
    assert len(kernel.swapped()) == 2
    assert kernel.interfaces()
