# ruff: noqa: E501 - what is said is written as it is said
"""What the options of check_jmx say of which quantity."""

import pytest
from stallwatch.findings import State
from stallwatch.frame.usage import UsageError
from stallwatch.probes.jmx.options import check, quantities
from stallwatch.thresholds import Range

HEAP = "java.lang:type=Memory"


@pytest.fixture
def asked():
    """Give the quantities that a command line asks for."""
    return lambda *words: quantities(check.parser.parse(list(words)))


def test_what_stands_behind_an_attribute_belongs_to_it(asked):
    one, two = asked("-O", "a:b=c", "-A", "X", "-K", "k/l", "-w", "5", "-A", "Y", "--unit", "B", "-w", "1K")
    assert (str(one.asked), one.attribute, one.path, one.unit, one.limits) == (
        "a:b=c", "X", ("k", "l"), "", {"warning": Range("5")},
    )  # fmt: skip
    assert (str(two.asked), two.attribute, two.path, two.unit, two.limits) == (
        "a:b=c", "Y", (), "B", {"warning": Range("1024")},
    )  # fmt: skip


def test_what_comes_first_belongs_to_all_and_what_follows_an_object_to_its_attributes(asked):
    first, second, third = asked(
        "-c", "9", "--missing", "ok", "-O", "a:b=1", "-w", "1", "-A", "X", "-A", "Y", "-w", "2",
        "-O", "a:b=2", "--missing", "critical", "-A", "Z",
    )  # fmt: skip
    assert [str(one.asked) for one in (first, second, third)] == ["a:b=1", "a:b=1", "a:b=2"]
    assert [str((one.limits or {}).get("warning")) for one in (first, second, third)] == ["1", "2", "None"]
    assert {str((one.limits or {})["critical"]) for one in (first, second, third)} == {"9"}
    assert [one.missing for one in (first, second, third)] == [State.OK, State.OK, State.CRITICAL]


@pytest.mark.parametrize(
    "words",
    [
        ("-O", HEAP, "-A", "HeapMemoryUsage", "-K", "used", "-w", "5"),
        ("-w", "5", "-K", "used", "-A", "HeapMemoryUsage", "-O", HEAP),
        ("-A", "HeapMemoryUsage", "-w", "5", "-O", HEAP, "-K", "used"),
        ("-K", "used", "-O", HEAP, "-w", "5", "-A", "HeapMemoryUsage"),
    ],
)
def test_with_a_single_quantity_any_order_will_do(asked, words):
    assert asked(*words) == asked("-O", HEAP, "-A", "HeapMemoryUsage", "-K", "used", "-w", "5")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "what is to be read? Give -O OBJECT -A ATTRIBUTE; --list shows all"),
        (("-A", "X"), "what is to be read? Give -O OBJECT -A ATTRIBUTE; --list shows all"),
        (("-O", "a:b=c"), "-O a:b=c has no -A: --list 'a:b=c' shows what attributes there are"),
        (("-A", "X", "-O", "a:b=1", "-O", "a:b=2", "-A", "Y", "-O", "a:b=3"), "-O a:b=3 has no -A:"),
        (("-O", "a", "-A", "X"), '"a" is no object name'),
        (("-O", "a:b=c", "-A", "X", "-K", "k", "-K", "l"), "-K is there twice: repeat -A"),
        (("-O", "a:b=c", "-A", "X", "--rate", "--delta"), "--rate or --delta is there twice"),
        (("-O", "a:b=c", "-A", "X", "--match", "["), '--match "[" is not a regular expression: '),
        (("-O", "a:b=c", "-A", "X", "--match", "x", "--match", "y"), "--match is there twice: repeat -A"),
        (("-O", "a:b=c", "-A", "X", "--match", "x", "-w", "5"), "--warning is for numbers: --mismatch sets the state of a --match"),
        (("-c", "5", "-O", "a:b=c", "-A", "X", "--match", "x", "-A", "Y", "--match", "z"), "--critical is for numbers"),
        (("-O", "a:b=1", "-c", "5", "-A", "X", "--match", "x", "-O", "a:b=2", "-A", "X"), "--critical is for numbers"),
        (("-O", "a:b=c", "-A", "X", "--match", "x", "--unit", "ms"), "--unit is for numbers"),
        (("-O", "a:b=c", "-A", "X", "--mismatch", "warning"), "--mismatch is for text: it needs the --match that it is about"),
        (("-O", "a:b=c", "-A", "X", "--of", ""), "--of is empty: write what it is a share of, as --of max"),
        (("-O", "a:b=c", "-A", "X", "--label", "{nope}"), "--label {nope}: a:b=c has no key property nope"),
        (("-O", "a:b=*", "-A", "X", "--of", "a:c={d}/Y"), "--of a:c={d}: a:b=* has no key property d"),
        (("-O", "a:b=c", "-A", "X", "--unit", "share", "-c", "0.2:"), 'argument -c/--critical: range "0.2:": write a share in per cent with its sign, 0.2 as 20%'),
        (("-O", "a:b=c", "-A", "X", "--unit", "share", "-w", "@5%:50"), 'argument -w/--warning: range "@5%:50": write a share'),
        (("-O", "a:b=c", "-A", "X", "--match", "x", "--rate"), "--match and --rate do not go together"),
        (("-O", "a:b=c", "-A", "X", "--of", "Y", "--per", "Z"), "--of and --per do not go together"),
        (("-O", "a:b=c", "-A", "X", "--age", "--delta"), "--age and --delta do not go together"),
        (("-O", "a:b=c", "-A", "X", "--age", "--unit", "B"), "--age and --unit B do not go together"),
        (("-O", "a:b=c", "-A", "X", "--match", "x", "--no-match", "y"), "--match and --no-match do not go together"),
        (("-O", "a:b=c", "-A", "X", "--no-match", "x", "--age"), "--no-match and --age do not go together"),
        (("-O", "a:b=*", "-A", "X", "--match", "x", "--aggregate", "sum"), "--aggregate sum is for numbers: "),
        (("-O", "a:b=*", "-A", "X", "--match", "x", "--aggregate", "count", "--mismatch", "warning"), "--mismatch is for text"),
        (("-O", "a:b=c", "-A", "X", "--aggregate", "count", "--of", "Y"), "--aggregate count and --of do not go together"),
        (("-O", "a:b=*", "-A", "X", "--label", "x"), "--label x would be the same for all beans: put {b} into it"),
        (("-O", "a:*", "-A", "X", "--label", "{b}", "--aggregate", "sum"), "--label {b}: an --aggregate has no {b}"),
        (("-O", "a:b=c", "-A", "X", "--of", "a:b=d"), '--of "a:b=d" names no attribute: write OBJECT/ATTRIBUTE'),
        (("-O", "a:b=c", "-A", "X", "--of", "a:b=*/Y"), '--of "a:b=*/Y" is to name one MBean: no * and ?'),
        (("-O", "a:b=c", "-A", "X", "--unit", "ms", "-w", "5x"), 'argument -w/--warning: range "5x": "5x" is not a time'),
        (("-O", "a:b=c", "-A", "X", "--of", "Y", "-c", "5M"), 'argument -c/--critical: range "5M": "5M" is not a percentage'),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_a_sentence(asked, words, sentence):
    with pytest.raises(UsageError) as refused:
        asked(*words)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        (("--unit", "ms"), "0.5"),
        (("--unit", "KiB"), "512000"),
        (("--unit", "ns"), "0.0000005"),
        (("--unit", "MiB", "--of", "Y"), "500"),
        (("--unit", "ms", "--aggregate", "count"), "500"),
        (("--unit", "c", "--rate"), "500"),
        ((), "500"),
    ],
)
def test_a_bare_number_of_a_range_is_counted_as_the_attribute_is(asked, options, limit):
    (quantity,) = asked("-O", "a:b=c", "-A", "X", "-w", "500", *options)
    assert (quantity.limits or {})["warning"].end == float(limit)


