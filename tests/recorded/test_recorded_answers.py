"""Which recorded answer a statement gets that was not recorded with this text."""

import pytest
from recorded_answers import Answers, NotAskedError

STATUS = "SHOW GLOBAL STATUS WHERE Variable_name IN ({})"
PAIR = ["Variable_name", "Value"]
UPTIME, THREADS = ["Uptime", "7"], ["Threads_running", "2"]


def recorded(*answers):
    """A log-in with these answers: statement, columns, rows or error."""
    statements = [{"sql": sql, "columns": columns} for sql, columns, _ in answers]
    told = [answer if isinstance(answer, dict) else {"rows": answer} for *_, answer in answers]
    return Answers([{"statement": number, **one} for number, one in enumerate(told)], statements)


def asked(answers, sql):
    """The rows, and what they lack."""
    answer, lack = answers.next(sql)
    return answer["rows"], [*lack.columns, *lack.names] if lack else []


def status(*names):
    return STATUS.format(", ".join(map(repr, names)))


def variables(*pairs):
    return [dict(zip(PAIR, pair, strict=True)) for pair in pairs]


@pytest.fixture
def of_two():
    """A server that was asked for two status variables."""
    return recorded((status("Uptime", "Threads_running"), PAIR, [THREADS, UPTIME]))


def test_the_same_text_comes_first():
    answers = recorded(
        ("SELECT a, b FROM t", ["a", "b"], [[1, 2]]),
        ("SELECT a FROM t", ["a"], [[3]]),
        ("SELECT a, b, c FROM t", ["a", "b", "c"], [[4, 5, 6]]),
    )
    assert asked(answers, "SELECT a FROM t") == ([{"a": 3}], [])
    assert asked(answers, "SELECT a, b, c FROM t") == ([{"a": 4, "b": 5, "c": 6}], [])


def test_a_column_more_is_null_and_said_to_lack():
    answers = recorded(("SELECT a FROM s.t", ["a"], [[1], [2]]))
    rows, lacking = asked(answers, "SELECT a, b + 1 AS more FROM s.t")
    assert rows == [{"a": 1, "more": None}, {"a": 2, "more": None}]
    assert lacking == ["b + 1"]


def test_where_nothing_was_found_no_column_lacks():
    assert asked(recorded(("SELECT a FROM t", [], [])), "SELECT a, b FROM t") == ([], [])


def test_fewer_columns_are_those_that_are_asked():
    answers = recorded(("SELECT a, b AS x, COUNT(*) AS c FROM t GROUP BY a", ["a", "x", "c"], [[1, 2, 3]]))
    assert asked(answers, "SELECT count(*) AS number, a FROM t GROUP BY a") == ([{"number": 3, "a": 1}], [])


def test_columns_are_found_by_what_they_are_and_not_by_their_names():
    answers = recorded(("SELECT a AS x, b AS y FROM t", ["x", "y"], [[1, 2]]))
    assert asked(answers, "SELECT c AS x, b AS z FROM t") == ([{"x": None, "z": 2}], ["c"])


def test_a_name_more_is_no_row_and_said_to_lack(of_two):
    assert asked(of_two, status("Uptime", "Threads_running", "Other")) == (
        variables(THREADS, UPTIME),
        ["Other"],
    )


def test_fewer_names_are_fewer_rows(of_two):
    assert asked(of_two, status("uptime")) == (variables(UPTIME), [])


def test_names_may_come_and_go(of_two):
    assert asked(of_two, status("Other", "Threads_running")) == (variables(THREADS), ["Other"])


def test_names_in_another_order_are_the_same(of_two):
    assert asked(of_two, status("Threads_running", "Uptime")) == (variables(THREADS, UPTIME), [])


def test_all_columns_that_were_recorded_show_which_of_them_are_there():
    answers = recorded(
        ("SELECT * FROM i.METRICS WHERE NAME IN ('a', 'b')", ["NAME", "COUNT"], [["a", 1], ["b", 2]])
    )
    assert asked(answers, "SELECT count, status FROM i.METRICS WHERE NAME IN ('a', 'c')") == (
        [{"count": 1, "status": None}],
        ["status", "c"],
    )


def test_names_are_found_by_another_name_of_their_column():
    answers = recorded(
        ("SELECT A_NAME AS n, v FROM t WHERE A_NAME IN ('a', 'b')", ["n", "v"], [["a", 1], ["b", 2]])
    )
    assert asked(answers, "SELECT v FROM t WHERE A_NAME IN ('b')") == ([{"v": 2}], [])


