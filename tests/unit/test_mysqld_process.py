"""What check_mysqld_process says of a process, from run to run."""

import json
import runpy
import time
from pathlib import Path

import pytest
from captured_mysql import CapturedMysql
from clock import keep_time
from fake_proc import FakeProc
from first_line import first_line, perfdata
from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql as options
from stallwatch.probes.mysqld_process import collect, model
from stallwatch.sources import host, mysql, processes
from stallwatch.sources.mysql import NoAnswerError, UnreachableError

PLUGINS = Path(__file__).parents[2] / "plugins"
PLUGIN = runpy.run_path(str(PLUGINS / "check_mysqld_process"))
PID, AGE = 4711, 1000
MIB = 1 << 20


class Mysqld:
    """A server and the process that it is."""

    def __init__(self, folder, monkeypatch):
        self.proc = FakeProc(folder, monkeypatch)
        self.seconds = 0
        self.proc.process(PID, user=100.0, system=50.0, minor=1000, major=10)
        self.server = self.new_server("MariaDB 10.11")

    def new_server(self, version, uptime=AGE - 1):
        """Let the server be of another version."""
        self.server = CapturedMysql(version)
        self.server.status["Uptime"] = str(uptime)
        self.server.status["Connections"] = "1000"
        self.server.variables["read_buffer_size"] = str(128 << 10)
        return self.server

    def later(self, seconds, **grown):
        """Let time go by, in which that grew; ``connections`` are the server's."""
        self.seconds += seconds
        self.proc.later(seconds)
        self.server.later(seconds, Connections=grown.pop("connections", 0))
        if not grown:
            return
        one = self.proc.each[PID]
        self.proc.process(PID, **{name: one[name] + more for name, more in grown.items()})


@pytest.fixture
def mysqld(tmp_path, monkeypatch):
    folder = tmp_path / "proc"
    folder.mkdir()
    mysqld = Mysqld(folder, monkeypatch)
    monkeypatch.setattr(mysql, "connect", lambda *_: mysqld.server)
    keep_time(monkeypatch, lambda: 1.8e9 + mysqld.seconds)
    return mysqld


@pytest.fixture
def look(tmp_path, mysqld):
    """Run the plugin."""

    def run(*arguments):
        state = ["--state-dir", str(tmp_path / "state")]
        return PLUGIN["check"].run(PLUGIN["findings"], [*state, *arguments])

    return run


@pytest.fixture
def after(look, mysqld):
    """Run the plugin, let a minute go by in which that grew, and run it again."""

    def run(*arguments, **grown):
        look(*arguments)
        mysqld.later(60, **grown)
        return look(*arguments)

    return run


def test_the_first_look_has_no_rates(look):
    status, text = look()
    assert status == 0
    assert text.splitlines() == [
        (
            "MYSQLD_PROCESS OK - mysqld 4711 up 16 min 40 s, 91.1 MiB resident, 1 thread | "
            "resident_memory=95510528B swapped_memory=0B threads=1 uptime=1000s "
            "open_descriptors=20;;;0;20000 descriptors=0.1%;80;90"
        ),
        "[OK] no rates yet: no earlier look to compare with",
    ]


def test_what_it_used_since_the_last_look(after):
    status, text = after(user=27.0, system=9.0, minor=60_000, major=6)
    assert status == 0
    assert text == (
        "MYSQLD_PROCESS OK - mysqld 4711 up 17 min 40 s, 60 % of a processor (user 45 %, system 15 %), "
        "0.1 major page faults/s, 91.1 MiB resident, 1 thread | "
        "cpu=60% user=45% system=15% system_share=25% minor_faults=1000 major_faults=0.1 "
        "resident_memory=95510528B swapped_memory=0B threads=1 uptime=1060s open_descriptors=20;;;0;20000 "
        "descriptors=0.1%;80;90"
    )


def test_an_idle_process_has_no_share_of_system_time(after):
    status, text = after()
    assert status == 0
    assert perfdata(text)["cpu"] == "0%"
    assert "system_share" not in perfdata(text)


