"""What check_host says of a host, from run to run."""

import json
import os
import re
import runpy
import time
from pathlib import Path

import pytest
from fake_host import GIB, FakeHost
from first_line import first_line, perfdata
from stallwatch.sources import kernel

PLUGIN = runpy.run_path(str(Path(__file__).parents[2] / "plugins" / "check_host"))
BUSY = {"writes": 60_000, "sectors_written": 6_000_000, "busy_ms": 57_000}


@pytest.fixture
def host(tmp_path, monkeypatch):
    host = FakeHost(tmp_path / "proc")
    monkeypatch.setattr(kernel, "PLACE", str(host.folder))
    monkeypatch.setattr(time, "time", lambda: host.now)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(host.processors)))
    return host


@pytest.fixture
def look(host, tmp_path):
    """Run the plugin on that host."""

    def run(*arguments, write=True):
        if write:
            host.write()
        return PLUGIN["check"].run(PLUGIN["findings"], ["--state-dir", str(tmp_path / "state"), *arguments])

    return run


@pytest.fixture
def looked(look, host):
    """Run it a minute after the last time, at which all was quiet."""

    def run(*arguments, cpu=None, disk=None, seconds=60):
        if not run.before:
            look(*arguments)
        run.before = True
        host.later(seconds, cpu, disk)
        return look(*arguments)

    run.before = False
    return run


def test_a_first_run_says_what_it_cannot_know_yet(look):
    status, text = look()
    assert status == 0
    assert first_line(text) == "HOST OK - load 0.1 per processor, 50 % of memory available"
    assert "told from the next run on: no earlier look to compare with" in text
    assert set(perfdata(text)) == {"load", "memory_available"}


def test_all_is_told_in_a_sentence(looked):
    status, text = looked(cpu={"user": 24, "system": 12, "iowait": 6}, disk={**BUSY, "write_ms": 120_000})
    assert status == 0
    assert first_line(text) == (
        "HOST OK - processors 15 % busy (user 10, system 5, iowait 2.5, steal 0 %, the busiest one 15 %), "
        "load 0.1 per processor, disk sda 95 % busy (1000 requests/s, await 2 ms), 50 % of memory available, "
        "no swapping, over 1 min"
    )
    assert len(text.splitlines()) == 1


def test_perfdata_has_the_names_of_sar_and_iostat(looked):
    _, text = looked(cpu={"user": 24, "steal": 24}, disk={**BUSY, "write_ms": 120_000, "queue_ms": 180_000})
    assert perfdata(text) == {
        "cpu": "20%;95", "user": "10%", "system": "0%", "iowait": "0%", "steal": "10%;20;40",
        "busiest_processor": "20%", "load": "0.1;5", "disk_busy": "95%", "disk_queue": "3",
        "disk_await": "0.002s", "memory_available": "50%",
        "swap_in": "0B;1048576;10485760", "swap_out": "0B",
        "network_errors": "0;1", "network_drops": "0;100", "sda_busy": "95%", "sda_await": "0.002s",
        "sda_queue": "3", "sda_reads": "0", "sda_writes": "1000", "sda_read": "0B",
        "sda_written": "51200000B",
    }  # fmt: skip


def test_guests_are_counted_once(looked):
    _, text = looked(cpu={"user": 24})
    assert perfdata(text)["user"] == "10%"


def test_guests_of_a_hypervisor_are_part_of_user(look, host):
    look()
    host.later(60, {"user": 24})
    host.cpu["guest"] += 24
    assert perfdata(look()[1])["cpu"] == "10%;95"


@pytest.mark.parametrize("state", ["iowait", "idle"])
def test_what_goes_back_by_itself_is_none(look, host, state):
    """The man page of /proc says so of iowait; idle does it on hosts without ticks."""
    look()
    host.later(60, {"user": 60})
    host.cpu[state] -= 300 if state == "idle" else 20
    status, text = look()
    assert status == (1 if state == "idle" else 0)
    assert float(perfdata(text)["cpu"].partition("%")[0]) == (100 if state == "idle" else 25)


