"""May what a check costs grow as it does with the size of what it looks at? Linear at most, or not at all.

``found`` are costs by check, by size, round by round, as Bench.compare() gives them. The bench is named
growth_SUBJECT. The limit is held to the worst of the checks.
"""

import statistics

import measured  # noqa: F401 - it knows where the generators are

# isort: split
from generators.growth import SUBJECTS
from generators.growth_power import power

LINEAR = 2.15  # times as much at twice the size, which is the power 1.1
FLAT = 1.25  # times as much at most, where nothing may grow
KINDS = {"processor": "processor time", "memory": "memory"}


def linear(bench, found, kind="processor"):
    """What comes to the start may double where the size does."""
    _hold(bench, f"{KINDS[kind]} at twice the size, above the start", found, kind, twice, LINEAR)


def flat(bench, found, kind="processor"):
    """No size may cost more than others."""
    _hold(bench, f"{KINDS[kind]} at one size, of that at another", found, kind, spread, FLAT)


def twice(sizes, medians):
    """How many times as much twice the size costs, above the start."""
    return 2 ** power(sizes, medians)


def spread(_, medians):
    """How many times as much the dearest size costs as the cheapest."""
    return max(medians) / min(medians)


def _hold(bench, what, found, kind, judged, limit):
    subject = SUBJECTS[bench.name.removeprefix("growth_")]
    sizes = list(next(iter(found.values())))
    ratios = {}
    for name, costs in found.items():
        medians = [statistics.median(getattr(one, kind) for one in each) for each in costs.values()]
        ratios[name] = judged(sizes, medians)
    worst = max(ratios, key=ratios.get)
    where = f"{subject.named(sizes[0])} to {subject.named(sizes[-1])} {subject.unit}"
    bench.budget(f"{where}: {what}; the worst is {worst}", ratios[worst], limit)
