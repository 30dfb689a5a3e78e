"""contrib/mysql/grants.sql, run as an administrator would."""

from pathlib import Path

GRANTS = Path(__file__).parents[2] / "contrib" / "mysql" / "grants.sql"


def test_one_file_makes_the_account_on_either_family(pair):
    text = GRANTS.read_text().replace("monitoring.example", "localhost").replace("'mon'", "'by_file'")
    with pair.replica.session() as sql:
        sql("SET sql_log_bin = 0")
        for statement in filter(None, map(str.strip, text.split(";\n"))):
            sql(statement)
        try:
            shown = " ".join(
                str(value) for row in sql("SHOW GRANTS FOR 'by_file'@'localhost'") for value in row.values()
            )
        finally:
            sql("DROP USER 'by_file'@'localhost'")
    expected = {"mariadb": ("SLAVE MONITOR", "BINLOG MONITOR"), "mysql": ("REPLICATION CLIENT",)}[pair.kind]
    for privilege in ("PROCESS", "performance_schema", *expected):
        assert privilege in shown
