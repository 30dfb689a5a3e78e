"""What is no log, no NDB log or a damaged one: one clear sentence, UNKNOWN, and no numbers."""

import os
import shutil
import socket
import subprocess

import pytest
from ndb_log_service import HOUR, Log

NAME_IT = "name a data node's ndb_N_out.log or a cluster log ndb_N_cluster.log"
ALERT = "Forced node shutdown completed. Caused by error 6050: 'WatchDog terminate'."
ALERTED = "NDB_LOG CRITICAL - node 4 shut down at HH:MM:SS, error 6050"


def refused(said, sentence):
    """One line that says it, UNKNOWN, and no perfdata."""
    assert said.text == f"NDB_LOG UNKNOWN - {sentence}"
    assert said.status == 3
    assert said.details == []
    assert said.perfdata == {}
    return True


# What cannot be read


def test_a_missing_file(check, log):
    sentence = f"{log} does not exist - check the path and where the server writes its log"
    assert refused(check("--log", log), sentence)


def test_a_pattern_that_fits_nothing(check, tmp_path):
    pattern = tmp_path / "ndb_*_out.log"
    said = check("--log", pattern)
    assert said.status == 3
    assert said.text.startswith(f"NDB_LOG UNKNOWN - no file fits {pattern} - ")
    assert said.perfdata == {}


def test_a_pattern_that_fits_nothing_is_not_called_a_file(check, tmp_path):
    pattern = tmp_path / "ndb_*_out.log"
    assert f"no file fits {pattern}" in check("--log", pattern).text


def test_a_pattern_fits_a_log_that_was_not_there_in_the_run_before(check, tmp_path, log):
    assert check("--log", tmp_path / "ndb_*_out.log").status == 3
    log.say("Operations=0")
    said = check("--log", tmp_path / "ndb_*_out.log")
    assert said.text == "NDB_LOG OK - 1 new line of ndb_4_out.log, no thread stuck"


def test_a_log_that_only_another_user_may_read(check, log, stranger):
    log.say(ALERT)
    log.path.chmod(0o000)
    said = check("--log", log, "--no-state", **stranger)
    assert said.status == 3
    assert said.text.startswith("NDB_LOG UNKNOWN - user ")
    assert f"may not read {log} - let " in said.text
    assert "setfacl -m u:" in said.output
    assert said.perfdata == {}


def test_a_directory_that_another_user_may_not_enter(check, tmp_path, stranger):
    closed = tmp_path / "closed"
    closed.mkdir()
    Log(closed / "ndb_4_out.log").say(ALERT)
    closed.chmod(0o000)
    said = check("--log", closed / "ndb_4_out.log", "--no-state", **stranger)
    closed.chmod(0o700)
    assert said.status == 3
    assert f"may not enter {closed} - let " in said.text
    assert said.perfdata == {}


def test_an_empty_file(check, log):
    log.add("")
    sentence = (
        "ndb_4_out.log is empty, no line of NDB was ever seen in it - look whether this is the right file"
    )
    assert refused(check("--log", log), sentence)


def test_a_directory(check, tmp_path):
    sentence = f"{tmp_path} is a directory - name the log file in it, for example {tmp_path}/ndb_4_out.log"
    assert refused(check("--log", tmp_path), sentence)


def test_a_named_pipe_is_not_waited_for(check, log):
    os.mkfifo(log.path)
    assert refused(check("--log", log), f"{log} is a named pipe, not a log file - name a regular file")


def test_a_socket(check, log, monkeypatch):
    monkeypatch.chdir(log.path.parent)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("ndb_4_out.log")
        assert refused(check("--log", log), f"{log} is a socket, not a log file - name a regular file")


def test_a_device_without_end(check):
    assert refused(check("--log", "/dev/zero"), "/dev/zero is a device, not a log file - name a regular file")


def test_a_symbolic_link_that_leads_nowhere(check, log):
    log.path.symlink_to("/nowhere/ndb_4_out.log")
    sentence = f"{log} is a symbolic link to /nowhere/ndb_4_out.log, which does not exist"
    assert refused(check("--log", log), sentence)


# What is no NDB log


def test_a_binary(check, log):
    shutil.copy("/bin/true", log.path)
    sentence = f"ndb_4_out.log does not look like an NDB log but binary - {NAME_IT}"
    assert refused(check("--log", log), sentence)


