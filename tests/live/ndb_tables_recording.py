"""Record whole tables of ndbinfo for tests/recorded/ndbinfo/tables: a large cluster is made of them.

.venv/bin/python tests/live/ndb_tables_recording.py
"""

import json
import os
import tempfile
from pathlib import Path

from ndb_cluster import NdbCluster
from ndb_load import disk_table

TABLES = Path(__file__).parents[1] / "recorded" / "ndbinfo" / "tables" / "mysql-9.7.json"
LARGE = {  # as a data node of a large machine is: 20 threads, and as many log parts as there can be
    "NoOfFragmentLogParts": 32,
    "NoOfFragmentLogFiles": 4,
    "ThreadConfig": "main={count=1},rep={count=1},recv={count=3},send={count=3},tc={count=4},ldm={count=8}",
}
LEFT_OUT = {  # what is the same everywhere, or has so many rows that nobody should ask for them once a minute
    "blocks", "dict_obj_types", "error_messages", "hash_maps",
    "cpudata_1sec", "cpudata_20sec", "cpudata_50ms", "cpustat_1sec", "cpustat_50ms", "disk_write_speed_base",
    "diskstats_1sec", "dict_obj_tree", "locks_per_fragment", "memory_per_fragment", "operations_per_fragment",
    "table_replicas", "tc_time_track_stats", "transporter_activity",
}  # fmt: skip


MORE = ("FILES", "ndb_transid_mysql_connection_map")  # of information_schema: NDB Cluster answers those, too
COLUMNS = f"""
    SELECT c.table_schema AS of_schema, c.table_name AS of_table, c.column_name AS name
    FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
    WHERE t.table_schema = 'ndbinfo' AND t.table_type = 'VIEW'
    OR t.table_schema = 'information_schema' AND t.table_name IN {MORE}
    ORDER BY 1 DESC, 2, c.ordinal_position
"""


def tables(sql):
    """The rows of all views, by name; ``sql`` asks as root."""
    columns = {}
    for row in sql(COLUMNS):
        schema, table = row["of_schema"], row["of_table"].lower()
        name = table if schema == "ndbinfo" else f"{schema}.{table}"
        columns.setdefault(name, []).append(row["name"])
    return {name: _table(sql, name, columns[name]) for name in columns if name not in LEFT_OUT}


def _table(sql, name, columns):
    rows = sql(f"SELECT * FROM {name if '.' in name else f'ndbinfo.{name}'}")
    rows = [row for row in rows if row.get("ENGINE", "ndbcluster") == "ndbcluster"]  # not InnoDB's files
    return {"columns": columns, "rows": [[row[column] for column in columns] for row in rows]}


def text(found):
    """Them as JSON, a line for each row, that names no host."""
    each = []
    for name, table in found.items():
        columns = json.dumps(table["columns"])
        of_it = (json.dumps(row, default=float, separators=(",", ":")) for row in table["rows"])
        rows = ",\n".join(of_it)
        each.append(f'{json.dumps(name)}: {{"columns": {columns}, "rows": [\n{rows}\n]}}')
    text = "{\n" + ",\n".join(each) + "\n}\n"
    return text.replace("127.0.0.1", "ndb1").replace(f'"{os.uname().nodename}"', '"ndb1"')


def main():
    """Record them."""
    with tempfile.TemporaryDirectory(prefix="ndb-") as folder, NdbCluster(folder, sql=True, **LARGE) as ndb:
        disk_table(ndb.sql_node)
        with ndb.sql_node.session() as busy, ndb.sql_node.session() as sql:
            busy("BEGIN")
            busy("UPDATE lab.t1 SET data1 = 'x' WHERE id = 1")
            found = text(tables(sql))
        TABLES.write_text(found.replace(folder, "/srv"))


if __name__ == "__main__":
    main()
