"""Take pictures of Icinga Web and of Nagios' pages: real alerts of real servers, in a Debian in a folder.

    .venv/bin/python tests/pictures/web.py

As root, 10 minutes. A Debian in a folder gets the package, both engines, their pages and Chromium; whoever
follows the README there sets up a replication pair and an NDB Cluster. Then there is trouble: a transaction
blocks others on the source, another one the applier of the replica, and a data node is killed. Everything
listens on loopback, and ends with this program.
"""

import contextlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / folder) for folder in ("contrib", "tests/live", "tests/engines", "tests/install")]

import ndb_load  # noqa: E402 - they are in these folders
import software  # noqa: E402
from backup_makers import MARIADB_CLIENT  # noqa: E402
from debian_root import DebianRoot, surroundings  # noqa: E402
from lock_scenes import Scene  # noqa: E402
from loopback import free_port, listens  # noqa: E402
from mariadb import Mariadb  # noqa: E402
from ndb_cluster import NdbCluster  # noqa: E402
from newcomer import Newcomer  # noqa: E402
from palette import compact  # noqa: E402
from replication_pair import Pair  # noqa: E402
from replication_writer import Writer  # noqa: E402
from server_process import Server  # noqa: E402
from stranger import NODE, OTHER, PAIR, REPLICA, SOURCE, cluster_steps, steps  # noqa: E402

DOCS = ROOT / "contrib" / "docs"
PACKAGES = (
    "icinga2", "icinga2-ido-mysql", "dbconfig-no-thanks", "nagios4", "icingaweb2",
    "icingaweb2-module-monitoring", "apache2", "libapache2-mod-php", "php-gd", "php-intl", "php-mbstring",
    "php-mysql", "chromium", "fonts-dejavu-core",
)  # fmt: skip
IDO = "icinga"  # the database of what Icinga Web shows, and its account
USER = "operator"
ICINGAS = """object IdoMysqlConnection "ido" {{
  host = "127.0.0.1"
  port = {port}
  user = "{account.user}"
  password = "{account.password}"
  database = "{account.user}"
}}
"""
APACHES = f"ServerName 127.0.0.1\nSetEnv REMOTE_USER {USER}\n"
INSTALLATION = (DOCS / "installation.md").read_text()
CHROMIUM = (
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--virtual-time-budget=15000",
)  # fmt: skip
PROBLEMS = "/icingaweb2/monitoring/list/services?service=stallwatch%2A&service_problem=1"
ONE = "/icingaweb2/monitoring/service/show?host=replica1&service=stallwatch-replication-lag"
OF_NAGIOS = "/cgi-bin/nagios4/status.cgi?host=all&servicestatustypes=28"
ALERTS = ("mysql-stalls", "replication-lag", "ndb-nodes", "MySQL stalls", "Replication lag", "NDB nodes")
SECONDS = 300  # within which each of them has alerted; they take 90


class Apache(Server):
    """Debian's Apache with both pages, for people who are logged in already."""

    def __init__(self, root, database, account):
        self.root, self.port, self.log = root, free_port(), root.path("/tmp/apache2.log")
        root.path("/etc/apache2/ports.conf").write_text(f"Listen 127.0.0.1:{self.port}\n")
        sheets = re.search(r"^```apache\n(.*?)^```$", INSTALLATION, re.MULTILINE | re.DOTALL)[1]
        root.path("/etc/apache2/conf-enabled/pictures.conf").write_text(APACHES + sheets)
        self.sheets = f"http://127.0.0.1:{self.port}/stallwatch"
        root.run("a2dissite", "000-default")
        root.run("a2enmod", "rewrite", "cgi", "auth_digest", "authz_groupfile")
        root.run("a2enconf", "icingaweb2", "nagios4-cgi")
        self._icingaweb(database, account)

    def _icingaweb(self, database, account):
        """Configure Icinga Web."""
        ido = {
            "type": "db", "db": "mysql", "host": "127.0.0.1", "port": database.port, "dbname": account.user,
            "username": account.user, "password": account.password,
        }  # fmt: skip
        for name, sections in {
            "config.ini": {"global": {"config_backend": "ini"}, "logging": {"log": "none"}},
            "authentication.ini": {"external": {"backend": "external"}},
            "roles.ini": {"all": {"users": USER, "permissions": "*"}},
            "resources.ini": {"ido": ido},
            "modules/monitoring/backends.ini": {"icinga": {"type": "ido", "resource": "ido"}},
        }.items():
            path = self.root.path("/etc/icingaweb2") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            settings = ConfigParser(interpolation=None)
            settings.read_dict({section: _quoted(values) for section, values in sections.items()})
            with path.open("w") as file:
                settings.write(file)
        enabled = self.root.path("/etc/icingaweb2/enabledModules")
        enabled.mkdir(exist_ok=True)
        (enabled / "monitoring").symlink_to("/usr/share/icingaweb2/modules/monitoring")
        self.root.run("chmod", "-R", "a+rX", "/etc/icingaweb2")

    def start(self):
        """Start it."""
        self.launch(self.root.inside("apache2ctl", "-D", "FOREGROUND"), env=surroundings())

    def is_ready(self):
        """Whether it takes connections."""
        return listens(self.port)

    def has_sheets(self, links):
        """See that links of services lead to the sheets of plugins."""
        for link in links:
            with urllib.request.urlopen(link) as answer:
                text, name = answer.read().decode(), link.rpartition("/")[2].removesuffix(".md")
            if not text.startswith(f"# {name}\n") or not link.startswith(self.sheets):
                raise ValueError(f"{link} is no sheet: {text[:200]}")

    def picture(self, page, name, height, width=1200):
        """Keep in the documentation what a page looks like."""
        with tempfile.TemporaryDirectory(dir=self.root.path("/tmp")) as folder:
            inside = f"/tmp/{Path(folder).name}"
            self.root.run(
                *CHROMIUM, f"--user-data-dir={inside}/chromium", f"--window-size={width},{height}",
                f"--screenshot={inside}/page.png", f"http://127.0.0.1:{self.port}{page}", HOME=inside,
            )  # fmt: skip
            compact(Path(folder, "page.png"), DOCS / name)


