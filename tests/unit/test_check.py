import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import psutil
import pytest
from clock import soon
from stallwatch import units, withheld
from stallwatch.deadline import Account, Children, TimeUpError
from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.frame.check import Check
from stallwatch.frame.run import Run
from stallwatch.line import shorten
from stallwatch.withheld import WITHHELD

PASSWORD = "hunter2"
HINT = ": see check_demo --help"
A_TIME = "a time in seconds such as 90, 500ms, 5m, 2h or 1d"


def fine(_options, _run):
    yield Reading("lag", 2, "s", "lag 2 s")


def unconfirmed(_options, _run):
    yield Reading("lag", 400, "s", "lag 400 s", confirmed=False)


def unreachable(_options, _run):
    yield Reading("lag", 2, "s", "lag 2 s")
    raise ProbeError("db1:3306 refused the connection", "start the server")


def crash(_options, _run):
    raise ValueError(f"access denied for root with password {PASSWORD} | x")
    yield


# A run


def test_a_run_gives_the_exit_status_and_the_line(check):
    assert check.run(fine, []) == (0, "DEMO OK - lag 2 s | lag=2s;60;300")


def test_the_user_sets_the_thresholds(check):
    assert check.run(fine, ["-w", "1", "-c", "1m"]) == (1, "DEMO WARNING - lag 2 s | lag=2s;1;60")


def test_a_warning_beyond_the_critical_threshold_is_refused_if_the_user_gave_both(check):
    said = f"DEMO UNKNOWN - --warning 8m is beyond --critical 6m: no value would be a warning{HINT}"
    assert check.run(fine, ["-w", "8m", "-c", "6m"]) == (3, said)
    assert check.run(fine, ["-w", "8m"])[0] == 0  # the default is 5m


def test_findings_see_the_options(check):
    check.option("--log", help="the log file")
    findings = lambda options, _run: [Fault(State.CRITICAL, options.log)]  # noqa: E731
    assert check.run(findings, ["--log", "x.log"]) == (2, "DEMO CRITICAL - x.log")


def test_a_raised_probe_error_keeps_what_was_found_before(check):
    line = "DEMO UNKNOWN - db1:3306 refused the connection - start the server | lag=2s;60;300"
    assert check.run(unreachable, []) == (3, line)


def test_the_user_chooses_what_an_unreachable_server_means(check):
    check.asks_server()
    assert check.run(unreachable, [])[0] == 3
    assert check.run(unreachable, ["--unreachable", "critical"])[0] == 2
    assert check.run(unreachable, ["--unreachable", "warning"])[0] == 1


def test_a_check_may_call_an_unreachable_server_critical_by_default(check):
    check.asks_server("critical")
    assert check.run(unreachable, [])[0] == 2
    assert check.run(unreachable, ["--unreachable", "unknown"])[0] == 3


def test_a_yielded_probe_error_is_unknown_whatever_unreachable_means(check):
    check.asks_server("critical")
    assert check.run(lambda *_: [ProbeError("no such channel")], []) == (3, "DEMO UNKNOWN - no such channel")


def test_a_run_may_set_a_default_that_it_only_knows_then(check):
    def findings(_options, run):
        run.default("lag", critical="@2:")
        yield Reading("lag", 2, "s", "lag 2 s")

    assert check.run(findings, []) == (2, "DEMO CRITICAL - lag 2 s | lag=2s;60;2")
    assert check.run(findings, ["-c", "300"]) == (0, "DEMO OK - lag 2 s | lag=2s;60;300")


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        ([], 1),
        (["-w", "~:"], 1),
        (["-w", "~:", "-c", "300"], 1),
        (["-w", "~:", "-c", "~:"], 0),
        (["-c", "~:"], 1),
    ],
)
def test_what_is_not_confirmed_is_a_warning_at_most(check, limits, status):
    assert check.run(unconfirmed, limits)[0] == status


def test_what_is_critical_alone_warns_though_neither_range_is_within_the_other(check):
    assert check.run(unconfirmed, ["-w", "500", "-c", "401:"])[0] == 1


def test_what_is_not_confirmed_is_the_same_quantity_in_the_perfdata(check):
    assert check.run(unconfirmed, []) == (1, "DEMO WARNING - lag 400 s | lag=400s;60;300")


def test_v_tells_what_is_ok_and_vv_all_numbers_and_vvv_what_was_asked(check):
    def findings(_options, run):
        run.trace("SELECT 1:\n3 ms")
        yield from (Reading("lag", 1, "s", "lag 1 s"), Reading("size", 2, "B", "size 2 B"))

    first = "DEMO OK - lag 1 s | lag=1s;60;300 size=2B"
    assert check.run(findings, [])[1] == first
    assert check.run(findings, ["-v"])[1] == first + "\n[OK] size 2 B"
    numbers = [
        "number  value  unit  warning  critical",
        "lag         1  s     60       300",
        "size        2  B",
    ]
    more = "\n".join([first, "[OK] size 2 B", *numbers])
    assert check.run(findings, ["-vv"])[1] == more
    assert check.run(findings, ["-vvv"])[1] == more + "\nSELECT 1: 3 ms"


def test_output_may_be_json_or_for_a_person(check):
    assert json.loads(check.run(fine, ["--output", "json"])[1])["summary"] == "lag 2 s"
    assert check.run(fine, ["--output", "human"])[1] == "demo is OK\n  OK        lag 2 s"


def test_what_is_left_of_the_deadline_is_never_negative(check, clock):
    def findings(_options, run):
        assert run.deadline.left() == 7.5
        yield Fault(State.OK, "fine")

    def late(_options, run):
        clock.later(0.95)
        assert run.deadline.left() == 0
        yield Fault(State.OK, "late")

    assert check.run(findings, []) == (0, "DEMO OK - fine")
    assert check.run(late, ["-t", "1s"]) == (0, "DEMO OK - late")


def test_a_part_of_the_deadline_ends_no_later_than_the_whole(check, clock):
    def findings(_options, run):
        part = run.deadline.part(0.5)
        assert (part.left(), part.farewells) == (0.5, run.deadline.farewells)
        clock.later(7.3)
        assert run.deadline.part(0.5).left() == pytest.approx(0.2)
        clock.later(1)
        assert run.deadline.part(0.5).left() == 0
        yield Fault(State.OK, "fine")

    assert check.run(findings, []) == (0, "DEMO OK - fine")


# A long answer


def listing(_options, run):
    run.progress("half of it")
    run.answer("one hunter2\n")
    run.answer("two\n")
    yield from ()


def test_a_run_that_answers_at_length_has_no_verdict_to_tell(check):
    assert check.run(listing, []) == (0, "one hunter2\ntwo\n")


