"""How full the redo log is, on every version: as a share of the point at which writers wait."""

import re

import pytest
from replication_signals import VERSIONS, RecordedServer, counted, lines, recorded
from stallwatch.probes.mysql import innodb
from stallwatch.probes.replication_lag.signals import Signals, readings
from stallwatch.probes.replication_lag.signals.collect import gather

MIB = 2**20
STATUS_8 = "Innodb_redo_log_{}"


def gathered(version, **settings):
    return gather(RecordedServer(version, **settings), [], lambda _: True, lambda _: None)


def since_8_0_30(age, capacity, settings=None):
    return innodb.redo(
        {
            "Innodb_redo_log_current_lsn": 5e9 + age,
            "Innodb_redo_log_checkpoint_lsn": 5e9,
            "Innodb_redo_log_capacity_resized": capacity,
        },
        settings or {},
    )


@pytest.mark.parametrize(
    ("version", "stall", "age"),
    [
        ("my57", 24_813_735, 9),  # log_max_modified_age_sync
        ("my80", 27_460_608, 34_281),
        ("my97", 27_460_608, 23_552),
        ("ma1011", 26_461_349, 25_154),  # Innodb_checkpoint_max_age
    ],
)
def test_each_version_tells_its_age_and_its_stall_point(version, stall, age):
    found = gathered(version).redo
    assert found.stall == pytest.approx(stall, rel=1e-4)
    assert found.age == age


@pytest.mark.parametrize(
    ("mebibytes", "free", "age", "margin"),  # log_free_space, log_lsn_checkpoint_age, log_concurrency_margin
    [
        (8, 7_260_320, 352, 1_022_464),
        (16, 14_704_677, 2523, 1_394_688),
        (32, 29_595_797, 3947, 2_139_136),
        (100, 92_885_913, 6779, 5_303_808),
        (256, 238_082_604, 10_196, 12_563_968),
        (1024, 952_915_228, 13_028, 48_305_664),
    ],
)
def test_the_stall_point_of_any_capacity_measured_on_9_7_2(mebibytes, free, age, margin):
    found = since_8_0_30(0, mebibytes * MIB)
    assert found.stall == pytest.approx(free + age - margin, rel=1e-4)


@pytest.mark.parametrize(
    ("mebibytes", "threads", "page", "free", "age", "margin", "async_point"),
    [  # innodb_thread_concurrency, innodb_page_size, then the same, and log_max_modified_age_async
        (32, 64, 16384, 29_168_524, 431_220, 6_333_440, 25_899_520),
        (100, 8, 16384, 92_460_528, 432_144, 5_828_096, 81_281_024),
        (100, 128, 16384, 92_460_778, 431_904, 13_692_416, 81_281_024),
        (100, 500, 16384, 92_454_556, 438_116, 38_071_808, 81_281_024),
        (100, 900, 16384, 92_451_322, 441_360, 49_494_352, 81_281_024),  # no more than that
        (100, 1000, 16384, 92_444_652, 448_030, 49_494_352, 81_281_024),
        (1024, 1000, 16384, 952_497_229, 431_027, 113_841_664, 833_811_968),
        (8, 16, 16384, 6_824_509, 436_173, 2_071_040, 6_352_896),
        (8, 100, 16384, 6_818_527, 442_145, 3_868_304, 6_352_896),
        (100, 0, 4096, 92_492_932, 399_750, 4_812_288, 81_281_024),
        (100, 32, 4096, 92_479_532, 413_150, 5_336_576, 81_281_024),
        (100, 0, 65536, 92_523_858, 368_824, 7_269_888, 81_281_024),
        (100, 32, 65536, 92_517_545, 375_137, 15_658_496, 81_281_024),
    ],
)
def test_threads_and_pages_move_the_stall_point_as_measured_on_9_7_2(
    mebibytes, threads, page, free, age, margin, async_point
):
    settings = {"innodb_thread_concurrency": str(threads), "innodb_page_size": str(page)}
    found = since_8_0_30(0, mebibytes * MIB, settings)
    stall = free + age - margin
    assert found.stall == pytest.approx(stall, rel=1e-3)
    assert found.async_point == pytest.approx(min(stall, async_point), rel=1e-3)


