"""Why a node ended, where the lines before its end know more than the line of its end.

The texts are those of NDB 9.7.2. What a node says before its end explains only the errors that
follow from it (``codes``), within ``LATELY`` seconds.
"""

from __future__ import annotations

from stallwatch import withheld
from stallwatch.line import shorten
from stallwatch.probes.ndb_log.down import NO_REASON, RESTART, by_signal
from stallwatch.probes.ndb_log.lines import number
from stallwatch.probes.ndb_log.model import Row, Subject
from stallwatch.probes.ndb_log.nodes import LATELY
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from typing import Any

    from stallwatch.probes.ndb_log.lines import Line
    from stallwatch.probes.ndb_log.model import Node, Present
    from stallwatch.probes.ndb_log.shutdown import Shutdown

_NO_CODE, _SIGNAL = 0, 6000
_NO_DIRECTORY = frozenset({_NO_CODE, 2801, 2805, 2811, 2815})
_ENOENT, _EACCES = 2, 13
_SHOWN = 120  # bytes of the line before an end
_FORCED = (
    r"Forced node shutdown completed[^.]*\."
    r"(?:.* Initiated by signal (?P<signal>\d+)\.)?"
    r"(?:.* Caused by error (?P<error>\d+))?"
)
_ERROR_LOG = "look in the node's error log"


class Reasons(Subject):
    """What the log of a node says before its end."""

    END = b"Forced node shutdown"

    def __init__(self, node: Node, present: Present, memory: dict[str, Any], shutdown: Shutdown) -> None:
        super().__init__(node, present, memory)
        self._shutdown = shutdown
        self.last = ""  # the line before the one that is read

    def _on_no_directory(self, match: re.Match[str], line: Line) -> None:
        path, errno = withheld.data(match["path"]), number(match["errno"])
        if errno == _EACCES:
            why, advice = f"permission denied on DataDir {path}", "give it to the user that runs the node"
        elif errno == _ENOENT:
            why, advice = f"DataDir {path} is missing", "create it, or correct DataDir"
        else:
            why, advice = f"cannot enter DataDir {path} (errno {errno})", "look at that directory"
        self._note(line, _NO_DIRECTORY, why, advice)

    def _on_no_password(self, _: re.Match[str], line: Line) -> None:
        advice = "start it with --filesystem-password-from-stdin"
        self._note(line, {_NO_CODE}, "the file system is encrypted, no password was given", advice)

    def _on_forced(self, match: re.Match[str], line: Line) -> None:
        code = number(match["error"] or "0")
        when, node, codes, why, advice = self._memory.pop("reason", [0.0, None, (), "", ""])
        if code == _SIGNAL and match["signal"]:
            self._shutdown.explain(line.node, *by_signal(number(match["signal"])))
        elif node == line.node and code in codes and 0 <= line.moment - when <= LATELY:
            said = f"error {code}: {why}" if code else why
            self._shutdown.explain(line.node, said, advice + RESTART)
        elif not code and not match["signal"]:
            last = "" if self._node.is_cluster_log else shorten(withheld.message(self.last), _SHOWN)
            why = f'{NO_REASON}, the line before is "{last}"' if last else NO_REASON
            self._shutdown.explain(line.node, why, _ERROR_LOG)

    def _note(self, line: Line, codes: set[int] | frozenset[int], why: str, advice: str) -> None:
        self._memory["reason"] = [line.moment, line.node, sorted(codes), why, advice]

    LINES = (
        Row(
            b"Cannot change directory to",
            r"Cannot change directory to '(?P<path>[^']*)', error: (?P<errno>\d+)",
            _on_no_directory,
        ),
        Row(b"password not provided", r"Data node configured to have encryption but pass", _on_no_password),
        Row(END, _FORCED, _on_forced),
    )  # fmt: skip
