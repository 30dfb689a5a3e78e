"""What the benchmark makes of what it has measured."""

import ast
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.only_in_all_cells  # the benches and their page

BENCH = Path(__file__).parents[1] / "bench"


@pytest.fixture(scope="module")
def measured(bench_modules):
    return bench_modules("measured")


@pytest.fixture(scope="module")
def medians(bench_modules):
    return bench_modules("medians")


@pytest.fixture(scope="module")
def spent(bench_modules):
    return bench_modules("spent")


@pytest.fixture(scope="module")
def costs(bench_modules):
    """Makes runs of a command that took so much processor time, twice as long, and 10 MiB."""
    cost = bench_modules("starter").Cost

    def made(*seconds, failed=""):
        return [cost(2 if failed else 0, one, 2 * one, 10.0, failed) for one in seconds]

    return made


def test_a_ratio_is_the_median_of_the_rounds_and_not_the_ratio_of_medians(medians, costs):
    mine, theirs = costs(0.1, 0.4, 0.9), costs(0.1, 0.2, 0.1)
    assert medians.times(mine, theirs) == pytest.approx(2)


def test_a_process_too_short_for_the_clock_is_not_divided_by(medians, costs):
    assert medians.times(costs(0.1), costs(0.0)) > 1000


def test_rows_are_medians_and_set_against_the_first(medians, costs):
    given = {"ours": costs(0.030, 0.050, 0.040), "theirs": costs(0.060, 0.100, 0.080)}
    ours, theirs = medians.rows(given, {"ours": 120})
    assert ours == {
        "name": "ours", "processor_ms": 40.0, "wall_ms": 80.0, "memory_mib": 10.0, "times": None,
        "status": None, "modules": 120,
    }  # fmt: skip
    assert (theirs["times"], theirs["processor_ms"], theirs["modules"]) == (2.0, 80.0, None)


def test_one_round_that_did_not_end_as_expected_is_told(medians, costs):
    each = costs(0.01, 0.01)
    assert medians.rows({"check": each}, {})[0]["status"] is None
    each += costs(0.01, failed="exit status 2: no")
    assert medians.rows({"check": each}, {})[0]["status"] == 2


def test_fewer_rounds_are_fewer_for_all_and_at_least_one(measured, monkeypatch):
    monkeypatch.delenv("ROUNDS", raising=False)
    assert [measured.rounds_of(usual) for usual in (25, 50, 3)] == [25, 50, 3]
    monkeypatch.setenv("ROUNDS", "5")
    assert [measured.rounds_of(usual) for usual in (25, 50, 3)] == [5, 10, 1]


def test_a_limit_is_kept_up_to_itself(measured, capsys):
    bench = measured.Bench("none")
    bench.budget("just", 1.5, 1.5)
    bench.budget("beyond", 1.51, 1.5)
    assert [one["kept"] for one in bench.budgets] == [True, False]
    assert "NOT KEPT" in capsys.readouterr().out.splitlines()[-1]


def test_a_limit_may_have_a_ratio_beside_it(measured):
    bench = measured.Bench("none")
    bench.budget("two and many", 51.23, 60, "ms", times=1.234567)
    assert bench.budgets == [
        {"what": "two and many", "found": 51.23, "limit": 60, "unit": "ms", "kept": True, "times": 1.235}
    ]


def test_a_limit_is_held_to_a_peer_that_did_its_work_each_time(measured, costs, capsys):
    bench = measured.Bench("none")
    good, bad = costs(0.1, 0.1), costs(0.2, failed="exit status 2: too old")
    given = {"ours": costs(0.1, 0.3), "good": good, "bad": [good[0], *bad]}
    bench.hold("of good", given, "ours", "good", 1.9)
    bench.hold("of bad", given, "ours", "bad", 1.9)
    bench.hold("of nobody", given, "ours", "nobody", 1.9)
    assert [(one["found"], one["kept"], one.get("why")) for one in bench.budgets] == [
        (2.0, False, None),
        (None, False, "bad ended with exit status 2: too old"),
        (None, False, "there is no nobody"),
    ]
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  of bad: may be 1.900 times, NOT JUDGED: bad ended with exit status 2: too old",
        "  of nobody: may be 1.900 times, NOT JUDGED: there is no nobody",
    ]


def test_only_plugins_of_this_tree_have_their_modules_counted(measured):
    assert measured.in_this_tree(measured.ours("check_host", "-V"))
    assert not measured.in_this_tree([sys.executable, "-I", "-c", "pass"])
    assert not measured.in_this_tree(measured.Ours(["/usr/bin/true"]))


