"""Ask one thing after the other, and live with a refusal: what cannot be found out costs nothing else."""

from __future__ import annotations

from stallwatch.findings import Fault, ProbeError, State
from stallwatch.sources.mysql import MissingTableError, NoAnswerError, UnreachableError
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stallwatch.deadline import Deadline
    from stallwatch.findings import Finding


class Inquiry:
    """Does the steps of one run as long as there is time, and keeps what could not be found out.

    A step asks and keeps the answer; it raises a ProbeError if it is refused. ``about`` is what it would
    find out, as "how full the redo log is". ``takes`` is how many seconds it takes: with less of the deadline
    left it is not done. ``problems`` are what makes the verdict UNKNOWN, ``asides`` what a version or an
    account lacks.
    """

    def __init__(self, deadline: Deadline) -> None:
        self.problems: list[Finding] = []
        self._deadline = deadline
        self._missing: list[Fault] = []
        self._left_out: list[str] = []

    def subject(self, about: str, step: Callable[[], None], takes: float = 0.0) -> ProbeError | None:
        """Do a step that the verdict is about; why it failed is a problem, and returned.

        Raises TimeUpError if there is no time for it as we lost too much.
        """
        failure = self._refusal(about, step, takes)
        if isinstance(failure, _NoTimeError):
            self._deadline.must_have_had_time()
        if failure:
            self.problems.append(failure)
        return failure

    def evidence(self, about: str, step: Callable[[], None], takes: float = 0.0) -> None:
        """Do a step that only explains; if it fails, that is an aside.

        Unless nobody answers: a server or a data node that hangs is never OK.
        """
        match self._refusal(about, step, takes):
            case None:
                pass
            case _NoTimeError():
                self._left_out.append(about)
            case NoAnswerError() | UnreachableError() as failure:
                self.problems.append(ProbeError(f"not known is {about}: {failure.what}", failure.advice))
            case MissingTableError():
                self._missing.append(Fault(State.OK, f"this version does not show {about}"))
            case failure:
                self._missing.append(Fault(State.OK, f"not known is {about}: {failure.what}"))

    def asides(self, *, all_of_them: bool = True) -> Iterator[Fault]:
        """Yield which evidence was left out for want of time, and with ``all_of_them`` what else."""
        if self._left_out:
            yield Fault(State.OK, f"not looked at, as time was short: {'; '.join(self._left_out)}")
        if all_of_them:
            yield from self._missing

    def _refusal(self, about: str, step: Callable[[], None], takes: float) -> ProbeError | None:
        if self._deadline.left() < takes:
            return _NoTimeError(f"not looked at, as {self._deadline.short()}: {about}", "raise --timeout")
        try:
            step()
        except ProbeError as error:
            return error
        return None


class _NoTimeError(ProbeError):
    """A step was left out, as it would have taken longer than there was time."""
