"""The frame of a plugin: what it may be asked, its run, its end."""

from __future__ import annotations

import os
import re
import sys
import time

from stallwatch import withheld
from stallwatch.deadline import TimeUpError
from stallwatch.frame.exit import UNKNOWN, Alarm, Exit, no_dump, silence
from stallwatch.frame.run import Run
from stallwatch.frame.usage import Parser, Said, UsageError, Version, described
from stallwatch.line import clean, status
from stallwatch.startup import TYPE_CHECKING
from stallwatch.thresholds import Range, must_be_in_order
from stallwatch.units import NotUnderstoodError, UnusableFileError, duration

if TYPE_CHECKING:
    from argparse import Action, Namespace
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn

    from stallwatch.deadline import Deadline
    from stallwatch.findings import Finding
    from stallwatch.verdict import Report

    Findings = Callable[[Namespace, Run], Iterable[Finding]]
    AtStart = Callable[[Deadline, Callable[[str], tuple[int, str]]], None]

EVERYTHING, NUMBERS, TRACE = 1, 2, 3  # -v: what is OK; -vv: all numbers; -vvv: queries and tracebacks
DAY = 86400.0
FOR_THE_NEXT_RUN = "the data for the next run"

_NO_MEMORY = (
    "out of memory: raise the limit of this process (ulimit -v, MemoryMax), or free some on this host"
)
_RANGES = (
    "RANGE is [@]start:end, with both ends: alerts outside the range, @ inverts it. A missing start is 0, ~ "
    "is minus infinity, a missing end is infinity. Write times as 90s, 500ms, 5m, 2h or 1d, sizes as 512M "
    "or 1.5GiB, percentages as 90%."
)
_IN_UNITS = {"s": ", in seconds", "B": ", in bytes", "%": ", in per cent", "c": "", "": ""}
_HOW_TO_GET = {
    "nagiosplugin": "pip install nagiosplugin, or apt install python3-nagiosplugin",
    "pymysql": "pip install PyMySQL, or apt install python3-pymysql",
    "psutil": "pip install psutil, or apt install python3-psutil",
    "jmxquery": "pip install jmxquery",  # Debian 12 has no package of it
}
_WRITTEN_BY = {how: ("verdict", f"render.{how}") for how in ("text", "json", "human")}


