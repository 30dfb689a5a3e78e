"""All modules of the package are byte-compiled: Nagios compiles none, and needs nothing to write to."""

import shutil

from tracing import LOG
from uncompiled import asking, packages_in

HOME = "/usr/lib/stallwatch"
READ_ONLY = """
mount --bind / /mnt
mount --bind /proc /mnt/proc
mount -o remount,bind,ro /mnt
exec chroot /mnt runuser -u nagios -- "$@"
"""


def test_every_module_is_compiled_in_the_package(monitored_debian):
    packages_in(monitored_debian.path(HOME))
    assert monitored_debian.run(*asking(f"{HOME}/bin/python3", f"{HOME}/lib"), user="nagios") == ""


def test_nagios_needs_no_file_system_to_write_to(debian):
    shutil.copy(LOG, debian.path("/tmp/ndb_4_out.log"))
    check = (f"{HOME}/bin/check_ndb_log", "--whole", "--log", "/tmp/ndb_4_out.log")
    said = debian.run("sh", "-ec", READ_ONLY, "sh", *check, status=1)
    assert said.startswith("NDB_LOG WARNING - node 4 thread 2 was stuck 2.9 s")
    said = debian.run("sh", "-ec", READ_ONLY, "sh", "touch", "/tmp/it", status=1)
    assert "Read-only file system" in said
