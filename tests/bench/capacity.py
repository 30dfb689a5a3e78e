"""How many checks a second does a real Icinga or Nagios sustain on this machine, with which plugin?

Engine, plugins and the servers that they ask share the processors of this machine. Each command is tried
alone: once at more than there can be processor time for, which tells about what can be done; then at rates
near that, up and down (capacity_search.py), for the highest that the engine sustains: 97 of 100 checks that
are due are run, 95 of 100 results are there within a second of when they were due, and all are OK.

Plugins are installed and run as the user nagios.
"""

import contextlib
import json
import os
import subprocess
from pathlib import Path

import psutil
from copies import installed
from measured import HEAP, Bench
from pairs import version
from peers import peers

# isort: split
import engine_user
from capacity_engines import EACH, ENGINES
from capacity_search import following, highest, is_sure, rate, told
from capacity_trial import Trials
from jvm import Jvm
from replication_pair import Pair

GUESS = 0.95  # of what it does when it is asked for too much
LITTLE = 0.25  # of what it is asked for
NOTHING = "python3 -I -S, left at once"  # the least that a check in Python costs
TOO_MUCH, WIDELY = 2, "check_replication_lag"  # times what is sustained; of what
# How many checks may run at once: in all trials, and for comparison (Icinga's default). 0: all that are due,
# which is Nagios' default.
BOUNDS = {"Icinga": (16, 512), "Nagios": (0,)}
TRIED = ("check_mysql_query", "check_replication_lag", "check_jmx")  # minutes each
SKETCHED = 60  # runs
TROUBLE = (AssertionError, OSError, subprocess.SubprocessError)  # of an engine, a plugin or a server


def our_words(pair, jvm, folder):
    """What our plugins are told; each service keeps what the next run is to know in a place of its own."""
    server, (user, password) = pair.replica, pair.monitor
    option_file, state = Path(folder, "my.cnf"), ("--state-dir", f"{folder}/{EACH}")
    os.mkdir(folder)
    option_file.write_text(f"[client]\nuser={user}\npassword={password}\n")
    engine_user.give(folder)
    login = ("-H", server.host, "-P", str(server.port), "--defaults-file", str(option_file))
    return {
        "check_mysql_query": (*login, "--count", "1"),
        "check_replication_lag": (*login, *state),
        "check_jmx": ("-H", jvm.host, "-P", str(jvm.port), *HEAP, *state),
    }


def their_words(pair):
    """What others' plugins are told."""
    host, port, (user, password) = pair.replica.host, str(pair.replica.port), pair.monitor
    return {
        "check_dummy": ("0",),
        "check_mysql": ("-H", host, "-P", port, "-u", user, "-p", password, "-S"),
        "check_mysql_health": ("--hostname", host, "--port", port, "--username", user, "--password", password,
                               "--mode", "slave-lag"),
    }  # fmt: skip


def commands(peer, theirs, folder, ours):
    """All commands by name; ``folder`` has our plugins."""
    tried = {name: [peer[name], *words] for name, words in theirs.items() if name in peer}
    tried[NOTHING] = ["/usr/bin/python3", "-I", "-S", "-c", "import posix; posix._exit(0)"]
    return tried | {name: [str(folder / name), *words] for name, words in ours.items()}


def alone(bench, command):
    """Ms of processor time of a command by itself, which finds nothing wrong."""
    costs = [bench.starter.cost(command) for _ in range(5)]
    assert costs[-1].status == 0, f"exit status {costs[-1].status} of {command}"
    return 1000 * min(cost.processor for cost in costs)


def sustained(trials, kind, command, guess):
    """Search the highest rate that is sustained: what came of a trial at it, and whether we are sure."""
    tried = {}
    while (rung := following(tried)) is not None:
        trial = trials.run(kind, command, rate(guess, rung), BOUNDS.get(kind, (0,))[0])
        verdict = "sustained" if trial.sustained else "no"
        print(f"  {trial.asked:7.1f} a second: {verdict}, {trial}", flush=True)
        tried.setdefault(rung, []).append(trial)
    found = highest(tried) is not None
    return {**told(tried).kept(), "sustained": found, "sure": is_sure(tried)}