@pytest.mark.parametrize(
    ("option", "limit", "sentence"),
    [
        ("-w", "50", "mysqld 4711 uses 60 % of a processor (user 45 %, system 15 %)"),
        ("--system-warning", "10%", "system time of mysqld 4711 is 15 % of a processor"),
        ("--minor-faults-warning", "900", "mysqld 4711 has 1 000 minor page faults/s"),
        ("--resident-memory-warning", "64M", "mysqld 4711 has 91.1 MiB resident"),
        ("--threads-warning", "2:", "mysqld 4711 has 1 thread"),
        ("--uptime-warning", "1h:", "mysqld 4711 is up for 17 min 40 s"),
    ],
)
def test_each_quantity_has_limits_and_a_sentence(after, option, limit, sentence):
    status, text = after(option, limit, user=27.0, system=9.0, minor=60_000)
    assert status == 1
    assert first_line(text) == f"MYSQLD_PROCESS WARNING - {sentence}"


def test_waiting_for_pages_of_memory_is_a_warning(after, mysqld):
    mysqld.proc.process(PID, swapped=2 << 20)
    status, text = after(major=3600)
    assert status == 1
    assert first_line(text) == (
        "MYSQLD_PROCESS WARNING - mysqld 4711 has 60 major page faults/s, it waits for the disk at each, 2 "
        "GiB of its memory are swapped - give the host memory back"
    )
    assert "back: a smaller innodb_buffer_pool_size, fewer programs, vm.swappiness=1" in text


@pytest.mark.parametrize(
    ("name", "advice"), [("ndbmtd", "LockPagesInMainMemory=1"), ("java", "fewer or smaller programs")]
)
def test_the_advice_is_for_that_program(after, mysqld, name, advice):
    mysqld.proc.process(PID, name, threads=9, swapped=1024)
    status, text = after("--program", name, "--major-faults-warning", "5", major=3600)
    assert status == 1
    assert advice in text


@pytest.mark.parametrize(
    ("name", "swapped"),
    [("mysqld", 0), ("ndbmtd", 0), ("java", 0), ("java", 1024)],  # Cassandra and Lucene map their data files
)
def test_reads_of_mapped_files_are_no_swapping(after, mysqld, name, swapped):
    mysqld.proc.process(PID, name, threads=9, swapped=swapped)
    status, text = after("--program", name, major=3600)
    assert status == 0
    assert perfdata(text)["major_faults"] == "60"


def test_who_gave_limits_for_major_faults_hears_that_nothing_is_swapped(after, mysqld):
    status, text = after("--major-faults-warning", "5", major=3600)
    assert status == 1
    assert first_line(text) == (
        "MYSQLD_PROCESS WARNING - mysqld 4711 has 60 major page faults/s, it waits for the disk at each, "
        "none of its memory is swapped - leave the page cache more memory"
    )


def test_another_process_is_another_one(look, mysqld):
    look()
    mysqld.proc.end(PID)
    mysqld.proc.later(60)
    mysqld.proc.process(4712, started=8_000.0, user=500.0)
    status, text = look()
    assert status == 0
    assert "[OK] no rates yet: it is another process than at the last look" in text
    assert "cpu" not in perfdata(text)


def test_a_process_that_was_started_again_with_the_same_id(look, mysqld):
    look()
    mysqld.later(60)
    mysqld.proc.process(PID, started=10_050.0, user=1.0)
    assert "it is another process than at the last look" in look()[1]


def started_anew(mysqld, times, seconds=60, age=20):
    """A process that ends and is started again before the next look; gives the id of the last one."""
    pid = max(mysqld.proc.each)
    for number in range(times):
        mysqld.proc.end(pid + number)
        mysqld.later(seconds)
        mysqld.proc.process(pid + number + 1, started=mysqld.proc.up - age)
        yield pid + number + 1


def test_a_process_that_is_started_often_is_a_warning(look, mysqld):
    look()
    said = [look() for _ in started_anew(mysqld, 3)]
    assert [status for status, _ in said] == [0, 0, 1]
    assert first_line(said[-1][1]) == (
        "MYSQLD_PROCESS WARNING - mysqld 4714 started 20 s ago, and 3 times within the last hour - "
        "if unplanned, see its error log, and what starts it again"
    )
    mysqld.proc.later(3600)
    mysqld.seconds += 3600
    assert look()[0] == 0


