"""Which process check_mysqld_process looks at, and when it says that it is not there."""

import os

import pytest
from fake_proc import FakeProc
from stallwatch.findings import ProbeError
from stallwatch.probes.mysqld_process.choosing import NotThereError, Wanted, choose
from stallwatch.sources import processes


@pytest.fixture
def proc(tmp_path, monkeypatch):
    folder = tmp_path / "proc"
    folder.mkdir()
    return FakeProc(folder, monkeypatch)


@pytest.fixture
def pid_file(tmp_path):
    def write(content):
        (tmp_path / "pid").write_text(f"{content}\n")
        return str(tmp_path / "pid")

    return write


def chosen(**wanted):
    return choose(Wanted(**wanted)).pid


def refused(**wanted):
    with pytest.raises(ProbeError) as refused:
        choose(Wanted(**wanted))
    return refused.value


def not_there(**wanted):
    with pytest.raises(NotThereError) as gone:
        choose(Wanted(**wanted))
    return gone.value


def test_the_only_server_of_a_host_is_meant(proc):
    proc.process(1, "systemd")
    proc.process(77, "sshd")
    proc.process(4711)
    assert chosen() == 4711


@pytest.mark.parametrize("name", ["mysqld", "mariadbd", "ndbmtd", "ndbd"])
def test_all_of_ours_are_known(proc, name):
    proc.process(4711, name, threads=9)
    assert chosen() == 4711


NOBODY = 65534


@pytest.mark.parametrize("name", ["mysqld", "mariadbd", "ndbmtd", "ndbd"])
def test_a_server_of_a_user_who_runs_none_is_ignored(proc, name):
    proc.process(6953, name, uid=NOBODY, threads=9)
    gone = not_there()
    assert gone.what == "no mysqld, mariadbd, ndbmtd or ndbd runs on this host"
    assert gone.why == f"{name} 6953 belongs to the user nobody (no system account)"
    assert gone.advice.endswith("if that is the server, name its --data-dir or --pid-file")
    proc.process(4711, name, threads=9)
    ignored = []
    assert choose(Wanted(), ignore=ignored.append).pid == 4711
    assert ignored == [f"{gone.why}: it is ignored"]


def test_a_program_that_runs_as_root_whoever_started_it_is_no_server(proc):
    proc.process(6953, "mariadbd", uid=0, real_uid=NOBODY)
    assert "belongs to the user nobody" in not_there().why


def test_of_other_programs_it_is_not_known_who_runs_them(proc):
    proc.process(12, "java", uid=NOBODY)
    assert chosen(programs=("java",)) == 12


def test_who_has_the_pid_file_or_the_data_directory_may_run_the_server(proc, pid_file, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "may_be_server", lambda _: False)
    proc.process(6953, uid=os.geteuid(), real_uid=os.geteuid(), cwd=str(tmp_path))
    proc.process(6954, uid=NOBODY, cwd=str(tmp_path))
    assert chosen(pid_file=pid_file(6953)) == 6953
    assert chosen(data_dir=str(tmp_path)) == 6953
    assert not_there(pid_file=pid_file(6954)).what.endswith(
        "is mysqld of the user nobody, not mysqld, mariadbd, ndbmtd or ndbd"
    )


def test_others_are_named(proc):
    proc.process(4711)
    proc.process(12, "java")
    assert chosen(programs=("java",)) == 12


def test_a_name_that_the_kernel_has_cut(proc):
    proc.process(3, "mysqld-with-a-l", arguments=("/opt/mysqld-with-a-long-name", "--port=1"))
    proc.process(4, "mysqld-with-a-l", arguments=("/opt/mysqld-with-a-lot", "--port=1"))
    assert chosen(programs=("mysqld-with-a-long-name",)) == 3


def test_no_server_is_critical(proc):
    proc.process(1, "systemd")
    assert not_there().what == "no mysqld, mariadbd, ndbmtd or ndbd runs on this host"
    assert not_there(programs=("java",)).what == "no java runs on this host"


def test_who_has_ended_is_not_there(proc):
    proc.process(4711, state="Z")
    assert not_there()


def mounted(proc, options):
    (proc.folder / "self").mkdir()
    mount = f"24 28 0:22 / {proc.folder} rw,nosuid - proc proc rw{options}\n"
    (proc.folder / "self" / "mountinfo").write_text(f"23 28 0:21 / /sys rw - sysfs sysfs rw\n{mount}")


@pytest.mark.parametrize("options", [",hidepid=2", ",hidepid=invisible,gid=4"])
def test_where_processes_are_hidden_nobody_says_that_there_is_none(proc, pid_file, options):
    mounted(proc, options)
    error = refused()
    what, _, why = error.what.partition(", but ")
    assert what == "no mysqld, mariadbd, ndbmtd or ndbd runs on this host"
    assert why.startswith("processes of others are hidden from the user ")
    assert refused(pid_file=pid_file(4711))


