"""The command line of a plugin: argparse that neither prints nor exits."""

from __future__ import annotations

import re

from stallwatch import __version__
from stallwatch.startup import TYPE_CHECKING
from stallwatch.startup.argparse import (
    SUPPRESS,
    Action,
    ArgumentParser,
    ArgumentTypeError,
    HelpFormatter,
)
from stallwatch.units import NotUnderstoodError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable
    from typing import Any, NoReturn


class Said(Exception):  # noqa: N818
    """Help or version: all that this run has to say."""


class UsageError(Exception):
    """The arguments make no sense; the message is a sentence that says why."""


class Parser(ArgumentParser):
    """An argparse that raises what it has to say: its own status for bad usage is 2, which is CRITICAL."""

    examples = ""  # what the help ends with

    def __init__(self, prog: str, about: str) -> None:
        super().__init__(
            prog=prog,
            description=about,
            formatter_class=lambda prog: HelpFormatter(prog, width=80),
            allow_abbrev=False,
            add_help=False,
        )
        # "-w -5:5" has a range, not an option -5: argparse itself lets only plain numbers pass (3.11).
        self._negative_number_matcher = re.compile(r"-[\d.]")
        self.former: dict[str, str] = {}  # former names of options, which still work, and their names

    def keep(self, former: str, action: Action) -> None:
        """Accept the former name of an option; neither the help nor any document shows it."""
        self._option_string_actions[former] = action
        self.former[former] = action.option_strings[-1]

    def former_names(self, arguments: list[str]) -> list[str]:
        """Return one sentence for each former name that is used."""
        words = {word.partition("=")[0] if word.startswith("--") else word[:2] for word in arguments}
        return [f"{old} is now {new}; both work" for old, new in self.former.items() if old in words]

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
        """Write the help."""
        return super().format_help() + self.examples

    def print_help(self, file: object = None) -> NoReturn:  # noqa: ARG002
        """Raise the help text."""
        raise Said(self.format_help().rstrip())

    def parse(self, arguments: list[str]) -> Namespace:
        """Parse them all. What belongs to no option is not repeated: it may be part of a password."""
        options, strays = self.parse_known_args(arguments)
        for stray in strays:
            if stray.startswith("--") and stray != "--":
                self.error(f"unknown option {re.split('[= ]', stray)[0]}")
            if stray.startswith("-") and stray != "--":
                self.error(f"unknown option {stray[:2]}")
        if strays:
            self.error(f"argument {arguments.index(strays[0]) + 1} belongs to no option")
        return options


class Version(Action):
    """The option that tells the version."""

    def __call__(self, parser: ArgumentParser, *_: object) -> NoReturn:
        """Raise the version."""
        raise Said(f"{parser.prog} (stallwatch {__version__})")


def described(settings: dict[str, Any]) -> dict[str, Any]:
    """Complete the settings for ``add_argument``.

    The help names the default and needs no doubled ``%``; a ``type`` speaks for itself.
    """
    default, about = settings.get("default"), settings["help"]
    if default and default != SUPPRESS:
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

    told.__name__ = getattr(read, "__name__", "value")  # argparse says "invalid int value: 'x'"
    return told