def test_a_plugin_that_somebody_else_runs_has_to_end_as_expected_too(measured, bench_modules):
    copy = bench_modules("copies").environment(Path("/opt/stallwatch"))
    command = copy.command("nagios", "check_host", "-V")
    assert isinstance(command, measured.Ours)
    assert command[-3:] == ["-I", Path("/opt/stallwatch/bin/check_host"), "-V"]
    assert not measured.in_this_tree(command)


@pytest.fixture
def bench(measured, tmp_path, monkeypatch):
    """One that has two rounds, and so keeps its results apart."""
    monkeypatch.setattr(measured, "QUICK", tmp_path / "results")
    monkeypatch.setenv("ROUNDS", "2")
    with measured.Bench("part") as bench:
        yield bench
        bench.said["something"] = {}


def shell(measured, script):
    """A command that counts as one of ours."""
    return measured.Ours(["sh", "-c", script])


def test_one_of_ours_that_does_not_end_as_expected_is_no_measurement(measured, bench):
    with pytest.raises(measured.NotExpectedError, match="check, exit status 2: CRITICAL - refused"):
        bench.compare("one", {"check": shell(measured, "echo CRITICAL - refused; exit 2")})
    found = bench.compare("one", {"check": shell(measured, "exit 2")}, expected={"check": (1, 2)})
    assert [cost.status for cost in found["check"]] == [2, 2]
    with pytest.raises(measured.NotExpectedError, match="exit status 0"):
        bench.compare("in trouble", {"check": shell(measured, "exit 0")}, expected={"check": (1, 2)})


def test_one_of_ours_may_not_fail_in_any_round(measured, bench):
    script = f"echo >>{bench.path('runs')}; [ $(wc -l <{bench.path('runs')}) -lt 3 ]"
    with pytest.raises(measured.NotExpectedError):
        bench.compare("one", {"check": shell(measured, script)})
    assert not bench.tables


def test_one_of_ours_that_says_nothing_is_not_measured(measured, bench):
    with pytest.raises(measured.NotExpectedError, match="check, exit status 0: nothing"):
        bench.compare("one", {"check": shell(measured, "echo nothing")}, says="[0-9]")


def test_a_peer_that_does_not_say_it_in_one_round_did_not_do_its_work(measured, bench, capsys):
    runs = bench.path("runs")
    peer = ["sh", "-c", f"echo >>{runs}; [ $(wc -l <{runs}) -lt 3 ] && echo used=123 || echo none"]
    found = bench.compare("one", {"one": ["echo", "used=123"], "peer": peer}, says="[0-9]")
    assert [cost.failed for cost in found["peer"]] == ["", "exit status 0: none"]
    assert capsys.readouterr().out.splitlines()[0] == "  peer, exit status 0: none"


def test_all_run_in_each_round_and_not_always_in_one_order(measured, bench, monkeypatch):
    monkeypatch.setenv("ROUNDS", "8")
    commands = {name: ["sh", "-c", f"echo {name} >>{bench.path('order')}"] for name in "abc"}
    bench.compare("order", commands)
    order = Path(bench.path("order")).read_text().split()
    rounds = ["".join(order[start : start + 3]) for start in range(0, len(order), 3)]
    assert rounds[0] == "abc"
    assert {"".join(sorted(each)) for each in rounds} == {"abc"}
    assert len(rounds) == 9
    assert len(set(rounds)) > 3


