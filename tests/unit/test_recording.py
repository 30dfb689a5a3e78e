"""Questions and answers of sources: recorded as lines of JSON, and answered from these."""

import contextlib
import json
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import jmx_bytes
import pytest
from fake_proc import FakeProc
from mysql_bytes import LET_IN, error, packet, result, served, turns
from record_and_play import NotRecordedError, Player, Recorder
from recorded_jvm import RecordedJvm
from stallwatch import withheld
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx, kernel, mysql, processes, recording
from stallwatch.withheld import WITHHELD

DENIED = packet(1, error(1142, b"SELECT command denied to user 'mon'@'%' for table 'x'", b"#42000"))
PASSWORD = "7 Geheimnisse"
PLACE = ("mysql", "db1:3306", 1)


@pytest.fixture(autouse=True)
def one_run():
    """The passwords of a run are forgotten behind it."""
    withheld.begin([])
    yield
    withheld.end()


def recorded(ask, *more, of=PLACE, **outcome):
    """The lines of a recording with this question, and what was answered or raised."""

    def answer():
        if "error" in outcome:
            raise outcome["error"]
        return outcome["answer"]

    lines = []
    with recording.use(Recorder(lines.append)), contextlib.suppress(Exception):
        recording.answer(of, (ask, *more), answer)
    return lines


def entry(*asked, **outcome):
    (line,) = recorded(*asked, **outcome)
    return json.loads(line)


def played(lines, *asked, of=PLACE):
    with recording.use(Player(lines)):
        return recording.answer(of, asked, pytest.fail)


# What every source is promised


def test_nothing_is_recorded_without_a_recorder():
    assert not recording.is_used()
    assert recording.answer(PLACE, ("SELECT 1",), max, 1, 2) == 2


def test_a_question_is_one_line_with_its_time():
    before = time.time()
    told = entry("SELECT 1", answer=[["1"], [[1]]])
    assert before - 1 <= told.pop("at") <= time.time()
    assert 0 <= told.pop("took") < 60
    assert told == {
        "source": "mysql", "where": "db1:3306", "log_in": 1, "asked": ["SELECT 1"], "answer": [["1"], [[1]]],
    }  # fmt: skip


def test_a_run_within_a_run_has_its_own_recording():
    outer, inner = [], []
    with recording.use(Recorder(outer.append)):
        with recording.use(Recorder(inner.append)):
            recording.answer(PLACE, ("inner",), int)
        recording.answer(PLACE, ("outer",), int)
    assert [json.loads(line)["asked"] for line in (*outer, *inner)] == [["outer"], ["inner"]]


def test_a_recording_ends_with_its_run_however_that_ends():
    with pytest.raises(KeyboardInterrupt), recording.use(Recorder(print)):
        raise KeyboardInterrupt
    assert not recording.is_used()


def test_an_answer_comes_as_often_as_it_was_recorded():
    player = Player([*recorded("a", answer=1), *recorded("b", answer=3), *recorded("a", answer=2)])
    assert [player.answer(PLACE, (what,)) for what in "aab"] == [1, 2, 3]
    with pytest.raises(NotRecordedError, match=r"mysql db1:3306 was not .* often: a"):
        player.answer(PLACE, ("a",))


def test_time_can_go_by_as_it_did():
    moments = []
    player = Player(recorded("a", answer=1), then=lambda told: moments.append(told["at"]))
    player.answer(PLACE, ("a",))
    assert moments == [pytest.approx(time.time(), abs=60)]


def test_answers_of_one_log_in_are_no_answers_of_another():
    lines = []
    for number in (5, 6):
        of = ("mysql", "db1:3306", number)
        lines += recorded(*recording.LOG_IN, of=of, answer=None) + recorded("a", of=of, answer=number)
    player = Player(lines)
    first, second = (("mysql", "db1:3306", number) for number in (1, 2))
    player.answer(first, recording.LOG_IN)
    player.answer(second, recording.LOG_IN)
    assert [player.answer(of, ("a",)) for of in (second, first)] == [6, 5]


def test_a_setting_may_have_the_time_that_is_left():
    lines = recorded("SET wait_timeout = 13, max_statement_time = 7.988", answer=[[], []])
    assert played(lines, "SET wait_timeout = 12, max_statement_time = 7.5") == [[], []]
    with pytest.raises(NotRecordedError):
        played(recorded("SELECT 1", answer=[]), "SELECT 2")


def test_an_error_is_raised_again_with_its_causes():
    late = TimeoutError("timed out")
    lost = mysql.NoAnswerError("db1:3306 has not answered", "look", 2013)
    lost.__cause__ = late
    with pytest.raises(mysql.NoAnswerError, match="has not answered") as found:
        played(recorded("a", error=lost), "a")
    assert (found.value.advice, found.value.number) == ("look", 2013)
    assert repr(found.value.__cause__) == "TimeoutError('timed out')"