def _quoted(values):
    """Write values as an INI file of PHP has them."""
    return {name: f'"{value}"' for name, value in values.items()}


def debian(folder):
    """Make the Debian with the package and all programs."""
    subprocess.run([ROOT / "contrib/debian/build-deb", folder], check=True, stdout=subprocess.DEVNULL)
    root = DebianRoot.unpacked(folder / "debian")
    root.install(*folder.glob("*.deb"), *PACKAGES)
    root.run("icinga2", "api", "setup")
    # The examples of both engines, which look at this host, are not what is shown.
    root.path("/etc/icinga2/conf.d/services.conf").unlink()
    nagios = root.path("/etc/nagios4/nagios.cfg")
    nagios.write_text(nagios.read_text().replace("\ncfg_file=/etc/nagios4/objects/localhost.cfg", ""))
    with root.path("/etc/nagios4/cgi.cfg").open("a") as pages:
        pages.write("enable_page_tour=0\n")
    return root


def connected(root, database):
    """Let Icinga write into a database; give its account."""
    database.sql(f"CREATE DATABASE {IDO}")
    account = database.account(IDO, f"ALL ON {IDO}.*")
    client = software.program("mariadb", MARIADB_CLIENT)
    with root.path("/usr/share/icinga2-ido-mysql/schema/mysql.sql").open() as schema:
        own = ("--no-defaults", "--protocol=socket", "-S", database.socket, "-u", "root", IDO)
        subprocess.run([client, *own], stdin=schema, check=True)
    settings = root.path("/etc/icinga2/features-available/ido-mysql.conf")
    settings.write_text(ICINGAS.format(port=database.port, account=account))
    root.run("chown", "nagios:nagios", "/etc/icinga2/features-available/ido-mysql.conf")
    root.run("icinga2", "feature", "enable", "ido-mysql")
    return account


@contextlib.contextmanager
def trouble(pair, cluster):
    """Block the applier and clients of the source, end a data node, and let a transaction of NDB wait."""
    cluster.kill(4)
    with (
        Writer(pair),
        ndb_load.lock_wait(cluster.sql_node),
        pair.replica.session() as sql,
        Scene(pair.source) as scene,
    ):
        pair.catch_up()
        sql("BEGIN")
        sql("SELECT * FROM lab.beat FOR UPDATE")
        scene.idle()
        scene.writers(4, times=20)
        yield


def until_it_alerts(engine, services):
    """Let it check all again and again, until each of ALERTS that it has is at least WARNING, thrice."""
    until, seen = time.monotonic() + SECONDS, 0
    while seen < 3:  # then no attempt is left
        held = engine.check_all(services)
        quiet = [name for name, one in held.items() if name.endswith(ALERTS) and one.state not in {1, 2}]
        seen = 0 if quiet else seen + 1
        if time.monotonic() > until:
            raise TimeoutError("\n".join(f"{name}: {held[name].output}" for name in quiet))
        time.sleep(5)


def main():
    """Take all pictures."""
    with contextlib.ExitStack() as each:
        folder = Path(each.enter_context(tempfile.TemporaryDirectory(prefix="pictures-")))
        root = debian(folder)
        database = each.enter_context(Mariadb(folder / "ido"))
        apache = each.enter_context(Apache(root, database, connected(root, database)))
        pair = each.enter_context(Pair(folder / "pair", "mariadb"))
        cluster = each.enter_context(NdbCluster(folder / "ndb", sql=True))
        with root.path("/etc/icinga2/constants.conf").open("a") as constants:
            constants.write(f'const StallwatchDocs = "{apache.sheets}"\n')
        newcomer = Newcomer(root, {SOURCE: pair.source, REPLICA: pair.replica})
        newcomer.follow(steps(PAIR))
        other = Newcomer(root, {NODE: cluster.sql_node, OTHER: cluster.sql_node})
        other.follow([line for line in cluster_steps() if "stallwatch-discover" not in line])
        each.enter_context(trouble(pair, cluster))
        with newcomer.icinga() as icinga:
            names = icinga.evaluate("get_objects(Service).map(one => one.__name)")
            links = icinga.evaluate("get_objects(Service).map(one => one.notes_url)")
            apache.has_sheets(filter(None, links))
            until_it_alerts(icinga, [name for name in names if "!stallwatch-" in name])
            time.sleep(5)  # until it is in the database
            apache.picture(PROBLEMS, "icinga_problems.png", 470)
            apache.picture(ONE, "icinga_service.png", 810)
        for name in ("replication", "ndb"):
            path = root.path(f"/etc/nagios4/conf.d/{name}.cfg")
            path.write_text(path.read_text().replace("file:///usr/share/stallwatch/docs", apache.sheets))
        with newcomer.nagios() as nagios:
            until_it_alerts(nagios, nagios.services())
            apache.picture(OF_NAGIOS, "nagios_problems.png", 470)


if __name__ == "__main__":
    main()
