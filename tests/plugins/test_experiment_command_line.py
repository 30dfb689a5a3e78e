"""contrib/stallwatch-experiment as a database administrator would use it."""

import importlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from plugin_command import AT_A_TERMINAL
from stallwatch.experiment import plot as plots
from stallwatch.units import NotUnderstoodError

EXPERIMENT = Path(__file__).parents[2] / "contrib" / "stallwatch-experiment"
PLUGIN = """
import json, os, sys
assert sys.argv[-2:] == ["--output", "json"]
count = os.path.getsize("count") if os.path.exists("count") else 0
open("count", "a").write("x")
if sys.argv[1] == "broken" and count == 2:
    sys.exit("it broke")
value = float(sys.argv[2]) + (count % 3) / 1000
limits = {"unit": "s", "warning": "0.25", "critical": "1"}
finding = {"name": "p95", "label": "p95", "value": value, **limits}
print(json.dumps({"name": "demo", "state": "OK", "summary": "well", "findings": [finding]}))
"""


COUNTER = """
import json, sys, time
if "--help" in sys.argv:
    print("  --sample TIME")
    sys.exit(3)
assert sys.argv[sys.argv.index("--sample") + 1] == "5s"
begin = time.time()
time.sleep(0.1)
findings = [{"name": at, "label": at, "value": when} for at, when in (("begin", begin), ("end", time.time()))]
print(json.dumps({"name": "demo", "state": "OK", "summary": "well", "findings": findings}))
"""


@pytest.fixture
def experiment(tmp_path):
    """Call it in a folder of its own: gives its status, what it says, and what it complains of."""

    def experiment(*arguments):
        command = [sys.executable, str(EXPERIMENT), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120)
        return done.returncode, done.stdout, done.stderr

    return experiment


@pytest.fixture
def check_demo(tmp_path):
    """Some plugin."""
    path = tmp_path / "check_demo"
    path.write_text(f"#!{sys.executable}\n{PLUGIN}")
    path.chmod(0o755)
    return str(path)


def test_it_names_its_version(experiment):
    status, text, complaint = experiment("--version")
    assert (status, complaint) == (0, "")
    assert text.startswith("stallwatch-experiment (stallwatch ")


def test_take_take_compare(experiment, check_demo, tmp_path):
    words = ("-n", "6", "--pause", "0", "--", check_demo, "fine")
    assert experiment("take", "before.json", *words, "0.26") == (
        0, "before.json: 6 readings of demo: p95 261 ms, noise 1.8 ms\n", ""
    )  # fmt: skip
    assert experiment("take", "after.json", *words, "0.21")[0] == 0
    status, text, complaint = experiment("compare", "before.json", "after.json")
    assert (status, complaint) == (0, "")
    assert text.startswith(
        "p95 fell from 261 ms to 211 ms (-19.2 %), 28.1 times the noise (1.8 ms): keep the"
    )
    assert len((tmp_path / "before.json").read_text().splitlines()) == 6


def test_intervals_of_readings_do_not_overlap(experiment, tmp_path):
    path = tmp_path / "check_counter"
    path.write_text(f"#!{sys.executable}\n{COUNTER}")
    path.chmod(0o755)
    assert experiment("take", "a.json", "-n", "4", "--pause", "0", "--", str(path))[0] == 0
    found = [json.loads(line)["findings"] for line in (tmp_path / "a.json").read_text().splitlines()]
    spans = [(begin["value"], end["value"]) for begin, end in found]
    assert all(ended <= begins for (_, ended), (begins, _) in itertools.pairwise(spans))


