"""What programs read, by the schema that is documented."""

import json
import signal
import subprocess

import output_schema
import pytest
from jsonschema import Draft202012Validator, ValidationError
from stallwatch import __version__
from stallwatch.findings import Fault, ProbeError, Reading, State
from stallwatch.thresholds import Range
from stallwatch.withheld import WITHHELD

SCHEMA = output_schema.PUBLISHED
NO_VERDICT = {
    "name": None,
    "label": None,
    "value": None,
    "unit": "",
    "warning": None,
    "critical": None,
    "state": "UNKNOWN",
    "why": "",
    "advice": "",
}

LAG = {**NO_VERDICT, "name": "lag", "label": "lag", "value": 1, "state": "OK", "what": "x"}
ODD_RANGES = ["", "@", ":", "....", "1.2.3", ".5", "10\n", "@10 ", "1:2:3", "~", "~:~", "10 s"]


def fine(_options, _run):
    yield Reading("lag", 2, "s", "lag 2 s")


def crash(_options, _run):
    raise ValueError("access denied for root with password hunter2 | x")
    yield


@pytest.fixture
def told(check):
    """Run a check with --output json: exit status and object."""

    def run(findings, *arguments):
        status, line = check.run(findings, [*arguments, "--output", "json"])
        assert "\n" not in line
        answer = json.loads(line)
        output_schema.validate(answer)
        assert State[answer["state"]].value.code == status
        return answer

    return run


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def test_every_field_is_described():
    described = {**SCHEMA["properties"], **SCHEMA["$defs"]["finding"]["properties"]}
    without = {name for name, field in described.items() if not {"description", "$ref"} & field.keys()}
    assert without == set()


@pytest.mark.parametrize(
    "change",
    [
        {"state": "ok"},
        {"summary": ""},
        {"findings": []},
        {"more": 1},
        {"name": ""},
        {"summary": "a\n"},
        {"summary": "a|"},
        {"version": "1.0 junk"},
        {"version": "1.0\n"},
        {"trace": ["a\x1b[31m"]},
        {"version": None},
        {"trace": []},
        {"findings": [{**NO_VERDICT, "what": "x", "value": 1}]},
        {"findings": [{**NO_VERDICT, "what": "x", "name": "lag", "label": "lag"}]},
        {"findings": [{**NO_VERDICT, "what": "x", "name": "lag", "label": "a b", "value": 1}]},
        {"findings": [{**NO_VERDICT, "what": "x", "name": "lag", "warning": "10 s"}]},
        {"findings": [{**NO_VERDICT, "what": "x", "table": [{"a": [1]}]}]},
        {"findings": [{**NO_VERDICT, "what": "x", "table": [{}]}]},
        {"findings": [{**NO_VERDICT, "what": "x", "table": [{"a\n": 1}]}]},
        {"findings": [{**NO_VERDICT, "what": "x", "table": [{"a": "b|c"}]}]},
        {"findings": [{**NO_VERDICT, "what": ""}]},
        {"findings": [{**NO_VERDICT, "what": "x", "why": "a\u2028b"}]},
        {"findings": [{**NO_VERDICT, "what": "x", "advice": "a\n"}]},
        {"findings": [{**NO_VERDICT, "what": "x", "warning": "10"}]},
        {"findings": [{**NO_VERDICT, "what": "x", "critical": "10"}]},
        {"findings": [{**NO_VERDICT, "what": "x", "unit": "s"}]},
        {"findings": [{**LAG, "name": ""}]},
        {"findings": [{**LAG, "label": "lag\n"}]},
        {"findings": [{**LAG, "value": None}]},
        {"findings": [{**LAG, "value": None, "label": None}]},
        {"findings": [{**LAG, "value": True}]},
        {"findings": [{**LAG, "unit": "ms"}]},
        {"findings": [{**LAG, "later": 1}]},
        *({"findings": [{**LAG, "warning": odd}]} for odd in ODD_RANGES),
    ],
)
def test_the_schema_refuses_what_is_none_of_ours(told, change):
    answer = told(fine)
    with pytest.raises(ValidationError):
        output_schema.validate({**answer, **change})


def test_a_later_version_may_say_more():
    later = {
        "name": "demo",
        "target": "db1:3306",
        "time": "2026-11-18T11:06:40Z",
        "state": "OK",
        "summary": "x",
        "findings": [{**LAG, "later": 1}],
        "version": "9.1",
    }
    Draft202012Validator(SCHEMA).validate({**later, "later": 1})


@pytest.mark.parametrize(
    "text", ["10", "0.5", "~:", "10:", "@0:", "@5:10", "~:-5", "-5:1e20", "1e-7:", "@~:0.1"]
)
def test_every_range_is_told_as_the_schema_says(told, text):
    (lag,) = told(fine, "-w", text)["findings"]
    assert Range(lag["warning"]) == Range(text)


def test_what_has_no_words_is_told_all_the_same(told):
    (found,) = told(lambda *_: [Fault(State.CRITICAL, "\n")])["findings"]
    assert found["what"] == "no details"


def test_what_is_not_confirmed_or_judged_by_other_limits_has_the_name_of_its_options(told):
    def findings(_options, run):
        run.thresholds["lag that lasts"] = {"warning": Range("1"), "critical": None}
        yield Reading("lag", 2, "s", "lag 2 s", confirmed=False)
        yield Reading("lag", 2, "s", "lag 2 s for long", label="", judged_as="lag that lasts")

    found = told(findings)["findings"]
    assert [one["name"] for one in found] == ["lag", "lag"]
    assert [one["warning"] for one in found] == ["60", "1"]
    assert [one["state"] for one in found] == ["OK", "WARNING"]