def test_a_process_that_is_started_anew_now_and_then_is_no_problem(look, mysqld):
    look()
    assert {look()[0] for _ in started_anew(mysqld, 5, seconds=1900)} == {0}


def test_another_process_that_was_there_already_was_not_started(look, mysqld):
    look()
    assert {look()[0] for _ in started_anew(mysqld, 4, age=4000)} == {0}


def test_a_process_that_ends_meanwhile_is_not_there(look, mysqld, monkeypatch):
    monkeypatch.setattr(collect, "take_snapshot", lambda _: None)
    status, text = look()
    assert status == 2
    assert first_line(text).startswith("MYSQLD_PROCESS CRITICAL - mysqld 4711 has just ended")


def test_no_process_is_critical(look, mysqld):
    mysqld.proc.end(PID)
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "MYSQLD_PROCESS CRITICAL - no mysqld, mariadbd, ndbmtd or ndbd runs on this host - see its error "
        "log, then start it"
    )


@pytest.mark.parametrize(("free", "is_full"), [(0, True), (3 << 20, True), (16 << 20, False), (None, False)])
def test_of_a_process_that_is_gone_the_full_disk_is_named(look, mysqld, monkeypatch, tmp_path, free, is_full):
    mysqld.proc.end(PID)
    monkeypatch.setattr(host, "free_bytes", lambda directory: free if directory == str(tmp_path) else None)
    status, text = look("--data-dir", str(tmp_path))
    assert status == 2
    said = "the disk there is full ({})"
    assert (said.format(f"{(free or 0) >> 20} MiB free" if free else "0 B free") in text) == is_full
    assert ("make room there, then check that it starts" in first_line(text)) == is_full
    assert ("see its error log" in first_line(text)) != is_full


def test_a_stopped_process_is_critical_and_nobody_asks_it(look, mysqld):
    mysqld.proc.process(PID, state="T")
    status, text = look("--mysql")
    assert status == 2
    assert first_line(text).startswith(
        "MYSQLD_PROCESS CRITICAL - mysqld 4711 is stopped and does not respond"
    )
    assert mysqld.server.asked == []


def test_a_process_that_a_debugger_holds_is_critical_in_two_looks_in_a_row(look, mysqld):
    mysqld.proc.process(PID, state="t", tracer=99)
    assert look()[0] == 0
    mysqld.later(60)
    status, text = look()
    assert status == 2
    assert first_line(text) == (
        "MYSQLD_PROCESS CRITICAL - mysqld 4711 is held by a debugger, process 99, and does not respond - end "
        "gdb, strace or gcore: detaching lets it go on"
    )
    mysqld.later(60)
    mysqld.proc.process(PID, state="S", tracer=99)  # as strace leaves it but for microseconds
    assert look()[0] == 0


# descriptors


@pytest.fixture
def in_one_run(look, mysqld, monkeypatch):
    """Run the plugin with a sample, in which that changes."""

    def run(*arguments, timeout="8s", **changed):
        def sleep(seconds):
            mysqld.proc.process(PID, **changed)
            mysqld.later(seconds)

        monkeypatch.setattr(time, "sleep", sleep)
        return look("--no-state", "--sample", "2s", "-t", timeout, *arguments)

    return run


@pytest.mark.parametrize(
    ("limits", "later", "expected"),
    [
        ([], 20, 2),
        ([], 10, 0),
        ([], 18, 1),
        (["--descriptors-critical", "50"], 12, 2),
        (["--descriptors-critical", "95"], 20, 1),
    ],
)
def test_the_two_looks_of_a_sample_count_for_descriptors(in_one_run, mysqld, limits, later, expected):
    mysqld.proc.process(PID, limit="22")
    assert in_one_run(*limits, descriptors=later)[0] == expected


def test_a_limit_of_the_user_for_descriptors_is_critical_at_once(look, mysqld):
    mysqld.proc.process(PID, limit="22")
    assert look()[0] == 1
    assert look("--descriptors-critical", "90")[0] == 2
    assert look("--descriptors-warning", "90")[0] == 1