def test_who_may_see_hidden_processes_knows_that_there_is_none(proc):
    mounted(proc, ",hidepid=2,gid=4")
    proc.process(1, "systemd")
    assert not_there()


def test_without_its_files_proc_tells_nothing(proc):
    proc.folder.rmdir()
    assert refused().what == f"{proc.folder}: No such file or directory"


def test_several_are_named_with_their_places(proc):
    proc.process(1, "mysqld", cwd="/var/lib/mysql")
    proc.process(2, "mariadbd", arguments=("mariadbd", "--datadir=/srv/b"))
    proc.process(3, "mysqld")
    each = "mysqld 1 (/var/lib/mysql), mariadbd 2 (/srv/b) and mysqld 3"
    assert refused().what == f"3 processes run on this host: {each}"


def test_of_several_the_one_is_meant_that_is_most_like_the_server(proc):
    proc.process(1)
    proc.process(2)
    assert choose(Wanted(), lambda process: int(process.pid == 2)).pid == 2
    with pytest.raises(ProbeError):
        choose(Wanted(), lambda _: 1)


def test_a_process_by_its_pid_file(proc, pid_file):
    proc.process(1)
    proc.process(2)
    assert chosen(pid_file=pid_file(2)) == 2


def test_a_pid_file_of_a_process_that_is_gone(proc, pid_file):
    proc.process(1)
    gone = not_there(pid_file=pid_file(4711))
    assert gone.what.startswith("process 4711 of /")
    assert gone.what.endswith("/pid is not there")
    assert gone.advice == "see its error log, here runs mysqld 1"


def test_a_pid_file_of_a_script_that_is_looked_for_by_its_interpreter(proc, pid_file):
    proc.process(7, "python3", arguments=("python3", "-m", "icinga"))
    assert chosen(pid_file=pid_file(7), programs=("python3",)) == 7
    assert chosen(pid_file=pid_file(7), programs=("icinga",)) == 7


def test_a_pid_file_whose_pid_is_somebody_else_s_now(proc, pid_file):
    proc.process(4711, "cron")
    gone = not_there(pid_file=pid_file(4711))
    assert gone.what.endswith("/pid is cron, not mysqld, mariadbd, ndbmtd or ndbd")
    assert gone.why == "the file is left from a process that has ended"


def test_a_pid_file_whose_process_nobody_has_waited_for(proc, pid_file):
    proc.process(4711, state="Z", parent=12)
    gone = not_there(pid_file=pid_file(4711))
    assert gone.what.endswith("/pid has ended")
    assert gone.why == "its parent, process 12, has not noticed yet"


def test_a_pid_file_that_is_not_there(proc, tmp_path):
    assert not_there(pid_file=str(tmp_path / "nothing")).what.endswith("/nothing is not there")


@pytest.mark.parametrize("content", ["", "none", "12x", "-10", "1_0", "1 0"])
def test_a_pid_file_with_nonsense(proc, pid_file, content):
    assert refused(pid_file=pid_file(content)).what.endswith("does not hold the id of a process")


def test_a_pid_file_that_is_a_directory(proc, tmp_path):
    assert refused(pid_file=str(tmp_path)).what.endswith("Is a directory")


def test_a_pid_file_that_is_not_for_us(proc, pid_file, monkeypatch):
    def denied(*_, **__):
        raise PermissionError

    proc.process(1)
    monkeypatch.setattr("stallwatch.sources.processes.pid_in", denied)
    error = refused(pid_file=pid_file(1))
    assert "/pid is not for " in error.what
    assert "--listens PORT" in error.advice


def test_the_pid_file_of_a_container(proc, pid_file):
    proc.process(1, "systemd")
    proc.process(4711, pids="4711 1")
    proc.process(4712)
    assert chosen(pid_file=pid_file(1)) == 4711


def test_two_containers_have_the_same_pid(proc, pid_file):
    proc.process(1, "systemd")
    proc.process(4711, pids="4711 1")
    proc.process(4712, pids="4712 1")
    assert "2 processes are process 1 of a container" in refused(pid_file=pid_file(1)).what


def angel_and_worker(proc, angel=996, worker=1004, **more):
    proc.process(angel, "ndbmtd", **more)
    proc.process(worker, "ndbmtd", parent=angel, threads=60, **more)


def test_not_the_angel_of_a_data_node(proc, pid_file):
    angel_and_worker(proc)
    assert chosen() == 1004
    assert chosen(pid_file=pid_file(996)) == 1004
    assert chosen(pid_file=pid_file(1004)) == 1004


