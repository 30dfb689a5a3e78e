"""Work that is counted instead of timed: the same number on every machine, however busy it is."""

import gc
import sys


def steps(work):
    """How many instructions of Python ``work()`` takes, without what C does within one of them.

    Without the collection of garbage, which calls others. Each instruction takes a hundred times as long.
    """
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    gc.disable()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def growth(work_of, size):
    """How many times as many steps twice the size takes: about 2 is in proportion to it, 4 to its square."""
    work_of(size)  # what is done once, as compiling regular expressions
    return steps(lambda: work_of(2 * size)) / steps(lambda: work_of(size))
