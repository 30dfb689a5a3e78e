"""Which disks are below a directory, and which are looked at at all."""

import os
import re

import pytest
from stallwatch.probes.host.collect import chosen, is_left_out
from stallwatch.sources import host
from stallwatch.sources.host import NoBlocksError

NUMBER = (250, 7)


class Sys:
    """A folder like /sys with block devices; a directory of the test is on one of them."""

    def __init__(self, folder, monkeypatch):
        self.devices, self.numbers = folder / "devices", folder / "numbers"
        self.numbers.mkdir()
        self.mounts = folder / "mountinfo"
        self.mounts.write_text("")
        self.on = NUMBER
        monkeypatch.setattr(host, "_SYS_BLOCK", str(self.numbers))
        monkeypatch.setattr(host, "_MOUNTS", str(self.mounts))
        real = os.stat

        def stat(path, *arguments, **settings):
            found = real(path, *arguments, **settings)
            if str(path) != str(folder):
                return found
            return os.stat_result((0, 0, os.makedev(*self.on), *found[3:]))

        monkeypatch.setattr(os, "stat", stat)

    def disk(self, name, *, of=(), number=None):
        """Make a disk that is made of others."""
        path = self.devices / name
        (path / "slaves").mkdir(parents=True)
        for one in of:
            (path / "slaves" / one.name).symlink_to(one)
        return self._numbered(path, number)

    def partition(self, disk, name, number=None):
        path = disk / name
        path.mkdir()
        (path / "partition").write_text("1\n")
        return self._numbered(path, number)

    def _numbered(self, path, number):
        if number:
            (self.numbers / f"{number[0]}:{number[1]}").symlink_to(path)
        return path


@pytest.fixture
def sys(tmp_path, monkeypatch):
    return Sys(tmp_path, monkeypatch)


def test_a_disk_itself(sys, tmp_path):
    sys.disk("nvme0n1", number=NUMBER)
    assert host.below(str(tmp_path)) == ["nvme0n1"]


def test_a_partition_is_on_its_disk(sys, tmp_path):
    sys.partition(sys.disk("sda"), "sda3", NUMBER)
    assert host.below(str(tmp_path)) == ["sda"]


def test_a_name_with_a_slash(sys, tmp_path):
    """The article's RAID controller: "!" stands for "/" in /sys."""
    sys.partition(sys.disk("cciss!c0d1"), "cciss!c0d1p1", NUMBER)
    assert host.below(str(tmp_path)) == ["cciss/c0d1"]


def test_a_logical_volume_on_software_raid_on_partitions(sys, tmp_path):
    parts = [sys.partition(sys.disk(name), f"{name}1") for name in ("sda", "sdb")]
    sys.disk("dm-0", of=[sys.disk("md0", of=parts)], number=NUMBER)
    assert host.below(str(tmp_path)) == ["dm-0", "md0", "sda", "sdb"]


def test_a_disk_that_is_part_twice_is_named_once(sys, tmp_path):
    disk = sys.disk("sda")
    sys.disk("dm-1", of=[sys.partition(disk, "sda1"), sys.partition(disk, "sda2")], number=NUMBER)
    assert host.below(str(tmp_path)) == ["dm-1", "sda"]


def test_a_file_system_with_a_number_of_its_own(sys, tmp_path):
    sys.mounts.write_text(
        "22 1 0:5 / / rw - ext4 /dev/nothing rw\n"
        f"30 22 0:41 / {tmp_path} rw,relatime shared:1 - nfs4 filer:/export rw,vers=4.2\n"
    )
    with pytest.raises(NoBlocksError) as error:
        host.below(str(tmp_path))
    assert str(error.value) == (
        f"{tmp_path} is on nfs4 (filer:/export), which is on no block device that is seen here: "
        "name its disk with --disk"
    )


def test_btrfs_is_on_what_it_is_mounted_from(sys, tmp_path, monkeypatch):
    sys.disk("sdc", number=(8, 32))
    sys.mounts.write_text(f"30 22 0:41 / {tmp_path} rw - btrfs /dev/stallwatch-disk rw,subvol=/\n")
    real = os.stat

    def stat(path, *arguments, **settings):
        if path == "/dev/stallwatch-disk":
            return os.stat_result((0o60660, *[0] * 9), {"st_rdev": os.makedev(8, 32)})
        return real(path, *arguments, **settings)

    monkeypatch.setattr(os, "stat", stat)
    assert host.below(str(tmp_path)) == ["sdc"]


def test_the_file_system_that_is_nearest_counts(sys, tmp_path):
    place = str(tmp_path)
    sys.mounts.write_text(
        "22 1 0:5 / / rw - overlay overlay rw\n"
        f"23 1 0:6 / {place} rw - tmpfs first rw\n"
        f"24 1 0:7 / {place} rw - tmpfs last rw\n"
        f"25 1 0:8 / {place}2 rw - ext4 other rw\n"
    )
    with pytest.raises(NoBlocksError, match=r"tmpfs \(last\)"):
        host.below(str(tmp_path))


def test_without_mountinfo(sys, tmp_path):
    sys.mounts.unlink()
    with pytest.raises(NoBlocksError, match="is on a file system that is on no block device"):
        host.below(str(tmp_path))


def test_a_blank_in_a_mount_point():
    assert host._plain(r"/srv/my\040data\134x") == r"/srv/my data\x"


@pytest.mark.parametrize(
    "name", ["sda1", "nvme0n1p2", "cciss/c0d0p1", "mmcblk0p1", "md0p1", "loop3", "ram0", "zram0"]
)
def test_partitions_and_disks_in_memory_are_left_out(name):
    assert is_left_out(name, {"sda", "nvme0n1", "cciss/c0d0", "mmcblk0", "md0", name})


@pytest.mark.parametrize(
    "name", ["sda", "sdaa", "dm-1", "dm-10", "md10", "nvme0n1", "nvme0n10", "xvda1", "drbd10"]
)
def test_whole_disks_are_not(name):
    """xvda1 is a disk of its own on some virtual machines: there is no xvda."""
    there = {"sda", "dm-1", "md1", "nvme0n1", "drbd1", name}
    assert not is_left_out(name, there)


def test_the_disks_of_directories_are_told_with_the_directory(sys, tmp_path):
    sys.partition(sys.disk("sda"), "sda3", NUMBER)
    assert chosen([], [str(tmp_path)]) == ({"sda": str(tmp_path)}, [])
    assert chosen([], []) == (None, [])


def test_a_pattern_that_nothing_matches():
    places, (problem,) = chosen([re.compile("nothing.*")], [])
    assert places == {}
    assert problem.what.startswith("--disk nothing.* is not here: there ")
