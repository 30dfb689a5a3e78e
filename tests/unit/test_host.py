"""What check_host says of a host, from run to run."""

import ast
import json
import os
import re
import runpy
import sys
import time
from pathlib import Path

import pytest
from clock import keep_time
from fake_host import GIB, FakeHost
from first_line import first_line, perfdata
from stallwatch.sources import kernel

ROOT = Path(__file__).parents[2]
PLUGIN = runpy.run_path(str(ROOT / "plugins" / "check_host"))
BUSY = {"writes": 60_000, "sectors_written": 6_000_000, "busy_ms": 57_000}


@pytest.fixture
def host(tmp_path, monkeypatch):
    host = FakeHost(tmp_path / "proc")
    monkeypatch.setattr(kernel, "PLACE", str(host.folder))
    keep_time(monkeypatch, lambda: host.now)
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
    assert "known from the next run on: no earlier look to compare with" in text
    assert set(perfdata(text)) == {"load", "memory_available"}


def test_all_is_told_in_a_sentence(looked):
    status, text = looked(cpu={"user": 24, "system": 12, "iowait": 6}, disk={**BUSY, "write_ms": 120_000})
    assert status == 0
    assert first_line(text) == (
        "HOST OK - processors 15 % busy, load 0.1 per processor, disk sda 95 % busy (await 2 ms), 50 % of "
        "memory available, no swapping, over 1 min"
    )
    assert len(text.splitlines()) == 1


def test_averages_over_a_long_pause_are_not_shown_as_what_happens_now(looked):
    assert "averages" not in looked(cpu={"user": 24}, seconds=600)[1]
    status, text = looked(cpu={"user": 24}, seconds=9 * 3600)
    assert status == 0
    assert first_line(text).endswith(", over 9 h")
    assert "[OK] averages over 9 h, since the last run: --sample 5s shows what happens now" in text


def test_a_second_run_by_hand_shows_the_long_averages_again(look, looked, host):
    looked(cpu={"user": 24}, seconds=9 * 3600)
    host.later(5, {"user": 1})
    assert "[OK] averages over 9 h: --sample 5s shows what happens now" in look()[1]


def test_what_the_sentence_leaves_out_is_told_with_v(look, looked, host):
    looked(cpu={"user": 24, "system": 12, "iowait": 6})
    host.later(60, {"user": 24, "system": 12, "iowait": 6})
    _, text = look("-v")
    parts = (
        "user 10 %, system 5 %, iowait 2.5 %, steal 0 %, the busiest processor 15 %, load 0.1 per processor"
    )
    assert text.splitlines()[1] == f"  processors 15 % busy over 1 min, {parts}"


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
    """The man page of /proc says so of iowait; idle does it when a processor goes off-line."""
    look()
    host.later(60, {"user": 60})
    host.cpu[state] -= 300 if state == "idle" else 20
    status, text = look()
    assert status == 0
    assert float(perfdata(text)["cpu"].partition("%")[0]) == 25


def test_processors_that_are_all_busy_are_a_warning(looked):
    status, text = looked(cpu={"user": 200, "system": 38})
    assert status == 1
    assert first_line(text) == (
        "HOST WARNING - processors 99.2 % busy over 1 min (limit 95 %), user 83 %, system 16 %, iowait 0 %, "
        "steal 0 % - see top for who uses them"
    )


def test_the_load_of_busy_processors_is_no_second_problem(looked, host):
    host.load = (24, 24, 24)
    status, text = looked(cpu={"user": 200, "system": 38})
    assert status == 1
    assert first_line(text).startswith(
        "HOST WARNING - processors 99.2 % busy over 1 min (limit 95 %), user 83 %"
    )
    assert "more problem" not in text
    assert text.endswith("\n  load 24 over 5 min, 6 per processor")
    assert perfdata(text)["load"].startswith("6;5")


def test_a_load_that_is_worse_than_its_processors_is_on_the_line(looked, host):
    host.load = (24, 24, 24)
    status, text = looked("--load-critical", "5", "--confirm", "1", cpu={"user": 200, "system": 38})
    assert status == 2
    assert first_line(text).startswith(
        "HOST CRITICAL - load 24 over 5 min, 6 per processor (limit 5), processors 99.2 %"
    )


