"""Where the parts of this repository are that the bench of diagnosis uses: import it before them."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "diagnosis"  # every line that was printed
RESULTS = Path(__file__).resolve().parent / "results"  # what that came to, for the page
sys.path[:0] = [
    str(ROOT / "tests" / part) for part in ("live", "bench") if str(ROOT / "tests" / part) not in sys.path
]
