"""Which trials are to be played."""

import re
from typing import NamedTuple

import parts
from case import middle
from places import KEPT


class Job(NamedTuple):
    """A trial that is to be played."""

    part: str
    case: object
    server: str
    strength: str

    @property
    def name(self):
        """A name for a file."""
        words = f"{self.case.name} {self.strength} {self.server}"
        return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")

    @property
    def path(self):
        """Where all that is printed is kept."""
        return KEPT / self.part / f"{self.name}.jsonl"


def jobs(part, options):
    """All trials of a part: first those of middle strength, then the others.

    Of each, those that need servers of their own come first, then the longest: the others share servers. Of
    equal ones, those that are played one at a time come first, or they would wait for each other at the end.
    """
    found = []
    for case in parts.cases(part).values():
        if options.case and case.name not in options.case:
            continue
        strengths = [middle(case.strengths)] if options.quick else case.strengths
        found += [
            Job(part, case, server, strength)
            for server in case.servers
            if server in (options.server or case.servers)
            for strength in strengths
            if strength in (options.strength or [strength])
        ]
    return sorted(found, key=_order)


def _order(job):
    case = job.case
    is_middle = job.strength == middle(case.strengths)
    return not is_middle, not case.fresh, -case.seconds, not case.heavy, case.name, job.strength
