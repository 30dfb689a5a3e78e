"""The list of all that a JVM shows: no secret of ours is in it, however it is quoted and cut."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from stallwatch import withheld
from stallwatch.probes.jmx.listing import JsonLines, Text, Wanted, listing
from stallwatch.sources.jmx.failures import of_bean
from stallwatch.sources.jmx.info import Attribute, Bean

BEAN = Bean("target:type=Trouble", "Trouble")


def listed(style, values, *secrets):
    withheld.begin(())
    for secret in secrets:
        withheld.keep(secret)
    attributes = [Attribute(name, "java.lang.String", readable=True, writable=False) for name in values]
    server = SimpleNamespace(
        where="here",
        beans=lambda _: [BEAN],
        describe=lambda _: [attributes],
        read=lambda _: [values],
        passing=lambda: nullcontext(lambda _: None),
    )
    assert [*listing(server, Wanted("*"), style, lambda _: None, values=True)] == []
    return "".join(style.written)


@pytest.fixture(params=[lambda: Text(more=True), JsonLines], ids=["text", "json"])
def style(request):
    return request.param()


@pytest.mark.parametrize("secret", ["S3cretPassw0rd", 'pa"ss\\w\u00a0ord|%', "two words\tof it"])
@pytest.mark.parametrize("before", [0, 150, 178, 190, 195, 500])
def test_no_secret_is_in_a_value_wherever_it_is_cut(style, secret, before):
    said = listed(style, {"Good": "x" * before + secret + "y" * 100}, secret)
    for form in (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]):
        assert form[:6] not in said
    assert withheld.WITHHELD in said


def test_no_secret_is_in_a_key_or_an_error(style):
    withheld.keep("S3cret")
    why = of_bean(OSError("no S3cret"), BEAN.name, "Good", "here")
    values = {"Good": why, "Map": {"S3cret": ["S3cret"]}}
    assert "S3cret" not in listed(style, values, "S3cret")


def test_names_are_what_they_are(style):
    assert "Verbose" in listed(style, {"Verbose": "e"}, "e")


def test_the_words_of_our_own_stay_what_they_are():
    (line,) = listed(JsonLines(), {"Good": "text"}, "name", "bean", "value").splitlines()
    bean = json.loads(line)
    assert [*bean] == ["bean", "class", "attributes"]
    assert [*bean["attributes"][0]] == ["name", "type", "access", "value"]


def test_what_would_disturb_a_terminal_is_an_escape_in_json():
    said = listed(JsonLines(), {"Good": "\x1b[31m\u202e\u2028\x9b"})
    assert said.strip().isprintable()
    assert json.loads(said)["attributes"][0]["value"] == "\x1b[31m\u202e\u2028\x9b"


@pytest.mark.parametrize(
    ("word", "shown"),
    [("size", ["shop:type=Till", "PoolSize"]), ("till", ["shop:type=Till", "PoolSize", "Name"])],
)
def test_a_word_finds_attributes_and_beans_by_their_names(word, shown):
    beans = {"shop:type=Till": ("PoolSize", "Name"), "shop:type=Door": ("Open",)}
    server = SimpleNamespace(
        where="here",
        beans=lambda _: [Bean(name, "Bean") for name in beans],
        domains=lambda: ["shop"],
        describe=lambda asked: [
            [Attribute(name, "int", readable=True, writable=False) for name in beans[bean.name]]
            for bean in asked
        ],
        passing=lambda: nullcontext(lambda _: None),
    )
    style = Text(more=False)
    assert [*listing(server, Wanted(word), style, lambda _: None, values=False)] == []
    written = "".join(style.written)
    every = [word for name, attributes in beans.items() for word in (name, *attributes)]
    assert [word for word in every if word in written] == shown
    (none,) = listing(server, Wanted("nowhere"), Text(more=False), lambda _: None, values=False)
    assert none.what == "no MBean or attribute at here has nowhere in its name"