def test_a_load_of_tasks_that_wait_for_a_disk_is_a_problem_of_its_own(looked, host):
    host.load = (24, 24, 24)
    status, text = looked(cpu={"user": 20})
    assert status == 1
    assert first_line(text).startswith(
        "HOST WARNING - load 24 over 5 min, 6 per processor (limit 5), processors 8.3 %"
    )


def test_steal_is_critical_only_if_it_lasts(looked):
    for run in range(1, 5):
        status, text = looked(cpu={"steal": 120})
        assert status == (1 if run < 3 else 2)
        assert "steal 50 % of the processors' time" in first_line(text)
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


def test_waiting_for_disks_is_no_problem_unless_somebody_says_so(look, looked):
    assert looked(cpu={"iowait": 200})[0] == 0
    look("--iowait-warning", "50")
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
        assert "12 MiB/s read from swap over 1 min, tasks wait for memory" in first_line(text)


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
    assert "3.1 % of memory available (minimum 5 %), 2 GiB of 64 GiB" in first_line(text)


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
    assert first_line(text) == "HOST UNKNOWN - --disk sdb is not here: there are sda"


def test_a_directory_that_is_not_there(look):
    status, text = look("--data-dir", "/nowhere")
    assert (status, first_line(text)) == (
        3,
        "HOST UNKNOWN - --data-dir /nowhere: No such file or directory",
    )


@pytest.mark.parametrize("arguments", [["--disk", "sdb"], ["--data-dir", "/nowhere"]])
def test_what_is_not_there_hides_nothing_else(look, host, arguments):
    """A known problem outranks what could not be found out, and goes on lasting."""
    host.memory["MemAvailable"] = GIB // 2
    for run in range(1, 4):
        status, text = look(*arguments)
        assert status == (1 if run < 3 else 2)
        assert "0.8 % of memory available" in first_line(text)
        assert f"[UNKNOWN] {arguments[0]} " in text
        host.later(60)


def test_a_disk_of_a_directory_that_the_kernel_does_not_count(look, host, monkeypatch):
    monkeypatch.setattr("stallwatch.sources.host.below", lambda _: ["dm-0", "sda"])
    status, text = look("--data-dir", "/data")
    assert status == 3
    assert first_line(text) == "HOST UNKNOWN - the kernel counts nothing for dm-0"


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
    assert len(perfdata(text)) == 15 + 2 * 7
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
    host.boot, host.uptime = "another", 5.0
    host.cpu = dict.fromkeys(host.cpu, 1.0)
    status, text = looked(seconds=10)
    assert status == 0
    assert "it has restarted since the last look" in text


def test_a_container_without_diskstats(look, host):
    host.write()
    (host.folder / "diskstats").unlink()
    status, text = look(write=False)
    assert status == 0
    assert f"[OK] not looked at: {host.folder}/diskstats: No such file or directory" in text
    status, text = look("--disk", "sda", write=False)
    assert status == 3
    assert first_line(text) == f"HOST UNKNOWN - {host.folder}/diskstats: No such file or directory"
    for limit in ("--disk-busy-critical", "--disk-await-warning"):
        assert look(limit, "90", write=False)[0] == 3


NEEDED = ["stat", "meminfo", "vmstat", "net/dev", "loadavg"]
LIMITS = ["--steal-critical", "10", "-c", "99", "--memory-available-critical", "10:", "--load-critical", "9"]


@pytest.mark.parametrize("file", NEEDED)
@pytest.mark.parametrize("arguments", [[], LIMITS])
def test_what_cannot_be_read_is_unknown_and_the_rest_is_told(look, host, file, arguments):
    look(*arguments)
    host.later(60)
    host.write()
    (host.folder / file).unlink()
    status, text = look(*arguments, write=False)
    assert status == 3
    assert first_line(text) == f"HOST UNKNOWN - {host.folder}/{file}: No such file or directory"
    assert perfdata(text)
    host.memory["MemAvailable"] = 2 * GIB
    host.load = (40, 40, 40)
    host.write()
    (host.folder / file).unlink()
    assert look(*arguments, write=False)[0] in {1, 2}