def test_what_goes_wrong_in_a_long_answer_is_told_at_its_end(check):
    def findings(options, run):
        yield from listing(options, run)
        raise ProbeError("db1 closed the connection")

    assert check.run(findings, []) == (3, "one hunter2\ntwo\nDEMO UNKNOWN - db1 closed the connection")


# Options


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--bogus"], "unknown option --bogus"),
        (["--crit", "5"], "unknown option --crit (did you mean --critical?)"),
        (["-w"], "argument -w/--warning: expected one argument"),
        (["-w", "1|\n2"], 'argument -w/--warning: range "1/ 2" has a blank in it: leave it out'),
        (
            ["-w", "5:1"],
            'argument -w/--warning: range "5:1" starts after it ends: write the smaller number first',
        ),
        (["-c", "512M"], f'argument -c/--critical: range "512M": "512M" is not {A_TIME}'),
        (["-c", "\udcff"], f'argument -c/--critical: range "?": "?" is not {A_TIME}'),
        (["-t", "0"], 'argument -t/--timeout: "0" is not a time above 0 and up to 1d'),
        (["-t", "2d"], 'argument -t/--timeout: "2d" is not a time above 0 and up to 1d'),
        (["--port", "x"], "argument --port: invalid int value: 'x'"),
    ],
)
def test_bad_usage_is_unknown_and_says_in_one_line_what_is_wrong(check, argv, sentence):
    check.option("--port", type=int, default=3306, help="TCP port")
    assert check.run(fine, argv) == (3, f"DEMO UNKNOWN - {sentence}{HINT}")


def test_a_missing_option_is_named(check):
    check.option("--log", required=True, metavar="FILE", help="the log file")
    assert check.run(fine, []) == (3, f"DEMO UNKNOWN - --log FILE is missing{HINT}")


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--host", "db1"], "unknown option --host (did you mean --hostname?)"),
        (["--hotsname", "db1"], "unknown option --hotsname (did you mean --hostname?)"),
        (["--nothing-like-it"], "unknown option --nothing-like-it"),
        (["192.0.2.1"], "argument 1 belongs to no option (did you mean -H 192.0.2.1?)"),
        (["-v", "2001:db8::1"], "argument 2, after -v, belongs to no option (did you mean -H 2001:db8::1?)"),
        (["db1"], "argument 1 belongs to no option"),  # a password, maybe
    ],
)
def test_what_was_meant_is_named(check, argv, sentence):
    check.connection("-H", "--hostname", metavar="HOST", help="host")
    assert check.run(fine, argv) == (3, f"DEMO UNKNOWN - {sentence}{HINT}")


def test_arguments_without_number(check):
    """They are read before a deadline runs, and twice as many would take four times as long."""
    assert check.run(fine, ["-v"] * 2000)[0] == 0
    sentence = "40000 arguments are too many: give 2000 at most"
    assert check.run(fine, ["-v"] * 40_000) == (3, f"DEMO UNKNOWN - {sentence}{HINT}")


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--pasword=hunter2"], "unknown option --pasword"),
        (["--pasword hunter2"], "unknown option --pasword"),
        (["--pasword", "hunter2"], "unknown option --pasword"),
        (["-xhunter2"], "unknown option -x"),
        (["-v", "hunter2"], "argument 2, after -v, belongs to no option"),
        (["-c", "0", "hunter2"], "argument 3, after -c and its value, belongs to no option"),
        (["--critical=0", "hunter2"], "argument 2, after --critical and its value, belongs to no option"),
        (["hunter2"], "argument 1 belongs to no option"),
    ],
)
def test_what_may_be_a_mistyped_password_is_not_repeated(check, argv, sentence):
    assert check.run(fine, argv) == (3, f"DEMO UNKNOWN - {sentence}{HINT}")


def test_an_unknown_option_is_named_before_a_required_one_that_is_missing(check):
    check.option("--log", required=True, metavar="FILE", help="the log file")
    sentence = "unknown option --lgo (did you mean --log?)"
    assert check.run(fine, ["--lgo", "x"]) == (3, f"DEMO UNKNOWN - {sentence}{HINT}")
    assert check.run(fine, ["-v"])[1].startswith("DEMO UNKNOWN - --log FILE is missing")
    assert "--log FILE [OPTION ...]" in check.run(fine, ["--help"])[1]


def test_a_range_may_begin_with_a_minus(check):
    assert check.run(fine, ["-w", "-5:1"])[0] == 1


def test_a_number_that_is_worse_the_lower_it_is_needs_a_colon():
    check = Check("demo", "")
    check.threshold("hits", unit="%", warning="99:", help="hit ratio", headline=True, lower_is_worse=True)
    low = lambda *_: [Reading("hits", 98.5, "%", "hits 98.5 %")]  # noqa: E731
    assert check.run(low, []) == (1, "DEMO WARNING - hits 98.5 % | hits=98.5%")
    assert check.run(low, ["-w", "98%:"])[0] == 0
    hint = 'range "99.5" alerts above 99.5, but lower is worse here: write "99.5:"'
    assert check.run(low, ["-w", "99.5"]) == (3, f"DEMO UNKNOWN - argument -w/--warning: {hint}{HINT}")


def test_other_thresholds_have_the_quantity_in_their_name():
    check = Check("demo", "")
    check.threshold("log_gap", unit="s", help="time without a line")
    silent = lambda *_: [Reading("log_gap", 90, "s", "silent")]  # noqa: E731
    assert check.run(silent, ["--log-gap-warning", "1m"])[0] == 1
    assert check.run(silent, ["--log-gap-critical", "1m"])[0] == 2


def test_option_types_answer_with_their_own_sentence(check):
    check.option("--hold", type=units.duration, default="1h", help="time to remember")
    assert check.run(lambda options, _run: [Fault(State.OK, str(options.hold))], [])[1] == "DEMO OK - 3600.0"
    sentence = f'argument --hold: "1M" is not {A_TIME}'
    assert check.run(fine, ["--hold", "1M"]) == (3, f"DEMO UNKNOWN - {sentence}{HINT}")


def test_state_and_server_options_are_only_where_they_mean_something(check):
    assert check.run(fine, ["--no-state"])[1] == f"DEMO UNKNOWN - unknown option --no-state{HINT}"
    assert check.run(fine, ["--unreachable=ok"])[1] == f"DEMO UNKNOWN - unknown option --unreachable{HINT}"


# Help


@pytest.fixture
def full_check(check):
    """A check with every kind of option."""
    check.option("--log", metavar="FILE", required=True, help="the log file, 100% of it")
    check.option("--share", type=units.percent, default="90%", help="how much of it")
    check.threshold("free_space", unit="B", critical="512M:", help="free space", lower_is_worse=True)
    check.keeps_state()
    check.asks_server()
    return check