def silent(*_):
    raise NoAnswerError("db1:3306 did not say a word")


def test_full_descriptors_are_critical_of_a_server_that_does_not_answer(look, mysqld, monkeypatch):
    monkeypatch.setattr(mysql, "connect", silent)
    mysqld.proc.process(PID, limit="20")
    assert look("--mysql")[0] == 1
    mysqld.later(60)
    status, text = look("--mysql")
    assert status == 2
    assert "mysqld 4711 has 20 of 20 descriptors open" in first_line(text)
    assert "db1:3306 did not say a word" in text


def test_descriptors_are_told_where_the_server_leaves_no_time_for_a_sample(in_one_run, mysqld, monkeypatch):
    def late(target, deadline, *_):
        deadline.extend(-7)
        silent()

    monkeypatch.setattr(mysql, "connect", late)
    mysqld.proc.process(PID, limit="20")
    status, text = in_one_run("--mysql")
    assert status == 1
    assert "mysqld 4711 has 20 of 20 descriptors open" in first_line(text)
    assert "db1:3306 did not say a word" in text
    assert "no time is left" not in text


def test_an_ok_line_does_not_say_what_would_be_bad(look):
    text = look("-v")[1]
    assert "[OK] mysqld 4711 has 20 of 20000 descriptors open" in text
    assert "error 24" not in text


@pytest.mark.parametrize(("limit", "first", "second"), [(26, 0, 0), (24, 1, 1), (22, 1, 2)])
def test_descriptors_are_critical_in_two_looks_in_a_row(look, mysqld, limit, first, second):
    mysqld.proc.process(PID, limit=str(limit))
    assert look()[0] == first
    assert look()[0] == first  # the same look again
    mysqld.later(60)
    status, text = look()
    assert status == second
    mysqld.later(60)
    mysqld.proc.process(PID, descriptors=10)
    assert look()[0] == 0
    if second == 2:
        assert first_line(text) == (
            "MYSQLD_PROCESS CRITICAL - mysqld 4711 has 20 of 22 descriptors open, at the limit it can "
            "neither take connections nor open files - raise open_files_limit and LimitNOFILE of its unit"
        )


def test_descriptors_without_a_limit_are_a_number(look, mysqld):
    mysqld.proc.process(PID, limit="unlimited")
    status, text = look()
    assert status == 0
    assert perfdata(text)["open_descriptors"] == "20"
    assert "descriptors" not in perfdata(text)


def denied(mysqld, **more):
    mysqld.proc.end(PID)
    mysqld.proc.process(PID, descriptors=None, **more)


def test_descriptors_that_are_not_for_us_to_see_are_no_problem_where_they_cannot_be_many(look, mysqld):
    denied(mysqld, slots=64)
    status, text = look("-v")
    assert status == 0
    assert "[OK] mysqld 4711 has at most 64 of 20000 descriptors open" in text
    assert "descriptors" not in perfdata(text)


def test_descriptors_that_are_not_for_us_to_see_are_said_once(look, mysqld):
    denied(mysqld, slots=1024, limit="1024")
    status, text = look()
    assert status == 0
    assert "[OK] how many of 1024 descriptors mysqld 4711 has open is not for " in text
    assert text.count("descriptors") == 1


def test_who_gave_limits_for_descriptors_hears_that_they_are_unknown(look, mysqld):
    denied(mysqld, slots=1024, limit="1024")
    assert look("--descriptors-critical", "95")[0] == 3


# threads


def threads(mysqld):
    mysqld.proc.thread(PID, PID, user=1.0)
    mysqld.proc.thread(PID, 4712, "ib_io_rd-1", user=2.0)
    mysqld.proc.thread(PID, 4713, "ib_io_rd-2", user=3.0)


def table(look, *arguments):
    """The rows of the tables by their first column."""
    told = json.loads(look("-v", "--output", "json", *arguments)[1])
    found = {one["name"]: one["table"] for one in told["findings"] if "table" in one}
    return found["threads"], found.get("busiest_thread", [])


