"""Where the targets are taken from: stand-ins and recordings of other tests."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("unit", "recorded") if str(TESTS / folder) not in sys.path]