def test_an_aggregate_more_is_null_too():
    answers = recorded(("SELECT COUNT(*) AS n FROM t WHERE x > 0", ["n"], [[3]]))
    assert asked(answers, "SELECT COUNT(*) AS n, MAX(y) AS m FROM t WHERE x > 0") == (
        [{"n": 3, "m": None}],
        ["MAX(y)"],
    )


def test_a_column_more_of_a_select_in_from_is_no_other_table():
    answers = recorded(
        ("SELECT SUM(n) AS n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS x", ["n"], [[3]])
    )
    inside = "SELECT a, COUNT(*) AS n, MAX(b) AS m FROM t GROUP BY a"
    more = f"SELECT SUM(n) AS n, MAX(m) AS m FROM ({inside}) AS x"
    assert asked(answers, more) == ([{"n": 3, "m": None}], ["MAX(m)"])


def test_arguments_are_the_same_wherever_the_statement_is_the_same():
    answers = recorded(("SELECT a FROM t WHERE b = %s 5", ["a"], [[1]]))
    assert asked(answers, "SELECT a, c FROM t WHERE b = %s 5") == ([{"a": 1, "c": None}], ["c"])


def test_the_statement_with_most_of_what_is_asked_answers():
    answers = recorded(
        ("SELECT a FROM t", ["a"], [[1]]),
        ("SELECT a, b, c FROM t", ["a", "b", "c"], [[2, 3, 4]]),
        ("SELECT a, b FROM t", ["a", "b"], [[5, 6]]),
    )
    assert asked(answers, "SELECT a, b, d FROM t") == ([{"a": 5, "b": 6, "d": None}], ["d"])


def test_answers_come_one_after_the_other_and_then_no_more():
    answers = Answers(
        [{"statement": 0, "rows": [[1]]}, {"statement": 0, "rows": [[2]]}, {"statement": 1, "rows": [[3]]}],
        [{"sql": "SELECT a FROM t", "columns": ["a"]}, {"sql": "SELECT a, x, y FROM t", "columns": ["a"]}],
    )
    assert [asked(answers, "SELECT a, b FROM t")[0][0]["a"] for _ in "12"] == [1, 2]
    with pytest.raises(NotAskedError, match="not asked so often when it was recorded: SELECT a, b FROM t"):
        answers.next("SELECT a, b FROM t")


@pytest.mark.parametrize(
    ("known", "other", "why"),
    [
        ("SELECT a FROM t", "SELECT a FROM u", "another FROM"),
        ("SELECT a FROM t", "SELECT a FROM t JOIN u USING (a)", "another FROM"),
        ("SELECT a FROM t", "SELECT a FROM t WHERE a > 1", "another WHERE"),
        ("SELECT a FROM t WHERE b = %s 5", "SELECT a FROM t WHERE b = %s 6", "another WHERE"),
        ("SELECT a FROM t WHERE b IN (3)", "SELECT a FROM t WHERE b IN (3, 4)", "another WHERE"),
        ("SELECT a FROM t WHERE b = 'x'", "SELECT a FROM t WHERE b = 'X'", "another WHERE"),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM t ORDER BY a DESC", "another ORDER"),
        ("SELECT a FROM t ORDER BY a", "SELECT a FROM t", "another ORDER"),
        ("SELECT b AS x FROM t ORDER BY x", "SELECT c AS x, b FROM t ORDER BY x", "another ORDER"),
        ("SELECT a FROM t LIMIT 5", "SELECT a FROM t LIMIT 6", "another LIMIT"),
        ("SELECT a FROM t", "SELECT MAX(a) AS a FROM t", "another SELECT"),
        ("SELECT a FROM t GROUP BY a", "SELECT a FROM t GROUP BY a, b", "another GROUP"),
        ("SELECT a FROM t", "SELECT DISTINCT a FROM t", "another SELECT"),
        ("SELECT DISTINCT a, b FROM t", "SELECT DISTINCT a FROM t", "DISTINCT rows of other columns"),
        ("SELECT a FROM t", "SELECT * FROM t", "not all columns"),
        ("SELECT a FROM t", "SELECT b FROM t", "no column of these"),
        ("SELECT a FROM t", "SELECT SUM(a) AS a FROM t GROUP BY b", "another GROUP"),
        ("SELECT MAX(a) AS a FROM t", "SELECT MIN(a) AS a FROM t", "no column of these"),
        (status("Uptime"), status("Other"), "no name of these"),
        (status("Uptime"), "SHOW GLOBAL STATUS", "another WHERE"),
        (status("Uptime"), status("Uptime").replace("STATUS", "VARIABLES"), "another SHOW"),
        ("SHOW STATUS LIKE 'a'", "SHOW STATUS LIKE 'b'", "another SHOW"),
        ("SET a = 1", "SET a = 2", "another STATEMENT"),
        ("SELECT @@a AS a, @@b AS b", "SELECT @@a AS a, @@c AS c", "other variables"),
        (
            "SELECT MAX(n) AS n FROM (SELECT SUM(a) AS n FROM t GROUP BY b) AS x",
            "SELECT MAX(n) AS n FROM (SELECT SUM(c) AS n FROM t GROUP BY b) AS x",
            "other columns of a SELECT in FROM",
        ),
        (
            "SELECT * FROM (SELECT a FROM t) AS x",
            "SELECT * FROM (SELECT a, b FROM t) AS x",
            "other columns of a SELECT in FROM",
        ),
        (
            "SELECT MAX(n) AS n FROM (SELECT a AS n FROM t WHERE name IN ('a')) AS x",
            "SELECT MAX(n) AS n FROM (SELECT a AS n FROM t WHERE name IN ('b')) AS x",
            "another FROM",
        ),
    ],
)
def test_another_question_gets_no_answer(known, other, why):
    answers = recorded((known, ["a"], [[1]]))
    with pytest.raises(NotAskedError, match="was not asked when it was recorded") as found:
        answers.next(other)
    assert f"the nearest recorded statement has {why}, {known}" in str(found.value)


