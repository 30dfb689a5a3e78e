"""Jolokia's agent, asked over HTTP: what it sends, and what else may answer at that port."""

import contextlib
import json
import os
import pathlib
import re
import socket
import ssl
import threading
import time
from types import SimpleNamespace

import jmx_bytes
import loopback
import pytest
from asking_server import certificate
from http_server import answer, serving
from stallwatch import withheld
from stallwatch.deadline import Deadline
from stallwatch.sources import jmx
from stallwatch.sources.jmx import session, web
from stallwatch.sources.jmx.jolokia import client, http, questions
from stallwatch.sources.jmx.jolokia.values import SpoiledError, parsed, plain
from stallwatch.sources.jmx.target import JOLOKIA, from_http_url
from stallwatch.sources.jmx.wire import SilentError
from stallwatch.units import NotUnderstoodError

VERSION = {
    "status": 200,
    "value": {"agent": "2.1.1", "protocol": "8.0", "config": {"maxCollectionSize": "0"}},
}
SHEET = pathlib.Path(__file__).parents[2] / "contrib" / "docs" / "check_jmx.md"
SECRET = "Tr0ub4dor3x"


def told(value):
    return {"status": 200, "value": value}


def refused(kind, text="", status=404):
    return {"status": status, "error_type": kind, "error": f"{kind} : {text}" if text else kind}


def nested(depth):
    """A list in a list, so deep."""
    found = []
    for _ in range(depth):
        found = [found]
    return found


def agent(reply):
    """An agent that answers each question with what ``reply`` gives for it."""

    def answered(request, _):
        questions = json.loads(request.partition(b"\r\n\r\n")[2])
        return answer([VERSION if one["type"] == "version" else reply(one) for one in questions])

    return answered


def connect(asked, seconds=5, **more):
    host, port = asked.place
    return jmx.connect(jmx.Target(host, port, JOLOKIA, via="jolokia", **more), Deadline(seconds))


def failure(octets, **more):
    """What is said of a server that answers so."""
    with serving(lambda *_: octets) as asked, pytest.raises(jmx.UnreachableError) as error:
        connect(asked, **more)
    where = "{}:{}".format(*asked.place)
    return error.value.what.replace(where, "HOST"), error.value.advice, asked


def values_of(reply, *wanted, **more):
    with serving(agent(reply)) as asked, connect(asked, **more) as server:
        return list(server.read(wanted)), asked


# what it says


@pytest.mark.parametrize(
    ("sent", "value"),
    [
        (None, None),
        (2**63 - 1, 2**63 - 1),
        ({"objectName": "a:b=c"}, "a:b=c"),
        ([{"objectName": "a:b=c"}], ["a:b=c"]),
        ({"bigint": "1180591620717411303424"}, 2**70),
        ({"name": "int", "interfaces": []}, "int"),
        ({"name": "int", "interfaces": ["[Object limit exceeded]"]}, "int"),
        ({"mostSignificantBits": 4822678189205111, "leastSignificantBits": -8603657889541918977},
         "00112233-4455-6677-8899-aabbccddeeff"),
        ({"epochSecond": 1709210096, "nano": 789000000}, "2024-02-29T12:34:56.789Z"),
        ({"seconds": -2, "nano": 500000000, "units": [], "zero": False, "negative": True}, -1.5),
        ({"plain": 5, "opaque": 5, "acquire": 5}, 5),
        ({"a": {"used": 1, "disk": "a"}}, {"a": {"used": 1, "disk": "a"}}),
        ({"a": {"x": {"host": "a", "disk": "x", "used": 1}},
          "b": {"y": {"host": "b", "disk": "y", "used": 2}}},
         {"a,x": {"host": "a", "disk": "x", "used": 1}, "b,y": {"host": "b", "disk": "y", "used": 2}}),
        ({"a": {"x": {"host": "c", "disk": "x"}}}, {"a": {"x": {"host": "c", "disk": "x"}}}),
        ({"a": {"b": {"c": {}}}}, {"a": {"b": {"c": {}}}}),
        ({"indexNames": ["a", "b"], "values": [{"a": 1, "b": True, "c": 3}]},
         {"1,true": {"a": 1, "b": True, "c": 3}}),
    ],
)  # fmt: skip
def test_values_have_the_shape_that_rmi_gives_them(sent, value):
    assert plain(sent, 0, lambda _: None) == value


@pytest.mark.parametrize(
    ("sent", "most", "why"),
    [
        ({"bigint": "9" * 3000}, 0, "an integer of 3000 digits"),
        ({"bigint": 7}, 0, "makes no sense"),
        ({"epochSecond": "now", "nano": 0}, 0, "makes no sense"),
        ({"indexNames": ["a"], "values": [{}]}, 0, "makes no sense"),
        ([1, 2], 2, "2 items at most"),
        ({"a": 1, "b": 2, "c": 3}, 2, "2 items at most"),
        ("[Object limit exceeded]", 0, "maxObjects"),
        (json.loads("[" * 200 + "]" * 200), 0, "deeper than 100"),
        (["x" * 1000] * 10_000, 0, "needs more than 8 MiB"),
    ],
)
def test_values_that_cannot_be_read(sent, most, why):
    with pytest.raises(jmx.UnreadableError, match=why):
        plain(sent, most, lambda _: None)


def test_lists_that_are_shorter_than_the_limit_and_tables_that_are_longer_are_whole():
    assert plain([1], 2, lambda _: None) == [1]
    assert plain({"a": 1, "b": 2, "c": 3, "d": 4}, 2, lambda _: None)["d"] == 4