def test_an_angel_alone_is_no_data_node(proc, pid_file):
    proc.process(996, "ndbmtd")
    assert not_there().what == "only the angel of a data node runs, ndbmtd 996"
    assert not_there(pid_file=pid_file(996)).what == "only the angel of a data node runs, ndbmtd 996"


def test_an_angel_alone_is_not_passed_over_for_another_process(proc):
    proc.process(996, "ndbmtd")
    proc.process(4711)
    assert refused().what == (
        "2 processes run on this host: mysqld 4711 and ndbmtd 996 (an angel without its node)"
    )
    assert choose(Wanted(), lambda process: int(process.pid == 4711)).pid == 4711


def two_nodes_one_ended(proc, tmp_path):
    """Node 3 works in d3, of node 4 in d4 the angel alone is left."""
    places = tmp_path / "d3", tmp_path / "d4"
    for place in places:
        place.mkdir()
    angel_and_worker(proc, cwd=str(places[0]))
    proc.process(1996, "ndbmtd", cwd=str(places[1]))
    return [str(place) for place in places]


def test_a_data_directory_in_which_the_angel_alone_works(proc, tmp_path):
    d3, d4 = two_nodes_one_ended(proc, tmp_path)
    gone = not_there(data_dir=d4)
    assert gone.what == f"only the angel of a data node works in {d4}, ndbmtd 1996"
    assert gone.why == "the data node has ended, or is about to be started"
    assert chosen(data_dir=d3) == 1004


def test_the_log_of_a_data_node_tells_where_its_angel_works(proc, tmp_path):
    angel_and_worker(proc)
    proc.process(1996, "ndbmtd")
    log = tmp_path / "ndb_4_out.log"
    log.write_text("[ndbd] INFO     -- Angel pid: 1996 started child: 2004\nmore\n")
    gone = not_there(data_dir=str(tmp_path))
    assert gone.what == f"only the angel of a data node works in {tmp_path}, ndbmtd 1996"
    log.write_text("[ndbd] INFO     -- Angel pid: 11996 started child: 2004\nmore\n")
    assert refused(data_dir=str(tmp_path))


def test_who_runs_is_told_with_what_an_angel_is(proc, tmp_path, pid_file):
    two_nodes_one_ended(proc, tmp_path)
    here = "here runs ndbmtd 1004 and ndbmtd 1996 (an angel without its node)"
    assert not_there(port=11860).why == here
    assert here in not_there(pid_file=pid_file(2004)).advice
    assert not_there(data_dir=str(tmp_path)).why == here
    assert not_there(pid_file=pid_file(1996)).what == "only the angel of a data node runs, ndbmtd 1996"


def test_a_data_node_in_the_foreground_has_no_angel(proc):
    proc.process(1004, "ndbmtd", threads=60)
    assert chosen() == 1004


def test_what_a_server_has_just_forked_is_not_it(proc):
    proc.process(4711)
    proc.process(4712, parent=4711)
    assert chosen() == 4711


def launched(proc, age):
    """A java that has started another one, which listens, as Elasticsearch 8 does."""
    proc.process(71, "java", descriptors=["socket:[40]"])
    proc.process(72, "java", descriptors=["socket:[42]"], parent=71, started=proc.up - age)
    proc.listens(9200, 42)


@pytest.mark.parametrize("age", [1, 3600])
def test_a_child_that_listens_is_meant(proc, age):
    launched(proc, age)
    assert chosen(programs=("java",), port=9200) == 72
    gone = not_there(programs=("java",), port=9300)
    assert gone.why == "here runs java 71 and java 72"
    assert gone.advice == "see its error log: is it starting still?"


def test_a_child_that_works_in_a_directory_is_meant(proc, tmp_path):
    launched(proc, 3600)
    proc.process(72, cwd=tmp_path)
    proc.process(71, cwd="/")
    assert chosen(programs=("java",), data_dir=str(tmp_path)) == 72


def test_a_pid_file_means_the_process_that_it_names(proc, pid_file):
    launched(proc, 3600)
    assert chosen(programs=("java",), pid_file=pid_file(71)) == 71
    assert chosen(programs=("java",), pid_file=pid_file(72)) == 72


def test_nobody_guesses_which_java_of_two_is_meant_but_of_one_that_was_just_forked(proc):
    launched(proc, 3600)
    assert refused(programs=("java",)).what == "2 processes run on this host: java 71 and java 72"
    proc.process(72, started=proc.up - 1)
    assert chosen(programs=("java",)) == 71


def test_what_a_server_has_just_forked_has_its_socket(proc):
    proc.process(4711, descriptors=["socket:[42]"])
    proc.process(4712, descriptors=["socket:[42]"], parent=4711)
    proc.listens(3306, 42)
    assert chosen(port=3306) == 4711


