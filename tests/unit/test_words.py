"""Several things in one sentence."""

import pytest
from stallwatch.words import are, have, listed, named, plural, times, worst_first


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 nodes"),
        (1, "1 node"),
        (1.0, "1 node"),
        (2, "2 nodes"),
        (1.5, "1.5 nodes"),
        (10**7, "10000000 nodes"),
    ],
)
def test_a_noun_agrees_with_its_number(count, said):
    assert plural(count, "node") == said


@pytest.mark.parametrize(("count", "said"), [(0, "0 times"), (1, "once"), (2, "2 times")])
def test_how_often(count, said):
    assert times(count) == said


def test_verbs_agree_with_what_is_named():
    assert (are("a"), are("ab"), have("a"), have("ab")) == ("is", "are", "has", "have")


def test_names_in_a_sentence():
    assert [listed("abcdef"[:count]) for count in (1, 2, 4, 5, 6)] == [
        "a",
        "a and b",
        "a, b, c and d",
        "a, b, c, d and 1 more",
        "a, b, c, d and 2 more",
    ]
    assert listed("abc", 1) == "a and 2 more"


def test_names_of_things_of_one_kind():
    assert (named("node", ["3"]), named("node", ["3", "4"])) == ("node 3", "nodes 3 and 4")


def test_the_worst_is_said_first_and_equals_in_their_order():
    assert worst_first([("a", 1), ("b", 3), ("c", 1), ("d", 3)], lambda one: one[1]) == [
        ("b", 3),
        ("d", 3),
        ("a", 1),
        ("c", 1),
    ]