@pytest.mark.parametrize(
    "octets",
    [
        b'{"value":"\\u001;"}', b"[" * 100_000, b'[{"status":200', b"\xff\xfe",
        b"[" + b"[]," * 2_000_000 + b"1]",
        b"{" + b",".join(b'"%d":{}' % one for one in range(300_000)) + b"}",
        '"{}é"'.format("x" * 7_000_000).encode(),
    ],
)  # fmt: skip
def test_answers_that_are_no_json_or_need_much_memory(octets):
    with pytest.raises(SpoiledError):
        parsed(octets)


def test_errors_are_told_apart():
    def reply(one):
        return {
            "Gone": refused("javax.management.InstanceNotFoundException", "a:b=c"),
            "None": refused("javax.management.AttributeNotFoundException", "No such attribute: None"),
            "Fails": refused("java.lang.IllegalStateException", "not now", 500),
            "Wrapped": refused("javax.management.RuntimeErrorException", "java.lang.StackOverflowError", 500),
            "Denied": refused("java.lang.SecurityException", "not you", 403),
            "Forbidden": refused("java.lang.Exception", "Reading attribute is forbidden", 403),
            "Odd": {"status": "x"},
        }.get(one["attribute"], told(one["attribute"]))

    wanted = [
        ("a:b=c", ["Gone"]),
        ("a:b=d", ["None", "Fails", "Wrapped", "Denied", "Forbidden", "Odd", "Good"]),
    ]
    (gone, found), _ = values_of(reply, *wanted)
    assert isinstance(gone, jmx.NoSuchBeanError)
    assert isinstance(found["None"], jmx.NoSuchAttributeError)
    assert found["Good"] == "Good"
    forbidden = found["Forbidden"]
    assert isinstance(forbidden, jmx.ForbiddenError)
    assert forbidden.what == "Jolokia's policy forbids Forbidden of a:b=d"
    assert forbidden.advice == "take it out of <deny>, or add it to <allow>, in jolokia-access.xml"
    reasons = {
        name: one.what.partition(" cannot be read: ")[2] for name, one in found.items() if name != "Good"
    }
    assert reasons == {
        "None": "",
        "Fails": "IllegalStateException: not now",
        "Wrapped": "StackOverflowError",
        "Denied": "this user may not, SecurityException: not you",
        "Forbidden": "",
        "Odd": "an error",
    }


@pytest.mark.parametrize(
    "reply",
    [
        refused(f"boom {SECRET}", "x"),
        refused("java.lang.Error", f"at {SECRET}"),
        {"status": 500, "error_type": SECRET},
        {"status": SECRET, "error": SECRET},
    ],
    ids=["class", "text", "class alone", "status"],
)
def test_no_part_of_an_answer_shows_the_password(reply):
    withheld.keep(SECRET)
    try:
        ((found,), _) = values_of(lambda _: reply, ("a:b=c", ["X"]), user="me", password=SECRET)
    finally:
        withheld.end()
    assert isinstance(found["X"], jmx.UnreadableError)
    assert SECRET not in found["X"].what


def test_a_class_is_not_cut_within_the_password():
    password = "Tr0ub.4dor3x"
    sent = refused(f"x.{password}", "boom")
    ((found,), _) = values_of(lambda _: sent, ("a:b=c", ["X"]), user="me", password=password)
    assert found["X"].what.endswith(withheld.WITHHELD)


def test_a_version_does_not_show_the_password():
    about = {"agent": f"v {SECRET}", "protocol": SECRET}
    traced = []
    withheld.keep(SECRET)
    try:
        with serving(lambda *_: answer([told(about)])) as asked:
            target = jmx.Target(*asked.place, JOLOKIA, via="jolokia", user="me", password=SECRET)
            client.Client(target, Deadline(5), traced.append).close()
    finally:
        withheld.end()
    assert "is Jolokia" in traced[-1]
    assert SECRET not in "".join(traced)


@pytest.mark.parametrize("found", [{"x": 1}, ["11"], [True], "none"], ids=repr)
def test_deadlocked_threads_that_are_none_are_no_all_clear(found):
    with (
        serving(agent(lambda _: told(found))) as asked,
        connect(asked) as server,
        pytest.raises(jmx.UnreadableError, match="no list of numbers came"),
    ):
        server.deadlocked_threads()


@pytest.mark.parametrize(("found", "threads"), [(None, []), ([], []), ([11, 12], [11, 12])])
def test_deadlocked_threads(found, threads):
    with serving(agent(lambda _: told(found))) as asked, connect(asked) as server:
        assert server.deadlocked_threads() == threads


@pytest.mark.parametrize(
    ("ask", "found", "of"),
    [
        (lambda server: server.domains(), {"a": {}, "b": {}}, "its domains"),
        (lambda server: server.names("*:*"), ["a:b=1", "a:b=2"], "the MBeans *:*"),
        (lambda server: server.beans("*:*"), {"a": {"b=1": {}}, "c": {"b=1": {}}}, "the MBeans *:*"),
        (lambda server: server.beans("*:*"), {"a": {"b=1": {}, "b=2": {}}}, "the MBeans *:*"),
        (lambda server: server.beans("a:*"), {"b=1": {}, "b=2": {}}, "the MBeans a:*"),
    ],
    ids=["domains", "names", "domains of beans", "beans", "beans of a domain"],
)
@pytest.mark.parametrize(("most", "is_all"), [(2, False), (0, True), (5, True)])
def test_a_list_that_the_agent_may_have_cut_is_not_taken_for_all(ask, found, of, most, is_all):
    config = {"maxCollectionSize": str(most)}
    version = told({"agent": "2.1.1", "protocol": "8.0", "config": config})

    def reply(request, _):
        return answer([version if b'"version"' in request else told(found)])

    with serving(reply) as asked, connect(asked) as server:
        if is_all:
            assert len(ask(server)) == 2
            return
        with pytest.raises(jmx.UnreadableError) as error:
            ask(server)
    assert error.value.what == f"{of} cannot be read: Jolokia sends 2 items at most (maxCollectionSize)"


