"""The command line of a plugin: argparse that neither prints nor exits."""

from __future__ import annotations

import os
import re

from stallwatch import __version__
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.argparse import (
    Action,
    ArgumentParser,
    ArgumentTypeError,
    HelpFormatter,
)
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn, TypeVar

    T = TypeVar("T")


# Of the help of a range, and of any help: patterns.
LEVEL, DEFAULT = "^(warning|critical) range:? ", r"\s*\(default: (.*)\)$"
_USUAL, _NARROWEST = 80, 40  # columns
_MOST = 2000  # arguments: argparse takes four times as long for twice as many, before any deadline runs
_LIKE = 0.65  # of difflib, from which two names are alike: lgo and log
_ADDRESS = r"\d+(\.\d+){3}|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]+"


class Said(Exception):  # noqa: N818
    """Help or version: all that this run prints."""


class UsageError(Exception):
    """The arguments make no sense; the message is a sentence with the reason."""


class Formatter(HelpFormatter):
    """Writes the help as wide as the terminal, and the two ranges of a quantity as one entry."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns())
        self._second: dict[Action, Action] = {}  # the critical range by the warning range

    def add_arguments(self, actions: Iterable[Action]) -> None:
        """Add the options of a group."""
        for first, *others in pairs(actions, lambda action: action.help or ""):
            self._second.update(zip([first], others, strict=False))
            self.add_argument(first)

    def _format_action_invocation(self, action: Action) -> str:
        one = super()._format_action_invocation(action)
        second = self._second.get(action)
        if not second:
            return one
        return f"{one}\n{' ' * self._current_indent}{super()._format_action_invocation(second)}"

    def _get_help_string(self, action: Action) -> str:
        actions = (action, self._second[action]) if action in self._second else (action,)
        return in_one(*(one.help or "" for one in actions))


def pairs(options: Iterable[T], about: Callable[[T], str]) -> list[list[T]]:
    """Put the two ranges of one quantity together, by the help, which ``about`` returns."""
    together: dict[object, list[T]] = {}
    for number, option in enumerate(options):
        text = re.sub(DEFAULT, "", about(option))
        quantity = re.sub(LEVEL, "", text)
        together.setdefault(quantity if quantity != text else number, []).append(option)
    return [*together.values()]


def in_one(about: str, of_critical: str | None = None) -> str:
    """Return the help of both ranges of a quantity, with both defaults; or of one option alone."""
    if of_critical is None:
        return about
    found = [re.search(DEFAULT, one) for one in (about, of_critical)]
    levels = zip(("warning", "critical"), found, strict=True)
    defaults = [f"{level} {one[1]}" for level, one in levels if one and one[1] != "none"]
    without = re.sub(LEVEL, "", re.sub(DEFAULT, "", about))
    return f"{without} (default: {', '.join(defaults) or 'none'})" if any(found) else without


def _columns() -> int:
    """Return the columns of the terminal: $COLUMNS, or those of standard output."""
    try:
        columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(1).columns
    except (OSError, ValueError):
        return _USUAL
    return max(columns, _NARROWEST) if columns > 0 else _USUAL


class Parser(ArgumentParser):
    """An argparse that raises its messages: its own exit status for bad usage is 2, which is CRITICAL."""

    examples = ""  # what the help ends with

    def __init__(self, prog: str, about: str) -> None:
        super().__init__(
            prog=prog,
            description=about,
            formatter_class=Formatter,
            allow_abbrev=False,
            add_help=False,
        )
        # "-w -5:5" has a range, not an option -5: argparse itself lets only plain numbers pass (3.11).
        self._negative_number_matcher = re.compile(r"-[\d.]")
        self._needed: list[Action] = []  # options that have to be given, while arguments are parsed

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong."""
        raise UsageError(message)

    def _get_values(self, action: Action, arg_strings: list[str]) -> Any:
        """Read the value of an option; argparse takes that of ``--password=--`` for none (3.11)."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            value = self._get_value(action, "--")
            self._check_value(action, value)
            return value
        return super()._get_values(action, arg_strings)

    def format_help(self) -> str:
        """Write the help; its usage names only what is required."""
        required = (one for one in self._actions if one.required or one in self._needed)
        words = [f"{one.option_strings[-1]} {one.metavar}" for one in required]
        self.usage = " ".join(["%(prog)s", *words, "[OPTION ...]"])
        return super().format_help() + self.examples

    def print_help(self, file: object = None) -> NoReturn:  # noqa: ARG002
        """Raise the help text."""
        raise Said(self.format_help().rstrip())

    def parse(self, arguments: list[str]) -> Namespace:
        """Parse them all. What belongs to no option is not repeated: it may be part of a password."""
        if len(arguments) > _MOST:
            self.error(f"{len(arguments)} arguments are too many: give {_MOST} at most")
        self._needed = [one for one in self._actions if one.required]
        for one in self._needed:
            one.required = False
        try:
            options, strays = self.parse_known_args(arguments)
        finally:
            for one in self._needed:
                one.required = True
        self._refuse_unknown(strays)  # a mistyped name explains what is missing
        if strays:
            place = arguments.index(strays[0])
            meant = f" (did you mean -H {strays[0]}?)" if self._may_be_host(strays[0]) else ""
            self.error(f"argument {place + 1}{self._after(arguments[:place])} belongs to no option{meant}")
        if missing := [one for one in self._needed if getattr(options, one.dest) is None]:
            self.error(f"{missing[0].option_strings[-1]} {missing[0].metavar} is missing")
        return options

    def _refuse_unknown(self, strays: Iterable[str]) -> None:
        """Name the first option that the plugin does not have."""
        for stray in strays:
            if stray.startswith("--") and stray != "--":
                name = re.split("[= ]", stray)[0]
                self.error(f"unknown option {name}{self._meant(name)}")
            if stray.startswith("-") and stray != "--":
                self.error(f"unknown option {stray[:2]}")

    def _meant(self, name: str) -> str:
        """Name the option that is most like one that there is not."""
        from difflib import get_close_matches

        word = name[2:82]
        known = [flag[2:] for flag in self._option_string_actions if flag.startswith("--")]
        like = [one for one in known if one.startswith(word)] or get_close_matches(word, known, 1, _LIKE)
        return f" (did you mean --{like[0]}?)" if like else ""

    def _may_be_host(self, word: str) -> bool:
        """Whether it is an address, which a password is not, and the host has an option here."""
        return "-H" in self._option_string_actions and re.fullmatch(_ADDRESS, word) is not None

    def _after(self, arguments: list[str]) -> str:
        """Name the last option among these, without its value."""
        for word in reversed(arguments):
            name = word.partition("=")[0] if word.startswith("--") else word[:2]
            if option := self._option_string_actions.get(name):
                return f", after {name}{' and its value' * (option.nargs != 0)},"
        return ""


class Version(Action):
    """The option that shows the version."""

    def __call__(self, parser: ArgumentParser, *_: object) -> NoReturn:
        """Raise the version."""
        raise Said(f"{parser.prog} (stallwatch {__version__})")


def described(settings: dict[str, Any]) -> dict[str, Any]:
    """Complete the settings for ``add_argument``.

    The help names the default and needs no doubled ``%``; a ``type`` speaks for itself.
    """
    default, about = settings.get("default"), settings["help"]
    if default:
        about += f" (default: {getattr(default, 'text', default)})"
    completed = {**settings, "help": about.replace("%", "%%")}
    if "type" in settings:
        completed["type"] = _outspoken(settings["type"])
    return completed


def _outspoken(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let argparse repeat the sentence of ``read`` about a value that it does not understand."""

    def told(text: str) -> Any:
        try:
            return read(text)
        except NotUnderstoodError as error:
            raise ArgumentTypeError(str(error)) from error

    told.__name__ = getattr(read, "__name__", "value")  # argparse prints "invalid int value: 'x'"
    return told