def test_help_is_told_with_status_3(full_check):
    code, text = full_check.run(fine, ["--help"])
    assert code == 3
    assert text.startswith("usage: check_demo --log FILE [OPTION ...]\n\n")
    assert "\nCheck a demonstration.\n" in text
    assert "Not in the help" not in text


def test_ranges_are_explained_only_where_there_are_thresholds(full_check):
    assert "RANGE is [@]start:end" in full_check.run(fine, ["--help"])[1]
    assert "RANGE" not in Check("plain", None).run(fine, ["--help"])[1]


@pytest.mark.parametrize(("columns", "most"), [("79", 79), ("120", 120), ("", 80), ("x", 80), ("0", 80)])
def test_help_is_as_wide_as_the_terminal(full_check, monkeypatch, columns, most):
    monkeypatch.setenv("COLUMNS", columns)
    widest = max(len(line) for line in full_check.run(fine, ["-h"])[1].splitlines())
    assert most - 12 < widest <= most


def test_help_has_four_groups_and_each_quantity_once(full_check):
    text = full_check.run(fine, ["-h"])[1]
    titles = ["connection:", "what to look at:", "thresholds:", "run and output:"]
    assert re.findall(r"^[a-z ]+:$", text, re.MULTILINE) == titles
    assert "  --free-space-warning RANGE\n  --free-space-critical RANGE\n      " in text
    assert text.count("free space, in bytes") == 1


@pytest.mark.parametrize(
    "told",
    [
        "the log file, 100% of it",
        "how much of it (default: 90%)",
        "time behind the source, in seconds (default: warning 60, critical 300)",
        "free space, in bytes (default: critical 512M:)",
        "maximum run time (default: 8s)",
        "(default: text)",
        "(default: unknown)",
        "(default: $STATE_DIRECTORY, /var/lib/stallwatch/USER or ~/.local/state/stallwatch)",
    ],
)
def test_help_tells_every_default(full_check, told):
    assert told in " ".join(full_check.run(fine, ["-h"])[1].split())


def test_examples_end_the_help_as_they_are(check):
    check.examples("check_demo -w 5", "    # warns   late")
    assert check.run(fine, ["-h"])[1].endswith("\n\nexamples:\n  check_demo -w 5\n      # warns   late")


def test_an_option_may_be_a_range_that_the_check_reads_itself(check):
    check.limit("--later", metavar="RANGE", help="range for later")
    text = check.run(fine, ["-h"])[1]
    assert text.index("thresholds:") < text.index("  --later RANGE  ") < text.index("run and output:")
    read = lambda options, _run: [Fault(State.OK, options.later)]  # noqa: E731
    assert check.run(read, ["--later", "5:"])[1] == "DEMO OK - 5:"


def test_options_are_recorded_the_plugins_own_first(full_check):
    assert [action.option_strings[-1] for action in full_check.options] == [
        "--warning",
        "--critical",
        "--log",
        "--share",
        "--free-space-warning",
        "--free-space-critical",
        "--timeout",
        "--output",
        "--color",
        "--verbose",
        "--version",
        "--help",
        "--state-dir",
        "--no-state",
        "--unreachable",
    ]


def test_version_is_told_with_status_3(check):
    assert check.run(fine, ["-V"]) == (3, "check_demo (stallwatch 0.1.0)")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["--bogus"], ["-w", "x"]])
def test_what_needs_no_findings_loads_nothing_heavy(tmp_path, arguments):
    path = tmp_path / "check_demo"
    path.write_text(
        "import os, sys\n"
        "from stallwatch.frame.check import Check\n"
        "check = Check('demo', 'Check.')\n"
        "check.threshold('lag', unit='s', warning='60', help='lag', headline=True)\n"
        "check.keeps_state()\n"
        "check.asks_server()\n"
        "os._exit = lambda code: sys.exit(f'{code} {sorted(sys.modules)}')\n"
        "check.main(None)\n"
    )
    run = subprocess.run([sys.executable, path, *arguments], capture_output=True, text=True, check=False)
    assert run.stderr.startswith("3 [")
    loaded = set(run.stderr.replace("'", "").strip().strip("3 []").split(", "))
    heavy = {"nagiosplugin", "dataclasses", "json", "traceback", "typing", "hashlib", "shutil"}
    assert "argparse" in loaded
    assert loaded & {*heavy, "stallwatch.findings", "stallwatch.verdict", "stallwatch.frame.state"} == set()


def test_a_file_that_cannot_be_used_is_no_matter_of_the_help(check):
    def findings(_options, _run):
        try:
            raise units.UnusableFileError("none cannot be read: No such file or directory")
        except units.NotUnderstoodError as error:
            check.parser.error(str(error))

    assert check.run(findings, []) == (3, "DEMO UNKNOWN - none cannot be read: No such file or directory")


# Crashes


def test_an_unexpected_exception_is_unknown_and_keeps_its_text_to_itself(check):
    line = crash.__code__.co_firstlineno + 1
    sentence = f"internal error, ValueError at test_check.py:{line}: -vvv shows the traceback"
    assert check.run(crash, ["-vv"]) == (3, f"DEMO UNKNOWN - {sentence}")


def test_vvv_shows_the_traceback_without_the_secrets(check):
    def findings(options, run):
        check.secret(PASSWORD)
        yield from crash(options, run)

    code, text = check.run(findings, ["-vvv"])
    assert code == 3
    assert text.splitlines()[1] == "Traceback (most recent call last):"
    assert text.splitlines()[-1] == f"ValueError: {WITHHELD}"
    assert "hunter2" not in text


def test_our_own_lines_in_a_traceback_stay_whatever_the_password_is(check):
    def said(password):
        def findings(_options, _run):
            check.secret(password)
            try:
                {}["channel"]
            except KeyError as error:
                raise ValueError("no\nsuch | thing") from error

        return check.run(findings, ["-vvv"])[1]

    neutral = said("neutral")
    assert neutral.splitlines()[-1] == "ValueError: no such / thing"
    assert neutral.count("Traceback") == 2
    for password in ("ValueError", "Traceback", "File", "line", "raise", "test_check", "3", "in"):
        assert said(password) == neutral
    assert said("such") == neutral.replace("no such / thing", WITHHELD)


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), RecursionError()])
def test_no_exception_of_any_kind_is_ok(check, error):
    def findings(_options, _run):
        raise error

    code, text = check.run(findings, [])
    assert code == 3
    assert text.startswith(f"DEMO UNKNOWN - internal error, {type(error).__name__} at test_check.py:")


OUT_OF_MEMORY = (
    "out of memory: raise the limit of this process (ulimit -v, MemoryMax), or free some on this host"
)


@pytest.mark.parametrize("argv", [[], ["-vvv"], ["--output", "json"]])
def test_without_memory_a_run_is_unknown(check, argv):
    def findings(_options, _run):
        raise MemoryError

    code, text = check.run(findings, argv)
    assert (code, OUT_OF_MEMORY in text) == (3, True)
    assert "internal error" not in text