def test_commands_know_nothing_of_who_runs_the_bench(bench_modules, bench, monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1m")
    starter = bench_modules("starter")
    with starter.Starter(OWN="1") as started:
        started.cost(["env"], output=bench.path("variables"))
    variables = dict(line.split("=") for line in Path(bench.path("variables")).read_text().splitlines())
    assert variables == {"PATH": starter.PATH, "LANG": "C.UTF-8", "OWN": "1"}


def test_what_is_kept_says_when_it_was(bench, measured):
    found = bench.results()
    assert (found["day"], found["time"]) == (f"{bench.begun:%Y-%m-%d}", f"{bench.begun:%H:%M}")
    assert found["machine"]["load before"] >= 0


def test_nothing_measured_leaves_what_was_measured_before(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "RESULTS", tmp_path)
    (tmp_path / "part.json").write_text("of last time")
    with (
        pytest.raises(SystemExit, match="part: nothing could be measured: no root"),
        measured.Bench("part") as bench,
    ):
        bench.leave_out("no root")
    assert (tmp_path / "part.json").read_text() == "of last time"


def test_what_is_measured_is_kept_and_what_fails_is_not(measured, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(measured, "QUICK", tmp_path)
    monkeypatch.setenv("ROUNDS", "1")
    with measured.Bench("part") as bench:
        found = bench.compare("nothing", {"true": ["/bin/true"], "false": ["/bin/false"]})
    kept = json.loads((tmp_path / "part.json").read_text())
    assert [row["status"] for row in kept["tables"][0]["rows"]] == [None, 1]
    assert len(found["true"]) == kept["tables"][0]["rounds"] == 1
    assert "exit status 1" in capsys.readouterr().out
    with pytest.raises(ZeroDivisionError), measured.Bench("broken"):
        raise ZeroDivisionError
    assert not (tmp_path / "broken.json").exists()


def test_only_rounds_as_usual_are_for_the_page(measured, monkeypatch):
    monkeypatch.delenv("ROUNDS", raising=False)
    assert measured.place() == measured.RESULTS
    monkeypatch.setenv("ROUNDS", str(measured.ROUNDS - 1))
    assert measured.place() == measured.QUICK


def test_what_cannot_be_tidied_up_loses_no_figures(measured, tmp_path, monkeypatch):
    monkeypatch.setattr(measured, "QUICK", tmp_path)
    monkeypatch.setenv("ROUNDS", "1")
    bench = measured.Bench("part")
    bench.said["something"] = {}
    with pytest.raises(ZeroDivisionError), bench:
        bench._end.callback(lambda: 1 / 0)
    assert json.loads((tmp_path / "part.json").read_text())["said"] == {"something": {}}


def test_a_plugin_tells_how_many_modules_it_loaded(measured, bench):
    commands = {"ours": measured.ours("check_host", "-V"), "other": ["true"]}
    bench.compare("version", commands, expected={"ours": (3,)})
    ours, other = bench.tables[0]["rows"]
    assert ours["modules"] > 30
    assert other["modules"] is None


def test_work_is_what_the_clock_says_without_the_imports(spent):
    modules = {
        "stallwatch.frame.check": (0.003, True),
        "stallwatch.sources.mysql": (0.001, True),
        "pymysql": (0.002, True),
        "argparse": (0.001, True),
        "ssl": (0.0, False),
    }
    marks = [
        ("begin", 1.0, 0.0),
        ("compiled", 1.001, 0.0),
        ("socket.connect", 1.010, 0.006),
        ("end", 1.013, 0.007),
    ]
    found = spent.stages(modules, marks)
    assert {name: pytest.approx(milliseconds) for name, milliseconds in found.items() if milliseconds} == {
        spent.REST: 3,
        "import stallwatch.sources": 1,
        spent.LIBRARIES: 2,
        spent.STANDARD: 1,
        spent.WORK["compiled"]: 1,
        spent.WORK["socket.connect"]: 3,
        spent.WORK["end"]: 2,
    }
    assert spent.counted(modules)[spent.STANDARD] == 1  # ssl was kept out


def test_parts_of_the_run_with_the_clock_are_scaled_to_what_the_interpreter_leaves_of_the_whole(spent):
    found = spent.shares(7, 9, 29, {spent.STANDARD: 15.0, spent.WORK["end"]: 10.0})
    assert sum(found.values()) == pytest.approx(29)
    assert list(found.values()) == [7, 2, pytest.approx(12), pytest.approx(8)]


def test_packages_are_named_by_what_they_cost_in_all_runs(spent):
    runs = [({"re": (0.002, True), "re._parser": (0.002, True), "json": (0.003, True)}, [], 0.2)]
    runs += [({"stallwatch": (1.0, True), "json": (0.0, True), "enum": (0.0005, True)}, [], 0.2)]
    assert spent.dearest(runs) == ["re", "json", "enum"]


TWO_LINKS = """
import os, socket, textwrap
with socket.create_server(("127.0.0.1", 0)) as server:
    for _ in range(2):
        socket.create_connection(server.getsockname()).close()
os._exit(3)
"""


def test_the_first_link_ends_what_goes_before_asking_and_a_second_is_part_of_that(spent, tmp_path):
    told, script = tmp_path / "told", tmp_path / "script"
    script.write_text(TWO_LINKS)
    for _ in range(2):
        clocked = subprocess.run([sys.executable, "-I", "-c", spent.CLOCKED, told, script], check=False)
        assert clocked.returncode == 3
    for modules, marks, kernel in map(ast.literal_eval, told.read_text().splitlines()):
        assert [stage for stage, *_ in marks] == ["begin", "compiled", "socket.connect", "end"]
        assert modules["textwrap"][1]
        assert 0 <= kernel <= 1


LIMIT = {"what": "one attribute", "found": 0.2, "limit": 1 / 6, "unit": "times", "kept": False}
UNJUDGED = {**LIMIT, "what": "lag", "found": None, "why": "there is no check_mysql_health"}


@pytest.fixture
def run(bench_modules, tmp_path, monkeypatch):
    """run.py, with parts that write what they are given, or end with a number."""
    module = bench_modules("run")
    module.parts, module.commands = {}, []

    def ended(script):
        module.commands.append(script.stem)
        given = module.parts.get(script.stem, 0)
        if isinstance(given, int):
            return given
        keep(tmp_path / f"{script.stem}.json", **given)
        return 0

    monkeypatch.setattr(module, "RESULTS", tmp_path)
    monkeypatch.setattr(module, "place", lambda: tmp_path)
    monkeypatch.setattr(module, "status_of", ended)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 2)
    return module


def keep(path, budgets=(), load=0.5):
    kept = {"day": "2026-11-22", "time": "16:04", "machine": {"load before": load}, "budgets": budgets}
    path.write_text(json.dumps(kept))


def test_a_limit_that_is_not_kept_is_named_after_all_was_measured(run, capsys):
    run.parts = {"jmx": {"budgets": [LIMIT, {**LIMIT, "kept": True}]}, "mysql": 7, "usage": {}}
    assert run.main("jmx", "mysql", "usage") == 1
    assert run.commands == ["jmx", "mysql", "usage", "generate"]
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "not kept: jmx: one attribute: 0.2 times, may be 0.167",
        "not kept: mysql ended with status 7",
    ]
    assert run.main("usage") == 0
    with pytest.raises(SystemExit, match="no such part: nothing"):
        run.main("nothing")