def test_who_reads_only_the_beginning_gets_no_traceback(experiment, check_demo, tmp_path):
    words = ("-n", "4", "--pause", "0", "--", check_demo, "fine", "1")
    assert experiment("take", "a.json", *words)[0] == 0
    command = [sys.executable, str(EXPERIMENT), "compare", "a.json", "a.json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)
    process.stdout.close()
    with process.stderr as told:
        assert told.read() == b""
    assert process.wait(timeout=60) == 0


def test_readings_of_a_loop_will_do(experiment, tmp_path):
    for name, value in (("before", 0.3), ("after", 0.4)):
        finding = {"name": "p95", "label": "p95", "value": value, "unit": "s", "warning": "0.25"}
        told = {"name": "demo", "state": "OK", "summary": "", "findings": [finding]}
        (tmp_path / f"{name}.json").write_text(json.dumps(told) * 5)
    assert "undo the change" in experiment("compare", "before.json", "after.json", "--primary", "p95")[1]


def test_no_file_is_written_over(experiment, check_demo, tmp_path):
    (tmp_path / "a.json").write_text("mine")
    status, _, complaint = experiment("take", "a.json", "--", check_demo, "fine", "1")
    assert (status, complaint) == (2, "stallwatch-experiment: a.json is there already: give another name\n")
    assert (tmp_path / "a.json").read_text() == "mine"


def test_what_was_taken_is_kept_if_the_plugin_breaks(experiment, check_demo, tmp_path):
    words = ("-n", "5", "--pause", "0", "--", check_demo, "broken", "1")
    status, _, complaint = experiment("take", "a.json", *words)
    assert status == 2
    assert complaint.endswith("check_demo printed: it broke\n")
    assert len((tmp_path / "a.json").read_text().splitlines()) == 2


WAITER = """
import os, signal, sys, time
def ended(number, _):
    open("told", "w").write(str(number))
    sys.exit(3)
signal.signal(signal.SIGTERM, ended)
if "--help" not in sys.argv and os.path.exists("count") and os.path.getsize("count") >= 2:
    open("waits", "w").close()
    time.sleep(60)
"""


@pytest.fixture
def waiting(check_demo, tmp_path):
    """Begin a ``take`` whose plugin waits from its third run on; give the process when it does."""
    processes = []

    def waiting(*through):
        Path(check_demo).write_text(f"#!{sys.executable}\n{WAITER}{PLUGIN}")
        words = ("take", "a.json", "-n", "9", "--pause", "0", "--", check_demo, "fine", "1")
        processes.append(
            subprocess.Popen(
                [*AT_A_TERMINAL, *through, sys.executable, str(EXPERIMENT), *words], cwd=tmp_path, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
        )  # fmt: skip
        while not (tmp_path / "waits").exists():
            assert processes[0].poll() is None
            time.sleep(0.01)
        return processes[0]

    yield waiting
    for process in processes:
        process.kill()
        process.communicate()


def ended_by(process, number):
    process.send_signal(number)
    output, complaint = process.communicate(timeout=60)
    return process.returncode, output, complaint


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_what_was_taken_is_kept_and_said_if_a_signal_ends_it(waiting, experiment, tmp_path, number):
    how = "compare with these, or remove the file and take them again"
    why = f"interrupted: a.json has 2 of 9 readings: {how}"
    assert ended_by(waiting(), number) == (3, "", f"stallwatch-experiment: {why}\n")
    assert (tmp_path / "told").read_text() == str(int(signal.SIGTERM))  # it can take leave of its server
    assert experiment("compare", "a.json", "a.json")[0] == 0


def test_a_signal_before_the_first_reading_leaves_no_file(waiting, tmp_path):
    (tmp_path / "count").write_text("xx")
    assert ended_by(waiting(), signal.SIGTERM) == (
        3,
        "",
        "stallwatch-experiment: interrupted: no reading was taken\n",
    )
    assert not (tmp_path / "a.json").exists()


def test_a_signal_that_is_ignored_ends_nothing(waiting):
    process = waiting("nohup")
    status = Path(f"/proc/{process.pid}/status").read_text()
    assert int(status.partition("SigIgn:")[2].split()[0], 16) & 1 << signal.SIGHUP - 1
    process.send_signal(signal.SIGHUP)
    assert ended_by(process, signal.SIGTERM)[0] == 3


def test_a_plugin_of_this_suite_is_found_by_its_name(experiment, tmp_path):
    status, text, _ = experiment("take", "a.json", "-n", "2", "--pause", "0", "--",
                                 "check_ndb_log", "--log", "/nowhere/x.log", "--no-state")  # fmt: skip
    assert status == 0
    assert text.startswith("a.json: 2 readings of ndb_log, without a number: ")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["take", "a.json", "--", "no_such_plugin"],
            "no_such_plugin cannot be run: No such file or directory",
        ),
        (["take", "/nowhere/a.json", "-n", "1", "--", "DEMO", "fine", "1"], "/nowhere/a.json: No such file"),
        (
            ["take", "a.json", "--", "check_ndb_log", "--log", "x", "--nope"],
            "printed: NDB_LOG UNKNOWN - unknown option --nope",
        ),
        (["take", "a.json", "-n", "none", "--", "DEMO"], '"none" is not a whole number'),
        (["take", "a.json", "--pause", "x", "--", "DEMO"], '"x" is not a time'),
        (["compare", "a.json", "b.json"], "a.json: No such file or directory"),
        (
            ["compare", "a.json", "b.json", "--plot", "x.gif"],
            "--plot x.gif: write a name that ends in .svg or",
        ),
        (["compare", "a.json"], "the following arguments are required: AFTER"),
        ([], "the following arguments are required: take|compare"),
    ],
)
def test_bad_usage_is_a_sentence(experiment, check_demo, tmp_path, arguments, complaint):
    status, text, told = experiment(*(check_demo if one == "DEMO" else one for one in arguments))
    assert (status, text) == (2, "")
    assert complaint in told
    assert "Traceback" not in told
    assert not (tmp_path / "a.json").exists()


