"""Plugins whose process is limited: they do with less, or say what there is too little of."""

from cells import cells
from healthy import SAID
from subjects import HERE, NETWORK, OK, UNKNOWN, Place
from surroundings import ALONE, ORDINARY, TIMEOUT, WITHIN, Surroundings, is_as_ever, run_in


def limit(name, value):
    return Surroundings(f"resource.setrlimit(resource.RLIMIT_{name}, ({value}, {value}))")


ENOUGH = {
    "256 MB of memory": limit("AS", 256 << 20),
    "128 MB of data": limit("DATA", 128 << 20),
    "16 open files": limit("NOFILE", 16),
    "10 s of processor time": limit("CPU", 10),
    "a stack of 256 KB": limit("STACK", 256 << 10),
    "no locked memory": limit("MEMLOCK", 0),
    "no message queues": limit("MSGQUEUE", 0),
    "no pending signals": limit("SIGPENDING", 0),
}


@cells(ENOUGH, one=True)
def test_what_is_enough(home, healthy, subject, trouble):
    is_as_ever(subject, healthy, home, trouble)


# A user's processes are counted over the whole machine; root's are not limited (setrlimit(2)).
ONE_PROCESS = Surroundings("resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))", user=ALONE)


@cells({"no more threads": ONE_PROCESS}, one=True)
def test_no_more_threads(strangers_home, healthy, subject, trouble):
    calm, place = healthy(subject)
    well = run_in(calm, place, strangers_home, trouble, *WITHIN).holds(TIMEOUT, OK)
    assert SAID[subject.plugin] in well.line, well


@cells({"no more threads": ONE_PROCESS}, lambda _trouble, subject: subject.source in NETWORK, one=True)
def test_no_more_threads_to_look_up_a_host(strangers_home, subject, trouble):
    # The look-up of a name takes a thread, that of an address none.
    place = Place(host="db.invalid")
    outcome = run_in(subject, place, strangers_home, trouble, *WITHIN).holds(TIMEOUT, subject.unreachable)
    assert "db.invalid:9 cannot be reached: no more threads can be started" in outcome.line, outcome


# With 4 Python may not get so far as to find our modules, where a .pth file tells their place.
@cells({"5 open files": limit("NOFILE", 5)}, lambda _trouble, subject: subject.source == HERE, one=True)
def test_too_few_open_files(home, healthy, subject, trouble):
    calm, place = healthy(subject)
    outcome = run_in(calm, place, home, trouble, *WITHIN).holds(TIMEOUT, UNKNOWN)
    assert ": Too many open files" in outcome.line, outcome
    well = run_in(calm, place, home, ORDINARY, *WITHIN).holds(TIMEOUT, OK)
    assert SAID[subject.plugin] in well.line, well
