"""What our own host tells: disks, processors."""

import os

import pytest
from stallwatch.sources import host, kernel
from stallwatch.sources.host import DiskLoad, DiskUse


@pytest.fixture
def device(tmp_path, monkeypatch):
    """Lets the kernel say that this directory is on a device of that path."""

    def on(*path, partition=False):
        place = tmp_path.joinpath("devices", *path)
        place.mkdir(parents=True)
        if partition:
            (place / "partition").write_text("1\n")
        number = os.stat(tmp_path).st_dev
        (tmp_path / f"{os.major(number)}:{os.minor(number)}").symlink_to(place)
        monkeypatch.setattr(host, "_SYS_BLOCK", str(tmp_path))
        return str(tmp_path)

    return on


@pytest.mark.parametrize(
    ("path", "partition", "disk"),
    [
        (("sda", "sda1"), True, "sda"),
        (("nvme0n1", "nvme0n1p2"), True, "nvme0n1"),
        (("virtual", "dm-0"), False, "dm-0"),
        (("vdb",), False, "vdb"),
    ],
)
def test_the_disk_of_a_directory(device, path, partition, disk):
    assert host.disk_of(device(*path, partition=partition)) == disk


@pytest.mark.parametrize("directory", ["/proc", "/nowhere/at/all"])
def test_a_directory_that_is_on_no_disk(directory):
    assert host.disk_of(directory) is None


def test_a_file_system_without_a_block_device(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "_SYS_BLOCK", str(tmp_path))
    assert host.disk_of(str(tmp_path)) is None


def test_what_a_disk_did_between_two_looks():
    before = DiskUse(100.0, 50.0, 10.0, 1000)
    assert host.disk_load(before, DiskUse(102.0, 51.0, 18.0, 1200)) == DiskLoad(50.0, 0.04)
    assert host.disk_load(before, DiskUse(102.0, 50.0, 10.0, 1000)) == DiskLoad(0.0, 0.0)
    assert host.disk_load(before, DiskUse(102.0, 53.0, 18.0, 1200)).busy == 100
    assert host.disk_load(before, before) is None


DISKSTATS = "   8       0 sda 7 1 56 3500 5 2 40 1500 0 4000 5000\n"  # as Linux 4.17 and older write it


@pytest.fixture
def diskstats(tmp_path, monkeypatch):
    """Lets the kernel count disks so."""

    def told(text):
        (tmp_path / "diskstats").write_text(text)
        monkeypatch.setattr(kernel, "PLACE", str(tmp_path))

    return told


def test_what_a_disk_has_done(diskstats):
    diskstats(DISKSTATS)
    assert host.disk_use("sda")[1:] == (4.0, 5.0, 12)


@pytest.mark.parametrize("text", [DISKSTATS, DISKSTATS.replace("sda", "sdb 1e9"), ""])
def test_a_disk_that_is_not_counted(diskstats, text):
    diskstats(text)
    assert host.disk_use("sdb") is None


def test_a_kernel_that_counts_no_disks(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel, "PLACE", str(tmp_path))
    assert host.disk_use("sda") is None


def test_the_disks_of_this_host_are_counted():
    disk = host.disk_of(os.path.dirname(__file__))
    if not disk:
        pytest.skip("the file system of the tests is on no disk of its own")
    assert host.disk_use(disk).busy >= 0


def test_free_space():
    assert host.free_bytes("/") > 0
    assert host.free_bytes("/nowhere/at/all") is None


def test_processors():
    assert 1 <= host.processors() <= os.cpu_count()
