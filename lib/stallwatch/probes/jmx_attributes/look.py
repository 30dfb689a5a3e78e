"""One look at a server: each quantity becomes readings, or says why there are none."""

from __future__ import annotations

from contextlib import suppress
from itertools import count

from stallwatch.probes.jmx_attributes.absent import NOT_THERE, AbsentError, NoChangeError
from stallwatch.probes.jmx_attributes.reader import Reader
from stallwatch.probes.jmx_attributes.sample import Sampler, UnlimitedError
from stallwatch.probes.jmx_attributes.telling import Telling
from stallwatch.reading import Fault, ProbeError, Reading, State
from stallwatch.sources.jmx.errors import UnreachableError

TYPE_CHECKING = False  # typing itself costs every check 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence
    from typing import Any

    from stallwatch.probes.jmx_attributes.changes import Changes
    from stallwatch.probes.jmx_attributes.quantity import Quantity
    from stallwatch.probes.jmx_attributes.reader import Server
    from stallwatch.probes.jmx_attributes.sample import Sample
    from stallwatch.reading import Finding
    from stallwatch.sources.jmx.errors import JmxError
    from stallwatch.sources.jmx.object_name import ObjectName
    from stallwatch.units import Range

_SOUGHT = {"rate": "rate", "delta": "change"}


def findings(
    quantities: Sequence[Quantity],
    server: Server,
    memory: dict[str, Any],
    thresholds: dict[str, dict[str, Range]],
    trace: Callable[[str], None],
) -> Iterator[Finding]:
    """Read the quantities and give what they are; each reading's limits are put into ``thresholds``.

    ``memory`` is what the last run on these quantities kept and becomes what the next one is to know.
    """
    reader = Reader(server, trace)
    changes = None
    reader.read_ahead(_known_beforehand(quantities, reader))
    if any(quantity.change for quantity in quantities):
        from stallwatch.probes.jmx_attributes.changes import Changes

        changes = Changes(memory, reader)
    for quantity in quantities:
        for finding in Look(quantity, reader, changes).findings():
            if isinstance(finding, Reading):
                finding = _with_a_name_of_its_own(finding, thresholds)  # noqa: PLW2901
                thresholds[finding.name] = quantity.limits or {}
            yield finding
    if changes:
        changes.keep()


def _known_beforehand(quantities: Sequence[Quantity], reader: Reader) -> Iterator[tuple[str, str]]:
    """Give the beans and attributes that are known to be needed, so that they can be read at once."""
    if any(quantity.change for quantity in quantities):
        from stallwatch.probes.jmx_attributes.changes import CLOCK

        yield from CLOCK
    for quantity in quantities:
        for name in reader.names(quantity.asked):
            yield str(name), quantity.attribute
            if quantity.of and (quantity.of.template or not quantity.path):
                with suppress(AbsentError):  # which is told later
                    yield str(quantity.of.bean(name)), quantity.of.path[0]


def _with_a_name_of_its_own(reading: Reading, taken: Container[str]) -> Reading:
    """Give a reading whose name no other one has."""
    copies = count(2)
    name = reading.name
    while name in taken:
        name = f"{reading.name}_{next(copies)}"
    return reading._replace(name=name)


class Look:
    """Looks at one quantity; ``changes`` is needed for one that is about two runs."""

    def __init__(self, quantity: Quantity, reader: Reader, changes: Changes | None) -> None:
        self._quantity = quantity
        self._reader = reader
        self._sampler = Sampler(quantity, reader, changes)
        self._telling = Telling(quantity, changes.seconds if changes else 0)
        self._samples: list[Sample] = []
        self._unlimited: list[AbsentError] = []
        self._lacking: list[JmxError] = []
        self._others: list[Finding] = []
        self._unchanged: dict[str, list[str]] = {}  # why, and what

    def findings(self) -> Iterator[Finding]:
        """Give what there is to say of this quantity."""
        names = self._reader.names(self._quantity.asked)
        for name in names:
            self._look_at(name)
        if len(self._lacking) == len(names) and (names or self._quantity.aggregate != "count"):
            from stallwatch.probes.jmx_attributes import missing

            asked, attribute = self._quantity.asked, self._quantity.attribute
            yield self._absent(missing.explained(self._reader.server, asked, attribute, *self._lacking[:1]))
        else:
            yield from self._told()
            yield from self._others

    def _look_at(self, name: ObjectName) -> None:
        try:
            self._samples.append(self._sampler.sample(name))
        except NoChangeError as error:
            subject = " ".join(self._quantity.words(self._quantity.who(name)))
            self._unchanged.setdefault(str(error), []).append(subject)
        except UnlimitedError as error:
            self._unlimited.append(error)
        except NOT_THERE as error:
            self._lacking.append(error)
        except AbsentError as error:
            self._others.append(self._absent(error))
        except UnreachableError:
            raise
        except ProbeError as error:
            self._others.append(error)

    def _told(self) -> Iterator[Finding]:
        """Give what the samples come to. Beans of a pattern that have no such attribute were not meant."""
        quantity, samples = self._quantity, self._samples
        if quantity.aggregate and (samples or quantity.aggregate == "count"):
            yield self._telling.aggregate(samples)
            return
        if samples and len(samples) + len(self._unlimited) > 1:
            yield Fault(State.OK, self._telling.summary(samples, len(self._unlimited)))
        yield from map(self._telling.reading, samples)
        yield from map(self._absent, [] if samples else self._unlimited)
        for why, subjects in self._unchanged.items():
            others = f" and {len(subjects) - 1} more" if subjects[1:] else ""
            next_run = f"its {_SOUGHT[quantity.change]} is told from the next run on"
            what = f"{subjects[0]}{others}: {why}, {next_run}"
            yield Fault(State.OK, what)

    def _absent(self, error: AbsentError) -> Fault:
        return Fault(self._quantity.missing, error.what, advice=error.advice)
