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
    proc("stat", "cpu  100 1 20 3000 40 5 6 0 0 0\ncpu0 100 1 20 3000 40 5 6\nintr 5\n")
    assert kernel.processors()["cpu0"] == (1.0, 0.01, 0.2, 30.0, 0.4, 0.05, 0.06, 0.0, 0.0, 0.0)


def test_processors_that_count_more_than_we_know(proc):
    proc("stat", "cpu  " + " ".join("100" for _ in range(14)) + "\n")
    assert len(kernel.processors()["cpu"]) == 10


def test_each_processor_has_its_name_and_psutil_has_none(proc):
    proc("stat", "cpu  5 0 0 9 0 0 0 0 0 0\ncpu0 2 0 0 4 0 0 0 0 0 0\ncpu2 3 0 0 5 0 0 0 0 0 0\n")
    assert {name: one.user for name, one in kernel.processors().items()} == {
        "cpu": 0.05, "cpu0": 0.02, "cpu2": 0.03,
    }  # fmt: skip
    assert [one.user for one in kernel.asked("cpu_times", percpu=True)] == [0.02, 0.03]


def test_a_host_whose_memory_is_full_is_not_estimated_to_have_some(proc):
    proc(
        "meminfo",
        "MemTotal: 1000 kB\nMemFree: 90 kB\nMemAvailable: 0 kB\nActive(file): 8 kB\n"
        "Inactive(file): 8 kB\nSReclaimable: 8 kB\n",
    )
    proc("zoneinfo", "  low 1\n")
    assert kernel.memory() == (1000 << 10, 0)
    with pytest.warns(RuntimeWarning, match="could"):
        assert kernel.asked("virtual_memory").available in {0, 102 << 10}  # 5.9.4, 7.2.2


def test_psutil_is_what_tells_of_disks_and_interfaces_and_leaves_out_the_queue(proc):
    proc("diskstats", " 254 0 vda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n")
    theirs = kernel.asked("disk_io_counters", perdisk=True)["vda"]
    assert not {"in_flight", "queue_time", "weighted_time"} & set(theirs._fields)
    assert sorted(theirs) == [1, 2, 4, 5, 6, 8, 10, 3 * kernel.SECTOR, 7 * kernel.SECTOR]
    assert kernel.disks()["vda"] == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 + 16)


def test_where_the_kernel_counts_no_disks_those_of_another_place_are_not_taken(proc):
    assert proc
    with pytest.raises(FileNotFoundError):
        kernel.disks()


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
    total, available = kernel.memory()
    assert 0 < available <= total
    assert len(kernel.swapped()) == 2
    assert kernel.interfaces()