def test_what_was_found_before_the_memory_was_used_up_is_reported(check):
    def findings(_options, _run):
        yield Fault(State.CRITICAL, "it is down")
        raise MemoryError

    code, text = check.run(findings, ["-v"])
    assert code == 2
    assert text.startswith("DEMO CRITICAL - it is down")
    assert f"[UNKNOWN] {OUT_OF_MEMORY}" in text


def test_without_memory_for_a_report_either_a_run_is_unknown(check, monkeypatch):
    def report(*_):
        raise MemoryError

    monkeypatch.setattr(Check, "_report", report)
    assert check.run(fine, []) == (3, f"DEMO UNKNOWN - {OUT_OF_MEMORY}")


def test_a_crash_below_the_package_is_named_with_its_folder(check):
    """Many modules are called probe.py."""
    from stallwatch.probes.host import probe

    def findings(_options, _run):
        yield from probe.findings(None, None, None, {})

    _, text = check.run(findings, [])
    assert re.match(r"DEMO UNKNOWN - internal error, \w+ at probes/host/probe\.py:\d+: ", text), text


def test_a_syntax_error_is_in_the_file_that_has_it(check, tmp_path):
    (tmp_path / "broken.py").write_text("fine = 1\nfrom (\n")

    def findings(_options, _run):
        import runpy

        runpy.run_path(str(tmp_path / "broken.py"))

    code, text = check.run(findings, [])
    sentence = "internal error, SyntaxError at broken.py:2: -vvv shows the traceback"
    assert (code, text) == (3, f"DEMO UNKNOWN - {sentence}")


def test_a_syntax_error_in_a_text_is_where_the_text_was_read(check):
    code, text = check.run(lambda *_: [int(eval("1 +"))], [])
    assert code == 3
    assert text.startswith("DEMO UNKNOWN - internal error, SyntaxError at test_check.py:")


def test_findings_that_are_none_are_an_error(check):
    code, text = check.run(lambda *_: None, [])
    assert code == 3
    assert text.startswith("DEMO UNKNOWN - internal error, TypeError at frame/check.py:")


def test_a_missing_dependency_is_named_and_how_to_get_it(check, monkeypatch):
    for module in [name for name in sys.modules if "nagiosplugin" in name or name == "stallwatch.verdict"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "nagiosplugin", None)
    sentence = "the Python module nagiosplugin is missing: pip install nagiosplugin, or apt install "
    assert check.run(fine, []) == (3, f"DEMO UNKNOWN - {sentence}python3-nagiosplugin")


def test_secrets_are_masked_in_every_rendering(check):
    def findings(_options, run):
        check.secret("Hunter2Hunter")
        check.secret("other4Other")
        check.secret("")
        check.secret(None)
        run.trace("connect with Hunter2Hunter")
        yield Fault(State.CRITICAL, "denied: Hunter2Hunter", "other4Other")
        raise ProbeError("no Hunter2Hunter")

    assert check.run(findings, ["-vvv"])[1].splitlines() == [
        "DEMO CRITICAL - denied: ***, *** (+1 more problem)",
        "[UNKNOWN] no ***",
        "connect with ***",
    ]
    assert "Hunter2" not in check.run(findings, ["--output=json"])[1]
    assert "Hunter2" not in check.run(findings, ["--output=human", "-vvv"])[1]


@pytest.mark.parametrize("password", ["lag", "s", "a", "1", "2", "OK", "DEMO", "lag=2s", "***", "replica"])
@pytest.mark.parametrize("more", ["-vvv", "--output=json", "--output=human"])
def test_our_own_words_are_the_same_with_any_password(check, password, more):
    def told(password):
        def findings(options, run):
            check.secret(password)
            run.trace("asked a replica 1 time")
            yield from fine(options, run)

        return check.run(findings, [more])

    assert told(password) == told(None)


@pytest.mark.parametrize("room", range(8, 40))
def test_a_secret_is_masked_also_where_a_text_was_shortened_in_its_middle(check, room):
    secret = "S3cret Passw0rd"

    def findings(_options, _run):
        check.secret(secret)
        yield Fault(State.CRITICAL, shorten(f"it says {secret} and more", room))

    said = check.run(findings, [])[1]
    assert not any(secret[:length] in said for length in range(4, len(secret)))
    assert ("***" in said) == (room >= len("it says S3cr..."))


def test_two_checks_in_one_process_share_nothing(check):
    other = Check("other", "")

    def findings(_options, _run, *secrets):
        for secret in secrets:
            other.secret(secret)
        yield Fault(State.OK, withheld.message("it is 'lag' in Hunter2Hunter"))

    told = other.run(lambda *given: findings(*given, "lag"), [])
    assert told == (0, f"OTHER OK - {WITHHELD}")
    assert check.run(findings, []) == (0, "DEMO OK - it is 'lag' in Hunter2Hunter")


def test_nothing_of_a_run_is_told_by_the_next_one(check):
    def findings(options, _run):
        if options.critical.text == "1m":
            check.aside("everybody can read it")
            check.secret("Hunter2Hunter")
        yield Fault(State.OK, "fine, Hunter2Hunter")

    assert check.run(findings, ["-v", "-c", "1m"]) == (0, "DEMO OK - fine, ***\n[NOTE] everybody can read it")
    assert withheld.struck("Hunter2Hunter") == "Hunter2Hunter"
    assert check.run(findings, ["-v"]) == (0, "DEMO OK - fine, Hunter2Hunter")


def test_errors_in_json_are_of_one_run(check):
    assert check.run(fine, ["--output=json", "--bogus"])[1].startswith("{")
    assert check.run(fine, ["--bogus"])[1].startswith("DEMO UNKNOWN - ")


# The deadline of a run in a process that goes on


def test_an_overdue_run_that_lacks_no_more_than_explanations_has_its_verdict(check):
    def findings(_options, run):
        run.so_far([Reading("lag", 4, "s", "lag 4 s")], all_but="the search for causes")
        soon(run)
        time.sleep(60)
        yield Fault(State.OK, "not reached")

    status, text = check.run(findings, ["-t", "60s"])
    assert (status, text.partition(" | ")[0]) == (0, "DEMO OK - lag 4 s")
    assert "[OK] the search for causes was cut short: no verdict within 500 ms" in text


