"""What a plugin does after its alarm: the processor time that it takes until it is gone."""

import os
import time
from contextlib import suppress

from runs import environment, finish, start

_NANOSECONDS = 1e9
_SCHED = 2  # CPUCLOCK_SCHED of Linux: all that the threads of a process have taken, also of those that ended
# Tells when the alarm is to come, by time.monotonic().
_TELL = """import os, sys, time
def hook(event, arguments):
    if event == "import" and arguments[0] == "stallwatch.frame.exit":
        import signal
        wind = signal.setitimer
        def setitimer(which, seconds, interval=0.0):
            os.write({told}, b"%f\\n" % (time.monotonic() + seconds))
            return wind(which, seconds, interval)
        signal.setitimer = setitimer
sys.addaudithook(hook)
"""


def run_to_the_alarm(subject, place, home, *more):
    """Run a plugin: gives its Outcome, and seconds of processor time after its alarm, if it came to it."""
    reader, writer = os.pipe()
    folder = home / "told"
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_TELL.format(told=writer))
    began = time.monotonic()
    process = start(
        subject.command(place, *more), home, pass_fds=[writer],
        env=environment(
            home, PYTHONPATH=str(folder),
            STALLWATCH_MYSQL_PASSWORD=place.password, STALLWATCH_JMX_PASSWORD=place.password,
        ),
    )  # fmt: skip
    os.close(writer)
    with open(reader, "rb", buffering=0) as file:
        told = file.read(100).split()  # nothing, where it has ended before
    time.sleep(max(0.0, float(told[0]) - time.monotonic()) if told else 0.0)
    before = _processor_time(process.pid)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it stays until its clock is read
    after = _processor_time(process.pid)
    outcome = finish(process, subject, home, began, place.password)
    return outcome, after - before if "no verdict within" in outcome.text else None


def _processor_time(pid):
    """Seconds of a process, which may have ended but must not have been waited for."""
    with suppress(OSError):
        return time.clock_gettime_ns(~pid << 3 | _SCHED) / _NANOSECONDS
    return float("nan")
