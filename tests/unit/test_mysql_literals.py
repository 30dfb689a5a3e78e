"""Values in a statement: as PyMySQL writes them, and nothing that it does not know."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymysql.converters import escape_string
from stallwatch.sources.mysql.literals import literal


@given(st.text())
def test_a_text_is_written_as_pymysql_does(text):
    assert literal(text, escapes=True) == f"'{escape_string(text)}'"


@pytest.mark.parametrize("text", ["", "it's", "\\' OR 1=1 -- ", "\0\n\r\x1a\"'\\", "p\u00e4\u2713"])
def test_where_a_backslash_is_a_backslash_only_quotes_are_doubled(text):
    written = literal(text, escapes=False)
    assert written[1:-1].replace("''", "'") == text
    assert written[0] == written[-1] == "'"
    assert "'" not in written[1:-1].replace("''", "")


def test_whole_numbers():
    assert [literal(number, escapes=True) for number in (0, -7, 2**64 - 1)] == ["0", "-7", str(2**64 - 1)]


@pytest.mark.parametrize("value", [1.5, b"1", None, ["a"]])
def test_nothing_else_is_written(value):
    with pytest.raises(TypeError, match=type(value).__name__):
        literal(value, escapes=True)
