"""Files of backups: dumps, what mydumper and mariadb-backup note, compressed ones."""

import gzip
import os
import shutil
from functools import cache
from unittest import mock

from backups import FakeServer
from choices import Choices
from fuzzing import Target
from plugin_runs import NOW, RECORDED, clock, said
from scratch import empty, file
from stallwatch.deadline import Children
from stallwatch.findings import ProbeError
from stallwatch.frame.options import mysql as mysql_options
from stallwatch.probes.mysql_backup import physical
from stallwatch.sources.backups import contents

BACKUPS = RECORDED / "mysql_backup"
NAMES = ("shop-20261120.sql", "all.sql.gz", "orders.sql", "dump.sql.zst", "backup.xbstream", "shop.tar.gz")


def the_text_of_a_file(octets):
    """Any file, plain or packed, read to its end."""
    choices = Choices(octets)
    path = file(choices.one(NAMES), choices.rest())
    with mock.patch.object(shutil, "which", return_value=None):
        for _ in contents.text(path, Children(), 1 << 16):
            pass


def a_dump(octets):
    """A single file of a dump, and a server to compare it with; it is read from beginning to end."""
    choices = Choices(octets)
    path = file(choices.one(NAMES), choices.rest())
    return _judged(path, "--verify", choices.one(("none", "full")))


def a_directory(octets):
    """A recorded backup one of whose texts is another one."""
    choices = Choices(octets)
    kind = choices.one(_folders())
    files = _texts(kind)
    folder = empty("backup") / "2026-11-20"
    shutil.copytree(kind, folder, copy_function=shutil.copyfile)
    (folder / choices.one(files)).write_bytes(choices.rest())
    return _judged(str(folder), "--verify", "none")


def settings(octets):
    """Files of lines like ``name = value``."""
    path = file("xtrabackup_checkpoints", octets)
    physical.lacks(os.path.dirname(path), physical.settings(path))


def _judged(path, *arguments):
    server = FakeServer()
    with (
        clock(NOW),
        mock.patch.object(shutil, "which", return_value=None),
        mock.patch.object(mysql_options, "connect", return_value=server),
    ):
        return said("check_mysql_backup", ["-d", path, "-H", "db1", *arguments])


@cache
def _folders():
    return [path for path in sorted(BACKUPS.glob("*")) if path.is_dir()] + sorted(
        BACKUPS.glob("mariabackup/*/")
    )


@cache
def _texts(kind):
    return sorted(str(path.relative_to(kind)) for path in kind.rglob("*") if path.is_file())


def dumps():
    """Recorded dumps, plain and packed, under each name."""
    texts = [path.read_bytes() for path in sorted(BACKUPS.rglob("*.sql"))]
    texts += [gzip.compress(text, mtime=0) for text in texts[:5]]
    texts += [b"\x28\xb5\x2f\xfd\x24\0", b"\x50\x2a\x4d\x18\4\0\0\0", b"XBSTCK01\0\1", b"BZh9", b""]
    return [number.to_bytes(2, "big") + text for number, text in enumerate(texts)]


def directories():
    """Each text of each recorded directory, as it is."""
    found = []
    for number, kind in enumerate(_folders()):
        for place, name in enumerate(_texts(kind)):
            octets = (kind / name).read_bytes()
            if 0 < len(octets) < 10_000:
                found.append(number.to_bytes(2, "big") + place.to_bytes(2, "big") + octets)
    return found


OF_DUMPS = (
    b"-- MariaDB dump 10.19",
    b"-- Dump completed on 2026-11-20  3:00:01\n",
    b"CREATE TABLE `",
    b"CHANGE MASTER TO ",
    b"INSERT INTO `",
    b"`",
    b"-- Host: localhost    Database: ",
    b"USE `shop`;\n",
    b"\x1f\x8b\x08\0",
    b"/*!40000 ",
    b"SET @@GLOBAL.GTID_PURGED=",
    b";\n",
)
OF_DIRECTORIES = (
    b"Started dump at: ",
    b"Finished dump at: ",
    b"SHOW MASTER STATUS:\n",
    b"\tLog: ",
    b"\tPos: ",
    b"backup_type = incremental\n",
    b"from_lsn = ",
    b"to_lsn = ",
    b"end_time = ",
    b"completed OK!",
    b"\n",
    b" = ",
    b"innodb_data_file_path=",
)
STATES = frozenset({"CRITICAL"})
PACKED = (contents.DamagedError, contents.SealedError, ProbeError)
TARGETS = {
    "packed_file": Target(
        the_text_of_a_file, dumps, PACKED, OF_DUMPS, 600, frozenset({"value", "DamagedError"})
    ),
    "dump": Target(a_dump, dumps, (), OF_DUMPS, 300, STATES),
    "backup_directory": Target(a_directory, directories, (), OF_DIRECTORIES, 300, STATES),
    "backup_settings": Target(settings, directories, (ProbeError,), OF_DIRECTORIES, 500),
}
