"""Servers that answer what real ones were captured to say: status, variables, InnoDB's metrics and status."""

import re
from pathlib import Path

from clock import Waiting
from stallwatch.sources.mysql import DeniedError, Flavour

CAPTURES = Path(__file__).parents[1] / "recorded" / "replication"
VERSIONS = {
    "MySQL 5.7": ("my57", Flavour("MySQL", (5, 7, 42), "MySQL 5.7.42")),
    "MySQL 8.0": ("my80", Flavour("MySQL", (8, 0, 46), "MySQL 8.0.46")),
    "MySQL 9.7": ("my97", Flavour("MySQL", (9, 7, 4), "MySQL 9.7.4")),
    "MariaDB 10.11": ("ma1011", Flavour("MariaDB", (10, 11, 19), "MariaDB 10.11.19")),
}


def lines(name):
    """The lines of a capture."""
    return (CAPTURES / name).read_text().splitlines()


def pairs(name):
    """A capture that has a name and a value in each line."""
    return dict(line.split("\t", 1) if "\t" in line else (line, "") for line in lines(name))


class CapturedMysql:
    """Server's methods; what it tells may be changed.

    ``status``, ``variables`` are texts by name, ``metrics`` numbers by name, those that are enabled;
    ``denied`` the GRANT that is missing for statements with such a part, ``failing`` the error for them.
    A ``clock`` goes on with it: who looks at it from run to run compares its uptime with our time.
    """

    def __init__(self, version, where="db1:3306", clock=None):
        self._clock = clock
        name, self.flavour = VERSIONS[version]
        self.where = where
        self.deadline = Waiting()
        self.local = False
        self.status = pairs(f"{name}_global_status.txt")
        self.variables = pairs(f"{name}_global_variables.txt")
        rows = [line.split("\t") for line in lines(f"{name}_innodb_metrics.txt")]
        self.metrics = {row[0]: row[2] for row in rows if len(row) > 3 and row[3] in {"1", "enabled"}}
        self.disabled = {row[0]: row[2] for row in rows if len(row) > 3 and row[3] not in {"1", "enabled"}}
        self.innodb_status = "\n".join(lines(f"{name}_innodb_status.txt"))
        self.processes = []
        self.denied = {}
        self.failing = {}
        self.asked = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def close(self):
        """Log out."""

    def again(self):
        """Log in once more."""
        return self

    def later(self, seconds, **counted):
        """Let time go by in which these status variables, or metrics, grow so much."""
        if self._clock:
            self._clock.later(seconds)
        for name, more in {"Uptime": seconds, "Uptime_since_flush_status": seconds, **counted}.items():
            for told in (self.status, self.metrics):
                if name in told:
                    told[name] = str(int(told[name]) + more)

    def rows(self, sql, *_, within=None):
        """Answer one of these statements; nothing to others."""
        self.asked.append(sql)
        for part, error in self.failing.items():
            if part in sql:
                raise error
        for part, grant in self.denied.items():
            if part in sql:
                raise DeniedError(f"{self.where} denied it", number=1227, grant=grant)
        if "SHOW GLOBAL STATUS" in sql:
            return _variables(self.status, sql)
        if "SHOW GLOBAL VARIABLES" in sql:
            return _variables(self.variables, sql)
        if "INNODB_METRICS" in sql:
            return self._metrics(sql)
        if "SHOW ENGINE INNODB STATUS" in sql:
            return [{"Type": "InnoDB", "Name": "", "Status": self.innodb_status}]
        if sql == "SHOW PROCESSLIST":
            return self.processes
        return []

    def _metrics(self, sql):
        says = {"1": "1", "0": "0"} if self.flavour.mariadb else {"1": "enabled", "0": "disabled"}
        column = "ENABLED" if self.flavour.mariadb else "STATUS"
        told = {"1": self.metrics, "0": self.disabled}
        return [
            {"NAME": name, "COUNT": told[state][name], column: says[state]}
            for state in told
            for name in _names(sql, told[state])
        ]


def _variables(told, sql):
    return [{"Variable_name": name, "Value": told[name]} for name in _names(sql, told)]


def _names(sql, known):
    wanted = set(re.findall(r"'(\w+)'", sql))
    return [name for name in known if name in wanted or not wanted]
