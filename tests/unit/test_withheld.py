"""What others wrote is shown without our password, and nobody reads the password off what is missing."""

import ast
import base64
import binascii
import json
import re
import urllib.parse
from pathlib import Path

import pytest
from stallwatch import withheld
from stallwatch.line import clean
from stallwatch.withheld import WITHHELD, data, message, struck

ROOT = Path(__file__).parents[2]
ORDINARY = (
    "replica", "mp", "a", "1", "OK", "UNKNOWN", "s", "password", "root",
    "SELECT", "3306", "Table", "list", "Connection", "read-only", "error",
)  # fmt: skip
RANDOM = "kW7vQ2mZx9"
# As servers, JVMs and logs say them, with words that a password may be.
SENTENCES = (
    "Table 'app.t' doesn't exist",
    "The replica is connecting using SOURCE_AUTO_POSITION = 1, but a UNKNOWN source, root of OK, has purged",
    "You have an error in your SQL syntax near 'SELEC' at line 1, Table 3306",
    "Access denied for user 'mon'@'db1' (using password: YES)",
    "Got error 4009 'Cluster Failure' from NDB",
    "Unknown column 'x' in 'field list'",
    "error connecting to source 'repl@10.0.0.1:3306' - message: Can't connect (111 \"Connection refused\")",
    "Error 'Duplicate entry '5' for key 't.x'' on query. Query: 'UPDATE replica SET a = 1 WHERE mp (OK)'",
    "The server is running with the --read-only option so it cannot execute this statement",
    "relay log empty, SELECT s from a replica's mp; password is root",
)


def told(password, *arguments):
    withheld.begin(arguments)
    withheld.keep(password)
    return password


@pytest.mark.parametrize("password", ORDINARY)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_words_that_a_server_says_to_everybody_are_the_same_with_any_password(password, sentence):
    told(RANDOM)
    other = message(sentence)
    told(password)
    assert message(sentence) == other != WITHHELD


@pytest.mark.parametrize("password", [*ORDINARY, RANDOM, "x7!", "it's me", 'pa"ss\\w', "two  words"])
@pytest.mark.parametrize(
    "sentence",
    [
        "no, {}, and not '{}'", "Table 'app.{}' doesn't exist", 'unknown value "{}"', "{}", " {}\n",
        "field `{}`",
        "Error 'Duplicate entry '{}' for key 't.PRIMARY'' on query. Query: 'INSERT INTO t VALUES (5)'",
        "`shop`.`{}` is no table", "key '{}.PRIMARY'",
        "its end was cut off behind '{}",
    ],
)  # fmt: skip
def test_a_sentence_with_the_password_as_a_value_is_withheld_as_a_whole(password, sentence):
    told(password)
    assert message(sentence.replace("{}", password)) == WITHHELD


@pytest.mark.parametrize("password", ORDINARY)
def test_of_data_each_word_is_a_value_and_a_part_of_a_word_is_none(password):
    told(password)
    assert data(f"it is {password}!") == data(f"x={password}") == WITHHELD
    within = f"x{password}x 0{password}0 {password}_of"
    assert data(within) == within


@pytest.mark.parametrize("word", ["app", "t", "1", "SELECT", "select"])
def test_what_is_shown_beside_it_anyway_is_no_reason(word):
    told(word)
    said, asked = f"Unknown column '{word}' in 'field list'", "SELECT 1 FROM app.t"
    assert message(said) == WITHHELD
    assert message(said, asked) == said
    assert data(word, asked) == word


def test_nor_is_what_the_user_gave():
    said = "Unknown database 'shop' of 'mon'"
    told("shop", "-D", "shop")
    assert message(said) == said
    told("mon", "-u", "mon", "-w", "1")
    assert message(said) == said
    told("1", "-u", "mon", "-w", "1")
    assert message("'1'") == WITHHELD


@pytest.mark.parametrize(
    "given",
    [
        ("-p", "shop"),
        ("-pshop",),
        ("-vpshop",),
        ("--password", "shop"),
        ("--password=shop",),
        ("-H10.0.0.1",),
    ],
)
def test_but_not_the_password_option_itself(given):
    told("shop", *given)
    assert message("Unknown database 'shop'") == WITHHELD
    told("1", *given)
    assert message("Unknown database '1'") == WITHHELD


# encodings


def forms(password):
    octets = password.encode()
    yield from (octets.hex(), octets.hex().upper(), binascii.hexlify(octets, "-").decode().replace("-", ""))
    yield from (
        urllib.parse.quote(password),
        urllib.parse.quote(password, safe=""),
        urllib.parse.quote_plus(password),
    )
    yield from (json.dumps(password, ensure_ascii=False)[1:-1], repr(password)[1:-1])
    for user in ("", "m", "mo", "mon"):
        yield base64.b64encode(f"{user}:{password}".encode()).decode()
        yield base64.urlsafe_b64encode(f"{user}:{password}:x".encode()).decode()