def test_what_the_kernel_does_not_count_is_not_none(looked, host):
    host.swapped = {"pgpgin": 1}
    status, text = looked()
    assert status == 3
    assert f"the contents of {host.folder}/vmstat cannot be understood" in first_line(text)
    assert "swap_in" not in perfdata(text)


def test_a_host_without_disks_of_its_own(looked, host):
    host.disks = {}
    assert looked()[0] == 0


def test_a_limit_for_disks_where_there_are_none(limited, host):
    host.disks = {}
    status, text = limited("--disk-busy-warning", "80")
    assert status == 3
    assert "no disk has done anything yet that the kernel counts" in first_line(text)


@pytest.mark.parametrize("file", ["stat", "diskstats", "meminfo", "vmstat", "net/dev", "loadavg"])
@pytest.mark.parametrize("text", ["", "cpu x\n", "8 0 sda a b c d e f g h i j k\n", "\0\n", "1\n2\n3\n"])
def test_what_cannot_be_understood_is_said(look, host, file, text):
    host.write()
    look(write=False)
    (host.folder / file).write_text(text)
    host.later(60)
    status, said = look(write=False)
    assert "internal error" not in said
    may_be = (file, text) in {("diskstats", ""), ("loadavg", "1\n2\n3\n")}  # no disks; three numbers
    assert status == (0 if may_be else 3)


def test_without_proc_there_is_nothing_to_tell(look):
    status, text = look(write=False)
    assert status == 3
    assert "uptime: No such file or directory" in text