class Check:
    """One plugin: its name, what it may be asked, and how it runs.

    ``about`` is the plugin's docstring, whose first line begins the help. ``parser`` and ``options`` are
    what documentation and engine configuration are made from.
    """

    def __init__(self, name: str, about: str | None) -> None:
        self.name = name
        self.parser = Parser(f"check_{name}", (about or "").strip().partition("\n")[0])
        self.units: dict[str, str] = {}  # of each quantity that has thresholds
        self.abouts: dict[str, str] = {}  # what each is, in words
        self.limits: dict[str, dict[str, Action]] = {}  # its two options, "warning" and "critical"
        self._asides: dict[str, None] = {}  # of this run, in their order
        self._as_json = False  # whether this run prints JSON
        self._own: list[Action] = []
        self._common: list[Action] = []
        self._reaching = self.parser.add_argument_group("connection")
        self._particular = self.parser.add_argument_group("what to look at")
        self._thresholds = self.parser.add_argument_group("thresholds")
        self._shared = self.parser.add_argument_group("run and output")
        self._share("-t", "--timeout", type=_timeout, default="8s", metavar="TIME", help="maximum run time")
        self._share("--output", choices=["text", "json", "human"], default="text", help="output format")
        about = "colours of --output human; auto: on a terminal, unless NO_COLOR is set"
        self._share("--color", choices=["never", "auto", "always"], default="never", help=about)
        more = (
            "more output: -v adds what is OK, -vv all numbers and thresholds, -vvv the queries and their time"
        )
        self._share("-v", "--verbose", action="count", default=0, help=more)
        self._share("-V", "--version", action=Version, nargs=0, help="show the version")
        self._share("-h", "--help", action="help", help="show this help")
        self.parser.set_defaults(unreachable="unknown")

    @property
    def options(self) -> list[Action]:
        """All options: this plugin's own as they were added, then those of every check."""
        return [*self._own, *self._common]

    def option(self, *flags: str, **settings: Any) -> None:
        """Add an option, as ``argparse.add_argument`` does; ``help`` is required, the default is added to it.

        A ``type`` from ``units`` answers bad values with its own sentence.
        """
        self._add(self._particular, flags, settings)

    def _add(self, group: Any, flags: tuple[str, ...], settings: dict[str, Any]) -> Action:
        action: Action = group.add_argument(*flags, **described(settings))
        self._own.append(action)
        return action

    def connection(self, *flags: str, **settings: Any) -> None:
        """Add an option that sets the server, or how to log in there."""
        self._add(self._reaching, flags, settings)

    def limit(self, *flags: str, **settings: Any) -> Action:
        """Add an option for a range, in the group of the thresholds."""
        self._thresholds.description = _RANGES
        return self._add(self._thresholds, flags, settings)

    def examples(self, *lines: str) -> None:
        """End the help with these lines, as they are: commands and what they are for."""
        self.parser.examples = "\nexamples:\n" + "".join(f"  {line}".rstrip() + "\n" for line in lines)

    def _share(self, *flags: str, **settings: Any) -> None:
        """Add an option of every check."""
        self._common.append(self._shared.add_argument(*flags, **described(settings)))

    def threshold(
        self,
        name: str,
        *,
        help: str,  # noqa: A002
        unit: str = "",
        warning: str | None = None,
        critical: str | None = None,
        headline: bool = False,
        lower_is_worse: bool = False,
    ) -> None:
        """Add the two options that judge every Reading of this name; ``headline`` adds -w and -c."""

        def limit(text: str) -> Range:
            limit = Range(text, unit)
            if lower_is_worse and limit.bare:
                raise NotUnderstoodError(
                    f'range "{text}" alerts above {text}, but lower is worse here: write "{text}:"'
                )
            return limit

        self.units[name], self.abouts[name] = unit, help
        self.limits[name] = {}
        for level, default in (("warning", warning), ("critical", critical)):
            flags = (f"-{level[0]}", f"--{level}") if headline else (f"--{name}-{level}".replace("_", "-"),)
            settings = {
                "type": limit,
                "metavar": "RANGE",
                "default": limit(default) if default else None,
                "help": f"{level} range: {help}{_IN_UNITS[unit]}" + ("" if default else " (default: none)"),
            }
            self.limits[name][level] = self.limit(*flags, **settings)

    def keeps_state(self, what: str = FOR_THE_NEXT_RUN) -> None:
        """Add the options of a check that calls ``run.memory``, or else keeps ``what``."""
        places = "$STATE_DIRECTORY, /var/lib/stallwatch/USER or ~/.local/state/stallwatch"
        about = f"keep {what} in this directory (default: {places})"
        self._share("--state-dir", metavar="DIR", help=about)
        self._share("--no-state", action="store_true", help="neither read nor write a state file")

    def asks_server(self, unreachable: str = "unknown") -> None:
        """Add the option that sets the state of a raised ProbeError: a server that does not answer."""
        states = ["critical", "warning", "unknown"]
        about = "state to report if the server does not answer"
        settings = described({"choices": states, "default": unreachable, "help": about})
        self._common.append(self._reaching.add_argument("--unreachable", **settings))

    def refuse_empty(self, options: Namespace, *names: str) -> None:
        """End the run as bad usage if an option of these has no value, as a macro may have none."""
        for name in names:
            value = getattr(options, name)
            if value == "" or (isinstance(value, list) and "" in value):
                self.parser.error(f"--{name.replace('_', '-')} is empty")

    def secret(self, value: str | None) -> None:
        """Withhold from now on, until this run ends, texts of others that have this value in them."""
        withheld.keep(value)

    def aside(self, sentence: str) -> None:
        """Show this with -v, once, whatever is found: it is not about the server, and changes no state."""
        self._asides[sentence] = None

    def main(self, findings: Findings) -> NoReturn:
        """Run as a plugin: print one report on standard output and exit with 0 to 3."""
        way_out = Exit(self._unknown)
        os.umask(0o077)  # what we keep is for us alone, and for us to read again, whatever the engine's is

        def begin(run: Run, options: Namespace) -> None:
            no_dump()
            way_out.at(run.deadline, lambda why: self._cut_short(why, options, run))
            run.output, run.progress, run.columns = way_out.say, way_out.progress, way_out.columns
            if options.verbose < TRACE:
                silence(2)

        way_out.leave(*self._outcome(findings, sys.argv[1:], begin))

    def run(
        self, findings: Findings, argv: list[str], at_start: AtStart = lambda _, __: None
    ) -> tuple[int, str]:
        """Run in a process that goes on: exit status and output; nothing of the run stays in the process.

        One run at a time. ``main`` has a hard end besides; here an Alarm keeps the deadline. Unlike ``main``,
        this does not set the umask, forbid core dumps, silence standard output or handle other signals:
        Ctrl-C is a KeyboardInterrupt, as usual. ``at_start`` is called once the arguments are understood:
        with the deadline, and with what reports a run that a sentence ends instead of a verdict.
        """
        status, text, _ = self._run(findings, argv, at_start)
        return status, text

    def report(self, findings: Findings, argv: list[str]) -> Report:
        """Run as ``run`` does: what was found, as an object.

        Arguments that make no sense, and an internal error, are a report that is UNKNOWN and names them.
        """
        from stallwatch.findings import State
        from stallwatch.verdict import Report, Verdict

        status, text, report = self._run(findings, [*argv, "--output=text"], lambda _, __: None)
        if report:
            return report
        what = text.removeprefix(f"{self.name.upper()} UNKNOWN - ")
        return Report(self.name, [Verdict(State.UNKNOWN if status else State.OK, clean(what))])

    def _run(self, findings: Findings, argv: list[str], at_start: AtStart) -> tuple[int, str, Report | None]:
        answer: list[str] = []
        begun: list[tuple[Namespace, Run]] = []
        ended: list[tuple[int, str]] = []

        def begin(run: Run, options: Namespace) -> None:
            def in_its_place(why: str) -> tuple[int, str]:
                """Report it from another thread; the run's own report, if there is one by then, is right."""
                report = self._cut_short(why, options, run)
                return ended[0] if ended else report

            run.output, run.progress = answer.append, lambda _: None
            begun.append((options, run))
            at_start(run.deadline, in_its_place)
            alarm.set(run.deadline)

        try:
            with Alarm() as alarm:
                try:
                    status, text = self._outcome(findings, argv, begin)
                    alarm.off()
                except TimeUpError as error:
                    status, text = self._cut_short(str(error), *begun[0])
            ended.append((status, "".join(answer) + text))  # before the run forgets what it found
            return *ended[0], begun[0][1].report if begun else None
        finally:
            for _, run in begun:
                run.end()
            self._forget()

    def _outcome(
        self, findings: Findings, argv: list[str], begin: Callable[[Run, Namespace], None]
    ) -> tuple[int, str]:
        verbose, run = 0, None
        withheld.begin(argv)
        try:
            if _asks_for_json(argv):  # as soon as that: the arguments may make no sense otherwise
                _load("render.json")
                self._as_json = True  # from here on: a signal may have come in the middle of the import
            options = self.parser.parse(argv)
            verbose = options.verbose
            run = Run(self.name, options, self.units, self.limits)
            self._in_order(run)
            begin(run, options)
            _load(*_WRITTEN_BY[options.output])
            self._find(findings, options, run)
            return self._report(options, run) if run.found or not run.answered else (0, "")
        except Said as said:
            return UNKNOWN, str(said)
        except UsageError as error:
            helps = "" if _is_of_a_file(error) else f": see {self.parser.prog} --help"
            return UNKNOWN, self._unknown(f"{error}{helps}")
        except MemoryError:  # what the frames up to here hold is free behind this
            pass
        except (TimeUpError, KeyboardInterrupt):  # main has no Ctrl-C: signals end it otherwise
            raise
        except BaseException as error:  # noqa: BLE001 - Python's own exit status would be 1, a WARNING
            return UNKNOWN, self._crash(error, verbose)
        return self._cut_short(_NO_MEMORY, options, run) if run else (UNKNOWN, self._unknown(_NO_MEMORY))

    def _in_order(self, run: Run) -> None:
        """Refuse a warning that the critical range hides, where the user gave both."""
        for name, limits in run.thresholds.items():
            if run.is_given(name, "warning") and run.is_given(name, "critical"):
                options = self.limits[name]
                names = options["warning"].option_strings[-1], options["critical"].option_strings[-1]
                try:
                    must_be_in_order(limits["warning"], limits["critical"], names)
                except NotUnderstoodError as error:
                    self.parser.error(str(error))

    def _forget(self) -> None:
        """Keep nothing of a run."""
        self._asides.clear()
        self._as_json = False
        withheld.end()

    def _find(self, findings: Findings, options: Namespace, run: Run) -> None:
        from stallwatch.findings import ProbeError

        try:
            for finding in findings(options, run):
                run.found.append(finding)
            run.had_time()
        except ProbeError as error:
            run.had_time()
            if error not in run.problems:
                run.cut_short(error.fault(run.unreachable))
        except TimeUpError as error:
            run.out_of_time(str(error))
        run.found += run.problems

    def _cut_short(self, why: str, options: Namespace, run: Run) -> tuple[int, str]:
        """Report what was found until the deadline: what is known to be wrong outranks what is not known."""
        try:
            run.out_of_time(why)
            return self._report(options, run)
        except Exception:  # noqa: BLE001 - it interrupts whatever was going on, an import maybe
            return UNKNOWN, self._unknown(why)

    def _report(self, options: Namespace, run: Run) -> tuple[int, str]:
        from stallwatch.verdict import Report, judge

        verdicts = judge(run.found, run.thresholds, self._clean)
        if options.verbose >= EVERYTHING and self._asides:
            from stallwatch.findings import Fault, State

            asides = judge([Fault(State.OK, aside) for aside in self._asides], {}, self._clean)
            verdicts += [aside._replace(is_note=True) for aside in asides]
        trace = [self._clean(sentence) for sentence in run.traced] if options.verbose >= TRACE else []
        run.report = report = Report(
            self.name, verdicts, everything=options.verbose >= EVERYTHING, trace=trace,
            numbers=options.verbose >= NUMBERS, target=self._clean(run.target or os.uname().nodename),
            time=time.time(),
        )  # fmt: skip
        if options.output == "human":
            from stallwatch.render import human

            written = human.written(report, human.Screen.of(run.columns(), options.color))
        elif options.output == "json":
            from stallwatch.render import json

            written = json.written(report)
        else:
            from stallwatch.render import text

            written = text.written(report)
        return report.state.value.code, written

    def _crash(self, error: BaseException, verbose: int) -> str:
        """Return where it happened, not ``str(error)``: that may hold a password or a whole command line."""
        if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("stallwatch"):
            module = error.name.partition(".")[0]
            how = f": {_HOW_TO_GET[module]}" if module in _HOW_TO_GET else ""
            return self._unknown(f"the Python module {module} is missing{how}")
        what = f"internal error, {type(error).__name__} at {_where(error)}: -vvv shows the traceback"
        if verbose < TRACE:
            return self._unknown(what)
        from stallwatch.frame.trace import traced

        return self._unknown(what, traced(error))

    def _clean(self, text: str) -> str:
        return clean(withheld.struck(text))

    def _unknown(self, text: str, trace: Iterable[str] = ()) -> str:
        told, lines = self._clean(text), [self._clean(line) for line in trace]
        if self._as_json:
            from stallwatch.render import json

            return json.unknown(self.name, told, lines)
        return "\n".join([status(self.name, "UNKNOWN", told), *lines])