def test_what_was_not_judged_is_named_and_so_is_a_busy_machine(run, capsys):
    run.parts = {"mysql": {"budgets": [UNJUDGED], "load": 76.0}}
    assert run.main("mysql") == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "not judged: mysql: lag: there is no check_mysql_health, may be 0.167",
        "busy: mysql: a load of 76.0 before, of 2 processors",
    ]


def test_figures_of_another_run_are_named(run, tmp_path, capsys):
    keep(tmp_path / "installed.json", [LIMIT])
    run.parts = {"installed": 1, "usage": {}}
    assert run.main("usage", "installed") == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "of another run: installed: 2026-11-22 16:04",
        "not kept: installed ended with status 1",
    ]


def test_few_rounds_leave_the_page_as_it_is(run, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "place", lambda: tmp_path / "quick")
    assert run.main("usage") == 0
    assert run.commands == ["usage"]
    assert "the page stays as it is" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("rounds", ["0", "00", "-1", "1.5", "abc"])
def test_rounds_that_are_none_are_refused_before_anything_runs(run, monkeypatch, rounds):
    monkeypatch.setenv("ROUNDS", rounds)
    with pytest.raises(SystemExit, match=f"ROUNDS is to be a number from 1 on, not '{rounds}'"):
        run.main("usage")
    assert not run.commands


def test_each_part_says_how_long_it_took(run, capsys):
    run.main("usage")
    assert "== usage: 0 s" in capsys.readouterr().out.splitlines()


BENCH_OF_A_MINUTE = """
import sys, time
sys.path.insert(0, sys.argv[1])
from measured import Bench
with Bench("minute") as bench:
    print(bench.folder, flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_bench_that_is_ended_leaves_nothing_behind_and_says_nothing(number):
    command = [sys.executable, "-c", BENCH_OF_A_MINUTE, BENCH]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bench:
        folder = bench.stdout.readline().strip()
        assert Path(folder).is_dir()
        bench.send_signal(number)
        assert bench.communicate() == ("", "")
    assert bench.returncode == 128 + number
    assert not Path(folder).exists()


def test_what_is_run_is_ended_with_who_runs_it(bench_modules, tmp_path):
    interrupted = bench_modules("interrupted")
    script = tmp_path / "part.py"
    script.write_text("import os, signal, time\nos.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(60)\n")
    with interrupted.ending_tidily(), pytest.raises(SystemExit) as ended:
        interrupted.status_of(script)
    assert ended.value.code == 128 + signal.SIGTERM


STATES = {"installed": "installed 2.3.3-5", "removed": "config-files 2.3.3-5", "never": ""}


@pytest.mark.parametrize(("state", "version"), [("installed", "2.3.3-5"), ("removed", ""), ("never", "")])
def test_a_package_of_which_only_settings_are_left_is_not_there(bench_modules, monkeypatch, state, version):
    peers = bench_modules("peers")
    done = subprocess.CompletedProcess([], 0, stdout=STATES[state])
    monkeypatch.setattr(peers.subprocess, "run", lambda *_, **__: done)
    assert peers._version("monitoring-plugins-basic") == version
