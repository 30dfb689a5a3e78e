"""Text by hand with generated parts: what is between ``<!-- run ... -->`` and ``<!-- end -->``.

``run COMMAND``      what that plugin reports of a recorded log today
``show FILE [RUN]``  what a plugin reports of a recorded server, as tests prove: all runs, or those named
``line FILE [RUN]``  the verdict of that alone, without perfdata
"""

from __future__ import annotations

import re
import runpy
from typing import TYPE_CHECKING

from generators.plugins import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

DEMO = runpy.run_path(str(ROOT / "contrib" / "demo"))


def filled(text: str, **more: Callable[[str], str]) -> str:
    """Write anew what is between the marks; ``more`` are those of one kind of page, by name."""
    known = {"run": _ran, "show": _shown, "line": _verdict, **more}

    def part(mark: re.Match[str]) -> str:
        if "<!-- " in mark[4]:
            raise ValueError(f"{mark[1]} has no end")
        return f"{mark[1]}\n{known[mark[2]](mark[3].strip())}{mark[5]}"

    pattern = rf"(<!-- ({'|'.join(known)})\b(.*?) -->)\n(.*?)(<!-- end -->)"
    return re.sub(pattern, part, text, flags=re.DOTALL)


def _screen(said: str) -> str:
    return f"```\n{said}```\n"


def _ran(command: str) -> str:
    return _screen(DEMO["run"](command))


def _shown(words: str) -> str:
    return _screen(_recorded(words))


def _verdict(words: str) -> str:
    said = re.search(r"^[A-Z_]+ (OK|WARNING|CRITICAL|UNKNOWN) - .*", _recorded(words), re.MULTILINE)
    if said is None:
        raise ValueError(f"no plugin says anything in {words}")
    return _screen(said[0].partition(" | ")[0] + "\n")


def _recorded(words: str) -> str:
    path, *runs = words.split()
    said = (ROOT / path).read_text().rstrip("\n").split("\n\n")
    chosen = [said[int(run) - 1] for run in runs] or said
    first = re.sub(r"\A\d+ s later\n", "", chosen[0])
    return "\n\n".join([first, *chosen[1:]]) + "\n"
