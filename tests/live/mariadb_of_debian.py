"""MariaDB of other releases of Debian, with their own libraries: nothing of it is installed."""

import glob
import os
import shutil
import subprocess

import software
from mariadb import INITIAL, OPTIONS, Mariadb
from sql_server import AS_ROOT

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
SOURCE = "deb [signed-by={keys}] {mirror} {suite} main\n"
ASKED = ("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian")
SETTINGS = ("Dir::Etc::sourceparts=/dev/null", "Dir::State::status=/dev/null")  # as if nothing were installed
# Run by the loader of that release, which finds that release's libraries.
WRAPPER = """#!/bin/sh
one={root}/lib/x86_64-linux-gnu
other={root}/usr/lib/x86_64-linux-gnu
loader=$one/ld-linux-x86-64.so.2
[ -e $loader ] || loader=$other/ld-linux-x86-64.so.2
exec $loader --library-path $one:$other {server} "$@"
"""
NOTHING = "#!/bin/sh\n"  # my_print_defaults: no file of settings is read


def mirror():
    """The mirror of Debian that this system gets its packages from. Raises Missing."""
    try:
        told = subprocess.run(ASKED, stdout=subprocess.PIPE, text=True, check=False).stdout.split()
    except OSError as error:
        raise software.Missing(f"cannot ask apt-get for a mirror: {error}") from error
    if not told:
        raise software.Missing("apt-get has no mirror of Debian: run apt-get update")
    return told[0]


class MariadbOfDebian(Mariadb):
    """A subclass says of which release."""

    suite = package = ""

    def __init__(self, folder, number=1, **settings):
        share = os.path.join(self.usr(), "share", "mysql")
        super().__init__(folder, number, **{"lc_messages_dir": share} | settings)

    @classmethod
    def program(cls):
        """How it is called."""
        where = (f"--basedir={cls.usr()}", f"--plugin-dir={cls.usr()}/lib/mysql/plugin")
        return [f"{cls.base()}/mariadbd", "--no-defaults", *where]

    @classmethod
    def template(cls):
        """A folder of data as they are at first."""

        def make(folder):
            usr = cls.usr()
            where = (f"--basedir={usr}", f"--datadir={folder}", f"--lc-messages-dir={usr}/share/mysql")
            install = ("/bin/sh", f"{usr}/bin/mariadb-install-db", "--force")  # no name to be resolved
            software.run("a new MariaDB", *install, *OPTIONS, *INITIAL, *AS_ROOT, *where)

        return software.kept(f"mariadb-data-{cls.suite}-{software.digest(__file__)}", make)

    @classmethod
    def base(cls):
        """The folder that it is unpacked in. Raises Missing."""
        return software.kept(f"mariadb-of-{cls.suite}", cls._unpack)

    @classmethod
    def usr(cls):
        """The folder /usr of what is unpacked. Raises Missing."""
        return os.path.join(cls.base(), "root", "usr")

    @classmethod
    def _unpack(cls, folder):
        sources, archives = os.path.join(folder, "sources.list"), os.path.join(folder, "archives")
        for one in ("lists/partial", "archives/partial"):
            os.makedirs(os.path.join(folder, one))
        with open(sources, "w") as file:
            file.write(SOURCE.format(keys=KEYS, mirror=mirror(), suite=cls.suite))
        places = (
            f"Dir::Etc::sourcelist={sources}", f"Dir::State::lists={folder}/lists",
            f"Dir::Cache={folder}", f"Dir::Cache::archives={archives}",
        )  # fmt: skip
        apt = ["apt-get", "-qq", *(word for one in (*SETTINGS, *places) for word in ("-o", one))]
        software.run(f"lists of Debian {cls.suite}", *apt, "update")
        more = ("--yes", "--no-install-recommends", "--download-only")
        software.run(f"MariaDB of Debian {cls.suite}", *apt, *more, "install", cls.package)
        root = os.path.join(folder, "root")
        for package in glob.glob(f"{archives}/*.deb"):
            software.run("a package", "dpkg-deb", "--extract", package, root)
        for one in ("lists", "archives"):
            shutil.rmtree(os.path.join(folder, one))
        cls._wrap(folder)

    @classmethod
    def _wrap(cls, folder):
        usr = os.path.join(folder, "root", "usr")
        server = os.path.realpath(f"{usr}/sbin/mariadbd")  # mysqld in Debian 11
        os.rename(server, f"{usr}/sbin/server")
        kept = os.path.join(software.CACHE, f"mariadb-of-{cls.suite}", "root")  # what the folder becomes
        wrapper = WRAPPER.format(root=kept, server=f"{kept}/usr/sbin/server")
        texts = {f"{folder}/mariadbd": wrapper, server: wrapper, f"{usr}/bin/my_print_defaults": NOTHING}
        for name, text in texts.items():
            with open(name, "w") as file:
                file.write(text)
            os.chmod(name, 0o755)


class Mariadb105(MariadbOfDebian):
    """MariaDB 10.5 of Debian 11."""

    suite, package = "bullseye", "mariadb-server-core-10.5"


class Mariadb118(MariadbOfDebian):
    """MariaDB 11.8 of Debian 13."""

    suite, package = "trixie", "mariadb-server-core"
