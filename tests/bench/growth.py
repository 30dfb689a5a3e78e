"""How does what a check costs grow with what it looks at? All parts of it; each runs by itself, too."""

import sys

from interrupted import ending_tidily, status_of
from measured import ROOT

# isort: split
from generators.growth import SUBJECTS


def main():
    """Measure each; one that fails does not keep the others from it."""
    scripts = [ROOT / "tests" / "bench" / f"growth_{subject}.py" for subject in SUBJECTS]
    failed = [script.name for script in scripts if status_of(script)]
    return f"failed: {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    with ending_tidily():
        sys.exit(main())
