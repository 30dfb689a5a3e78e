"""All targets, by name."""

from importlib import import_module

FAMILIES = ("texts", "jmx", "mysql", "ndb", "host", "backups", "memory", "command")
OF = {family: import_module(f"{family}_targets").TARGETS for family in FAMILIES}
TARGETS = {name: target for targets in OF.values() for name, target in targets.items()}