def test_an_error_within_an_answer_is_one_again():
    (found,) = played(recorded("a", answer=[ConnectionRefusedError(111, "refused")]), "a")
    assert (type(found), found.errno) == (ConnectionRefusedError, 111)


@pytest.mark.parametrize("name", ["nowhere.Error", "os.system", "builtins.print", "subprocess.Popen", "x"])
def test_a_recording_makes_nothing_but_exceptions(name):
    (line,) = recorded("a", error=ValueError("touch /tmp/x"))
    with pytest.raises(Exception, match="touch /tmp/x") as found:
        played([line.replace("builtins.ValueError", name)], "a")
    assert type(found.value) is Exception


@pytest.mark.parametrize(
    "outcome",
    [
        {"answer": [[f"it is '{PASSWORD}'"]]},
        {"answer": {PASSWORD: 1}},
        {"error": mysql.MysqlError("x", said=f"not '{PASSWORD}'")},
        {"error": ValueError(PASSWORD)},
    ],
)
def test_no_password_is_recorded(outcome):
    withheld.keep(PASSWORD)
    (line,) = recorded(f"SELECT '{PASSWORD}'", PASSWORD, **outcome)
    assert PASSWORD not in line
    assert line.count(WITHHELD) >= 3


@pytest.mark.parametrize("word", ["mysql", "asked", "answer", "what", "builtins", "SELECT", "1"])
def test_a_password_that_is_a_plain_word_hides_none_of_our_own(word):
    lines = recorded(*recording.LOG_IN, answer=None)
    lines += recorded("SELECT 1", answer=7) + recorded("SELECT 2", error=mysql.MysqlError("x"))
    withheld.keep(word)
    kept = recorded(*recording.LOG_IN, answer=None)
    kept += recorded("SELECT 1", answer=7) + recorded("SELECT 2", error=mysql.MysqlError("x"))
    timeless = [[json.loads(line) | {"at": 0, "took": 0} for line in each] for each in (lines, kept)]
    assert timeless[0] == timeless[1]


def test_what_is_called_a_password_is_not_recorded():
    assert entry("a", answer=["IDENTIFIED BY 'y'"])["answer"] == ["IDENTIFIED BY ***"]


# MySQL


def conversation(port, host="127.0.0.1"):
    """What a log-in at a server comes to: its version, rows, and an error."""
    target = mysql.Target(host, port, user="mon", password=PASSWORD)
    with mysql.connect(target, Deadline(60), known=None) as server:
        rows = server.rows("SELECT a, b FROM t WHERE c = %s", 7)
        skimmed = server.skim("SELECT d FROM t")
        with pytest.raises(mysql.DeniedError) as denied:
            server.rows("SELECT e FROM x")
        with pytest.raises(mysql.UnreachableError) as gone:
            server.rows("SELECT f FROM x")
        errors = [(error.value.what, error.value.advice, error.value.number) for error in (denied, gone)]
        return server.flavour, rows, skimmed, errors


@pytest.fixture
def recorded_server():
    """The lines of a recording, what it came to, and the port."""
    lines = []
    told = result(b"a", b"b", rows=[(b"1", None), (b"x", f"by {PASSWORD}".encode())])
    answers = [told, result(b"d", rows=[(b"4",), (b"5",)]), DENIED]
    with served(turns([*LET_IN, *answers])) as port, recording.use(Recorder(lines.append)):
        return lines, conversation(port), port


def test_a_recorded_server_answers_as_the_server_did(recorded_server):
    lines, expected, port = recorded_server
    with recording.use(Player(lines)):
        flavour, rows, *others = conversation(port)
    assert rows == [{"a": "1", "b": None}, {"a": "x", "b": WITHHELD}]
    assert expected[1][1] == {"a": "x", "b": f"by {PASSWORD}"}
    assert (flavour, *others) == (expected[0], *expected[2:])
    assert expected[3][1][0].startswith(f"127.0.0.1:{port} closed the connection: asked SELECT f")


def test_each_question_of_a_server_is_recorded_in_its_order(recorded_server):
    asked = [json.loads(line)["asked"] for line in recorded_server[0]]
    assert asked[0] == ["log in"]
    assert [text[0][:10] for text in asked[1:3]] == ["SELECT @@v", "SET NAMES "]
    assert asked[3:] == [
        ["SELECT a, b FROM t WHERE c = %s", 7], ["SELECT d FROM t"], ["SELECT e FROM x"], ["SELECT f FROM x"],
    ]  # fmt: skip


def test_a_log_in_that_failed_fails_again():
    lines, what = [], []
    with served(turns([packet(0, error(1130, b"Host '10.0.0.9' is not allowed", b""))])) as port:
        target = mysql.Target("127.0.0.1", port)
        for tape in (lambda: Recorder(lines.append), lambda: Player(lines)):
            with recording.use(tape()), pytest.raises(mysql.UnreachableError) as found:
                mysql.connect(target, Deadline(60), known=None)
            what.append((found.value.what, found.value.advice, found.value.number))
    assert what[0] == what[1]
    assert what[0][2] == 1130