def test_processors_that_are_all_busy_are_a_warning(looked):
    status, text = looked(cpu={"user": 200, "system": 38})
    assert status == 1
    assert first_line(text) == (
        "HOST WARNING - processors 99.2 % busy over 1 min (user 83, system 16, iowait 0, steal 0 %, "
        "the busiest one 99 %): load 0.1 per processor: who takes them: top; of mysqld: check_mysqld_process"
    )


def test_steal_is_critical_only_if_it_lasts(looked):
    for run in range(1, 5):
        status, text = looked(cpu={"steal": 120})
        assert status == (1 if run < 3 else 2)
        assert "hypervisor keeps 50 % of the processors' time" in first_line(text)
        assert ("critical after 3 runs in a row" in text) == (run < 3)
        assert perfdata(text)["steal"] == "50%;20;40"
    assert looked()[0] == 0
    assert looked(cpu={"steal": 120})[0] == 1


def test_a_run_soon_after_another_does_not_count(looked):
    assert looked(cpu={"steal": 120})[0] == 1
    for _ in range(5):
        assert looked(cpu={"steal": 1}, seconds=1)[0] == 1
    assert looked(cpu={"steal": 120})[0] == 1
    assert looked(cpu={"steal": 120})[0] == 2


def test_with_confirm_1_it_is_critical_at_once(looked):
    assert looked("--confirm", "1", cpu={"steal": 120})[0] == 2


def test_waiting_for_disks_is_no_problem_unless_somebody_says_so(looked):
    assert looked(cpu={"iowait": 200})[0] == 0
    status, text = looked("--iowait-warning", "50", cpu={"iowait": 200}, disk=BUSY)
    assert status == 1
    assert "wait for disks 83.3 %" in first_line(text)
    assert "disk sda 95 % busy" in first_line(text)