def test_an_attribute_that_can_only_be_written_is_there():
    """The JVM throws the same exception as for one that is not there; only the message differs."""
    kind = "javax.management.AttributeNotFoundException"

    def reply(one):
        return refused(kind, {"Set": "Write-only attribute: Set"}.get(one["attribute"], "No such attribute"))

    ((found,), _) = values_of(reply, ("a:b=c", ["Set", "None"]))
    assert isinstance(found["Set"], jmx.UnreadableError)
    assert (
        found["Set"].what
        == "Set of a:b=c cannot be read: AttributeNotFoundException: Write-only attribute: Set"
    )
    assert isinstance(found["None"], jmx.NoSuchAttributeError)


def test_one_error_for_many_questions_costs_the_one_that_causes_it():
    def reply(request, _):
        several = json.loads(request.partition(b"\r\n\r\n")[2])
        if any(one.get("attribute") == "A31" for one in several):
            return answer(refused("java.lang.IllegalStateException", "not now", 500))
        return answer([VERSION if one["type"] == "version" else told(1) for one in several])

    names = [f"A{number}" for number in range(60)]
    with serving(reply) as asked, connect(asked) as server:
        (found,) = server.read([("a:b=c", names)])
    bad = found.pop("A31")
    assert isinstance(bad, jmx.UnreadableError)
    assert bad.what == "A31 of a:b=c cannot be read: IllegalStateException: not now"
    assert found == dict.fromkeys([name for name in names if name != "A31"], 1)


def test_a_domain_that_is_not_there_has_no_beans():
    reply = refused("javax.management.InstanceNotFoundException", "No domain nosuch")
    with serving(agent(lambda _: reply)) as asked, connect(asked) as server:
        assert server.beans("nosuch:*") == []


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h:8/x?a=1", "http://h:8/x"),
        ("/other", "/other"),
        ("http://u:p@h/x", "http://h/x"),
        ("http://u:s3cr@t@h/x", "another place"),
        ("http://u:p/w@h", "another place"),
        ("http://h/x?u:p@i", "another place"),
        ("http://u:p/w?z@h", "another place"),
        ("http://u:p//w@h", "another place"),
        ("http://u:p?w@h/x", "another place"),
        ("http://u:p#w@h/x", "another place"),
        ("//u:p?w@h", "another place"),
        ("http://h?a=1", "http://h"),
    ],
)
def test_a_redirect_shows_no_login(url, shown):
    assert http._without_login(url) == shown


@pytest.mark.parametrize(
    "value",
    [
        {"indexNames": ["a"], "values": [{"a": 1, "t": "[Object limit exceeded]"}]},
        {"plain": "[Object limit exceeded]", "opaque": 1, "acquire": 1},
        {"indexNames": ["a"], "values": [{"a": nested(300)}]},
        {"seconds": 1, "nano": 10**400, "units": [], "zero": False, "negative": False},
        {"epochSecond": 10**30, "nano": 0},
        {"mostSignificantBits": 1 << 64, "leastSignificantBits": 0},
    ],
    ids=["row", "atomic", "deep", "huge", "instant", "uuid"],
)
def test_parts_of_objects_are_read_like_all_others(value):
    with pytest.raises(jmx.UnreadableError):
        plain(value, 0, lambda _: None)


def test_an_object_name_in_a_row_is_a_text():
    table = {"indexNames": ["a"], "values": [{"a": 1, "of": {"objectName": "d:t=1"}}]}
    assert plain(table, 0, lambda _: None) == {"1": {"a": 1, "of": "d:t=1"}}


def test_many_attributes_go_in_one_round_trip():
    names = [f"Attribute{number}" for number in range(60)]
    (found,), asked = values_of(lambda one: told(one["attribute"]), ("a:b=c", names))
    assert found == {name: name for name in names}
    assert len(asked) == 2  # with the greeting


def test_a_value_that_spoils_the_answer_costs_itself():
    def reply(request, _):
        questions = json.loads(request.partition(b"\r\n\r\n")[2])
        if questions[0]["type"] == "version":
            return answer([VERSION])
        if any(one["attribute"] == "A31" for one in questions):
            return answer(b'[{"status":200,"value":"\\u001;"}]')
        return answer([told(one["attribute"]) for one in questions])

    names = [f"A{number}" for number in range(60)]
    with serving(reply) as asked, connect(asked) as server:
        (found,) = server.read([("a:b=c", names)])
    bad = found.pop("A31")
    assert "A31 of a:b=c cannot be read: as JSON it is not valid" in bad.what
    assert found == {name: name for name in names if name != "A31"}


def test_an_attribute_that_hangs_costs_few_and_is_asked_twice(monkeypatch):
    """Whatever does not hang has all the time that a busy machine needs."""

    def reply(request, _):
        questions = json.loads(request.partition(b"\r\n\r\n")[2])
        if any(one.get("attribute") == "A31" for one in questions):
            return None
        return answer([VERSION if one["type"] == "version" else told(1) for one in questions])

    def post(self, body, deadline, patience=None):
        limit = patience and (0.2 if b'"A31"' in body else 20)
        return patient(self, body, deadline, limit)

    patient = questions.Agent.post
    monkeypatch.setattr(questions.Agent, "post", post)
    monkeypatch.setattr(questions, "_PROOF", 20)
    names = [f"A{number}" for number in range(60)]
    with serving(reply) as asked, connect(asked, seconds=120) as server:
        (found,) = server.read([("a:b=c", names)])
    hung = [name for name, one in found.items() if isinstance(one, jmx.UnreadableError)]
    assert hung == ["A30", "A31", "A32", "A33", "A34", "A35"]
    assert "no answer within" in found["A31"].what
    assert sum(b'"A31"' in one for one in asked) == 2


