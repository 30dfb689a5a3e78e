"""Which statements are taken for reads: what is not clearly one is refused before anything is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.mysql_query.reads import refusal

READS = (
    "SELECT 1",
    "select 1;",
    " \t\n SELECT 1 ; ; ",
    "-- of the shop\nSELECT 1 # one\n",
    "/* stallwatch */ SELECT /*+ MAX_EXECUTION_TIME(100) */ 1",
    "SELECT 5--1",
    "((SELECT 1) UNION (SELECT 2) ORDER BY 1)",
    "(SELECT 1)",
    "SHOW GLOBAL STATUS LIKE 'Threads%'",
    "TABLE shop.orders",
    "VALUES ROW(1), ROW(2)",
    "EXPLAIN SELECT 1",
    "EXPLAIN FORMAT=JSON SELECT 1",
    "EXPLAIN ANALYZE FORMAT = TREE (SELECT 1)",
    "DESC EXTENDED SELECT 1",
    "WITH a AS (SELECT 1) SELECT * FROM a",
    "(WITH a AS (SELECT 1) SELECT * FROM a)",
    "WITH RECURSIVE a (i, j) AS (SELECT 1, 2 UNION SELECT i, j FROM a), `b` AS (SELECT 1) SELECT 2",
    "WITH RECURSIVE a AS (SELECT 1 i) CYCLE i RESTRICT, b AS (SELECT 2) SELECT * FROM a, b",
    "WITH a AS (SELECT 1) (SELECT * FROM a)",
    "EXPLAIN WITH a AS (SELECT 1) SELECT * FROM a",
    "SELECT REPLACE('a', 'b', 'c'), INSERT('abc', 1, 1, 'x')",
    "SELECT 'DELETE', \"INTO OUTFILE\", `into`, `for update` FROM `update`",
    "SELECT 'it''s', 'a\\n\\\\b\\%', \"say \"\"so\"\"\", `a``b`",
    "SHOW VARIABLES LIKE 'group_replication_%'",
    "SELECT @@group_replication_local_address, 'group_replication_set_as_primary', ('innodb_redo_log_x')",
    "SELECT SUBSTRING(a FROM 1 FOR 2) FROM t USE INDEX FOR JOIN (i)",
    "SELECT @a := 1, @@version, ?, {d '2020-01-01'}, x'41', N'a', _utf8mb4'a', -1.5e-3, .5, 0x41, a->>'$.b'",
    "SELECT GET_LOCK('x', 1), SLEEP(2), LOAD_FILE('/etc/hostname')",
    "SELECT straße, 名前 FROM tische",
)
WRITES = (
    "DELETE FROM t", "/* SELECT */ DELETE FROM t", "-- SELECT\nDELETE FROM t", "(DELETE FROM t)",
    "INSERT INTO t VALUES (1)", "REPLACE INTO t VALUES (1)", "UPDATE t SET a = 1", "TRUNCATE t",
    "DROP TABLE t", "CALL p()", "SET GLOBAL read_only = 1", "DO RELEASE_ALL_LOCKS()", "HANDLER t OPEN",
    "LOAD DATA INFILE 'x'", "BEGIN", "BEGIN NOT ATOMIC DELETE FROM t END", "START TRANSACTION", "COMMIT",
    "LOCK TABLES t WRITE", "PREPARE s FROM 'DELETE FROM t'", "EXECUTE s",
    "EXECUTE IMMEDIATE 'DELETE FROM t'", "KILL 5", "USE shop", "GRANT ALL ON *.* TO x", "FLUSH TABLES",
    "RESET MASTER", "PURGE BINARY LOGS TO 'x'", "SHUTDOWN", "ANALYZE TABLE t", "ANALYZE DELETE FROM t",
    "CHECK TABLE t", "OPTIMIZE TABLE t", "XA START 'x'", "EXPLAIN DELETE FROM t",
    "EXPLAIN ANALYZE DELETE FROM t", "EXPLAIN FORMAT=TREE UPDATE t SET a = 1",
    "EXPLAIN EXPLAIN DELETE FROM t", "DESC t", "WITH a AS (SELECT 1) DELETE FROM t",
    "WITH a AS (SELECT 1) UPDATE t, a SET t.x = 1",
    "WITH RECURSIVE a (i) AS (SELECT 1), b AS (SELECT 2) DELETE FROM t USING t, a",
    "WITH a AS (SELECT 1) CYCLE i RESTRICT DELETE FROM t",
    "EXPLAIN ANALYZE WITH a AS (SELECT 1) DELETE FROM t", "WITH a AS (SELECT 1) INSERT INTO t SELECT 1",
    "WITH (SELECT 1)", "WITH", "EXPLAIN", "()", "(", "1", "'a'",
)  # fmt: skip
INTO = (
    "SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT 1 INTO DUMPFILE '/tmp/x'", "SELECT 1 INTO @a",
    "SELECT 1 into@a", "(SELECT 1) UNION (SELECT 2 INTO OUTFILE '/tmp/x')",
    "SELECT * FROM (SELECT 1) a INTO @a", "WITH a AS (SELECT 1) SELECT * FROM a INTO @a",
    "TABLE t INTO OUTFILE '/tmp/x'", "SELECT 1/**/INTO/**/@a", "SELECT 1.5INTO @a", "SELECT 1.INTO @a",
    "SELECT .5INTO @a", "SELECT 1e5INTO @a", "SELECT 1e+5INTO @a", "SELECT 1.5e5INTO @a",
    "SELECT 'a'INTO @a", "SELECT `a`INTO @a", "SELECT --\nINTO @a", "SELECT 1--INTO @a",
)  # fmt: skip


@pytest.mark.parametrize("sql", READS)
def test_a_read_is_taken(sql):
    assert refusal(sql) == ""


@pytest.mark.parametrize("sql", WRITES)
def test_what_is_no_read_is_refused(sql):
    assert refusal(sql).endswith("is not known as a read")


@pytest.mark.parametrize("sql", INTO)
def test_what_a_select_writes_into_is_refused(sql):
    assert refusal(sql) == "it writes INTO something"


@pytest.mark.parametrize(
    "how", ["FOR UPDATE", "for  update skip locked", "FOR/**/SHARE", "LOCK IN SHARE MODE"]
)
def test_a_select_that_locks_rows_is_refused(how):
    assert refusal(f"SELECT * FROM t {how}").startswith("it locks rows ")
    assert refusal(f"(SELECT * FROM t {how}) UNION (SELECT 1)").startswith("it locks rows ")


@pytest.mark.parametrize("sql", ["SELECT 1; DELETE FROM t", "SELECT 1;SELECT 2;", "; SELECT 1"])
def test_several_statements_are_refused(sql):
    assert refusal(sql) == "it is more than one statement"


@pytest.mark.parametrize("sql", ["", "  ", ";", "-- SELECT 1", "/* SELECT 1 */", "# SELECT 1"])
def test_no_statement_is_none(sql):
    assert refusal(sql) == "there is no statement in it"


@pytest.mark.parametrize(
    "sql",
    ["/*!50000 DELETE FROM t */", "/*! DELETE FROM t */", "SELECT /*! 1 INTO @a */", "/*M! DELETE FROM t */",
     "SELECT 1 /*M!100100 INTO @a */", "/*!99999 SELECT */ SELECT 1"],
)  # fmt: skip
def test_an_executable_comment_is_refused_whatever_is_in_it(sql):
    assert refusal(sql).startswith("it has an executable comment")


def test_what_stands_in_quotes_that_look_like_an_executable_comment_is_a_text():
    assert refusal("SELECT '/*! DELETE */', \"/*M! x */\", `/*!`") == ""


@pytest.mark.parametrize(
    "sql",
    ["SELECT 'a", 'SELECT "a', "SELECT `a", "SELECT 1 /* a", "SELECT \\NINTO @a", "SELECT [it's] INTO @a",
     "SELECT $$ ' $$", "SELECT 1\0", "SELECT 1 */ \x01"],
)  # fmt: skip
def test_what_cannot_be_read_for_sure_is_refused(sql):
    assert "does not end, or something odd" in refusal(sql)


@pytest.mark.parametrize(
    "sql",
    [
        r"""SELECT 'a\' INTO OUTFILE "/tmp/x" -- '""",  # NO_BACKSLASH_ESCAPES: the text ends before INTO
        r"""SELECT "a\" INTO OUTFILE '/tmp/x' -- " """,  # ANSI_QUOTES: so does the name
        r"""SELECT 'a\\'; DELETE FROM t -- '""",
        r"""SELECT "\'", 1 INTO @a""",
    ],
)
def test_a_backslash_before_a_quote_is_refused_as_it_depends_on_sql_mode_what_it_means(sql):
    assert refusal(sql).startswith("it has a backslash before a quote")


@pytest.mark.parametrize("called", ["{}", "`{}`", "{} ", "{}/**/", '"{}"'])
@pytest.mark.parametrize(
    "name",
    [
        "asynchronous_connection_failover_add_source", "Group_Replication_set_as_primary",
        "innodb_redo_log_archive_start",
    ],
)  # fmt: skip
def test_functions_that_change_the_server_are_refused_by_name(name, called):
    sql = f"SELECT a FROM b WHERE {called.format(name)}('c', '127.0.0.1', 3306, '', 50)"
    assert refusal(sql) == f"{name.lower()}() changes the server"


@pytest.mark.parametrize("sql", ["(" * 100_000, "EXPLAIN " * 30_000, "WITH a AS (" * 30_000, "'" * 99_999])
def test_deep_statements_are_refused_in_time(sql):
    assert refusal(sql)


@given(st.text())
def test_any_text_has_an_answer(text):
    assert isinstance(refusal(text), str)


@given(st.text(alphabet="ab1. \n;/*!-()INTO", max_size=12))
def test_a_statement_behind_a_read_is_never_taken(text):
    assert refusal(f"SELECT 1 {text.replace('--', '')}\n; DELETE FROM t")