def test_other_names_get_no_answer_where_it_does_not_show_them():
    answers = recorded(("SELECT v FROM t WHERE name IN ('a', 'b')", ["v"], [[1]]))
    with pytest.raises(NotAskedError, match="the answer does not show which"):
        answers.next("SELECT v FROM t WHERE name IN ('a')")


def test_the_nearest_of_several_is_named():
    answers = recorded(("SELECT a, b FROM t", ["a", "b"], []), ("SHOW MASTER STATUS", [], []))
    with pytest.raises(NotAskedError, match=r"\(the nearest .* another FROM, SELECT a, b FROM t\)$"):
        answers.next("SELECT a, b FROM u")
    with pytest.raises(NotAskedError, match="nothing was asked in that log-in"):
        recorded().next("SELECT 1")


def test_an_error_is_one_for_more_columns_too_unless_it_is_about_a_column():
    denied, unknown = ({"error": [number, "..."]} for number in (1142, 1054))
    assert recorded(("SELECT a FROM t", [], denied)).next("SELECT a, b FROM t")[0]["error"] == [1142, "..."]
    with pytest.raises(NotAskedError, match="an error of its columns"):
        recorded(("SELECT a FROM t", [], unknown)).next("SELECT a, b FROM t")


@pytest.mark.parametrize("error", [1054, 1143, 1193])
def test_an_error_of_its_columns_is_no_answer_to_fewer(error):
    recorded = [{"statement": 0, "error": [error, "no such variable"]}]
    answers = Answers(recorded, [{"sql": "SELECT @@a, @@b", "columns": []}])
    with pytest.raises(NotAskedError):
        answers.next("SELECT @@a")


def test_an_order_by_the_number_of_a_column_is_that_of_the_column():
    rows = [{"statement": 0, "rows": [[1, 9], [2, 8]]}]
    statements = [{"sql": "SELECT x, y FROM t ORDER BY 1", "columns": ["x", "y"]}]
    with pytest.raises(NotAskedError, match="another ORDER"):
        Answers(rows, statements).next("SELECT y, x FROM t ORDER BY 1")
    answer, lack = Answers(rows, statements).next("SELECT y, x FROM t ORDER BY 2")
    assert (answer["rows"], lack) == ([{"y": 9, "x": 1}, {"y": 8, "x": 2}], None)


def test_a_column_of_one_of_two_tables_is_not_found_in_all_columns():
    rows = [{"statement": 0, "rows": [["of t1", "of t2"]]}]
    statements = [{"sql": "SELECT * FROM t1 JOIN t2", "columns": ["name", "other"]}]
    with pytest.raises(NotAskedError):
        Answers(rows, statements).next("SELECT t1.name FROM t1 JOIN t2")
