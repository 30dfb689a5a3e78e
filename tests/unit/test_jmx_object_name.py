"""Object names as javax.management.ObjectName reads them; tests/live asks a real JVM about the same."""

import re

import pytest
from stallwatch.sources.jmx import ObjectName
from stallwatch.sources.jmx.object_name import unquoted
from stallwatch.units import NotUnderstoodError


@pytest.mark.parametrize(
    ("text", "domain", "properties"),
    [
        ("java.lang:type=Memory", "java.lang", {"type": "Memory"}),
        (":type=a", "", {"type": "a"}),
        ("d:b=2,a=1", "d", {"b": "2", "a": "1"}),
        ('d:name="a,b=c:d",type=t', "d", {"name": '"a,b=c:d"', "type": "t"}),
        (r'd:name="a\"b\\c\*\?\n"', "d", {"name": r'"a\"b\\c\*\?\n"'}),
        ("d:name=a/b;c d", "d", {"name": "a/b;c d"}),
        ("d with blank:k=v", "d with blank", {"k": "v"}),
        ("d:a b=c", "d", {"a b": "c"}),
        ("d:*", "d", {}),
        ("d:type=x,*", "d", {"type": "x"}),
        ("d:*,type=x", "d", {"type": "x"}),
        ("d:type=*", "d", {"type": "*"}),
        ("d:type=t,name=", "d", {"type": "t", "name": ""}),
        ('d:na"me=q', "d", {'na"me': "q"}),
    ],
)
def test_parts_of_a_name(text, domain, properties):
    name = ObjectName.parse(text)
    assert (name.domain, name.properties) == (domain, properties)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "is no object name"),
        ("java.lang", "is no object name"),
        ("d:", "lacks a key property"),
        ("d:a", '"a" in "d:a" is not key=value'),
        ("d:=b", '"=b" in "d:=b" is not key=value'),
        ("d:a=1,", "lacks a key property"),
        ("d:a=1,a=2", "has the key a twice"),
        ("d:a=b=c", "is not key=value"),
        ("d:a=b:c", "is not key=value"),
        ('d:a="b', "is not key=value"),
        ('d:a="b"c', "is not key=value"),
        (r'd:a="\x"', "is not key=value"),
        ("d:*,*", "is not key=value"),
        ("d\n:a=b", "line break"),
    ],
)
def test_what_a_server_would_refuse_is_refused_here(text, because):
    with pytest.raises(NotUnderstoodError, match=re.escape(because)):
        ObjectName.parse(text)


@pytest.mark.parametrize(
    ("text", "is_pattern"),
    [
        ("d:a=b", False),
        ("d:*", True),
        ("d*:a=b", True),
        ("d:a=b?", True),
        (r'd:a="b\*"', False),
        ('d:a="b*"', True),
        (r'd:a="\\*"', True),
    ],
)
def test_what_is_a_pattern(text, is_pattern):
    assert ObjectName.parse(text).is_pattern is is_pattern


def test_names_are_equal_whatever_the_order_of_their_keys():
    assert ObjectName.parse("d:b=2,a=1").canonical == ObjectName.parse("d:a=1,b=2").canonical == "d:a=1,b=2"
    assert ObjectName.parse("d:b=2,*,a=1").canonical == "d:a=1,b=2,*"


def test_a_name_is_written_as_it_was_read():
    assert str(ObjectName.parse("d:b=2,a=1")) == "d:b=2,a=1"


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("d:a=1", "d:a=1", True),
        ("d:b=2,a=1", "d:a=1,b=2", True),
        ("d:a=1", "d:a=1,b=2", False),
        ("d:a=1,*", "d:a=1,b=2", True),
        ("d:a=*", "d:a=1", True),
        ("d:a=*", "d:a=1,b=2", False),
        ("d:a=1?3,*", "d:b=2,a=123", True),
        ("d:c=*,*", "d:a=1", False),
        ("*:*", "d:a=1", True),
        ("d?:*", "d:a=1", False),
        ("*.d:*", "x.d:a=1", True),
        ("x.d:*", "x-d:a=1", False),
        (r'd:a="x\*"', r'd:a="x\*"', True),
        (r'd:a="x*"', r'd:a="xyz"', True),
    ],
)
def test_patterns_fit_as_the_server_decides_it(pattern, name, fits):
    assert ObjectName.parse(pattern).matches(ObjectName.parse(name)) is fits


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ('"a,b=c:d"', "a,b=c:d"),
        (r'"say \"x\""', 'say "x"'),
        (r'"back\\slash"', "back\\slash"),
        (r'"line\nbreak"', "line\nbreak"),
        (r'"\* and \?"', "* and ?"),
        ('""', ""),
    ],
)
def test_quoted_values_are_read(value, text):
    assert unquoted(ObjectName.parse(f"d:name={value}").properties["name"]) == text


def test_what_is_not_quoted_stays_as_it_is():
    assert unquoted("a\\b") == "a\\b"
    assert unquoted('"') == '"'
