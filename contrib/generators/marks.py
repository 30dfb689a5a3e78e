"""Text by hand with generated parts: what stands between ``<!-- run ... -->`` and ``<!-- end -->``.

``run COMMAND``      what that plugin says of a recorded log today
``show FILE [RUN]``  what a plugin says of a recorded server, as tests prove: all runs, or those given
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
    """Write anew what stands between the marks; ``more`` are those of one kind of page, by name."""
    known = {"run": _ran, "show": _shown, **more}

    def part(mark: re.Match[str]) -> str:
        return f"{mark[1]}\n{known[mark[2]](mark[3].strip())}{mark[4]}"

    pattern = rf"(<!-- ({'|'.join(known)})\b(.*?) -->)\n.*?(<!-- end -->)"
    return re.sub(pattern, part, text, flags=re.DOTALL)


def _screen(said: str) -> str:
    return f"```\n{said}```\n"


def _ran(command: str) -> str:
    return _screen(DEMO["run"](command))


def _shown(words: str) -> str:
    path, *runs = words.split()
    said = (ROOT / path).read_text().rstrip("\n").split("\n\n")
    chosen = [said[int(run) - 1] for run in runs] or said
    first = re.sub(r"\A\d+ s later\n", "", chosen[0])
    return _screen("\n\n".join([first, *chosen[1:]]) + "\n")