def test_of_a_short_time_half_is_left_to_see_whether_the_agent_answers(monkeypatch):
    given = []
    patient = questions.Agent.post

    def post(self, body, deadline, patience=None):
        given.append(patience)
        return patient(self, body, deadline, patience)

    monkeypatch.setattr(questions.Agent, "post", post)
    with serving(agent(lambda _: told(1))) as asked, connect(asked, seconds=4) as server:
        list(server.read([("a:b=c", ["A", "B"])]))
    assert 0 < given[-1] <= 2


def test_to_wait_for_the_beginning_of_an_answer_ends_in_time():
    with serving(lambda *_: None) as asked:
        one = http.Agent(jmx.Target(*asked.place, JOLOKIA, via="jolokia"), Deadline(60))
        with pytest.raises(SilentError):
            one.post(b"[]", Deadline(0.5), patience=60)
        one.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_port_that_says_nothing_costs_little_time(scheme, monkeypatch):
    wire, given = web.Wire, []
    monkeypatch.setattr(web, "Wire", lambda *at: given.append(at[2].seconds) or wire(*at))
    with loopback.serving(lambda _connection, _number, ended: ended.wait()) as place:
        assert web.spoken(*place, Deadline(60), scheme) is None
    assert given == [{"http": 0.5, "https": 3.0}[scheme]]


def test_an_agent_with_a_single_thread_that_is_slow_has_all_of_the_time(monkeypatch):
    """It answers nothing else meanwhile: to ask in parts would only take longer."""
    monkeypatch.setattr(questions, "_PATIENCE", 0.2)
    turn, tried, answers_at_all = threading.Lock(), threading.Event(), questions.Asking._answers_at_all

    def try_it(asking):
        found = answers_at_all(asking)
        tried.set()
        return found

    monkeypatch.setattr(questions.Asking, "_answers_at_all", try_it)

    def reply(request, _):
        several = json.loads(request.partition(b"\r\n\r\n")[2])
        with turn:
            assert several[0]["type"] != "read" or tried.wait(120)
            return answer([VERSION if one["type"] == "version" else told(1) for one in several])

    names = [f"A{number}" for number in range(60)]
    with serving(reply) as asked, connect(asked, seconds=30) as server:
        (found,) = server.read([("a:b=c", names)])
    assert found == dict.fromkeys(names, 1)
    assert sum(b'"A31"' in one for one in asked) == 1


def test_an_agent_that_stops_in_the_middle_ends_the_run_in_time(monkeypatch):
    monkeypatch.setattr(questions, "_PATIENCE", 0.2)

    def reply(request, _):
        is_greeting = b'"version"' in request and len(asked) == 1
        return answer([VERSION]) if is_greeting else None

    with (
        serving(reply) as asked,
        connect(asked, seconds=2) as server,
        pytest.raises(
            jmx.UnreachableError, match="has not answered within 2 s: asked for A of a:b=c and 1 more"
        ),
    ):
        list(server.read([("a:b=c", ["A", "B"])]))


def test_dates_are_asked_for_their_milliseconds():
    def reply(one):
        if one.get("path") == "time":
            return (
                told(1709210096789) if one["attribute"] == "Date" else refused("x.AttributeNotFoundException")
            )
        return told("2024-02-29T12:34:56Z")

    (found,), _ = values_of(reply, ("a:b=c", ["Date", "Text"]))
    assert found == {"Date": "2024-02-29T12:34:56.789Z", "Text": "2024-02-29T12:34:56Z"}


# who else may answer


