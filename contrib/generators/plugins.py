"""The plugins and their options, in their own parsers' words: what everything generated is made from."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stallwatch.declared import every

if TYPE_CHECKING:
    from argparse import Action, ArgumentParser

    from stallwatch.declared import Declared, Label
    from stallwatch.frame.check import Check

ROOT = Path(__file__).resolve().parents[2]
PLUGIN_DIR = "/usr/lib/stallwatch/bin"  # of the Debian package


class Option(NamedTuple):
    """One option of a plugin."""

    flags: tuple[str, ...]  # ("-H", "--hostname")
    about: str  # what its help shows, with the default
    metavar: str = ""  # "": it takes no value
    choices: tuple[str, ...] = ()
    optional: bool = False  # its value may be left out
    several: bool = False  # it may be set several times
    required: bool = False
    group: str = ""  # the title under which the help has it

    @property
    def long(self) -> str:
        """Its long form, "--hostname"."""
        return next(flag for flag in self.flags if flag.startswith("--"))

    @property
    def name(self) -> str:
        """Its name where dashes do not go: "defaults_file"."""
        return self.long.removeprefix("--").replace("-", "_")


class Plugin(NamedTuple):
    """One plugin."""

    name: str  # without check_
    about: str  # one sentence
    options: tuple[Option, ...]  # its own as they were added, then those of every check
    examples: tuple[str, ...]  # the lines that end its help
    parser: ArgumentParser
    labels: tuple[Label, ...]  # of its perfdata
    declared: Declared

    @property
    def program(self) -> str:
        """Its file's name."""
        return f"check_{self.name}"

    def has(self, long: str) -> bool:
        """Whether it has this long option."""
        return any(option.long == long for option in self.options)


def plugins() -> list[Plugin]:
    """Load them all, by name."""
    declared = every()
    return [_plugin(path, declared) for path in sorted((ROOT / "plugins").glob("check_*"))]


def _plugin(path: Path, declared: dict[str, Declared]) -> Plugin:
    check = runpy.run_path(str(path))["check"]
    parser = check.parser
    groups = {action: group.title for group in parser._action_groups for action in group._group_actions}  # noqa: SLF001
    options = tuple(option(action, groups[action]) for action in check.options)
    examples = tuple(line[2:] for line in parser.examples.splitlines()[2:])
    own = declared[check.name]
    labels = tuple(one if one.about else _of_threshold(one, check) for one in own.labels)
    return Plugin(check.name, parser.description, options, examples, parser, labels, own)


def _of_threshold(label: Label, check: Check) -> Label:
    return label._replace(unit=check.units[label.name], about=check.abouts[label.name])


def option(action: Action, group: str) -> Option:
    """Describe what argparse knows of an option."""
    takes = action.nargs != 0
    default_metavar = "{" + ",".join(action.choices) + "}" if action.choices else action.dest.upper()
    return Option(
        tuple(action.option_strings),
        (action.help or "").replace("%%", "%"),
        str(action.metavar or default_metavar) if takes else "",
        tuple(map(str, action.choices or ())),
        optional=action.nargs == "?",
        several=type(action).__name__ in ("_AppendAction", "Word"),  # Word: of check_jmx, in their order
        required=action.required,
        group=group,
    )
