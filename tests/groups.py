"""The groups of tests: what ``make test GROUP=...`` runs, and how much of it one worker runs.

The modules of a group share servers. A worker starts a server for the first test that needs it and keeps it.
So a group is cut into shares, each of which one worker runs, one test after the other.
"""

import re
from collections import Counter
from statistics import fmean
from typing import NamedTuple


class Group(NamedTuple):
    """The modules of a group, by the starts of their paths below tests/, and the length of a share.

    ``share`` is in seconds of tests: a longer share starts fewer servers, a shorter one is easier to balance.
    A module is never cut; with ``kinds`` its tests of ``[mariadb]`` and ``[mysql]`` count as two modules.
    """

    paths: tuple
    share: float
    kinds: bool = False


GROUPS = {
    "unit": Group(("unit/", "recorded/", "plugins/"), 5),
    "replication": Group(("live/test_live_replication_",), 400, kinds=True),
    "mysql": Group(("live/test_live_mysql", "live/test_live_innodb_"), 400),
    "ndb": Group(("live/test_live_ndb_",), 260),
    "jmx": Group(("live/test_live_jmx_", "live/test_live_check_jmx", "live/test_live_jvm_"), 260),
    "host": Group(("live/test_live_host", "live/test_live_bonding"), 100),
    "load": Group(("live/test_live_load", "live/test_live_imports"), 400),
    "engines": Group(
        (
            "engines/test_discovered_services", "engines/test_icinga_definitions", "engines/test_icinga_runs",
            "engines/test_icinga_stubs",
            "engines/test_nagios_runs", "engines/test_nagios_sets", "engines/test_nagios_worker",
            "engines/test_readme",
        ),
        600,
    ),
    "definitions": Group(
        (
            "engines/test_completion", "engines/test_grafana_writers", "engines/test_hostile_names",
            "engines/test_icinga_agent", "engines/test_icinga_perfdata", "engines/test_man_pages",
            "engines/test_nagios_definitions", "engines/test_nagios_notifications", "engines/test_nrpe",
        ),
        200,
    ),
    "install": Group(("install/test_distribution", "install/test_i", "install/test_s"), 900),
    "debian": Group(("install/test_deb", "install/test_compiled", "install/test_readme"), 900),
    "hostile": Group(("hostile/", "faults/", "fuzz/"), 400),
}  # fmt: skip
KIND = re.compile(r"[\[-](mariadb|mysql)[\]-]")


def group_of(path):
    """The name of the group of a module, by its path below tests/. Raises LookupError where there is none."""
    for name, group in GROUPS.items():
        if path.startswith(group.paths):
            return name
    raise LookupError(f"tests/{path} is in no group: add it to tests/groups.py")


def of_test(nodeid):
    """The name of the group of a test, by its node id. Raises LookupError where there is none."""
    return group_of(nodeid.partition("::")[0].removeprefix("tests/"))


def unit_of(nodeid):
    """What is never cut: the module of a test, or the tests of one kind of servers in it.

    >>> unit_of("tests/live/test_live_replication_states.py::test_a_dead_port[mysql]")
    'live/test_live_replication_states.py[mysql]'
    """
    path, _, test = nodeid.partition("::")
    path = path.removeprefix("tests/")
    kind = KIND.search(test) if GROUPS[group_of(path)].kinds else None
    return f"{path}[{kind[1]}]" if kind else path


def shares(nodeids, durations):
    """The share of each test, by node id: the name of its first unit. Those that take longest come first.

    ``durations`` are seconds by unit; a unit that is not there is taken for a long one.
    """
    tests = {}
    for nodeid in nodeids:
        tests.setdefault(unit_of(nodeid), []).append(nodeid)
    found, open_shares = {}, {}  # a share: [seconds, units]
    for unit in sorted(tests, key=lambda unit: (unit.partition("[")[2], unit)):
        group = group_of(unit)
        of = group, unit.partition("[")[2]
        seconds = durations.get(unit, GROUPS[group].share)
        share = open_shares.get(of)
        if share is None or found[share][0] + seconds > GROUPS[group].share:
            share = open_shares[of] = unit
            found[share] = [0.0, []]
        found[share][0] += seconds
        found[share][1].append(unit)
    longest_first = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    return {nodeid: share for share, (_, units) in longest_first for unit in units for nodeid in tests[unit]}


def expected(modules, durations, workers):
    """Seconds that a run of these modules takes: each worker takes the longest share that is left.

    A module that was not measured counts as the average of its group, or as a whole share.
    """
    times = {unit: seconds for unit, seconds in durations.items() if _module(unit) in modules}
    groups = {}
    for unit, seconds in times.items():
        groups.setdefault(group_of(unit), []).append(seconds)
    for module in sorted(set(modules) - set(map(_module, times))):
        group = group_of(module)
        times[module] = fmean(groups.get(group, [GROUPS[group].share]))
    lengths = Counter()
    for test, share in shares([_any_test_of(unit) for unit in times], times).items():
        lengths[share] += times[unit_of(test)]
    busy = [0.0] * workers
    for length in lengths.values():
        busy[busy.index(min(busy))] += length
    return max(busy)


def _module(unit):
    return unit.partition("[")[0]


def _any_test_of(unit):
    path, _, kind = unit.partition("[")
    return f"tests/{path}::test" + (f"[{kind}" if kind else "")