@pytest.mark.parametrize(
    ("octets", "what", "advice"),
    [
        (answer(b"<html><title>Welcome</title>"), "HOST does not answer as Jolokia does: Welcome", "with -U"),
        (answer({"cluster_name": "search"}), "HOST does not answer as Jolokia does", "with -U"),
        (answer([{"status": 200, "value": {}}]), "HOST does not answer as Jolokia does", "with -U"),
        (answer([]), "HOST does not answer as Jolokia does: []", "with -U"),
        (answer(b""), "HOST closed the connection without a whole answer", "8778"),
        (answer(b"", "401 Unauthorized"),
         "HOST requires a user and a password (HTTP 401 Unauthorized)", "use -u"),
        (answer(b"", "403 Forbidden"), "HOST refuses access: HTTP 403 Forbidden", "jolokia-access.xml"),
        (answer([refused("java.lang.Exception", "No access from client 10.0.0.1 allowed", 403)]),
         "HOST refuses access: No access from client 10.0.0.1 allowed", "jolokia-access.xml"),
        (answer({"error": "no access"}, "403 Forbidden"),
         "HOST refuses access: HTTP 403 Forbidden: no access", "jolokia-access.xml"),
        (answer(b"<TITLE>No\nsuch page</TITLE>", "404 Not Found"),
         "HOST has no /jolokia/: HTTP 404 Not Found: No such page", "with -U"),
        (answer(b"", "502 Bad Gateway"), "HOST answered HTTP 502 Bad Gateway", "proxy"),
        (answer(b"load is 3 < 5 and 7 > 6", "503 x"),
         "HOST answered HTTP 503 Service Unavailable: load is 3 < 5 and 7 > 6", "proxy"),
        (answer(b"<!DOCTYPE html><style>b {}</style><p>Don&#39;t <b>ask</b> me</p>", "503 x"),
         "HOST answered HTTP 503 Service Unavailable: Don't ask me", "log"),
        (answer(b"", "599 Own words"), "HOST answered HTTP 599: Own words", "log"),
        (answer(b"", "401 Unauthorized", 'WWW-Authenticate: Digest realm="x"'),
         "HOST requires a log-in by Digest (HTTP 401 Unauthorized)", "allow Basic"),
        (answer(b"<h1>No</h1><p>", "405 x"),
         "HOST does not answer as Jolokia does, but HTTP 405 Method Not Allowed: No", "with -U"),
        (b"\x15\x03\x01\x00\x02\x02\x50\r\n", "HOST speaks TLS", "use -U https://127.0.0.1:"),
        (answer(b"\x1f\x8b\x08 compressed"), "HOST does not answer as Jolokia does: no text", "with -U"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n[]",
         "HOST sent HTTP that cannot be read", "proxy"),
        (b"220 mail.example ESMTP\r\n", "HOST does not speak HTTP: 220 mail.example ESMTP", "8778"),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200,
         "HOST does not speak HTTP: got more than 100 headers", "8778"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n[", "HOST has not answered within 1 s", "getter"),
    ],
)  # fmt: skip
def test_what_is_no_jolokia(octets, what, advice):
    said, hint, _ = failure(octets, seconds=1)
    assert said.startswith(what)
    assert advice in hint


def test_a_page_that_is_not_there_and_has_no_text():
    assert failure(answer(b"", "404 "))[0] == "HOST has no /jolokia/: HTTP 404 Not Found"


@pytest.mark.parametrize(
    ("ways", "kinds"),
    [
        (['Digest realm="basics"'], "Digest"),
        (['Digest realm="a, Basic b"', "Negotiate"], "Digest or Negotiate"),
        (['Digest realm="\\", Basic \\"", qop = auth, nonce=x'], "Digest"),
        (["Negotiate a==, Bearer realm=x"], "Negotiate or Bearer"),
        (['Basic realm="x"'], None),
        (['Digest realm="x", nonce="y", basic realm="z"'], None),
        (["Negotiate, Basic"], None),
        (["Negotiate", "BASIC"], None),
        ([""], None),
        ([" , "], None),
    ],
)
def test_a_log_in_that_is_not_supported_is_one_without_basic(ways, kinds):
    headers = [f"WWW-Authenticate: {way}" for way in ways]
    what = failure(answer(b"", "401 Unauthorized", *headers))[0]
    requires = f"a log-in by {kinds}" if kinds else "a user and a password"
    assert what == f"HOST requires {requires} (HTTP 401 Unauthorized)"


def test_a_port_without_tls_that_waits_for_more_is_named():
    with (
        serving(lambda *_: answer(b"", "404 Not Found")) as asked,
        pytest.raises(jmx.UnreachableError) as error,
    ):
        connect(asked, seconds=2, tls=jmx.Tls(wanted=True))
    where = "{}:{}".format(*asked.place)
    assert error.value.what == f"{where} speaks HTTP without TLS"
    assert error.value.advice == f"use -U http://{where}/jolokia"


def test_a_port_without_tls_is_named_long_before_the_time_is_up():
    deadline = Deadline(60)
    with serving(lambda *_: answer(b"", "404 Not Found")) as asked:
        target = jmx.Target(*asked.place, JOLOKIA, via="jolokia", tls=jmx.Tls(wanted=True))
        with pytest.raises(jmx.UnreachableError, match="speaks HTTP without TLS"):
            jmx.connect(target, deadline)
    assert deadline.left() > 30


def test_a_port_that_is_silent_in_the_handshake_may_be_a_jvm_that_hangs():
    with (
        loopback.serving(lambda _connection, _number, ended: ended.wait()) as (host, port),
        pytest.raises(jmx.UnreachableError) as error,
    ):
        connect(SimpleNamespace(place=(host, port)), seconds=2, tls=jmx.Tls(wanted=True))
    assert error.value.what == f"{host}:{port} has not answered within 2 s: TLS handshake"
    assert error.value.advice.startswith("check whether the JVM is stopped, in a long garbage collection")
    assert "http://" not in error.value.advice


def test_a_tls_handshake_that_is_slow_has_the_rest_of_the_time(tmp_path, monkeypatch):
    monkeypatch.setattr(http, "_HANDSHAKE", 0.2)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path, "slow"))
    probed = threading.Event()

    def play(connection, number, _):
        if number < 2:  # the first handshake is too slow, then it is tried whether it speaks HTTP
            if number:
                probed.set()
            assert probed.wait(60)
            return
        with context.wrap_socket(connection, server_side=True) as peer:
            if b'"version"' in peer.recv(65536) + peer.recv(65536):  # head and body
                peer.sendall(answer([VERSION]))

    with loopback.serving(play) as place:
        asked = SimpleNamespace(place=place)
        with connect(asked, seconds=60, tls=jmx.Tls(wanted=True, insecure=True)) as server:
            assert server.where == "{}:{}".format(*place)
    assert probed.is_set()


BAD = answer(b"plain HTTP was sent to a port for HTTPS", "400 Bad Request", "Connection: close")
GONE = answer(b"", "404 Not Found")