def test_an_overdue_run_ends_with_what_was_found_and_leaves_no_alarm(check):
    handler, ended = signal.getsignal(signal.SIGALRM), []

    def findings(_options, run):
        run.deadline.farewells.append(lambda: ended.append("said"))
        run.deadline.doing = "waiting for db1"
        yield Reading("lag", 400, "s", "lag 400 s")
        try:
            soon(run)
            time.sleep(60)
        except Exception:  # noqa: BLE001 - as whoever catches what a library may raise
            yield Fault(State.OK, "not reached")

    status, text = check.run(findings, ["-t", "60s"])
    assert (status, text.splitlines()[1]) == (2, "[UNKNOWN] no verdict within 500 ms: waiting for db1")
    assert text.startswith("DEMO CRITICAL - lag 400 s (+1 more problem) | ")
    assert ended == ["said"]
    assert signal.getsignal(signal.SIGALRM) == handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_run_that_has_asked_for_more_time_gets_it_before_the_alarm(check):
    def findings(_options, run):
        soon(run)
        run.deadline.extend(0.3)
        try:
            time.sleep(60)
        finally:
            left.append(run.deadline.until_end())

    left = []
    status, text = check.run(findings, ["-t", "60s"])
    assert status == 3
    assert text.startswith("DEMO UNKNOWN - no verdict within 800 ms")
    assert left[0] <= 0


def test_the_alarm_of_who_runs_a_check_is_there_again(check):
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 600)
    try:
        theirs = signal.getsignal(signal.SIGALRM)
        assert check.run(fine, [])[0] == 0
        assert signal.getsignal(signal.SIGALRM) == theirs
        assert 500 < signal.getitimer(signal.ITIMER_REAL)[0] <= 600
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_run_in_another_thread_has_its_verdict_and_no_alarm(check):
    said = []
    thread = threading.Thread(target=lambda: said.append(check.run(fine, [])))
    thread.start()
    thread.join()
    assert said == [(0, "DEMO OK - lag 2 s | lag=2s;60;300")]


def test_a_child_does_not_outlive_a_run_in_a_process_that_goes_on(check):
    children = []

    def findings(_options, run):
        children.append(subprocess.Popen(["sleep", "100"]))
        run.deadline.children.append(children[0])
        yield Fault(State.OK, "fine")

    assert check.run(findings, [])[0] == 0
    assert children[0].wait(120) == -signal.SIGKILL


def test_a_child_whose_start_is_interrupted_is_ended_and_no_other():
    """The deadline came in the middle of it; another run of this process has begun one meanwhile."""
    begun = []

    def sleep():
        begun.append(subprocess.Popen(["sleep", "100"]))

    def begin():
        another = threading.Thread(target=lambda: (sleep(), ended.wait(60)))
        another.start()
        while not begun:
            time.sleep(0.01)
        sleep()
        raise TimeUpError

    ended = threading.Event()
    with pytest.raises(TimeUpError):
        Children().start(begin)
    assert begun[1].wait(120) == -signal.SIGKILL
    assert begun[0].poll() is None
    ended.set()
    begun[0].kill()
    begun[0].wait(120)


# The process

FINE = """
def findings(options, run):
    yield Reading("lag", 2, "s", "lag 2 s")
"""
STUBBORN = """
def findings(options, run):
    run.deadline.doing = "waiting for db1 | Hunter2Hunter"
    check.secret("Hunter2Hunter")
    print("begun", file=sys.stderr, flush=True) if options.verbose else soon(run)
    while True:
        try:
            time.sleep(0.1)  # a signal that comes just before a sleep is noticed after it
        except BaseException:
            pass
"""
OVERDUE = b"DEMO UNKNOWN - no verdict within 500 ms: waiting for db1 / ***\n"


def test_a_plugin_says_one_thing_and_leaves_with_the_state(plugin):
    run = plugin(FINE, "-w", "1")
    assert (run.returncode, run.stdout, run.stderr) == (1, b"DEMO WARNING - lag 2 s | lag=2s;1;300\n", b"")


@pytest.mark.parametrize("argument", ["--help", "--version", "--bogus"])
def test_help_version_and_bad_usage_leave_with_3_and_nothing_on_standard_error(plugin, argument):
    run = plugin(FINE, argument)
    assert (run.returncode, run.stderr) == (3, b"")
    assert run.stdout


def test_a_crash_leaves_with_3_and_nothing_on_standard_error(plugin):
    run = plugin("def findings(options, run):\n    raise ValueError('hunter2')\n")
    line = b"DEMO UNKNOWN - internal error, ValueError at check_demo:9: -vvv shows the traceback\n"
    assert (run.returncode, run.stdout, run.stderr) == (3, line, b"")


def seen(terminal):
    """All that was written to a terminal that nobody has open any more; it comes in parts."""
    said = b""
    with suppress(OSError):
        while part := os.read(terminal, 1000):
            said += part
    return said


LISTING = """
def findings(options, run):
    run.progress("half of it")
    run.answer("one\\n")
    time.sleep(0.1)
    run.answer("two\\n")
    yield from ()
"""


def test_a_long_answer_leaves_with_0_and_shows_no_progress_without_a_terminal(plugin):
    run = plugin(LISTING)
    assert (run.returncode, run.stdout, run.stderr) == (0, b"one\ntwo\n", b"")


def test_progress_is_shown_at_a_terminal_that_the_answer_does_not_go_to(plugin):
    ours, theirs = os.openpty()
    run = plugin(LISTING, stderr=theirs)
    os.close(theirs)
    assert (run.returncode, run.stdout) == (0, b"one\ntwo\n")
    assert seen(ours) == b"\rhalf of it\x1b[K\r\x1b[K"
    os.close(ours)


def test_a_long_answer_to_a_terminal_takes_the_progress_away_before_it(plugin):
    ours, theirs = os.openpty()
    run = plugin(LISTING, stdout=theirs, stderr=theirs)
    os.close(theirs)
    assert run.returncode == 0
    assert seen(ours) == b"\rhalf of it\x1b[K\r\x1b[Kone\r\ntwo\r\n"
    os.close(ours)


def test_progress_is_taken_away_before_the_verdict_on_the_same_terminal(plugin):
    body = """
def findings(options, run):
    run.progress("half of it")
    yield Fault(State.OK, "fine")
"""
    ours, theirs = os.openpty()
    assert plugin(body, stdout=theirs, stderr=theirs).returncode == 0
    os.close(theirs)
    assert seen(ours) == b"\rhalf of it\x1b[K\r\x1b[KDEMO OK - fine\r\n"
    os.close(ours)


def test_a_run_may_take_longer_once_it_has_asked_for_more_time(plugin):
    body = """
def findings(options, run):
    soon(run)
    run.deadline.extend(60)
    time.sleep(0.5)
    yield Fault(State.OK, "fine")
"""
    run = plugin(body, "-t", "60s")
    assert (run.returncode, run.stdout) == (0, b"DEMO OK - fine\n")


def test_a_run_that_has_asked_for_more_time_ends_when_that_has_passed(plugin):
    body = """
def findings(options, run):
    run.deadline.doing = "reading"
    soon(run)
    run.deadline.extend(0.5)
    time.sleep(60)
"""
    run = plugin(body, "-t", "60s")
    assert (run.returncode, run.stdout) == (3, b"DEMO UNKNOWN - no verdict within 1 s: reading\n")


