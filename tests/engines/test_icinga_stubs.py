"""A real Icinga whose plugin folder is that of the stubs: stallwatchd runs its checks, or nobody notices."""

import contextlib
import socket

import engine_user
import psutil
import pytest
import warm_daemon
from icinga import Icinga
from warm_daemon import soon

LOG = warm_daemon.ROOT / "tests/recorded/ndb_log/E0_start_and_100s_quiet.ndb_4_out.log"
OBJECTS = """
object Host "db1" {{
  check_command = "dummy"
  enable_active_checks = false
}}
object Service "log" {{
  host_name = "db1"
  check_command = "ndb_log"
  vars.ndb_log_log = "{log}"
  vars.ndb_log_whole = true
}}
"""
HUNG = """
object Service "hung" {{
  host_name = "db1"
  check_command = "stallwatch_mysql_query"
  check_interval = 1s
  vars.stallwatch_mysql_query_hostname = "127.0.0.1"
  vars.stallwatch_mysql_query_port = {port}
  vars.stallwatch_mysql_query_username = "monitor"
  vars.stallwatch_mysql_query_timeout = "6s"
}}
"""


@pytest.fixture
def daemon(open_path, installed):
    """A stallwatchd of the installed version that has not been started."""
    binaries = installed / "lib/stallwatch/bin"
    return warm_daemon.Warm(
        open_path / "warm", python=binaries / "python3", program=binaries / "stallwatchd", plugins=binaries,
        **engine_user.becoming(),
    )  # fmt: skip


def configuration(daemon, objects):
    """What has an Icinga run the checks of these objects behind the stubs."""
    commands = warm_daemon.ROOT / "contrib/icinga2/stallwatch-commands.conf"
    return f'const StallwatchPluginDir = "{daemon.stubs}"\n{commands.read_text()}{objects}'


@pytest.mark.slow("an Icinga, and stallwatchd that ends and starts")
def test_an_icinga_with_stubs(open_path, daemon):
    log = engine_user.copy(LOG, open_path)
    objects = configuration(daemon, OBJECTS.format(log=log))
    daemon.start()
    try:
        with Icinga(open_path / "icinga", objects=objects) as icinga:
            behind = icinga.check("db1!log")
            assert behind.output.startswith("NDB_LOG OK - ")
            assert not daemon.noted.stat().st_size
            daemon.stop()
            alone = icinga.check("db1!log")
            assert daemon.noted.stat().st_size == 1
            daemon.start()
            again = icinga.check("db1!log")
            assert not daemon.noted.stat().st_size
        assert (behind.state, behind.output) == (alone.state, alone.output) == (again.state, again.output)
    finally:
        daemon.stop()


def under_way(daemon):
    """The stubs that wait for an answer."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            found += [process] if str(daemon.stubs / "check_mysql_query") in process.cmdline() else []
    return found


@pytest.mark.slow("an Icinga that is killed, and started again")
def test_an_icinga_that_is_killed(open_path, daemon):
    """Its check ends in time, nothing of it is left, and the next Icinga has the same stallwatchd."""
    log = engine_user.copy(LOG, open_path)
    with socket.create_server(("127.0.0.1", 0)) as silent, warm_daemon.serving(daemon):
        port = silent.getsockname()[1]
        objects = configuration(daemon, OBJECTS.format(log=log) + HUNG.format(port=port))
        icinga = Icinga(open_path / "icinga", objects=objects)
        icinga.start()
        try:
            soon(lambda: under_way(daemon))
            stubs = under_way(daemon)
            for process in icinga.process.family:
                if process not in stubs:
                    process.kill()
            soon(lambda: not any(process.is_running() for process in stubs))
        finally:
            icinga.stop()
        soon(lambda: not under_way(daemon))
        with Icinga(open_path / "again", objects=objects) as again:
            assert again.check("db1!log").output.startswith("NDB_LOG OK - ")
        assert not daemon.noted.stat().st_size