def test_a_file_of_nul_bytes(check, log):
    log.add(b"\0" * 5_000_000)
    said = check("--log", log)
    assert said.status == 3
    assert "ndb_4_out.log does not look like an NDB log but binary" in said.output
    assert said.perfdata == {}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("source", ["ndbd", "MgmtSrvr"])
def test_a_log_in_utf_16(check, log, encoding, source):
    log.add(f"2026-11-20T23:09:09.000001Z [{source}] ALERT    -- Node 4: {ALERT}\n".encode(encoding) * 3)
    sentence = "ndb_4_out.log is UTF-16 - make it plain text: iconv -f UTF-16 -t UTF-8"
    assert refused(check("--log", log), sentence)


def test_a_log_in_big_endian_utf_16_with_a_mark(check, log):
    log.add(b"\xfe\xff" + f"2026-11-20 23:09:09 [ndbd] ALERT    -- Node 4: {ALERT}\n".encode("utf-16-be") * 3)
    sentence = "ndb_4_out.log is UTF-16 - make it plain text: iconv -f UTF-16 -t UTF-8"
    assert refused(check("--log", log), sentence)


def test_a_syslog(check, log):
    log.add("Nov 20 23:06:41 db4 systemd[1]: Started Daily apt download activities.\n" * 50)
    assert refused(check("--log", log), f"ndb_4_out.log does not look like an NDB log - {NAME_IT}")


def test_an_error_log_of_mysqld(check, log):
    log.add(
        "2026-11-20T23:06:41.711002Z 0 [System] [MY-010116] [Server] mysqld 9.7.2-cluster starting\n"
        "2026-11-20T23:06:42.100000Z 1 [Note] [MY-010866] [Server] NDB Binlog: starting log at epoch 7/0\n"
        "2026-11-20 23:06:42 1234 [Note] NDB: NodeID is 5, management server 'localhost:1186'\n"
    )
    assert refused(check("--log", log), f"ndb_4_out.log does not look like an NDB log - {NAME_IT}")


def test_a_cluster_log_that_went_through_syslog_is_read_or_refused(check, log):
    """LogDestination=SYSLOG makes such lines: to call them harmless would be wrong."""
    log.add("Nov 20 23:09:09 db1 ndb_mgmd[77]: [MgmtSrvr] ALERT    -- Node 4: " + ALERT + "\n")
    assert check("--log", log, "--whole").status in {2, 3}


def test_a_packed_log(check, log, tmp_path):
    log.say(ALERT)
    subprocess.run(["gzip", log.path], check=True)
    said = check("--log", f"{log}.gz")
    assert refused(said, f"{log}.gz is compressed - name the log that is being written")
    assert check("--log", f"{log}.gz", "--whole").text.startswith(ALERTED)


# What is damaged, and the alert in it


def test_a_line_of_100_megabytes_before_an_alert(check, log):
    log.add(b"x" * 100_000_000 + b"\n")
    log.say(ALERT, level="ALERT")
    said = check("--log", log)
    assert said.status == 2
    assert said.text.startswith(ALERTED)
    assert said.text.endswith(" (+1 more problem)")
    assert said.details[-1] == "[UNKNOWN] 1 line of ndb_4_out.log longer than 1 MiB skipped"
    assert said.perfdata["lines"] == "1"
    assert "UNKNOWN" not in check("--log", log).output


def test_a_line_of_100_megabytes_without_an_end(check, log):
    log.say("Operations=0")
    log.add(b"x" * 100_000_000)
    said = check("--log", log)
    assert said.status == 3
    assert said.text == "NDB_LOG UNKNOWN - 1 line of ndb_4_out.log longer than 1 MiB skipped"
    assert check("--log", log).status == 0
    log.add("x\n")
    log.say(ALERT, level="ALERT")
    assert check("--log", log).text.startswith(ALERTED)


def test_nul_bytes_within_a_line(check, log):
    log.say("Opera\0\0tions=0")
    log.say(ALERT, level="ALERT")
    assert check("--log", log).text.startswith(ALERTED)


def test_nul_bytes_before_a_line_as_a_power_failure_leaves_them(check, log):
    log.say("Operations=0")
    log.add(b"\0" * 4096)
    log.say(ALERT, level="ALERT")
    assert check("--log", log).text.startswith(ALERTED)


