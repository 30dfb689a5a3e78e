"""The frame of a program that asks servers as the plugins do, and is run by a person."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from typing import Any, NoReturn

from stallwatch.frame.check import TRACE, Check
from stallwatch.frame.exit import Exit, silence
from stallwatch.frame.usage import Said, UsageError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Action, Namespace
    from collections.abc import Callable

    from stallwatch.frame.check import Findings
    from stallwatch.frame.run import Run

_OF_PLUGINS = ("--output", "--color")  # options of which a program has no use


class Tool(Check):
    """A program with the options of a plugin, without those that are for engines.

    The result goes to standard output, the reason for none to standard error: the output is put into files.
    """

    def __init__(self, name: str, about: str | None) -> None:
        super().__init__(name, about)
        self.reaching: list[Action] = []  # its options for how to get to a server
        self.parser.prog = f"stallwatch-{name}"
        self.parser.set_defaults(output="text", color="never")

    def _share(self, *flags: str, **settings: Any) -> None:
        if flags[0] not in _OF_PLUGINS:
            super()._share(*flags, **settings)

    def asks_server(self, unreachable: str = "unknown") -> None:
        """Add nothing: a server that does not answer is the end, there is no state to choose."""

    def main(self, findings: Findings, arguments: list[str] | None = None) -> NoReturn:
        """Run; leave with 0, or with 3 if there is no result."""
        way_out = _TwoWaysOut(self._unknown)
        arguments = sys.argv[1:] if arguments is None else arguments
        with suppress(UsageError):  # which is reported below
            try:
                self.parser.parse(arguments)
            except Said as said:
                way_out.answer(str(said))
        told: list[str] = []

        def begin(run: Run, options: Namespace) -> None:
            way_out.at(run.deadline, lambda why: self._cut_short(why, options, run))
            run.output = told.append
            if options.verbose < TRACE:
                silence(2)

        status, why = self._outcome(findings, arguments, begin)
        if status:
            way_out.leave(status, why)
        way_out.answer("".join(told).rstrip("\n"))


class _TwoWaysOut(Exit):
    def __init__(self, line: Callable[[str], str]) -> None:
        self._errors = fcntl(2, F_DUPFD_CLOEXEC, 3)
        self._is_answer = False
        super().__init__(line)

    def answer(self, text: str) -> NoReturn:
        """End with this answer, and 0."""
        self._is_answer = True
        self.leave(0, text)

    def write(self, text: str) -> None:
        """Write an answer to standard output, the reason why there is none to standard error."""
        if self._is_answer:
            super().write(text)
        else:
            os.write(self._errors, text.encode(errors="replace"))