@contextlib.contextmanager
def requiring_tls(files, in_tls, in_clear=BAD, **settings):
    """A port that answers ``in_clear`` who does not begin TLS, and others ``in_tls``."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    for name, value in settings.items():
        setattr(context, name, value)

    def play(connection, *_):
        if connection.recv(1, socket.MSG_PEEK) != b"\x16":
            connection.recv(65536)
            connection.sendall(in_clear)
            return
        with context.wrap_socket(connection, server_side=True) as peer:
            peer.recv(65536)
            peer.sendall(in_tls)
            peer.unwrap()

    with loopback.serving(play) as place:
        yield place


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"), "agent")


def report(place, via="jolokia", seconds=10, **tls):
    """What is reported of a port, and the advice."""
    name = JOLOKIA if via == "jolokia" else "jmxrmi"
    with pytest.raises(jmx.UnreachableError) as error:
        jmx.connect(jmx.Target(*place, name, via=via, tls=jmx.Tls(**tls)), Deadline(seconds))
    where = "{}:{}".format(*place)
    return error.value.what.replace(where, "HOST"), error.value.advice.replace(where, "HOST")


OURS = {"wanted": True, "insecure": True}


@pytest.mark.parametrize("in_clear", [BAD, GONE], ids=["400", "404"])
@pytest.mark.parametrize(
    ("in_tls", "settings", "what", "advice"),
    [
        (b"", {}, "HOST closed the connection without a whole answer", "check the port"),
        (b"", {"maximum_version": ssl.TLSVersion.TLSv1_2, "verify_mode": ssl.CERT_REQUIRED},
         "HOST refused the TLS handshake (", "give it with --client-cert"),
        (b"\x15\x03\x01\x00\x02\x02\x50\r\n", {}, "what is behind HOST requires TLS", "proxy_pass https"),
    ],
)  # fmt: skip
def test_a_port_with_tls_is_not_to_be_asked_without(files, in_clear, in_tls, settings, what, advice):
    with requiring_tls(files, in_tls, in_clear, **settings) as place:
        said, hint = report(place, **OURS)
    assert said.startswith(what)
    assert advice in hint
    assert "http://" not in hint


@pytest.mark.parametrize("in_clear", [BAD, answer(b"", "301 Moved", "Location: https://a/")])
@pytest.mark.parametrize("ends", [lambda peer: peer.shutdown(socket.SHUT_WR), lambda _: None])
def test_who_hangs_up_in_the_handshake_and_answers_400_in_clear_may_have_tls(in_clear, ends):
    def play(connection, *_):
        if connection.recv(1, socket.MSG_PEEK) == b"\x16":
            ends(connection)
            return
        connection.recv(65536)
        connection.sendall(in_clear)

    with loopback.serving(play) as place:
        what, advice = report(place, **OURS)
    assert what == "HOST closed the connection without a whole answer"
    assert "http://" not in advice


def test_an_answer_in_clear_to_a_handshake_is_no_tls():
    def play(connection, number, _):
        connection.recv(65536)
        connection.sendall(GONE if number else BAD)

    with loopback.serving(play) as place:
        assert report(place, **OURS) == ("HOST speaks HTTP without TLS", "use -U http://HOST/jolokia")
    with loopback.serving(lambda connection, *_: play(connection, 0, _)) as place:
        what, advice = report(place, **OURS)
    assert what == "HOST does not speak TLS"
    assert advice == "use http:// (no --tls) if the agent has no TLS, or check the port"


def test_400_in_clear_where_tls_is_required(files):
    with requiring_tls(files, GONE) as place:
        assert report(place) == ("HOST speaks TLS", "use -U https://HOST/jolokia")
    with serving(lambda *_: BAD) as asked:
        what, advice = report(asked.place)
    assert what.startswith("HOST answered HTTP 400 Bad Request")
    assert "https://" not in advice


def test_rmi_at_a_port_that_requires_tls_and_answers_in_clear(files):
    with requiring_tls(files, GONE) as place:
        what, advice = report(place, via="rmi")
    assert what == "HOST speaks HTTPS, not JMX over RMI"
    assert advice == "if Jolokia is there, use -U https://HOST/jolokia; else check the JMX port"


def test_rmi_at_a_port_that_hangs_up_but_speaks_http_or_https(files):
    def play(connection, *_):
        if connection.recv(1, socket.MSG_PEEK) == b"G":
            connection.recv(65536)
            connection.sendall(GONE)

    with loopback.serving(play) as place:
        assert report(place, via="rmi")[0] == "HOST speaks HTTP, not JMX over RMI"
    with requiring_tls(files, GONE, b"") as place:
        assert report(place, via="rmi")[0] == "HOST speaks HTTPS, not JMX over RMI"


def test_what_breaks_tls_after_the_handshake_is_not_the_port(files):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)

    def play(connection, *_):
        with context.wrap_socket(connection, server_side=True) as peer:
            peer.recv(65536)
            os.write(peer.fileno(), GONE)
            with contextlib.suppress(OSError):  # what is not read when it closes would reset the connection
                while os.read(peer.fileno(), 65536):
                    pass

    with loopback.serving(play) as place:
        what, advice = report(place, **OURS)
    assert what == "HOST sent TLS that cannot be read"
    assert "proxy" in advice


def test_rmi_at_a_port_of_which_only_400_in_clear_is_known():
    def play(connection, *_):
        connection.recv(65536)
        connection.sendall(BAD)

    with loopback.serving(play) as place:
        what, advice = report(place, via="rmi")
    assert what == "HOST speaks HTTP, not JMX over RMI"
    assert "http" not in advice


def test_rmi_names_an_http_port_that_waits_for_more():
    with (
        serving(lambda *_: answer(b"", "404 Not Found")) as asked,
        pytest.raises(jmx.UnreachableError) as error,
    ):
        jmx.connect(jmx.Target(*asked.place), Deadline(60))
    where = "{}:{}".format(*asked.place)
    assert error.value.what == f"{where} speaks HTTP, not JMX over RMI"
    assert f"if Jolokia is there, use -U http://{where}/jolokia" in error.value.advice


@pytest.mark.parametrize(
    ("octets", "what"),
    [
        (None, "closed the connection without a whole answer"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n[", "closed the connection without a whole answer"),
        (b"?\r\n\r\n", "sent HTTP that cannot be read"),
        (answer(b"<title>Log in</title>"), "does not answer as Jolokia does: Log in"),
        (answer([{"status": 200, "value": 1}] * 2), "does not answer as Jolokia does: "),
        (answer([]), "does not answer as Jolokia does: []"),
    ],
)
def test_where_jolokia_has_answered_the_port_is_not_doubted(octets, what):
    def reply(request, connection):
        if b'"version"' in request:
            return answer([VERSION])
        connection.sendall(octets or b"")
        raise ConnectionError

    with (
        serving(reply) as asked,
        connect(asked) as server,
        pytest.raises(jmx.UnreachableError, match=re.escape(what)) as error,
    ):
        server.names("a:*")
    assert error.value.advice == "check whether the JVM restarts, and for a proxy in between"


@pytest.mark.parametrize("found", [[1], ["a:b=c", None], ["nothing"], {"a:b=c": 1}, "a:b=c"], ids=repr)
def test_names_that_are_none_are_unreadable(found):
    with (
        serving(agent(lambda _: told(found))) as asked,
        connect(asked) as server,
        pytest.raises(jmx.UnreadableError, match="no list of names came"),
    ):
        server.names("a:*")


def test_a_registry_that_is_only_slow_is_waited_for(monkeypatch):
    """Its first answer comes after it was tried whether it is an HTTP server; only that one is asked for."""
    monkeypatch.setattr(session, "_REGISTRY", 0.2)
    registry, log_in = jmx_bytes.load("attribute")
    begun = []

    def slow(connection, number, ended):
        begun.append(connection.recv(4))
        if number:
            ended.wait()
        while connection.recv(4096):
            pass
        connection.sendall(registry)

    def play(connection, *_):
        connection.recv(4096)
        connection.sendall(log_in)
        while connection.recv(4096):
            pass

    with loopback.serving(slow) as (host, port), loopback.serving(play) as (_, rmi_port):
        target = jmx.Target(host, port, rmi_host=host, rmi_port=rmi_port, user="me", password="secret")
        with jmx.connect(target, Deadline(30)) as server:
            assert jmx_bytes.ASKED["attribute"](server)
    assert begun == [b"JRMI", b"GET "]


@pytest.mark.parametrize("seconds", [2, 60])
def test_rmi_names_an_http_port_with_one_thread(seconds):
    """Which reads on until its first client has sent a whole request, or has ended."""
    thread = threading.Lock()

    def play(connection, *_):
        with thread:
            octets = b""
            while b"\r\n\r\n" not in octets:
                octets += (more := connection.recv(4096))
                if not more:
                    return
            connection.sendall(GONE)

    with loopback.serving(play) as place:
        assert report(place, via="rmi", seconds=seconds)[0] == "HOST speaks HTTP, not JMX over RMI"


def test_a_log_in_without_tls_where_it_is_required_is_not_sent():
    registry, _ = jmx_bytes.load("attribute")

    def play(connection, *_):
        connection.recv(4096)
        connection.sendall(registry)
        connection.recv(4096)

    with loopback.serving(play) as place:
        what, advice = report(place, via="rmi", wanted=True)
    assert what == "HOST accepts log-ins only without TLS: nothing was sent"
    assert "jmxremote.ssl=true" in advice


@pytest.mark.parametrize(
    "reported",
    [
        "not JMX over RMI", "speaks TLS", "speaks HTTP without TLS", "refused the TLS handshake",
        "requires TLS", "requires a log-in by",
    ],
)  # fmt: skip
def test_the_sheet_shows_what_to_do_where_another_server_answers(reported):
    table = SHEET.read_text().partition("## What to do")[2]
    assert any(reported in row.split("|")[1] for row in table.splitlines() if row.startswith("|"))


def test_the_sheet_makes_a_keystore_that_nobody_else_can_read():
    lines = SHEET.read_text().splitlines()
    made = next(number for number, line in enumerate(lines) if "keytool -genkeypair" in line)
    assert lines[made].startswith("    (umask 077; keytool ")
    assert lines[made + 1] == "    chown cassandra: /etc/jolokia.p12"


def test_a_slow_registry_behind_a_proxy_that_ends_both_sides_is_asked_again(monkeypatch):
    monkeypatch.setattr(session, "_REGISTRY", 0.2)
    begun = []

    def play(connection, number, ended):
        begun.append(connection.recv(4))
        if number == 0:
            while connection.recv(4096):  # nothing is said until the other side hangs up
                pass

    with loopback.serving(play) as place, pytest.raises(jmx.UnreachableError, match="closed the connection"):
        jmx.connect(jmx.Target(*place), Deadline(30))
    assert begun[:3] == [b"JRMI", b"GET ", b"JRMI"]


@pytest.mark.parametrize("cut", [0, 30, 60])
def test_an_answer_that_is_cut_off(cut):
    whole = answer([VERSION])

    def reply(_, connection):
        connection.sendall(whole[:cut])
        raise ConnectionError

    with serving(reply) as asked, pytest.raises(jmx.UnreachableError, match="without a whole answer"):
        connect(asked)


def test_a_connection_that_the_agent_has_closed_meanwhile_is_made_anew():
    def reply(request, connection):
        if len(asked) == 2:
            raise ConnectionError
        questions = json.loads(request.partition(b"\r\n\r\n")[2])
        return answer([VERSION if one["type"] == "version" else told(1) for one in questions])

    with serving(reply) as asked, connect(asked) as server:
        assert list(server.read([("a:b=c", ["A"])])) == [{"A": 1}]


def test_a_redirect_is_not_followed_and_gets_no_password():
    with serving(lambda *_: answer([VERSION])) as elsewhere:
        there = "http://me:{}@{}:{}/jolokia?x=1".format(SECRET, *elsewhere.place)
        what, advice, asked = failure(
            answer(b"", "302 Found", f"Location: {there}"), user="me", password=SECRET
        )
    assert re.search(r"redirects /jolokia/ to http://127\.0\.0\.1:\d+/jolokia: nothing was sent there", what)
    assert "with -U" in advice
    assert not elsewhere
    assert len(asked) == 1


@pytest.mark.parametrize(
    "octets",
    [
        answer(f"<html><title>Hello {SECRET}</title>".encode()),
        answer(f"<p>Hello {SECRET}</p>".encode(), "500 no"),
        answer("<p>Hello {}</p>".format("".join(f"&#{ord(one)};" for one in SECRET)).encode(), "500 no"),
        answer(b"<i></i>" * 584 + SECRET.encode(), "500 no"),
        answer(b"", f"599 Hello {SECRET}"),
        answer(b"", "302 Found", f"Location: http://h/{SECRET}"),
        answer(b"", "401 no", f"WWW-Authenticate: {SECRET} x=y"),
        f"{SECRET} ESMTP\r\n".encode(),
        f"HTTP/1.1 {SECRET} OK\r\n\r\n".encode(),
    ],
    ids=["title", "page", "escaped", "cut", "reason", "redirect", "way", "greeting", "status"],
)
def test_what_another_server_answers_does_not_show_the_password(octets):
    withheld.keep(SECRET)
    try:
        said, hint, _ = failure(octets, user="me", password=SECRET)
    finally:
        withheld.end()
    assert "withheld" in said
    assert not re.search(SECRET[:5], said + hint)


def test_a_wrong_password_is_not_shown():
    said, hint, asked = failure(answer(SECRET.encode(), "401 no " + SECRET), user="me", password=SECRET)
    assert said == "HOST denied access to the user me (HTTP 401 Unauthorized)"
    assert SECRET not in hint
    assert b"Authorization: Basic bWU6VHIwdWI0ZG9yM3g=" in asked[0]
    for reply in (
        answer(SECRET.encode(), "500 no"),
        answer(f"<html><title>no {SECRET}</title>".encode(), "500 no"),
        answer(f"<html><title>no {SECRET}</title>".encode()),
        answer(b"", f"500 no {SECRET}"),
        answer(b"", f"404 no {SECRET}"),
    ):
        said, hint, _ = failure(reply, user="me", password=SECRET)
        assert SECRET not in said + hint


@pytest.mark.parametrize(
    ("other", "own", "sent"),
    [
        ("127.0.0.1", "127.0.0.1", True),
        ("::1", "::1", True),
        ("::ffff:127.0.0.1", "::ffff:127.0.0.1", True),
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", False),
    ],
)
def test_without_tls_the_password_leaves_this_host_only_if_that_is_allowed(other, own, sent):
    family = socket.AF_INET6 if ":" in other else socket.AF_INET
    peer = SimpleNamespace(family=family, getpeername=lambda: (other, 1), getsockname=lambda: (own, 2))
    target = jmx.Target("db1", 8778, JOLOKIA, user="me", password=SECRET, via="jolokia")
    if not sent:
        with pytest.raises(jmx.UnreachableError, match="asked without TLS: the password was not sent"):
            http.Agent(target, Deadline(5))._may_be_read(peer)
    for allowed in (
        target._replace(cleartext=True),
        target._replace(user=None, password=None),
        *[target] * sent,
    ):
        http.Agent(allowed, Deadline(5))._may_be_read(peer)


def test_an_agent_that_is_silent_or_slow_ends_the_run_in_time():
    def drip(_, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        for _ in range(100):
            connection.sendall(b" ")
            time.sleep(0.1)
        return b""

    for reply in (lambda *_: None, drip):
        with (
            serving(reply) as asked,
            pytest.raises(jmx.UnreachableError, match="has not answered within 1 s"),
        ):
            connect(asked, seconds=1)


def test_an_answer_without_end_is_not_read():
    def endless(_, connection):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n[")
        while True:
            connection.sendall(b" " * 65536)

    with serving(endless) as asked, pytest.raises(jmx.UnreachableError, match="its JSON is too long"):
        connect(asked)


# where it is


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://h:8778/jolokia", ("h", 8778, "/jolokia/", False)),
        ("http://h:8778", ("h", 8778, "/jolokia/", False)),
        ("https://h/", ("h", 443, "/jolokia/", True)),
        ("HTTP://[::1]:81/actuator/jolokia/", ("::1", 81, "/actuator/jolokia/", False)),
    ],
)
def test_urls(url, read):
    assert from_http_url(url) == read


@pytest.mark.parametrize(
    "url",
    ["http://", "http://:1/x", "http://h:0/", "http://h:70000/", "http://h/a b", "http://h/?x=1", "ftp://h/"],
)
def test_what_is_no_url(url):
    with pytest.raises(NotUnderstoodError):
        from_http_url(url)


def test_a_password_in_a_url_is_refused_and_not_shown():
    with pytest.raises(NotUnderstoodError) as error:
        from_http_url(f"http://me:{SECRET}@h/jolokia")
    assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("ask", "command", "advice"),
    [
        (lambda server: server.names("a:*"), "search", "version, list, search and read"),
        (lambda server: server.domains(), "list", "version, list, search and read"),
        (lambda server: server.deadlocked_threads(), "exec", "findDeadlockedThreads of Threading alone"),
    ],
    ids=["search", "list", "exec"],
)
def test_a_command_that_the_policy_forbids_is_named_with_all_that_are_needed(ask, command, advice):
    def reply(one):
        text = f"Command type {one['type'].upper()} not allowed due to policy used"  # of 2.1.1
        return refused("java.lang.SecurityPolicyException", text, 403)

    with (
        serving(agent(reply)) as asked,
        connect(asked) as server,
        pytest.raises(jmx.UnreadableError) as error,
    ):
        ask(server)
    assert error.value.what.endswith(f" does not allow the command {command}")
    assert error.value.what.startswith("the policy of Jolokia at 127.0.0.1:")
    assert advice in error.value.advice


def test_paths_are_escaped():
    assert questions.path("a/b!c", "d") == "a!/b!!c/d"