def test_swapping_in_is_told_with_its_cause(looked, host):
    looked()
    for run in range(1, 4):
        host.swapped["pswpin"] += 60 * 12 * 256 * (4096 // os.sysconf("SC_PAGE_SIZE") or 1)
        status, text = looked()
        assert status == (1 if run < 3 else 2)
        assert "12 MiB/s read from swap over 1 min: tasks wait for memory" in first_line(text)


def test_swapping_out_alone_is_no_problem(looked, host):
    looked()
    host.swapped["pswpout"] += 10_000_000
    assert looked()[0] == 0


def test_memory_is_judged_by_what_is_available_not_by_what_is_free(look, host):
    host.memory["MemFree"] = 1
    assert look()[0] == 0
    host.memory["MemAvailable"] = 2 * GIB
    status, text = look()
    assert status == 1
    assert "3.1 % of memory available (2 GiB of 64 GiB)" in first_line(text)


def test_a_bare_limit_for_memory_is_refused(look):
    status, text = look("--memory-available-warning", "10")
    assert status == 3
    assert '"10:"' in text


@pytest.mark.parametrize(("kind", "errors", "status"), [(0, 30, 0), (0, 120, 1), (1, 3000, 0), (1, 6600, 1)])
def test_network(looked, host, kind, errors, status):
    looked()
    host.network["eth0"][kind] += errors
    found, text = looked()
    assert found == status
    if status:
        assert first_line(text).startswith("HOST WARNING - eth0: ")


def test_loopback_is_not_looked_at(looked, host):
    looked()
    host.network["lo"] = [99999, 99999, 0, 0]
    assert looked()[0] == 0


def test_partitions_loop_and_ram_are_left_out(looked, host):
    looked()
    for name in host.disks:
        host.disks[name]["writes"] += 6000
        host.disks[name]["busy_ms"] += 30_000
    _, text = looked("-v")
    assert re.findall(r"^(\w+) +50 ", text, re.MULTILINE) == ["sda"]


def test_a_partition_may_be_asked_for(look, host):
    look("--disk", "sda[12]")
    host.later(60)
    host.disks["sda2"]["busy_ms"] += 30_000
    _, text = look("--disk", "sda[12]")
    assert "disk sda2 of 2 50 % busy" in first_line(text)
    assert perfdata(text)["sda1_busy"] == "0%"


def test_a_disk_that_is_not_there(look):
    status, text = look("--disk", "sdb")
    assert status == 3
    assert text == "HOST UNKNOWN - --disk sdb is not here: there are sda"


def test_a_directory_that_is_not_there(look):
    status, text = look("--data-dir", "/nowhere")
    assert (status, text) == (3, "HOST UNKNOWN - --data-dir /nowhere: No such file or directory")


def test_two_hundred_disks_and_48_processors_stay_short(look, host):
    host.processors = 48
    host.disks = {f"sd{letter}{number}x": host.disk(5) for letter in "abcdefghij" for number in range(20)}
    look()
    host.later(60)
    for number, disk in enumerate(host.disks.values()):
        disk["writes"] += 60
        disk["busy_ms"] += 100 * number
    _, text = look("-v")
    assert "disk sdj19x of 200 33.2 % busy" in first_line(text)
    assert len(text.splitlines()[0].encode()) <= 1023
    assert len(perfdata(text)) == 15
    table = [line for line in text.splitlines() if line.startswith("sd")]
    assert table[0].startswith("sdj19x")


def test_disks_that_come_and_go(look, host):
    look()
    host.later(60)
    host.disks = {"sdb": host.disk(7)}
    status, text = look()
    assert status == 0
    assert "disk" not in first_line(text)
    host.later(60)
    host.disks["sdb"]["busy_ms"] += 6000
    assert "disk sdb 10 % busy" in first_line(look()[1])


def test_a_chosen_disk_that_has_gone_is_not_ok(look, host):
    look("--disk", "sda|sdb")
    host.later(60)
    del host.disks["sda"]
    host.disks["sdb"] = host.disk(7)
    assert look("--disk", "sda")[0] == 3


def test_another_disk_of_the_same_name_is_no_load(look, host):
    look()
    host.later(60)
    host.disks["sda"] = host.disk(5)
    status, text = look()
    assert status == 0
    assert "disk" not in first_line(text)


@pytest.mark.parametrize("times", [1, 2, 3])
def test_milliseconds_begin_again_after_2_to_the_power_of_32(look, host, times):
    sda = host.disks["sda"]
    sda |= {"write_ms": 2**32 - 60_000, "queue_ms": 2**32 - 100, "busy_ms": 2**32 - 1}
    look()
    for _ in range(times):
        host.later(60, disk={"writes": 60_000, "sectors_written": 6_000_000})
        for time_ in ("write_ms", "queue_ms", "busy_ms"):
            sda[time_] = (sda[time_] + 30_000) % 2**32
        _, text = look()
        assert perfdata(text)["sda_busy"] == "50%"
        assert perfdata(text)["sda_queue"] == "0.5"
        assert perfdata(text)["sda_await"] == "0.0005s"


def test_software_raid_without_times(look, host):
    """md of Linux before 5.14 counts requests, but no time."""
    host.disks = {"md0": host.disk(5) | {"read_ms": 0, "write_ms": 0, "busy_ms": 0, "queue_ms": 0}}
    look()
    host.later(60)
    host.disks["md0"]["writes"] += 600
    status, text = look()
    assert status == 0
    assert "disk md0 (10 requests/s)" in first_line(text)
    assert not {"md0_busy", "md0_await", "disk_busy"} & set(perfdata(text))
    assert perfdata(text)["md0_writes"] == "10"


def test_a_host_that_was_started_meanwhile(looked, host):
    looked()
    host.uptime = 5.0
    host.cpu = dict.fromkeys(host.cpu, 1.0)
    status, text = looked(seconds=10)
    assert status == 0
    assert "it has started anew since the last look" in text


def test_a_container_without_diskstats(look, host):
    host.write()
    (host.folder / "diskstats").unlink()
    status, text = look(write=False)
    assert status == 0
    assert f"[OK] not looked at: {host.folder}/diskstats: No such file or directory" in text
    status, text = look("--disk", "sda", write=False)
    assert status == 3
    assert f"{host.folder}/diskstats: No such file or directory" in text


@pytest.mark.parametrize("file", ["stat", "diskstats", "meminfo", "vmstat", "net/dev", "loadavg"])
@pytest.mark.parametrize("text", ["", "cpu x\n", "8 0 sda a b c d e f g h i j k\n", "\0\n", "1\n2\n3\n"])
def test_what_cannot_be_understood_is_said(look, host, file, text):
    host.write()
    look(write=False)
    (host.folder / file).write_text(text)
    host.later(60)
    status, said = look(write=False)
    assert "internal error" not in said
    assert status in {0, 3}


def test_without_proc_there_is_nothing_to_tell(look):
    status, text = look(write=False)
    assert status == 3
    assert "uptime: No such file or directory" in text


def test_fewer_processors_for_us_than_there_are(look, host, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    _, text = look()
    assert "[OK] told is the whole host with 4 processors, of which we may use 1" in text


def test_a_kernel_that_does_not_say_what_is_available(look, host):
    """MemAvailable came with Linux 3.14; psutil knows how it is estimated."""
    del host.memory["MemAvailable"]
    host.memory |= {"Buffers": GIB, "Cached": 8 * GIB, "Active(file)": GIB, "Inactive(file)": 7 * GIB}
    host.memory |= {"SReclaimable": GIB, "Shmem": 0, "Active": GIB, "Inactive": GIB, "Slab": GIB}
    _, text = look()
    assert 1 < float(perfdata(text)["memory_available"].partition("%")[0]) < 20


def test_no_state_needs_a_sample(look):
    status, text = look("--no-state")
    assert status == 3
    assert "--no-state leaves no last run to compare with: add --sample 5s" in text


def test_a_sample_looks_twice(host, look, monkeypatch):
    def sleep(seconds):
        host.later(seconds, {"steal": 4 * seconds * 0.9})
        host.write()

    monkeypatch.setattr(time, "sleep", sleep)
    status, text = look("--sample", "3s")
    assert status == 1  # one sample pages nobody
    assert "hypervisor keeps 90 %" in first_line(text)
    assert look("--sample", "3s", "--confirm", "1")[0] == 2


def test_json(looked):
    _, text = looked("--output", "json", disk=BUSY)
    findings = {one["name"]: one for one in json.loads(text)["findings"]}
    assert findings["disk_busy"]["value"] == 95
    table = next(one["table"] for one in json.loads(text)["findings"] if "table" in one)
    assert table[0]["disk"] == "sda"
    assert table[0]["w_per_s"] == 1000


def test_a_memory_that_was_damaged_is_no_crash(look, host, tmp_path):
    look()
    host.later(60, disk=BUSY)
    look()
    path = next((tmp_path / "state").glob("*.json"))
    kept = json.loads(path.read_text())
    for name in list(kept["values"]):
        for odd in (None, 5, [], {"sda": [1]}, {"sda": {"a": 1}}):
            path.write_text(json.dumps({**kept, "values": {**kept["values"], name: odd}}))
            host.later(60, disk=BUSY)
            status, text = look()
            assert "internal error" not in text, (name, odd)
            assert status in {0, 1}


def test_a_disk_at_its_limit_is_a_warning_however_long_it_lasts(looked):
    """The article's disk: 1454 writes/s, 95.3 % busy, and ever more who wait for it."""
    for run, wait in enumerate((2, 4, 8.25, 16, 33), start=1):
        disk = {
            "writes": 60 * 1454, "writes_merged": 60 * 27796, "sectors_written": 60 * 230_392,
            "write_ms": round(60 * 1454 * wait), "queue_ms": round(60 * 1454 * wait), "busy_ms": 57_180,
        }  # fmt: skip
        status, text = looked(cpu={"iowait": 60}, disk=disk)
        assert status == (0 if run < 3 else 1)
        if run == 3:
            assert first_line(text) == (
                "HOST WARNING - disk sda is at its limit: for 3 min it did no more than 1454 requests/s, "
                "112.5 MiB/s, while their wait rose from 2 ms to 8.2 ms: 95.3 % busy, and processors wait "
                "for it 25 % of their time: who reads or writes so much (iotop, pidstat -d)? Spread it over "
                "more disks, or faster ones"
            )