@contextlib.contextmanager
def left_out_if_it_fails(bench, what):
    """Go on without that: each of the others takes minutes, too."""
    try:
        yield
    except TROUBLE as trouble:
        bench.leave_out(f"{what}: {trouble!r}")


def table(bench, trials, kind, tried, guesses):
    """Try all commands with an engine, in turn. A guess is what another engine sustains, if that is known."""
    rows = []
    for name, command in tried.items():
        print(f"{kind}, {name}", flush=True)
        with left_out_if_it_fails(bench, f"{kind}, {name}"):
            guess = guesses.get(name) or GUESS * most(bench, trials, kind, command)
            rows.append({"name": name, **sustained(trials, kind, command, guess)})
    return {"title": kind, "rows": rows}


def most(bench, trials, kind, command):
    """How many checks a second it does when it is asked for more than there can be processor time for.

    Of many that are begun at once none may have ended yet: then some part of what it was asked for.
    """
    too_much = 1000 * psutil.cpu_count() / alone(bench, command)
    trial = trials.run(kind, command, too_much, BOUNDS.get(kind, (0,))[0], patient=True)
    print(f"  {trial.asked:7.1f} a second: {trial}", flush=True)
    return max(trial.done, LITTLE * trial.asked)


def known(tables):
    """What is sustained of each command, by the engine that was tried last."""
    return {row["name"]: row["asked"] for each in tables for row in each["rows"] if row["sustained"]}


def beyond(bench, trials, kind, command, asked):
    """Ask an engine for more than it sustains, with some bounds of how many checks run at once."""
    rows = []
    for bound in BOUNDS[kind]:
        with left_out_if_it_fails(bench, f"{kind} that is asked for too much, {bound} at once"):
            trial = trials.run(kind, command, asked, bound, patient=True)
            rows.append({"name": kind, "at_once": bound, **trial.kept()})
    return rows


def sketched(folder, words):
    """What checks would cost that need no start."""
    rows = []
    for name, options in words.items():
        sketch = [folder / "python", "-I", Path(__file__).with_name("capacity_fork.py"), SKETCHED]
        command = [*map(str, sketch), str(folder / name), *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        rows.append({"name": name, **json.loads(done.stdout)})
    return {"title": "fork", "rows": rows}


def measure(bench):
    """Fill the tables."""
    wanted = peers(bench, "check_dummy", "check_mysql", "check_mysql_health", "icinga2", "nagios4")
    kinds = [kind for kind, engine in ENGINES.items() if engine.program_name in wanted]
    if not kinds:
        return
    folder = installed(bench.path("installed")) / "bin"
    with (
        Pair(bench.path("pair"), "mariadb", replica={"max_connections": 1000}) as pair,
        Jvm(bench.path("jvm")) as jvm,
    ):
        bench.software["MariaDB"] = version(pair.replica)
        trials = Trials(bench.folder, (pair.replica, pair.source, jvm))
        ours = our_words(pair, jvm, bench.path("asked"))
        tried = commands(wanted, their_words(pair), folder, {name: ours[name] for name in TRIED})
        sketch = sketched(folder, ours)
        for kind in kinds:
            bench.tables.append(table(bench, trials, kind, tried, known(bench.tables)))
        more = [
            row
            for each in bench.tables
            for row in beyond(bench, trials, each["title"], tried[WIDELY], TOO_MUCH * known([each])[WIDELY])
        ]
        bench.tables += [{"title": "beyond", "rows": more}, sketch]


def main():
    """Measure it all."""
    with Bench("capacity") as bench:
        engine_user.reachable(bench.folder)
        measure(bench)


if __name__ == "__main__":
    main()