@pytest.mark.parametrize("password", [RANDOM, "replica9pw", "s3cret|%s\\'\"=ü", "pa ss/wo+rd-??>"])
def test_it_is_known_as_others_write_it(password):
    told(password)
    for form in forms(password):
        assert message(f"no: {form}.") == WITHHELD, form
        assert data(f"x{form}") == WITHHELD or len(password) < 8, form


def test_what_is_not_there_by_chance_is_known_within_a_word():
    told(RANDOM)
    assert message(f"x{RANDOM}x") == WITHHELD


# passwords by what they are called


@pytest.mark.parametrize("password", ["replica", RANDOM, "another"])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("CREATE USER x IDENTIFIED BY 'replica' REQUIRE SSL", "CREATE USER x IDENTIFIED BY ***"),
        ("ALTER USER x IDENTIFIED WITH p AS 'replica'", "ALTER USER x IDENTIFIED WITH ***"),
        ("SET PASSWORD FOR 'x'@'%' = PASSWORD('replica')", "SET PASSWORD FOR***"),
        ("CHANGE MASTER MASTER_PASSWORD = 'rep''lica', A=1", "CHANGE MASTER MASTER_PASSWORD = ***, A=1"),
        ("xtrabackup --user=x --password=replica --backup", "xtrabackup --user=x --password=*** --backup"),
        ("mysqldump -preplica shop", "mysqldump -p*** shop"),
        ("jdbc:mysql://x:replica@db1/shop?a=b", "jdbc:mysql://x:***@db1/shop?a=b"),
        ('{"user": "x", "password": "replica"}', '{"user": "x", "password": ***}'),
        ("-Djavax.net.ssl.keyStorePassword=replica -Xmx1g", "-Djavax.net.ssl.keyStorePassword=*** -Xmx1g"),
        ("wrong (using password: replica)", "wrong (using password: ***)"),
        ("Authorization: Basic bW9uOnJlcGxpY2E=", "Authorization: Basic ***"),
    ],
)  # fmt: skip
def test_what_is_called_a_password_is_left_out_whatever_ours_is(password, text, shown):
    told(password)
    assert message(text) == shown
    if password == RANDOM:
        assert data(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Access denied for user 'x'@'y' (using password: YES)",
        "You must SET PASSWORD before executing this statement",
        "Plugin 'caching_sha2_password' could not be loaded: no such file",
        "Authentication plugin 'sha256_password' reported error: Authentication requires secure connection.",
        "Your password has expired. To log in you must change it",
    ],
)
def test_what_is_said_of_passwords_stays(text):
    told(RANDOM)
    assert message(text) == text


# what has slipped through


def test_a_password_that_looks_random_is_taken_out_of_all_that_is_shown():
    told(RANDOM)
    assert struck(f"x {RANDOM}, x{RANDOM}x") == "x ***, x***x"
    assert struck(f"{RANDOM[:9]}... {RANDOM[:4]}... {RANDOM[:3]}...") == f"***... ***... {RANDOM[:3]}..."


@pytest.mark.parametrize("password", [*ORDINARY, "correct horse", "s3cret", "--s3cret=verbose", "lag=2s;60"])
def test_no_other_is_as_it_may_be_a_part_of_our_own_words(password):
    told(password)
    assert struck(f"x {password}") == f"x {password}"


def test_nor_is_one_that_the_user_gave_as_something_else():
    told(RANDOM, "-H", RANDOM)
    assert struck(f"x {RANDOM}") == f"x {RANDOM}"


def test_our_own_words_hold_nothing_that_looks_random():
    never_shown = {"UnicastRef2"}  # a class of Java's
    found = set()
    for path in (*ROOT.glob("lib/stallwatch/**/*.py"), *ROOT.glob("plugins/check_*")):
        nodes = ast.walk(ast.parse(path.read_text()))
        texts = (str(node.value) for node in nodes if isinstance(node, ast.Constant))
        words = (word for text in texts for word in re.findall("[A-Za-z0-9]+", text))
        found |= {word for word in words if withheld._is_random(word)}
    assert found <= never_shown


# runs


def test_a_run_forgets_the_passwords_of_the_one_before():
    told(RANDOM)
    withheld.begin(())
    assert message(f"'{RANDOM}'") == f"'{RANDOM}'"
    withheld.keep("")
    withheld.keep(None)
    assert message("''") == "''"


def test_any_text_is_taken():
    told("\udcff\udcfe'secret")
    assert message("no '\udcff\udcfe'secret'") == WITHHELD
    assert clean(message("caf\udce9 | 'x")) == "caf? / 'x"


def test_no_password_stays_in_a_pattern_after_the_run():
    withheld.begin(["-u", "Hunter"])
    withheld.keep("Hunter2Hunter")
    withheld.message("it is 'Hunter2Hunter'", "Hunter2Hunter")
    withheld.end()
    assert "hunter2hunter" not in f"{re._cache} {vars(withheld)}".casefold()
