"""check_mysql_status on real servers, idle and at their limits."""

import contextlib
import json
import time
from itertools import pairwise

import plugin_command
import pymysql
import pytest
import status_load
from loopback import wait_until
from plugin_command import Said
from sql_server import Account
from stallwatch.probes.mysql_status.kinds import COUNTER, UNKNOWN, kind
from stallwatch.sources.mysql.flavour import flavour

PATIENCE = 60  # seconds
PLACES = 10  # of max_connections: MariaDB takes no fewer


class Check:
    """Runs the plugin with an account that may do nothing at all; what it remembers is below ``home``."""

    def __init__(self, home):
        self.home = home
        self.accounts = {}

    def __call__(self, server, *options, remembers=True, password=None):
        if server not in self.accounts:
            self.accounts[server] = server.account("mon_status")
        account = self.accounts[server]
        state = ("--state-dir", self.home / "state") if remembers else ()
        words = ("-S", server.socket, "-u", account.user, "-t", "30s", *state, *options)
        secret = {"STALLWATCH_MYSQL_PASSWORD": account.password if password is None else password}
        return Said.of(plugin_command.run(self.home, "check_mysql_status", *words, variables=secret))

    def sampled(self, server, *options):
        """Run it with a sample, so that it needs no state."""
        return self(server, "--sample", "1s", "--no-state", *options, remembers=False)


@pytest.fixture
def check(tmp_path):
    return Check(tmp_path)


@pytest.fixture
def loaded(server):
    """The server, with a database to work in."""
    with status_load.database(server):
        yield server


def status(server):
    return {row["Variable_name"]: row["Value"] for row in server.sql("SHOW GLOBAL STATUS")}


def uptime(server):
    (row,) = server.sql("SHOW GLOBAL STATUS LIKE 'Uptime'")
    return int(row["Value"])


def later(server, seconds=2):
    """Wait until the server has been up for so much longer, in whole seconds: 1 may be none at all."""
    until, end = uptime(server) + seconds, time.monotonic() + PATIENCE
    while uptime(server) < until:
        assert time.monotonic() < end
        time.sleep(0.2)


@pytest.fixture(params=("mariadb", "mysql"))
def two(request, running_server):
    """A server and another one of the other family."""
    here, there = (running_server(kind) for kind in (request.param, *{"mariadb", "mysql"} - {request.param}))
    for server in (here, there):
        server.revive()
        server.account("mon_status")
    with status_load.database(here):
        yield here, there
    there.revive()


def test_an_idle_server_stands_at_no_limit(check, server):
    server.sql("FLUSH TABLES")  # other tests may have filled the cache of tables
    said = check.sampled(server)
    assert said.status == 0, said.output
    assert "queries/s over" in said.text
    assert len(said.output.splitlines()[0].encode()) <= 1023
    assert said.number("Threads_connected") >= 1


def test_every_number_of_this_version_is_known_and_what_counts_up_never_falls(loaded):
    version, comment = loaded.sql("SELECT @@version AS v, @@version_comment AS c")[0].values()
    mine = flavour(version, comment)
    clients = (status_load.scan, status_load.connect, status_load.sort_on_disk, status_load.change)
    looks = [status(loaded)]
    with status_load.running(loaded, *clients):
        for _ in range(4):
            time.sleep(0.25)
            looks.append(status(loaded))
    numbers = {name for name in looks[0] if _is_number(looks[0][name])}
    assert {name for name in numbers if kind(name, mine) == UNKNOWN} == set()
    counters = {name for name in numbers if kind(name, mine) == COUNTER}
    fell = {
        name: (before[name], after[name])
        for before, after in pairwise(looks)
        for name in counters
        if float(after[name]) < float(before[name])
    }
    assert fell == {}
    grew = {name for name in counters if float(looks[-1][name]) > float(looks[0][name])}
    assert {"Handler_read_rnd_next", "Connections", "Com_commit", "Com_rollback", "Bytes_sent"} <= grew


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_all_numbers_have_their_own_names(check, server):
    said = check.sampled(server, "--all", "--output", "json")
    found = {one["name"] for one in json.loads(said.output)["findings"] if one["name"]}
    numbers = {name for name, value in status(server).items() if _is_number(value)}
    unset = {name for name, value in status(server).items() if value == str(2**64 - 1)}
    assert numbers - unset <= found