@pytest.mark.parametrize("name", ["doubtful_lag", "lag_lasting", "lag that lasts"])
def test_no_meaning_is_read_from_a_name(told, name):
    (found,) = told(lambda *_: [Reading(name, 400, "s", "lag 400 s")])["findings"]
    assert (found["name"], found["state"], found["warning"]) == (name, "OK", None)


def test_a_run_is_told_as_the_schema_says(told):
    def findings(_options, _run):
        yield Reading("lag", 61.5, "s", "lag 61.5 s")
        yield Fault(State.OK, "an aside")
        raise ProbeError("db1:3306 refused the connection", "start the server")

    answer = told(findings, "-w", "@5:1m", "-c", "~:1e9")
    assert [one["state"] for one in answer["findings"]] == ["OK", "OK", "UNKNOWN"]
    assert answer["summary"] == "db1:3306 refused the connection - start the server"
    assert answer["findings"][0]["warning"] == "@5:60"


def test_a_usage_error_is_told_so_too(told):
    line = 'argument -w/--warning: "soon" is not a time in seconds such as 90, 500ms, 5m, 2h or 1d'
    answer = told(fine, "-w", "soon")
    assert answer == {
        "name": "demo",
        "target": None,
        "time": answer["time"],
        "state": "UNKNOWN",
        "summary": answer["summary"],
        "findings": [{**NO_VERDICT, "what": answer["summary"]}],
        "version": __version__,
    }
    assert "soon" in answer["summary"]
    assert line.partition(":")[0] in answer["summary"]
    assert answer["summary"].endswith(": see check_demo --help")


@pytest.mark.parametrize(
    ("arguments", "is_json"),
    [
        (["--output=json", "--bogus"], True),
        (["--bogus", "--output", "json"], True),
        (["--output", "text", "--output", "json", "--bogus"], True),
        (["--output", "json", "--output=text", "--bogus"], False),
        (["--output", "json5"], False),
        (["--output=json-lines"], False),
        (["--output", "json\n"], False),
        (["--output"], False),
        (["--log", "--output=jsonish"], False),
        (["json", "--output"], False),
    ],
)
def test_arguments_that_make_no_sense_are_answered_as_far_as_they_were_understood(check, arguments, is_json):
    status, line = check.run(fine, arguments)
    assert status == 3
    assert line.startswith("{" if is_json else "DEMO UNKNOWN - ")


def test_a_crash_is_told_so_too_and_keeps_its_text_to_itself(told):
    answer = told(crash)
    assert answer["summary"].startswith("internal error, ValueError at test_output_json.py:")
    assert "trace" not in answer
    assert "hunter2" not in json.dumps(answer)


def test_vvv_shows_the_traceback_without_the_secrets(told, check):
    def findings(options, run):
        check.secret("hunter2")
        yield from crash(options, run)

    trace = told(findings, "-vvv")["trace"]
    assert trace[0] == "Traceback (most recent call last):"
    assert trace[-1] == f"ValueError: {WITHHELD}"


def test_a_missing_module_is_told_so_too(told):
    def findings(_options, _run):
        raise ModuleNotFoundError(name="pymysql")
        yield

    how = "pip install PyMySQL, or apt install python3-pymysql"
    assert told(findings)["summary"] == f"the Python module pymysql is missing: {how}"


def test_vvv_tells_what_was_asked(told):
    def findings(_options, run):
        run.trace("SELECT 1: 3 ms")
        yield Reading("lag", 1, "s", "lag 1 s")

    assert told(findings, "-vvv")["trace"] == ["SELECT 1: 3 ms"]
    assert "trace" not in told(findings, "-v")


def test_text_of_any_length_and_language_is_whole(told):
    long = "größer → " * 500
    assert told(lambda *_: [Reading("lag", 1, what=long)])["summary"] == long.strip()


def test_the_help_and_the_version_are_text(check):
    assert check.run(fine, ["--output", "json", "-V"])[1].startswith("check_demo (stallwatch ")
    assert check.run(fine, ["--output", "json", "-h"])[1].startswith("usage: check_demo ")


# A real run

ENDLESS = """
def findings(options, run):
    yield Reading("lag", 2, "s", "lag 2 s")
    os.write(2, b"ready")
    while True:
        time.sleep(60)
"""


def test_the_deadline_is_told_so_too(plugin):
    run = plugin(ENDLESS, "--output", "json", "--timeout", "1s", text=True)
    answer = json.loads(run.stdout)
    output_schema.validate(answer)
    assert run.returncode == 3
    assert answer["summary"] == "no verdict within 1 s"
    assert answer["findings"][-1] == {**NO_VERDICT, "what": answer["summary"]}


def test_whoever_ends_it_gets_an_object(plugin):
    call = [*plugin.write(ENDLESS), "--output", "json", "--timeout", "60s", "-vvv"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr.read(5) == b"ready"
        process.send_signal(signal.SIGTERM)
        answer = json.loads(process.stdout.read())
    output_schema.validate(answer)
    assert process.returncode == 3
    assert answer["summary"] == "terminated before the verdict"


def test_a_signal_that_the_main_thread_does_not_notice_ends_it_too(plugin):
    """As one that comes during getaddrinfo(), or just before the main thread begins to wait."""
    blocked = "    import signal\n    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
    unnoticed = ENDLESS.replace("    os.write", f"{blocked}    os.write")
    call = [*plugin.write(unnoticed), "--timeout", "60s", "-vvv"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr.read(5) == b"ready"
        process.send_signal(signal.SIGTERM)
        assert b"terminated before the verdict" in process.stdout.read()
    assert process.returncode == 3