def test_bytes_that_are_no_text(check, log):
    log.add(b"\xff\xfe\x80\xc3\x28 \xf0\x9f\n")
    log.say("Forced node shutdown completed. Caused by error 6050: 'W\xe4tchDog'.", level="ALERT")
    log.add(b"2026-11-20T23:06:41.711002Z [ndbd] WARNING  -- Filesystem problem: caf\xe9 \xff.\n")
    assert check("--log", log).text.startswith(ALERTED)


def test_bytes_that_are_no_text_are_said_in_a_harmless_way(check, watched):
    watched.add(b"[ndbd] WARNING  -- Filesystem problem: caf\xe9 | \x1b[31m\x07. Check.\n")
    said = check("--log", watched)
    expected = (
        "NDB_LOG WARNING - node 4: file system problem, caf\ufffd / [31m . Check -"
        " look at the disk and in dmesg"
    )
    assert (said.status, said.text) == (1, expected)


def test_line_ends_of_windows(check, log):
    log.add("2026-11-20T23:06:41.711002Z [ndbd] INFO     -- Operations=0\r\n")
    log.add("2026-11-20T23:06:42.711002Z [ndbd] ALERT    -- " + ALERT + "\r\n")
    assert check("--log", log, "--whole").text.startswith(ALERTED)


def test_a_clock_that_goes_backwards(check, log):
    log.say("Operations=0", 60)
    log.say("Operations=0", 5 * HOUR)
    log.say("Filesystem problem: slow. Check it. (error: 1)", 120)
    log.say("Operations=0", 3 * HOUR)
    said = check("--log", log)
    assert said.status == 1
    assert said.text.startswith("NDB_LOG WARNING - node 4: file system problem at HH:MM:SS, slow.")


def test_a_clock_that_goes_backwards_while_a_thread_is_stuck(check, watched):
    watched.stuck(2, 400, 500, 600, ago=60)
    watched.stuck(2, 700, 800, 2600, ago=1800)
    said = check("--log", watched)
    assert said.status == 1
    assert said.perfdata["stuck"] == "2.6s;1;9"


def test_a_time_in_the_future_counts_as_now(check, watched):
    watched.say("Filesystem problem: slow. Check it.", -5 * HOUR)
    said = check("--log", watched, "--hold", "1s")
    assert said.text.startswith("NDB_LOG WARNING - node 4: file system problem at HH:MM:SS, slow.")


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-13-45T99:99:99.000000Z",
        "2026-02-30T10:00:00Z",
        "0000-00-00 00:00:00",
        "9999-12-31T23:59:59Z",
        "99:99:99 2026-13-45",
        "2026-11-20T23:06:60Z",
        "0001-01-01 00:00:00",
        "2026-11-20T23:06:41.7110029999999Z",
    ],
)
def test_an_impossible_time(check, log, stamp):
    log.add(f"{stamp} [ndbd] ALERT    -- {ALERT}\n")
    assert check("--log", log, "--whole").text.startswith("NDB_LOG CRITICAL - node 4 shut down")


@pytest.mark.parametrize(
    "text",
    [
        "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=" + "9" * 400,
        "Ndb kernel thread 2 is stuck in: Yielding to OS elapsed=" + "9" * 5000,
        "Ndb kernel thread " + "9" * 5000 + " is stuck in: Yielding to OS elapsed=100",
        "Ndb kernel thread 2 is stuck in: JobHandling in block: " + "9" * 5000 + ", gsn: 1 elapsed=1200",
        "Node 4 missed heartbeat " + "9" * 400,
        "Node " + "9" * 5000 + ": Node 4 missed heartbeat 2",
        "NR Status: node=" + "9" * 5000 + ",OLD=Initial state,NEW=Node failed, fail handling ongoing",
        "LQH 1 : Redo log part 1 : Lag - time to complete : " + "9" * 400 + "s",
        "thr: 2 Overslept " + "9" * 400 + " ms, expected ~10ms",
        "jbalock thr: 1 waiting for lock, contentions: " + "9" * 5000 + " spins: 1",
        "Operations=" + "9" * 5000,
        "WatchDog timer is set to " + "9" * 400 + " ms",
        "Forced node shutdown completed. Caused by error " + "9" * 5000 + ": 'x'.",
        "Operations=0 - Repeated " + "9" * 5000 + " times",
        "Node 4 late heartbeat 300ms - Repeated 999999999999 times",
    ],
    ids=lambda text: text[:40],
)
def test_a_number_that_nobody_can_have_written(check, watched, text):
    """A damaged line must not end every run from now on."""
    watched.say(text)
    watched.say("Filesystem problem: slow. Check it.")
    said = check("--log", watched)
    assert "internal error" not in said.output
    assert "no verdict" not in said.output
    assert "file system problem" in said.output