def test_scans_connections_and_temporary_tables_that_are_too_many(check, loaded):
    sets = ("--set", "handlers", "--set", "connections", "--set", "temporary")
    names = ("Handler_read_rnd_next=2000", "Connections=2", "Created_tmp_disk_tables=1")
    limits = [word for name in names for word in ("--warning", name)]
    ratio = ("--critical", "Handler_read_rnd_next/Handler_commit=1e9")
    clients = (status_load.scan, status_load.connect, status_load.sort_on_disk)
    with status_load.running(loaded, *clients):
        end = time.monotonic() + 60  # on a busy machine a client connects seldom
        while "new connections" not in (said := check.sampled(loaded, *sets, *limits, *ratio)).output:
            assert time.monotonic() < end, said.output
    assert said.status == 1, said.output
    assert "rows/s read in scans (Handler_read_rnd_next)" in said.output
    assert "queries lack an index" in said.output
    assert "new connections/s (Connections), " in said.output
    assert "let clients keep connections" in said.output
    assert "temporary tables/s on disk (Created_tmp_disk_tables)" in said.output
    assert said.number("Handler_read_rnd_next") > 2000
    assert said.number("Created_tmp_tables") >= said.number("Created_tmp_disk_tables") > 1


def test_a_table_cache_that_is_too_small(check, loaded):
    (before,) = loaded.sql("SELECT @@table_open_cache AS size")
    loaded.sql("SET GLOBAL table_open_cache = 10")
    try:
        with status_load.running(loaded, status_load.open_tables):
            said = check.sampled(loaded, "--set", "tables")
    finally:
        loaded.sql(f"SET GLOBAL table_open_cache = {before['size']}")
    assert said.status == 1, said.output
    assert "tables/s opened (Opened_tables)" in said.text
    assert "raise table_open_cache, for example to 20" in said.output
    assert said.number("Opened_tables") > 1


def test_flush_status_between_two_runs(check, loaded):
    with loaded.session() as sql:
        sql(f"INSERT INTO {status_load.DATABASE}.big VALUES (1, 'in the binary log')")
    include = ("--set", "none", "--include", "Binlog_cache_use|com_select")
    assert check(loaded, *include).status == 0
    loaded.sql("FLUSH STATUS")
    later(loaded)
    said = check(loaded, *include)
    assert said.status == 0, said.output
    assert "reset, as by FLUSH STATUS" in said.output
    assert "Binlog_cache_use" not in said.perfdata
    assert said.number("Com_select") >= 0


def test_a_restart_between_two_runs(check, server):
    while uptime(server) < 8:  # so that it is up for less afterwards
        time.sleep(0.2)
    first = check(server, "--set", "none", "--include", "Com_select")
    assert "rates are known from the next run on" in first.output
    server.stop()
    server.start()
    said = check(server, "--set", "none", "--include", "Com_select")
    assert said.status == 0, said.output
    assert "it has restarted since the last look: rates are known from the next run on" in said.output
    assert "Com_select" not in said.perfdata


@contextlib.contextmanager
def full(server):
    """The server with all places taken, but for the one of administrators; gives what frees them."""
    account = server.account("app_status")
    (before,) = server.sql("SELECT @@max_connections AS most")
    server.sql(f"SET GLOBAL max_connections = {PLACES}")
    try:
        with contextlib.ExitStack() as held:
            taken, end = 0, time.monotonic() + PATIENCE
            while taken < PLACES:  # others may not have left yet
                try:
                    held.enter_context(server.session(account))
                    taken += 1
                except pymysql.Error:
                    assert time.monotonic() < end
                    time.sleep(0.1)
            yield held.close
    finally:
        server.sql(f"SET GLOBAL max_connections = {before['most']}")


