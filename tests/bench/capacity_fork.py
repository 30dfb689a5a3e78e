"""What would a check cost that needs no start: in a child of a process that has everything loaded? A sketch.

    capacity_fork.py TIMES PLUGIN [OPTION]...

prints ms of processor time, medians, as JSON: of a child that does nothing, of one that runs the whole check,
and of one that starts the plugin anew. What the parent spends for the child is in it.
"""

import gc
import json
import os
import runpy
import statistics
import sys
import time

KINDS = ("empty", "loaded", "anew")


def cost(work):
    """Run that in a child: ms of processor time, its own and the parent's."""
    begun = time.process_time()
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    _, status, usage = os.wait4(child, 0)
    assert not status, f"status {status}"
    return 1000 * (time.process_time() - begun + usage.ru_utime + usage.ru_stime)


def main(times, path, *options):
    """Measure the three of them in turn."""
    plugin = runpy.run_path(path, run_name="plugin")
    check, findings = plugin["check"], plugin["findings"]
    status, text = check.run(findings, list(options))  # which loads everything that a check needs
    assert not status, text
    gc.freeze()  # a child that collects garbage would copy all pages
    sys.argv = [path, *options]
    works = (lambda: None, lambda: check.main(findings), lambda: os.execv(path, sys.argv))
    said = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    costs = [[cost(work) for work in works] for _ in range(int(times))]
    medians = map(statistics.median, zip(*costs, strict=True))
    os.write(said, json.dumps(dict(zip(KINDS, medians, strict=True))).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