def test_percona_server_5_7_flushes_before_its_checkpoint_max_age():
    """Measured with 32 MiB: log_max_modified_age_sync is 15/16 of it."""
    told = {"Innodb_checkpoint_age": 24_813_735.0, "Innodb_checkpoint_max_age": 24_813_735 * 16 / 15}
    assert innodb.redo(told, {"innodb_log_files_in_group": "2"}).fill == pytest.approx(100)
    assert innodb.redo(told, {"innodb_log_files_in_group": "1"}).fill == pytest.approx(93.75)  # MariaDB 10.5


def test_a_log_that_writers_waited_for_was_full():
    """9.7.4 with 32 MiB: the age did not get beyond 81.6 per cent of the capacity."""
    ages = [int(re.search(r"age=(\d+)", line)[1]) for line in lines("my97_redofill.txt")]
    fills = [since_8_0_30(age, 32 * MIB).fill for age in ages]
    assert max(fills) == pytest.approx(99.75, abs=0.01)
    assert sum(fill >= innodb.FULL for fill in fills) >= 3
    assert min(fills) < 30  # a saw-tooth: one sample tells nothing


def test_the_fullest_of_several_samples_counts():
    signals = Signals(
        counted=counted(
            {"Innodb_checkpoint_age": 99.0, "Innodb_checkpoint_max_age": 100.0},
            Innodb_checkpoint_age=10.0,
            Innodb_checkpoint_max_age=100.0,
        )
    )
    assert signals.redo.fill == 99
    (reading,) = readings(signals)
    assert (reading.name, reading.value, reading.unit) == ("redo_log", 99.0, "%")


@pytest.mark.parametrize(
    "numbers",
    [
        {},
        {"log_waits": 3.0},
        {"Innodb_checkpoint_age": 1.0, "Innodb_checkpoint_max_age": 0.0},
        {"Innodb_checkpoint_max_age": 100.0},  # what is missing is not 0
        {"Innodb_redo_log_current_lsn": 5e9, "Innodb_redo_log_capacity_resized": 32.0 * MIB},
    ],
)
def test_a_server_that_does_not_tell(numbers):
    assert innodb.redo(numbers, {}) is None


def test_settings_that_make_no_sense_give_no_stall_point():
    assert innodb.before_8_0_30(100, {}) is None
    assert innodb.before_8_0_30(100, {"innodb_log_file_size": "much"}) is None


@pytest.mark.parametrize("state", [{"STATUS": "disabled"}, {"ENABLED": 0}])
def test_a_metric_that_is_not_enabled_is_not_read(state):
    class Disabled(RecordedServer):
        def rows(self, sql, **more):
            if "INNODB_METRICS" not in sql:
                return super().rows(sql, **more)
            return [{"NAME": "log_lsn_checkpoint_age", "COUNT": 0, **state}]

    assert gather(Disabled("my57"), [], lambda _: True, lambda _: None).redo is None


def test_without_process_5_7_does_not_tell():
    assert gathered("my57", denied=("PROCESS",)).redo is None


@pytest.mark.parametrize(("version", "age"), [("my57", 9), ("ma1011", 25_083)])
def test_the_text_of_the_status_tells_it_too(version, age):
    text = "\n".join(lines(f"{version}_innodb_status.txt"))
    settings = recorded(f"{version}_global_variables.txt")
    assert innodb.redo_in(text, settings).age == age


def test_log_capacity_used_is_not_read():
    """8.0.30 and later print it, and it is the configured capacity, not how full that is."""
    text = "\n".join(lines("my97_innodb_status.txt"))
    assert re.search(r"Log capacity used\s+\d+", text)
    found = innodb.redo_in(text, recorded("my57_global_variables.txt"))
    assert found.age < 100_000


@pytest.mark.parametrize("version", VERSIONS)
def test_findings_are_readings_with_a_sentence(version):
    found = {reading.name: reading for reading in readings(gathered(version))}
    assert found["redo_log"].value < 1
    assert found["redo_log"].what == "the redo log is 0 % full, as far as writers may fill it"
    assert found["history_list"].value >= 0
    assert "disk_busy" not in found  # the server is not on our host