def test_a_number_with_a_suffix_means_what_it_says(asked):
    (quantity,) = asked("-O", "a:b=c", "-A", "X", "--unit", "ms", "-w", "@100:2s", "-c", "~:1e3")
    assert {level: str(limit) for level, limit in (quantity.limits or {}).items()} == {
        "warning": "@0.1:2", "critical": "~:1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "limit"), [("20%:", "20:"), ("5%:60.5%", "5:60.5"), ("0", "0"), ("~:0", "~:0")]
)
def test_the_limit_of_a_share_is_written_in_per_cent(asked, text, limit):
    (quantity,) = asked("-O", "a:b=c", "-A", "X", "--unit", "share", "-w", text)
    assert str((quantity.limits or {})["warning"]) == limit


def test_what_is_for_numbers_may_be_said_for_all_where_some_are_text(asked):
    number, text = asked(
        "-c", "9", "--mismatch", "warning", "-O", "a:b=c", "-A", "X", "-A", "Y", "--match", "y"
    )
    assert (number.limits, text.limits) == ({"critical": Range("9")}, {"warning": Range("1:")})


@pytest.mark.parametrize(
    ("text", "template", "path", "said"),
    [
        ("max", "", ("max",), "max"),
        ("Limits/max", "", ("Limits", "max"), "max"),
        ("a:type=T,name=n/X", "a:type=T,name=n", ("X",), "n X"),
        ('a:path="/x/y",scope={scope}/X/k', 'a:path="/x/y",scope={scope}', ("X", "k"), "/x/y X k"),
        (r"a:path=\/x/X", "a:path=/x", ("X",), "/x X"),
    ],
)  # fmt: skip
def test_a_whole_may_be_anywhere(asked, text, template, path, said):
    (quantity,) = asked("-O", "a:scope=c", "-A", "X", "--of", text)
    assert (quantity.of.template, quantity.of.path, quantity.of.said) == (template, path, said)


@pytest.mark.parametrize(
    ("words", "timeout", "pattern"),
    [
        ((), 8, None),
        (("--list",), 60, ""),
        (("--list", "java.lang:*", "-t", "5s"), 5, "java.lang:*"),
        (("-t", "8s", "--list"), 8, ""),
    ],
)
def test_a_list_has_a_minute_unless_the_user_says_otherwise(words, timeout, pattern):
    options = check.parser.parse(list(words))
    assert (options.timeout, options.list) == (timeout, pattern)