def test_a_process_by_its_port(proc):
    proc.process(1, descriptors=["socket:[41]", "/dev/null"])
    proc.process(2, descriptors=["socket:[42]"])
    proc.listens(3306, 41)
    proc.listens(3307, 42)
    assert chosen(port=3306) == 1
    assert chosen(port=3307) == 2
    assert not_there(port=3308).what == "no mysqld, mariadbd, ndbmtd or ndbd listens on port 3308"


def test_somebody_else_listens_on_that_port(proc):
    proc.process(1)
    proc.listens(3306, 41)
    assert not_there(port=3306)


def test_the_port_of_a_process_whose_sockets_are_not_for_us_to_see(proc):
    proc.process(1, descriptors=None)
    proc.process(2, "java", descriptors=None, uid=33)
    proc.listens(3306, 41, uid=101)
    assert chosen(port=3306) == 1
    proc.process(3, descriptors=None, arguments=("mysqld", "--port=3306"))
    assert chosen(port=3306) == 3
    proc.process(3, arguments=("mysqld",))
    error = refused(port=3306)
    assert "2 processes may listen on port 3306" in error.what
    assert "by sudo" in error.advice
    assert "--listens" not in error.advice


def test_the_port_of_another_user_s_process(proc):
    proc.process(1, descriptors=None)
    proc.listens(3306, 41, uid=33)
    assert not_there(port=3306)


def test_a_socket_that_systemd_has_made_may_be_anybody_s(proc):
    proc.process(1, descriptors=None)
    proc.listens(3306, 41, uid=0)
    error = refused(port=3306)
    assert error.what.startswith("whose socket listens on port 3306 is not for ")
    assert not_there(port=3307)


def test_a_process_by_its_data_directory(proc, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "b")
    proc.process(1, cwd=tmp_path / "a")
    proc.process(2, cwd=tmp_path / "b")
    assert chosen(data_dir=str(tmp_path / "a")) == 1
    assert chosen(data_dir=str(tmp_path / "link")) == 2
    assert not_there(data_dir=str(tmp_path)).why == "here runs mysqld 1 and mysqld 2"
    assert "is no directory" in refused(data_dir=str(tmp_path / "nothing")).what


def test_a_data_directory_that_is_told_by_an_option_alone(proc, tmp_path):
    proc.process(1, arguments=("mysqld", f"--datadir={tmp_path}/"))
    proc.process(2, arguments=("mysqld", "--datadir", "/srv/other"))
    assert chosen(data_dir=str(tmp_path)) == 1


def test_where_a_process_works_outranks_its_option(proc, tmp_path):
    (tmp_path / "a").mkdir()
    proc.process(1, cwd=tmp_path, arguments=("mysqld", f"--datadir={tmp_path}/a"))
    assert not_there(data_dir=str(tmp_path / "a"))
    assert chosen(data_dir=str(tmp_path)) == 1


def test_the_option_of_a_process_in_a_container_means_another_directory(proc, tmp_path):
    proc.process(1, pids="1 7", arguments=("mysqld", f"--datadir={tmp_path}"))
    assert refused(data_dir=str(tmp_path))


def test_only_options_of_servers_are_known(proc, tmp_path):
    proc.process(1, "java", arguments=("java", "-h", str(tmp_path)))
    assert refused(programs=("java",), data_dir=str(tmp_path))


def test_a_log_is_read_from_its_end(proc, tmp_path):
    log = tmp_path / "ndb_3_out.log"
    angel_and_worker(proc)
    start = b"[ndbd] INFO     -- Angel pid: 996 started child: 1004\n"
    log.write_bytes(start + b"x" * 2**23)
    assert chosen(data_dir=str(tmp_path)) == 1004
    with log.open("ab") as file:
        file.truncate(2**33)  # it is sparse
    assert refused(data_dir=str(tmp_path))
    with log.open("ab") as file:
        file.write(start)
    assert chosen(data_dir=str(tmp_path)) == 1004


def test_nobody_guesses_who_works_in_a_directory(proc, tmp_path):
    proc.process(1)
    error = refused(data_dir=str(tmp_path))
    assert error.what.startswith("in which directory mysqld 1 works is not for ")
    assert error.advice.startswith("leave --data-dir out")


def test_the_log_of_a_data_node_tells_where_it_works(proc, tmp_path):
    log = tmp_path / "ndb_3_out.log"
    log.write_text("[ndbd] INFO     -- Angel pid: 996 started child: 1004\nmore\n")
    angel_and_worker(proc)
    angel_and_worker(proc, 1996, 2004)
    assert chosen(data_dir=str(tmp_path)) == 1004
    log.write_text(log.read_text() + "[ndbd] INFO     -- Angel pid: 7 started child: 8\n")
    assert refused(data_dir=str(tmp_path))
    log.write_text("")
    assert refused(data_dir=str(tmp_path))
