"""What does check_jmx cost, from 100 MBeans in a JVM to 100 000?"""

import contextlib

from growth_limits import flat, linear
from measured import Bench, ours

# isort: split
from jvm import Jvm

ROUNDS = 7
BEANS = (100, 1000, 10_000)
PATTERN, ONE = "target:type=Many,name=*", "target:type=Many,name=7"
AT_ALL = {  # what looks at all of them
    "check_jmx --list": ("--list",),
    "check_jmx, one attribute of all": ("-O", PATTERN, "-A", "Number", "--aggregate", "max"),
}
AT_ONE = {"check_jmx, one attribute of one": ("-O", ONE, "-A", "Number")}


class Roomy(Jvm):
    """A JVM with memory for all these beans, and for what it writes of them."""

    def command(self):
        """How it is called."""
        return ["-Xmx2g" if word.startswith("-Xmx") else word for word in super().command()]


def main():
    """Measure a list, a number of all, and one of one."""
    with Bench("growth_jmx") as bench, contextlib.ExitStack() as running:
        jvms = {}
        for count in BEANS:
            jvms[count] = running.enter_context(Roomy(bench.path(str(count)), groups=()))
            jvms[count].tell("many", count)

        def costs(name, words):
            return bench.compare(name, {count: _check(jvm, words) for count, jvm in jvms.items()}, ROUNDS)

        at_all = {name: costs(name, words) for name, words in AT_ALL.items()}
        at_one = {name: costs(name, words) for name, words in AT_ONE.items()}
        for kind in ("processor", "memory"):
            linear(bench, at_all, kind)
            flat(bench, at_one, kind)


def _check(jvm, words):
    return ours("check_jmx", "--no-state", "-t", "2m", "-H", jvm.host, "-P", jvm.port, *words)


if __name__ == "__main__":
    main()