def test_threads_that_do_the_same_are_summed_up(look, mysqld):
    threads(mysqld)
    look()
    mysqld.later(60)
    mysqld.proc.thread(PID, 4712, "ib_io_rd-1", user=8.0)
    mysqld.proc.thread(PID, 4713, "ib_io_rd-2", user=3.0, system=3.0)
    mysqld.proc.thread(PID, 4714, "connection", user=30.0, started=10_030.0)  # a new one
    mysqld.proc.thread(PID, 4715, "connection", user=600.0, started=9_500.0)  # not seen at the last look
    by_role, each = table(look)
    assert by_role == [
        {"role": "connection", "threads": 1, "user": 50, "system": 0, "busiest": 50},
        {"role": "ib_io_rd", "threads": 2, "user": 10, "system": 5, "busiest": 10},
        {"role": "mysqld", "threads": 1, "user": 0, "system": 0, "busiest": 0},
    ]
    assert each == [
        {"thread": "connection", "id": 4714, "user": 50, "system": 0},
        {"thread": "ib_io_rd 1", "id": 4712, "user": 10, "system": 0},
        {"thread": "ib_io_rd 2", "id": 4713, "user": 0, "system": 5},
    ]


def test_the_busiest_thread_has_limits(look, mysqld):
    threads(mysqld)
    look()
    mysqld.later(60)
    mysqld.proc.thread(PID, 4712, "ib_io_rd-1", user=59.0)
    status, text = look("--busiest-thread-warning", "90")
    assert status == 1
    assert "the busiest thread, ib_io_rd 1 4712, uses 95 % of a processor, user 95 %, system 0 %" in text


def test_very_many_threads_are_counted_only(look, mysqld, monkeypatch):
    monkeypatch.setattr(model, "MOST_THREADS", 2)
    threads(mysqld)
    look()
    mysqld.later(60)
    _, text = look("-v")
    assert perfdata(text)["threads"] == "3"
    assert "busiest_thread" not in perfdata(text)
    assert "mysqld 4711 has 3 threads, too many to look at each" in text
    status, text = look("--busiest-thread-critical", "50")
    assert status == 3
    assert "which thread is the busiest is not known: mysqld 4711 has 3 threads" in first_line(text)


LOG = """[ndbd] INFO     -- Angel pid: 26386 started child: 4711
[ndbd] INFO     -- Started thread, index = 0, id = 4712, type = NdbfsThread
[ndbd] INFO     -- Started thread, index = 2, id = 4713, type = WatchDogThread
[ndbd] INFO     -- thr: 4 tid: 4711 (recv) THRMAN(5) TRPMAN(1) realtime=0, spintime=0
[ndbd] INFO     -- thr: 2 tid: 4714 (ldm) PGMAN(1) DBACC(1) DBLQH(1) DBTUP(1) realtime=0, spintime=0
[ndbd] INFO     -- thr: 3 tid: 4715 (ldm) PGMAN(2) DBACC(2) DBLQH(2) DBTUP(2) realtime=0, spintime=0
"""  # of NDB 9.7.2