# JMX


def of_jvm(tape, name, streams):
    """What a recorded conversation comes to, with errors as what they say."""
    with recording.use(tape):
        try:
            found = jmx_bytes.replay(jmx_bytes.ASKED[name], streams)
        except jmx.JmxError as failure:
            found = failure
    return json.loads(json.dumps(found, default=lambda one: [type(one).__name__, one.what, one.advice]))


@pytest.mark.parametrize("name", sorted(jmx_bytes.ASKED))
def test_a_recorded_jvm_answers_as_the_jvm_did(name):
    lines = []
    expected = of_jvm(Recorder(lines.append), name, jmx_bytes.load(name))
    assert of_jvm(Player(lines), name, ()) == expected
    assert json.loads(lines[0])["asked"] == ["log in"]
    assert not any("secret" in line for line in lines)


def test_an_attribute_is_one_question():
    lines = []
    beans = {"a:b=c": {"Value": 7, "Max": 9}}
    with recording.use(RecordedJvm(beans)):
        jvm = jmx.connect(jmx.Target("db1", 7199), Deadline(60))
        tape = Recorder(lines.append)
        with recording.use(SimpleNamespace(answer=partial(recorded_of, tape, RecordedJvm(beans)))), jvm:
            found, _ = jvm.read([("a:b=c", ["Value"]), ("a:b=d", ["Value"])])
    assert found == {"Value": 7}
    told = [json.loads(line) for line in lines]
    assert [one["asked"] for one in told] == [["read", "a:b=c", "Value"], ["read", "a:b=d", "Value"]]
    assert told[0]["answer"] == {"Value": 7}


def recorded_of(tape, player, of, asked, *_):
    """Record what a player answers."""
    return tape.answer(of, asked, player.answer, of, asked)


# The host


def test_a_recorded_host_answers_as_the_kernel_did(monkeypatch):
    looks = Path(__file__).parents[1] / "recorded" / "host" / "6.18-two-processors"
    monkeypatch.setattr(kernel, "PLACE", str(min(looks.iterdir())))
    lines = []
    each = [kernel.processors, kernel.disks, kernel.interfaces, kernel.memory, kernel.swapped, kernel.uptime]
    with recording.use(Recorder(lines.append)):
        *expected, (pages_in, pages_out), uptime = [ask() for ask in each]
    assert all(expected)
    with recording.use(Player(lines)):
        assert [ask() for ask in each] == [*expected, [pages_in, pages_out], uptime]
    monkeypatch.setattr(kernel, "PLACE", "/nowhere")
    lines.clear()
    with recording.use(Recorder(lines.append)), pytest.raises(FileNotFoundError):
        kernel.uptime()
    with recording.use(Player(lines)), pytest.raises(FileNotFoundError, match="/nowhere/uptime"):
        kernel.uptime()


def test_a_recorded_process_answers_as_it_did(monkeypatch, tmp_path):
    proc = FakeProc(tmp_path, monkeypatch)
    words = ["mysqld", "--datadir=/srv", "-S", "/run/x", "--password", "geheim", "-pgeheim"]
    proc.process(7, "mysqld", arguments=words)
    ask = [lambda: processes.running(["mysqld"]), lambda: processes.task(7), lambda: processes.status(7)]
    lines = []
    with recording.use(Recorder(lines.append)):
        expected = [one() for one in ask]
    with recording.use(Player(lines)):
        (mysqld,), task, status = [one() for one in ask]
    assert (task, status) == (*expected[1:],)
    assert status.is_in_container == expected[2].is_in_container
    assert mysqld.option("-S", "--socket") == "/run/x"
    assert mysqld.arguments[-2:] == ("***", "-p***")
    assert mysqld._replace(arguments=()) == expected[0][0]._replace(arguments=())
    assert "geheim" not in "".join(lines)


def test_what_is_asked_on_the_way_to_an_answer_is_not_recorded():
    lines = []
    with recording.use(Recorder(lines.append)):
        recording.answer(PLACE, ("outer",), lambda: recording.answer(PLACE, ("inner",), int))
        recording.answer(PLACE, ("inner",), int)
    assert [json.loads(line)["asked"] for line in lines] == [["outer"], ["inner"]]


def test_recorded_bonds_are_those_of_then(monkeypatch):
    bonds = Path(__file__).parents[1] / "recorded" / "bonding" / "6.1-lacp"
    monkeypatch.setattr(kernel, "BONDS", str(bonds))
    lines = []
    with recording.use(Recorder(lines.append)):
        expected = kernel.bonds()
    with recording.use(Player(lines)):
        assert kernel.bonds() == expected == {"bond1": (bonds / "bond1").read_text()}