@pytest.fixture
def two_files(tmp_path):
    """Readings of 5 quantities before and after."""
    for name, base in (("before", 1.0), ("after", 50.0)):
        told = [
            {
                "name": "demo", "state": "OK", "summary": "",
                "findings": [
                    {"name": f"m{which}", "label": f"m{which}", "value": base * which + number, "unit": ""}
                    for which in range(1, 6)
                ],
            }
            for number in range(5)
        ]  # fmt: skip
        (tmp_path / f"{name}.json").write_text("".join(map(json.dumps, told)))
    return "before.json", "after.json"


# One run after the other: importing matplotlib takes longer than all else.
IN_ONE_PROCESS = """
import runpy, sys
_, program, *words = sys.argv
for name, status in (("x.png", 0), ("/nowhere/x.svg", 2)):
    sys.argv = [program, *words, name]
    assert runpy.run_path(program)["main"]() == status
"""


def test_a_plot_has_a_picture_of_each_quantity(experiment, two_files, tmp_path):
    pytest.importorskip("matplotlib", reason="no matplotlib: pip install matplotlib")
    words = ("compare", *two_files, "--plot")
    assert experiment(*words, "x.svg")[0] == 0
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")
    assert (tmp_path / "x.svg").read_text().count("before | after") >= 5
    command = [sys.executable, "-c", IN_ONE_PROCESS, str(EXPERIMENT), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, timeout=120)
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert "/nowhere/x.svg: No such file" in done.stderr


def test_the_package_of_debian_is_found_from_a_private_environment(monkeypatch, tmp_path):
    """That of the deb: its Python is Debian's, and it does not see what Debian has packages of."""
    package = tmp_path / "dist-packages" / "matplotlib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "figure.py").write_text("Figure = 'of Debian'")
    monkeypatch.setattr(plots, "DEBIAN", str(package.parent))
    monkeypatch.setattr(sys, "path", [one for one in sys.path if "site-packages" not in one])
    for name in [one for one in sys.modules if one.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    importlib.invalidate_caches()
    monkeypatch.setattr(sys, "base_prefix", "/opt/python")
    with pytest.raises(NotUnderstoodError, match="apt install python3-matplotlib"):
        plots._matplotlib()
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    assert plots._matplotlib() == "of Debian"
    for name in [one for one in sys.modules if one.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)


def test_without_matplotlib_one_sentence_says_how_to_get_it(two_files, tmp_path):
    (tmp_path / "hidden" / "matplotlib").mkdir(parents=True)
    (tmp_path / "hidden" / "matplotlib" / "__init__.py").write_text(
        "raise ModuleNotFoundError('no', name='matplotlib')"
    )
    path = os.pathsep.join((str(tmp_path / "hidden"), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, str(EXPERIMENT), "compare", *two_files, "--plot", "x.svg"],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == (
        "stallwatch-experiment: --plot needs the Python module matplotlib: apt install "
        "python3-matplotlib (Debian's Python), or pip install matplotlib\n"
    )
    assert done.stdout.startswith("m1 rose from")


def test_a_python_without_stallwatch_is_told_so(tmp_path):
    alone = tmp_path / "stallwatch-experiment"
    shutil.copy(EXPERIMENT, alone)
    done = subprocess.run(
        [sys.executable, "-S", "-E", str(alone)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.endswith("install stallwatch, or set PYTHONPATH=lib (see README.md)\n")