def test_a_line_of_half_a_megabyte_is_said_in_short(check, watched):
    watched.say("Filesystem problem: " + "x" * 500_000)
    said = check("--log", watched)
    assert said.status == 1
    assert len(said.output.split("\n")[0].encode()) <= 1023
    assert len(said.output) < 20_000


def test_what_many_long_lines_say_can_be_kept(check, watched_cluster):
    watched_cluster.add(
        b"".join(
            b"[MgmtSrvr] WARNING  -- Node %d: Filesystem problem: %s\n" % (node, b"x" * 900_000)
            for node in range(2, 22)
        )
    )
    assert check("--log", watched_cluster).status == 1
    said = check("--log", watched_cluster)
    assert said.status == 1
    assert said.perfdata["lines"] == "0"
    assert "cannot be remembered" not in said.output


# How it is named


def test_no_log_at_all(check):
    sentence = "--log FILE is missing: see check_ndb_log --help"
    assert refused(check(), sentence)


def test_the_same_log_named_twice_is_read_once(check, log):
    log.stuck(2, 600, 1200)
    said = check(
        "--log", log, "--log", log, "--log", f"{log.path.parent}/../{log.path.parent.name}/{log.path.name}"
    )
    assert said.perfdata["lines"] == "4"
    assert said.perfdata["stuck_episodes"] == "1"
    assert len(set(said.labels)) == len(said.labels)


def test_a_pattern_that_fits_the_log_and_its_rotated_files_means_the_log(check, log):
    Log(log.path.with_name("ndb_4_out.log.1")).stuck(2, 600, 1200)
    log.say("Operations=0")
    said = check("--log", f"{log}*")
    assert said.text == "NDB_LOG OK - 1 new line of ndb_4_out.log, no thread stuck"


def test_a_pattern_that_fits_the_log_and_its_rotated_files_judges_all_of_them_with_whole(check, log):
    Log(log.path.with_name("ndb_4_out.log.1")).stuck(2, 600, 1200, ago=60)
    log.say("Operations=0")
    said = check("--log", f"{log}*", "--whole")
    assert said.perfdata["lines"] == "5"
    assert said.status == 1


def test_a_log_that_is_a_symbolic_link(check, log, tmp_path):
    (tmp_path / "data").mkdir()
    Log(tmp_path / "data" / "ndb_4_out.log").stuck(2, 600, 1200)
    log.path.symlink_to("data/ndb_4_out.log")
    assert check("--log", log).perfdata["stuck"] == "1.2s;1;9"


def test_a_relative_path(check, log):
    log.stuck(2, 600, 1200)
    assert check("--log", "ndb_4_out.log").perfdata["lines"] == "4"


def test_a_relative_path_in_another_directory_is_another_log(check, log, tmp_path):
    log.stuck(2, 600, 1200)
    assert check("--log", "ndb_4_out.log").status == 1
    (tmp_path / "other").mkdir()
    Log(tmp_path / "other" / "ndb_4_out.log").say("Operations=0")
    said = check("--log", "ndb_4_out.log", cwd=tmp_path / "other")
    assert said.text == "NDB_LOG OK - 1 new line of ndb_4_out.log, no thread stuck"
    assert check("--log", "ndb_4_out.log").perfdata["lines"] == "0"


def test_a_name_with_signs_of_a_pattern_in_it(check, log):
    odd = Log(log.path.with_name("ndb_4_out[1].log"))
    odd.stuck(2, 600, 1200)
    assert check("--log", odd).status == 1


def test_one_of_two_logs_is_missing(check, log, peer):
    log.say("Operations=0")
    said = check("--log", log, "--log", peer)
    assert said.status == 3
    assert said.text == (
        f"NDB_LOG UNKNOWN - {peer} does not exist - check the path and where the server writes its log"
    )
    assert said.perfdata["lines"] == "1"
