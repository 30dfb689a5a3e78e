"""A real NRPE in a folder of its own, and Debian's program that asks it.

    with Nrpe(folder, "contrib/nrpe/stallwatch.cfg") as nrpe:
        print(nrpe.ask("check_host").stdout)

It listens on loopback, runs as the user nagios, and ends with the process that started it.
"""

import subprocess
from pathlib import Path

import engine_user
import software
from engine import Engine
from loopback import free_port, listens

PLUGINS = Path("/usr/lib/nagios/plugins")
CONFIGURATION = """
server_address=127.0.0.1
server_port={port}
nrpe_user={user}
nrpe_group={group}
allowed_hosts=127.0.0.1
dont_blame_nrpe=0
command_timeout=60
connection_timeout=300
disable_syslog=1
keep_env_vars=STATE_DIRECTORY
pid_file={folder}/nrpe.pid
log_file={folder}/nrpe.log
include_dir={folder}/nrpe.d
"""


class Nrpe(Engine):
    """An NRPE with the commands of those files."""

    def __init__(self, folder, *files):
        super().__init__(folder)
        self.program = software.program("nrpe", "nagios-nrpe-server")
        self.asking = software.file(PLUGINS / "check_nrpe", "nagios-nrpe-plugin")
        self.port = free_port()
        for file in files:
            engine_user.copy(file, self.folder / "nrpe.d")
        (self.folder / "nrpe.cfg").write_text(
            CONFIGURATION.format(
                port=self.port, folder=self.folder, user=engine_user.name(), group=engine_user.group()
            )
        )

    def command(self):
        """What starts it."""
        return [self.program, "-c", str(self.path("nrpe.cfg")), "-f"]

    def is_ready(self):
        """Whether it can be asked."""
        return listens(self.port)

    def ask(self, name, *options):
        """What it answers when it is asked to run the command of that name."""
        asked = [self.asking, "-H", "127.0.0.1", "-p", str(self.port), "-t", "60:3", "-c", name, *options]
        return subprocess.run(asked, capture_output=True, text=True, check=False, timeout=120)
