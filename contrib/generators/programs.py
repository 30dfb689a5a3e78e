"""The programs besides the plugins: their ways, and the options of each, in their own parsers' words."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, NamedTuple

from generators.plugins import ROOT, Option, option
from stallwatch.warm.daemon import parser

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Way(NamedTuple):
    """What a program can do, named by its first argument."""

    name: str  # "" where there is only one
    about: str
    options: tuple[Option, ...]
    words: str = ""  # what comes besides options: "BEFORE AFTER"


class Program(NamedTuple):
    """One program."""

    name: str
    about: str  # one sentence
    ways: tuple[Way, ...]
    description: tuple[str, ...]  # paragraphs
    examples: tuple[str, ...]
    failed: str = "2, 3"  # exit statuses if it has not done what it should


def programs() -> list[Program]:
    """Load those for people, by name."""
    return [_discover(), _experiment()]


def daemon() -> Program:
    """Load stallwatchd."""
    loaded = runpy.run_path(str(ROOT / "contrib" / "stallwatchd"))
    program = _program("stallwatchd", loaded["__doc__"], [_way("", "Options", parser())])
    return program._replace(failed="1, 2")


def _discover() -> Program:
    name = "stallwatch-discover"
    loaded = runpy.run_path(str(ROOT / "contrib" / name))
    ways = []
    for way, (about, reaching, _) in loaded["WAYS"].items():
        actions = loaded["tool"](way, about, reaching).options
        ways.append(Way(way, about, tuple(option(one, "") for one in actions)))
    return _program(name, loaded["__doc__"], ways)


def _experiment() -> Program:
    name = "stallwatch-experiment"
    loaded = runpy.run_path(str(ROOT / "contrib" / name))
    (ways,) = (one for one in loaded["parser"]()._actions if one.choices)  # noqa: SLF001
    helps = {one.dest: one.help for one in ways._choices_actions}  # noqa: SLF001
    return _program(
        name, loaded["__doc__"], [_way(way, helps[way], parser) for way, parser in ways.choices.items()]
    )


def _way(name: str, about: str, parser: ArgumentParser) -> Way:
    actions = parser._actions  # noqa: SLF001
    words = " ".join(_word(str(one.metavar)) for one in actions if not one.option_strings)
    about = f"{about[0].upper()}{about[1:]}."
    return Way(name, about, tuple(option(one, "") for one in actions if one.option_strings), words)


def _word(metavar: str) -> str:
    return "-- PLUGIN [OPTION ...]" if metavar == "PLUGIN" else metavar


def _program(name: str, text: str, ways: list[Way]) -> Program:
    about, *rest = text.strip().split("\n\n")
    paragraphs = tuple(" ".join(one.split()) for one in rest if not one.startswith("  "))
    examples = tuple(line[2:] for one in rest if one.startswith("  ") for line in one.splitlines())
    return Program(name, about, tuple(ways), paragraphs, examples)
