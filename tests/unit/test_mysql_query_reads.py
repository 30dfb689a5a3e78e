"""Which statements are taken for reads: what is not clearly one is refused before anything is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stallwatch.probes.mysql_query.read_only import refusal

READS = (
    "SELECT 1",
    "select 1;",
    " \t\n SELECT 1 ; ; ",
    "-- of the shop\nSELECT 1 # one\n",
    "/* stallwatch */ SELECT /* one */ 1",
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
    "SELECT SLEEP(2), LOAD_FILE('/etc/hostname'), IS_FREE_LOCK('x')",
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
    "SET STATEMENT max_statement_time = 0 FOR SELECT 1",
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


# functions


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*), MAX(a), TIMESTAMPDIFF(SECOND, a, NOW(6)), IF(a, 'x', 'y') FROM t WHERE a IN (1, 2)",
        "SELECT JSON_VALUE(j, '$.a' RETURNING DECIMAL(10, 2)), CAST(a AS CHAR(3)), CONVERT(a, DECIMAL(5))",
        "SELECT ROW_NUMBER() OVER (PARTITION BY (a) ORDER BY b), SUM(a) OVER w FROM t WINDOW w AS (ROWS 1)",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER (PARTITION BY b) FROM t",
        "SELECT * FROM t, JSON_TABLE(j, '$[*]' COLUMNS (a VARCHAR(9) PATH '$.a', b INT(3) PATH '$.b')) AS jt",
        "SELECT a FROM JSON_TABLE('[]', '$[*]' COLUMNS (a BIGINT(20) PATH '$', b TINYINT(1) PATH '$')) AS jt",
        "SELECT * FROM (SELECT 1, 2) AS a (i, j) JOIN LATERAL (SELECT 3) b (`k`) USING (id)",
        "WITH a (i) AS (SELECT 1), `b` (`i`, j) AS (SELECT 2, 3), c(i) AS (SELECT 4) SELECT 5",
        "SELECT a FROM t PARTITION (p0) FORCE INDEX FOR ORDER BY (i) WHERE NOT (a) AND b = ANY (SELECT 1)",
        "SELECT GROUP_CONCAT(DISTINCT (a) ORDER BY (b) SEPARATOR ',') FROM t HAVING (a) LIMIT 1",
        "SELECT ST_AsText(p), MATCH(a) AGAINST ('x' IN BOOLEAN MODE), 5 MEMBER OF('[5]'), {fn NOW()} FROM t",
        "SELECT `abs`(1), 'keyring_key_remove', `keyring_key_remove` FROM keyring_key_remove",
        "SHOW STATUS WHERE (Variable_name = 'x')",
        "SELECT shop.health(), `shop`.`f` (1), sys.format_bytes(2)",
    ],
)
def test_usual_functions_and_stored_ones_that_are_named_with_their_schema_are_taken(sql):
    assert refusal(sql) == ""


@pytest.mark.parametrize(
    "called", ["{}", "`{}`", "{} ", "{}/**/", '"{}"', "mariadb_schema.{}", "`Oracle_schema` . {}"]
)
@pytest.mark.parametrize(
    "name",
    [
        "asynchronous_connection_failover_add_source", "Group_Replication_set_as_primary",
        "innodb_redo_log_archive_start", "innodb_redo_log_sharp_checkpoint", "keyring_key_remove",
        "version_tokens_delete", "audit_log_filter_remove_user", "set_firewall_mode", "load_rewrite_rules",
        "masking_dictionary_remove", "service_get_write_locks", "spider_direct_sql", "mroonga_command",
        "sys_exec", "health", "ST_of_mine", "json_of_mine",
    ],
)  # fmt: skip
def test_a_function_that_is_not_known_is_refused_and_named(name, called):
    sql = f"SELECT a FROM b WHERE 1 AND {called.format(name)}('c')"
    assert refusal(sql) == (
        f"{name.lower()}() is not known to only read: name its schema if it is a stored function, "
        "or use a view if you know that it only reads"
    )


LOCKS = "takes or releases locks that others wait for: is_used_lock() shows who has one"
SEQUENCES = "changes a sequence; if it is a stored function, name its schema"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("GET_LOCK", LOCKS), ("release_lock", LOCKS), ("release_all_locks", LOCKS), ("nextval", SEQUENCES),
        ("SetVal", SEQUENCES),
    ],
)  # fmt: skip
@pytest.mark.parametrize("called", ["{}", "`{}` ", "mariadb_schema.{}"])
def test_of_a_function_that_is_known_to_change_something_that_is_said(name, why, called):
    assert refusal(f"SELECT {called.format(name)}('c', 1)") == f"{name.lower()}() {why}"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1, f(a) FROM t", "SELECT 1, f(a, b) AS c FROM t", "WITH a (i) AS (SELECT f(1)) SELECT 1",
        "SELECT * FROM (SELECT f(1)) AS a (i)", "SELECT CAST(f(1) AS CHAR(1))", "SELECT 1.f(1)",
        "SELECT 1 FROM t FOR SYSTEM_TIME AS OF f(1)", "SELECT `in`(1)", "SELECT @a := f(1)",
        "SELECT abs(f(1))",
    ],
)  # fmt: skip
def test_where_a_function_stands_does_not_matter(sql):
    assert "() is not known to only read" in refusal(sql)


# hints


@pytest.mark.parametrize(
    "hint",
    [
        "SET_VAR(max_execution_time=0)", "set_var ( MAX_EXECUTION_TIME = 0 )", "MAX_EXECUTION_TIME(4001)",
        "BKA(t) MAX_EXECUTION_TIME(3600000)", "MAX_EXECUTION_TIME(00000000000000004001)",
        "MAX_EXECUTION_TIME(0x7fffffff)", "RESOURCE_GROUP(batch)", "OF_A_LATER_VERSION(1)",
        "QB_NAME(`a`) SET_VAR(sort_buffer_size=4000000000)",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "sql", ["SELECT /*+ {} */ 1", "(select/*+{}*/1)", "WITH a AS (SELECT 1) SELECT /* a */ /*+ {} */ 2",
            "EXPLAIN ANALYZE SELECT\n/*+ {} */ 1", "SELECT /*+ BKA(t) */ /*+ {} */ 1"],
)  # fmt: skip
def test_a_hint_that_may_lift_the_limit_of_the_server_is_refused(sql, hint):
    assert refusal(sql.format(hint), longest=4).endswith(" may lift the server's time limit")


@pytest.mark.parametrize(
    "hint",
    [
        "MAX_EXECUTION_TIME(1000)", "MAX_EXECUTION_TIME(4000)", "MAX_EXECUTION_TIME(0)", "NO_BNL(t) BKA(u)",
        "JOIN_ORDER(t1@qb, t2)", "INDEX(t `set_var(x)`) QB_NAME(qb) SEMIJOIN(@qb LOOSESCAN, FIRSTMATCH)",
        "SET_VAR(optimizer_switch = 'mrr_cost_based=off')", "NO_ICP(t i)", "", "- of the shop -",
    ],
)  # fmt: skip
def test_a_hint_that_steers_the_plan_or_shortens_the_time_is_taken(hint):
    assert refusal(f"SELECT /*+ {hint} */ 1", longest=4) == ""


@pytest.mark.parametrize(
    "sql",
    [
        "/*+ SET_VAR(max_execution_time=0) */ SELECT 1", "SELECT 1 /*+ SET_VAR(max_execution_time=0) */",
        "SELECT '/*+ SET_VAR(max_execution_time=0) */'", "SELECT /* + SET_VAR(max_execution_time=0) */ 1",
        "SELECT `/*+ SET_VAR(max_execution_time=0) */`, 1 -- SELECT /*+ RESOURCE_GROUP(x) */",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_hint_is_none(sql):
    assert refusal(sql) == ""


@pytest.mark.parametrize("quote", "'\"`")
def test_a_hint_with_a_quote_that_does_not_end_in_it_is_refused(quote):
    """The server looks for the end of the hint behind the quote."""
    assert refusal(f"SELECT /*+ QB_NAME({quote}*/ 1, {quote}) SET_VAR(max_execution_time=0) */ {quote}") == (
        "its hint has a quote that does not end"
    )


@pytest.mark.parametrize(
    "sql", ["(" * 100_000, "EXPLAIN " * 30_000, "WITH a AS (" * 30_000, "'" * 99_999,
            "SELECT 1" + ", a (b)" * 8000,
            "SELECT 1, a(" + "b," * 30_000, "SELECT /*+ " + "a(" * 30_000 + "*/"],
)  # fmt: skip
def test_deep_statements_are_refused_in_time(sql):
    assert refusal(sql)


@given(st.text())
def test_any_text_has_an_answer(text):
    assert isinstance(refusal(text), str)


@given(st.text(alphabet="ab1. \n;/*!-()INTO", max_size=12))
def test_a_statement_behind_a_read_is_never_taken(text):
    assert refusal(f"SELECT 1 {text.replace('--', '')}\n; DELETE FROM t")
