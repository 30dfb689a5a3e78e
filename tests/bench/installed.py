"""Does a check cost where it is installed, and as the user nagios, what it costs in this tree?

On a healthy replica of MariaDB and on a JVM that the tests start. All are run through setpriv, those as root,
too: it costs each of them the same.
"""

import os
import pwd
import shutil
from pathlib import Path

from copies import environment, installed, tree, unpacked
from measured import HEAP, Bench
from medians import times
from pairs import MONITOR, PASSWORD, version

# isort: split
import software
from debian_root import not_debian
from jvm import Jvm
from replication_pair import Pair

ROUNDS = 40
LIMIT = 1.1
TREE, COMPILED_ANEW = "this tree", "not compiled beforehand"
NAGIOS = "nagios"
HIS = "nagios-nrpe-server"  # Debian's package with the least that brings him


def copies(bench):
    """All that is measured, by name; TREE first."""
    home = installed(Path(bench.path("prefix")))
    anew = shutil.copytree(home, bench.path("anew"), symlinks=True, ignore=lambda *_: {"__pycache__"})
    found = {TREE: tree(Path(bench.path("tree"))), "make install": environment(home)}
    if reason := not_debian():
        bench.leave_out(reason)
    else:
        found["the Debian package"] = environment(unpacked(Path(bench.path("deb"))))
    return found | {COMPILED_ANEW: environment(Path(anew))}


def commands(bench, found, plugin, *words):
    """One check in each copy, as root and as nagios, by what it is called."""
    given = {f"{TREE}, as root": ("root", TREE)}
    given |= {f"{name}, as root": ("root", name) for name in found if name not in {TREE, COMPILED_ANEW}}
    given |= {f"{name}, as nagios": (NAGIOS, name) for name in found if name != TREE}
    return {
        called: found[name].command(user, plugin, *(word.format(state=bench.path(user)) for word in words))
        for called, (user, name) in given.items()
    }


def compare(bench, found, title, plugin, *words, status=0):
    """Measure one check, and hold what is compiled to the tree's."""
    given = commands(bench, found, plugin, *words)
    costs = bench.compare(title, given, ROUNDS, expected=dict.fromkeys(given, (status,)))
    first = f"{TREE}, as root"
    judged = [name for name in costs if name != first and not name.startswith(COMPILED_ANEW)]
    worst = max(judged, key=lambda name: times(costs[name], costs[first]))
    what = f"{title} installed, of the same in this tree; the dearest is {worst}"
    bench.hold(what, costs, worst, first, LIMIT)


def prepare(bench):
    """Let nagios into the bench's folder, with a state of its own."""
    os.chmod(bench.folder, 0o755)
    os.mkdir(bench.path(NAGIOS), 0o700)
    shutil.chown(bench.path(NAGIOS), NAGIOS)
    os.mkdir(bench.path("root"), 0o700)


def possible(bench):
    """Whether it can be measured here; why not is noted."""
    if os.geteuid():
        bench.leave_out("to run something as nagios needs root: run this as root")
        return False
    try:
        pwd.getpwnam(NAGIOS)
    except KeyError:
        return _brought(bench)
    return True


def _brought(bench):
    try:
        software.run(f"the user {NAGIOS}", software.INSTALL, HIS)
    except software.Missing as missing:
        bench.leave_out(missing)
        return False
    return True


def main():
    """Measure a version, a check of a replica and one of a JVM."""
    with Bench("installed", STALLWATCH_MYSQL_PASSWORD=PASSWORD) as bench:
        if not possible(bench):
            return
        prepare(bench)
        found = copies(bench)
        compare(bench, found, "--version", "check_replication_lag", "--version", status=3)
        with Pair(bench.path("pair"), "mariadb") as pair:
            bench.software["MariaDB"] = version(pair.replica)
            login = ("-H", pair.replica.host, "-P", str(pair.replica.port), "-u", MONITOR)
            words = (*login, "--state-dir", "{state}")
            compare(bench, found, "check_replication_lag", "check_replication_lag", *words)
        with Jvm(bench.path("jvm")) as jvm:
            compare(
                bench,
                found,
                "check_jmx",
                "check_jmx",
                "-H",
                jvm.host,
                "-P",
                str(jvm.port),
                "--no-state",
                *HEAP,
            )


if __name__ == "__main__":
    main()