def test_an_answer_that_nobody_reads_on_ends_quietly(plugin):
    read_end, write_end = os.pipe()
    os.close(read_end)
    run = plugin(LISTING, stdout=write_end)
    os.close(write_end)
    assert (run.returncode, run.stderr) == (3, b"")


def test_what_libraries_print_is_not_seen(plugin):
    run = plugin(
        "def findings(options, run):\n"
        "    import logging, warnings\n"
        "    print('noise')\n"
        "    warnings.warn('noise')\n"
        "    logging.error('noise')\n"
        "    os.system('echo noise >&2')\n"
        "    yield Fault(State.OK, 'fine')\n"
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"DEMO OK - fine\n", b"")


def test_the_deadline_ends_a_run_that_swallows_every_exception(plugin):
    run = plugin(STUBBORN, "-t", "60s")
    assert (run.returncode, run.stdout, run.stderr) == (3, OVERDUE, b"")


UNINTERRUPTED = """
def findings(options, run):
    import ctypes
    lock = ctypes.create_string_buffer(64)
    libc = ctypes.CDLL(None)
    libc.pthread_mutex_lock(lock)
    libc.pthread_mutex_lock(lock)
"""
SELFISH = """
def findings(options, run):
    import re
    re.match("(a*)*b", "a" * 60)
"""


@pytest.mark.parametrize("body", [UNINTERRUPTED, SELFISH], ids=["no signal gets in", "no thread gets in"])
def test_the_deadline_ends_a_run_within_a_c_library(plugin, body):
    run = plugin(body, "-t", "500ms")
    assert (run.returncode, run.stdout) == (3, b"DEMO UNKNOWN - no verdict within 500 ms\n")


SO_FAR = """
def findings(options, run):
    run.so_far([Fault(State.CRITICAL, 'a disk is full')])
    {then}
    yield Fault(State.CRITICAL, 'a disk is full, by the log')
"""


@pytest.mark.parametrize(
    ("then", "status", "told"),
    [
        (
            "soon(run); time.sleep(50)",
            2,
            "a disk is full (+1 more problem)\n[UNKNOWN] no verdict within 500 ms",
        ),
        (
            "raise ProbeError('db1 hung up')",
            2,
            "a disk is full (+1 more problem)\n[UNKNOWN] db1 hung up",
        ),
        ("pass", 2, "a disk is full, by the log"),
    ],
)
def test_what_is_known_so_far_is_told_if_nothing_else_comes(plugin, then, status, told):
    run = plugin(SO_FAR.format(then=then), "-t", "60s")
    assert (run.returncode, run.stdout.decode()) == (status, f"DEMO CRITICAL - {told}\n")


def test_what_was_found_until_the_deadline_is_told(plugin):
    run = plugin(
        "def findings(options, run):\n"
        "    yield Fault(State.CRITICAL, 'a disk is full')\n"
        "    run.deadline.doing = 'reading the next'\n"
        "    soon(run)\n"
        "    while True:\n"
        "        time.sleep(1)\n",
        *("-t", "60s"),
    )
    assert run.returncode == 2
    assert run.stdout == (
        b"DEMO CRITICAL - a disk is full (+1 more problem)\n"
        b"[UNKNOWN] no verdict within 500 ms: reading the next\n"
    )


def test_what_was_found_is_told_also_where_no_signal_gets_in(plugin):
    found = "def findings(options, run):\n    yield Fault(State.CRITICAL, 'a disk is full')\n"
    for limit in ("500ms", "4s", "32s"):  # a busy machine may not have found it by then
        run = plugin(found + UNINTERRUPTED.split("\n", 2)[2], "-t", limit)
        if b"full" in run.stdout:
            break
    assert (run.returncode, run.stdout.splitlines()[0]) == (
        2,
        b"DEMO CRITICAL - a disk is full (+1 more problem)",
    )


def test_a_report_that_takes_too_long_is_a_sentence_all_the_same(plugin):
    slow = (
        "def findings(options, run):\n"
        "    from stallwatch.render import text as rendering\n"
        "    rendering.written = lambda report: time.sleep(100)\n"  # as on a machine that has no time for it
        "    yield Fault(State.CRITICAL, 'a disk is full')\n"
    )
    run = plugin(slow, "-t", "500ms")
    assert (run.returncode, run.stdout) == (3, b"DEMO UNKNOWN - no verdict within 500 ms\n")


KEPT_BY_ITS_IMPORTS = """
class Slow:
    def find_spec(self, name, path, target=None):
        if was_found:
            time.sleep(100)

was_found = []
sys.meta_path.insert(0, Slow())

def findings(options, run):
    was_found.append("a disk is full")
    yield Fault(State.CRITICAL, "a disk is full")
    {then}
"""


@pytest.mark.parametrize("output", ["text", "json", "human"])
@pytest.mark.parametrize("then", ["pass", "soon(run); time.sleep(200)"])
def test_no_deadline_comes_in_the_middle_of_an_import_for_the_report(plugin, output, then):
    run = plugin(KEPT_BY_ITS_IMPORTS.format(then=then), "-t", "60s", "--output", output)
    assert run.returncode == 2
    assert b"a disk is full" in run.stdout
    assert (b"no verdict within 500 ms" in run.stdout) == (then != "pass")


def test_a_signal_in_the_middle_of_an_import_for_the_report_is_told_in_text(plugin):
    body = """
class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "json":
            os.kill(os.getpid(), signal.SIGTERM)

sys.meta_path.insert(0, Interrupting())
"""
    run = plugin(body + FINE, "--output", "json")
    assert (run.returncode, run.stdout) == (3, b"DEMO UNKNOWN - terminated before the verdict\n")


INTERRUPTED = """
from stallwatch.frame.exit import Exit
was = Exit.{step}

def interrupted(way_out, text):
    for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
        os.kill(os.getpid(), number)
    return was(way_out, text)

Exit.{step} = interrupted
"""


@pytest.mark.parametrize("step", ["progress", "write"])
def test_a_signal_that_comes_when_the_verdict_is_there_does_not_take_it_away(plugin, step):
    run = plugin(INTERRUPTED.format(step=step) + FINE, "-w", "1", "-t", "60s")
    assert (run.returncode, run.stdout) == (1, b"DEMO WARNING - lag 2 s | lag=2s;1;300\n")


def test_a_signal_during_the_report_of_an_overdue_run_does_not_take_it_away(plugin):
    body = """
def findings(options, run):
    from stallwatch.render import text as rendering
    text = rendering.written
    rendering.written = lambda report: os.kill(os.getpid(), signal.SIGTERM) or text(report)
    yield Fault(State.CRITICAL, "a disk is full")
    soon(run)
    time.sleep(100)
"""
    run = plugin(body, "-t", "60s")
    assert run.returncode == 2
    assert run.stdout.startswith(b"DEMO CRITICAL - a disk is full (+1 more problem)\n")


