"""A real Icinga whose plugin folder is that of the stubs: stallwatchd runs its checks, or nobody notices."""

import engine_user
import pytest
import warm_daemon
from icinga import Icinga

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


@pytest.mark.slow("an Icinga, and stallwatchd that ends and starts")
def test_an_icinga_with_stubs(open_path, installed):
    binaries = installed / "lib/stallwatch/bin"
    daemon = warm_daemon.Warm(
        open_path / "warm", python=binaries / "python3", program=binaries / "stallwatchd", plugins=binaries,
        **engine_user.becoming(),
    )  # fmt: skip
    log = engine_user.copy(LOG, open_path)
    commands = warm_daemon.ROOT / "contrib/icinga2/stallwatch-commands.conf"
    constant = f'const StallwatchPluginDir = "{daemon.stubs}"\n'
    objects = constant + commands.read_text() + OBJECTS.format(log=log)
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
