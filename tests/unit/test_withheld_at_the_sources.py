"""Each source withholds what somebody else says with the password in it, and still judges it as it came."""

import pytest
from stallwatch import withheld
from stallwatch.probes.jmx import values
from stallwatch.probes.ndb_log.ends import of_shutdowns
from stallwatch.probes.ndb_log.lines import parse
from stallwatch.probes.ndb_log.model import Node, Present, Rules
from stallwatch.probes.ndb_log.shutdown import Shutdown
from stallwatch.probes.ndbinfo import queries
from stallwatch.probes.replication_lag.causes import threads_and_link
from stallwatch.sources import ndb_mgm
from stallwatch.sources.backups import contents
from stallwatch.sources.jmx import failures
from stallwatch.sources.jmx.jmxquery.java import Ended, SpoiledError, checked
from stallwatch.sources.jmx.rmi import RemoteError
from stallwatch.sources.jmx.serialization import Record
from stallwatch.sources.jmx.target import Target
from stallwatch.sources.mysql import no_answer
from stallwatch.startup.pymysql import err
from stallwatch.withheld import WITHHELD

PASSWORD = "replica"


@pytest.fixture(autouse=True)
def told(no_password):
    withheld.keep(PASSWORD)


def explained(number, said, sql="SHOW REPLICAS"):
    asked = no_answer.Asked(sql, "db1:3306", "mon", "mon@%", 1.0)
    return no_answer.reason(err.ProgrammingError(number, said), asked)


@pytest.mark.parametrize("number", [1049, 1146, 1205, 1105, 1064])
def test_an_error_of_a_server(number):
    assert WITHHELD in explained(number, "no 'replica'" + "x" * 1000).what


def test_an_error_that_only_repeats_the_question():
    what = explained(1146, "Table 'app.replica' doesn't exist", "SELECT 1 FROM app.replica").what
    assert what.startswith("db1:3306 reports: Table 'app.replica' doesn't exist: asked SELECT")


def test_a_missing_grant_is_still_found():
    said = "SELECT command denied to user 'mon'@'h' for table 'replica'"
    assert explained(1142, said, "SELECT 1 FROM app.replica").grant == "SELECT on app.replica"


def test_a_lost_data_node_is_still_known():
    error = explained(1296, "Got error 4009 'replica' from NDB")
    assert WITHHELD in error.what
    assert queries._is_lost(error)


def test_an_error_of_a_replication_thread():
    assert threads_and_link._in_short("Duplicate entry 'replica' for key 'PRIMARY'") == WITHHELD


class Thrown(Record):
    name, ancestry = "java.lang.IllegalStateException", ()


def exception(message):
    record = Thrown(None)
    record.fields["detailMessage"] = message
    return RemoteError(record)


def test_an_exception_and_a_value_of_a_jvm():
    assert failures.reason(exception("no 'replica'")) == f"IllegalStateException: {WITHHELD}"
    assert failures.reason(exception("no replica")) == "IllegalStateException: no replica"
    assert values.quoted("the replica is up") == f'"{WITHHELD}"'


@pytest.mark.parametrize("output", ["", '{"general-exception": 1, "message":"no \'replica\'"}'])
def test_what_java_writes(output):
    with pytest.raises((SpoiledError, failures.UnreachableError), match="withheld: it contains"):
        checked(Ended(1, output, "no 'replica'"), Target("h", 1))


def test_a_management_server_and_a_program():
    assert ndb_mgm._quoted("no 'replica'" + "x" * 100) == f'it answers "{WITHHELD}"'
    assert contents._why("x.zst: no 'replica'") == f"zstd: {WITHHELD}"


def test_a_line_of_a_log():
    log = Shutdown(Node("ndb_4_out.log", {}), Present(Rules(now=0.0)), {})
    log.read(parse(b"Couldn't start as daemon, error: 'no 'replica''")._replace(when=0.0))
    assert next(of_shutdowns([log])).finding.why == WITHHELD