def test_who_is_late_with_the_report_leaves_time_to_write_for_who_was_faster(plugin):
    body = """
from threading import Event
from stallwatch.frame import exit as ending
ending.PATIENCE = 2
writes = Event()
write = ending.Exit.write

def slowly(way_out, text):
    writes.set()
    time.sleep(0.1)
    write(way_out, text)

ending.Exit.write = slowly

def findings(options, run):
    from stallwatch.render import text as rendering
    text = rendering.written
    rendering.written = lambda report: writes.wait() and text(report)
    yield Fault(State.CRITICAL, "a disk is full")
    time.sleep(100)
"""
    run = plugin(body, "-t", "500ms")
    assert (run.returncode, run.stdout) == (3, b"DEMO UNKNOWN - no verdict within 500 ms\n")


def test_a_signal_ends_a_run_without_deadline_whose_reader_does_not_read(plugin):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while os.write(writer, b"x"):
            pass
    os.set_blocking(writer, True)
    body = INTERRUPTED.format(step="write").replace("signal.SIGALRM, ", "") + FINE
    with subprocess.Popen([*plugin.write(body), "--bogus"], stdout=writer) as process:
        assert process.wait(120) == 3
    os.close(reader)
    os.close(writer)


def test_a_signal_ends_a_long_answer_that_nobody_reads_on(plugin):
    body = "def findings(options, run):\n    run.answer('x' * 2_000_000)\n    yield from ()\n"
    reader, writer = os.pipe()
    with subprocess.Popen([*plugin.write(body), "-t", "60s"], stdout=writer) as process:
        os.close(writer)
        assert os.read(reader, 1) == b"x"
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 3
    os.close(reader)


def test_the_deadline_ends_a_run_whose_reader_does_not_read(plugin):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with open(writer, "wb", buffering=0) as pipe:
        while pipe.write(b"x" * 4096):
            pass
        os.set_blocking(writer, True)
        run = plugin(FINE, "-t", "1s", stdout=writer)
        assert run.stderr == b""
    os.close(reader)


@pytest.mark.parametrize(
    ("signal_number", "word"),
    [(signal.SIGTERM, b"terminated"), (signal.SIGHUP, b"terminated"), (signal.SIGINT, b"interrupted")],
)
def test_a_signal_ends_a_run_that_swallows_every_exception(plugin, signal_number, word):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*plugin.write(STUBBORN), "-vvv", "-t", "50s"], **pipes) as process:
        assert process.stderr.readline() == b"begun\n"
        process.send_signal(signal_number)
        assert process.communicate(timeout=120) == (b"DEMO UNKNOWN - " + word + b" before the verdict\n", b"")
        assert process.returncode == 3


BEGUN = """
def findings(options, run):
    import subprocess

    def begin():
        child = subprocess.Popen(["sleep", "60"])
        open({path!r}, "w").write(str(child.pid))
        print("begun", file=sys.stderr, flush=True)
        child.wait()

    run.deadline.children.start(begin)
"""


def test_a_program_that_has_just_begun_ends_with_the_plugin(plugin, tmp_path):
    """A signal came after it was started, and before it was in the list of those to end."""
    path = tmp_path / "pid"
    assert "terminated before the verdict" in terminated(plugin, BEGUN.format(path=str(path)))
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(path.read_text())).wait(120)


INHERITED = """
def findings(options, run):
    import subprocess
    yield Reading("lag", 3, "s", "3 s behind")
"""