def _is_of_a_file(error: BaseException | None) -> bool:
    while error and not isinstance(error, UnusableFileError):
        error = error.__context__
    return error is not None


def _where(error: BaseException) -> str:
    """Name the file, below our package if it is there, and the line: "probes/host/probe.py:31"."""
    if isinstance(error, SyntaxError) and error.filename and not error.filename.startswith("<"):
        path, line = error.filename, error.lineno
    else:
        place = error.__traceback__
        while place and place.tb_next:
            place = place.tb_next
        if place is None:
            return "?"
        path, line = place.tb_frame.f_code.co_filename, place.tb_lineno
    ours = os.path.dirname(os.path.dirname(__file__)) + os.sep
    return f"{path.removeprefix(ours) if path.startswith(ours) else os.path.basename(path)}:{line}"


def _load(*modules: str) -> None:
    """Import what writes the report while nothing is lost yet if the run ends in the middle of an import."""
    from importlib import import_module

    for module in modules:
        import_module(f"stallwatch.{module}")


def _asks_for_json(argv: list[str]) -> bool:
    return re.findall(r"(?:^|\0)--output[=\0]([^\0]*)", "\0".join(argv))[-1:] == ["json"]


def _timeout(text: str) -> float:
    seconds = duration(text)
    if not 0 < seconds <= DAY:
        raise NotUnderstoodError(f'"{text}" is not a time above 0 and up to 1d')
    return seconds
