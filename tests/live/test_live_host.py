"""check_host on the host that the tests run on."""

import contextlib
import mmap
import os
import threading
import time

import plugin_command
import pytest
from plugin_command import Said
from stallwatch.sources import host, kernel

SAMPLE = ["--sample", "2s", "--timeout", "60s"]


def said(home, *arguments):
    return Said.of(plugin_command.run(home, "check_host", "--state-dir", home / "state", *arguments))


@pytest.fixture
def disk(tmp_path):
    """The disk below the tests' own folder."""
    try:
        name = host.below(str(tmp_path))[0]
    except host.NoBlocksError as error:
        pytest.skip(str(error))
    if name not in kernel.disks():
        pytest.skip(f"the kernel does not count what {name} does")
    return name


@contextlib.contextmanager
def meanwhile(work):
    """Do some work again and again."""
    ended = threading.Event()

    def go_on():
        while not ended.is_set():
            work()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def writing(folder):
    """Write to the disk, past the page cache where that is possible."""
    flags = os.O_RDWR | os.O_CREAT
    try:
        file = os.open(folder / "written", flags | os.O_DIRECT)
    except OSError:
        file = os.open(folder / "written", flags | os.O_SYNC)
    octets = mmap.mmap(-1, 1 << 16)
    try:
        with meanwhile(lambda: os.pwrite(file, octets, 0)):
            yield
    finally:
        os.close(file)


def test_a_disk_that_is_written_to(tmp_path, disk):
    with writing(tmp_path):
        told = said(tmp_path, *SAMPLE, "-v", "--data-dir", tmp_path)
    assert told.status in {0, 1}
    assert told.number(f"{disk}_writes") > 0
    assert told.number(f"{disk}_written") >= 1 << 16
    assert told.number(f"{disk}_await") > 0
    assert 0 < told.number("disk_busy") <= 100
    assert f"disk {disk} (" in told.output


def test_processors_that_work(tmp_path):
    with meanwhile(lambda: sum(range(10_000))):
        told = said(tmp_path, *SAMPLE)
    assert told.status in {0, 1}
    shares = {name: told.number(name) for name in ("user", "system", "iowait", "steal")}
    assert told.number("user") > 0
    assert sum(shares.values()) <= 100.1
    assert told.number("cpu") == pytest.approx(shares["user"] + shares["system"] + shares["steal"], abs=0.1)
    assert told.number("busiest_processor") > 0
    assert 0 < told.number("memory_available") < 100
    assert told.number("load") >= 0


def test_since_the_last_run(tmp_path):
    said(tmp_path, "--timeout", "60s")
    begun = kernel.uptime()
    while kernel.uptime() < begun + 2:
        time.sleep(0.1)
    told = said(tmp_path, "--timeout", "60s")
    assert told.status in {0, 1}
    assert told.number("cpu") >= 0
    assert "swap_in" in told.perfdata


def test_everything_is_told_with_v(tmp_path, disk):
    told = said(tmp_path, *SAMPLE, "-vvv", "--disk", disk)
    table = [line.split() for line in told.more]
    assert any(line[:2] == ["disk", "busy"] for line in table)
    assert any(line and line[0] == disk for line in table)
