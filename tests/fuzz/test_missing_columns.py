"""Servers whose answers lack a column: no plugin ends with an internal error, nor calls it health."""

import re
from contextlib import nullcontext
from copy import deepcopy
from unittest import mock

import mysql_targets
import plugin_runs
import pytest
import recorded_mysql
from captured_mysql import VERSIONS, CapturedMysql
from levels import representative
from stallwatch.frame.options import mysql as mysql_options
from stallwatch.frame.run import Run
from stallwatch.sources import mysql, recording
from stallwatch.sources.mysql import rows
from whole_sentence import sentence

OK, WARNING, CRITICAL, UNKNOWN = range(4)
# Columns that some versions do not have, and without which all may be well.
OPTIONAL = {
    "Channel_Name", "Connection_name", "Gtid_IO_Pos", "Gtid_Slave_Pos", "Master_last_event_time",
    "Replica_IO_State", "Replica_SQL_Running_State", "Retrieved_Gtid_Set", "Executed_Gtid_Set", "SQL_Delay",
    "SQL_Remaining_Delay", "Slave_IO_State", "Slave_SQL_Running_State", "Slave_heartbeat_period",
    "Slave_received_heartbeats", "Source_UUID", "config_generation",
}  # fmt: skip


class Without(mysql_targets.Lenient):
    """A recorded run whose servers leave a column out of the answers to a statement."""

    def __init__(self, recorded, statements, lost):
        super().__init__(deepcopy(recorded), statements)
        self._lost = lost
        self.left_out = False

    def find(self, of, asked):
        entry, (statement, column) = super().find(of, asked), self._lost
        if statement in (recorded_mysql.statement(*asked), recorded_mysql.statement(asked[0])):
            names, rows = entry["answer"]
            if column in names:
                self.left_out = True
                at = names.index(column)
                kept = [row[:at] + row[at + 1 :] for row in rows]
                entry["answer"] = [names[:at] + names[at + 1 :], kept]
        return entry


def without(rows, column):
    for one in rows:
        one.pop(column, None)
    return rows


def run_of(recorded, at, lost=("", "")):
    """Run the plugin of a recorded run anew; whether something was left out, its status and its output."""
    run = Without(recorded["runs"][at], recorded["statements"], lost)
    of = plugin_runs.plugin(run.plugin)
    with (
        plugin_runs.clock(run.began) as now,
        recording.use(run),
        mock.patch.object(Run, "memory", return_value=nullcontext({})),
    ):
        run.clock = now
        now.reach = lambda _: None
        status, text = of["check"].run(of["findings"], [*run.options])
    plugin_runs.judge(run.plugin, status, text)
    return run.left_out, status, text


def cells():
    """Each recording, run, statement and column; with ``make test`` a question once, whoever recorded it."""
    seen = set()
    for recorded in mysql_targets._recordings():
        for at, run in enumerate(recorded["runs"]):
            for answer in (answer for log_in in run["log_ins"] for answer in log_in["answers"]):
                asked = recorded["statements"][answer["statement"]]
                for column in asked["columns"] if answer.get("rows") else ():
                    cell = run["plugin"], re.sub(r"\d+", "0", asked["sql"]), column
                    if representative(cell, (*cell, id(recorded), at)) in seen:
                        continue
                    seen.add(representative(cell, (*cell, id(recorded), at)))
                    yield recorded, at, (asked["sql"], column)


PLUGINS = sorted({run["plugin"] for recorded in mysql_targets._recordings() for run in recorded["runs"]})


@pytest.mark.parametrize("plugin", PLUGINS)
def test_an_answer_without_a_column_is_told(plugin, note):
    """``judge`` refuses internal errors. What is OK without a column was OK with it."""
    tried = named = 0
    for recorded, at, lost in cells():
        if recorded["runs"][at]["plugin"] != plugin:
            continue
        left_out, status, text = run_of(recorded, at, lost)
        tried += left_out
        named += f"answered without the column {lost[1]}" in text
        if left_out and status == OK and lost[1] not in OPTIONAL:
            assert run_of(recorded, at)[1] == OK, (lost, text)
    note("counted", ("answers without a column", tried))
    assert tried > 10
    assert named >= 3


def test_the_sentence_names_the_server_the_statement_and_the_column():
    recorded = next(
        one for one in mysql_targets._recordings() if one["runs"][0]["plugin"] == "check_replication_lag"
    )
    facts = next(one for one in recorded["statements"] if "AS net_timeout" in one["sql"])["sql"]
    _, status, text = run_of(recorded, 0, (facts, "now"))
    assert status == UNKNOWN
    assert re.match(
        r"db2:3306 answered without the column now: asked SELECT UNIX_TIMESTAMP\(N"
        r".*: check which server or proxy answers there, and its version",
        sentence(text),
    )


@pytest.mark.parametrize("stopped", ["Replica_SQL_Running", "Slave_SQL_Running", "Slave_IO_Running"])
def test_nobody_is_called_stopped_without_the_column_that_says_so(stopped):
    recorded = next(
        one
        for one in mysql_targets._recordings()
        if any(stopped in asked["columns"] for asked in one["statements"])
    )
    asked = next(asked["sql"] for asked in recorded["statements"] if stopped in asked["columns"])
    _, status, text = run_of(recorded, 0, (asked, stopped))
    assert (status, "stopped" in text) == (UNKNOWN, False), text


class Captured(CapturedMysql):
    """A captured server that leaves a column out of everything."""

    lost = ""

    def rows(self, sql, *arguments, within=None):
        found = super().rows(sql, *arguments, within=within)
        values = [one.values() for one in found]
        return without(rows.by_column(found[0] if found else (), values, self.where, sql), self.lost)


@pytest.mark.parametrize("column", ["Variable_name", "Value", "NAME", "COUNT", "STATUS", "ENABLED", "Status"])
@pytest.mark.parametrize("version", VERSIONS)
def test_status_and_metrics_without_a_column(version, column):
    for name, arguments in mysql_targets.CAPTURED:
        server = Captured(version)
        server.lost = column
        of = plugin_runs.plugin(name)
        with (
            plugin_runs.clock(),
            mock.patch.object(mysql_options, "connect", return_value=server),
            mock.patch.object(mysql, "connect", return_value=server),
            mock.patch.object(Run, "memory", return_value=nullcontext({})),
        ):
            status, text = of["check"].run(of["findings"], ["-H", "db1", *arguments])
        plugin_runs.judge(name, status, text)
        if column in {"Variable_name", "Value"}:
            assert status == UNKNOWN
            assert f"db1:3306 answered without the column {column}: asked SHOW GLOBAL " in text
