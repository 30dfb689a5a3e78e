"""Looks at a captured server, as check_mysql_status takes them."""

import json
import re

from stallwatch.frame.check import Check
from stallwatch.probes.mysql_status import probe
from stallwatch.probes.mysql_status.selection import Selection, wanted


class Said:
    """What a run came to: its exit status, its findings as JSON has them, and its text with -v."""

    def __init__(self, status, answer):
        self.status = status
        self.findings = answer["findings"]
        self.summary = answer["summary"]

    def of(self, name):
        """The one finding about a quantity."""
        (found,) = (one for one in self.findings if one["name"] == name)
        return found

    def has(self, name):
        """Whether there is one."""
        return any(one["name"] == name for one in self.findings)

    @property
    def names(self):
        """What there are numbers of."""
        return [one["name"] for one in self.findings if one["name"]]

    @property
    def asides(self):
        """What was said besides numbers."""
        return [one["what"] for one in self.findings if one["name"] is None]


class Watch:
    """Runs of the check on one server, with what they remember."""

    def __init__(self, server, **asked):
        self.server = server
        self.asked = asked
        self.memory = {}

    def text(self, *arguments, warn=(), crit=(), **asked):
        """Run it: exit status and output."""
        asked = self.asked | asked
        for option in ("include", "exclude"):
            asked[option] = [re.compile(one, re.IGNORECASE) for one in asked.get(option, ())]
        ranges = {"warning": [*map(wanted, warn)], "critical": [*map(wanted, crit)]}

        asked.setdefault("confirm", 3)
        chosen = {field: asked.pop(field) for field in Selection._fields if field in asked}

        def findings(_, run):
            yield from probe.findings(self.server, run, self.memory, Selection(ranges, **chosen), **asked)

        return Check("mysql_status", "Look.").run(findings, [*arguments])

    def run(self, **asked):
        """Run it."""
        status, text = self.text("--output", "json", **asked)
        return Said(status, json.loads(text))

    def after(self, seconds, *, warn=(), crit=(), look=None, **counted):
        """Run it twice, so far apart; in between these numbers grow so much."""
        self.run(warn=warn, crit=crit)
        self.server.later(seconds, **counted)
        return self.run(warn=warn, crit=crit, **(look or {}))
