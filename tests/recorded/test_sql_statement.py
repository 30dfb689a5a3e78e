"""What is understood of a statement as it is recorded."""

import json
from pathlib import Path

import pytest
from sql_statement import parsed

FOLDERS = [Path(__file__).parent / "ndbinfo", Path(__file__).parent / "replication" / "servers"]


def statements():
    """Every recorded statement, with the columns of its answer."""
    for path in (path for folder in FOLDERS for path in folder.glob("*.json")):
        for one in json.loads(path.read_text())["statements"]:
            yield one["sql"], one["columns"]


def test_columns_of_every_recorded_statement_are_those_of_its_answer():
    told = {sql: columns for sql, columns in statements() if columns}
    assert len(told) > 60
    for sql, columns in told.items():
        statement = parsed(sql)
        assert statement.whole or list(statement.columns) == columns


def test_columns_have_the_names_that_a_server_gives_them():
    statement = parsed("SELECT a, t.b, `c`, COUNT(*), MAX(d + 1) AS most, '1, 2' AS text, f(x, (1)) FROM s.t")
    assert list(statement.columns) == ["a", "b", "c", "COUNT(*)", "most", "text", "f(x, (1))"]
    assert statement.columns["most"] == "max ( d + 1 )"


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT a FROM s.t", "s.t"),
        ("SELECT a FROM s.t x LEFT JOIN u AS y USING (a, b), v", "s.t, u, v"),
        ("SELECT n FROM (SELECT COUNT(*) AS n, b FROM s.t GROUP BY b) AS each JOIN u", "s.t, u"),
        ("SELECT @@server_id AS id", "SELECT without a table"),
        ("SHOW GLOBAL STATUS WHERE Variable_name IN ('a')", "SHOW GLOBAL STATUS"),
        ("SHOW COLUMNS FROM t", "SHOW COLUMNS FROM t"),
        ("SET a = 1", "SET a = 1"),
    ],
)
def test_tables_are_those_that_are_asked(sql, tables):
    assert parsed(sql).tables == tables


def test_arguments_are_put_where_they_belong():
    sql = "SELECT a FROM t WHERE b = %s AND c IN (%s, %s) AND d LIKE '%s'"
    statement = parsed(f"{sql} 5 'two words' \"it's\"")
    assert statement.parts["where"] == "b = 5 and c in ( 'two words' , \"it's\" ) and d like '%s'"
    assert statement.without_values().parts["where"] == "b = ? and c in ( ? ) and d like ?"


def test_what_has_no_arguments_is_left_as_it_is():
    assert parsed("SELECT a FROM t WHERE b = %s").parts["where"] == "b = %s"


def test_other_values_are_other_conditions_but_for_their_number():
    one = parsed("SELECT a FROM t WHERE (b = %s AND c = %s) 1 2")
    two = parsed("SELECT a FROM t WHERE (b = %s AND c = %s) OR (b = %s AND c = %s) 1 2 3 4")
    assert one.parts != two.parts
    assert one.without_values().parts == two.without_values().parts


@pytest.mark.parametrize(
    "other",
    [
        "select A from T where B = 'x' order by A",
        "SELECT /*+ MAX_EXECUTION_TIME(3000) */ a\n FROM t WHERE b='x' ORDER BY a",
        "SELECT a AS other FROM `t` WHERE b = 'x' ORDER BY other",
    ],
)
def test_case_blanks_comments_and_other_names_of_columns_change_nothing(other):
    assert parsed(other).parts == parsed("SELECT a FROM t WHERE b = 'x' ORDER BY a").parts


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT NAME FROM t WHERE NAME IN ('a', 'b') OR c = 1",
        "SELECT NAME FROM t WHERE NAME NOT IN ('a', 'b')",
        "SELECT NAME FROM t WHERE (NAME IN ('a', 'b'))",
        "SELECT NAME FROM t WHERE NAME IN ('a', 2)",
        "SELECT NAME FROM t WHERE type IN ('a', 'b')",
        "SELECT NAME FROM t WHERE NAME IN ('a', 'b') LIMIT 3",
        "SELECT MAX(NAME) AS last FROM t WHERE NAME IN ('a', 'b')",
        "SELECT DISTINCT NAME FROM t WHERE NAME IN ('a', 'b')",
        "SELECT NAME, MAX(c) AS c FROM t WHERE NAME IN ('a', 'b') GROUP BY NAME",
        "SELECT NAME FROM t WHERE NAME IN (SELECT x FROM y)",
    ],
)
def test_a_list_is_one_of_names_only_where_fewer_names_are_fewer_rows(sql):
    assert not parsed(sql).names


def test_names_differ_by_more_than_case():
    statement = parsed("SHOW GLOBAL STATUS WHERE Variable_name IN ('Uptime', 'x') AND Value > 0")
    assert statement.names == {"uptime": "Uptime", "x": "x"}
    assert statement.names_of == "variable_name"


@pytest.mark.parametrize("sql", ["SET a = 1", "SELECT 1 UNION SELECT 2", "WITH a AS (SELECT 1) TABLE a", "("])
def test_what_is_not_understood_is_compared_as_a_whole(sql):
    assert list(parsed(sql).parts) == ["statement"]