def test_what_the_shell_has_begun_for_us_goes_on(plugin, tmp_path):
    """Its children are those of the program that takes its place: bash's ``exec check > >(tee log)``."""
    log = tmp_path / "log"
    command = shlex.join(map(str, plugin.write(INHERITED)))
    subprocess.run(["bash", "-c", f"exec {command} > >(sleep 0.3; cat >{log})"], check=False)
    until = time.monotonic() + 60
    while not (log.exists() and log.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    assert "3 s behind" in log.read_text()


UNHEARD = """
def findings(options, run):
    import ctypes
    lock = ctypes.create_string_buffer(64)
    libc = ctypes.CDLL(None)
    libc.pthread_mutex_lock(lock)
    {first}
    print("begun", file=sys.stderr, flush=True)
    libc.pthread_mutex_lock(lock)
"""


def terminated(plugin, body, *arguments):
    """What is said if SIGTERM comes when the run is in the middle of it."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [*plugin.write(body), "-vvv", "-t", "50s", *arguments]
    with subprocess.Popen(command, **pipes) as process:
        assert process.stderr.readline() == b"begun\n"
        while psutil.Process(process.pid).status() != psutil.STATUS_SLEEPING:
            assert process.poll() is None
        process.terminate()
        said, complaint = process.communicate(timeout=120)
    assert (process.returncode, complaint) == (3, b"")
    return said.decode()


def test_a_signal_that_the_main_thread_does_not_notice_is_told_all_the_same(plugin):
    line = "DEMO UNKNOWN - terminated before the verdict"
    assert terminated(plugin, UNHEARD.format(first="pass")) == f"{line}\n"
    told = json.loads(terminated(plugin, UNHEARD.format(first="pass"), "--output", "json"))
    assert (told["name"], told["state"], told["summary"]) == ("demo", "UNKNOWN", line.partition(" - ")[2])
    long = UNHEARD.format(first="run.answer('a part\\n')")
    assert terminated(plugin, long) == f"a part\n{line}\n"


WITHOUT = """
import _thread, resource
from stallwatch.frame.exit import Exit
at = Exit.at
free = os.dup(0)
os.close(free)
had = resource.getrlimit(resource.RLIMIT_NOFILE)

def without(*arguments):
    {lack}
    at(*arguments)
    resource.setrlimit(resource.RLIMIT_NOFILE, had)
    assert len(os.listdir("/proc/self/task")) == {threads}

Exit.at = without
"""
NO_THREADS = WITHOUT.format(lack="_thread.stack_size(1 << 47)", threads=1)
NO_DESCRIPTORS = WITHOUT.format(
    lack="resource.setrlimit(resource.RLIMIT_NOFILE, (free, had[1]))",
    threads=2,  # that of the deadline needs none
)


@pytest.mark.parametrize("lack", [NO_THREADS, NO_DESCRIPTORS], ids=["threads", "descriptors"])
def test_where_no_more_can_be_had_the_main_thread_answers_alone(plugin, lack):
    assert terminated(plugin, lack + STUBBORN) == "DEMO UNKNOWN - terminated before the verdict\n"
    run = plugin(lack + STUBBORN, "-t", "60s")
    assert (run.returncode, run.stdout, run.stderr) == (3, OVERDUE, b"")


def test_a_server_is_told_that_the_run_ends(plugin, tmp_path):
    told = tmp_path / "told"
    run = plugin(
        "def findings(options, run):\n"
        f"    run.deadline.farewells += [lambda: 1 / 0, lambda: open({str(told)!r}, 'w').close()]\n"
        "    soon(run)\n"
        "    while True:\n"
        "        time.sleep(1)\n",
        *("-t", "60s"),
    )
    assert run.returncode == 3
    assert told.exists()


def test_whoever_reads_a_long_answer_may_take_longer_than_the_deadline(plugin):
    listing = "def findings(options, run):\n    run.answer('x' * 200_000 + '\\n')\n    yield from ()\n"
    with subprocess.Popen([*plugin.write(listing), "-t", "500ms"], stdout=subprocess.PIPE) as process:
        time.sleep(1.5)
        assert len(process.stdout.read()) == 200_001
        assert process.wait(120) == 0


def test_a_child_does_not_outlive_the_deadline(plugin):
    reader, writer = os.pipe()
    run = plugin(
        "def findings(options, run):\n"
        "    import subprocess\n"
        f"    child = subprocess.Popen(['sleep', '100'], pass_fds=[{writer}])\n"
        "    run.deadline.children.append(child)\n"
        "    soon(run)\n"
        "    child.wait()\n",
        *("-t", "60s"),
        pass_fds=[writer],
    )
    os.close(writer)
    assert run.returncode == 3
    assert_closed(reader)


def test_a_child_does_not_outlive_a_report_that_takes_too_long(plugin):
    reader, writer = os.pipe()
    run = plugin(
        "def findings(options, run):\n"
        "    import subprocess\n"
        "    from stallwatch.render import text as rendering\n"
        "    rendering.written = lambda report: time.sleep(100)\n"
        f"    run.deadline.children.append(subprocess.Popen(['sleep', '100'], pass_fds=[{writer}]))\n"
        "    yield Fault(State.CRITICAL, 'a disk is full')\n",
        *("-t", "500ms"),
        pass_fds=[writer],
    )
    os.close(writer)
    assert run.returncode == 3
    assert_closed(reader)


def assert_closed(reader):
    assert select.select([reader], [], [], 120)[0] == [reader]  # nobody has the other end any more
    os.close(reader)


def test_a_child_that_lives_on_does_not_hold_standard_output(plugin):
    run = plugin(
        "def findings(options, run):\n"
        "    import subprocess\n"
        "    child = subprocess.Popen(['sleep', '100'])\n"
        "    yield Fault(State.OK, str(child.pid))\n",
        timeout=120,
    )
    os.kill(int(run.stdout.split()[-1]), signal.SIGKILL)
    assert run.returncode == 0


def test_a_forgotten_thread_does_not_keep_the_plugin(plugin):
    run = plugin(
        "def findings(options, run):\n"
        "    import threading\n"
        "    threading.Thread(target=time.sleep, args=(100,)).start()\n"
        "    yield Fault(State.OK, 'fine')\n",
        timeout=120,
    )
    assert run.returncode == 0


def test_a_full_disk_behind_standard_output_is_3_in_silence(plugin):
    with open("/dev/full", "wb") as full:
        run = plugin(FINE, stdout=full)
    assert (run.returncode, run.stderr) == (3, b"")


def test_a_reader_that_is_gone_is_3_in_silence(plugin):
    reader, writer = os.pipe()
    os.close(reader)
    run = plugin(FINE, stdout=writer)
    os.close(writer)
    assert (run.returncode, run.stderr) == (3, b"")


def test_a_closed_standard_output_is_3_and_no_other_file_gets_the_report(plugin, tmp_path):
    victim = tmp_path / "victim"
    body = f"victim = os.open({str(victim)!r}, os.O_WRONLY | os.O_CREAT)\n" + FINE
    command = ["sh", "-c", 'exec "$@" >&-', "sh", *plugin.write(body)]
    run = subprocess.run(command, stderr=subprocess.PIPE, check=False)
    assert (run.returncode, run.stderr) == (3, b"")
    assert victim.read_bytes() == b""


def test_a_closed_standard_error_does_no_harm(plugin):
    command = ["sh", "-c", 'exec "$@" 2>&-', "sh", *plugin.write(FINE)]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    assert (run.returncode, run.stdout) == (0, b"DEMO OK - lag 2 s | lag=2s;60;300\n")


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_output_is_utf_8_whatever_the_locale(plugin, locale):
    environment = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    body = "def findings(options, run):\n    yield Fault(State.OK, 'gr\\u00f6\\u00dfer')\n"
    run = plugin(body, env=environment)
    assert run.stdout == "DEMO OK - größer\n".encode()


def test_arguments_that_are_no_text_do_not_crash(plugin):
    run = plugin(FINE, b"-w", b"\xff|\xfe")
    assert run.returncode == 3
    assert run.stdout.startswith(b'DEMO UNKNOWN - argument -w/--warning: range "?/?": "?/?" is not a time')


def test_a_deadline_that_passes_at_the_very_end_does_not_get_out(check):
    """Each run ends about when its time does."""
    for number in range(200):
        until = 0.0196 + number % 40 * 1e-5

        def findings(_options, run, until=until):
            while run.deadline.seconds - run.deadline.until_end() < until:
                pass
            yield Reading("lag", 2, "s")

        status, text = check.run(findings, ["-t", "20ms"])
        assert (status, text.startswith("DEMO ")) in {(0, True), (3, True)}
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_a_timer_of_somebody_else_goes_on_with_what_is_left(check):
    rang = threading.Event()
    before = signal.signal(signal.SIGALRM, lambda *_: rang.set())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        check.run(lambda *_: time.sleep(0.3) or [], ["-t", "60s"])
        assert rang.wait(120)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_ctrl_c_is_not_of_the_run(check):
    def findings(*_):
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        check.run(findings, [])


def test_a_run_whose_report_the_alarm_interrupts_has_the_reason_for_its_end(check, monkeypatch):
    def interrupted(_):
        raise TimeUpError("the alarm")

    def findings(_options, _run):
        yield Fault(State.OK, "fine")
        raise TimeUpError("no time")

    monkeypatch.setattr(Account, "starved", lambda _: 1.0)
    monkeypatch.setattr(Run, "_starved_runs", interrupted)
    status, text = check.run(findings, [])
    assert (status, text.count("no time")) == (3, 1)


def test_who_reports_in_the_place_of_a_run_that_has_just_ended_has_its_report(check):
    reports = []
    ended = check.run(lambda *_: [Reading("lag", 2, "s")], [], lambda _, report: reports.append(report))
    (report,) = reports
    assert ended[0] == 0
    assert report("no verdict within 8 s") == ended