def test_a_server_that_has_no_place_left(check, server):
    """It is known by our own log-in, by who is let in for administration, and by what it has counted."""
    server.sql("FLUSH STATUS")  # the most connections so far are forgotten
    first = check(server)
    assert first.status in {0, 1}, first.output
    root = ("-u", "root", "--unreachable", "warning")
    with full(server) as leave:
        said = check(server)
        assert said.status == 1, said.output
        assert "max_connections is used up: not even this check is let in (1 of 3 looks)" in said.output
        assert check(server, "--confirm", "1").status == 2
        assert check(server, "--unreachable", "critical").status == 2
        assert check(server, "--set", "handlers").status == 3
        said, end = None, time.monotonic() + PATIENCE
        while not said or "not even this check" in said.text:  # who had the place before may not have left
            assert time.monotonic() < end
            said = check(server, *root, "--confirm", "1", password="")
        assert said.status == 1, said.output  # a first look: there is nothing yet that may last
        assert (
            f"{PLACES + 1} clients are connected (Threads_connected), max_connections is {PLACES}"
            in said.text
        )
        assert said.number("Threads_connected") > PLACES
        with pytest.raises(pymysql.Error), server.session(Account("app_status", "any")):
            pass
        leave()
        wait_until(
            lambda: int(status(server)["Threads_connected"]) < PLACES // 2,
            PATIENCE,
            server.process,
            server.log,
        )
        later(server)
        said = check(server)
    assert said.status == 1, said.output
    assert "some were turned away" in said.output or "clients/s turned away" in said.output


@pytest.mark.parametrize("server", ["mariadb"], indirect=True)
def test_appliers_that_have_nothing_to_do_are_not_at_work(check, server):
    (before,) = server.sql("SELECT @@slave_parallel_threads AS appliers")
    server.sql("SET GLOBAL slave_parallel_threads = 20")
    server.follow("", 1, Account("nobody", "none"))
    try:
        server.start_replication("", "SQL_THREAD")
        wait_until(lambda: int(status(server)["Threads_running"]) >= 20, PATIENCE, server.process, server.log)
        said = check.sampled(server, "--set", "threads")
    finally:
        server.forget("")
        server.sql(f"SET GLOBAL slave_parallel_threads = {before['appliers']}")
    assert said.status == 0, said.output
    assert said.number("Threads_running") >= 20
    assert " at work besides 2" in said.output or "1 thread at work" in said.output


def test_a_reference_of_the_other_family(check, two):
    here, there = two
    with status_load.running(here, status_load.scan):
        reference = ("--reference", f"127.0.0.1:{there.port}")
        said = check.sampled(here, "--set", "none", *reference, "--output", "json")
    assert said.status == 0, said.output
    scanned = differences(said)["Handler_read_rnd_next"]
    assert scanned["here"] > 3 * scanned["reference"]
    assert f"compared with 127.0.0.1:{there.port} over " in said.output


def differences(said):
    """What differs from the reference, by name."""
    (found,) = (one for one in json.loads(said.output)["findings"] if one["name"] == "differences")
    return {row["name"]: row for row in found["table"]}


@pytest.mark.parametrize("two", ["mysql"], indirect=True)
def test_a_reference_group_between_runs(check, two, tmp_path):
    here, there = two
    file = tmp_path / "my.cnf"
    file.write_text(f"[healthy]\nhost = 127.0.0.1\nport = {there.port}\n")
    file.chmod(0o600)
    own = ("--set", "none", "--include", "Handler_.*")
    options = ("--defaults-file", file, "--reference-group", "healthy", *own)
    first = check(here, *options)
    assert f"nothing is to be compared with 127.0.0.1:{there.port} this time" in first.output
    with status_load.running(here, status_load.scan):
        later(here, 3)
        said = check(here, *options, "--output", "json")
    assert said.status == 0, said.output
    assert "Handler_read_rnd_next" in differences(said)


@pytest.mark.parametrize("two", ["mariadb"], indirect=True)
def test_a_reference_that_is_frozen_costs_no_verdict(check, two):
    here, there = two
    there.suspend()
    try:
        said = check.sampled(here, "--reference", f"127.0.0.1:{there.port}", "-c", "Threads_running=0")
    finally:
        there.resume()
    assert said.status == 2, said.output
    assert " at work" in said.text
    assert "(Threads_running)" in said.text
    assert "not compared with the reference: " in said.output
    assert said.number("Threads_running") >= 1


@pytest.mark.parametrize("server", ["mysql"], indirect=True)
def test_a_server_that_is_frozen_is_unknown_in_time(check, server):
    server.suspend()
    try:
        account = {"STALLWATCH_MYSQL_PASSWORD": "any"}
        words = ("-S", server.socket, "-u", "mon_status", "-t", "3s", "--sample", "1s")
        said = Said.of(plugin_command.run(check.home, "check_mysql_status", *words, variables=account))
    finally:
        server.resume()
    assert said.status == 3, said.output
    assert server.socket in said.output
