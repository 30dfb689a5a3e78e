"""Icinga and Nagios of a Debian in a folder, with its own configuration and without systemd."""

import re
from pathlib import Path

from debian_root import surroundings
from icinga import Icinga
from loopback import free_port
from nagios import Nagios

INSTALLATION = (Path(__file__).parents[2] / "contrib/docs/installation.md").read_text()


def started(root, engine):
    """What starts an engine in there, as the page on the installation says."""
    line = re.search(rf"^ {{4}}((?:.* )?{engine})$", INSTALLATION, re.MULTILINE)[1]
    return root.inside("sh", "-ec", line)


class DebiansIcinga(Icinga):
    """Icinga, whose API has been set up."""

    grace = 0  # unshare keeps SIGTERM from it, and takes all of it along when it is killed

    def __init__(self, root):
        self.root, self.log, self.process = root, root.path("/tmp/icinga2"), None
        self.port, self.certificates = free_port(), root.path("/var/lib/icinga2/certs")
        users = root.path("/etc/icinga2/conf.d/api-users.conf").read_text()
        self.password = re.search(r'^ *password = "(.+)"$', users, re.MULTILINE)[1]
        api = root.path("/etc/icinga2/features-available/api.conf")
        own = f'bind_host = "127.0.0.1"\n  bind_port = {self.port}\n'
        api.write_text(api.read_text().replace(" {\n", f" {{\n  {own}", 1))

    def validate(self):
        return 0, self.root.run("icinga2", "daemon", "-C")

    def start(self):
        self.launch(started(self.root, "icinga2 daemon"), env=surroundings())


class DebiansNagios(Nagios):
    """Nagios, which does not ask its makers for a newer one."""

    grace = 0  # unshare keeps SIGTERM from it, and takes all of it along when it is killed

    def __init__(self, root):
        self.root, self.log, self.process = root, root.path("/tmp/nagios4"), None
        self.folder = root.path("/var/lib/nagios4")
        settings = root.path("/etc/nagios4/nagios.cfg")
        settings.write_text(settings.read_text().replace("\ncheck_for_updates=1", "\ncheck_for_updates=0"))

    def validate(self):
        return 0, self.root.run("nagios4", "-v", "/etc/nagios4/nagios.cfg")

    def start(self):
        self.launch(started(self.root, "nagios4 /etc/nagios4/nagios.cfg"), env=surroundings())
