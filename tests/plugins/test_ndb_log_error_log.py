"""ndb_N_error.log: beside the log of a node it says why the node ended; alone it says what it knows."""

import time

import pytest

RECORD = """Time: {time}
Status: Temporary error, restart node
Message: {message} (Internal error, programming error or missing error message, please report a bug)
Error: {error}
Error data: DbtupExecQuery.cpp
Error object: DBTUP (Line: 4711) 0x00000002
Program: ndbmtd
Pid: 8002 thr: 2
Version: mysql-9.7.2 ndb-9.7.2
Trace file name: ndb_4_trace.log.7_t2
Trace file path: /srv/ndb/ndb_4_trace.log.7 [t1..t5]
***EOM***
"""
HEADER = "Current byte-offset of file-pointer is: 1067                      \n\n\n"
NDBREQUIRE = "Internal program error (failed ndbrequire)"
ENDED = "Forced node shutdown completed."


def record(ago, error=2341, message=NDBREQUIRE):
    when = time.localtime(time.time() - ago)
    clock = time.strftime(f"%A {when.tm_mday} %B %Y - %H:%M:%S", when)
    return RECORD.format(time=clock, error=error, message=message).ljust(998) + "\n"


@pytest.fixture
def error_log(tmp_path):
    path = tmp_path / "ndb_4_error.log"

    def write(*records):
        path.write_text(HEADER + "".join(records))
        return path

    return write


def test_the_error_log_beside_a_log_says_why_the_node_ended(check, log, error_log):
    error_log(record(ago=7200, error=2305, message="old"), record(ago=62))
    log.say(ENDED, ago=60, level="ALERT")
    said = check("--log", log)
    assert said.status == 2
    assert "node 4 shut down at HH:MM:SS, error 2341: Internal program error" in said.text
    assert said.details[:5] == [
        f"  {NDBREQUIRE}",
        "  error data: DbtupExecQuery.cpp",
        "  error object: DBTUP (Line: 4711) 0x00000002",
        "  program: ndbmtd",
        "  trace file: /srv/ndb/ndb_4_trace.log.7 [t1..t5]",
    ]
    assert said.perfdata["shutdowns"] == "1"


def test_what_the_log_says_itself_stays_and_the_error_log_adds_to_it(check, log, error_log):
    error_log(record(ago=62))
    log.say(f"{ENDED} Caused by error 2341: '{NDBREQUIRE}'.", ago=60, level="ALERT")
    said = check("--log", log)
    assert "error 2341" in said.text
    assert "  trace file: /srv/ndb/ndb_4_trace.log.7 [t1..t5]" in said.details


def test_a_record_of_another_end_explains_nothing(check, log, error_log):
    error_log(record(ago=600))
    log.say(ENDED, ago=60, level="ALERT")
    said = check("--log", log)
    assert "no reason found" in said.text
    assert "2341" not in said.output


def test_a_log_of_a_healthy_node_does_not_open_the_error_log(check, log, error_log):
    error_log(record(ago=62)).chmod(0)
    log.starts(ago=30)
    assert check("--log", log).status == 0


def test_an_error_log_that_is_given_alone_is_told(check, error_log):
    said = check(
        "--log", error_log(record(ago=7200), record(ago=60, error=2810, message="The file system is full"))
    )
    assert said.status == 1
    assert "node 4 ended at HH:MM:SS, error 2810: The file system is full - free space" in said.text
    assert (said.perfdata["lines"], said.perfdata["shutdowns"]) == ("2", "1")


def test_an_error_log_without_a_recent_end_is_well(check, error_log):
    said = check("--log", error_log(record(ago=7200)))
    assert (said.status, said.text) == (0, "NDB_LOG OK - 1 record of ndb_4_error.log")


def test_an_end_in_both_logs_that_are_given_is_one(check, log, error_log):
    log.say(ENDED, ago=60, level="ALERT")
    said = check("--log", log, "--log", error_log(record(ago=62)))
    assert "node 4 shut down at HH:MM:SS, error 2341" in said.text
    assert "more problem" not in said.text
    assert said.perfdata["shutdowns"] == "1"


def test_an_error_log_can_be_acknowledged(check, error_log):
    path = error_log(record(ago=60))
    assert check("--log", path).status == 1
    assert "acknowledged: node 4 ended" in check("--log", path, "--acknowledge").text
    assert check("--log", path).status == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        HEADER + "***EOM***\n",
        HEADER + RECORD.format(time="Someday 99 Foo 2026 - 99:99:99", error="x", message="y"),
        HEADER + RECORD[:200],
    ],
)
def test_a_damaged_error_log_beside_a_log_does_no_harm(check, log, error_log, text):
    error_log().write_text(text)
    log.say(ENDED, ago=60, level="ALERT")
    assert "no reason found" in check("--log", log).text


def test_another_file_of_this_name_is_refused(check, tmp_path):
    path = tmp_path / "mysqld_error.log"
    path.write_text("2026-11-20T23:06:41.711002Z 0 [System] mysqld starts\n")
    said = check("--log", path)
    assert said.status == 3
    assert "mysqld_error.log does not look like an error log of NDB" in said.text
