"""What may be said of somebody's statement."""

import pytest
from stallwatch.probes.mysql import statements


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE users SET password = 'hunter2', iban='DE8937040044' WHERE", "UPDATE users"),
        ("/* batch from checkout */ UPDATE shop.orders SET a=1", "UPDATE shop.orders"),
        ("-- from checkout\nupdate ignore shop.orders set a=1", "UPDATE shop.orders"),
        ("DELETE a FROM customers b JOIN orders a", "DELETE"),
        ("DELETE FROM a.b WHERE c = 'd'", "DELETE FROM a.b"),
        ("UPDATE `my db`.`t x` SET a=1", "UPDATE my db.t x"),
        ("INSERT IGNORE INTO a.b VALUES ('secret", "INSERT INTO a.b"),
        ("REPLACE a.b VALUES ('secret", "REPLACE INTO a.b"),
        ("SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`", "SELECT FROM t"),
        ("select 'from x', \"from y\" from z.w where a='", "SELECT FROM z.w"),
        ("SELECT 'it\\'s from x', 'from y", "SELECT"),
        ("LOAD DATA INFILE '/secret' INTO TABLE a.b", "LOAD DATA INTO a.b"),
        ("alter table t.a engine=innodb", "ALTER TABLE t.a"),
        ("CREATE TABLE IF NOT EXISTS t.a (b INT)", "CREATE TABLE t.a"),
        ("CREATE UNIQUE INDEX i ON t.a (x)", "CREATE INDEX ON t.a"),
        ("TRUNCATE t.a", "TRUNCATE TABLE t.a"),
        ("FLUSH TABLES WITH READ LOCK", "FLUSH TABLES"),
        ("BACKUP STAGE START", "BACKUP STAGE"),
        ("CREATE USER a IDENTIFIED BY 'secret'", "CREATE"),
        ("SET PASSWORD = 'secret'", "SET"),
        ("GRANT ALL ON x TO y IDENTIFIED BY 'secret'", "a statement"),
        ("'secret\\", ""),
        ("x'secret\\", "a statement"),
        ("UPDATE " + "x" * 93, "UPDATE"),  # the name may go on
        ("/* only this", ""),
        ("", ""),
    ],
)
def test_the_verb_and_the_table(statement, said):
    assert statements.said(statement) == said


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("UPDATE orders SET a = 1", "shop.orders"),
        ("UPDATE a.orders o SET a = 1", "a.orders"),
        ("delete from orders where b = 'c'", "shop.orders"),
        ("DELETE FROM orders", "shop.orders"),
        ("UPDATE orders, customers SET a = 1", ""),
        ("UPDATE orders o JOIN customers c SET a = 1", ""),
        ("DELETE a FROM customers b JOIN orders a", ""),
        ("INSERT INTO orders SELECT * FROM customers", ""),
    ],
)
def test_the_only_table_that_is_changed(statement, table):
    assert statements.changed_table(statement, "shop") == table


def test_the_table_that_is_defined():
    assert statements.defined_table("ALTER TABLE orders ADD a INT", "shop") == "shop.orders"
    assert statements.defined_table("UPDATE orders SET a = 1", "shop") == ""
    assert statements.defined_table("ALTER TABLE " + "o" * 90, "shop") == ""
    assert statements.defines("/* x */ drop table a")
    assert not statements.defines("UPDATE a SET b = 'ALTER TABLE c'")


@pytest.mark.parametrize(
    "statement", ["SELECT " * 3000, "x'" + "\\" * 9999, "`" * 9999, "ALTER " + "a " * 9999]
)
def test_nonsense_is_read_in_time(statement):
    assert statements.said(statement)
