"""Checks that one would use instead, as Debian has them."""

import os
import shutil
import subprocess

import measured  # noqa: F401 - it says where the rest is
from starter import PATH

# isort: split
import software

PLUGINS = "/usr/lib/nagios/plugins"
CONTRIB = ("monitoring-plugins-contrib",)
STANDARD = ("monitoring-plugins-standard",)
BASIC = ("monitoring-plugins-basic",)
PACKAGES = {
    "check_mysql": STANDARD,
    "check_mysql_query": STANDARD,
    "check_mysql_health": (*CONTRIB, "libdbd-mysql-perl"),
    "pmp-check-mysql-replication-delay": CONTRIB,
    "pmp-check-mysql-status": CONTRIB,
    "pt-heartbeat": ("percona-toolkit",),
    "check_file_age": BASIC,
    "check_procs": BASIC,
    "check_load": BASIC,
    "check_disk": BASIC,
    "check_swap": BASIC,
    "check_log": BASIC,
    "check_cpu": CONTRIB,
    "check_iowait": CONTRIB,
    "check_paging": CONTRIB,
    "check_logfiles": ("monitoring-plugins-check-logfiles",),
    "iostat": ("sysstat",),
    "check_dummy": BASIC,
    "icinga2": ("icinga2-bin",),
    "nagios4": ("nagios4-core",),
}


def peers(bench, *wanted):
    """The paths of those that can be had, by name. What has them is noted, and what cannot be had."""
    paths = {}
    for name in wanted:
        try:
            paths[name] = _found(name)
        except software.Missing as missing:
            bench.leave_out(missing)
    for package in sorted({package for name in paths for package in PACKAGES[name]}):
        bench.software[package] = _version(package)
    return paths


def _version(package):
    """What is installed; empty if nothing is, or but its configuration."""
    command = ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    state, _, version = told.partition(" ")
    return version if state == "installed" else ""


def _found(name):
    """The path of a peer; raises Missing."""
    if not shutil.which("dpkg"):
        raise software.Missing(f"{name} is measured as Debian has it")
    packages = PACKAGES[name]
    if not all(map(_version, packages)):
        software.run(name, software.INSTALL, *packages)
    found = shutil.which(name, path=os.pathsep.join([PLUGINS, PATH]))
    if not found:
        raise software.Missing(f"no {name} although {packages[0]} is installed")
    return found