def test_fewer_processors_for_us_than_there_are(look, host, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    _, text = look()
    assert "[OK] the numbers are of all 4 processors of the host, of which this check may use 1" in text


def test_a_kernel_that_does_not_say_what_is_available(look, host):
    """MemAvailable came with Linux 3.14."""
    del host.memory["MemAvailable"]
    host.memory |= {"Active(file)": GIB, "Inactive(file)": 7 * GIB, "SReclaimable": GIB}
    host.write()
    (host.folder / "zoneinfo").write_text("Node 0, zone DMA\n  pages free 5\n  low 0\n  high 9\n")
    assert perfdata(look(write=False)[1])["memory_available"] == "15.62%"  # 10 of 64 GiB
    pages = (GIB << 10) // os.sysconf("SC_PAGE_SIZE")
    (host.folder / "zoneinfo").write_text(f"Node 0, zone DMA\n  pages free 5\n  low {pages}\n  high 9\n")
    # none is free above that, 7 of 8 GiB of files, half of the rest
    assert perfdata(look(write=False)[1])["memory_available"] == "11.72%"


def test_without_psutil_it_says_how_to_get_it(look, monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    how = "pip install psutil, or apt install python3-psutil"
    assert look() == (3, f"HOST UNKNOWN - the Python module psutil is missing: {how}")


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
    assert "steal 90 %" in first_line(text)
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
                "HOST WARNING - disk sda is at its limit, 1454 requests/s for 3 min while their wait rose "
                "from 2 ms to 8.2 ms - see iotop or pidstat -d for who reads or writes"
            )


@pytest.fixture
def limited(look, host):
    """Look at it each minute, with limits, and tell how it ended."""

    def run(*arguments, times=1, cpu=None, disk=None, seconds=60):
        if not run.begun:
            look(*arguments)
        run.begun = True
        for _ in range(times):
            host.later(seconds, cpu, disk)
            told = look(*arguments)
        return told

    run.begun = False
    return run


HANGS = {"busy_ms": 60_000}


def test_a_disk_that_answers_nothing(limited, host):
    host.disks["sda"]["in_flight"] = 128
    status, text = limited(disk=HANGS)
    assert status == 1
    assert first_line(text).startswith(
        "HOST WARNING - disk sda has answered nothing for 1 min, 128 requests wait, reads and writes there "
        "hang, critical if it lasts - see dmesg"
    )
    status, text = limited(disk=HANGS)
    assert status == 2
    assert "disk sda has answered nothing for 2 min" in first_line(text)
    assert perfdata(text)["sda_await"] == "60s"
    assert limited(disk={"writes": 1, "write_ms": 1})[0] == 0


def test_a_disk_that_hangs_of_a_kernel_that_counts_no_time_until_it_answers(limited, host):
    """Linux 5.0 to 5.13 count busy time when a request is completed."""
    limited()
    host.disks["sda"]["in_flight"] = 3
    assert limited()[0] == 0  # they may have come a moment ago
    assert limited()[0] == 1
    assert limited()[0] == 2


def test_a_soon_look_at_a_disk_that_hangs_is_not_one_more(limited, host):
    host.disks["sda"]["in_flight"] = 1
    assert limited(disk=HANGS)[0] == 1
    assert limited(times=3, seconds=2, disk={"busy_ms": 2000})[0] == 1


@pytest.mark.parametrize(
    "disk",
    [{"busy_ms": 3, "in_flight": 1}, {"busy_ms": 60_000, "in_flight": 2**32 - 1}, {"busy_ms": 60_000}],
    ids=["it came just now", "less than none", "nobody waits"],
)
def test_a_disk_that_does_not_hang(limited, host, disk):
    host.disks["sda"]["in_flight"] = 0
    limited()
    assert limited(disk=disk)[0] == 0


def test_the_await_of_a_disk_that_answers_nothing_is_judged(limited, host):
    host.disks["sda"]["in_flight"] = 128
    status, text = limited("--disk-await-critical", "100ms", times=4, disk=HANGS)
    assert status == 2
    assert "requests of disk sda take 1 min" in text


@pytest.mark.parametrize("several", [1, 3])
def test_a_dying_disk_among_others(limited, host, several):
    """It serves two requests a minute."""
    host.disks |= {f"sd{letter}": host.disk(1000) for letter in "bc"[: several - 1]}
    dying = {"reads": 2, "read_ms": 60_000, "queue_ms": 60_000, "busy_ms": 60_000}
    status, text = limited("--disk-await-critical", "1s", times=3, disk=dying)
    assert status == 2
    assert "requests of disk sda take 30 s" in first_line(text)


def test_a_disk_without_a_request_has_no_await(looked):
    _, text = looked("-v")
    assert not {"disk_await", "sda_await"} & set(perfdata(text))
    assert "each for" not in text


def test_ranges_that_alert_inside(limited, host):
    host.memory["MemAvailable"] = GIB // 2
    arguments = ["--memory-available-warning", "@5:10", "--memory-available-critical", "5:"]
    assert limited(*arguments)[0] == 1
    assert limited(*arguments)[0] == 2


def test_each_service_has_its_own_limits(look, host):
    """Steal of 50 % is critical above 40 %, whatever a service with another limit thinks."""
    ours, other = ["--steal-critical", "40"], ["--steal-critical", "60"]
    found = []
    for _ in range(4):
        look(*other)
        found.append(look(*ours)[0])
        host.later(60, {"steal": 120})
    assert found == [0, 1, 1, 2]


def test_a_clock_that_is_set_is_no_start_of_the_host(limited, host):
    found = []
    for seconds in (0, 2_000_000, -7200, 10):
        host.now += seconds
        found.append(limited(cpu={"steal": 200})[0])
    assert found == [1, 1, 2, 2]


def test_what_cannot_be_judged_goes_on_lasting(limited, host):
    assert limited(cpu={"steal": 200}, times=2)[0] == 1
    host.write()
    (host.folder / "stat").write_text("")
    host.later(60, {"steal": 200})
    assert limited(cpu={"steal": 200})[0] == 2


def test_three_runs_within_a_second_are_one(look, host):
    host.memory["MemAvailable"] = GIB // 2
    for _ in range(4):
        assert look()[0] == 1
        host.later(0.3)


def test_confirm_1_never_doubts(limited, host):
    limited("--confirm", "1")
    host.memory["MemAvailable"] = GIB // 2
    assert limited("--confirm", "1", seconds=10)[0] == 2


def test_disks_keep_their_labels(limited, host):
    host.disks["sdc"] = host.disk(1000)
    before = set(perfdata(limited()[1]))
    assert "sdc_busy" in before
    for name in ("dm-0", "sdb"):
        host.disks[name] = host.disk(1000)
        assert before == set(perfdata(limited(times=2)[1]))


def test_a_label_never_goes_over_to_another_disk(limited, host):
    def labels(*names):
        host.disks = {name: host.disk(1000) for name in names}
        return [label for label in perfdata(limited(times=2)[1]) if label.startswith("cciss")]

    names = ("cciss!c0d0", "cciss_c0d0")
    both = labels(*names)
    assert "cciss_c0d0_busy" in both
    assert sorted(both) == sorted(labels(names[0]) + labels(names[1])) == sorted(set(both))


def test_times_that_go_back_a_little_are_not_known(limited, host):
    host.disks["sda"] |= {"queue_ms": 5_000_000, "busy_ms": 5_000_000}
    status, text = limited(disk={"writes": 60, "write_ms": 60, "queue_ms": -1})
    assert status == 0
    assert not {"disk_queue", "sda_queue"} & set(perfdata(text))
    assert perfdata(text)["sda_await"] == "0.001s"


def test_a_limit_for_a_disk_without_times(limited, host):
    host.disks = {"md0": host.disk(5) | {"read_ms": 0, "write_ms": 0, "busy_ms": 0, "queue_ms": 0}}
    chosen = ["--disk", "md0"]
    assert "[OK] the kernel has counted no times for md0" in limited(*chosen)[1]
    arguments = [*chosen, "--disk-await-warning", "1ms"]
    assert limited(*arguments, times=2)[0] == 3
    host.disks["sda"] = host.disk(5)
    assert limited("--disk-busy-critical", "50", times=3)[0] == 0  # what it is made of is judged


def test_a_milliseconds_counter_that_is_0_just_now(limited, host):
    host.disks["sda"]["busy_ms"] = 2**32 - 30_000
    limited()
    host.disks["sda"]["busy_ms"] = 0
    assert perfdata(limited()[1])["sda_busy"] == "50%"


def test_a_disk_of_microseconds_is_not_at_its_limit(limited):
    for wait in (20, 24, 31, 40):
        disk = {"writes": 600_000, "write_ms": 600 * wait, "queue_ms": 600 * wait, "busy_ms": 57_000}
        assert limited(disk=disk)[0] == 0


def test_a_plateau_needs_three_looks_of_their_own(limited):
    for wait in (2, 3, 4):
        disk = {"writes": 16_000, "write_ms": 16_000 * wait, "busy_ms": 9_900}
        status, text = limited(disk=disk, seconds=10)
    assert status == 0, text


def test_processors_that_hardly_wait_are_not_told_with_a_plateau(limited):
    for wait in (2, 4, 8):
        disk = {"writes": 60_000, "write_ms": 60_000 * wait, "busy_ms": 57_000}
        _, text = limited(cpu={"iowait": 12}, disk=disk)
    assert "disk sda is at its limit" in first_line(text)
    assert "processors wait for it" not in first_line(text)


def test_how_many_disks_have_labels_of_their_own(limited, host):
    host.disks = {f"sd{letter}": host.disk(1000) for letter in "abcdef"}
    labels = set(perfdata(limited("--disk", "sd.")[1]))
    assert {label for label in labels if label.startswith("sd") and label.endswith("_busy")} == {
        f"sd{letter}_busy" for letter in "abcd"
    }


def test_advice_is_a_command_that_can_be_typed(limited, host):
    """A pipe would be told as a stroke: it parts the words from the numbers."""
    host.load = (40, 40, 40)
    assert "run ps -eo stat,pid,comm --sort=stat" in first_line(limited()[1])
    for place in ("host", "bonding"):
        for path in (ROOT / "lib" / "stallwatch" / "probes" / place).glob("*.py"):
            said = [
                one.value for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Constant)
            ]
            assert not [one for one in said if isinstance(one, str) and " | " in one], path


def test_with_vvv_it_tells_what_was_read(look, host):
    assert f"{host.folder} showed " in look("-vvv")[1]