def test_the_threads_of_a_data_node_by_role(look, mysqld, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    old = LOG.replace("4711", "3711").replace("(ldm)", "(tc)")
    (data / "ndb_3_out.log").write_text(old + LOG)
    mysqld.proc.process(PID, "ndbmtd", cwd=data)
    for thread in range(PID, PID + 6):
        mysqld.proc.thread(PID, thread, "ndbmtd")
    look()
    mysqld.later(60)
    mysqld.proc.thread(PID, PID, "ndbmtd", user=6.0, system=6.0)
    for thread in (4714, 4715):
        mysqld.proc.thread(PID, thread, "ndbmtd", user=30.0)
    by_role, each = table(look)
    assert [(row["role"], row["threads"], row["user"]) for row in by_role] == [
        ("ldm", 2, 100), ("recv", 1, 10), ("NdbfsThread", 1, 0), ("WatchDogThread", 1, 0), ("ndbmtd", 1, 0),
    ]  # fmt: skip
    assert [row["thread"] for row in each] == ["ldm 2", "ldm 3", "recv 4"]


def test_a_data_node_whose_log_is_not_for_us_has_threads_without_roles(look, mysqld):
    mysqld.proc.process(PID, "ndbmtd")
    mysqld.proc.thread(PID, PID, "ndbmtd")
    mysqld.proc.thread(PID, 4712, "ndbmtd")
    look()
    mysqld.later(60)
    assert [row["role"] for row in table(look)[0]] == ["ndbmtd"]


# the server


class Telling(CapturedMysql):
    """It knows its threads."""

    def rows(self, sql, *_, within=None):
        if "threads WHERE THREAD_OS_ID IS NOT NULL" in sql:
            return [
                {"name": "thread/sql/main", "os_id": PID, "id": None, "user": None},
                {"name": "thread/innodb/io_read_thread", "os_id": 4712, "id": None, "user": None},
                {"name": "thread/sql/one_connection", "os_id": 4713, "id": 8, "user": "app"},
            ]
        if "PROCESSLIST WHERE TID IS NOT NULL" in sql:
            return [{"name": "connection", "os_id": 4713, "id": 9, "user": "app"}]
        if "CONNECTION_ID()" in sql:
            return [{"thread": 4713}]
        return super().rows(sql, within=within)


@pytest.mark.parametrize(
    ("version", "roles"),
    [
        ("MySQL 9.7", {"main", "innodb/io_read_thread", "connection 8 of app"}),
        ("MariaDB 10.11", {"mysqld", "ib_io_rd 1", "connection 9 of app"}),
    ],
)
def test_the_server_knows_what_its_threads_do(look, mysqld, version, roles):
    threads(mysqld)
    mysqld.server = Telling(version)  # up for longer: its thread tells that it is this process
    look("--mysql")
    mysqld.later(60)
    for thread in (PID, 4712, 4713):
        mysqld.proc.thread(PID, thread, "ib_io_rd-1" if thread == 4712 else "mysqld", user=6.0)
    assert {row["thread"] for row in table(look, "--mysql")[1]} == roles


def test_without_verbose_nobody_asks_what_threads_do(look, mysqld):
    look("--mysql")
    assert not any(
        "THREAD_OS_ID IS NOT NULL" in sql or "TID IS NOT NULL" in sql for sql in mysqld.server.asked
    )


def test_a_missing_grant_is_said_with_verbose_alone(look, mysqld):
    mysqld.new_server("MySQL 9.7").denied = {"performance_schema": "SELECT ON performance_schema.threads"}
    look("--mysql")
    mysqld.later(60)
    assert "GRANT" not in look("--mysql")[1]
    mysqld.later(60)
    sentence = "[OK] not seen: what a thread does (needs SELECT ON performance_schema.*)"
    status, text = look("--mysql", "-v")
    assert status == 0
    assert sentence in text


@pytest.mark.parametrize("option", ["-S/s", "-udbmon", "--mysql", "-P3306", "--enable-cleartext-plugin"])
def test_any_option_of_the_server_says_that_it_is_to_be_asked(look, mysqld, option):
    look(option)
    assert mysqld.server.asked


@pytest.mark.parametrize("option", ["--ssl-mode", "--ssl-ca", "--ssl-cert", "--server-public-key-path"])
def test_tls_and_the_server_s_key_are_for_a_server_that_is_to_be_asked(look, mysqld, tmp_path, option):
    key = tmp_path / "key.pem"
    key.write_text("-----BEGIN PUBLIC KEY-----\n")
    look(option, "REQUIRED" if option == "--ssl-mode" else str(key))
    assert mysqld.server.asked


def test_no_option_of_a_server_is_forgotten():
    check = Check("any", "Any.")
    others = {one.dest for one in check.options}
    options.add(check)
    assert {one.dest for one in check.options} - others == {*options.OPTIONS, "unreachable"}


def test_a_key_without_a_certificate_is_refused_as_of_any_server(look, tmp_path):
    status, text = look("--ssl-key", str(tmp_path / "key.pem"))
    assert status == 3
    assert "--ssl-key needs --ssl-cert" in text


def test_the_server_is_not_asked_unless_somebody_wants_that(look, mysqld):
    look("-v")
    assert not mysqld.server.asked


def test_another_server_is_not_asked(look, mysqld):
    mysqld.new_server("MySQL 9.7", uptime=86400)
    status, text = look("--mysql")
    assert status == 3
    assert first_line(text).startswith(
        "MYSQLD_PROCESS UNKNOWN - db1:3306, up 1 d, is not mysqld 4711, up 16 min 40 s: it was not asked"
    )
    assert "resident_memory" in perfdata(text)


@pytest.mark.parametrize(("option", "state"), [("unknown", 3), ("warning", 1), ("critical", 2)])
def test_a_server_that_is_not_reached_costs_nothing_of_the_process(look, monkeypatch, option, state):
    def refused(*_):
        raise UnreachableError("db1:3306 refused the connection")

    monkeypatch.setattr(mysql, "connect", refused)
    status, text = look("--mysql", "--unreachable", option)
    assert status == state
    assert "db1:3306 refused the connection" in first_line(text)
    assert "[OK] mysqld 4711 up" in look("--mysql", "-v")[1]
    assert "resident_memory" in perfdata(text)


def test_a_server_that_does_not_answer_is_unknown(look, mysqld):
    mysqld.server.failing = {"SHOW GLOBAL STATUS": NoAnswerError("db1:3306 did not answer within 2 s")}
    status, text = look("--mysql")
    assert status == 3
    assert "did not answer within 2 s" in first_line(text)
    assert "resident_memory" in perfdata(text)


def test_the_server_tells_which_of_several_processes_it_is(look, mysqld):
    mysqld.proc.process(4800, started=2_000.0)
    assert look()[0] == 3
    status, text = look("--mysql")
    assert status == 0
    assert "mysqld 4711 up" in text


def test_two_servers_of_a_host_do_not_forget_each_other(look, mysqld):
    mysqld.proc.process(4800, started=2_000.0)
    first, second = mysqld.server, CapturedMysql("MySQL 9.7")
    second.status["Uptime"] = "7999"
    for _ in range(2):
        said = {}
        for socket, server in (("/a", first), ("/b", second)):
            mysqld.server = server
            said[socket] = look("-S", socket)
        mysqld.proc.later(60)
        mysqld.seconds += 60
        first.later(60)
        second.later(60)
    for socket, pid in (("/a", PID), ("/b", 4800)):
        status, text = said[socket]
        assert status == 0
        assert f"mysqld {pid} up " in text
        assert "cpu" in perfdata(text), text


def test_of_several_processes_a_server_that_is_not_reached_is_told_first(look, mysqld, monkeypatch):
    monkeypatch.setattr(mysql, "connect", silent)
    mysqld.proc.process(4800, state="T", cwd="/srv/b")
    status, text = look("--mysql")
    assert status == 3
    assert first_line(text).startswith(
        "MYSQLD_PROCESS UNKNOWN - db1:3306 did not say a word, so it cannot name its process: 2 "
        "processes run on this host: mysqld 4711 and mysqld 4800 (/srv/b, stopped)"
    )


def test_the_process_that_is_left_is_not_taken_for_the_one_that_ended(look, mysqld, monkeypatch):
    mysqld.proc.process(4800, started=2_000.0)
    assert look("--mysql")[0] == 0
    mysqld.later(60)
    mysqld.proc.end(PID)
    monkeypatch.setattr(mysql, "connect", silent)
    status, text = look("--mysql", "-v")
    assert status == 3
    assert "mysqld 4800" not in text


def test_a_thread_that_another_process_does_not_have_tells_that_it_is_another(look, mysqld):
    mysqld.server = Telling("MariaDB 10.11")  # as old as the process
    mysqld.server.status["Uptime"] = str(AGE)
    status, text = look("--mysql")
    assert status == 3
    assert "is not mysqld 4711" in first_line(text)
    mysqld.proc.process(PID, pids="4711 1")  # in a container, where its threads have other numbers
    mysqld.later(60)
    assert look("--mysql")[0] == 0


def test_a_grant_that_would_tell_which_process_it_is(look, mysqld):
    mysqld.new_server("MySQL 9.7").denied = {"performance_schema": "SELECT ON performance_schema.threads"}
    mysqld.proc.process(4800)
    status, text = look("--mysql")
    assert status == 3
    assert "with SELECT ON performance_schema.* the server itself shows which" in text


# read_buffer_size: numbers as in the articles and as measured


def connecting(after, mysqld, size, seconds=60, per_second=80, pages=1281, user=0.3, system=5.0):
    """80 connections per second, each with so many page faults and so many ms of processor time."""
    mysqld.server.variables["read_buffer_size"] = str(size)
    number = seconds * per_second
    return after(
        "--mysql",
        connections=number, minor=number * pages, user=number * user / 1000, system=number * system / 1000,
    )  # fmt: skip


def test_a_read_buffer_that_is_mapped_for_each_connection(after, mysqld):
    status, text = connecting(after, mysqld, 5 * MIB)
    assert status == 1
    assert first_line(text) == (
        "MYSQLD_PROCESS WARNING - read_buffer_size 5M is mapped and zeroed for 80 connections/s, 100 000 "
        "minor page faults/s - set it to 128K and check again"
    )
    assert "1281 for each connection, where such a buffer has 1280 pages, system time 40 % of a" in text


def test_the_worked_example_of_the_article(after, mysqld):
    """On 8 processors 3 to 5 % user and 6 to 12 % system time, at 60 to 100 connections per second."""
    status, text = connecting(after, mysqld, 5 * MIB, per_second=80, user=4.0, system=9.0)
    assert status == 1
    assert "read_buffer_size 5M is mapped and zeroed for 80 connections/s" in text
    assert perfdata(text)["cpu"] == "104%"
    status, text = connecting(after, mysqld, 128 << 10, pages=2, user=0.01, system=0.01)
    assert status == 0


@pytest.mark.parametrize(
    ("size", "measured"),
    [
        (128 << 10, {"pages": 25}),  # MariaDB, mapped: as many as the buffer has, and not worth a word
        (5 * MIB, {"pages": 2495}),  # each fourth connection asks for a value of 32 MiB (MariaDB 10.11)
        (5 * MIB, {"pages": 8850}),  # each connection does
        (5 * MIB, {"pages": 1700}),
        (5 * MIB, {"pages": 900}),
        (5 * MIB, {"pages": 319}),  # glibc has adapted; 50 clients, four buffers each
        (5 * MIB, {"per_second": 49}),
        (5 * MIB, {"user": 11.0, "system": 2.7}),  # system time is 20 % no more
        (256 << 10, {"pages": 64}),  # 5 000 faults per second take 2 % of a processor
    ],
)
def test_a_read_buffer_that_is_not_the_reason(after, mysqld, size, measured):
    assert connecting(after, mysqld, size, **measured)[0] == 0


def test_a_server_whose_connections_began_anew_says_nothing_of_its_read_buffer(after, mysqld):
    mysqld.server.variables["read_buffer_size"] = str(5 * MIB)
    assert after("--mysql", connections=-900, minor=10_000_000, system=50.0)[0] == 0


# the kernel's own words


def test_threads_and_processes_that_are_not_there():
    assert processes.threads(2**22 + 1) == []
    assert processes.status(2**22 + 1) is None
    assert processes.descriptors(2**22 + 1) is None
    assert processes.sockets(2**22 + 1) is None
    assert processes.descriptor_limit(2**22 + 1) is None


def test_a_name_may_contain_anything(mysqld):
    mysqld.proc.process(5, "a) R 1 (b")
    task = processes.task(5)
    assert (task.name, task.state, task.minor_faults, task.started) == ("a) R 1 (b", "S", 106134, 9000.0)


@pytest.mark.parametrize("content", [b"", b"4711 (mysqld) S", b"4711 (mysqld) S x" + b" 0" * 40])
def test_a_file_that_is_cut_off_is_no_process(mysqld, content):
    (mysqld.proc.folder / str(PID) / "stat").write_bytes(content)
    assert processes.task(PID) is None
