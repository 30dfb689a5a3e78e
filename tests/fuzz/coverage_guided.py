"""Targets whose inputs are led by the code that they reach (atheris): what `make fuzz` runs.

    .venv/bin/python tests/fuzz/coverage_guided.py --seconds 60 --keep build/fuzz [TARGET ...]

What fails is kept as FOLDER/TARGET/NAME, and does not end it; a line of JSON tells what came of each target.
Instrumented code is slower: what seems to take too long here is for fuzzing.py --replay to judge.
"""

import argparse
import atexit
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import atheris

HERE = Path(__file__).parent
SLOWER = 10  # times, when instrumented
IN_ALL = 600  # seconds
QUIET = ("-verbosity=0", "-print_final_stats=0", "-handle_segv=0", "-rss_limit_mb=0", "-timeout=300")


def quoted(token):
    """As libFuzzer's dictionaries have it."""
    return '"' + "".join(f"\\x{octet:02x}" for octet in token) + '"\n'


def fuzz(name, target, seconds, keep):
    """Try inputs until the time is up, and end the process: libFuzzer itself gives control back to nobody."""
    import fuzzing

    fuzzing.prepare()
    one = fuzzing.Campaign(name, target, keep)

    def test(octets):
        one.take(octets, fuzzing.SECONDS * SLOWER)
        if time.monotonic() > one.begun + seconds:
            print(json.dumps(one.told()), flush=True)  # noqa: T201
            fuzzing.leave(bool(one.failures))

    folder = tempfile.mkdtemp(prefix="fuzz-")
    atexit.register(shutil.rmtree, folder)
    corpus, tokens = Path(folder, "corpus"), Path(folder, "tokens")
    corpus.mkdir()
    for number, octets in enumerate(target.seeds()):
        (corpus / str(number)).write_bytes(octets[: fuzzing.LONGEST])
    tokens.write_text("".join(map(quoted, target.tokens)) or quoted(b"\0\0"))  # an empty one is refused
    sizes = f"-max_len={fuzzing.LONGEST}"
    atheris.Setup([sys.argv[0], str(corpus), f"-dict={tokens}", sizes, *QUIET], test)
    atheris.Fuzz()


def main():
    """Fuzz each target in a process of its own, one for each processor at once; 1 if anything fails."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    options.add_argument("targets", nargs="*", metavar="TARGET", help="default: all")
    options.add_argument(
        "--seconds", type=float, help=f"for each target (default: {IN_ALL} s for all together)"
    )
    options.add_argument("--keep", required=True, help="a folder for what fails")
    given = options.parse_args()
    sys.path[:0] = [str(HERE), *(str(HERE.parent / other) for other in ("unit", "recorded"))]
    with atheris.instrument_imports(include=["stallwatch"]):
        from all_targets import TARGETS

    names = given.targets or [*TARGETS]
    at_once = len(os.sched_getaffinity(0))
    seconds = given.seconds or IN_ALL * at_once / len(names)
    failed = running = 0
    for name in names:
        if running == at_once:
            failed, running = failed + bool(os.wait()[1]), running - 1
        if not os.fork():
            fuzz(name, TARGETS[name], seconds, given.keep)
        running += 1
    failed += sum(bool(os.wait()[1]) for _ in range(running))
    sys.exit(f"{failed} targets failed: see {given.keep}, fuzzing.py TARGET --replay FILE" if failed else 0)


if __name__ == "__main__":
    main()
